//! Integration of velocities on the configuration space: q ⊕ δt v and its inverse ⊖.
//!
//! Scalars add; quaternions follow the exponential map, q exp(δt ω) with ω in the child's frame, and
//! are normalized afterwards. The translation of a free joint (world axes) and its rotation (body
//! axes) are integrated independently.

use crate::joint::Joint;
use crate::model::Model;

/// `out = q ⊕ dt v` for any velocity `v`, over a time `dt` [s].
pub fn integrate(model: &Model, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
    for joint in &model.joints {
        integrate_joint(joint, q, v, dt, out);
    }
}

/// [`integrate`] of one tree; all arrays are those of the whole model, and the entries of `out` that
/// belong to other trees are unchanged.
#[inline]
pub fn tree_integrate(model: &Model, tree: usize, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
    for joint in &model.joints[model.trees[tree].joints.clone()] {
        integrate_joint(joint, q, v, dt, out);
    }
}

#[inline]
fn integrate_joint(joint: &Joint, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
    let range = joint.q.clone();
    joint.integrate(&q[range.clone()], &v[joint.dofs.clone()], dt, &mut out[range]);
}

/// `out = to ⊖ from`: the velocity that leads from `from` to `to` in unit time, along the shorter
/// rotation.
pub fn difference(model: &Model, from: &[f64], to: &[f64], out: &mut [f64]) {
    for joint in &model.joints {
        let range = joint.q.clone();
        joint.difference(&from[range.clone()], &to[range], &mut out[joint.dofs.clone()]);
    }
}
