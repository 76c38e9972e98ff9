//! A half space against any convex shape: the shape's lowest points, each with its height.
//!
//! Polyhedra give all their vertices within reach, smooth shapes one point, capsules both ends. A
//! cylinder gives four points of the rim that faces the plane, beginning with the lowest, and the
//! lowest of the other rim: four contacts when upright, the two ends of a line when lying on its side.

use super::{Manifold, PosedShape};
use crate::Shape;
use crate::narrow::ConvexCore;
use crate::shape::{cuboid, cylinder};
use nalgebra::{Isometry3, Vector3};

/// Most points that a hull keeps.
const MOST: usize = 8;

/// Writes the contacts of the half space z ≤ 0 at `X_WP` (A) with the convex shape `b`.
pub fn contacts(X_WP: &Isometry3<f64>, b: PosedShape, reach: f64, manifold: &mut Manifold) {
    let normal = X_WP.rotation * Vector3::z();
    let radius = b.shape.radius();
    let down_S = -b.X_WS.rotation.inverse_transform_vector(&normal);
    let height_of_origin = normal.dot(&(b.X_WS.translation.vector - X_WP.translation.vector));
    if let Shape::Convex(hull) = b.shape {
        // The support point shows whether any vertex is within reach.
        let lowest = height_of_origin - down_S.dot(&hull.support(&down_S));
        if !(lowest <= reach) {
            return;
        }
    }
    let from = manifold.len();
    lowest(b.shape, &down_S, |id, p_S| {
        let gap = height_of_origin - down_S.dot(&p_S) - radius;
        if gap <= reach {
            let p_W = b.X_WS.rotation * p_S + b.X_WS.translation.vector;
            manifold.push(id, p_W - (radius + 0.5 * gap) * normal, normal, gap);
        }
    });
    if manifold.len() - from > MOST {
        manifold.reduce(from, MOST);
    }
}

/// Ids and positions [m] of the points of the core that can be the lowest along `down`.
fn lowest(shape: &Shape, down: &Vector3<f64>, mut emit: impl FnMut(u32, Vector3<f64>)) {
    match shape {
        Shape::Box(half) => {
            for k in 0..8 {
                emit(k as u32, cuboid::vertex(half, k));
            }
        }
        Shape::Capsule { half_length, .. } => {
            emit(0, Vector3::new(0.0, 0.0, -half_length));
            emit(1, Vector3::new(0.0, 0.0, *half_length));
        }
        Shape::Convex(convex) => {
            for (k, &vertex) in convex.vertices().iter().enumerate() {
                emit(k as u32, vertex);
            }
        }
        Shape::Cylinder { radius, half_length } => {
            let (cos, sin) = cylinder::heading(down);
            let (x, y) = (radius * cos, radius * sin);
            let (upper, z) = (down.z >= 0.0, half_length.copysign(down.z));
            let [near, far] = if upper { [4, 0] } else { [0, 4] };
            emit(near, Vector3::new(x, y, z));
            emit(near + 1, Vector3::new(-y, x, z));
            emit(near + 2, Vector3::new(-x, -y, z));
            emit(near + 3, Vector3::new(y, -x, z));
            emit(far, Vector3::new(x, y, -z));
        }
        _ => emit(0, ConvexCore::support(shape, down)),
    }
}
