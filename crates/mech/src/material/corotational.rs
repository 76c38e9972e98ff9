//! Corotational elasticity: linear in the stretch, with the rotation of the present deformation.
//!
//! ψ = μ ‖F − R‖² + ½ λ (tr(Rᵀ F) − 3)², P = 2 μ (F − R) + λ (tr(Rᵀ F) − 3) R, the strain of
//! [Mueller04] with an exact derivative [Stomakhin12]. The derivative of R enters the stiffness through
//! the spin eigenvalues (ψ_i + ψ_j)/(σ_i + σ_j) = 2 μ + (2 λ (Σσ − 3) − 4 μ)/(σ_i + σ_j), negative
//! under compression.

use super::MaterialEntry;
use super::isotropic::{IsotropicMaterial, IsotropicTangent, PAIRS};
use super::lame::Lame;
use crate::soft::lanes::{Lanes, Mat, Vec3, vec3};
use crate::soft::polar::rotation_and_trace;

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "corotational",
    about: "linear in the stretch, with the rotation of the present deformation",
    cite: "Mueller04; Stomakhin12",
    parameters: &["young", "poisson"],
    rotation_invariant: true,
    lagged: false,
    linear: false,
};

/// Lower bound of σ_i + σ_j in the spin eigenvalues [-]; below it the rotation is ill defined.
const MIN_SUM: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Corotational(pub Lame);

impl IsotropicMaterial for Corotational {
    #[inline(always)]
    fn energy(&self, F: &Mat) -> Lanes {
        let Lame { mu, lambda } = self.0;
        let (R, trace) = rotation_and_trace(F);
        let excess = trace - Lanes::splat(3.0);
        let distance = F.combine(Lanes::ONE, &R, -Lanes::ONE).squared();
        (Lanes::splat(mu) * distance).fma(Lanes::splat(0.5 * lambda) * excess, excess)
    }

    #[inline(always)]
    fn stress(&self, F: &Mat) -> Mat {
        let Lame { mu, lambda } = self.0;
        let (R, trace) = rotation_and_trace(F);
        let (two_mu, excess) = (Lanes::splat(2.0 * mu), trace - Lanes::splat(3.0));
        F.combine(two_mu, &R, Lanes::splat(lambda) * excess - two_mu)
    }

    #[inline(always)]
    fn tangent(&self, sigma: &Vec3) -> IsotropicTangent {
        let Lame { mu, lambda } = self.0;
        let excess = sigma[0] + sigma[1] + sigma[2] - Lanes::splat(3.0);
        let pull = Lanes::splat(2.0 * lambda) * excess - Lanes::splat(4.0 * mu);
        let spin = vec3(|k| {
            let (i, j) = PAIRS[k];
            let sum = (sigma[i] + sigma[j]).max(Lanes::splat(MIN_SUM));
            Lanes::splat(2.0 * mu) + pull / sum
        });
        IsotropicTangent { spin, ..self.0.tangent() }
    }
}
