//! Attachments: vertices of soft bodies that keep their position on a rigid body or link.
//!
//! Each is holonomic: the vertex x and the point p of the body coincide. Both sides move by unknown
//! velocities, so that the three rows of a vertex require `ẋ − ṗ = −(x − p)/h`: each step
//! removes the error that the last one left by its curvature. A vertex on a driven body follows it in
//! the same way; a vertex on the world is fixed instead and not among the unknowns.

use nalgebra::{Point3, Vector3};
use stiction_mech::{Data, Input, Model, State, kinematics, set_driven_poses};
use stiction_solve::law::{Bilateral, Law};

use super::{AttachmentSpec, SoftObject};
use crate::error::WorldError;
use crate::rows::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::world::{Renumber, World};

/// A node that keeps its position on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attachment {
    pub node: u32,
    pub body: usize,
    /// Its position in the frame of the body [m].
    pub point: Vector3<f64>,
}

/// Fraction of the error that a step removes under the mid-velocity convention, where the next velocity
/// is mirrored at the mean, and the correction would be mirrored with it.
const MIRRORED: f64 = 0.2;

const AXES: [Vector3<f64>; 3] =
    [Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.0, 1.0, 0.0), Vector3::new(0.0, 0.0, 1.0)];

/// Checks the declared attachments and sorts them by node.
pub(crate) fn attachments(
    objects: &[SoftObject],
    attached: &[AttachmentSpec],
    model: &Model,
    renumber: &Renumber,
) -> Result<Vec<Attachment>, WorldError> {
    let mut data = Data::new(model);
    set_driven_poses(model, &Input::new(model).driven_pose, &mut data);
    kinematics(model, &State::new(model).q, &mut data);
    let mut list = Vec::new();
    for attach in attached {
        let owner = || "attachment".to_owned();
        let unknown =
            |what, found, count| WorldError::Unknown { owner: owner(), what, found, count };
        let Some(object) = objects.get(attach.soft.0) else {
            return Err(unknown("soft body", attach.soft.0, objects.len()));
        };
        let body = renumber.body(attach.body, owner)?.0;
        let soft = &model.softs()[attach.soft.0];
        for vertex in &attach.vertices {
            let Some(x) = object.spec.vertices.get(*vertex as usize) else {
                let count = object.spec.vertices.len();
                return Err(unknown("vertex", *vertex as usize, count));
            };
            if soft.spec.fixed.binary_search(vertex).is_err() {
                let point = data.body_pose[body].inverse_transform_point(&Point3::from(*x)).coords;
                list.push(Attachment { node: soft.nodes.start as u32 + vertex, body, point });
            }
        }
    }
    list.sort_by_key(|attachment| attachment.node);
    if let Some(pair) = list.windows(2).find(|pair| pair[0].node == pair[1].node) {
        let node = pair[0].node as usize;
        let soft = model.softs().iter().find(|soft| soft.nodes.contains(&node));
        let (name, first) =
            soft.map_or((String::new(), 0), |s| (s.spec.name.clone(), s.nodes.start));
        let what = format!("vertex {} is attached twice", node - first);
        let expected = "a vertex to be attached to one body, once";
        return Err(WorldError::Soft { name, what, expected });
    }
    Ok(list)
}

/// Adds the rows of the attachments.
pub(crate) fn add_rows(
    world: &World,
    x: &[Vector3<f64>],
    parameters: &RowParameters,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    let fraction = if parameters.alpha < 1.0 { MIRRORED } else { 1.0 };
    for attachment in &world.softs.attachments {
        let error = error(attachment, x, context.data);
        let Attachment { node, body, .. } = *attachment;
        let p_W = x[node as usize] - error;
        let driven = context.driven.point_velocity(body, &p_W);
        for (row, axis) in AXES.iter().enumerate() {
            let key = ConstraintKey {
                class: ConstraintClass::Attachment,
                a: node,
                b: row as u32,
                feature: 0,
                row: 0,
            };
            let bias = fraction * error[row] / parameters.time_step - driven[row];
            rows.open(key, Law::Bilateral(Bilateral), error[row], &[bias], &[0.0]);
            let vertex = ([node; 3], [1.0, 0.0, 0.0]);
            rows.add_soft_point_velocity(world, vertex, std::slice::from_ref(axis), 1.0);
            rows.add_point_velocity(context, body, &p_W, std::slice::from_ref(axis), -1.0);
            rows.close();
        }
    }
}

/// From the point of the body to the vertex [m].
fn error(attachment: &Attachment, x: &[Vector3<f64>], data: &Data) -> Vector3<f64> {
    let p_W = data.body_pose[attachment.body] * Point3::from(attachment.point);
    x[attachment.node as usize] - p_W.coords
}

/// Largest error of an attachment [m].
pub(crate) fn largest_error(world: &World, x: &[Vector3<f64>], data: &Data) -> f64 {
    let errors = world.softs.attachments.iter().map(|a| error(a, x, data).norm());
    errors.fold(0.0, f64::max)
}
