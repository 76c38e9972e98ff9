//! Linear elasticity in a frame that turned with the element up to the start of the step.
//!
//! R is the rotation of F at the last [`update_rotations`](crate::SoftBody::update_rotations), so that forces are linear
//! in the positions during a step and the stiffness is constant and positive semi-definite without
//! any clamp [Han23, Sec. V-B and Appendix]. A turn by δ within a step is taken for a strain of
//! cos δ − 1.

use super::MaterialEntry;

pub(super) const ENTRY: MaterialEntry = MaterialEntry {
    name: "linear-corotated",
    about: "small strain in a frame that turns with each element, fixed during a step",
    cite: "Han23, Sec. V-B",
    parameters: &["young", "poisson"],
    rotation_invariant: true,
    lagged: true,
    linear: true,
};
