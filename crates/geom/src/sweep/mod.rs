//! First meeting of two moving shapes, by conservative advancement [Mirtich96].
//!
//! Each shape moves with a constant velocity and a constant angular velocity over the unit interval. At a time
//! s the shapes are separated by a distance d along a normal n; no point of either approaches the other along n
//! faster than a bound c, so that they cannot meet before s + d/c. Repeated, this converges to the first time
//! at which they are within a given distance, or proves that there is none. Shapes that pass by one another
//! do not meet, however near the line of their nearest points points ahead.
//!
//! The bound of a body that turns holds for all of its points, and may be far above the speed at which the
//! nearest ones approach. Between two searches for the nearest points the time is therefore advanced along one
//! normal, by support points alone. Where the motion of one body in the frame of the other has the lower bound, as that of
//! links that move together, the normal is fixed in that frame.
//!
//! Convex shapes are handled by their cores, meshes and height fields triangle by triangle, compounds part
//! by part, half spaces by the lowest point over them.

mod field;
mod half_space;
mod relative;
mod surface;

pub use relative::RelativeMotion;

use crate::Shape;
use crate::narrow::gjk::{self, COARSE, Exactness, GjkResult, MinkowskiDifference};
use crate::narrow::{ConvexCore, Manifold};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};

/// Most evaluations of the distance for one pair.
const MOST_STEPS: usize = 200;
/// Most evaluations of the separation along one normal.
const MOST_ADVANCES: usize = 200;

/// A rigid motion over the unit interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Point of the body that moves on a straight line, at the start [m].
    pub centre: Vector3<f64>,
    /// Displacement of that point [m].
    pub shift: Vector3<f64>,
    /// Rotation vector about that point [rad].
    pub turn: Vector3<f64>,
}

impl Motion {
    /// No motion.
    pub const REST: Self = Self {
        centre: Vector3::new(0.0, 0.0, 0.0),
        shift: Vector3::new(0.0, 0.0, 0.0),
        turn: Vector3::new(0.0, 0.0, 0.0),
    };

    /// The motion from one pose of a body to another in which the point `centre_B` (in the body's frame) [m] moves
    /// on a straight line, and the body turns by less than half a turn.
    pub fn between(from: &Isometry3<f64>, to: &Isometry3<f64>, centre_B: &Vector3<f64>) -> Self {
        let centre = from.translation.vector + from.rotation * centre_B;
        let shift = to.translation.vector + to.rotation * centre_B - centre;
        let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
        Self { centre, shift, turn }
    }

    /// Displacement from the start to the time `s`.
    pub fn displacement(&self, s: f64) -> Isometry3<f64> {
        let rotation = UnitQuaternion::from_scaled_axis(s * self.turn);
        let translation = self.centre + s * self.shift - rotation * self.centre;
        Isometry3::from_parts(translation.into(), rotation)
    }

    /// Upper bound of the speed along the unit vector `n` of points within `radius` [m] of the centre
    /// [m per unit interval].
    fn speed_along(&self, n: &Vector3<f64>, radius: f64) -> f64 {
        self.shift.dot(n) + self.turn.cross(n).norm() * radius
    }

    /// Upper bound of the speed of points within `radius` [m] of the centre [m per unit interval].
    fn speed(&self, radius: f64) -> f64 {
        self.shift.norm() + self.turn.norm() * radius
    }
}

/// A shape with its pose at the start and its motion.
#[derive(Clone, Copy, Debug)]
pub struct MovingShape<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Pose of the shape's frame in the world at the start.
    pub X_WS: Isometry3<f64>,
    /// Its motion.
    pub motion: Motion,
}

impl MovingShape<'_> {
    /// Pose at the time `s`.
    pub fn pose(&self, s: f64) -> Isometry3<f64> {
        self.motion.displacement(s) * self.X_WS
    }
}

/// Memory of [`meeting`]: triangles that a shape can reach.
#[derive(Clone, Debug, Default)]
pub struct SweepScratch {
    manifold: Manifold,
    outer: Vec<u32>,
    inner: Vec<u32>,
}

