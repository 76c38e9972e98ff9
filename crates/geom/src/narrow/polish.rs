//! Sharpens the normal between curved cores: a stationary point of the separation by Newton's method.
//!
//! Along a unit vector n the cores overlap by σ(n) = h_A(n) + h_B(−n), whose gradient is the support
//! point w of A − B. On the unit sphere σ is stationary where w is parallel to n; Newton's step δ in
//! the tangent plane T solves Tᵀ(∇²σ − σ)T δ = −Tᵀ w. Quadratic where both supports are smooth; a
//! step that does not bring w closer to n is not taken, so kinks leave the normal as it was.

use super::gjk::Difference;
use nalgebra::{Matrix2, Matrix3x2, Vector3};

/// Quadratic convergence from the square root of round-off needs two.
const MOST_STEPS: usize = 6;

/// The stationary direction close to the unit vector `normal` (from A into B, in A's frame).
pub fn normal(pair: &Difference, normal: Vector3<f64>) -> Vector3<f64> {
    let mut n = normal;
    let mut w = pair.support(&n).w;
    for _ in 0..MOST_STEPS {
        let overlap = w.dot(&n);
        let dir_B = pair.X_AB.rotation.inverse_transform_vector(&-n);
        let (of_A, of_B) = (pair.a.curvature(&n), pair.b.curvature(&dir_B));
        if of_A.is_none() && of_B.is_none() {
            break;
        }
        let R_AB = pair.X_AB.rotation.to_rotation_matrix().into_inner();
        let curvature =
            of_A.unwrap_or_default() + R_AB * of_B.unwrap_or_default() * R_AB.transpose();
        let T = tangents(&n);
        let hessian = T.transpose() * curvature * T - overlap * Matrix2::identity();
        let residual = T.transpose() * w;
        let Some(step) = hessian.try_inverse().map(|inverse| -(inverse * residual)) else { break };
        let next = (n + T * step).normalize();
        let w_next = pair.support(&next).w;
        let (before, after) = (off_axis(&w, &n), off_axis(&w_next, &next));
        // Round-off may make the overlap a little larger, never a wrong direction.
        let slack = 1e-9 * w.norm() + f64::EPSILON;
        if !(after < before && w_next.dot(&next) <= overlap + slack) {
            break;
        }
        (n, w) = (next, w_next);
    }
    n
}

/// Length of the part of `w` across `n`.
fn off_axis(w: &Vector3<f64>, n: &Vector3<f64>) -> f64 {
    (w - w.dot(n) * n).norm()
}

/// Two unit vectors across `n` and each other.
fn tangents(n: &Vector3<f64>) -> Matrix3x2<f64> {
    let axis = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    let t = n.cross(&axis).normalize();
    Matrix3x2::from_columns(&[t, n.cross(&t)])
}
