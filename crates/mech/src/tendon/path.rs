//! Paths of tendons: sums of joint coordinates, or strings through points of bodies.
//!
//! A spatial path is a list of waypoints. Between two sites the string is straight; a surface
//! between two sites is wrapped when it obstructs the straight line ([`super::wrap`]); a pulley ends
//! one branch and starts another, whose length is divided by the pulley's divisor.

use crate::body::BodyId;
use crate::joint::JointId;
use nalgebra::{Isometry3, Vector3};

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonSite {
    /// The body.
    pub body: BodyId,
    /// The point in the body's frame [m].
    pub point: Vector3<f64>,
}

/// Shape of a surface that a string may wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapShape {
    /// A sphere about the origin of its frame.
    Sphere,
    /// An infinite cylinder about the z axis of its frame.
    Cylinder,
}

/// A surface of a body that a string may wrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrapSurface {
    /// The body.
    pub body: BodyId,
    /// Pose `X_BS` of the surface in the body's frame.
    pub pose: Isometry3<f64>,
    /// Shape.
    pub shape: WrapShape,
    /// Radius [m].
    pub radius: f64,
    /// A point that selects the side of the surface on which the string lies, or its inside; without it the
    /// string takes the shorter path.
    pub side: Option<TendonSite>,
}

/// One element of a spatial path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waypoint {
    /// The string passes through a point.
    Site(TendonSite),
    /// The string wraps a surface between the sites before and after, if it obstructs the straight
    /// line.
    Wrap(WrapSurface),
    /// Another branch begins at the next site; its length is divided by `divisor`.
    Pulley {
        /// Number of strands that share the branch [-].
        divisor: f64,
    },
}

/// Definition of the length of a tendon.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPath {
    /// Σ coefficient · coordinate over joints of one coordinate.
    Fixed(Vec<(JointId, f64)>),
    /// The length of a string.
    Spatial(Vec<Waypoint>),
}

impl TendonPath {
    /// A string through points in order.
    pub fn through(sites: impl IntoIterator<Item = TendonSite>) -> Self {
        Self::Spatial(sites.into_iter().map(Waypoint::Site).collect())
    }
}
