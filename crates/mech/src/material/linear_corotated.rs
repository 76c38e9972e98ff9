//! Linear elasticity in a frame that rotates with the element, updated at the start of a step.
//!
//! R is the rotation of F at the last [`update_rotations`](crate::SoftBody::update_rotations), so that
//! forces are linear in the positions during a step and the stiffness is constant and positive
//! semi-definite without projection [Han23, Sec. V-B and Appendix]. A rotation by δ within a step
//! appears as a strain of cos δ − 1.

use super::MaterialEntry;

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "linear-corotated",
    about: "small strain in a frame that rotates with each element, fixed during a step",
    cite: "Han23, Sec. V-B",
    parameters: &["young", "poisson"],
    rotation_invariant: true,
    lagged: true,
    linear: true,
};
