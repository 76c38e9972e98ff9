//! The one-shot contact solve on the surrogate [Lee23, Eq. (23), Alg. 2].
//!
//! On its own node a constraint yields w per unit of impulse and moves with no other, so one
//! answer of its law solves it: strict for exact friction, proximal for its convex relaxation
//! [Lee23, Eq. (26)]. Compliance adds to the yield [Lee23, Eq. (37)], row by row; the laws project
//! in the norm of the sum. The node then moves by w λ [Lee23, Eq. (24)].
//!
//! Deviation: a virtual node makes the constraint yield by 1/k_v more than the problem says; its
//! bias is reduced by `λ_prev/k_v`, so that an impulse which no longer changes yields nothing.

use super::node::{Node, Nodes};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::Problem;

/// Answers every constraint at the unconstrained `x`, moves `x` by the answers.
///
/// `step · inverse` is W; `compensation` holds λ_prev per row.
pub(super) fn answer(
    problem: &Problem,
    model: FrictionModel,
    nodes: &Nodes,
    (step, inverse): (f64, &[f64]),
    compensation: &[f64],
    x: &mut [f64],
    lambda: &mut [f64],
) {
    let (bias, compliance, jacobian) = (problem.bias(), problem.compliance(), problem.jacobian());
    let (mut c0, mut r) = ([0.0; DIM], [0.0; DIM]);
    for (i, node) in nodes.of_constraint.iter().enumerate() {
        let rows = problem.row_range(i);
        let (c0, r) = (&mut c0[..rows.len()], &mut r[..rows.len()]);
        let lambda = &mut lambda[rows.clone()];
        let relation = problem.law(i).relation();
        let (first, per_impulse) = match *node {
            Node::Direct { first } => {
                jacobian.mul_constraint(i, x, c0);
                (first, 0.0)
            }
            Node::Virtual { first, coupling } => {
                c0.copy_from_slice(&x[first..first + rows.len()]);
                (first, 1.0 / coupling)
            }
        };
        let w = step * inverse[first];
        for (d, row) in rows.enumerate() {
            c0[d] += bias[row] - compensation[row] * per_impulse;
            r[d] = w + compliance[row];
        }
        relation.respond(model, c0, r, lambda);
        match *node {
            Node::Direct { first } => {
                let [entry] = jacobian.constraint_entries(i) else { continue };
                let node = &mut x[first..first + DIM];
                for (row, l) in jacobian.block(entry).chunks_exact(DIM).zip(lambda.iter()) {
                    for (x, j) in node.iter_mut().zip(row) {
                        *x += w * l * j;
                    }
                }
            }
            Node::Virtual { first, .. } => {
                for (x, l) in x[first..].iter_mut().zip(lambda.iter()) {
                    *x += w * l;
                }
            }
        }
    }
}
