//! Equalities: `[[equality]]` closes loops and couples joints. Points are those of the reference
//! configuration, in the world.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_mech::{BodyId, JointId};
use stiction_sim::constraint::{Connect, Distance, Equality, JointCoupling, Polynomial, Weld};

use super::SceneBuilder;
use super::table::Table;
use crate::error::SceneError;

/// Reads one `[[equality]]`.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let name = table.text("name")?.unwrap_or_default().to_owned();
    let kinds = ["connect", "distance", "joint", "weld"].map(|word| (word, word));
    let kind = table.word("kind", &kinds)?;
    let equality = match kind {
        None => return Err(table.wrong("kind", "the kind of the equality")),
        Some("joint") => joints(scene, &table)?,
        Some(kind) => bodies(scene, &table, kind)?,
    };
    scene.builder.equality(name, equality);
    table.finish()
}

fn bodies(scene: &SceneBuilder, table: &Table, kind: &str) -> Result<Equality, SceneError> {
    let expected = "the names of two bodies, or of one that is held to the world";
    let found = table.texts("bodies")?.unwrap_or_default();
    let declared = scene.builder.mechanism.declared();
    let body = |name| {
        let names = &scene.names.bodies;
        let found = names.find_one((table, "bodies"), name, declared.bodies);
        found.map(BodyId)
    };
    let [body_a, body_b] = match found[..] {
        [a] => [BodyId::WORLD, body(a)?],
        [a, b] => [body(a)?, body(b)?],
        _ => return Err(table.wrong("bodies", expected)),
    };
    let pose = |mut body: BodyId| {
        let mut pose = Isometry3::identity();
        while body != BodyId::WORLD {
            pose = declared.bodies[body.0].pose * pose;
            body = declared.bodies[body.0].parent;
        }
        pose
    };
    let local =
        |body, point: Vector3<f64>| pose(body).inverse_transform_point(&Point3::from(point)).coords;
    Ok(match kind {
        "connect" => {
            let point = table.vector("point")?;
            let point = point.ok_or_else(|| table.wrong("point", "a point of the world [m]"))?;
            let (point_a, point_b) = (local(body_a, point), local(body_b, point));
            Equality::Connect(Connect { body_a, point_a, body_b, point_b })
        }
        "distance" => {
            let points = table.rows("points")?.unwrap_or_default();
            let point = |row: &Vec<f64>| <[f64; 3]>::try_from(&row[..]).ok().map(Vector3::from);
            let [Some(a), Some(b)] = points.iter().map(point).collect::<Vec<_>>()[..] else {
                return Err(table.wrong("points", "two points of the world [m]"));
            };
            let distance = table.positive("distance")?.unwrap_or((a - b).norm());
            let (point_a, point_b) = (local(body_a, a), local(body_b, b));
            Equality::Distance(Distance { body_a, point_a, body_b, point_b, distance })
        }
        _ => {
            let pose = pose(body_a).inv_mul(&pose(body_b));
            Equality::Weld(Weld { body_a, body_b, pose })
        }
    })
}

fn joints(scene: &SceneBuilder, table: &Table) -> Result<Equality, SceneError> {
    let found = table.texts("joints")?.unwrap_or_default();
    let declared = scene.builder.mechanism.declared();
    let joint = |name| {
        let names = &scene.names.joints;
        let found = names.find_one((table, "joints"), name, declared.joints);
        found.map(JointId)
    };
    let (joint, leader) = match found[..] {
        [one] => (joint(one)?, None),
        [one, leader] => (joint(one)?, Some(joint(leader)?)),
        _ => return Err(table.wrong("joints", "a joint and, if it follows one, its leader")),
    };
    let mut polynomial = Polynomial([0.0, 1.0, 0.0, 0.0, 0.0]);
    if let Some(found) = table.numbers("polynomial")? {
        let count = polynomial.0.len();
        if found.is_empty() || found.len() > count {
            return Err(table.wrong("polynomial", "up to five coefficients, the constant first"));
        }
        polynomial.0.fill(0.0);
        polynomial.0[..found.len()].copy_from_slice(&found);
    }
    Ok(Equality::Joint(JointCoupling { joint, leader, polynomial }))
}
