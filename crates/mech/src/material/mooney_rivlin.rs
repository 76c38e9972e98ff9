//! Mooney–Rivlin rubber, stress-free at rest.
//!
//! ψ = C₁ (I − 3) + C₂ (II − 3) − (2 C₁ + 4 C₂)(J − 1) + ½ L (J − 1)², I = tr C, II = ½ (I² − tr C²),
//! C = Fᵀ F, J = det F; P = 2 C₁ F + 2 C₂ (I F − F C) + (L (J − 1) − 2 C₁ − 4 C₂) cof F. The shear modulus
//! is 2 (C₁ + C₂), the bulk modulus κ = L − ⅔ C₁ + 4/3 C₂. Polynomial in F, hence defined for inverted
//! elements too.

use super::MaterialEntry;
use super::isotropic::{IsotropicMaterial, IsotropicTangent, PAIRS};
use crate::soft::lanes::{Lanes, Mat, Vec3, dot, vec3};

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "mooney-rivlin",
    about: "rubber of two constants and a bulk modulus, stress-free at rest",
    cite: "Mooney40; Rivlin48",
    parameters: &["c1", "c2", "bulk"],
    rotation_invariant: true,
    lagged: false,
    linear: false,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct MooneyRivlin {
    c1: f64,
    c2: f64,
    /// L, the volumetric stiffness [Pa].
    volume: f64,
}

impl MooneyRivlin {
    pub fn new(c1: f64, c2: f64, bulk: f64) -> Self {
        Self { c1, c2, volume: Self::volume_stiffness(c1, c2, bulk) }
    }

    /// L = κ + ⅔ C₁ − 4/3 C₂ [Pa].
    pub fn volume_stiffness(c1: f64, c2: f64, bulk: f64) -> f64 {
        bulk + 2.0 / 3.0 * c1 - 4.0 / 3.0 * c2
    }

    /// L (J − 1) − 2 C₁ − 4 C₂.
    #[inline(always)]
    fn pressure(&self, J: Lanes) -> Lanes {
        let rest = Lanes::splat(-2.0 * self.c1 - 4.0 * self.c2);
        rest.fma(Lanes::splat(self.volume), J - Lanes::ONE)
    }
}

impl IsotropicMaterial for MooneyRivlin {
    #[inline(always)]
    fn energy(&self, F: &Mat) -> Lanes {
        let C = F.transposed_times(F);
        let I = C.trace();
        let II = Lanes::splat(0.5) * (I * I - C.squared());
        let from_rest = dot(&F.0[0], &F.cofactor().0[0]) - Lanes::ONE;
        let three = Lanes::splat(3.0);
        let shape = Lanes::splat(self.c1) * (I - three);
        let shape = shape.fma(Lanes::splat(self.c2), II - three);
        let half = Lanes::splat(0.5 * self.volume);
        let push = Lanes::splat(-2.0 * self.c1 - 4.0 * self.c2).fma(half, from_rest);
        shape.fma(push, from_rest)
    }

    #[inline(always)]
    fn stress(&self, F: &Mat) -> Mat {
        let C = F.transposed_times(F);
        let cofactor = F.cofactor();
        let J = dot(&F.0[0], &cofactor.0[0]);
        let two_c2 = Lanes::splat(2.0 * self.c2);
        let a = Lanes::splat(2.0 * self.c1).fma(two_c2, C.trace());
        let shape = F.combine(a, &F.times(&C), -two_c2);
        shape.combine(Lanes::ONE, &cofactor, self.pressure(J))
    }

    #[inline(always)]
    fn tangent(&self, sigma: &Vec3) -> IsotropicTangent {
        let c = vec3(|k| sigma[PAIRS[k].0] * sigma[PAIRS[k].1]);
        let p = self.pressure(c[0] * sigma[0]);
        let (two_c1, two_c2) = (Lanes::splat(2.0 * self.c1), Lanes::splat(2.0 * self.c2));
        let volume = Lanes::splat(self.volume);
        let (mut stretch, mut shear, mut spin) = (Mat::ZERO, [Lanes::ZERO; 3], [Lanes::ZERO; 3]);
        for (k, &(i, j)) in PAIRS.iter().enumerate() {
            let own = (sigma[i] * sigma[i]).fma(sigma[j], sigma[j]);
            stretch.0[k][k] = two_c1.fma(two_c2, own).fma(volume, c[k] * c[k]);
            let pair = (two_c2 + two_c2) * c[k];
            stretch.0[i][j] = pair.fma(volume, c[i] * c[j]).fma(p, sigma[k]);
            stretch.0[j][i] = stretch.0[i][j];
            let square = sigma[k] * sigma[k];
            shear[k] = two_c1.fma(two_c2, square - c[k]).fnma(p, sigma[k]);
            spin[k] = two_c1.fma(two_c2, square + c[k]).fma(p, sigma[k]);
        }
        IsotropicTangent { stretch, shear, spin }
    }
}
