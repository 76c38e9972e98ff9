//! Models: `[[model]]` puts a file of another format into the scene, once or several times.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use stiction_mech::{ActuatorId, BodyId, JointId, JointKind};
use stiction_sim::{Base, InsertedWorld, Settings, World};

use super::copies;
use super::names::NameIndex;
use super::start::InitialValue;
use super::table::Table;
use super::{SceneBuilder, pose};
use crate::error::SceneError;
use crate::import::{FORMATS, Imported, Keyframe, Options, Site};

/// A model in the scene.
pub(super) struct InsertedModel {
    imported: Arc<Imported>,
    prefix: String,
    placed: InsertedWorld,
    keyframe: Option<Keyframe>,
    pub settings: Settings,
}

/// Reads one `[[model]]`.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let name = table.text("name")?.unwrap_or_default();
    let table = if name.is_empty() { table } else { table.named(name) };
    let imported = Arc::new(load(scene, &table)?);
    let keyframe = match table.text("keyframe")? {
        Some(name) => {
            let found =
                imported.keyframe(name).map_err(|error| table.because("keyframe", error))?;
            Some(found.clone())
        }
        None => imported.script.start.clone(),
    };
    let pose = pose::read(&table)?;
    let (base, frame) = base(scene, &table)?;
    let own_gravity = imported.world.parts().mechanism.declared().gravity;
    let gravity = scene.builder.mechanism.declared().gravity;
    if own_gravity != gravity {
        scene.notes.push(format!(
            "{}: its gravity {:?} gives way to that of the scene, {:?} m/s²",
            imported.name,
            own_gravity.as_slice(),
            gravity.as_slice()
        ));
    }
    let copies = copies::read(&table, pose)?;
    if copies.each.len() > 1 && name.is_empty() {
        return Err(table.wrong("name", "a name, by which copies differ"));
    }
    let bodies = imported.world.parts().mechanism.declared().bodies.len();
    scene.admit_bodies(&table, bodies, copies.each.len())?;
    for (suffix, pose) in copies.each {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}{suffix}/") };
        let placed = scene
            .builder
            .add_world(&imported.world, &prefix, frame * pose, base)
            .map_err(|error| table.error(error))?;
        coordinates(scene, &table, &imported, &placed)?;
        scene.parts.push(InsertedModel {
            imported: imported.clone(),
            prefix,
            placed,
            keyframe: keyframe.clone(),
            settings: imported.settings.clone(),
        });
    }
    table.finish()
}

/// Reads the file that a table names.
fn load(scene: &mut SceneBuilder, table: &Table) -> Result<Imported, SceneError> {
    let file = table.require("file", "the name of a model file")?;
    let path = scene.folder.join(file);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let others = FORMATS.iter().filter(|format| format.name != "native");
    let format = others.clone().find(|format| format.extensions.contains(&ending));
    let format = format.ok_or_else(|| {
        let endings: Vec<_> = others.flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        table.wrong("file", &format!("a name that ends in one of: {}", endings.join(", ")))
    })?;
    let mut options = Options { ..scene.options.clone() };
    if table.has("merge-fixed") {
        options.merge_fixed = table.flag("merge-fixed")?;
    }
    if table.has("rigid-contact") {
        options.soft_contact = !table.flag("rigid-contact")?;
    }
    if table.has("soft-defaults") {
        options.soft_defaults = table.flag("soft-defaults")?;
    }
    for folder in table.texts("package-paths")?.unwrap_or_default() {
        options.package_paths.push(scene.folder.join(folder));
    }
    (format.read)(scene.files, &path, &options)
}

/// The joint of the model's base, and the frame in which its pose is given.
fn base(scene: &SceneBuilder, table: &Table) -> Result<(Base, Isometry3<f64>), SceneError> {
    let Some(parent) = table.text("parent")? else {
        let words = [("fixed", Base::Fixed), ("floating", Base::Floating)];
        let base = table.word("base", &words)?.unwrap_or_default();
        return Ok((base, Isometry3::identity()));
    };
    // A site is a body with a pose: both can be a parent, and names of bodies go first.
    let declared = scene.builder.mechanism.declared();
    if let Some(body) = declared.bodies.iter().position(|spec| spec.name == parent) {
        return Ok((Base::On(BodyId(body)), Isometry3::identity()));
    }
    for part in &scene.parts {
        if let Some(site) = part.site(parent) {
            return Ok((Base::On(part.body(site.body)), site.pose));
        }
    }
    let names = &scene.names.bodies;
    let body = names.find_one((table, "parent"), parent, declared.bodies)?;
    Ok((Base::On(BodyId(body)), Isometry3::identity()))
}

/// `joints = { elbow = 0.5 }`: initial coordinates, by the names in the model's own file.
fn coordinates(
    scene: &mut SceneBuilder,
    table: &Table,
    imported: &Imported,
    placed: &InsertedWorld,
) -> Result<(), SceneError> {
    let Some(inner) = table.table("joints")? else { return Ok(()) };
    let declared = imported.world.parts().mechanism.declared();
    let names = NameIndex::default();
    for (name, value) in inner.entries() {
        let place = names.find_one((table, "joints"), name, declared.joints)?;
        let value = super::table::number(value.get_ref())
            .filter(|value| value.is_finite() && declared.joints[place].1.kind.nv() == 1)
            .ok_or_else(|| {
                inner.at(
                    value,
                    format_args!("{name}: expected a coordinate of a joint that has one"),
                )
            })?;
        if let Some(joint) = placed.joints[place] {
            scene.beginnings.push(InitialValue::Coordinate { joint, value });
        }
    }
    Ok(())
}

