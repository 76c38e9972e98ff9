//! `<actuator>`: where forces act ([`transmission`]) and how they follow from controls ([`law`]).
//!
//! An unsupported actuator is listed and exerts no force, so that controls keep
//! their numbers. Activation states are not modelled: a filter of the control is left out, other
//! dynamics leave the actuator without force.

mod damping;
mod law;
mod transmission;

use stiction_mech::{ActuatorLaw, ActuatorSpec, Transmission};

use super::build::Build;
use super::defaults::ACTUATORS;
use crate::error::SceneError;
use crate::xml::Element;
use law::Law;
use transmission::ActuatorTarget;

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    let mut found = Vec::new();
    for element in &section.children {
        if ACTUATORS.contains(&element.tag.as_str()) {
            found.push((element, actuator(build, element)?));
        }
    }
    damping::resolve(build, &mut found)?;
    for (element, made) in found {
        let name = made.spec.name.clone();
        let id = build.world.mechanism.actuator(made.spec);
        build.actuators.add(element, &name, id)?;
    }
    Ok(())
}

/// An actuator, and the ratio of damping that its law is still to get.
struct ActuatorDraft {
    spec: ActuatorSpec,
    damping_ratio: Option<f64>,
}

fn actuator(build: &mut Build, element: &Element) -> Result<ActuatorDraft, SceneError> {
    let law = Law::of(&build.defaults.layers(element, None)?)?;
    let reach = transmission::read(build, element, &law.gear)?;
    let mut spec = ActuatorSpec::motor(element.get("name").unwrap_or(""), transmission::nowhere());
    if build.flags.clamp_control {
        spec.control_range = control_range(build, element, &law, &reach)?;
    }
    spec.force_range = limited(build, element, "forcelimited", law.force_limited, law.force_range)?;
    for what in &law.lost {
        build.report_unsupported(&element.place, format!("<{}> {what}", element.tag));
    }
    let disabled = !build.flags.actuation || build.flags.disabled_groups.contains(&law.group);
    let answer = match (law.answer(), reach.place) {
        (Ok(answer), Ok((place, gear))) => {
            (spec.transmission, spec.gear) = (place, gear);
            Some(answer).filter(|_| !disabled)
        }
        (answer, place) => {
            if let Some(what) = answer.err().or(place.err()) {
                let what = format!("<{}> {what}; it exerts no force", element.tag);
                build.report_unsupported(&element.place, what);
            }
            None
        }
    };
    let Some((gain, mut bias)) = answer else {
        spec.law = ActuatorLaw::Affine { gain: 0.0, bias: [0.0; 3] };
        return Ok(ActuatorDraft { spec, damping_ratio: None });
    };
    // A servo whose rate coefficient is positive gives a ratio of damping there.
    let ratio = Some(bias[2]).filter(|ratio| *ratio > 0.0 && gain == -bias[1] && law.is_affine());
    if ratio.is_some() {
        bias[2] = 0.0;
    }
    if !reach.has_length || matches!(spec.transmission, Transmission::Body { .. }) {
        bias[1] = 0.0;
    }
    spec.law = simplest_law(gain, bias);
    Ok(ActuatorDraft { spec, damping_ratio: ratio })
}

/// The law in its simplest form: motor, position, velocity or affine.
fn simplest_law(gain: f64, bias: [f64; 3]) -> ActuatorLaw {
    match (gain, bias) {
        (1.0, [0.0, 0.0, 0.0]) => ActuatorLaw::Motor,
        (kp, [0.0, b_length, b_rate]) if kp > 0.0 && b_length == -kp && b_rate <= 0.0 => {
            ActuatorLaw::Position { kp, kd: -b_rate }
        }
        (kd, [0.0, 0.0, b_rate]) if kd > 0.0 && b_rate == -kd => ActuatorLaw::Velocity { kd },
        (gain, bias) => ActuatorLaw::Affine { gain, bias },
    }
}

/// The range of the control: as written, or that of what is moved.
fn control_range(
    build: &Build,
    element: &Element,
    law: &Law,
    reach: &ActuatorTarget,
) -> Result<Option<(f64, f64)>, SceneError> {
    let Some(share) = law.inherited_range() else {
        return limited(build, element, "ctrllimited", law.control_limited, law.control_range);
    };
    match reach.range {
        Some((lower, upper)) if lower < upper => {
            let (middle, radius) = (0.5 * (lower + upper), 0.5 * share * (upper - lower));
            Ok(Some((middle - radius, middle + radius)))
        }
        _ => Err(element.error("inheritrange, and no range; expected a joint or tendon with one")),
    }
}

/// A range if it counts.
fn limited(
    build: &Build,
    element: &Element,
    name: &str,
    said: Option<bool>,
    range: Option<(f64, f64)>,
) -> Result<Option<(f64, f64)>, SceneError> {
    let ordered = range.filter(|(lower, upper)| lower < upper);
    match said {
        Some(true) if ordered.is_none() => {
            Err(element.error(format_args!("{name}, and no range; expected lower < upper")))
        }
        Some(said) => Ok(ordered.filter(|_| said)),
        None if range.is_some_and(|(lower, upper)| lower > upper) => {
            let attribute = name.replace("limited", "range");
            Err(element.wrong(&attribute, "two numbers in increasing order"))
        }
        None => Ok(ordered.filter(|_| build.compiler.autolimits)),
    }
}

#[cfg(test)]
#[path = "actuator_tests.rs"]
mod tests;
