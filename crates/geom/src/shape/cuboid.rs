//! A box with its centre at the origin and its edges along the axes, given by half its edges.
//!
//! Vertex k lies at (±x, ±y, ±z), where bit i of k is set for a positive component i. Face k is
//! perpendicular to axis k / 2, on the negative side if k is even.

use crate::narrow::SupportFeature;
use nalgebra::{Matrix3, Vector3};

/// Volume \[m³\].
pub fn volume(half: &Vector3<f64>) -> f64 {
    8.0 * half.x * half.y * half.z
}

/// Inertia about the centre per unit of mass \[m²\]: ⅓ (y² + z²) about x, and so on.
pub fn unit_inertia(half: &Vector3<f64>) -> Matrix3<f64> {
    let [x, y, z] = [half.x * half.x, half.y * half.y, half.z * half.z];
    Matrix3::from_diagonal(&(Vector3::new(y + z, x + z, x + y) / 3.0))
}

/// Farthest point along `dir` [m].
pub fn support(half: &Vector3<f64>, dir: &Vector3<f64>) -> Vector3<f64> {
    half.zip_map(dir, |h, d| if d < 0.0 { -h } else { h })
}

/// Vertex `k` [m].
pub fn vertex(half: &Vector3<f64>, k: usize) -> Vector3<f64> {
    let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    Vector3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
}

/// Indices of the vertices of face `k`, counter-clockwise seen from outside.
pub fn face_vertices(k: usize) -> [usize; 4] {
    let (axis, positive) = (k / 2, k % 2 == 1);
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    if positive {
        let base = 1 << axis;
        [base, base | u, base | u | v, base | v]
    } else {
        [0, v, u | v, u]
    }
}

/// The face whose normal is closest to `dir`.
pub fn face_along(dir: &Vector3<f64>) -> usize {
    let axis = dir.iamax();
    2 * axis + usize::from(dir[axis] >= 0.0)
}

/// The face whose normal is closest to `dir`, as a polygon.
pub fn face(half: &Vector3<f64>, dir: &Vector3<f64>, face: &mut SupportFeature) {
    for k in face_vertices(face_along(dir)) {
        face.push(k as u32, vertex(half, k));
    }
}
