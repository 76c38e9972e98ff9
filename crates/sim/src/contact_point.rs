//! A contact of the last step as users read it.

use nalgebra::Vector3;
use stiction_mech::SoftId;

/// A contact of the last step, with the force that the solver found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Indices of the two shapes, A and B; [`ContactPoint::NO_GEOM`] for a side that is soft.
    pub geoms: [usize; 2],
    /// Indices of their bodies; that of the world for a side that is soft.
    pub bodies: [usize; 2],
    /// The soft bodies, for sides that are soft.
    pub soft: [Option<SoftId>; 2],
    /// Position in the world [m].
    pub point: Vector3<f64>,
    /// Normal from A into B.
    pub normal: Vector3<f64>,
    /// Distance along the normal [m], negative in penetration.
    pub gap: f64,
    /// Area of the polygon of a patch for which the contact stands [m²]; zero for contacts at points.
    pub area: f64,
    /// Force on B, and its opposite on A, mean over the step, world axes [N].
    pub force: Vector3<f64>,
    /// Torque of friction against spinning and rolling on B, and its opposite on A, mean over the
    /// step, world axes [N·m].
    pub torque: Vector3<f64>,
    /// Velocity of B relative to A after the step, world axes [m/s].
    pub velocity: Vector3<f64>,
}

impl ContactPoint {
    /// Index that stands for the shape of a soft side.
    pub const NO_GEOM: usize = u32::MAX as usize;

    /// Whether a side is soft.
    pub fn is_soft(&self) -> bool {
        self.soft.iter().any(Option::is_some)
    }
}
