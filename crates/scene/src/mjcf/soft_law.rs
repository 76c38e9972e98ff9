//! `solref` and `solimp` of constraints: limits, dry friction, equalities.

use stiction_mech::SoftLaw;

use super::build::Build;
use crate::error::SceneError;
use crate::xml::Element;

/// Least time constant of a reference, in time steps, unless `refsafe` is off [-].
const LEAST_STEPS: f64 = 2.0;

/// The reference of a law. A time constant that is shorter than two steps is raised to that in every step; where `refsafe`
/// is off, it is written as the stiffness 1/(T ζ)² and the damping 2/T that it means, which have no bound.
pub(super) fn reference(build: &Build, [time, ratio]: [f64; 2]) -> [f64; 2] {
    let short = time > 0.0 && ratio > 0.0 && time < LEAST_STEPS * build.settings.time_step;
    if build.flags.safe_reference || !short {
        return [time, ratio];
    }
    [-1.0 / (time * ratio).powi(2), -2.0 / time]
}

/// The law of two attributes; `None` if both are absent or have MuJoCo's defaults, by which it makes exact constraints
/// solvable.
pub(super) fn read(
    build: &Build,
    element: &Element,
    reference: &str,
    impedance: &str,
) -> Result<Option<SoftLaw>, SceneError> {
    let default = SoftLaw::default();
    let law = SoftLaw {
        reference: self::reference(build, element.array_or(reference, default.reference)?),
        impedance: element.array_or(impedance, default.impedance)?,
    };
    Ok((law != default).then_some(law))
}
