//! Linear elasticity: exact for small displacements, wrong for rotations, which it takes for strain.
//!
//! The linear model seen from the reference configuration, R = 1: a constant stiffness. It is there
//! for small vibrations and as a yardstick; a body that turns needs another material.

use super::MaterialEntry;

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "linear",
    about: "small strain from the reference shape; takes rotations for strain",
    cite: "Han23, Eq. (7) with R = 1",
    parameters: &["young", "poisson"],
    rotation_invariant: false,
    lagged: false,
    linear: true,
};
