//! The interface of an isotropic material, and the projection of its stiffness to a positive
//! semi-definite matrix.
//!
//! ψ is a function of the singular values σ of F = U Σ Vᵀ. In the frames of U and V, dP/dF is block
//! diagonal: a 3×3 matrix for changes of σ and, for each pair (i, j), one eigenvalue for shear,
//! (ψ_i − ψ_j)/(σ_i − σ_j), and one for spin, (ψ_i + ψ_j)/(σ_i + σ_j) [Stomakhin12]. Clamping the
//! eigenvalues of these blocks clamps exactly those of dP/dF.

use crate::soft::lanes::{Lanes, Mat, Vec3, vec3};
use crate::soft::svd::{Svd, jacobi_rotation, rotate};

/// An isotropic hyperelastic material.
pub(crate) trait IsotropicMaterial: Copy + Send + Sync {
    /// Energy density ψ [J/m³], zero at rest.
    fn energy(&self, F: &Mat) -> Lanes;
    /// First Piola–Kirchhoff stress P = ∂ψ/∂F [Pa].
    fn stress(&self, F: &Mat) -> Mat;
    /// dP/dF [Pa] at given singular values.
    fn tangent(&self, sigma: &Vec3) -> IsotropicTangent;
}

/// dP/dF [Pa] in the frames of U and V. Pairs are numbered by the axis that they leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsotropicTangent {
    /// ∂²ψ/∂σ_i ∂σ_j, symmetric.
    pub stretch: Mat,
    /// Eigenvalue of the symmetric change of the entries (i, j) and (j, i).
    pub shear: Vec3,
    /// Eigenvalue of the antisymmetric change.
    pub spin: Vec3,
}

/// The two axes of the pair that leaves out axis k.
pub(crate) const PAIRS: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];

/// Largest number of sweeps; no tested 3×3 matrix needed as many.
const SWEEPS: usize = 10;
/// Relative size of an off-diagonal entry that counts as zero.
const DIAGONAL: f64 = 0.5 * f64::EPSILON;

impl IsotropicTangent {
    /// The nearest tangent without negative eigenvalues.
    #[inline(always)]
    pub fn projected(&self) -> Self {
        let shear = vec3(|k| self.shear[k].max(Lanes::ZERO));
        let spin = vec3(|k| self.spin[k].max(Lanes::ZERO));
        Self { stretch: clamped(&self.stretch), shear, spin }
    }

    /// The 3×3 matrix ∂(P a)/∂F · b in the frame of U, for vectors a and b in the frame of V:
    /// entry (i, k) = Σ_jl a_j (dP/dF)_ijkl b_l.
    #[inline(always)]
    pub fn contract(&self, a: &Vec3, b: &Vec3) -> Mat {
        let half = Lanes::splat(0.5);
        let mut K = Mat::from_fn(|i, k| self.stretch.0[i][k] * (a[i] * b[k]));
        for (k, &(i, j)) in PAIRS.iter().enumerate() {
            // (dP/dF)_ijij = (dP/dF)_jiji and (dP/dF)_ijji of this pair.
            let own = half * (self.shear[k] + self.spin[k]);
            let mirrored = half * (self.shear[k] - self.spin[k]);
            K.0[i][i] = K.0[i][i].fma(own, a[j] * b[j]);
            K.0[j][j] = K.0[j][j].fma(own, a[i] * b[i]);
            K.0[i][j] = K.0[i][j].fma(mirrored, a[j] * b[i]);
            K.0[j][i] = K.0[j][i].fma(mirrored, a[i] * b[j]);
        }
        K
    }

    /// The same matrix in the world frame, with a and b in the frame of V.
    #[inline(always)]
    pub fn block(&self, frames: &Svd, a: &Vec3, b: &Vec3) -> Mat {
        let K = self.contract(a, b);
        frames.U.times(&K).times_transposed(&frames.U)
    }
}

/// Smallest pivot, relative to the trace, of a matrix that counts as positive definite; well above
/// round-off.
const DEFINITE: f64 = 1e-8;

/// A symmetric matrix with its negative eigenvalues set to zero. Positive definite matrices, the common
/// case, are returned unchanged.
#[inline(always)]
fn clamped(A: &Mat) -> Mat {
    let least = Lanes::splat(DEFINITE) * A.trace();
    let first = A.0[0][0];
    let (l, m) = (A.0[1][0] / first, A.0[2][0] / first);
    let second = A.0[1][1].fnma(l, A.0[1][0]);
    let corner = A.0[2][1].fnma(l, A.0[2][0]);
    let third = A.0[2][2].fnma(m, A.0[2][0]).fnma(corner / second, corner);
    let definite = least.greater(Lanes::ZERO).and(first.greater(least));
    let definite = definite.and(second.greater(least)).and(third.greater(least));
    if definite.all() { *A } else { definite.select_mat(A, &clamped_by_jacobi(A)) }
}

/// Sets negative eigenvalues to zero by Jacobi's method.
#[inline(always)]
fn clamped_by_jacobi(A: &Mat) -> Mat {
    let (mut D, mut Q) = (*A, Mat::IDENTITY);
    for _ in 0..SWEEPS {
        let rotated = diagonalize(&mut D, &mut Q, 0, 1) | diagonalize(&mut D, &mut Q, 0, 2);
        if !(rotated | diagonalize(&mut D, &mut Q, 1, 2)) {
            break;
        }
    }
    let eigenvalues = vec3(|i| D.0[i][i].max(Lanes::ZERO));
    let mut scaled = Q;
    for i in 0..3 {
        for j in 0..3 {
            scaled.0[i][j] = Q.0[i][j] * eigenvalues[j];
        }
    }
    scaled.times_transposed(&Q)
}

/// One rotation of Jacobi's method. Returns whether any lane needed it.
#[inline(always)]
fn diagonalize(D: &mut Mat, Q: &mut Mat, p: usize, q: usize) -> bool {
    let size = D.0[0][0].abs() + D.0[1][1].abs() + D.0[2][2].abs();
    let needs = D.0[p][q].abs().greater(Lanes::splat(DIAGONAL) * size);
    if !needs.any() {
        return false;
    }
    let (c, s) = jacobi_rotation(D.0[q][q] - D.0[p][p], D.0[p][q], needs);
    rotate(D, p, q, c, s);
    let (p_row, q_row) = (D.0[p], D.0[q]);
    for i in 0..3 {
        D.0[p][i] = (c * p_row[i]).fnma(s, q_row[i]);
        D.0[q][i] = (s * p_row[i]).fma(c, q_row[i]);
    }
    rotate(Q, p, q, c, s);
    true
}
