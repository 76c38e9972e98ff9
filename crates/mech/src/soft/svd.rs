//! Singular value decomposition F = U Σ Vᵀ with rotations U and V, for any 3×3 matrix.
//!
//! One-sided Jacobi [Golub13, Sec. 8.6.3]: pairs of columns of F V are rotated until all are orthogonal,
//! which keeps small singular values accurate and always converges. σ₀ ≥ σ₁ ≥ |σ₂|, and σ₂ has the sign
//! of det F, so that an inverted element is flipped along the direction of its smallest singular value
//! and U Vᵀ is the rotation nearest to F. Cost: about four sweeps of three rotations.

use super::lanes::{Lanes, Mask, Mat, N, Vec3, cross, dot, scale, vec3};

/// F = U diag(sigma) Vᵀ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Svd {
    pub U: Mat,
    pub sigma: Vec3,
    pub V: Mat,
}

/// Largest number of sweeps; no tested matrix needed as many.
const SWEEPS: usize = 12;
/// Largest cosine of the angle between columns that count as orthogonal: about one unit in the last
/// place.
const ORTHOGONAL: f64 = 2.0 * f64::EPSILON;

/// Decomposes F.
#[inline(always)]
pub(crate) fn svd(F: &Mat) -> Svd {
    let (mut B, mut V) = (*F, Mat::IDENTITY);
    for _ in 0..SWEEPS {
        let rotated = orthogonalize(&mut B, &mut V, 0, 1) | orthogonalize(&mut B, &mut V, 0, 2);
        if !(rotated | orthogonalize(&mut B, &mut V, 1, 2)) {
            break;
        }
    }
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        sort(&mut B, &mut V, p, q);
    }
    let (b0, b1, b2) = (B.column(0), B.column(1), B.column(2));
    let sigma_0 = dot(&b0, &b0).sqrt();
    let along_x = [Lanes::ONE, Lanes::ZERO, Lanes::ZERO];
    let u0 = unit_or(&b0, sigma_0, &along_x);
    let sigma_1 = dot(&b1, &b1).sqrt();
    let u1 = unit_or(&b1, sigma_1, &perpendicular(&u0));
    // A column much shorter than the others may not be orthogonal to them: orthogonalize it again.
    let overlap = dot(&u0, &u1);
    let u1 = vec3(|i| u1[i].fnma(overlap, u0[i]));
    let u1 = scale(&u1, Lanes::ONE / dot(&u1, &u1).sqrt());
    let u2 = cross(&u0, &u1);
    let mut U = Mat::ZERO;
    for (j, u) in [u0, u1, u2].into_iter().enumerate() {
        U.set_column(j, u);
    }
    Svd { U, sigma: [sigma_0, sigma_1, dot(&u2, &b2)], V }
}

impl Svd {
    /// The rotation nearest to F.
    #[inline(always)]
    pub fn rotation(&self) -> Mat {
        self.U.times_transposed(&self.V)
    }
}

/// Rotates columns p and q of B and V so that those of B become orthogonal. Returns whether any lane
/// needed a rotation.
#[inline(always)]
fn orthogonalize(B: &mut Mat, V: &mut Mat, p: usize, q: usize) -> bool {
    let (b_p, b_q) = (B.column(p), B.column(q));
    let (alpha, beta, gamma) = (dot(&b_p, &b_p), dot(&b_q, &b_q), dot(&b_p, &b_q));
    let bound = (alpha * beta).sqrt() * Lanes::splat(ORTHOGONAL);
    let needs = gamma.abs().greater(bound);
    if !needs.any() {
        return false;
    }
    let (c, s) = jacobi_rotation(beta - alpha, gamma, needs);
    rotate(B, p, q, c, s);
    rotate(V, p, q, c, s);
    true
}

/// Cosine and sine of the Jacobi rotation that makes [[·, γ], [γ, · + δ]] diagonal; the identity in
/// lanes that do not need it.
#[inline(always)]
pub(crate) fn jacobi_rotation(delta: Lanes, gamma: Lanes, needs: Mask) -> (Lanes, Lanes) {
    let twice = gamma + gamma;
    let root = (delta * delta).fma(twice, twice).sqrt();
    let t = twice / (delta.abs() + root).copysign(delta);
    let t = needs.select(t, Lanes::ZERO);
    let c = Lanes::ONE / Lanes::ONE.fma(t, t).sqrt();
    (c, c * t)
}

