//! Surface parameters of shapes, and how those of two shapes in contact combine.
//!
//! All quantities are physical and in SI units. A rigid surface has infinite stiffness; a finite
//! one makes the contact compliant [Castro22, Sec. II-B]. If two surfaces have different priorities,
//! the parameters of the higher one are used alone, as in MuJoCo; otherwise they are combined.

use std::cmp::Ordering;

use nalgebra::{Unit, Vector3};

use crate::compliance::Compliance;
use crate::error::WorldError;
use crate::soft_surface::{SoftPairing, SoftSurface};

/// The surface of one shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coefficient of friction μ [-]; along the grain if there is one.
    pub friction: f64,
    /// A grain: friction differs along and across a direction.
    pub grain: Option<Grain>,
    /// Coefficient of restitution ε [-], between 0 and 1. Rigid contacts only: the rebound of a
    /// compliant one follows from its dissipation.
    pub restitution: f64,
    /// Stiffness k [N/m]; infinite for a rigid surface.
    pub stiffness: f64,
    /// Dissipation time τ_d [s] of a compliant surface.
    pub dissipation: f64,
    /// Softness as in MuJoCo, in place of a stiffness.
    pub soft: Option<SoftSurface>,
    /// A pressure field: contacts of the shape are patches, in place of points with a stiffness.
    pub compliance: Option<Compliance>,
    /// Which relative motions it resists besides penetration.
    pub resistance: Resistance,
    /// Coefficient of friction against spinning about the normal [m]: the largest torque per normal
    /// force. Counts from [`Resistance::Spinning`] on.
    pub spin: f64,
    /// Coefficient of friction against rolling about the tangents [m]: the largest torque per normal
    /// force. Counts at [`Resistance::Rolling`].
    pub roll: f64,
    /// Of two surfaces in contact, the parameters of the one with the higher priority are used alone.
    pub priority: i32,
}

/// Which relative motions a contact resists besides penetration; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resistance {
    /// None: a contact without friction (MJCF: condim 1).
    Nothing,
    /// Sliding along the tangents (condim 3).
    #[default]
    Sliding,
    /// Spinning about the normal (condim 4).
    Spinning,
    /// Rolling about the tangents (condim 6).
    Rolling,
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
            soft: None,
            compliance: None,
            resistance: Resistance::default(),
            spin: 0.0,
            roll: 0.0,
            priority: 0,
        }
    }
}

impl Surface {
    /// A rigid surface without restitution.
    pub fn with_friction(friction: f64) -> Self {
        Self { friction, ..Self::default() }
    }

    /// Softness of a contact with another surface of the same priority. A stiffness excludes it.
    pub(crate) fn soft_with(&self, other: &Self) -> Option<SoftPairing> {
        if self.stiffness.is_finite() || other.stiffness.is_finite() {
            return None;
        }
        SoftPairing::of(self.soft.as_ref(), other.soft.as_ref())
    }

    /// Whether a contact with another surface is rigid.
    pub(crate) fn is_rigid_with(&self, other: &Self) -> bool {
        let alone = match self.priority.cmp(&other.priority) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal => {
                let stiffness = self.stiffness.min(other.stiffness);
                return stiffness == f64::INFINITY && self.soft_with(other).is_none();
            }
        };
        alone.stiffness == f64::INFINITY && alone.soft_alone().is_none()
    }

    /// Softness of a contact in which this surface is used alone.
    pub(crate) fn soft_alone(&self) -> Option<SoftPairing> {
        let soft = self.soft.filter(|_| self.stiffness == f64::INFINITY)?;
        let alone = SoftPairing { law: soft.law, cone: soft.cone };
        if soft.even_default { Some(alone) } else { alone.unless_default() }
    }

    /// Checks the ranges of all parameters; `shape` is its name in the error.
    pub(crate) fn check(&self, shape: &str) -> Result<(), WorldError> {
        let wrong = |what, found, expected| WorldError::Surface {
            shape: shape.to_owned(),
            what,
            found,
            expected,
        };
        let across = self.grain.map_or(self.friction, |g| g.across_friction);
        for (what, mu) in [
            ("friction", self.friction),
            ("friction across the grain", across),
            ("friction against spinning", self.spin),
            ("friction against rolling", self.roll),
        ] {
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
        if let Some(soft) = &self.soft {
            soft.check(shape)?;
        }
        if let Some(compliance) = &self.compliance {
            compliance.check(shape)?;
        }
        Ok(())
    }
}

/// Rule that combines the coefficients of friction of two surfaces.
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

