//! Relation of a solid given by a signed distance field to a convex shape, a half space or another field, by search in the space
//! around: independent of surfaces of triangles and of the narrow phase.
//!
//! With f and d the signed distances of two solids, a point with max(f, d) < 0 proves that they overlap. At the
//! middle of the shortest way between them both are at most half of its length, so that twice the least value of max(f, d)
//! is a distance that they have at least. A value at the middle of a cell bounds those in it, since neither changes faster
//! than its Lipschitz bound; cells that may have a smaller value than was found are divided.

use std::collections::BinaryHeap;

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_geom::Field;

use super::convex::{ConvexSet, PlacedConvex, Separation, separation};

/// Cells that are looked at, and the value relative to the size of the smaller solid to which the least one is found [-].
const MOST_CELLS: usize = 1500;
const RESOLUTION: f64 = 2e-3;

/// A field at a pose in the world.
#[derive(Clone, Copy, Debug)]
pub struct PlacedField<'a> {
    /// The field.
    pub field: &'a Field,
    /// Pose in the world.
    pub pose: Isometry3<f64>,
}

/// A solid by its signed distance in the world. Inside it may be any number that is not positive.
pub trait Solid {
    /// The distance of a point [m], or a lower bound of it.
    fn distance(&self, p: &Vector3<f64>) -> f64;
    /// Bound of the change of the distance per length [-].
    fn lipschitz(&self) -> f64 {
        1.0
    }
    /// A cube around the solid: its middle and half its edge [m]; infinite for a half space.
    fn cube(&self) -> (Vector3<f64>, f64);
}

impl Solid for PlacedField<'_> {
    fn distance(&self, p: &Vector3<f64>) -> f64 {
        self.field.value(&self.pose.inverse_transform_point(&Point3::from(*p)).coords)
    }

    fn lipschitz(&self) -> f64 {
        self.field.lipschitz()
    }

    fn cube(&self) -> (Vector3<f64>, f64) {
        (self.pose.translation.vector, self.field.bounding_radius())
    }
}

/// One point, for the distance from a convex shape.
struct At(Vector3<f64>);

impl ConvexSet for At {
    fn farthest(&self, _: &Vector3<f64>, _: f64) -> Vector3<f64> {
        self.0
    }

    fn middle(&self) -> Vector3<f64> {
        self.0
    }

    fn radius(&self) -> f64 {
        0.0
    }
}

/// A convex shape, scaled about a point inside.
pub struct ScaledConvex<'a>(pub &'a PlacedConvex<'a>, pub f64);

impl Solid for ScaledConvex<'_> {
    fn distance(&self, p: &Vector3<f64>) -> f64 {
        let found = separation(self.0, &At(*p), self.1);
        if found.overlaps { f64::NEG_INFINITY } else { found.distance.max(0.0) }
    }

    fn cube(&self) -> (Vector3<f64>, f64) {
        (self.0.middle(), self.0.radius())
    }
}

/// The half space below the plane z = 0 of a pose.
pub struct HalfSpace<'a>(pub &'a Isometry3<f64>);

impl Solid for HalfSpace<'_> {
    fn distance(&self, p: &Vector3<f64>) -> f64 {
        self.0.inverse_transform_point(&Point3::from(*p)).z
    }

    fn cube(&self) -> (Vector3<f64>, f64) {
        (self.0.translation.vector, f64::INFINITY)
    }
}

/// A cell by the bound of the values in it.
struct Cell {
    bound: f64,
    middle: Vector3<f64>,
    half: f64,
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    /// The least bound is the greatest cell.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.bound.total_cmp(&self.bound)
    }
}

/// The relation of two solids; they overlap if a point is deeper than `deep` [m] in both. Inside of convex shapes every point
/// counts as deep, so that these are to be given in a smaller size for that.
pub fn field_relation(a: &impl Solid, b: &impl Solid, deep: f64) -> Separation {
    let (one, two) = (a.cube(), b.cube());
    let (middle, half) = if one.1 <= two.1 { one } else { two };
    let value = |p: &Vector3<f64>| a.distance(p).max(b.distance(p));
    let slope = a.lipschitz().max(b.lipschitz());
    let cell = |middle: Vector3<f64>, half: f64| {
        let found = value(&middle);
        (Cell { bound: found - slope * 3.0_f64.sqrt() * half, middle, half }, found)
    };
    // The middle of the shortest way may be outside of both, but not farther than the value there.
    let (first, mut least) = cell(middle, 2.0 * half);
    let mut heap = BinaryHeap::from([first]);
    let mut looked = 1;
    while let Some(Cell { bound, middle, half: h }) = heap.pop() {
        if least < -deep {
            return Separation { distance: f64::NEG_INFINITY, overlaps: true };
        }
        if looked >= MOST_CELLS || bound >= least - RESOLUTION * half {
            return Separation { distance: 2.0 * bound.min(least), overlaps: false };
        }
        for octant in 0..8 {
            let sign = |axis: usize| if octant >> axis & 1 == 1 { 0.5 * h } else { -0.5 * h };
            let (part, found) = cell(middle + Vector3::new(sign(0), sign(1), sign(2)), 0.5 * h);
            looked += 1;
            least = least.min(found);
            if part.bound < least {
                heap.push(part);
            }
        }
    }
    Separation { distance: 2.0 * least, overlaps: least < -deep }
}
