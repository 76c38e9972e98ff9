//! Bodies: `[[body]]` with a shape or with `[[body.part]]`s, free, fixed, driven, or on a parent.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::{Groups, Shape};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, Surface};

use super::copies;
use super::joint::{JointDeclaration, Joints};
use super::start::InitialValue;
use super::table::Table;
use super::{SceneBuilder, order, pose, shape};
use crate::error::SceneError;

/// Default density [kg/m³]: that of water.
pub(super) const DENSITY: f64 = 1000.0;

/// One shape of a body.
#[derive(Clone)]
struct BodyShape {
    shape: Shape,
    pose: Isometry3<f64>,
    surface: Surface,
    colour: [f32; 4],
    density: f64,
    touches: bool,
}

/// A body before it is in the builder.
struct BodyDeclaration<'a> {
    table: Table<'a>,
    name: String,
    parent: Option<String>,
    pose: Isometry3<f64>,
    fixed: bool,
    driven: bool,
    pieces: Vec<BodyShape>,
    mass: Option<f64>,
    velocity: Vector3<f64>,
    angular_velocity: Vector3<f64>,
    joints: Vec<JointDeclaration<'a>>,
}

/// Reads every `[[body]]`, and gives each its joints.
pub(super) fn read<'a>(
    scene: &mut SceneBuilder,
    root: &Table<'a>,
    mut joints: Joints<'a>,
) -> Result<(), SceneError> {
    let mut bodies = Vec::new();
    for table in root.tables("body")? {
        bodies.push(one(scene, table, &mut joints)?);
    }
    if let Some(joint) = joints.into_values().flatten().min_by_key(|joint| joint.table.place().line)
    {
        return Err(joint.table.wrong("body", "the name of a [[body]] of this scene"));
    }
    // Parents may follow their children in the file, but not in the builder.
    let order = order::parents_first(&bodies, |body| (&body.name, body.parent.as_deref()));
    let mut waiting: Vec<Option<BodyDeclaration>> = bodies.into_iter().map(Some).collect();
    for place in order {
        if let Some(body) = waiting[place].take() {
            add(scene, body)?;
        }
    }
    match waiting.iter().flatten().next() {
        None => Ok(()),
        Some(body) => Err(body.table.wrong("parent", "a body that does not hang on this one")),
    }
}

fn one<'a>(
    scene: &mut SceneBuilder,
    table: Table<'a>,
    joints: &mut Joints<'a>,
) -> Result<BodyDeclaration<'a>, SceneError> {
    let name = table.text("name")?.unwrap_or_default().to_owned();
    let table = if name.is_empty() { table } else { table.named(&name) };
    let parent = table.text("parent")?.map(str::to_owned);
    let pose = pose::read(&table)?;
    let colour = colour(&table)?;
    let surface = scene.surfaces.of(&table, None)?;
    let mass = table.positive("mass")?;
    let density = match mass {
        Some(_) => DENSITY,
        None => table.positive("density")?.unwrap_or(DENSITY),
    };
    let touches = table.flag_or("touches", true)?;
    let mut pieces = Vec::new();
    if table.has("shape") {
        let shape = shape::read(&table, scene.files, &scene.folder)?;
        pieces.push(BodyShape {
            shape,
            pose: Isometry3::identity(),
            surface,
            colour,
            density,
            touches,
        });
    } else {
        for part in table.tables("part")? {
            let shape = shape::read(&part, scene.files, &scene.folder)?;
            pieces.push(BodyShape {
                shape,
                pose: pose::read(&part)?,
                surface: scene.surfaces.of(&part, Some(surface))?,
                colour: if part.has("colour") { self::colour(&part)? } else { colour },
                density: part.positive("density")?.unwrap_or(density),
                touches: part.flag_or("touches", touches)?,
            });
            part.finish()?;
        }
    }
    if pieces.is_empty() {
        return Err(table.error("neither a shape nor a [[body.part]]; expected one of them"));
    }
    let joints = joints.remove(&name).filter(|_| !name.is_empty()).unwrap_or_default();
    let free = parent.is_none() && joints.is_empty();
    let fixed = free && table.flag("fixed")?;
    let driven = free && !fixed && table.flag("driven")?;
    let endless = |piece: &BodyShape| !piece.shape.bounding_radius().is_finite();
    if let Some(piece) = pieces.iter().find(|piece| driven && endless(piece)) {
        let shape = piece.shape.name();
        return Err(table.error(format_args!("a {shape} that is driven; expected it fixed")));
    }
    let (mut velocity, mut angular_velocity) = (Vector3::zeros(), Vector3::zeros());
    if free && !fixed && !driven {
        velocity = table.vector("velocity")?.unwrap_or_default();
        angular_velocity = table.vector("angular-velocity")?.unwrap_or_default();
    }
    Ok(BodyDeclaration {
        table,
        name,
        parent,
        pose,
        fixed,
        driven,
        pieces,
        mass,
        velocity,
        angular_velocity,
        joints,
    })
}

