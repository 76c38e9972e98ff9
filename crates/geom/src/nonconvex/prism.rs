//! Whether a point lies over a triangle: within the prism over its three sides.
//!
//! The planes through convex sides are exact; beyond a concave side (a valley), points inside the solid are
//! still accepted, so that a point pressed into a corner of two faces is pushed out by both.

use super::triangle_surface::TriangleSurface;
use crate::shape::mesh::EdgeConvexity;
use nalgebra::Vector3;

/// Share of a side's length by which a point may lie beyond it and still be over the triangle [-]: two
/// triangles then leave no gap between them.
const SEAM: f64 = 1e-10;

/// Whether the point `x` [m] lies over (or under) triangle `t`, on the side `sign` (1 front, −1 back).
///
/// A point inside a solid that is nearest to a valley lies beyond the sides of both faces that meet there, by
/// no more than its depth: it counts as over both.
pub fn covers<S: TriangleSurface>(surface: &S, t: u32, sign: f64, x: &Vector3<f64>) -> bool {
    let (corners, n) = (surface.corners(t), surface.normal(t));
    let valley = if sign > 0.0 { EdgeConvexity::Concave } else { EdgeConvexity::Convex };
    let mut farthest = 0.0_f64;
    for k in 0..3 {
        let side = corners[(k + 1) % 3] - corners[k];
        let length = side.norm();
        let beyond = side.cross(&n).dot(&(x - corners[k])) / length;
        if beyond <= SEAM * length {
            continue;
        }
        if surface.side(t, k).convexity != valley {
            return false;
        }
        farthest = farthest.max(beyond);
    }
    if farthest == 0.0 {
        return true;
    }
    let depth = match surface.depth(x) {
        Some(depth) => depth,
        None => sign * n.dot(&(corners[0] - x)), // a sheet: the depth below this face
    };
    farthest <= depth * (1.0 + 1e-6)
}
