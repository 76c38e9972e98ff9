//! `<actuator>`: where forces act ([`transmission`]) and how they follow from controls ([`law`]).
//!
//! An unsupported actuator is listed and exerts no force, so that controls keep their numbers. Damping
//! ratios and muscles refer to the mechanism at its reference configuration ([`reference`]).

mod dcmotor;
mod law;
pub(super) mod length_range;
mod muscle;
pub(super) mod pid;
mod reference;
mod transmission;

use stiction_mech::{
    ActivationDynamics, ActivationSpec, ActuatorBias, ActuatorGain, ActuatorLaw, ActuatorSpec,
    Transmission,
};

use super::build::Build;
use super::defaults::ACTUATORS;
use super::resolve;
use crate::error::SceneError;
use crate::xml::Element;
use law::{Dynamics, Law, LawTerm};
use muscle::MuscleDraft;
use transmission::ActuatorTarget;

/// Reads a section.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    let mut found = Vec::new();
    for element in &section.children {
        if ACTUATORS.contains(&element.tag.as_str()) {
            found.push((element, actuator(build, element)?));
        }
    }
    reference::resolve(build, &mut found)?;
    for (element, made) in found {
        let name = made.spec.name.clone();
        let id = build.world.mechanism.actuator(made.spec);
        build.actuators.add(element, &name, id)?;
        build.actuator_parts.push(element.part);
    }
    Ok(())
}

/// An actuator, and what its law is still to get from the mechanism.
struct ActuatorDraft {
    spec: ActuatorSpec,
    damping_ratio: Option<f64>,
    muscle: Option<MuscleDraft>,
}

fn actuator(build: &mut Build, element: &Element) -> Result<ActuatorDraft, SceneError> {
    let law = Law::of(&resolve::layers(element), &build.plugins)?;
    let reach = transmission::read(build, element, &law.gear, law.rod)?;
    let mut spec = ActuatorSpec::motor(element.get("name").unwrap_or(""), transmission::nowhere());
    if build.flags.clamp_control {
        spec.control_range = control_range(build, element, &law, &reach)?;
    }
    spec.force_range = limited(build, element, "forcelimited", law.force_limited, law.force_range)?;
    spec.activation = activation(build, element, &law, &reach)?;
    spec.delay = law.delay;
    spec.pid = law.controller(element)?;
    if let Some(pid) = spec.pid.as_mut().filter(|_| law.inputs.has_one_range) {
        (pid.velocity_range, pid.feedforward_range) = (spec.control_range, spec.control_range);
    }
    if spec.pid.is_some() && (law.activation_limited == Some(true) || law.early) {
        build.report_unsupported(&element.place, format!("<{}> actlimited, actearly", element.tag));
    }
    for what in &law.lost {
        build.report_unsupported(&element.place, format!("<{}> {what}", element.tag));
    }
    add_inertia(build, element, &law, &reach);
    let disabled = !build.flags.actuation || build.flags.disabled_groups.contains(&law.group);
    let terms = match law.terms() {
        Ok(terms) => {
            (spec.transmission, spec.gear) = reach.place;
            Some(terms).filter(|_| !disabled)
        }
        Err(what) => {
            let what = format!("<{}> {what}; it exerts no force", element.tag);
            build.report_unsupported(&element.place, what);
            None
        }
    };
    let is_wrench =
        matches!(spec.transmission, Transmission::Body { .. } | Transmission::Contacts(_));
    let has_length = reach.has_length && !is_wrench;
    let (gain, bias) = match terms {
        Some((LawTerm::Affine(gain), LawTerm::Affine(bias))) => (gain, bias),
        Some(terms) if has_length => {
            let given =
                law.length_range.filter(|_| build.compiler(element).length_range.use_existing);
            let muscle = MuscleDraft::new(terms, given);
            return Ok(ActuatorDraft { spec, damping_ratio: None, muscle: Some(muscle) });
        }
        terms => {
            if terms.is_some() {
                let what = format!("<{}> a muscle without length; it exerts no force", element.tag);
                build.report_unsupported(&element.place, what);
            }
            exert_nothing(&mut spec);
            return Ok(ActuatorDraft { spec, damping_ratio: None, muscle: None });
        }
    };
    if spec.pid.is_some() && !has_length {
        let what = format!("<{}> a PID servo without length; it exerts no force", element.tag);
        build.report_unsupported(&element.place, what);
        exert_nothing(&mut spec);
        return Ok(ActuatorDraft { spec, damping_ratio: None, muscle: None });
    }
    let ([gain, mut per_length, per_rate], mut bias) = (gain, bias);
    // A servo whose rate coefficient is positive gives a ratio of damping there.
    let is_servo = law.is_affine() && (spec.pid.is_some() || gain == -bias[1]);
    let ratio = Some(bias[2]).filter(|ratio| *ratio > 0.0 && is_servo);
    if ratio.is_some() {
        bias[2] = 0.0;
    }
    if !has_length {
        (per_length, bias[1]) = (0.0, 0.0);
    }
    spec.law = match [per_length, per_rate] {
        [0.0, 0.0] if spec.pid.is_some() => ActuatorLaw::Affine { gain, bias },
        [0.0, 0.0] => simplest_law(gain, bias),
        _ => ActuatorLaw::General {
            gain: ActuatorGain::Affine([gain, per_length, per_rate]),
            bias: ActuatorBias::Affine(bias),
        },
    };
    Ok(ActuatorDraft { spec, damping_ratio: ratio, muscle: None })
}