/// Columns p and q become c·p − s·q and s·p + c·q.
#[inline(always)]
pub(crate) fn rotate(M: &mut Mat, p: usize, q: usize, c: Lanes, s: Lanes) {
    for i in 0..3 {
        let (x, y) = (M.0[i][p], M.0[i][q]);
        M.0[i][p] = (c * x).fnma(s, y);
        M.0[i][q] = (s * x).fma(c, y);
    }
}

/// Exchanges columns p and q where the second is longer; one changes sign, so that V remains a rotation.
#[inline(always)]
fn sort(B: &mut Mat, V: &mut Mat, p: usize, q: usize) {
    let (b_p, b_q) = (B.column(p), B.column(q));
    let longer = dot(&b_q, &b_q).greater(dot(&b_p, &b_p));
    for M in [B, V] {
        for i in 0..3 {
            let (x, y) = (M.0[i][p], M.0[i][q]);
            M.0[i][p] = longer.select(y, x);
            M.0[i][q] = longer.select(-x, y);
        }
    }
}

/// a / length, or `instead` where the length is zero.
#[inline(always)]
fn unit_or(a: &Vec3, length: Lanes, instead: &Vec3) -> Vec3 {
    let exists = length.greater(Lanes::splat(f64::MIN_POSITIVE.sqrt()));
    let inverse = Lanes::ONE / exists.select(length, Lanes::ONE);
    vec3(|i| exists.select(a[i] * inverse, instead[i]))
}

/// A unit vector perpendicular to a unit vector.
#[inline(always)]
fn perpendicular(u: &Vec3) -> Vec3 {
    // u × the axis along which u is shortest has a length of at least √(2/3).
    let mut axis = [[0.0; N]; 3];
    for k in 0..N {
        let [x, y, z] = [u[0].0[k].abs(), u[1].0[k].abs(), u[2].0[k].abs()];
        let least = if x <= y && x <= z { 0 } else { 1 + usize::from(z < y) };
        axis[least][k] = 1.0;
    }
    let w = cross(u, &vec3(|i| Lanes(axis[i])));
    scale(&w, Lanes::ONE / dot(&w, &w).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::testing::{Random, awkward_matrices};
    use nalgebra::{Matrix3, Vector3};

    fn assert_decomposed(F: &Matrix3<f64>) {
        let Svd { U, sigma, V } = svd(&Mat::splat(F));
        let (U, V, s) = (U.lane(0), V.lane(0), Vector3::from_fn(|i, _| sigma[i].0[0]));
        // Some dozens of rotations with a few rounding errors each.
        let bound = 200.0 * f64::EPSILON;
        for R in [U, V] {
            assert!((R.transpose() * R - Matrix3::identity()).norm() <= bound, "{F}: {R}");
            assert!((R.determinant() - 1.0).abs() <= bound, "{F}: {R}");
        }
        let back = U * Matrix3::from_diagonal(&s) * V.transpose();
        assert!((back - F).norm() <= bound * F.norm(), "{F}: {back}");
        let slack = bound * s[0];
        assert!(s[0] + slack >= s[1] && s[1] + slack >= s[2].abs(), "{F}: {s}");
    }

    #[test]
    fn any_matrix_is_the_product_of_two_rotations_and_a_diagonal() {
        let mut rng = Random(7);
        for _ in 0..2000 {
            assert_decomposed(&rng.matrix());
        }
        for F in awkward_matrices() {
            assert_decomposed(&F);
        }
    }

    #[test]
    fn small_singular_values_keep_their_digits() {
        let mut rng = Random(8);
        let s = Vector3::new(1.0, 1e-6, 1e-12);
        for _ in 0..100 {
            // One-sided rotations keep the relative accuracy of each column.
            let F = rng.rotation() * Matrix3::from_diagonal(&s);
            let found = svd(&Mat::splat(&F)).sigma;
            for i in 0..3 {
                assert!((found[i].0[0] / s[i] - 1.0).abs() <= 1e-14, "{F}");
            }
        }
    }

    #[test]
    fn a_lane_does_not_depend_on_its_neighbours() {
        let mut rng = Random(9);
        for _ in 0..200 {
            let alone = rng.matrix();
            let others = [rng.matrix(), rng.matrix(), Matrix3::zeros()];
            let group = Mat::from_fn(|i, j| {
                Lanes([alone[(i, j)], others[0][(i, j)], others[1][(i, j)], others[2][(i, j)]])
            });
            let (one, four) = (svd(&Mat::splat(&alone)), svd(&group));
            assert_eq!(one.rotation().lane(0), four.rotation().lane(0));
        }
    }
}
