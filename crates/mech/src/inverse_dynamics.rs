//! Forces that produce given accelerations, by the recursive Newton-Euler algorithm (RNEA).
//!
//! a_i = a_parent + S_i v̇_i + Ṡ_i v_i with −g at the world, f_i = I_i a_i + V_i ×* I_i V_i, and
//! τ_i = S_iᵀ Σ f_j over i and its descendants j [Featherstone08, Sec. 5.3]. All spatial vectors of a
//! tree are taken at one point, so the recursion needs no coordinate transforms. Gravity
//! compensation, springs and damping are applied forces and not included.

use crate::data::Data;
use crate::model::{Link, Model, TreeRange};
use crate::spatial::{apply, cross_force, join};
use crate::tendon::inertia;
use crate::velocity::velocities;
use nalgebra::{Vector3, Vector6};

/// `out = M a + bias` [N, N·m] for velocities `v` and accelerations `a`, armature included. Needs
/// the position stage of `data`; fills the velocity stage.
pub fn inverse_dynamics(model: &Model, data: &mut Data, v: &[f64], a: &[f64], out: &mut [f64]) {
    velocities(model, v, data);
    for (index, tree) in model.trees.iter().enumerate() {
        newton_euler(model, tree, Some(a), data, out);
        inertia::add_bias(model, index, data, out);
        inertia::add_inertial_force(model, index, a, data, out);
    }
    for (dof, force) in out.iter_mut().enumerate() {
        *force += model.armature[dof] * a[dof];
    }
}

/// The two passes over one tree; without `a` all accelerations are zero.
#[inline]
pub(crate) fn newton_euler(
    model: &Model,
    tree: &TreeRange,
    a: Option<&[f64]>,
    data: &mut Data,
    out: &mut [f64],
) {
    let links = &model.links[tree.links.clone()];
    let at_rest = join(Vector3::zeros(), -model.gravity);
    for link in links {
        let mut acceleration = match link.parent {
            Some(parent) => data.acceleration[parent],
            None => at_rest,
        };
        acceleration += data.joint_bias[link.body];
        if let Some(a) = a {
            for dof in link.dofs.clone() {
                acceleration += data.subspace[dof] * a[dof];
            }
        }
        let (inertia, V) = (&data.link_inertia[link.body], &data.velocity[link.body]);
        data.force[link.body] = apply(inertia, &acceleration) + cross_force(V, &apply(inertia, V));
        data.acceleration[link.body] = acceleration;
    }
    project_forces(links, data, out);
}

/// Weights of the links of a tree, as forces that hold them: the two passes at v = 0.
pub(crate) fn hold_weights(model: &Model, tree: &TreeRange, data: &mut Data, out: &mut [f64]) {
    let links = &model.links[tree.links.clone()];
    let lift = -model.gravity;
    for link in links {
        let inertia = &data.link_inertia[link.body];
        data.force[link.body] = join(inertia.moment.cross(&lift), inertia.mass * lift);
    }
    project_forces(links, data, out);
}

/// `out = S_iᵀ Σ f_j` over each link i and its descendants j, whose forces are added up on the way to the root.
#[inline(always)]
fn project_forces(links: &[Link], data: &mut Data, out: &mut [f64]) {
    for link in links.iter().rev() {
        let force: Vector6<f64> = data.force[link.body];
        for dof in link.dofs.clone() {
            out[dof] = data.subspace[dof].dot(&force);
        }
        if let Some(parent) = link.parent {
            data.force[parent] += force;
        }
    }
}