/// Adds inertia and damping of an actuator to the joint or tendon that it moves, multiplied by the square of the first
/// number of its gear, as in MuJoCo.
fn add_inertia(build: &mut Build, element: &Element, law: &Law, reach: &ActuatorTarget) {
    if law.armature == 0.0 && law.damping == 0.0 {
        return;
    }
    let damping = if build.flags.damper { law.damping } else { 0.0 };
    let scale = law.gear[0] * law.gear[0];
    let mechanism = &mut build.world.mechanism;
    let joint = match reach.place.0 {
        Transmission::Joint(joint) | Transmission::JointDof(joint, _) => joint,
        Transmission::JointWrench(wrench) => wrench.joint,
        Transmission::Tendon(tendon) => {
            if let Some(tendon) = mechanism.tendon_mut(tendon) {
                tendon.armature += scale * law.armature;
                tendon.damping += scale * damping;
            }
            return;
        }
        _ => {
            let what = format!("<{}> armature or damping without joint or tendon", element.tag);
            build.report_unsupported(&element.place, what);
            return;
        }
    };
    if let Some(joint) = mechanism.joint_mut(joint) {
        joint.armature += scale * law.armature;
        joint.damping += scale * damping;
    }
}

/// Leaves an actuator without force; its activation, if it has one, stays as it is.
fn exert_nothing(spec: &mut ActuatorSpec) {
    spec.law = ActuatorLaw::Affine { gain: 0.0, bias: [0.0; 3] };
    spec.pid = None;
    if let Some(activation) = &mut spec.activation {
        activation.dynamics = ActivationDynamics::Constant;
    }
}

/// The activation of an actuator, if it has one.
fn activation(
    build: &Build,
    element: &Element,
    law: &Law,
    reach: &ActuatorTarget,
) -> Result<Option<ActivationSpec>, SceneError> {
    let Some(dynamics) = law.activation() else {
        if law.activation_limited == Some(true) && law.dynamics != Dynamics::Pid {
            return Err(element.error("actlimited, and no activation; expected a dyntype"));
        }
        return Ok(None);
    };
    let inherited = law.inherited_range().filter(|_| law.integrates());
    let range = match inherited {
        Some(share) => inherited_range(element, share, reach)?,
        None => {
            let (said, range) = (law.activation_limited, law.activation_range);
            limited(build, element, "actlimited", said, range)?
        }
    };
    Ok(Some(ActivationSpec { dynamics, range, early: law.early }))
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
    let Some(share) = law.inherited_range().filter(|_| !law.integrates()) else {
        return limited(build, element, "ctrllimited", law.control_limited, law.control_range);
    };
    inherited_range(element, share, reach)
}

/// A share of the range of what is moved, about its middle.
fn inherited_range(
    element: &Element,
    share: f64,
    reach: &ActuatorTarget,
) -> Result<Option<(f64, f64)>, SceneError> {
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
        None => Ok(ordered.filter(|_| build.compiler(element).autolimits)),
    }
}

#[cfg(test)]
#[path = "actuator_tests.rs"]
mod tests;
