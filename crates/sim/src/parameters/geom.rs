//! Parameters of the surfaces of shapes.

use stiction_mech::SoftLaw;

use super::error::ParameterError;
use crate::soft_surface::SoftSurface;
use crate::surface::Surface;
use crate::world::World;

/// A parameter of a surface.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Dissipation,
    Friction,
    Restitution,
    RollFriction,
    SoftImpedance,
    SoftReference,
    SpinFriction,
    Stiffness,
}

pub(super) fn get(field: Field, world: &World, index: usize, out: &mut [f64]) {
    let surface = &world.geoms[index].surface;
    let law = surface.soft.map(|soft| soft.law);
    match field {
        Field::Dissipation => out.fill(surface.dissipation),
        Field::Friction => out.fill(surface.friction),
        Field::Restitution => out.fill(surface.restitution),
        Field::RollFriction => out.fill(surface.roll),
        Field::SoftImpedance => {
            out.copy_from_slice(&law.map_or([f64::NAN; 5], |law| law.impedance))
        }
        Field::SoftReference => {
            out.copy_from_slice(&law.map_or([f64::NAN; 2], |law| law.reference))
        }
        Field::SpinFriction => out.fill(surface.spin),
        Field::Stiffness => out.fill(surface.stiffness),
    }
}

/// The surface with one parameter changed.
fn changed(field: Field, world: &World, index: usize, value: &[f64]) -> Surface {
    let mut surface = world.geoms[index].surface;
    match field {
        Field::Dissipation => surface.dissipation = value[0],
        Field::Friction => surface.friction = value[0],
        Field::Restitution => surface.restitution = value[0],
        Field::RollFriction => surface.roll = value[0],
        Field::SpinFriction => surface.spin = value[0],
        Field::Stiffness => surface.stiffness = value[0],
        Field::SoftImpedance | Field::SoftReference if value.iter().all(|x| x.is_nan()) => {
            surface.soft = None;
        }
        Field::SoftImpedance => {
            soften(&mut surface, world, index, |law| law.impedance.copy_from_slice(value));
        }
        Field::SoftReference => {
            soften(&mut surface, world, index, |law| law.reference.copy_from_slice(value));
        }
    }
    surface
}

/// Changes the law of a surface. One that is not soft becomes so, with the other parameters that the world was built
/// with, or MuJoCo's defaults.
fn soften(surface: &mut Surface, world: &World, index: usize, change: impl FnOnce(&mut SoftLaw)) {
    let declared = world.parts.geoms.get(index).and_then(|geom| geom.surface.soft);
    let soft: &mut SoftSurface = surface.soft.get_or_insert(declared.unwrap_or_default());
    change(&mut soft.law);
}

pub(super) fn check(
    field: Field,
    world: &World,
    index: usize,
    value: &[f64],
) -> Result<(), ParameterError> {
    let surface = changed(field, world, index, value);
    surface.check(&world.geoms[index].name).map_err(ParameterError::of_surface)
}

pub(super) fn set(field: Field, world: &mut World, index: usize, value: &[f64]) {
    world.geoms[index].surface = changed(field, world, index, value);
}
