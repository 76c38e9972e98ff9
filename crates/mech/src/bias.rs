//! Coriolis, centrifugal and gravity forces: the forces that keep v̇ = 0.
//!
//! Computed by the recursive Newton-Euler algorithm with zero acceleration. One link on a free joint
//! has a closed form in body axes: with the centre of mass c and gravity g in the body frame,
//! f = m (ω × (ω × c) − g) and n = ω × I_c ω + c × f. The sign is that of MuJoCo's `qfrc_bias`:
//! M v̇ + bias = τ. Gravity compensation is not included; see [`gravity_compensation`].

use crate::data::Data;
use crate::inverse_dynamics::{hold_weights, newton_euler, newton_euler_at};
use crate::jacobian::project;
use crate::model::{Link, Model};
use crate::spatial::join;
use crate::tendon::inertia;
use nalgebra::Vector3;

/// Fills `bias` of `data` [N, N·m]. Needs the velocity stage of `data` for the same `v`.
pub fn bias_forces(model: &Model, v: &[f64], data: &mut Data) {
    for tree in 0..model.trees.len() {
        tree_bias_forces(model, tree, v, data);
    }
}

/// [`bias_forces`] of one tree; `v` is that of the whole model.
#[inline]
pub fn tree_bias_forces(model: &Model, tree: usize, v: &[f64], data: &mut Data) {
    let (index, tree) = (tree, &model.trees[tree]);
    // Moved out for the call, so that the recursion can borrow `data` mutably beside it.
    let mut bias = std::mem::take(&mut data.bias);
    if tree.single {
        let link = &model.links[tree.links.start];
        single_body_bias(model, link, &v[tree.dofs.clone()], data, &mut bias[tree.dofs.clone()]);
    } else {
        newton_euler(model, tree, None, data, &mut bias);
        inertia::add_bias(model, index, data, &mut bias);
    }
    data.bias = bias;
}

/// [`tree_bias_forces`] at velocities `v` for which the velocity stage of `data` need not be filled, and which it leaves as it
/// is. Not for trees with inertia of tendons.
pub fn tree_bias_forces_at(model: &Model, tree: usize, v: &[f64], data: &mut Data) {
    let range = &model.trees[tree];
    if range.single {
        return tree_bias_forces(model, tree, v, data);
    }
    let mut bias = std::mem::take(&mut data.bias);
    newton_euler_at(model, range, v, data, &mut bias);
    data.bias = bias;
}

/// The part of [`tree_bias_forces`] that does not depend on velocities, the weights of the bodies of a tree with several links
/// [N, N·m]; `out` is that of the whole model. Needs the position stage of `data`.
pub fn tree_gravity_forces(model: &Model, tree: usize, data: &mut Data, out: &mut [f64]) {
    hold_weights(model, &model.trees[tree], data, out);
}

/// The closed form for one link on a free joint.
#[inline]
fn single_body_bias(model: &Model, link: &Link, v: &[f64], data: &Data, bias: &mut [f64]) {
    let w_WB_B = Vector3::new(v[3], v[4], v[5]);
    let gyroscopic_B = w_WB_B.cross(&(link.inertia * w_WB_B));
    let (mut force_W, mut torque_B) = (-link.mass * model.gravity, gyroscopic_B);
    if link.com != Vector3::zeros() {
        let R_WB = data.body_pose[link.body].rotation;
        let centripetal_B = link.mass * w_WB_B.cross(&w_WB_B.cross(&link.com));
        torque_B += link.com.cross(&(centripetal_B + R_WB.inverse_transform_vector(&force_W)));
        force_W += R_WB * centripetal_B;
    }
    bias[..3].copy_from_slice(force_W.as_slice());
    bias[3..6].copy_from_slice(torque_B.as_slice());
}

/// Adds to `out` the generalized forces [N, N·m] that cancel the compensated part of the bodies'
/// weight. Needs the position stage of `data`.
pub fn gravity_compensation(model: &Model, data: &Data, out: &mut [f64]) {
    for link in &model.links {
        if link.compensated_mass == 0.0 && link.compensated_moment == Vector3::zeros() {
            continue;
        }
        let Some(tree) = model.bodies[link.body].tree else { continue };
        let X_WB = &data.body_pose[link.body];
        let p_OB_W = X_WB.translation.vector - data.reference[tree];
        let moment_W = link.compensated_mass * p_OB_W + X_WB.rotation * link.compensated_moment;
        let lift = -model.gravity;
        let wrench = join(moment_W.cross(&lift), link.compensated_mass * lift);
        project(model, data, link.dofs.end.checked_sub(1), tree, &wrench, out);
    }
}
