//! An ellipsoid with its axes along x, y, z, given by its three radii.

use nalgebra::{Matrix3, Vector3};

/// Volume [m³].
pub fn volume(radii: &Vector3<f64>) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radii.x * radii.y * radii.z
}

/// Inertia about the centre per unit of mass [m²]: ⅕ (y² + z²) about x, and so on.
pub fn unit_inertia(radii: &Vector3<f64>) -> Matrix3<f64> {
    let [x, y, z] = [radii.x * radii.x, radii.y * radii.y, radii.z * radii.z];
    Matrix3::from_diagonal(&(Vector3::new(y + z, x + z, x + y) / 5.0))
}

/// Farthest point along `dir` [m]: R² d / ‖R d‖ with R the diagonal matrix of the radii.
pub fn support(radii: &Vector3<f64>, dir: &Vector3<f64>) -> Vector3<f64> {
    let scaled = radii.component_mul(dir);
    scaled.try_normalize(0.0).map_or(Vector3::zeros(), |n| radii.component_mul(&n))
}

/// Second derivative of the support function ‖R n‖ at the unit vector `n` [m]: (R² − x xᵀ)/‖R n‖ with
/// the support point x.
pub fn curvature(radii: &Vector3<f64>, n: &Vector3<f64>) -> Matrix3<f64> {
    let x = support(radii, n);
    (Matrix3::from_diagonal(&radii.component_mul(radii)) - x * x.transpose()) / x.dot(n)
}
