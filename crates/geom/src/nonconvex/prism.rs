//! Whether a point hangs over a triangle: between the three walls that stand on its sides.
//!
//! The walls of a convex side are exact; those of a concave side (a valley) step back a little, so that a
//! point pressed into a corner of two faces is pushed out by both.

use super::surface::Surface;
use crate::shape::mesh::Bend;
use nalgebra::Vector3;

/// Share of a side's length by which a point may lie beyond it and still be over the triangle [-]: two
/// triangles then leave no gap between them.
const SEAM: f64 = 1e-10;

/// Whether the point `x` [m] hangs over (or under) triangle `t`; beyond sides that are valleys seen from the
/// side `sign` (1 front, −1 back), by up to `yielding` [m].
pub fn covers<S: Surface>(surface: &S, t: u32, sign: f64, x: &Vector3<f64>, yielding: f64) -> bool {
    let (corners, n) = (surface.corners(t), surface.normal(t));
    (0..3).all(|k| {
        let side = corners[(k + 1) % 3] - corners[k];
        let length = side.norm();
        let beyond = side.cross(&n).dot(&(x - corners[k])) / length;
        beyond <= SEAM * length
            || beyond <= yielding && {
                let valley = if sign > 0.0 { Bend::Concave } else { Bend::Convex };
                surface.side(t, k).bend == valley
            }
    })
}