/// The first time in the unit interval at which two shapes are within `distance` [m] of each other, up to `tolerance`
/// [m]: at that time they are farther apart than `distance` by at most `tolerance`. `None` if they stay
/// farther apart.
pub fn meeting(
    a: &MovingShape,
    b: &MovingShape,
    distance: f64,
    tolerance: f64,
    scratch: &mut SweepScratch,
) -> Option<f64> {
    parts(a, b, &Target { distance, tolerance }, 1.0, scratch)
}

/// The distance at which shapes meet.
#[derive(Clone, Copy, Debug)]
struct Target {
    distance: f64,
    tolerance: f64,
}

fn parts(
    a: &MovingShape,
    b: &MovingShape,
    target: &Target,
    limit: f64,
    scratch: &mut SweepScratch,
) -> Option<f64> {
    match (a.shape, b.shape) {
        (Shape::Compound(compound), _) => {
            compound.parts().iter().fold(None, |first, (X_SP, shape)| {
                let part = MovingShape { shape, X_WS: a.X_WS * X_SP, motion: a.motion };
                parts(&part, b, target, first.unwrap_or(limit), scratch).or(first)
            })
        }
        (_, Shape::Compound(_)) => parts(b, a, target, limit, scratch),
        (Shape::Plane, _) => half_space::meeting(a, b, target, limit),
        (_, Shape::Plane) => half_space::meeting(b, a, target, limit),
        _ if a.shape.is_convex() && b.shape.is_convex() => {
            cores(&MovingCore::of(a), &MovingCore::of(b), target, limit)
        }
        (Shape::Field(_), _) | (_, Shape::Field(_)) => field::meeting(a, b, target, limit, scratch),
        _ => surface::meeting(a, b, target, limit, scratch),
    }
}

/// A rounded convex core with its pose at the start and its motion.
#[derive(Clone, Copy)]
struct MovingCore<'a> {
    core: &'a dyn ConvexCore,
    X_WS: Isometry3<f64>,
    motion: Motion,
    /// Largest distance of a point of the core from the centre of the motion [m].
    radius: f64,
    /// Radius of the core about the origin of its frame [m].
    extent: f64,
}

impl<'a> MovingCore<'a> {
    /// A shape that is convex and bounded.
    fn of(moving: &MovingShape<'a>) -> Self {
        let MovingShape { shape, X_WS, motion } = *moving;
        let offset = (X_WS.translation.vector - motion.centre).norm();
        // The rounding turns with the core and keeps its shape.
        let extent = (shape.bounding_radius() - shape.radius()).max(0.0);
        Self { core: shape, X_WS, motion, radius: offset + extent, extent }
    }

    /// Its motion in the frame of another one.
    fn relative_to(&self, other: &Self) -> RelativeMotion {
        let extent = (self.X_WS.translation.vector, self.extent);
        RelativeMotion::new(&self.motion, extent, &other.motion)
    }

    fn pose(&self, s: f64) -> Isometry3<f64> {
        self.motion.displacement(s) * self.X_WS
    }
}

