//! Principal moments and axes of a symmetric matrix, largest moment first, by Jacobi's rotations
//! kept as a quaternion: the axes that MuJoCo gives to inertias, so that frames of meshes and of
//! centres of mass agree with it.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// Rotations, at most; half a dozen suffice.
const ROTATIONS: usize = 500;

/// Tolerance for off-diagonal elements, relative to the largest element, for an exact result.
pub(super) const EXACT: f64 = f64::EPSILON;

/// The same in MuJoCo for the inertia of meshes. It drops smaller elements, so the mass properties of
/// meshes agree with MuJoCo's only with the same tolerance.
pub(super) const OF_MESHES: f64 = 1e-7;

/// Moments in decreasing order and the rotation from principal axes to those of the matrix. Elements
/// off the diagonal that are smaller than `tolerance` times the largest of the matrix are dropped.
pub(super) fn decompose(
    matrix: &Matrix3<f64>,
    tolerance: f64,
) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let mut axes = UnitQuaternion::identity();
    let rotated = |axes: &UnitQuaternion<f64>| {
        let R = axes.to_rotation_matrix().into_inner();
        R.transpose() * matrix * R
    };
    let negligible = tolerance * matrix.amax();
    for _ in 0..ROTATIONS {
        let D = rotated(&axes);
        let off = [(0, 1, 2), (0, 2, 1), (1, 2, 0)];
        let (row, column, axis) = off.into_iter().fold(off[2], |best, next| {
            if D[(next.0, next.1)].abs() > D[(best.0, best.1)].abs() { next } else { best }
        });
        if !(D[(row, column)].abs() > negligible) {
            break;
        }
        axes *= rotation(&D, row, column, axis);
        axes.renormalize();
    }
    // Sort by quarter turns: the first two, the last two, the first two again.
    for (first, axis) in [(0, 2), (1, 0), (0, 2)] {
        let D = rotated(&axes);
        if D[(first, first)] + EXACT * matrix.amax() < D[(first + 1, first + 1)] {
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let mut vector = Vector3::zeros();
            vector[axis] = half;
            axes *= UnitQuaternion::new_unchecked(Quaternion::from_parts(half, vector));
        }
    }
    axes.renormalize();
    (rotated(&axes).diagonal(), axes)
}

/// The rotation about one axis after which the element between the other two is zero
/// [Golub and Van Loan, Sec. 8.5.2].
fn rotation(D: &Matrix3<f64>, row: usize, column: usize, axis: usize) -> UnitQuaternion<f64> {
    let tau = (D[(column, column)] - D[(row, row)]) / (2.0 * D[(row, column)]);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let cosine = 1.0 / (1.0 + t * t).sqrt();
    let half_cosine = ((1.0 + cosine) / 2.0).sqrt();
    // The sign turns from the row's axis towards the column's; about y that is backwards.
    let sine = t * cosine / (2.0 * half_cosine);
    let mut vector = Vector3::zeros();
    vector[axis] = if axis == 1 { sine } else { -sine };
    UnitQuaternion::new_normalize(Quaternion::from_parts(half_cosine, vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_and_moments_give_the_matrix_back_at_every_scale() {
        let R = UnitQuaternion::from_euler_angles(0.3, -1.2, 2.0).to_rotation_matrix().into_inner();
        for scale in [1.0, 1e-9, 1e-20, 1e12] {
            for moments in [[1.0, 2.0, 3.0], [3.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 0.0, 5.0]] {
                let wanted = Matrix3::from_diagonal(&(Vector3::from(moments) * scale));
                let matrix = R * wanted * R.transpose();
                let (found, axes) = decompose(&matrix, EXACT);
                let Q = axes.to_rotation_matrix().into_inner();
                let error = (Q * Matrix3::from_diagonal(&found) * Q.transpose() - matrix).amax();
                // Two products of 3×3 matrices on numbers up to five times the scale.
                assert!(error <= 64.0 * f64::EPSILON * 5.0 * scale, "{error}");
                assert!(
                    found[0] >= found[1] * (1.0 - 1e-14) && found[1] >= found[2] * (1.0 - 1e-14)
                );
            }
        }
    }
}
