//! How far apart the contacts of a pair are reported, in all directions and along one.

use super::oriented_box::OrientedBox;
use super::relative_reach::{FrameMotion, RelativeMotion};
use crate::narrow::{self, ManifoldPoint, PosedShape};
use nalgebra::Vector3;

/// Bounding sphere of a collider, and the distance within which its contacts are reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundingSphere {
    pub centre: Vector3<f64>,
    /// Infinite for a half space [m].
    pub radius: f64,
    /// Reach of the frame and margin of the collider [m].
    pub contact_distance: f64,
    /// Upper bound of the distance that any point of the collider has travelled [m]; not kept for half
    /// spaces.
    pub path: f64,
    /// Whether the collider is this sphere.
    pub exact: bool,
    /// Margin of the collider [m].
    pub margin: f64,
    /// Motion at the centre; `None` if the frame's is not known.
    pub motion: Option<FrameMotion>,
}

impl BoundingSphere {
    /// Whether two bounding spheres are within a distance [m] of each other; always for half spaces.
    #[inline]
    pub fn is_within(&self, other: &Self, distance: f64) -> bool {
        let most = self.radius + other.radius + distance;
        (self.centre - other.centre).norm_squared() <= most * most
    }
}

/// Distance within which contacts of a pair are reported.
pub(super) struct PairReach {
    /// In all directions [m].
    pub most: f64,
    /// Sum of the margins [m], and the motion relative to one another if it bounds the distance.
    margins: f64,
    motion: Option<RelativeMotion>,
}

impl PairReach {
    /// That of two colliders.
    #[inline]
    pub fn of(a: &BoundingSphere, b: &BoundingSphere) -> Self {
        let (sum, margins) = (a.contact_distance + b.contact_distance, a.margin + b.margin);
        let motion = a.motion.as_ref().zip(b.motion.as_ref()).and_then(|(of_a, of_b)| {
            RelativeMotion::between((of_a, &a.centre, a.radius), (of_b, &b.centre, b.radius))
        });
        let most = motion.map_or(sum, |motion| sum.min(margins + motion.approach()));
        Self { most, margins, motion }
    }

    /// Whether two bounding spheres are within the distance of each other; always for half spaces.
    #[inline]
    pub fn includes_spheres(&self, a: &BoundingSphere, b: &BoundingSphere) -> bool {
        a.is_within(b, self.most)
    }

    /// Sum of the distances within which contacts of two colliders are reported [m], at least that of the pair.
    #[inline]
    pub fn bound(a: &BoundingSphere, b: &BoundingSphere) -> f64 {
        a.contact_distance + b.contact_distance
    }

    /// Whether the distance depends on the direction.
    pub fn is_directional(&self) -> bool {
        self.motion.is_some()
    }

    /// The distance along a unit vector from A into B [m].
    pub fn along(&self, n: &Vector3<f64>) -> f64 {
        self.motion
            .map_or(self.most, |motion| self.most.min(self.margins + motion.approach_along(n)))
    }

    /// Whether the boxes of two colliders are too far apart for contacts.
    pub fn excludes(&self, a: &Option<OrientedBox>, b: &Option<OrientedBox>) -> bool {
        matches!((a, b), (Some(a), Some(b)) if a.is_beyond(b, |n| self.along(n)))
    }

    /// Whether two convex shapes with contacts on one plane do not meet along its normal.
    pub fn excludes_contacts(&self, [a, b]: [PosedShape; 2], points: &[ManifoldPoint]) -> bool {
        let Some(n) = points.first().map(|point| point.normal).filter(|_| self.motion.is_some())
        else {
            return false;
        };
        let reach = self.along(&n);
        points.iter().all(|point| point.gap > reach && point.normal == n)
            && narrow::separation_along(a, b, &n).is_some_and(|separation| separation > reach)
    }
}
