//! A world: a mechanism, the shapes on its bodies with their surfaces, soft bodies, and equalities.
//!
//! It never changes. Shapes are carried by links: what is welded together moves together and never
//! touches itself, nor the link that carries it.

use std::cmp::Ordering;
use std::sync::Arc;

use nalgebra::Isometry3;
use stiction_geom::{Collider, ColliderId, Colliders, Contact, Groups, Shape};
use stiction_mech::{ActuatorId, BodyId, JointId, Model, ModelBuilder, SoftId, TendonId};

use crate::cable::{self, Cable};
use crate::constraint::Equality;
use crate::error::WorldError;
use crate::sensor::{self, SensorSpec};
use crate::soft::{AttachmentSpec, SoftObject, SoftParts, Softs};
use crate::surface::{Combine, GrainOf, Pairing, Resistance, Surface, check_standoff};

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Geom {
    /// Name, empty or different from all others.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Its geometry.
    pub shape: Shape,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Its surface.
    pub surface: Surface,
    /// What it is and what it touches.
    pub groups: Groups,
    /// Distance [m] from which its contacts are wanted, whatever the motion.
    pub margin: f64,
    /// Distance [m] at which its contacts act already (MJCF: margin). Those of two shapes that meet
    /// add up.
    pub standoff: f64,
    /// Red, green, blue and opacity, each from 0 to 1; for those who look.
    pub colour: [f32; 4],
}

impl Geom {
    /// A shape at the origin of a body, with the default surface.
    pub fn new(body: BodyId, shape: Shape) -> Self {
        Self {
            name: String::new(),
            body,
            shape,
            pose: Isometry3::identity(),
            surface: Surface::default(),
            groups: Groups::default(),
            margin: 0.0,
            standoff: 0.0,
            colour: [0.6, 0.6, 0.6, 1.0],
        }
    }

    /// With a surface.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// With a pose in the frame of the body.
    pub fn at(mut self, pose: Isometry3<f64>) -> Self {
        self.pose = pose;
        self
    }

    /// With a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With a colour.
    pub fn coloured(mut self, red: f32, green: f32, blue: f32) -> Self {
        self.colour = [red, green, blue, 1.0];
        self
    }
}

/// Collects the parts of a world; [`WorldBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct WorldBuilder {
    /// Bodies, joints, tendons, actuators.
    pub mechanism: ModelBuilder,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) equalities: Vec<(String, Equality)>,
    pub(crate) excludes: Vec<(BodyId, BodyId)>,
    pub(crate) pairs: Vec<(usize, usize, Option<Pairing>)>,
    pub(crate) sensors: Vec<SensorSpec>,
    pub(crate) softs: Vec<SoftObject>,
    pub(crate) attached: Vec<AttachmentSpec>,
    pub(crate) soft_excludes: Vec<(SoftId, BodyId)>,
    pub(crate) cables: Vec<Cable>,
}

impl WorldBuilder {
    /// An empty world with standard gravity.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a shape on a body and returns its index.
    pub fn geom(&mut self, geom: Geom) -> usize {
        self.geoms.push(geom);
        self.geoms.len() - 1
    }

    /// Adds an equality.
    pub fn equality(&mut self, name: impl Into<String>, equality: Equality) {
        self.equalities.push((name.into(), equality));
    }

