//! Surfaces: what a contact needs to know of the two materials that meet, and how they combine.
//!
//! All quantities are physical and in SI units. A rigid surface has infinite stiffness; a finite
//! one makes the contact compliant [Castro22, Sec. II-B].

use nalgebra::{Unit, Vector3};

use crate::error::WorldError;

/// The surface of one shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coefficient of friction μ [-]; along the grain if there is one.
    pub friction: f64,
    /// A grain: friction differs along and across a direction.
    pub grain: Option<Grain>,
    /// Coefficient of restitution ε [-], between 0 and 1. Rigid contacts only: a compliant one
    /// restitutes what its dissipation leaves.
    pub restitution: f64,
    /// Stiffness k [N/m]; infinite for a rigid surface.
    pub stiffness: f64,
    /// Dissipation time τ_d [s] of a compliant surface.
    pub dissipation: f64,
}

/// A direction in a surface and the friction across it [Lee23, Sec. III-E].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// Direction of the grain in the frame of the shape.
    pub along: Unit<Vector3<f64>>,
    /// Coefficient of friction across the grain [-].
    pub across_friction: f64,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            friction: 0.5,
            grain: None,
            restitution: 0.0,
            stiffness: f64::INFINITY,
            dissipation: 0.0,
        }
    }
}

impl Surface {
    /// A rigid surface without restitution.
    pub fn with_friction(friction: f64) -> Self {
        Self { friction, ..Self::default() }
    }

    /// Whether every number can be one of a surface; `shape` names it in the error.
    pub(crate) fn check(&self, shape: &str) -> Result<(), WorldError> {
        let wrong = |what, found, expected| WorldError::Surface {
            shape: shape.to_owned(),
            what,
            found,
            expected,
        };
        let across = self.grain.map_or(self.friction, |g| g.across_friction);
        for (what, mu) in [("friction", self.friction), ("friction across the grain", across)] {
            if !(mu >= 0.0 && mu.is_finite()) {
                return Err(wrong(what, mu, "a finite number that is not negative"));
            }
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(wrong("restitution", self.restitution, "a number between 0 and 1"));
        }
        if !(self.stiffness > 0.0) {
            return Err(wrong("stiffness", self.stiffness, "a positive number of N/m"));
        }
        if !(self.dissipation >= 0.0 && self.dissipation.is_finite()) {
            let expected = "a finite number of seconds that is not negative";
            return Err(wrong("dissipation", self.dissipation, expected));
        }
        Ok(())
    }
}

/// How two coefficients of friction become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// √(μ_A μ_B).
    #[default]
    Geometric,
    /// 2 μ_A μ_B / (μ_A + μ_B), the rule of Drake.
    Harmonic,
    /// The larger, the rule of MuJoCo.
    Maximum,
    /// The smaller.
    Minimum,
}

impl Combine {
    /// The combined coefficient.
    pub fn friction(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Geometric => (a * b).sqrt(),
            Self::Harmonic if a + b > 0.0 => 2.0 * a * b / (a + b),
            Self::Harmonic => 0.0,
            Self::Maximum => a.max(b),
            Self::Minimum => a.min(b),
        }
    }
}

/// Two surfaces that meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// Coefficient of friction, along the grain if there is one [-].
    pub friction: f64,
    /// Coefficient of friction across the grain [-].
    pub across_friction: f64,
    /// Coefficient of restitution [-]: the larger of the two.
    pub restitution: f64,
    /// Stiffness [N/m]: the two in series.
    pub stiffness: f64,
    /// Dissipation time [s]: the sum of the two.
    pub dissipation: f64,
    /// Whether the grain is that of A, of B, or there is none. If both have one, A's counts.
    pub grain: GrainOf,
}

/// Whose grain a contact follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrainOf {
    /// Friction is isotropic.
    Neither,
    /// The grain of the first shape.
    A,
    /// The grain of the second shape.
    B,
}

impl Pairing {
    /// Combines two surfaces. Series of springs and sum of dissipation times as in Drake.
    pub fn of(a: &Surface, b: &Surface, combine: Combine) -> Self {
        let across = |s: &Surface| s.grain.map_or(s.friction, |g| g.across_friction);
        let grain = match (a.grain, b.grain) {
            (Some(_), _) => GrainOf::A,
            (None, Some(_)) => GrainOf::B,
            (None, None) => GrainOf::Neither,
        };
        Self {
            friction: combine.friction(a.friction, b.friction),
            across_friction: combine.friction(across(a), across(b)),
            restitution: a.restitution.max(b.restitution),
            stiffness: 1.0 / (1.0 / a.stiffness + 1.0 / b.stiffness),
            dissipation: a.dissipation + b.dissipation,
            grain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_coefficients_combine_to_themselves_under_every_rule() {
        for rule in [Combine::Geometric, Combine::Harmonic, Combine::Maximum, Combine::Minimum] {
            for mu in [0.0, 0.3, 1.0, 7.0] {
                // One multiplication and one root: a few ulps.
                assert!((rule.friction(mu, mu) - mu).abs() <= 4.0 * f64::EPSILON * mu, "{rule:?}");
            }
        }
    }

    #[test]
    fn two_springs_in_series_yield_together() {
        let soft = Surface { stiffness: 1e4, ..Surface::default() };
        let pair = Pairing::of(&soft, &soft, Combine::default());
        assert_eq!(pair.stiffness, 5e3);
        let on_rigid = Pairing::of(&soft, &Surface::default(), Combine::default());
        assert!((on_rigid.stiffness - 1e4).abs() <= 1e-11);
        let rigid = Pairing::of(&Surface::default(), &Surface::default(), Combine::default());
        assert_eq!(rigid.stiffness, f64::INFINITY);
    }

    #[test]
    fn impossible_surfaces_are_refused_with_the_number_found() {
        let of = |s: Surface| s.check("crate").map_err(|e| e.to_string());
        assert!(of(Surface::default()).is_ok());
        for bad in [
            Surface { friction: -0.1, ..Surface::default() },
            Surface { friction: f64::NAN, ..Surface::default() },
            Surface { restitution: 1.5, ..Surface::default() },
            Surface { stiffness: 0.0, ..Surface::default() },
            Surface { stiffness: f64::NAN, ..Surface::default() },
            Surface { dissipation: -1.0, ..Surface::default() },
        ] {
            let message = of(bad).unwrap_err();
            assert!(message.contains("crate"), "{message}");
        }
    }
}