/// Puts a body and its copies into the builder.
fn add(scene: &mut SceneBuilder, body: BodyDeclaration) -> Result<(), SceneError> {
    let BodyDeclaration { table, name, pieces, .. } = &body;
    let parent = match &body.parent {
        None => BodyId::WORLD,
        Some(parent) => {
            let declared = scene.builder.mechanism.declared();
            let names = &scene.names.bodies;
            BodyId(names.find_one((table, "parent"), parent, declared.bodies)?)
        }
    };
    let mass = match body.fixed || body.driven {
        true => None,
        false => Some(mass_properties(table, pieces, body.mass)?),
    };
    let each = match body.joints.is_empty() {
        true => copies::read(table, body.pose)?.each,
        // Copies of a mechanism would need copies of its joints: a model does that.
        false => vec![(String::new(), body.pose)],
    };
    scene.admit_bodies(table, 1, each.len())?;
    for (suffix, pose) in each {
        let name = if name.is_empty() { String::new() } else { format!("{name}{suffix}") };
        let driven = body.driven;
        let spec = BodySpec { name, parent, pose, mass, driven, ..BodySpec::default() };
        let id = scene.builder.mechanism.body(spec);
        for piece in pieces {
            let mut geom = Geom::new(id, piece.shape.clone());
            (geom.pose, geom.surface, geom.colour) = (piece.pose, piece.surface, piece.colour);
            if !piece.touches {
                geom.groups = Groups { category: 0, mask: 0 };
            }
            scene.builder.geom(geom);
        }
        let free = body.parent.is_none() && body.joints.is_empty();
        if free && !body.fixed && !body.driven {
            let joint = scene.builder.mechanism.joint(id, JointSpec::new(JointKind::Free));
            if body.velocity != Vector3::zeros() || body.angular_velocity != Vector3::zeros() {
                let angular = pose.rotation.inverse() * body.angular_velocity;
                scene.beginnings.push(InitialValue::Velocity {
                    joint,
                    linear: body.velocity,
                    angular,
                });
            }
        }
        for joint in &body.joints {
            let id = scene.builder.mechanism.joint(id, joint.spec.clone());
            if let Some(value) = joint.start {
                scene.beginnings.push(InitialValue::Coordinate { joint: id, value });
            }
        }
    }
    for joint in body.joints {
        joint.table.finish()?;
    }
    body.table.finish()
}

/// The colour of a table; grey if absent.
pub(super) fn colour(table: &Table) -> Result<[f32; 4], SceneError> {
    let Some(found) = table.numbers("colour")? else { return Ok([0.6, 0.6, 0.6, 1.0]) };
    let expected = "red, green, blue and perhaps opacity, each from 0 to 1";
    let wrong = || table.wrong("colour", expected);
    if !found.iter().all(|x| (0.0..=1.0).contains(x)) {
        return Err(wrong());
    }
    match found[..] {
        [red, green, blue] => Ok([red as f32, green as f32, blue as f32, 1.0]),
        [red, green, blue, opacity] => Ok([red, green, blue, opacity].map(|x| x as f32)),
        _ => Err(wrong()),
    }
}

/// Mass properties of several pieces, of their densities or of a given mass in all [kg].
fn mass_properties(
    table: &Table,
    pieces: &[BodyShape],
    wanted: Option<f64>,
) -> Result<MassProperties, SceneError> {
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    let of = |piece: &BodyShape| {
        let (mass, com, inertia) = piece.shape.mass_properties(piece.density);
        let R = piece.pose.rotation.to_rotation_matrix().into_inner();
        let com = piece.pose.translation.vector + R * com;
        (mass, com, R * inertia * R.transpose())
    };
    for (m, com, _) in pieces.iter().map(of) {
        mass += m;
        moment += m * com;
    }
    if !(mass > 0.0 && mass.is_finite()) {
        let kinds: Vec<&str> = pieces.iter().map(|piece| piece.shape.name()).collect();
        return Err(table.error(format_args!(
            "a {} has no volume and cannot move; expected fixed = true, or a shape with a volume",
            kinds.join(", ")
        )));
    }
    let centre = moment / mass;
    let mut inertia = Matrix3::zeros();
    for (m, com, own) in pieces.iter().map(of) {
        // Steiner: what a mass adds by standing off the common centre.
        let r = com - centre;
        inertia += own + m * (Matrix3::identity() * r.norm_squared() - r * r.transpose());
    }
    let scale = wanted.map_or(1.0, |wanted| wanted / mass);
    MassProperties::new(scale * mass, centre, scale * inertia).map_err(|error| table.error(error))
}