    /// Lets two bodies pass through one another, but not what is welded to them.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excludes.push((a, b));
    }

    /// Lets two shapes touch whatever their groups and bodies.
    pub fn pair(&mut self, a: usize, b: usize) {
        self.pairs.push((a, b, None));
    }

    /// Lets two shapes touch whatever their groups and bodies, with a combined surface of their own.
    /// Of several for the same two shapes the last counts. A grain is that of the shape it names.
    pub fn pair_as(&mut self, a: usize, b: usize, pairing: Pairing) {
        self.pairs.push((a, b, Some(pairing)));
    }

    /// Adds a soft body.
    pub fn soft(&mut self, object: SoftObject) -> SoftId {
        self.softs.push(object);
        SoftId(self.softs.len() - 1)
    }

    /// Attaches vertices of a soft body to a body: they stay where they are in its frame at the start.
    /// The soft body does not touch what it is attached to.
    pub fn attach(&mut self, soft: SoftId, vertices: &[u32], body: BodyId) {
        self.attached.push(AttachmentSpec { soft, vertices: vertices.to_vec(), body });
    }

    /// Lets a soft body pass through a body and what moves with it.
    pub fn exclude_soft(&mut self, soft: SoftId, body: BodyId) {
        self.soft_excludes.push((soft, body));
    }

    /// Checks everything.
    pub fn build(self) -> Result<World, WorldError> {
        let parts = Arc::new(self.clone());
        let Self { mut mechanism, mut geoms, mut equalities, excludes, pairs, sensors, .. } = self;
        let (mut objects, attached, cables) = (self.softs, self.attached, self.cables);
        cable::check(&cables)?;
        let skins = Softs::declare(&mut objects, &attached, &mut mechanism)?;
        let model = mechanism.build()?;
        check_declared(&model, objects.len())?;
        let renumber = Renumber { model: &model };
        for geom in &mut geoms {
            geom.body = renumber.body(geom.body, || format!("shape \"{}\"", geom.name))?;
            geom.surface.check(&geom.name)?;
            check_standoff(geom.standoff, &geom.name)?;
        }
        for (name, equality) in &mut equalities {
            equality.renumber(&renumber, name)?;
            equality.check(&model, name)?;
        }
        let sensors = sensor::Layout::new(sensors, &model, &renumber)?;
        let cables = cable::checked(cables, &renumber)?;
        let colliders = colliders(&model, &renumber, &geoms, &excludes, &pairs)?;
        let pairings = pairings(&geoms, &pairs)?;
        let own = SoftParts { objects, skins, attached, excluded: self.soft_excludes };
        let softs = Softs::new(own, &model, &renumber, &colliders)?;
        let has_torsion = geoms.iter().any(|geom| geom.surface.resistance >= Resistance::Spinning)
            || pairings.iter().any(|(_, pairing)| pairing.has_torsion());
        let radius = radii(&model, &colliders);
        let link_index = link_indices(&model);
        let (names, equalities) = equalities.into_iter().unzip();
        Ok(World {
            parts,
            model,
            geoms,
            colliders,
            pairings,
            has_torsion,
            equalities,
            equality_names: names,
            sensors,
            cables,
            radius,
            link_index,
            softs,
        })
    }
}

/// Soft bodies of a world have skins: they come through [`WorldBuilder::soft`].
fn check_declared(model: &Model, objects: usize) -> Result<(), WorldError> {
    let bare = model.softs().len() - objects;
    if bare == 0 {
        return Ok(());
    }
    Err(WorldError::Soft {
        name: model.softs()[0].spec.name.clone(),
        what: "a soft body of the mechanism alone".to_owned(),
        expected: "soft bodies to be added to the world, which gives them a skin",
    })
}

/// A pairing and the shapes it is between, smaller index first.
type PairingOf = ((u32, u32), Pairing);

/// The explicit pairings, checked and sorted by their shapes.
fn pairings(
    geoms: &[Geom],
    pairs: &[(usize, usize, Option<Pairing>)],
) -> Result<Vec<PairingOf>, WorldError> {
    let mut list = Vec::new();
    for (a, b, pairing) in pairs {
        let Some(mut pairing) = *pairing else { continue };
        let name = |index: usize| &geoms[index].name;
        pairing.check(&format!("{}\" and \"{}", name(*a), name(*b)))?;
        if a > b {
            pairing.grain = match pairing.grain {
                GrainOf::Neither => GrainOf::Neither,
                GrainOf::A => GrainOf::B,
                GrainOf::B => GrainOf::A,
            };
        }
        let key = (*a.min(b) as u32, *a.max(b) as u32);
        list.push((key, pairing.without_what_is_not_resisted()));
    }
    // The sort is stable: of several the last declared comes last.
    list.sort_by_key(|(key, _)| *key);
    list.reverse();
    list.dedup_by_key(|(key, _)| *key);
    list.reverse();
    Ok(list)
}

/// From the ids of a builder to those of its model.
pub(crate) struct Renumber<'a> {
    model: &'a Model,
}