/// The first meeting of two rounded cores.
fn cores(a: &MovingCore, b: &MovingCore, target: &Target, limit: f64) -> Option<f64> {
    let rounding = a.core.radius() + b.core.radius() + target.distance;
    let relative = Motion { shift: a.motion.shift - b.motion.shift, ..a.motion };
    let a_is_small = a.extent < b.extent;
    let (small, large) = if a_is_small { (a, b) } else { (b, a) };
    let in_large = small.relative_to(large);
    let most = relative.speed(a.radius) + b.motion.turn.norm() * b.radius;
    let most = most.min(in_large.speed(None));
    let mut s = 0.0;
    for _ in 0..MOST_STEPS {
        let (X_WA, X_WB) = (a.pose(s), b.pose(s));
        let X_AB = X_WA.inv_mul(&X_WB);
        let pair = MinkowskiDifference { a: a.core, b: b.core, X_AB: &X_AB };
        let reachable = rounding + most * (limit - s);
        // Bounds of the speed of approach along a normal n from A into B; n_L is that into the large core in its frame.
        let closing_along = |n: &Vector3<f64>| {
            relative.speed_along(n, a.radius) + b.motion.turn.cross(n).norm() * b.radius
        };
        let X_WL = if a_is_small { &X_WB } else { &X_WA };
        let n_L = |n: &Vector3<f64>| {
            X_WL.rotation.inverse_transform_vector(&if a_is_small { *n } else { -n })
        };
        // The normal in the frame of the large core, and where that is in the world at the start.
        let closing_in_large =
            |n_L: &Vector3<f64>| in_large.speed(Some(&(large.X_WS.rotation * n_L)));
        let most_along = |n_A: &Vector3<f64>| {
            let n = X_WA.rotation * n_A;
            let closing = closing_along(&n).min(closing_in_large(&n_L(&n)));
            rounding + closing.max(0.0) * (limit - s) + 0.5 * target.tolerance
        };
        let exactness = Exactness {
            beyond: rounding + 0.5 * target.tolerance,
            base: rounding,
            near: rounding + target.tolerance,
        };
        let found = gjk::distance_along(&pair, (reachable.max(0.0), exactness), most_along);
        let (n, apart) = match found {
            GjkResult::Far(_) => return None,
            GjkResult::Overlap(_) => return Some(s),
            GjkResult::Apart { normal, distance, .. } => (X_WA.rotation * normal, distance),
        };
        // At least this much.
        let left = apart - rounding;
        if left <= COARSE * target.tolerance {
            return Some(s);
        }
        let (closing, n_L) = (closing_along(&n), n_L(&n));
        let closing_in_large = closing_in_large(&n_L);
        let turns = a.motion.turn != b.motion.turn || a.motion.turn != Vector3::zeros();
        let advance = |closing| Advance { closing, limit, tolerance: target.tolerance };
        if turns && closing_in_large < closing {
            let advance = advance(closing_in_large);
            s = advance.next(s, left)?;
            let lowest = large.core.support(&-n_L).dot(&n_L);
            s = advance.along(s, |s| lowest - reach_along(small, large, &n_L, s) - rounding)?;
        } else {
            let advance = advance(closing);
            s = advance.next(s, left)?;
            if turns {
                s = advance.along(s, |s| separation(a, b, &n, s) - rounding)?;
            }
        }
    }
    // The search is not finished: the shapes have not met before this time.
    Some(s)
}

/// Separation of two cores along the unit vector `n` from A into B at the time `s` [m].
fn separation(a: &MovingCore, b: &MovingCore, n: &Vector3<f64>, s: f64) -> f64 {
    let (X_WA, X_WB) = (a.pose(s), b.pose(s));
    let height = |X: &Isometry3<f64>, core: &dyn ConvexCore, dir: Vector3<f64>| {
        let p_S = core.support(&X.rotation.inverse_transform_vector(&dir));
        n.dot(&(X.rotation * p_S + X.translation.vector))
    };
    height(&X_WB, b.core, -n) - height(&X_WA, a.core, *n)
}

/// How far a core reaches along the unit vector `n_L` in the frame of another one at the time `s` [m].
fn reach_along(small: &MovingCore, large: &MovingCore, n_L: &Vector3<f64>, s: f64) -> f64 {
    let X_LS = large.pose(s).inv_mul(&small.pose(s));
    let p_S = small.core.support(&X_LS.rotation.inverse_transform_vector(n_L));
    n_L.dot(&(X_LS * nalgebra::Point3::from(p_S)).coords)
}

/// Bounds with which a separation is followed over time.
struct Advance {
    /// Upper bound of the speed of approach [m per unit interval].
    closing: f64,
    /// End of the interval.
    limit: f64,
    tolerance: f64,
}

impl Advance {
    /// The earliest time at which a distance `left` [m] at the time `s` is used up; `None` if that is after the
    /// limit.
    fn next(&self, s: f64, left: f64) -> Option<f64> {
        let left = left - 0.5 * self.tolerance;
        (self.closing * (self.limit - s) > left).then(|| s + left / self.closing)
    }

    /// Follows a separation from the time `s` until it is within the tolerance; `None` if that is after the
    /// limit.
    fn along(&self, mut s: f64, separation: impl Fn(f64) -> f64) -> Option<f64> {
        for _ in 0..MOST_ADVANCES {
            let left = separation(s);
            if !(left > self.tolerance) {
                break;
            }
            s = self.next(s, left)?;
        }
        Some(s)
    }
}

#[cfg(test)]
mod tests;
