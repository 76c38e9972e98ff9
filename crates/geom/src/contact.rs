//! A contact: one point at which two colliders touch or may touch within the reach.

use crate::ColliderId;
use nalgebra::Vector3;

/// One point of the manifold between two colliders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The collider with the smaller id.
    pub a: ColliderId,
    /// The collider with the larger id.
    pub b: ColliderId,
    /// Feature id of the point within the pair; it stays the same while the same features touch.
    pub feature: u32,
    /// Position in the world, midway between the two surfaces [m].
    pub point: Vector3<f64>,
    /// Unit normal in the world, from A into B [-].
    pub normal: Vector3<f64>,
    /// Distance between the surfaces along the normal [m]; negative when they penetrate.
    pub gap: f64,
}
