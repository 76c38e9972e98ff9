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
/// solvable, and the import does not ask for those as well.
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
    Ok((law != default || build.options.soft_defaults).then_some(law))
}

#[cfg(test)]
mod tests {
    use super::super::testing::model;

    /// The reference of the limit of a joint with a time constant of half a step.
    fn reference(flag: &str) -> [f64; 2] {
        let found = model(&format!(
            "<compiler angle='radian'/><option timestep='0.01'>{flag}</option><worldbody><body>
             <joint range='0 1' solreflimit='0.005 2'/><geom size='1'/></body></worldbody>"
        ));
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        found.world.model().joints()[0].spec.limit_softness.map_or([0.0; 2], |law| law.reference)
    }

    #[test]
    fn without_refsafe_a_short_time_constant_becomes_stiffness_and_damping() {
        assert_eq!(reference(""), [0.005, 2.0]);
        assert_eq!(reference("<flag refsafe='enable'/>"), [0.005, 2.0]);
        // 1/(T ζ)² = 1/0.01² and 2/T; one or two roundings each.
        let [stiffness, damping] = reference("<flag refsafe='disable'/>");
        assert!((stiffness + 1e4).abs() <= 1e-11 && (damping + 400.0).abs() <= 1e-12);
    }
}
