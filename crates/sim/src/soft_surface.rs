//! Surfaces that are soft as in MuJoCo: their combination, and the rows of their contacts.
//!
//! The normal row follows [`SoftLaw`]: compliance and target velocity are computed anew in every step, from the
//! depth. Â is the sum of the inverse inertias of the two bodies at the reference configuration. MuJoCo's pyramid
//! replaces a contact by 2 (n − 1) edges `c_n ± μ c_t` for `condim` n, each of compliance
//! `2 μ² (1 + μ²) R/impratio`; in parallel they give the normal compliance of [`SoftPairing::normal_scale`].
//!
//! Friction is exact by default. [`TangentialLaw::Mujoco`] softens the tangents as well: `R_t = R/impratio` for the
//! elliptic cone, and `v̂_t = (1 − h b) c⁻_t`.
//!
//! Surfaces that are apart get no row, as in MuJoCo, unless they would pass deep into one another within the step:
//! a rigid row then limits the depth, so that nothing is shot through a surface.

use stiction_mech::{SoftLaw, SoftRowError};

use crate::error::WorldError;
use crate::rows::RowParameters;
use crate::surface::{Pairing, Resistance};

/// Least coefficient of friction of MuJoCo's pyramid [-].
const LEAST_FRICTION: f64 = 1e-5;

/// How a contact law is softened along the tangents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TangentialLaw {
    /// Not at all: exact friction.
    #[default]
    Exact,
    /// As in MuJoCo, by the parameters of the normal direction.
    Mujoco,
}

stiction_solve::setting_choices!(TangentialLaw {
    "exact" => TangentialLaw::Exact,
    "mujoco" => TangentialLaw::Mujoco,
});

/// MuJoCo's approximation of the friction cone, on which the compliance of a contact depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConeScaling {
    /// Whether the cone is a pyramid.
    pub pyramidal: bool,
    /// Ratio of the impedance of friction to that of the normal direction [-]: `impratio`.
    pub impedance_ratio: f64,
}

impl Default for ConeScaling {
    /// MuJoCo's defaults.
    fn default() -> Self {
        Self { pyramidal: true, impedance_ratio: 1.0 }
    }
}

/// Softness of one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftSurface {
    /// Parameters of the law.
    pub law: SoftLaw,
    /// Weight with which they mix with those of another surface [-]: `solmix`.
    pub mix: f64,
    /// The cone of its model.
    pub cone: ConeScaling,
    /// Whether contacts with MuJoCo's default parameters are soft as well.
    pub even_default: bool,
}

impl Default for SoftSurface {
    /// MuJoCo's defaults: with another surface of the same they mean a rigid contact.
    fn default() -> Self {
        Self {
            law: SoftLaw::default(),
            mix: 1.0,
            cone: ConeScaling::default(),
            even_default: false,
        }
    }
}

impl SoftSurface {
    /// Checks that all numbers are finite; `shape` is the name of its owner in the error.
    pub(crate) fn check(&self, shape: &str) -> Result<(), WorldError> {
        let Self { law, mix, cone, .. } = self;
        check_law(law, shape)?;
        check_numbers([mix, &cone.impedance_ratio].into_iter(), shape)
    }
}

/// Checks that the numbers of a soft law are finite; `owner` is its name in the error.
pub(crate) fn check_law(law: &SoftLaw, owner: &str) -> Result<(), WorldError> {
    check_numbers(law.reference.iter().chain(&law.impedance), owner)
}

fn check_numbers<'a>(
    mut numbers: impl Iterator<Item = &'a f64>,
    owner: &str,
) -> Result<(), WorldError> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(found) => Err(WorldError::Surface {
            shape: owner.to_owned(),
            what: "softness",
            found: *found,
            expected: "finite numbers",
        }),
    }
}

/// Softness of two surfaces in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPairing {
    /// Parameters of the law.
    pub law: SoftLaw,
    /// The cone of their model.
    pub cone: ConeScaling,
}

impl SoftPairing {
    /// Combines two surfaces; `None` if the contact is rigid: neither is soft, or the mixture is MuJoCo's default,
    /// by which it makes rigid contact solvable, unless a surface is soft then as well. A surface that is not soft mixes as one of MuJoCo's defaults. Of
    /// two different cones the elliptic one and the larger ratio count.
    pub fn of(a: Option<&SoftSurface>, b: Option<&SoftSurface>) -> Option<Self> {
        let mixed = match (a, b) {
            (None, None) => return None,
            (Some(a), None) => Self { law: mix(a, &SoftSurface::default()), cone: a.cone },
            (None, Some(b)) => Self { law: mix(&SoftSurface::default(), b), cone: b.cone },
            (Some(a), Some(b)) => {
                let ratio = a.cone.impedance_ratio.max(b.cone.impedance_ratio);
                let pyramidal = a.cone.pyramidal && b.cone.pyramidal;
                let cone = ConeScaling { pyramidal, impedance_ratio: ratio };
                Self { law: mix(a, b), cone }
            }
        };
        let even_default = [a, b].into_iter().flatten().any(|surface| surface.even_default);
        if even_default { Some(mixed) } else { mixed.unless_default() }
    }

    /// `None` if the parameters are MuJoCo's defaults, which mean a rigid contact.
    pub fn unless_default(self) -> Option<Self> {
        (self.law != SoftLaw::default()).then_some(self)
    }

