//! Linear elasticity: exact for small displacements, not invariant under rotations, which it measures
//! as strain.
//!
//! The linear model with R = 1: a constant stiffness. Use it for small vibrations and as a reference;
//! a body that rotates needs another material.

use super::MaterialEntry;

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "linear",
    about: "small strain from the reference shape; measures rotations as strain",
    cite: "Han23, Eq. (7) with R = 1",
    parameters: &["young", "poisson"],
    rotation_invariant: false,
    lagged: false,
    linear: true,
};
