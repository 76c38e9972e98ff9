//! The constraint update: every constraint answers for all its copies at once
//! [Lee25, Eqs. (36)-(40)].
//!
//! With u = −λ eliminated [Lee25, Eq. (40)], the law acts on the sum of the copies,
//! `z_ij = J_ij v_j + (λ' − λ)/β`. Its question is the common one: without an impulse the constraint
//! would move at `c0 = Σ_j J_ij v_j − n λ/β + e`, and it yields `r = n/β + R`, n = |Z_i|; exact and
//! relaxed friction, stops, joints and springs answer alike. Constraints are independent and are
//! worked through in fixed chunks.

use std::ops::Range;

use stiction_math::par;

use super::layout::{Layout, Piece};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::{Problem, dot};

/// Constraints in a chunk.
const CHUNK: usize = 64;

/// λ and the copies of all constraints, one constraint after another:
/// λ, its last change, and per copy `β z + λ`, z, and β times the last decrease of z.
#[derive(Debug, Default)]
pub struct Consensus {
    start: Vec<usize>,
    chunk_ends: Vec<usize>,
    state: Vec<f64>,
}

impl Consensus {
    /// Starts from impulses λ and the copies that extended velocities x give.
    pub fn start(&mut self, layout: &Layout, lambda: &[f64], x: &[f64]) {
        self.start.clear();
        self.start.push(0);
        self.chunk_ends.clear();
        let (mut end, constraints) = (0, layout.constraints());
        for i in 0..constraints {
            end += layout.rows(i).len() * (2 + 3 * layout.copies(i));
            self.start.push(end);
            if (i + 1) % CHUNK == 0 || i + 1 == constraints {
                self.chunk_ends.push(end);
            }
        }
        self.state.clear();
        self.state.resize(end, 0.0);
        for i in 0..constraints {
            let rows = layout.rows(i);
            let (base, dim) = (self.start[i], rows.len());
            self.state[base..base + dim].copy_from_slice(&lambda[rows]);
            for copy in 0..layout.copies(i) {
                let z = base + (3 + 3 * copy) * dim;
                velocity(layout, i, copy, x, &mut self.state[z..z + dim]);
            }
        }
    }

    /// Renews `β z + λ` after a change of penalties.
    pub fn set_penalties(&mut self, layout: &Layout, beta: &[f64]) {
        for (i, beta) in beta.iter().enumerate() {
            let dim = layout.rows(i).len();
            let (lambda, copies) =
                self.state[self.start[i]..self.start[i + 1]].split_at_mut(2 * dim);
            for copy in copies.chunks_exact_mut(3 * dim) {
                let (force, rest) = copy.split_at_mut(dim);
                for ((f, z), l) in force.iter_mut().zip(rest).zip(&*lambda) {
                    *f = beta * *z + l;
                }
            }
        }
    }

    /// One update of all constraints from extended velocities x.
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
        let start = &self.start;
        par::for_each_piece(&mut self.state, &self.chunk_ends, parallel_from, |k, part| {
            let first = k * CHUNK;
            for i in first..(first + CHUNK).min(layout.constraints()) {
                let own = &mut part[start[i] - start[first]..start[i + 1] - start[first]];
                answer(problem, layout, model, i, beta[i], x, own);
            }
        });
    }

    #[inline]
    fn copy_range(&self, layout: &Layout, p: &Piece, which: usize) -> Range<usize> {
        let dim = layout.rows(p.constraint as usize).len();
        let first = self.start[p.constraint as usize] + (2 + 3 * p.copy as usize + which) * dim;
        first..first + dim
    }

    /// `β z + λ` of the copy that a piece belongs to.
    #[inline]
    pub fn force(&self, layout: &Layout, p: &Piece) -> &[f64] {
        &self.state[self.copy_range(layout, p, 0)]
    }

    /// `β (z − z')` of the last update of the copy that a piece belongs to.
    #[inline]
    pub fn decrease(&self, layout: &Layout, p: &Piece) -> &[f64] {
        &self.state[self.copy_range(layout, p, 2)]
    }

    /// λ' − λ of the last update: β times what `J v − z` lacks, for every copy.
    pub fn impulse_change(&self, layout: &Layout, constraint: usize) -> &[f64] {
        let (base, dim) = (self.start[constraint], layout.rows(constraint).len());
        &self.state[base + dim..base + 2 * dim]
    }

    /// Writes λ of all rows.
    pub fn impulses(&self, layout: &Layout, out: &mut [f64]) {
        for i in 0..layout.constraints() {
            let rows = layout.rows(i);
            let base = self.start[i];
            out[rows.clone()].copy_from_slice(&self.state[base..base + rows.len()]);
        }
    }
}

/// `J_ij v_j` of one copy.
#[inline]
fn velocity(layout: &Layout, i: usize, copy: usize, x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for p in layout.copy_pieces(i, copy) {
        let x = &x[p.range()];
        for (out, row) in out.iter_mut().zip(layout.values(p).chunks_exact(x.len())) {
            *out += dot(row, x);
        }
    }
}

#[inline]
fn answer(
    problem: &Problem,
    layout: &Layout,
    model: FrictionModel,
    i: usize,
    beta: f64,
    x: &[f64],
    own: &mut [f64],
) {
    let rows = layout.rows(i);
    let dim = rows.len();
    let (head, copies) = own.split_at_mut(2 * dim);
    let (lambda, change) = head.split_at_mut(dim);
    let (mut c0, mut r, mut next) = ([0.0; DIM], [0.0; DIM], [0.0; DIM]);
    let n = layout.copies(i) as f64;
    for d in 0..dim {
        c0[d] = problem.bias()[rows.start + d] - n * lambda[d] / beta;
        r[d] = problem.compliance()[rows.start + d] + n / beta;
    }
    // The place of β z + λ holds J v until z is known.
    for (k, copy) in copies.chunks_exact_mut(3 * dim).enumerate() {
        velocity(layout, i, k, x, &mut copy[..dim]);
        for (c0, v) in c0.iter_mut().zip(&copy[..dim]) {
            *c0 += v;
        }
    }
    problem.law(i).relation().respond(model, &c0[..dim], &r[..dim], &mut next[..dim]);
    for d in 0..dim {
        change[d] = next[d] - lambda[d];
        lambda[d] = next[d];
    }
    for copy in copies.chunks_exact_mut(3 * dim) {
        for d in 0..dim {
            let z = copy[d] + change[d] / beta;
            copy[2 * dim + d] = beta * (copy[dim + d] - z);
            copy[dim + d] = z;
            copy[d] = beta * z + lambda[d];
        }
    }
}
