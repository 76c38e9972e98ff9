//! Pairs that were found apart and cannot have met since.
//!
//! A pair that was apart by a distance d stays apart until its shapes have moved by d together,
//! whatever the motion. Each collider has a path: a bound of the way that any of its points has gone.
//! One sum per pair and step then replaces the narrow phase. When the sum is used up, the separation
//! along the last axis is asked for before the narrow phase is.
//! Only pairs without contacts are passed over, so that what is found does not depend on the past.

use crate::narrow::Clearance;
use nalgebra::{Isometry3, Vector3};

/// Round-off of a pose and of a path, as a part of their size.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;

/// What is known of a pair that was apart.
#[derive(Clone, Copy, Debug)]
pub struct SeparationBound {
    /// The sum of both paths up to which the shapes are apart [m].
    until: f64,
    /// The axis along which they were, in A's frame.
    axis: Option<Vector3<f64>>,
}

impl SeparationBound {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { until: f64::NEG_INFINITY, axis: None };

    /// Takes up what the narrow phase found when the paths of the pair summed up to `path` [m].
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

    /// Looks along the last axis, if there is one: `clearance` gives the distance [m] there. True if
    /// the shapes are still more than `reach` [m] apart.
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

/// The path [m] of a collider within `radius` [m] of its origin, continued from one pose to another.
///
/// A rotation by θ moves points at distance r by 2 r sin(θ/2) ≤ 4 r sin(θ/4), and unit quaternions
/// that far apart differ by 2 sin(θ/4).
pub fn path(before: f64, from: &Isometry3<f64>, to: &Isometry3<f64>, radius: f64) -> f64 {
    let (q, p) = (to.rotation.coords, from.rotation.coords);
    let turn = (q - p).norm_squared().min((q + p).norm_squared()).sqrt();
    let place = to.translation.vector;
    let shift = (place - from.translation.vector).norm();
    let doubt = ROUND_OFF * (before + place.amax() + radius);
    before + shift + 2.0 * radius * turn + doubt
}
