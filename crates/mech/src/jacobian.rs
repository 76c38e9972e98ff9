//! Jacobians of points of bodies, and generalized forces of wrenches on bodies.
//!
//! The column of a coordinate is its motion vector S, shifted from the tree's reference point to the
//! point of the body [Featherstone08, Ch. 4]; only the coordinates between the body and the root have
//! a non-zero column. All functions need the position stage of [`Data`].

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use crate::spatial::{angular, join, linear};
use nalgebra::{Vector3, Vector6};
use stiction_math::branch::ancestors;

/// Calls `column(dof, angular, linear)` for each coordinate on which the velocity of the body
/// depends, from the body to the root: the body's angular velocity [rad/s] and the velocity [m/s] of
/// its point at `point` [m] per unit of the coordinate's velocity; all in the world frame.
#[inline]
pub fn for_each_column(
    model: &Model,
    data: &Data,
    body: BodyId,
    point: Vector3<f64>,
    mut column: impl FnMut(usize, Vector3<f64>, Vector3<f64>),
) {
    let (Some(tree), Some(last)) = (model.tree(body), model.last_dof(body)) else { return };
    let (start, arm) = (model.trees[tree].dofs.start, point - data.reference[tree]);
    let parents = &model.dof_parents[model.trees[tree].dofs.clone()];
    for local in ancestors(parents, Some((last - start) as u32)) {
        let S = &data.subspace[start + local];
        let w = angular(S);
        column(start + local, w, linear(S) + w.cross(&arm));
    }
}

/// Writes the 6 × nv Jacobian, row-major: three rows for the body's angular velocity, three for
/// the velocity of its point at `point` [m]; all in the world frame.
pub fn jacobian(model: &Model, data: &Data, body: BodyId, point: Vector3<f64>, out: &mut [f64]) {
    let nv = model.nv();
    out[..6 * nv].fill(0.0);
    for_each_column(model, data, body, point, |dof, angular, linear| {
        for k in 0..3 {
            out[k * nv + dof] = angular[k];
            out[(3 + k) * nv + dof] = linear[k];
        }
    });
}

/// Adds to `out` the generalized forces [N, N·m] of a torque [N·m] on a body and a force [N] on its
/// point at `point` [m]; all in the world frame.
pub fn apply_wrench(
    model: &Model,
    data: &Data,
    body: BodyId,
    point: Vector3<f64>,
    torque: Vector3<f64>,
    force: Vector3<f64>,
    out: &mut [f64],
) {
    let Some(tree) = model.tree(body) else { return };
    let moment = torque + (point - data.reference[tree]).cross(&force);
    project(model, data, model.last_dof(body), tree, &join(moment, force), out);
}

/// `out += Sᵀ wrench` for `last` and its ancestors, with the wrench about the tree's reference point.
#[inline]
pub(crate) fn project(
    model: &Model,
    data: &Data,
    last: Option<usize>,
    tree: usize,
    wrench: &Vector6<f64>,
    out: &mut [f64],
) {
    let Some(last) = last else { return };
    let dofs = model.trees[tree].dofs.clone();
    let parents = &model.dof_parents[dofs.clone()];
    for local in ancestors(parents, Some((last - dofs.start) as u32)) {
        out[dofs.start + local] += data.subspace[dofs.start + local].dot(wrench);
    }
}