impl Renumber<'_> {
    pub fn body(&self, id: BodyId, owner: impl Fn() -> String) -> Result<BodyId, WorldError> {
        let count = self.model.bodies().len();
        self.model.body_of_builder(id).ok_or_else(|| WorldError::Unknown {
            owner: owner(),
            what: "body",
            found: id.0,
            count,
        })
    }

    pub fn joint(&self, id: JointId, owner: impl Fn() -> String) -> Result<JointId, WorldError> {
        let count = self.model.joints().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "joint", found: id.0, count };
        self.model.joint_of_builder(id).ok_or_else(unknown)
    }

    pub fn tendon(&self, id: TendonId, owner: impl Fn() -> String) -> Result<TendonId, WorldError> {
        let count = self.model.tendons().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "tendon", found: id.0, count };
        (id.0 < count).then_some(id).ok_or_else(unknown)
    }

    pub fn actuator(
        &self,
        id: ActuatorId,
        owner: impl Fn() -> String,
    ) -> Result<ActuatorId, WorldError> {
        let count = self.model.actuators().len();
        let (owner, what) = (owner(), "actuator");
        let unknown = || WorldError::Unknown { owner, what, found: id.0, count };
        (id.0 < count).then_some(id).ok_or_else(unknown)
    }
}

/// The frame of detection in which a body is at rest.
pub(crate) fn frame_of(model: &Model, body: BodyId) -> u32 {
    let driver = || model.driver(body).map(|driver| driver.0);
    model.link(body).or_else(driver).unwrap_or(0) as u32
}

fn colliders(
    model: &Model,
    renumber: &Renumber,
    geoms: &[Geom],
    excludes: &[(BodyId, BodyId)],
    pairs: &[(usize, usize, Option<Pairing>)],
) -> Result<Colliders, WorldError> {
    let mut set = Colliders::builder();
    let frame = |body: BodyId| frame_of(model, body);
    // An explicit pair is found at its own standoff: half of it on either side.
    let mut least_margin = vec![0.0_f64; geoms.len()];
    for (a, b, pairing) in pairs {
        for index in [*a, *b] {
            let Some(least) = least_margin.get_mut(index) else {
                let owner = "explicit pair".to_owned();
                let (what, found, count) = ("shape", index, geoms.len());
                return Err(WorldError::Unknown { owner, what, found, count });
            };
            *least = least.max(0.5 * pairing.map_or(0.0, |pairing| pairing.standoff));
        }
    }
    for (index, geom) in geoms.iter().enumerate() {
        let body = &model.bodies()[geom.body.0];
        if frame(geom.body) != 0 && !geom.shape.bounding_radius().is_finite() {
            let (name, kind) = (geom.name.clone(), geom.shape.name());
            return Err(WorldError::Immovable { name, kind });
        }
        set.add(Collider {
            shape: geom.shape.clone(),
            frame: frame(geom.body),
            pose: body.pose_in_link * geom.pose,
            groups: geom.groups,
            margin: geom.margin.max(geom.standoff).max(least_margin[index]),
        });
    }
    set.fixed(0);
    for link in model.links() {
        if let Some(parent) = link.parent {
            set.exclude(parent as u32, link.body as u32);
        }
    }
    // What is driven meets neither the world nor its like.
    for (k, driven) in model.driven().iter().enumerate() {
        set.exclude(0, driven.0 as u32);
        model.driven()[..k].iter().for_each(|other| set.exclude(other.0 as u32, driven.0 as u32));
    }
    // A body with all shapes of its frame goes by the frame, others by their shapes.
    let shapes_of = |body: BodyId| geoms.iter().enumerate().filter(move |(_, g)| g.body == body);
    let is_alone = |body: BodyId| {
        let mut others = geoms.iter().filter(|geom| geom.body != body);
        others.all(|geom| frame(geom.body) != frame(body))
    };
    for (a, b) in excludes {
        let owner = || "exclusion".to_owned();
        let (a, b) = (renumber.body(*a, owner)?, renumber.body(*b, owner)?);
        if is_alone(a) && is_alone(b) {
            set.exclude(frame(a), frame(b));
            continue;
        }
        for (one, _) in shapes_of(a) {
            for (other, _) in shapes_of(b) {
                set.exclude_pair(ColliderId(one as u32), ColliderId(other as u32));
            }
        }
    }
    for (a, b, _) in pairs {
        set.pair(ColliderId(*a as u32), ColliderId(*b as u32));
    }
    Ok(set.build()?)
}

/// Per body: distance of the farthest point of a link's shapes from its origin [m].
fn radii(model: &Model, colliders: &Colliders) -> Vec<f64> {
    let mut radius = vec![0.0_f64; model.bodies().len()];
    for collider in colliders.as_slice().iter().filter(|c| c.frame != 0) {
        let reach = collider.pose.translation.vector.norm() + collider.shape.bounding_radius();
        let entry = &mut radius[collider.frame as usize];
        *entry = entry.max(reach);
    }
    radius
}

