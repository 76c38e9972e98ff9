//! Parameters of joints: damping, armature, spring, dry friction, range.

use stiction_mech::{JointId, JointParameters};

use super::error::{FINITE, NOT_NEGATIVE, ParameterError, owner};
use crate::world::World;

/// A parameter of a joint.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Armature,
    Damping,
    FrictionLoss,
    Range,
    SpringReference,
    Stiffness,
}

pub(super) fn get(field: Field, world: &World, index: usize, out: &mut [f64]) {
    let now = JointParameters::of(&world.model.joints()[index].spec);
    match field {
        Field::Armature => out.fill(now.armature),
        Field::Damping => out.fill(now.damping),
        Field::FrictionLoss => out.fill(now.friction_loss),
        Field::Range => out.copy_from_slice(&[now.range.0, now.range.1]),
        Field::SpringReference => out.fill(now.spring_reference),
        Field::Stiffness => out.fill(now.stiffness),
    }
}

pub(super) fn check(
    field: Field,
    world: &World,
    index: usize,
    value: &[f64],
) -> Result<(), ParameterError> {
    let spec = &world.model.joints()[index].spec;
    let wrong = |what, found, expected| {
        Err(ParameterError::Value {
            owner: owner("joint", &spec.name, index),
            what,
            found,
            expected,
        })
    };
    let what = match field {
        Field::Armature => "armature",
        Field::Damping => "damping",
        Field::FrictionLoss => "dry friction",
        Field::Range => {
            let (lower, upper) = (value[0], value[1]);
            return match spec.limit {
                None if lower.is_nan() && upper.is_nan() => Ok(()),
                None => {
                    let expected = "not a number: the model gives this joint no limits";
                    wrong("range", lower, expected)
                }
                // One end may be infinite; comparisons with NaN are false.
                Some(_) if lower <= upper => Ok(()),
                Some(_) => {
                    let expected = "a number that is not above the upper end";
                    wrong("lower end of the range", lower, expected)
                }
            };
        }
        Field::SpringReference if value[0].is_finite() => return Ok(()),
        Field::SpringReference => return wrong("rest position of the spring", value[0], FINITE),
        Field::Stiffness => "stiffness",
    };
    match value[0] {
        x if x >= 0.0 && x.is_finite() => Ok(()),
        x => wrong(what, x, NOT_NEGATIVE),
    }
}

pub(super) fn set(field: Field, world: &mut World, index: usize, value: &[f64]) {
    let mut next = JointParameters::of(&world.model.joints()[index].spec);
    match field {
        Field::Armature => next.armature = value[0],
        Field::Damping => next.damping = value[0],
        Field::FrictionLoss => next.friction_loss = value[0],
        Field::Range => next.range = (value[0], value[1]),
        Field::SpringReference => next.spring_reference = value[0],
        Field::Stiffness => next.stiffness = value[0],
    }
    world.model.set_joint(JointId(index), &next);
    if matches!(field, Field::Armature) {
        world.forget_inverse_weights();
    }
}
