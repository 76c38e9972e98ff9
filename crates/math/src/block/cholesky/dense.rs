//! Cholesky factorization of the whole matrix as one dense block, by faer.
//!
//! The pattern's order is kept. The triangular solves are our own: one right-hand side is bound by
//! the memory that holds the factor.

use crate::NotPositiveDefinite;
use crate::block::{Pattern, View};
use crate::simd::{Job, dispatch};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self, LltError};
use faer::{Auto, MatMut, Par, Spec};

pub(super) struct Dense {
    pattern: Pattern,
    dim: usize,
    /// L, column-major; values above the diagonal are undefined.
    L: Vec<f64>,
    scratch: MemBuffer,
}

impl std::fmt::Debug for Dense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dense").field("dim", &self.dim).finish_non_exhaustive()
    }
}

fn parameters() -> Spec<factor::LltParams, f64> {
    Spec::new(<factor::LltParams as Auto<f64>>::auto())
}

impl Dense {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let dim = pattern.dim();
        let need = factor::cholesky_in_place_scratch::<f64>(dim, Par::Seq, parameters());
        Self {
            pattern: pattern.clone(),
            dim,
            L: vec![0.0; dim * dim],
            scratch: MemBuffer::new(need),
        }
    }

    pub(super) fn factor(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        self.load(A);
        let L = MatMut::from_column_major_slice_mut(&mut self.L, self.dim, self.dim);
        let stack = MemStack::new(&mut self.scratch);
        match factor::cholesky_in_place(L, Default::default(), Par::Seq, stack, parameters()) {
            Ok(_) => self.check_pivots(),
            Err(LltError::NonPositivePivot { index }) => Err(self.failure(index)),
        }
    }

    /// Lower triangle, column by column: a row of a block of Aᵀ is a piece of a column of A.
    fn load(&mut self, A: View<'_>) {
        let Self { pattern, dim, L, .. } = self;
        if pattern.n_blocks() == 1 {
            L.copy_from_slice(A.values()); // symmetric, so row-major is column-major
            return;
        }
        L.fill(0.0);
        for e in pattern.entries() {
            let (i, j) = (pattern.range(e.row), pattern.range(e.col));
            let block = A.block(e.id);
            for (c, col) in j.clone().enumerate() {
                let piece = &mut L[col * *dim + i.start..col * *dim + i.end];
                for (value, a) in piece.iter_mut().zip(block.iter().skip(c).step_by(j.len())) {
                    *value = *a;
                }
            }
        }
    }

    fn check_pivots(&self) -> Result<(), NotPositiveDefinite> {
        let good = |d: &f64| *d > 0.0 && d.is_finite();
        match self.L.iter().step_by(self.dim + 1).position(|d| !good(d)) {
            Some(index) => Err(self.failure(index)),
            None => Ok(()),
        }
    }

    fn failure(&self, index: usize) -> NotPositiveDefinite {
        NotPositiveDefinite { block: self.pattern.block_of(index) }
    }

    pub(super) fn solve_in_place(&self, x: &mut [f64]) {
        dispatch(Solve { L: &self.L, x });
    }
}

struct Solve<'a> {
    L: &'a [f64],
    x: &'a mut [f64],
}

impl Job for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.x.len();
        for (k, column) in self.L.chunks_exact(n.max(1)).enumerate() {
            let (head, tail) = self.x.split_at_mut(k + 1);
            let x_k = head[k] / column[k];
            head[k] = x_k;
            for (x, l) in tail.iter_mut().zip(&column[k + 1..]) {
                *x = (-x_k).mul_add(*l, *x);
            }
        }
        for (k, column) in self.L.chunks_exact(n.max(1)).enumerate().rev() {
            let sum = crate::block::symmetric::dot(&column[k + 1..], &self.x[k + 1..]);
            self.x[k] = (self.x[k] - sum) / column[k];
        }
    }
}