    /// Factors of Â (1 − d)/d in the compliances of the normal row and of the tangential rows [-], for a
    /// coefficient of friction.
    fn scales(&self, friction: f64, resistance: Resistance) -> (f64, f64) {
        let ratio = self.cone.impedance_ratio.max(f64::MIN_POSITIVE);
        let rows = match resistance {
            Resistance::Nothing => return (1.0, 0.0),
            Resistance::Sliding => 2.0,
            Resistance::Spinning => 3.0,
            Resistance::Rolling => 5.0,
        };
        if !self.cone.pyramidal {
            return (1.0, 1.0 / ratio);
        }
        let square = friction.max(LEAST_FRICTION).powi(2);
        let tangential = (1.0 + square) / ratio;
        (square * tangential / rows, tangential)
    }
}

/// MuJoCo's mixture: weighted by `solmix`, evenly if both weights are zero.
fn mix(a: &SoftSurface, b: &SoftSurface) -> SoftLaw {
    const LEAST: f64 = 1e-15;
    let weight = match (a.mix >= LEAST, b.mix >= LEAST) {
        (true, true) => a.mix / (a.mix + b.mix),
        (false, false) => 0.5,
        (has_weight, _) => f64::from(u8::from(has_weight)),
    };
    SoftLaw::mix(&a.law, &b.law, weight)
}

/// A soft contact at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftContactState {
    /// Distance beyond the standoff [m].
    pub gap: f64,
    /// Relative velocity along the normal and the tangents [m/s].
    pub velocity: [f64; 3],
    /// Sum of the inverse masses of the bodies [1/kg].
    pub inverse_weight: f64,
    /// Depth beyond which a surface that is still apart must not pass within the step [m].
    pub deepest: f64,
}

/// Bias [m/s] and compliance [1/kg] of the three rows of a contact.
pub(crate) type ContactRows = ([f64; 3], [f64; 3]);

/// The rows of a soft contact; `None` if it gets none.
pub(crate) fn rows(
    soft: &SoftPairing,
    pairing: &Pairing,
    parameters: &RowParameters,
    state: &SoftContactState,
) -> Option<ContactRows> {
    let (h, alpha) = (parameters.time_step, parameters.alpha);
    let SoftContactState { gap, velocity, inverse_weight, deepest } = *state;
    if gap >= 0.0 {
        let passes = gap + h * velocity[0] < -deepest;
        return passes.then(|| ([(gap + deepest) / h, 0.0, 0.0], [0.0; 3]));
    }
    let (normal, tangential) = soft.scales(pairing.friction, pairing.resistance);
    // The law is on the next velocity, rows are on a mean of the present and the next.
    let row = |velocity: f64, position: f64, scale: f64| {
        let error = SoftRowError { position, size: gap, velocity };
        let row = soft.law.row(error, scale * inverse_weight, parameters.law_steps());
        (-(alpha * row.target + (1.0 - alpha) * velocity), alpha * row.compliance)
    };
    let (bias, compliance) = row(velocity[0], gap, normal);
    if parameters.tangential == TangentialLaw::Exact {
        return Some(([bias, 0.0, 0.0], [compliance, 0.0, 0.0]));
    }
    let [first, second] = [1, 2].map(|axis| row(velocity[axis], 0.0, tangential));
    Some(([bias, first.0, second.0], [compliance, first.1, second.1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_surfaces_of_defaults_are_rigid_and_one_soft_surface_softens_any() {
        let plain = SoftSurface::default();
        assert_eq!(SoftPairing::of(Some(&plain), Some(&plain)), None);
        assert_eq!(SoftPairing::of(None, Some(&plain)), None);
        let law = SoftLaw { reference: [0.1, 1.0], ..SoftLaw::default() };
        let soft = SoftSurface { law, ..plain };
        let expected = SoftLaw { reference: [0.06, 1.0], ..SoftLaw::default() };
        for found in
            [SoftPairing::of(Some(&soft), None), SoftPairing::of(Some(&plain), Some(&soft))]
        {
            let found = found.unwrap().law;
            // One product and one sum.
            assert!((found.reference[0] - expected.reference[0]).abs() <= 1e-17);
            assert_eq!(found.impedance, expected.impedance);
        }
    }

    #[test]
    fn the_weight_of_a_mixture_is_that_of_solmix() {
        let law = SoftLaw { reference: [0.1, 1.0], ..SoftLaw::default() };
        let soft = |mix: f64| SoftSurface { law, mix, ..SoftSurface::default() };
        let plain = |mix: f64| SoftSurface { mix, ..SoftSurface::default() };
        for (a, b, expected) in [(3.0, 1.0, 0.08), (0.0, 0.0, 0.06), (1.0, 0.0, 0.1)] {
            let found = mix(&soft(a), &plain(b)).reference[0];
            assert!((found - expected).abs() <= 1e-16, "{found}");
        }
    }

    #[test]
    fn a_pyramid_of_edges_in_parallel_has_the_normal_compliance_of_its_sum() {
        // Edges c_n ± μ c_t, each with R_e = 2 μ²/impratio (1 + μ²): forces along the normal add up.
        let (mu, ratio): (f64, f64) = (0.7, 3.0);
        let cone = ConeScaling { pyramidal: true, impedance_ratio: ratio };
        let soft = SoftPairing { law: SoftLaw::default(), cone };
        let edge = 2.0 * mu * mu / ratio * (1.0 + mu * mu);
        for (resistance, edges) in
            [(Resistance::Sliding, 4.0), (Resistance::Spinning, 6.0), (Resistance::Rolling, 10.0)]
        {
            let (normal, tangential) = soft.scales(mu, resistance);
            assert!((normal - edge / edges).abs() <= 1e-15);
            // Along a tangent two edges act, with the lever μ.
            assert!((tangential - edge / (2.0 * mu * mu)).abs() <= 1e-15);
        }
        assert_eq!(soft.scales(mu, Resistance::Nothing).0, 1.0);
    }
}
