//! From detected contacts to those that get rows in a step.
//!
//! [`crossing`] keeps small fast bodies from passing through thin ones; [`flush`] gives neighbouring shapes that a body slides over one normal; [`look_ahead`] decides which
//! contacts that are still apart close within the step, and where; [`welded`] leaves out those of bodies that are welded together.

pub(crate) mod apart;
pub(crate) mod crossing;
pub(crate) mod flush;
mod flush_plane;
pub(crate) mod look_ahead;
pub(crate) mod predicted_motion;
pub(crate) mod welded;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::narrow::PosedShape;
use stiction_geom::{ColliderId, Contact};
use stiction_mech::Data;

use crate::world::World;

/// A contact that gets rows in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowContact {
    /// The contact.
    pub contact: Contact,
    /// The points of A and B at which the rows act, at the start of the step [m]. Of bodies that meet within the
    /// step, they have the place relative to the centre of the body's motion that they have at the meeting.
    pub points: [Vector3<f64>; 2],
    /// Velocity at which the points must separate [m/s]; zero except for bodies that would cross the contact.
    pub away: f64,
}

impl RowContact {
    /// Identity within the step, by which contacts are sorted.
    pub fn key(&self) -> (ColliderId, ColliderId, u32) {
        (self.contact.a, self.contact.b, self.contact.feature)
    }

    /// A contact at the configuration at which it was detected: A and B touch at the nearest points.
    pub fn at_start(contact: &Contact) -> Self {
        let half = 0.5 * contact.gap.max(0.0) * contact.normal;
        let points = [contact.point - half, contact.point + half];
        Self { contact: *contact, points, away: 0.0 }
    }
}

/// The contacts of each pair of shapes, pair by pair.
pub(crate) fn pairs(contacts: &[Contact]) -> impl Iterator<Item = &[Contact]> {
    contacts.chunk_by(|one, other| (one.a, one.b) == (other.a, other.b))
}

/// Pose of a shape at the kinematics in the data.
pub(crate) fn shape_pose(world: &World, data: &Data, shape: usize) -> Isometry3<f64> {
    let collider = &world.colliders.as_slice()[shape];
    data.body_pose[collider.frame as usize] * collider.pose
}

/// A shape at a pose.
pub(crate) fn posed<'a>(
    world: &'a World,
    shape: usize,
    X_WS: &'a Isometry3<f64>,
) -> PosedShape<'a> {
    PosedShape { shape: &world.colliders.as_slice()[shape].shape, X_WS }
}
