//! Linear elasticity relative to a given rotation, shared by the linear materials.
//!
//! Ê = ½ (Rᵀ F + Fᵀ R) − 1, ψ = μ ‖Ê‖² + ½ λ tr(Ê)², P = 2 μ R Ê + λ tr(Ê) R [Han23, Eq. (7)], whose
//! derivative μ (δ_ik δ_jl + R_il R_kj) + λ R_ij R_kl is constant and positive semi-definite
//! [Han23, Appendix].

use super::isotropic::IsotropicTangent;
use crate::soft::lanes::{Lanes, Mat};

/// Moduli of linear elasticity [Pa].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lame {
    /// Shear modulus μ [Pa].
    pub mu: f64,
    /// First modulus λ [Pa].
    pub lambda: f64,
}

impl Lame {
    /// From Young's modulus [Pa] and Poisson's ratio [-].
    pub fn new(young: f64, poisson: f64) -> Self {
        let mu = young / (2.0 * (1.0 + poisson));
        Self { mu, lambda: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)) }
    }

    /// ψ [J/m³].
    #[inline(always)]
    pub fn energy(&self, F: &Mat, R: &Mat) -> Lanes {
        let (E, trace) = strain(F, R);
        let (mu, lambda) = (Lanes::splat(self.mu), Lanes::splat(0.5 * self.lambda));
        (mu * E.squared()).fma(lambda * trace, trace)
    }

    /// P [Pa].
    #[inline(always)]
    pub fn stress(&self, F: &Mat, R: &Mat) -> Mat {
        let (E, trace) = strain(F, R);
        let pressure = Lanes::splat(self.lambda) * trace;
        let mut corotated = E.scaled(Lanes::splat(2.0 * self.mu));
        for i in 0..3 {
            corotated.0[i][i] = corotated.0[i][i] + pressure;
        }
        R.times(&corotated)
    }

    /// dP/dF in the frame of U = R, V = 1.
    pub fn tangent(&self) -> IsotropicTangent {
        let (diagonal, other) = (self.lambda + 2.0 * self.mu, self.lambda);
        let entry = |i, j| Lanes::splat(if i == j { diagonal } else { other });
        IsotropicTangent {
            stretch: Mat::from_fn(entry),
            shear: [Lanes::splat(2.0 * self.mu); 3],
            spin: [Lanes::ZERO; 3],
        }
    }
}

/// Ê and its trace.
#[inline(always)]
fn strain(F: &Mat, R: &Mat) -> (Mat, Lanes) {
    let (S, half) = (R.transposed_times(F), Lanes::splat(0.5));
    let mut E = Mat::ZERO;
    for i in 0..3 {
        E.0[i][i] = S.0[i][i] - Lanes::ONE;
        for j in 0..i {
            E.0[i][j] = half * (S.0[i][j] + S.0[j][i]);
            E.0[j][i] = E.0[i][j];
        }
    }
    (E, E.trace())
}
