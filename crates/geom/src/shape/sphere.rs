//! A ball of a radius about the origin.

use nalgebra::{Matrix3, Vector3};

/// Volume \[m³\].
pub fn volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}

/// Inertia about the centre per unit of mass \[m²\]: ⅖ r² about every axis.
pub fn unit_inertia(radius: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(0.4 * radius * radius)
}

/// Farthest point along `dir` [m].
pub fn support(radius: f64, dir: &Vector3<f64>) -> Vector3<f64> {
    dir.try_normalize(0.0).map_or(Vector3::zeros(), |n| radius * n)
}
