//! Shared by the tests over worlds put into worlds.

use stiction_mech::{Data, kinematics, mass_matrix};
use stiction_sim::{World, WorldBuilder};

/// An empty world with the gravity of another.
pub fn empty(world: &World) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(world.model().gravity());
    builder
}

/// Bits of the mass matrix in the initial configuration.
pub fn mass(world: &World) -> Vec<u64> {
    let (model, mut data) = (world.model(), Data::new(world.model()));
    kinematics(model, model.q0(), &mut data);
    mass_matrix(model, &mut data);
    data.mass.iter().map(|x| x.to_bits()).collect()
}
