//! Parameters of actuators: gain, bias, force range.

use stiction_mech::{ActuatorBias, ActuatorGain, ActuatorId, ActuatorLaw};

use super::error::{FINITE, ParameterError, owner};
use crate::world::World;

/// A parameter of an actuator.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Bias,
    ForceRange,
    Gain,
}

/// Gain and bias of a law; not numbers for those of a muscle.
fn constants(law: &ActuatorLaw) -> (f64, [f64; 3]) {
    if let ActuatorLaw::General { gain, bias } = law {
        let gain = if let ActuatorGain::Affine([gain, ..]) = gain { *gain } else { f64::NAN };
        let bias = if let ActuatorBias::Affine(bias) = bias { *bias } else { [f64::NAN; 3] };
        return (gain, bias);
    }
    law.affine().unwrap_or((f64::NAN, [f64::NAN; 3]))
}

pub(super) fn get(field: Field, world: &World, index: usize, out: &mut [f64]) {
    let spec = &world.model.actuators()[index].spec;
    let (gain, bias) = constants(&spec.law);
    match field {
        Field::Bias => out.copy_from_slice(&bias),
        Field::ForceRange => out.copy_from_slice(&<[f64; 2]>::from(spec.force_bounds())),
        Field::Gain => out.fill(gain),
    }
}

pub(super) fn check(
    field: Field,
    world: &World,
    index: usize,
    value: &[f64],
) -> Result<(), ParameterError> {
    let spec = &world.model.actuators()[index].spec;
    let wrong = |what, found, expected| {
        Err(ParameterError::Value {
            owner: owner("actuator", &spec.name, index),
            what,
            found,
            expected,
        })
    };
    let (gain, bias) = constants(&spec.law);
    let (what, old) = match field {
        Field::ForceRange if value[0] <= value[1] => return Ok(()),
        Field::ForceRange => {
            let expected = "a number that is not above the upper end";
            return wrong("lower end of the force range", value[0], expected);
        }
        Field::Bias => ("bias", bias[0]),
        Field::Gain => ("gain", gain),
    };
    if old.is_nan() || spec.pid.is_some() {
        let all_same = match field {
            Field::Bias => value.iter().zip(&bias).all(|(x, y)| same(*x, *y)),
            _ => same(value[0], gain),
        };
        let expected = match spec.pid {
            Some(_) => "no change: the gains of a PID servo are fixed",
            None => "not a number: the curves of a muscle are fixed",
        };
        return if all_same { Ok(()) } else { wrong(what, value[0], expected) };
    }
    if let Some(&found) = value.iter().find(|x| !x.is_finite()) {
        return wrong(what, found, FINITE);
    }
    if matches!(field, Field::Bias) && value[1] != 0.0 && !spec.transmission.has_length() {
        return wrong("bias b₁", value[1], "0: its transmission has no length");
    }
    Ok(())
}

fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

pub(super) fn set(field: Field, world: &mut World, index: usize, value: &[f64]) {
    let spec = &world.model.actuators()[index].spec;
    let (mut law, mut force_range) = (spec.law, spec.force_range);
    match (field, &mut law) {
        (Field::ForceRange, _) => {
            let is_bounded = value.iter().any(|x| x.is_finite());
            force_range = is_bounded.then_some((value[0], value[1]));
        }
        (Field::Gain, ActuatorLaw::General { gain: ActuatorGain::Affine([gain, ..]), .. }) => {
            *gain = value[0];
        }
        (Field::Bias, ActuatorLaw::General { bias: ActuatorBias::Affine(bias), .. }) => {
            bias.copy_from_slice(value);
        }
        (_, ActuatorLaw::General { .. }) => {}
        (field, law) => {
            let (mut gain, mut bias) = law.affine().unwrap_or_default();
            match field {
                Field::Gain => gain = value[0],
                _ => bias.copy_from_slice(value),
            }
            *law = ActuatorLaw::Affine { gain, bias };
        }
    }
    world.model.set_actuator(ActuatorId(index), law, force_range);
}
