//! The velocities that move one body relative to another, and what they do to a point.

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use crate::spatial::{angular, linear};
use nalgebra::Vector3;

/// Calls `visit(dof, tree, carries_b)` for every velocity that moves one of two bodies and not the
/// other. Velocities that move both leave every distance between them as it is.
#[inline]
pub(crate) fn for_each_relative_dof(
    model: &Model,
    a: BodyId,
    b: BodyId,
    mut visit: impl FnMut(usize, usize, bool),
) {
    let (tree_a, tree_b) = (model.tree(a), model.tree(b));
    let (mut dof_a, mut dof_b) = (model.last_dof(a), model.last_dof(b));
    // Parents come before children: the larger of the two is never an ancestor of the other.
    while dof_a != dof_b {
        let carries_b = dof_b > dof_a;
        let (next, tree) = if carries_b { (&mut dof_b, tree_b) } else { (&mut dof_a, tree_a) };
        let (Some(dof), Some(tree)) = (*next, tree) else { return };
        visit(dof, tree, carries_b);
        *next = parent_dof(model, dof, tree);
    }
}

/// The previous velocity on the way to the root.
#[inline]
fn parent_dof(model: &Model, dof: usize, tree: usize) -> Option<usize> {
    model.dof_parents()[dof].map(|parent| model.trees()[tree].dofs.start + parent as usize)
}

/// Velocity [m/s] of the point `p_W` [m] at unit velocity of `dof`.
#[inline]
pub(crate) fn point_rate(data: &Data, dof: usize, tree: usize, p_W: Vector3<f64>) -> Vector3<f64> {
    let S = &data.subspace[dof];
    linear(S) + angular(S).cross(&(p_W - data.reference[tree]))
}
