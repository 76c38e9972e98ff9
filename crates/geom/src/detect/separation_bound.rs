//! Skips pairs that were separated and cannot have touched since.
//!
//! A pair separated by a distance d stays separated until the motions of its shapes sum to d. Each collider
//! has a path: an upper bound of the distance that any of its points has travelled. One sum per pair and
//! step then replaces the narrow phase. When the bound is exhausted, the separation along the last axis is
//! evaluated before the narrow phase is. Only pairs without contacts are skipped, so that the contacts do
//! not depend on the history.

use crate::narrow::Clearance;
use nalgebra::{UnitQuaternion, Vector3};

/// Round-off of a pose and of a path, as a part of their size.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;

/// Lower bound of the distance of a pair, in terms of the paths of its colliders.
#[derive(Clone, Copy, Debug)]
pub struct SeparationBound {
    /// The sum of both paths up to which the shapes are separated [m].
    until: f64,
    /// The last separating axis, in A's frame.
    axis: Option<Vector3<f64>>,
}

impl SeparationBound {
    /// No bound.
    pub const UNKNOWN: Self = Self { until: f64::NEG_INFINITY, axis: None };

    /// Bound from the result of the narrow phase, computed when the paths of the pair summed to `path` [m].
    pub fn new(clearance: Option<Clearance>, path: f64) -> Self {
        clearance.map_or(Self::UNKNOWN, |Clearance { axis, distance }| Self {
            until: path + distance,
            axis: Some(axis),
        })
    }

    /// Whether the shapes are still more than `reach` [m] apart at a sum of paths of `path` [m].
    pub fn lasts(&self, path: f64, reach: f64) -> bool {
        path + reach < self.until
    }

    /// Recomputes the bound from the separation along the last axis, if there is one: `clearance` gives
    /// that distance [m]. True if the shapes are still more than `reach` [m] apart.
    pub fn renew(
        &mut self,
        path: f64,
        reach: f64,
        clearance: impl FnOnce(&Vector3<f64>) -> f64,
    ) -> bool {
        let Some(axis) = &self.axis else { return false };
        self.until = path + clearance(axis);
        self.lasts(path, reach)
    }
}

/// Bound of how far a rotation moves points at unit distance from its axis [-]: a rotation by θ moves them by
/// 2 sin(θ/2) ≤ 4 sin(θ/4), and unit quaternions that far apart differ by 2 sin(θ/4).
pub fn turn(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>) -> f64 {
    let (q, p) = (to.coords, from.coords);
    2.0 * (q - p).norm_squared().min((q + p).norm_squared()).sqrt()
}

/// The path [m] of a collider within `radius` [m] of its centre, continued from one place of the centre to another, and by the
/// bound of a [`turn`].
pub fn path(before: f64, [from, to]: [&Vector3<f64>; 2], (turn, radius): (f64, f64)) -> f64 {
    let doubt = ROUND_OFF * (before + to.amax() + radius);
    before + (to - from).norm() + radius * turn + doubt
}
