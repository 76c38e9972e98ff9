//! Parameters of bodies: mass, centre of mass, inertia.

use nalgebra::{Matrix3, Vector3};
use stiction_mech::{BodyId, InertiaError, MassProperties};

use super::error::{ParameterError, owner};
use crate::world::World;

/// A parameter of a body.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Com,
    Inertia,
    Mass,
}

fn mass(world: &World, index: usize) -> Option<MassProperties> {
    world.model.bodies()[index].spec.mass
}

pub(super) fn get(field: Field, world: &World, index: usize, out: &mut [f64]) {
    let Some(mass) = mass(world, index) else { return out.fill(0.0) };
    match field {
        Field::Com => out.copy_from_slice(mass.com().as_slice()),
        // Symmetric: columns are rows.
        Field::Inertia => out.copy_from_slice(mass.inertia().as_slice()),
        Field::Mass => out.fill(mass.mass()),
    }
}

/// The mass properties with one of them changed.
fn changed(
    field: Field,
    old: &MassProperties,
    value: &[f64],
) -> Result<MassProperties, InertiaError> {
    let (mut mass, mut com, mut inertia) = (old.mass(), old.com(), old.inertia());
    match field {
        Field::Com => com = Vector3::from_column_slice(value),
        Field::Inertia => inertia = Matrix3::from_row_slice(value),
        Field::Mass => mass = value[0],
    }
    MassProperties::new_lenient(mass, com, inertia)
}

/// Checks changed mass properties. Those from files may be unphysical, such as point masses; others must not become so.
fn check_changed(field: Field, old: &MassProperties, value: &[f64]) -> Result<(), InertiaError> {
    let new = changed(field, old, value)?;
    let fault = match field {
        Field::Com => None,
        Field::Inertia => new.fault().filter(|_| old.fault().is_none()),
        // The inertia is that of before.
        Field::Mass => {
            let found = new.mass();
            (found == 0.0 && old.mass() > 0.0).then_some(InertiaError::Mass { found })
        }
    };
    fault.map_or(Ok(()), Err)
}

pub(super) fn check(
    field: Field,
    world: &World,
    index: usize,
    value: &[f64],
) -> Result<(), ParameterError> {
    let owner = || owner("body", &world.model.bodies()[index].spec.name, index);
    let Some(old) = mass(world, index) else {
        return match value.iter().find(|x| **x != 0.0) {
            None => Ok(()),
            Some(&found) => {
                let what = match field {
                    Field::Com => "centre of mass",
                    Field::Inertia => "inertia",
                    Field::Mass => "mass",
                };
                let expected = "0: the model gives this body no mass";
                Err(ParameterError::Value { owner: owner(), what, found, expected })
            }
        };
    };
    check_changed(field, &old, value)
        .map_err(|source| ParameterError::Mass { owner: owner(), source })
}

pub(super) fn set(field: Field, world: &mut World, index: usize, value: &[f64]) {
    if let Some(Ok(new)) = mass(world, index).map(|old| changed(field, &old, value)) {
        world.model.set_mass_properties(BodyId(index), new);
        world.forget_inverse_weights();
    }
}
