//! The one-shot contact solve on the surrogate [Lee23, Eq. (23), Alg. 2].
//!
//! On its own node a constraint has the local compliance r = w and is coupled to no other, so one local
//! solve of its law suffices: strict for exact friction, proximal for its convex relaxation
//! [Lee23, Eq. (26)]. Compliance adds to r [Lee23, Eq. (37)], row by row; the laws project
//! in the norm of the sum. The node then moves by w λ [Lee23, Eq. (24)].
//!
//! Deviation: a virtual node adds the compliance 1/k_v, which the problem does not have; the bias is
//! reduced by `λ_prev/k_v`, so that the added term vanishes when the impulse no longer changes.

use stiction_math::simd;

use super::node::{Node, Nodes};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::Problem;

/// Solves every constraint at the unconstrained `x` and moves `x` by its impulse.
///
/// `step · inverse` is W; `compensation` holds λ_prev per row.
pub(super) fn solve_constraints(
    problem: &Problem,
    model: FrictionModel,
    nodes: &Nodes,
    (step, inverse): (f64, &[f64]),
    compensation: &[f64],
    x: &mut [f64],
    lambda: &mut [f64],
) {
    simd::dispatch(ConstraintSolves {
        problem,
        model,
        nodes,
        step,
        inverse,
        compensation,
        x,
        lambda,
    });
}

struct ConstraintSolves<'a> {
    problem: &'a Problem,
    model: FrictionModel,
    nodes: &'a Nodes,
    step: f64,
    inverse: &'a [f64],
    compensation: &'a [f64],
    x: &'a mut [f64],
    lambda: &'a mut [f64],
}

impl simd::Job for ConstraintSolves<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (i, node) in self.nodes.of_constraint.iter().enumerate() {
            match *node {
                Node::Direct { first } => self.on_mesh(i, first),
                Node::Virtual { first, coupling } => self.on_virtual_node(i, first, coupling),
            }
        }
    }
}

impl ConstraintSolves<'_> {
    /// A contact on a node of the mesh, with an orthogonal J.
    #[inline(always)]
    fn on_mesh(&mut self, i: usize, first: usize) {
        let (problem, rows) = (self.problem, self.problem.row_range(i));
        let (bias, compliance) =
            (&problem.bias()[rows.clone()], &problem.compliance()[rows.clone()]);
        let [entry] = problem.jacobian().constraint_entries(i) else { return };
        let (Some(J), Some(x), Some(e), Some(R), Some(lambda)) = (
            problem.jacobian().block(entry).first_chunk::<{ DIM * DIM }>(),
            self.x[first..].first_chunk_mut::<DIM>(),
            bias.first_chunk::<DIM>(),
            compliance.first_chunk::<DIM>(),
            self.lambda[rows].first_chunk_mut::<DIM>(),
        ) else {
            return;
        };
        let w = self.step * self.inverse[first];
        let (mut c0, mut r) = ([0.0; DIM], [0.0; DIM]);
        for d in 0..DIM {
            let J = &J[DIM * d..DIM * (d + 1)];
            c0[d] = J[0].mul_add(x[0], J[1].mul_add(x[1], J[2].mul_add(x[2], e[d])));
            r[d] = w + R[d];
        }
        problem.law(i).respond(self.model, &c0, &r, lambda);
        let moved = lambda.map(|l| w * l);
        for k in 0..DIM {
            let (a, b, c) = (J[k], J[DIM + k], J[2 * DIM + k]);
            x[k] = a.mul_add(moved[0], b.mul_add(moved[1], c.mul_add(moved[2], x[k])));
        }
    }

    /// A constraint on a virtual node, in its own rows.
    #[inline(always)]
    fn on_virtual_node(&mut self, i: usize, first: usize, coupling: f64) {
        let (problem, rows) = (self.problem, self.problem.row_range(i));
        let (bias, compliance) = (problem.bias(), problem.compliance());
        let (w, per_impulse) = (self.step * self.inverse[first], 1.0 / coupling);
        let (mut c0, mut r) = ([0.0; DIM], [0.0; DIM]);
        let (c0, r) = (&mut c0[..rows.len()], &mut r[..rows.len()]);
        let x = &mut self.x[first..first + rows.len()];
        for (d, row) in rows.clone().enumerate() {
            c0[d] = x[d] + bias[row] - self.compensation[row] * per_impulse;
            r[d] = w + compliance[row];
        }
        let lambda = &mut self.lambda[rows];
        problem.law(i).respond(self.model, c0, r, lambda);
        for (x, l) in x.iter_mut().zip(lambda) {
            *x += w * *l;
        }
    }
}