/// Per body: index of a link within its tree.
fn link_indices(model: &Model) -> Vec<u32> {
    let mut index = vec![0; model.bodies().len()];
    for tree in model.trees() {
        for (k, link) in model.links()[tree.links.clone()].iter().enumerate() {
            index[link.body] = k as u32;
        }
    }
    index
}

/// A checked world.
#[derive(Clone, Debug)]
pub struct World {
    /// What it was built from, with the ids of the builder.
    pub(crate) parts: Arc<WorldBuilder>,
    pub(crate) model: Model,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) colliders: Colliders,
    /// Explicit pairings by the shapes they are between, sorted.
    pairings: Vec<PairingOf>,
    /// Whether any contact may resist spinning or rolling.
    pub(crate) has_torsion: bool,
    pub(crate) equalities: Vec<Equality>,
    equality_names: Vec<String>,
    pub(crate) sensors: sensor::Layout,
    pub(crate) cables: Vec<Cable>,
    pub(crate) radius: Vec<f64>,
    pub(crate) link_index: Vec<u32>,
    pub(crate) softs: Softs,
}

impl World {
    /// The mechanism.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The shapes; a contact names them by index.
    pub fn geoms(&self) -> &[Geom] {
        &self.geoms
    }

    /// The shape of this name.
    pub fn geom(&self, name: &str) -> Option<usize> {
        self.geoms.iter().position(|geom| geom.name == name).filter(|_| !name.is_empty())
    }

    /// Bodies of the shapes in contact, A and B.
    pub(crate) fn bodies_of(&self, contact: &Contact) -> [usize; 2] {
        [contact.a, contact.b].map(|id| self.geoms[id.index()].body.0)
    }

    /// How the two surfaces of a contact meet.
    pub(crate) fn pairing(&self, contact: &Contact, combine: Combine) -> Pairing {
        if let Some(explicit) = self.explicit_pairing(contact) {
            return *explicit;
        }
        let [a, b] = [contact.a, contact.b].map(|id| &self.geoms[id.index()]);
        let standoff = a.standoff + b.standoff;
        Pairing { standoff, ..Pairing::of(&a.surface, &b.surface, combine) }
    }

    fn explicit_pairing(&self, contact: &Contact) -> Option<&Pairing> {
        if self.pairings.is_empty() {
            return None;
        }
        let key = (contact.a.0, contact.b.0);
        let place = self.pairings.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(&self.pairings[place].1)
    }

    /// Distance [m] beyond the standoff, and whether the contact does not yield.
    pub(crate) fn rigid_gap(&self, contact: &Contact) -> Option<f64> {
        let (stiffness, standoff) = match self.explicit_pairing(contact) {
            Some(explicit) => (explicit.stiffness, explicit.standoff),
            None => {
                let [a, b] = [contact.a, contact.b].map(|id| &self.geoms[id.index()]);
                let stiffness = match a.surface.priority.cmp(&b.surface.priority) {
                    Ordering::Less => b.surface.stiffness,
                    Ordering::Equal => a.surface.stiffness.min(b.surface.stiffness),
                    Ordering::Greater => a.surface.stiffness,
                };
                (stiffness, a.standoff + b.standoff)
            }
        };
        (stiffness == f64::INFINITY).then_some(contact.gap - standoff)
    }

    /// The soft bodies, as they were added; their mechanics are in [`Model::softs`].
    pub fn softs(&self) -> &[SoftObject] {
        &self.softs.objects
    }

    /// The soft body of this name.
    pub fn soft(&self, name: &str) -> Option<SoftId> {
        let place = self.softs().iter().position(|object| object.spec.name == name);
        place.filter(|_| !name.is_empty()).map(SoftId)
    }

    /// The vertices of a soft body that lie on its surface, and the triangles over these, outward.
    pub fn skin(&self, soft: SoftId) -> (&[u32], &[[u32; 3]]) {
        let skin = &self.softs.skins[soft.0];
        (&skin.vertices, &skin.triangles)
    }

    /// The equalities.
    pub fn equalities(&self) -> &[Equality] {
        &self.equalities
    }

    /// Names of the equalities.
    pub fn equality_names(&self) -> &[String] {
        &self.equality_names
    }
}
