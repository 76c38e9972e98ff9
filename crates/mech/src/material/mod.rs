//! Materials of soft bodies: energy density, stress and stiffness as functions of the deformation
//! gradient F.
//!
//! One file per material; [`MATERIALS`] lists them. To add one: write `material/<name>.rs`, a variant of
//! [`Material`] with its arms in `resolved` and `entry`, and one line in [`MATERIALS`]. Linear materials
//! measure F relative to a given rotation; the others are isotropic functions of F whose stiffness is
//! projected to be positive semi-definite. Stresses are first Piola–Kirchhoff.

mod corotational;
mod isotropic;
mod lame;
mod linear;
mod linear_corotated;
mod mooney_rivlin;
mod neo_hookean;

use crate::soft::lanes::Mat;
use crate::soft::polar::rotation;
use crate::soft::svd::{Svd, svd};
use nalgebra::{Matrix3, SMatrix};
use thiserror::Error;

pub(crate) use corotational::Corotational;
pub(crate) use isotropic::IsotropicMaterial;
pub(crate) use lame::Lame;
pub(crate) use mooney_rivlin::MooneyRivlin;
pub(crate) use neo_hookean::NeoHookean;

/// Material of a soft body. Young's modulus and Poisson's ratio are those of small strains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// Linear in the stretch, with the rotation of the present deformation.
    Corotational {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio [-].
        poisson: f64,
    },
    /// Small strain from the reference shape.
    Linear {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio [-].
        poisson: f64,
    },
    /// Small strain in a frame that rotates with each element, fixed during a step.
    LinearCorotated {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio [-].
        poisson: f64,
    },
    /// Rubber of two constants and a bulk modulus.
    MooneyRivlin {
        /// C₁ [Pa].
        c1: f64,
        /// C₂ [Pa].
        c2: f64,
        /// Bulk modulus κ [Pa].
        bulk: f64,
    },
    /// Rubber whose energy is finite under inversion.
    NeoHookean {
        /// Young's modulus [Pa].
        young: f64,
        /// Poisson's ratio [-].
        poisson: f64,
    },
}

/// Registry entry of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialEntry {
    /// Name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Source of its formulas.
    pub cite: &'static str,
    /// Names of its parameters.
    pub parameters: &'static [&'static str],
    /// Whether rigid rotations cause no stress; false for linear elasticity, which measures them as
    /// strain.
    pub rotation_invariant: bool,
    /// Whether it measures the deformation relative to the element rotations of the last
    /// [`update_rotations`](crate::SoftBody::update_rotations).
    pub lagged: bool,
    /// Whether forces are linear in the positions for constant element rotations, so that one
    /// linearisation is exact.
    pub linear: bool,
}

/// Every material, in alphabetical order.
pub static MATERIALS: &[MaterialEntry] = &[
    corotational::ENTRY,
    linear::ENTRY,
    linear_corotated::ENTRY,
    mooney_rivlin::ENTRY,
    neo_hookean::ENTRY,
];

/// A material parameter is out of its range.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{parameter} of the {material} material = {found}; expected {expected}")]
#[non_exhaustive]
pub struct MaterialError {
    /// The material.
    pub material: &'static str,
    /// The parameter.
    pub parameter: &'static str,
    /// Its value.
    pub found: f64,
    /// The permitted values.
    pub expected: &'static str,
}

/// A material with its derived constants, one variant per type of element loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResolvedMaterial {
    /// Linear relative to the identity or to the element rotations.
    Linear(Lame),
    Corotational(Corotational),
    MooneyRivlin(MooneyRivlin),
    NeoHookean(NeoHookean),
}

/// Runs `$body` with `$law` bound to the isotropic material, or `$given` with `$lame` bound to the
/// moduli of a linear one.
macro_rules! with_material {
    ($resolved:expr, $lame:ident => $given:expr, $law:ident => $body:expr) => {
        match $resolved {
            $crate::material::ResolvedMaterial::Linear($lame) => $given,
            $crate::material::ResolvedMaterial::Corotational($law) => $body,
            $crate::material::ResolvedMaterial::MooneyRivlin($law) => $body,
            $crate::material::ResolvedMaterial::NeoHookean($law) => $body,
        }
    };
}
pub(crate) use with_material;

impl Material {
    /// The entry of [`MATERIALS`].
    pub fn entry(&self) -> MaterialEntry {
        match self {
            Self::Corotational { .. } => corotational::ENTRY,
            Self::Linear { .. } => linear::ENTRY,
            Self::LinearCorotated { .. } => linear_corotated::ENTRY,
            Self::MooneyRivlin { .. } => mooney_rivlin::ENTRY,
            Self::NeoHookean { .. } => neo_hookean::ENTRY,
        }
    }

    /// The material of this name with the values of its parameters, in the order of its entry.
    /// `None` if there is no such material or it has another number of parameters.
    pub fn from_name(name: &str, parameters: &[f64]) -> Option<Self> {
        Some(match (name, parameters) {
            ("corotational", &[young, poisson]) => Self::Corotational { young, poisson },
            ("linear", &[young, poisson]) => Self::Linear { young, poisson },
            ("linear-corotated", &[young, poisson]) => Self::LinearCorotated { young, poisson },
            ("mooney-rivlin", &[c1, c2, bulk]) => Self::MooneyRivlin { c1, c2, bulk },
            ("neo-hookean", &[young, poisson]) => Self::NeoHookean { young, poisson },
            _ => return None,
        })
    }

