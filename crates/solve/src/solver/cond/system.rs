//! The nodalized dynamics `A~ x = b~ + impulses on nodes` [Lee23, Eqs. (15)-(18)], never formed.
//!
//! With unknowns x = (v, y) and couplings K of the virtual nodes,
//! `A~ x = (A v + Jᵀ s, −s)`, `s = K (J v − y)`, J over virtual constraints only; `b~ = (b, 0)`.
//! One product with A, one with J and one with Jᵀ; no memory of its own but x.

use super::node::Nodes;
use crate::contact::DIM;
use crate::problem::Problem;

/// `out = A~ x`.
pub(super) fn product(problem: &Problem, nodes: &Nodes, x: &[f64], out: &mut [f64]) {
    let n = problem.dofs();
    problem.mass().mul(&x[..n], &mut out[..n]);
    let jacobian = problem.jacobian();
    let mut rows = [0.0; DIM];
    for (i, first, k) in nodes.virtual_nodes() {
        let s = &mut rows[..jacobian.dim(i)];
        jacobian.mul_constraint(i, &x[..n], s);
        for (d, s) in s.iter_mut().enumerate() {
            *s = k * (*s - x[first + d]);
            out[first + d] = -*s;
        }
        jacobian.mul_constraint_transposed_add(i, s, &mut out[..n]);
    }
}

/// Sets the unknowns of each virtual node for velocities `x[..n]` and impulses λ:
/// `y = J v + λ/k_v`, the second row of [Lee23, Eq. (15)].
pub(super) fn place_virtual_nodes(problem: &Problem, nodes: &Nodes, lambda: &[f64], x: &mut [f64]) {
    let (v, y) = x.split_at_mut(problem.dofs());
    for (i, first, k) in nodes.virtual_nodes() {
        let y = &mut y[first - v.len()..][..problem.law(i).dim()];
        problem.jacobian().mul_constraint(i, v, y);
        for (y, l) in y.iter_mut().zip(&lambda[problem.row_range(i)]) {
            *y += l / k;
        }
    }
}