impl InsertedModel {
    fn model(&self) -> &stiction_mech::Model {
        self.imported.world.model()
    }

    /// A site by its name in the scene.
    fn site(&self, name: &str) -> Option<&Site> {
        let own = name.strip_prefix(&self.prefix)?;
        self.imported.sites.iter().find(|site| site.name == own && !own.is_empty())
    }

    /// The body of the scene's builder that stands for a body of the model.
    fn body(&self, body: BodyId) -> BodyId {
        let made = |id: &usize| self.model().body_of_builder(BodyId(*id)) == Some(body);
        let place = (0..self.placed.bodies.len()).find(made);
        place.map_or(self.placed.root.0, |place| self.placed.bodies[place])
    }

    /// Pose of something on a body of the model, on the body that stands for it.
    fn pose(&self, body: BodyId, pose: Isometry3<f64>) -> Isometry3<f64> {
        if body == BodyId::WORLD { self.placed.root.1 * pose } else { pose }
    }

    /// Writes the model's keyframe into the start.
    pub fn begin(&self, world: &World, start: &mut Keyframe) {
        let Some(keyframe) = &self.keyframe else { return };
        for (place, joint) in self.placed.joints.iter().enumerate() {
            let from = self.model().joint_of_builder(JointId(place));
            let to = joint.and_then(|joint| world.model().joint_of_builder(joint));
            let (Some(from), Some(to)) = (from, to) else { continue };
            let (from, to) = (&self.model().joints()[from.0], &world.model().joints()[to.0]);
            let q = &mut start.q[to.q.clone()];
            let v = &mut start.v[to.dofs.clone()];
            q.copy_from_slice(&keyframe.q[from.q.clone()]);
            v.copy_from_slice(&keyframe.v[from.dofs.clone()]);
            if to.spec.kind == JointKind::Free {
                self.move_free(q, v);
            }
        }
        for (place, from) in self.model().actuators().iter().enumerate() {
            let to = &world.model().actuators()[self.placed.actuator(ActuatorId(place)).0];
            for (from, to) in from.controls.clone().zip(to.controls.clone()) {
                start.control[to] = keyframe.control.get(from).copied().unwrap_or(0.0);
            }
            for (from, to) in from.activations.clone().zip(to.activations.clone()) {
                start.activation[to] = keyframe.activation.get(from).copied().unwrap_or(0.0);
            }
        }
        for (id, pose) in self.model().driven().iter().zip(&keyframe.driven) {
            let there = world.model().body_of_builder(self.body(*id));
            let place = world.model().driven().iter().position(|id| Some(*id) == there);
            if let Some(place) = place {
                start.driven[place] = self.placed.root.1 * pose;
            }
        }
    }

    /// Moves the coordinates of a free joint with the model.
    fn move_free(&self, q: &mut [f64], v: &mut [f64]) {
        let pose = self.placed.root.1;
        if pose == Isometry3::identity() {
            return;
        }
        let position = pose * Point3::new(q[0], q[1], q[2]);
        let turn = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[4], q[5], q[6]));
        let turn = pose.rotation * turn;
        let linear = pose.rotation * Vector3::new(v[0], v[1], v[2]);
        q.copy_from_slice(&[position.x, position.y, position.z, turn.w, turn.i, turn.j, turn.k]);
        v[..3].copy_from_slice(linear.as_slice());
    }

    /// Takes over what is known of the model beyond physics.
    pub fn carry_over(&self, world: &World, imported: &mut Imported) {
        let body =
            |id: BodyId| world.model().body_of_builder(self.body(id)).unwrap_or(BodyId::WORLD);
        for site in &self.imported.sites {
            let mut site = site.clone();
            site.pose = self.pose(site.body, site.pose);
            site.body = body(site.body);
            if !site.name.is_empty() {
                site.name.insert_str(0, &self.prefix);
            }
            imported.sites.push(site);
        }
        for camera in &self.imported.cameras {
            let mut camera = camera.clone();
            camera.pose = self.pose(camera.body, camera.pose);
            camera.body = body(camera.body);
            if !camera.name.is_empty() {
                camera.name.insert_str(0, &self.prefix);
            }
            imported.cameras.push(camera);
        }
        for visual in &self.imported.visuals {
            let mut visual = visual.clone();
            visual.pose = self.pose(visual.body, visual.pose);
            visual.body = body(visual.body);
            imported.visuals.push(visual);
        }
        for unsupported in &self.imported.unsupported {
            if !imported.unsupported.contains(unsupported) {
                imported.unsupported.push(unsupported.clone());
            }
        }
        for note in &self.imported.notes {
            if !imported.notes.contains(note) {
                imported.notes.push(note.clone());
            }
        }
    }
}
