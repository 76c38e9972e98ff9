//! How far apart the contacts of a pair are reported, in all directions and along one.

use super::oriented_box::OrientedBox;
use super::relative_reach::{FrameMotion, GuidedMotions, RelativeMotion};
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

/// All points within the distance of a collider's bounding sphere in which its contacts are reported. Most pairs need no more of
/// their colliders.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnlargedSphere {
    centre: Vector3<f64>,
    /// Infinite for a half space [m].
    radius: f64,
}

impl EnlargedSphere {
    pub fn of(sphere: &BoundingSphere) -> Self {
        Self { centre: sphere.centre, radius: sphere.radius + sphere.contact_distance }
    }

    /// Whether two of them overlap; always for half spaces.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        let most = self.radius + other.radius;
        (self.centre - other.centre).norm_squared() <= most * most
    }
}

/// What bounds how far two shapes approach each other along a direction.
#[derive(Clone, Copy, Debug)]
enum Approach {
    /// Nothing is known.
    Any,
    /// Shapes of one mechanism.
    Together(RelativeMotion),
    /// Shapes of different mechanisms.
    Guided(GuidedMotions),
}

/// Distance within which contacts of a pair are reported.
pub(super) struct PairReach {
    /// In all directions [m].
    pub most: f64,
    /// Sum of the margins [m], and what bounds the motion relative to one another.
    margins: f64,
    approach: Approach,
}

impl PairReach {
    /// That of two colliders.
    #[inline]
    pub fn of(a: &BoundingSphere, b: &BoundingSphere) -> Self {
        let (mut most, margins) = (Self::bound(a, b), a.margin + b.margin);
        let mut approach = Approach::Any;
        if let (Some(of_a), Some(of_b)) = (&a.motion, &b.motion) {
            let sides = ((of_a, &a.centre, a.radius), (of_b, &b.centre, b.radius));
            if let Some(motion) = RelativeMotion::between(sides.0, sides.1) {
                most = most.min(margins + motion.approach());
                approach = Approach::Together(motion);
            } else if of_a.group != of_b.group
                && let Some(motions) =
                    GuidedMotions::between((of_a, a.radius), (of_b, b.radius), most - margins)
            {
                approach = Approach::Guided(motions);
            }
        }
        Self { most, margins, approach }
    }

    /// Whether two bounding spheres are within the distance of each other; always for half spaces.
    #[inline]
    pub fn includes_spheres(&self, a: &BoundingSphere, b: &BoundingSphere) -> bool {
        if !a.is_within(b, self.most) {
            return false;
        }
        let between = b.centre - a.centre;
        let distance = between.norm();
        let gap = distance - (a.radius + b.radius);
        !(gap > 0.0 && gap > self.along(&(between / distance)))
    }

    /// Sum of the distances within which contacts of two colliders are reported [m], at least that of the pair.
    #[inline]
    pub fn bound(a: &BoundingSphere, b: &BoundingSphere) -> f64 {
        a.contact_distance + b.contact_distance
    }

    /// Whether the distance depends on the direction.
    pub fn is_directional(&self) -> bool {
        !matches!(self.approach, Approach::Any)
    }

    /// The distance along a unit vector from A into B [m].
    pub fn along(&self, n: &Vector3<f64>) -> f64 {
        let approach = match &self.approach {
            Approach::Any => return self.most,
            Approach::Together(motion) => motion.approach_along(n),
            Approach::Guided(motions) => motions.approach_along(n),
        };
        self.most.min(self.margins + approach)
    }

    /// Whether the boxes of two colliders are too far apart for contacts.
    pub fn excludes(&self, a: &Option<OrientedBox>, b: &Option<OrientedBox>) -> bool {
        matches!((a, b), (Some(a), Some(b)) if a.is_beyond(b, |n| self.along(n)))
    }

    /// Whether two convex shapes with contacts on one plane do not meet along its normal.
    pub fn excludes_contacts(&self, [a, b]: [PosedShape; 2], points: &[ManifoldPoint]) -> bool {
        let Some(n) = points.first().map(|point| point.normal).filter(|_| self.is_directional())
        else {
            return false;
        };
        let reach = self.along(&n);
        points.iter().all(|point| point.gap > reach && point.normal == n)
            && narrow::separation_along(a, b, &n).is_some_and(|separation| separation > reach)
    }
}
