//! The least value of a field over the core of a convex shape, by the method of Frank and Wolfe [Jaggi13].
//!
//! The linear minimiser over the core is its support point against the gradient; the step towards it is found by a line search on the slope.
//! Triangles of a field are chords of its surface: where they are large beside a small shape, that shape may touch the
//! solid and none of them. This point sees the field itself.

use crate::Shape;
use crate::field::{Field, FieldSample};
use crate::narrow::ConvexCore;
use nalgebra::{Isometry3, Point3, Vector3};

const MOST_STEPS: usize = 16;
const LINE_STEPS: usize = 8;
/// Slope at which a point is the lowest [-].
const LEVEL: f64 = 1e-3;

/// A point of the core, in the frame of the field [m], with the field there.
#[derive(Clone, Copy, Debug)]
pub struct ConvexMinimum {
    pub point: Vector3<f64>,
    pub sample: FieldSample,
}

/// The point of the core of a shape at `X_FS` that a descent from its centre ends at.
pub fn of(shape: &Shape, X_FS: &Isometry3<f64>, field: &Field) -> ConvexMinimum {
    let at = |point: Vector3<f64>| ConvexMinimum { point, sample: field.sample(&point) };
    let mut now = at((X_FS * Point3::from(ConvexCore::centre(shape))).coords);
    for _ in 0..MOST_STEPS {
        let g = now.sample.gradient;
        if g == Vector3::zeros() {
            break;
        }
        let lowest = ConvexCore::support(shape, &X_FS.rotation.inverse_transform_vector(&-g));
        let way = (X_FS * Point3::from(lowest)).coords - now.point;
        if g.dot(&way) > -LEVEL * way.norm() {
            break;
        }
        let next = search(&now, &way, at);
        if next.sample.value >= now.sample.value {
            break;
        }
        now = next;
    }
    now
}

/// The lowest point that halving the interval in which the slope changes its sign finds on a way.
fn search(
    now: &ConvexMinimum,
    way: &Vector3<f64>,
    at: impl Fn(Vector3<f64>) -> ConvexMinimum,
) -> ConvexMinimum {
    let mut best = at(now.point + way);
    if best.sample.gradient.dot(way) <= 0.0 {
        return best;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..LINE_STEPS {
        let middle = 0.5 * (low + high);
        let found = at(now.point + middle * way);
        if found.sample.value < best.sample.value {
            best = found;
        }
        if found.sample.gradient.dot(way) < 0.0 { low = middle } else { high = middle }
    }
    best
}
