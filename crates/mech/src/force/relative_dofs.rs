//! The velocities that move one body relative to another, and the motion of points per velocity.

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use crate::spatial::{angular, linear};
use nalgebra::Vector3;

/// Calls `visit(dof, tree, moves_b)` for every velocity that moves one of two bodies and not the
/// other. Velocities that move both do not change the distances between their points.
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
        let moves_b = dof_b > dof_a;
        let (next, tree) = if moves_b { (&mut dof_b, tree_b) } else { (&mut dof_a, tree_a) };
        let (Some(dof), Some(tree)) = (*next, tree) else { return };
        visit(dof, tree, moves_b);
        *next = parent_dof(model, dof, tree);
    }
}

/// The parent of a velocity, towards the root.
#[inline]
fn parent_dof(model: &Model, dof: usize, tree: usize) -> Option<usize> {
    model.dof_parents()[dof].map(|parent| model.trees()[tree].dofs.start + parent as usize)
}

/// Velocity [m/s] of the point P at `p_WP` [m] at unit velocity of `dof`, world frame.
#[inline]
pub(crate) fn point_rate(data: &Data, dof: usize, tree: usize, p_WP: Vector3<f64>) -> Vector3<f64> {
    let S = &data.subspace[dof];
    linear(S) + angular(S).cross(&(p_WP - data.reference[tree]))
}