stiction_solve::setting_choices!(Combine {
    "geometric" => Combine::Geometric,
    "harmonic" => Combine::Harmonic,
    "maximum" => Combine::Maximum,
    "minimum" => Combine::Minimum,
});

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

/// Combined parameters of two surfaces in contact.
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
    /// Softness as in MuJoCo; `None` if neither is soft, or one has a stiffness.
    pub soft: Option<SoftPairing>,
    /// Whether the grain is that of A, of B, or there is none. If both have one, A's counts.
    pub grain: GrainOf,
    /// Which relative motions are resisted: the larger set of the two.
    pub resistance: Resistance,
    /// Coefficient of friction against spinning [m].
    pub spin: f64,
    /// Coefficient of friction against rolling [m].
    pub roll: f64,
    /// Distance [m] at which the contact begins to act.
    pub standoff: f64,
}

impl Default for Pairing {
    /// Two default surfaces.
    fn default() -> Self {
        Self::of(&Surface::default(), &Surface::default(), Combine::default())
    }
}

/// The shape whose grain defines the first tangent of a contact.
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
    /// Combines two surfaces. Series of springs and sum of dissipation times as in Drake; the
    /// surface of higher priority is used alone, as in MuJoCo. The standoff is zero.
    pub fn of(a: &Surface, b: &Surface, combine: Combine) -> Self {
        match a.priority.cmp(&b.priority) {
            Ordering::Greater => return Self::of_one(a, GrainOf::A),
            Ordering::Less => return Self::of_one(b, GrainOf::B),
            Ordering::Equal => {}
        }
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
            soft: a.soft_with(b),
            grain,
            resistance: a.resistance.max(b.resistance),
            spin: combine.friction(a.spin, b.spin),
            roll: combine.friction(a.roll, b.roll),
            standoff: 0.0,
        }
        .without_zero_resistance()
    }

    /// Parameters of one surface alone; `side` is the side of its grain, if it has one.
    fn of_one(surface: &Surface, side: GrainOf) -> Self {
        Self {
            friction: surface.friction,
            across_friction: surface.grain.map_or(surface.friction, |g| g.across_friction),
            restitution: surface.restitution,
            stiffness: surface.stiffness,
            dissipation: surface.dissipation,
            soft: surface.soft_alone(),
            grain: if surface.grain.is_some() { side } else { GrainOf::Neither },
            resistance: surface.resistance,
            spin: surface.spin,
            roll: surface.roll,
            standoff: 0.0,
        }
        .without_zero_resistance()
    }

    /// The same with coefficients of zero for the motions that are not resisted.
    pub(crate) fn without_zero_resistance(mut self) -> Self {
        if self.resistance < Resistance::Sliding {
            (self.friction, self.across_friction) = (0.0, 0.0);
        }
        if self.resistance < Resistance::Spinning {
            self.spin = 0.0;
        }
        if self.resistance < Resistance::Rolling {
            self.roll = 0.0;
        }
        self
    }

    /// Whether the contact is rigid.
    pub(crate) fn is_rigid(&self) -> bool {
        self.stiffness == f64::INFINITY && self.soft.is_none()
    }

    /// Whether rows for spinning or rolling friction are needed.
    pub(crate) fn has_torsion(&self) -> bool {
        self.spin > 0.0 || self.roll > 0.0
    }

    /// Checks the ranges of all parameters; `owner` is its name in the error.
    pub(crate) fn check(&self, owner: &str) -> Result<(), WorldError> {
        let surface = Surface {
            friction: self.friction,
            grain: None,
            restitution: self.restitution,
            stiffness: self.stiffness,
            dissipation: self.dissipation,
            soft: self.soft.map(|soft| SoftSurface {
                law: soft.law,
                cone: soft.cone,
                ..SoftSurface::default()
            }),
            compliance: None,
            resistance: self.resistance,
            spin: self.spin,
            roll: self.roll,
            priority: 0,
        };
        surface.check(owner)?;
        Surface { friction: self.across_friction, ..surface }.check(owner)?;
        check_standoff(self.standoff, owner)
    }
}

/// Checks a standoff; `shape` is the name of its owner in the error.
pub(crate) fn check_standoff(standoff: f64, shape: &str) -> Result<(), WorldError> {
    let fine = standoff.is_finite();
    fine.then_some(()).ok_or_else(|| WorldError::Surface {
        shape: shape.to_owned(),
        what: "standoff",
        found: standoff,
        expected: "a finite number of metres",
    })
}

#[cfg(test)]
#[path = "surface_tests.rs"]
mod tests;
