//! The constraint update: every constraint is solved for all its copies at once
//! [Lee25, Eqs. (36)-(40)].
//!
//! With u = −λ eliminated [Lee25, Eq. (40)], the law acts on the sum of the copies,
//! `z_ij = J_ij v_j + (λ' − λ)/β`. Without an impulse the constraint
//! would move at `c0 = Σ_j J_ij v_j − n λ/β + e`, and its local compliance is `r = n/β + R`, n = |Z_i|; exact and
//! relaxed friction, stops, joints and springs are treated alike. Constraints are independent and are
//! worked through in fixed chunks.

use stiction_math::{par, simd};

use super::layout::Layout;
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::Problem;

/// Constraints in a chunk.
const CHUNK: usize = 64;

/// λ and the copies of all constraints, at the offsets of the layout.
#[derive(Debug, Default)]
pub struct Consensus {
    chunk_ends: Vec<usize>,
    state: Vec<f64>,
}

impl Consensus {
    /// Starts from impulses λ and the copies that the products in x give.
    pub fn start(&mut self, layout: &Layout, lambda: &[f64], x: &[f64]) {
        let constraints = layout.constraints();
        self.chunk_ends.clear();
        let last = |chunk: usize| ((chunk + 1) * CHUNK).min(constraints) - 1;
        let chunks = constraints.div_ceil(CHUNK);
        self.chunk_ends.extend((0..chunks).map(|chunk| layout.states(last(chunk)).end));
        self.state.clear();
        self.state.resize(self.chunk_ends.last().copied().unwrap_or(0), 0.0);
        for i in 0..constraints {
            let (rows, own) = (layout.rows(i), &mut self.state[layout.states(i)]);
            let dim = rows.len();
            own[..dim].copy_from_slice(&lambda[rows]);
            for (k, copy) in own[2 * dim..].chunks_exact_mut(3 * dim).enumerate() {
                velocity(layout, i, k, x, &mut copy[dim..2 * dim]);
            }
        }
    }

    /// Renews `β z + λ` after a change of penalties.
    pub fn set_penalties(&mut self, layout: &Layout, beta: &[f64]) {
        for (i, beta) in beta.iter().enumerate() {
            let dim = layout.rows(i).len();
            let (lambda, copies) = self.state[layout.states(i)].split_at_mut(2 * dim);
            for copy in copies.chunks_exact_mut(3 * dim) {
                let (force, rest) = copy.split_at_mut(dim);
                for ((f, z), l) in force.iter_mut().zip(rest).zip(&*lambda) {
                    *f = beta * *z + l;
                }
            }
        }
    }

    /// One update of all constraints from the products in x.
    pub fn update(
        &mut self,
        problem: &Problem,
        layout: &Layout,
        model: FrictionModel,
        beta: &[f64],
        x: &[f64],
        parallel: bool,
    ) {
        let parallel_from = if parallel { 0 } else { usize::MAX };
        par::for_each_piece(&mut self.state, &self.chunk_ends, parallel_from, |k, states| {
            let first = k * CHUNK;
            let beta = &beta[first..(first + CHUNK).min(beta.len())];
            simd::dispatch(UpdateChunk { problem, layout, model, first, beta, x, states });
        });
    }

    /// All states, at the offsets of the layout.
    pub fn states(&self) -> &[f64] {
        &self.state
    }

    /// λ' − λ of the last update: `−β (J v − z)` of every copy.
    pub fn impulse_change(&self, layout: &Layout, constraint: usize) -> &[f64] {
        let dim = layout.rows(constraint).len();
        &self.state[layout.states(constraint)][dim..2 * dim]
    }

    /// Writes λ of all rows.
    pub fn impulses(&self, layout: &Layout, out: &mut [f64]) {
        for i in 0..layout.constraints() {
            let rows = layout.rows(i);
            let dim = rows.len();
            out[rows].copy_from_slice(&self.state[layout.states(i)][..dim]);
        }
    }
}

/// The update of consecutive constraints from `first`, one per penalty.
struct UpdateChunk<'a> {
    problem: &'a Problem,
    layout: &'a Layout,
    model: FrictionModel,
    first: usize,
    beta: &'a [f64],
    x: &'a [f64],
    states: &'a mut [f64],
}

impl simd::Job for UpdateChunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, layout, model, first, beta, x, mut states } = self;
        for (i, beta) in (first..).zip(beta) {
            let (own, rest) = states.split_at_mut(layout.states(i).len());
            states = rest;
            // Loops over the rows of contacts and of single joints are unrolled.
            match layout.rows(i).len() {
                1 => solve_constraint(problem, layout, model, i, *beta, x, own, 1),
                DIM => solve_constraint(problem, layout, model, i, *beta, x, own, DIM),
                dim => solve_constraint(problem, layout, model, i, *beta, x, own, dim),
            }
        }
    }
}

/// `J_ij v_j` of one copy, from the products of its pieces.
#[inline(always)]
fn velocity(layout: &Layout, i: usize, copy: usize, x: &[f64], out: &mut [f64]) {
    let mut products = layout.copy_products(i, copy).iter();
    if let Some(first) = products.next() {
        out.copy_from_slice(&x[*first as usize..*first as usize + out.len()]);
    }
    for product in products {
        for (out, x) in out.iter_mut().zip(&x[*product as usize..]) {
            *out += x;
        }
    }
}

/// Solves constraint i of `dim` rows for all its copies, in its own states.
#[allow(clippy::too_many_arguments)] // a constant `dim` is propagated into the loops
#[inline(always)]
fn solve_constraint(
    problem: &Problem,
    layout: &Layout,
    model: FrictionModel,
    i: usize,
    beta: f64,
    x: &[f64],
    own: &mut [f64],
    dim: usize,
) {
    let rows = layout.rows(i).start..layout.rows(i).start + dim;
    let (head, copies) = own.split_at_mut(2 * dim);
    let (lambda, change) = head.split_at_mut(dim);
    let (mut c0, mut r, mut next) = ([0.0; DIM], [0.0; DIM], [0.0; DIM]);
    let per_copy = 1.0 / beta;
    let local_compliance = layout.copies(i) as f64 * per_copy;
    let (bias, compliance) = (&problem.bias()[rows.clone()], &problem.compliance()[rows]);
    for d in 0..dim {
        c0[d] = bias[d] - local_compliance * lambda[d];
        r[d] = compliance[d] + local_compliance;
    }
    // The storage of β z + λ holds J v until z is computed.
    for (k, copy) in copies.chunks_exact_mut(3 * dim).enumerate() {
        velocity(layout, i, k, x, &mut copy[..dim]);
        for (c0, v) in c0.iter_mut().zip(&copy[..dim]) {
            *c0 += v;
        }
    }
    problem.law(i).respond(model, &c0[..dim], &r[..dim], &mut next[..dim]);
    for d in 0..dim {
        change[d] = next[d] - lambda[d];
        lambda[d] = next[d];
    }
    for copy in copies.chunks_exact_mut(3 * dim) {
        let (force, rest) = copy.split_at_mut(dim);
        let (z, decrease) = rest.split_at_mut(dim);
        for d in 0..dim {
            let next = force[d] + change[d] * per_copy;
            decrease[d] = beta * (z[d] - next);
            z[d] = next;
            force[d] = beta * next + lambda[d];
        }
    }
}
