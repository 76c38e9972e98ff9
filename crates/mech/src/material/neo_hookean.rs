//! Neo-Hookean rubber whose energy is finite for every deformation, also for inverted elements.
//!
//! ψ = ½ μ (I − 3) − ½ μ ln((I + 1)/4) + ½ λ (J − α)² − ½ λ (1 − α)², I = ‖F‖², J = det F
//! [Smith18, Eq. (14)]; P = μ (1 − 1/(I + 1)) F + λ (J − α) cof F vanishes at rest for
//! α = 1 + ¾ μ/λ. Its second derivative at rest is 3/2 μ sym + (λ − 5/8 μ) tr, hence
//! μ = 4/3 μ_L and λ = λ_L + 5/6 μ_L give the moduli of linear elasticity.

use super::MaterialEntry;
use super::isotropic::{IsotropicMaterial, IsotropicTangent, PAIRS};
use super::lame::Lame;
use crate::soft::lanes::{Lanes, Mat, Vec3, dot, vec3};

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "neo-hookean",
    about: "rubber-like, stable at rest and under inversion",
    cite: "Smith18, Eq. (14)",
    parameters: &["young", "poisson"],
    rotation_invariant: true,
    lagged: false,
    linear: false,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct NeoHookean {
    mu: f64,
    lambda: f64,
    /// The J at which the volumetric term alone is stress-free [-].
    alpha: f64,
}

impl NeoHookean {
    pub fn new(linear: Lame) -> Self {
        let mu = 4.0 / 3.0 * linear.mu;
        let lambda = linear.lambda + 5.0 / 6.0 * linear.mu;
        Self { mu, lambda, alpha: 1.0 + 0.75 * mu / lambda }
    }
}

impl IsotropicMaterial for NeoHookean {
    #[inline(always)]
    fn energy(&self, F: &Mat) -> Lanes {
        let J = dot(&F.0[0], &F.cofactor().0[0]);
        let from_rest = J - Lanes::ONE;
        // ½ (J − α)² − ½ (1 − α)² = (J − 1) (½ (J − 1) + 1 − α), which avoids cancellation at rest.
        let volume = Lanes::splat(1.0 - self.alpha).fma(Lanes::splat(0.5), from_rest) * from_rest;
        let excess = F.squared() - Lanes::splat(3.0);
        let log = excess.map(|excess| (0.25 * excess).ln_1p());
        let shape = Lanes::splat(0.5 * self.mu) * (excess - log);
        shape.fma(Lanes::splat(self.lambda), volume)
    }

    #[inline(always)]
    fn stress(&self, F: &Mat) -> Mat {
        let cofactor = F.cofactor();
        let J = dot(&F.0[0], &cofactor.0[0]);
        let I = F.squared();
        let a = Lanes::splat(self.mu) * (I / (I + Lanes::ONE));
        F.combine(a, &cofactor, Lanes::splat(self.lambda) * (J - Lanes::splat(self.alpha)))
    }

    #[inline(always)]
    fn tangent(&self, sigma: &Vec3) -> IsotropicTangent {
        let I = dot(sigma, sigma);
        let c = vec3(|k| sigma[PAIRS[k].0] * sigma[PAIRS[k].1]);
        let (mu, lambda) = (Lanes::splat(self.mu), Lanes::splat(self.lambda));
        let p = lambda * (c[0] * sigma[0] - Lanes::splat(self.alpha));
        let shrunk = Lanes::ONE / (I + Lanes::ONE);
        let (a, growth) = (mu * (I * shrunk), (mu + mu) * shrunk * shrunk);
        let mut stretch =
            Mat::from_fn(|i, j| (growth * (sigma[i] * sigma[j])).fma(lambda, c[i] * c[j]));
        for (k, &(i, j)) in PAIRS.iter().enumerate() {
            stretch.0[k][k] = stretch.0[k][k] + a;
            stretch.0[i][j] = stretch.0[i][j].fma(p, sigma[k]);
            stretch.0[j][i] = stretch.0[i][j];
        }
        let shear = vec3(|k| a.fnma(p, sigma[k]));
        let spin = vec3(|k| a.fma(p, sigma[k]));
        IsotropicTangent { stretch, shear, spin }
    }
}
