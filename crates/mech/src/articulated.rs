//! Accelerations from forces by the articulated-body algorithm (ABA), without a mass matrix.
//!
//! The recursion of [Featherstone08, Sec. 7.3], eliminating one velocity coordinate at a time, as if
//! a massless body stood between two coordinates of one link. Cost: a 6×6 update per coordinate. It
//! shares only the kinematics with the mass-matrix algorithms, so that tests can compare the two.

use crate::data::Data;
use crate::kinematics::kinematics;
use crate::model::Model;
use crate::spatial::{apply, cross_force, join};
use crate::velocity::velocities;
use nalgebra::{Vector3, Vector6};

/// `out = v̇` [m/s², rad/s²] of the state (`q`, `v`) under the forces `tau` [N, N·m], gravity and
/// inertia, without the armature of tendons. Fills the position stage and the velocities of `data`.
pub fn forward_dynamics_aba(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    out: &mut [f64],
) {
    kinematics(model, q, data);
    velocities(model, v, data);

    // Inertias and bias forces of the single links.
    for link in &model.links {
        let (inertia, V) = (&data.link_inertia[link.body], &data.velocity[link.body]);
        data.articulated[link.body] = inertia.to_matrix();
        data.force[link.body] = cross_force(V, &apply(inertia, V));
    }

    // Leaves to roots: f = I^A a + p^A, first for the bias acceleration, then for each coordinate.
    for link in model.links.iter().rev() {
        let mut I_A = data.articulated[link.body];
        let mut p_A = data.force[link.body] + I_A * data.joint_bias[link.body];
        for dof in link.dofs.clone().rev() {
            let S = data.subspace[dof];
            let U = I_A * S;
            let D = S.dot(&U) + model.armature[dof];
            let u = tau[dof] - S.dot(&p_A);
            I_A -= U * U.transpose() / D;
            p_A += U * (u / D);
            data.articulated_column[dof] = U;
            data.articulated_pivot[dof] = [D, u];
        }
        if let Some(parent) = link.parent {
            data.articulated[parent] += I_A;
            data.force[parent] += p_A;
        }
    }

    // Roots to leaves: accelerations.
    let at_rest: Vector6<f64> = join(Vector3::zeros(), -model.gravity);
    for link in &model.links {
        let mut a = link.parent.map_or(at_rest, |parent| data.acceleration[parent]);
        for dof in link.dofs.clone() {
            let [D, u] = data.articulated_pivot[dof];
            out[dof] = (u - data.articulated_column[dof].dot(&a)) / D;
            a += data.subspace[dof] * out[dof];
        }
        data.acceleration[link.body] = a + data.joint_bias[link.body];
    }
}
