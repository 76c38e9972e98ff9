//! LU factorization of the whole matrix as one dense block with row exchanges, by faer.

use crate::Singular;
use crate::block::{General, Pattern};
use crate::simd::{Job, dispatch};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor;
use faer::{Auto, MatMut, Par, Spec};

pub(super) struct Dense {
    pattern: Pattern,
    /// Unit lower and upper factor, column-major.
    LU: Vec<f64>,
    order: Vec<usize>,
    place: Vec<usize>,
    scratch: MemBuffer,
    permuted: Vec<f64>,
}

impl std::fmt::Debug for Dense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dense").field("dim", &self.order.len()).finish_non_exhaustive()
    }
}

fn parameters() -> Spec<factor::PartialPivLuParams, f64> {
    Spec::new(<factor::PartialPivLuParams as Auto<f64>>::auto())
}

impl Dense {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let dim = pattern.dim();
        let need = factor::lu_in_place_scratch::<usize, f64>(dim, dim, Par::Seq, parameters());
        Self {
            pattern: pattern.clone(),
            LU: vec![0.0; dim * dim],
            order: vec![0; dim],
            place: vec![0; dim],
            scratch: MemBuffer::new(need),
            permuted: vec![0.0; dim],
        }
    }

    pub(super) fn factor(&mut self, A: &General) -> Result<(), Singular> {
        let dim = self.order.len();
        if self.pattern.n_blocks() != 1 {
            self.LU.fill(0.0); // a single block is copied whole
        }
        A.for_each_value(|r, c, value| self.LU[c * dim + r] = value);
        if let Some(index) = self.LU.iter().position(|a| !a.is_finite()) {
            return Err(self.failure(index / dim));
        }
        let LU = MatMut::from_column_major_slice_mut(&mut self.LU, dim, dim);
        let stack = MemStack::new(&mut self.scratch);
        factor::lu_in_place(LU, &mut self.order, &mut self.place, Par::Seq, stack, parameters());
        for (k, column) in self.LU.chunks_exact(dim.max(1)).enumerate() {
            if column[k] == 0.0 || column.iter().any(|a| !a.is_finite()) {
                return Err(self.failure(k));
            }
        }
        Ok(())
    }

    fn failure(&self, index: usize) -> Singular {
        Singular { block: self.pattern.block_of(index) }
    }

    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        for (y, &row) in self.permuted.iter_mut().zip(&self.order) {
            *y = x[row];
        }
        x.copy_from_slice(&self.permuted);
        dispatch(Solve { LU: &self.LU, x });
    }
}

struct Solve<'a> {
    LU: &'a [f64],
    x: &'a mut [f64],
}

impl Job for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.x.len();
        for (k, column) in self.LU.chunks_exact(n.max(1)).enumerate() {
            let (head, tail) = self.x.split_at_mut(k + 1);
            for (x, l) in tail.iter_mut().zip(&column[k + 1..]) {
                *x = (-head[k]).mul_add(*l, *x);
            }
        }
        for (k, column) in self.LU.chunks_exact(n.max(1)).enumerate().rev() {
            let (head, tail) = self.x.split_at_mut(k);
            tail[0] /= column[k];
            for (x, u) in head.iter_mut().zip(column) {
                *x = (-tail[0]).mul_add(*u, *x);
            }
        }
    }
}