    /// Values of its parameters, in the order of its entry; unused ones are zero.
    pub fn parameters(&self) -> [f64; 3] {
        match *self {
            Self::Corotational { young, poisson }
            | Self::Linear { young, poisson }
            | Self::LinearCorotated { young, poisson }
            | Self::NeoHookean { young, poisson } => [young, poisson, 0.0],
            Self::MooneyRivlin { c1, c2, bulk } => [c1, c2, bulk],
        }
    }

    /// Checks that its parameters describe a stable solid.
    pub fn check(&self) -> Result<(), MaterialError> {
        let error = |parameter, found, expected| {
            Err(MaterialError { material: self.entry().name, parameter, found, expected })
        };
        if let Self::MooneyRivlin { c1, c2, bulk } = *self {
            for (name, found) in [("c1", c1), ("c2", c2)] {
                if !(found >= 0.0 && found.is_finite()) {
                    return error(name, found, "a finite number ≥ 0 [Pa]");
                }
            }
            if !(c1 + c2 > 0.0) {
                return error("c1 + c2", c1 + c2, "a shear modulus 2 (c1 + c2) > 0 [Pa]");
            }
            let positive = bulk > 0.0 && bulk.is_finite();
            if !(positive && MooneyRivlin::volume_stiffness(c1, c2, bulk) > 0.0) {
                return error("bulk", bulk, "a finite number > 0 and > 4/3 c2 − 2/3 c1 [Pa]");
            }
            return Ok(());
        }
        let [young, poisson, _] = self.parameters();
        if !(young > 0.0 && young.is_finite()) {
            return error("young", young, "a finite number > 0 [Pa]");
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return error("poisson", poisson, "a number > −1 and < 0.5");
        }
        Ok(())
    }

    /// Shear and bulk modulus of small strains [Pa].
    pub fn moduli(&self) -> (f64, f64) {
        match *self {
            Self::MooneyRivlin { c1, c2, bulk } => (2.0 * (c1 + c2), bulk),
            _ => {
                let [young, poisson, _] = self.parameters();
                let Lame { mu, lambda } = Lame::new(young, poisson);
                (mu, lambda + 2.0 / 3.0 * mu)
            }
        }
    }

    pub(crate) fn resolved(&self) -> ResolvedMaterial {
        match *self {
            Self::Linear { young, poisson } | Self::LinearCorotated { young, poisson } => {
                ResolvedMaterial::Linear(Lame::new(young, poisson))
            }
            Self::Corotational { young, poisson } => {
                ResolvedMaterial::Corotational(Corotational(Lame::new(young, poisson)))
            }
            Self::MooneyRivlin { c1, c2, bulk } => {
                ResolvedMaterial::MooneyRivlin(MooneyRivlin::new(c1, c2, bulk))
            }
            Self::NeoHookean { young, poisson } => {
                ResolvedMaterial::NeoHookean(NeoHookean::new(Lame::new(young, poisson)))
            }
        }
    }

    /// The element rotation that the material uses after an update at F; the identity for materials
    /// without lagged rotation.
    pub fn rotation(&self, F: &Matrix3<f64>) -> Matrix3<f64> {
        if self.entry().lagged { rotation(&Mat::splat(F)).lane(0) } else { Matrix3::identity() }
    }

    /// Energy density ψ [J/m³] at F for a given element rotation, which only linear materials use.
    pub fn energy(&self, F: &Matrix3<f64>, rotation: &Matrix3<f64>) -> f64 {
        let (F, R) = (Mat::splat(F), Mat::splat(rotation));
        with_material!(self.resolved(), lame => lame.energy(&F, &R), law => law.energy(&F)).0[0]
    }

    /// Stress P = ∂ψ/∂F [Pa].
    pub fn stress(&self, F: &Matrix3<f64>, rotation: &Matrix3<f64>) -> Matrix3<f64> {
        let (F, R) = (Mat::splat(F), Mat::splat(rotation));
        with_material!(self.resolved(), lame => lame.stress(&F, &R), law => law.stress(&F)).lane(0)
    }

    /// dP/dF [Pa]; rows and columns are the entries of P and F, column by column.
    pub fn tangent(&self, F: &Matrix3<f64>, rotation: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
        self.tangent_in_full(F, rotation, false)
    }

    /// dP/dF [Pa] with its negative eigenvalues set to zero, as it enters the stiffness.
    pub fn projected_tangent(
        &self,
        F: &Matrix3<f64>,
        rotation: &Matrix3<f64>,
    ) -> SMatrix<f64, 9, 9> {
        self.tangent_in_full(F, rotation, true)
    }

    fn tangent_in_full(
        &self,
        F: &Matrix3<f64>,
        rotation: &Matrix3<f64>,
        projected: bool,
    ) -> SMatrix<f64, 9, 9> {
        let (V, sigma) = (Mat::IDENTITY, [crate::soft::lanes::Lanes::ONE; 3]);
        let given = Svd { U: Mat::splat(rotation), sigma, V };
        let (frames, tangent) = with_material!(
            self.resolved(),
            lame => (given, lame.tangent()),
            law => {
                let frames = svd(&Mat::splat(F));
                let tangent = law.tangent(&frames.sigma);
                (frames, if projected { tangent.projected() } else { tangent })
            }
        );
        let mut full = SMatrix::<f64, 9, 9>::zeros();
        for j in 0..3 {
            for l in 0..3 {
                let (a, b) = (frames.V.0[j], frames.V.0[l]); // Vᵀ of the unit vectors
                let block = tangent.block(&frames, &a, &b).lane(0);
                full.fixed_view_mut::<3, 3>(3 * j, 3 * l).copy_from(&block);
            }
        }
        full
    }
}
