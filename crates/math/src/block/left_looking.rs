//! The left-looking elimination over blocks that Cholesky and LU factorization share.
//!
//! Both factors have the structure of [`Elimination`] and are stored alike: a diagonal block per
//! eliminated block j, and N values per off-diagonal entry (i, j), i > j: N = 1 for R = Lᵀ of a
//! Cholesky factorization, N = 2 for L and U. The loop over j, the earlier blocks k that hold j, and
//! the later blocks i of k is written once here [George81, Ch. 2]; the products, pivots and triangular
//! solves of single blocks are the [`FactorSteps`] and [`SolveSteps`] of either factorization.
//! Neither factoring nor solving allocates. Right-hand sides keep the pattern's order.

use super::kernel::{BySize, Kernel, SizedJob};
use super::{Elimination, Pattern};
use crate::simd::{Job, dispatch};
use std::ops::Range;

/// Where the blocks of a matrix and of its factor are stored.
#[derive(Debug)]
pub(super) struct FactorLayout {
    pub(super) elimination: Elimination,
    /// The size of all blocks, if they have the same.
    pub(super) common_size: Option<usize>,
    /// First value of the diagonal block of each j.
    diagonal: Vec<usize>,
    /// First value of each off-diagonal block, by entry of the elimination; in order of elimination.
    off_diagonal: Vec<usize>,
    /// First value of the place of each block of the pattern, among the diagonal blocks or among the
    /// others, and whether the block lies below the diagonal in order of elimination.
    pub(super) target: Vec<(usize, bool)>,
    n_diagonal: usize,
    n_off_diagonal: usize,
}

impl FactorLayout {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        let n = elimination.n_blocks();
        let (mut diagonal, mut off_diagonal) =
            (Vec::with_capacity(n), Vec::with_capacity(elimination.n_below()));
        let (mut n_diagonal, mut n_off_diagonal) = (0, 0);
        for k in 0..n {
            let size = elimination.size[k];
            diagonal.push(n_diagonal);
            n_diagonal += size * size;
            for &i in &elimination.below[elimination.column(k)] {
                off_diagonal.push(n_off_diagonal);
                n_off_diagonal += size * elimination.size[i];
            }
        }
        let target = pattern
            .entries()
            .map(|e| {
                let (i, j) = (elimination.place[e.row], elimination.place[e.col]);
                if i == j {
                    return (diagonal[i], false);
                }
                match elimination.find(i.max(j), i.min(j)) {
                    Some(entry) => (off_diagonal[entry], i > j),
                    None => unreachable!("invariant: the factor holds the matrix's pattern"),
                }
            })
            .collect();
        Self {
            common_size: pattern.common_size(),
            diagonal,
            off_diagonal,
            target,
            n_diagonal,
            n_off_diagonal,
            elimination,
        }
    }

    /// Values of all diagonal blocks.
    pub(super) fn n_diagonal(&self) -> usize {
        self.n_diagonal
    }

    /// Values of all off-diagonal blocks of one triangle.
    pub(super) fn n_off_diagonal(&self) -> usize {
        self.n_off_diagonal
    }

    /// Values of the diagonal block of j, of `s_j` × `s_j`.
    #[inline(always)]
    pub(super) fn diagonal(&self, j: usize, s_j: usize) -> Range<usize> {
        self.diagonal[j]..self.diagonal[j] + s_j * s_j
    }

    /// Values of an off-diagonal block with `n_values` values, by entry of the elimination.
    #[inline(always)]
    pub(super) fn block(&self, entry: usize, n_values: usize) -> Range<usize> {
        self.off_diagonal[entry]..self.off_diagonal[entry] + n_values
    }

    /// First value of an off-diagonal block, by entry of the elimination; the end of all values for
    /// the entry after the last.
    #[inline(always)]
    pub(super) fn first_value(&self, entry: usize) -> usize {
        self.off_diagonal.get(entry).copied().unwrap_or(self.n_off_diagonal)
    }
}

/// Values of a factor with N values per off-diagonal entry.
#[derive(Debug)]
pub(super) struct BlockFactors<const N: usize> {
    pub(super) layout: FactorLayout,
    /// Diagonal blocks.
    pub(super) diagonal: Vec<f64>,
    /// Off-diagonal blocks.
    pub(super) off_diagonal: [Vec<f64>; N],
    /// Scratch of `factor`: first value of block (i, j), counted from those of j.
    position: Vec<usize>,
}

/// Block sizes of an update by the earlier block k: those of j, the later block i, and k.
#[derive(Clone, Copy)]
pub(super) struct UpdateSizes {
    pub(super) j: usize,
    pub(super) i: usize,
    pub(super) k: usize,
}

/// The operations on single blocks of a factorization. Blocks of one entry come as arrays, one
/// element for each triangle that is stored. All must be `#[inline(always)]`.
pub(super) trait FactorSteps<const N: usize> {
    /// Copies the matrix into the places of its factor.
    fn load<K: Kernel>(&mut self, factors: &mut BlockFactors<N>);
    /// Subtracts from the diagonal block of j what the earlier block k contributes, with the blocks
    /// of entry (j, k).
    fn update_diagonal<K: Kernel>(D_j: &mut [f64], jk: [&[f64]; N], s_j: usize, s_k: usize);
    /// Subtracts from the blocks of entry (i, j) what k contributes, with those of (j, k) and (i, k).
    fn update<K: Kernel>(ij: [&mut [f64]; N], jk: [&[f64]; N], ik: [&[f64]; N], s: UpdateSizes);
    /// Factors the diagonal block of j, whose first scalar index is `at_j`; false if it has no factor.
    fn factor_diagonal<K: Kernel>(&mut self, D_j: &mut [f64], at_j: usize, s_j: usize) -> bool;
    /// Divides the blocks of entry (i, j) by the factor of the diagonal block.
    fn divide<K: Kernel>(
        &self,
        D_j: &[f64],
        at_j: usize,
        ij: [&mut [f64]; N],
        s_j: usize,
        s_i: usize,
    );
}

/// The operations on single blocks of the two triangular solves. All must be `#[inline(always)]`.
pub(super) trait SolveSteps<const N: usize> {
    /// Solves with the diagonal block of j on the way forward.
    fn forward_diagonal(&self, D_j: &[f64], at_j: usize, x_j: &mut [f64], s_j: usize);
    /// Subtracts the contribution of x_j from x_i on the way forward.
    fn forward(ij: [&[f64]; N], x_j: &[f64], x_i: &mut [f64], s_j: usize, s_i: usize);
    /// Subtracts the contribution of x_i from x_j on the way back.
    fn backward(ij: [&[f64]; N], x_i: &[f64], x_j: &mut [f64], s_j: usize, s_i: usize);
    /// Solves with the diagonal block of j on the way back.
    fn backward_diagonal(&self, D_j: &[f64], x_j: &mut [f64], s_j: usize);
}

impl<const N: usize> BlockFactors<N> {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        let layout = FactorLayout::new(pattern, elimination);
        Self {
            diagonal: vec![0.0; layout.n_diagonal()],
            off_diagonal: std::array::from_fn(|_| vec![0.0; layout.n_off_diagonal()]),
            position: vec![0; layout.elimination.n_blocks()],
            layout,
        }
    }

    /// Factors; the error is the block of the pattern whose diagonal block has no factor.
    pub(super) fn factor(&mut self, steps: impl FactorSteps<N>) -> Result<(), usize> {
        dispatch(self.factor_job(steps))
    }

    /// The factorization as a job that runs in any instruction set.
    pub(super) fn factor_job<S: FactorSteps<N>>(
        &mut self,
        steps: S,
    ) -> impl Job<Output = Result<(), usize>> {
        BySize { common_size: self.layout.common_size, job: Factor { factors: self, steps } }
    }

    /// x ← A⁻¹ x.
    pub(super) fn solve_in_place(&self, steps: impl SolveSteps<N>, x: &mut [f64]) {
        dispatch(self.solve_job(steps, x));
    }

    /// The triangular solves as a job that runs in any instruction set.
    pub(super) fn solve_job<'a, S: SolveSteps<N>>(
        &'a self,
        steps: S,
        x: &'a mut [f64],
    ) -> impl Job<Output = ()> {
        BySize { common_size: self.layout.common_size, job: Solve { factors: self, steps, x } }
    }
}

struct Factor<'a, S, const N: usize> {
    factors: &'a mut BlockFactors<N>,
    steps: S,
}

impl<S: FactorSteps<N>, const N: usize> SizedJob for Factor<'_, S, N> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Result<(), usize> {
        let Self { factors, mut steps } = self;
        steps.load::<K>(factors);
        let BlockFactors { layout, diagonal, off_diagonal, position } = factors;
        let elimination = &layout.elimination;
        let size = |k: usize| K::size(elimination.size[k]);
        for j in 0..elimination.n_blocks() {
            let s_j = size(j);
            let base = layout.first_value(elimination.column(j).start);
            for e in elimination.column(j) {
                position[elimination.below[e]] = layout.first_value(e) - base;
            }
            let D_j = &mut diagonal[layout.diagonal(j, s_j)];
            let (done, mut current) = split_at(off_diagonal, base);
            // Contributions of every earlier block k that holds j.
            for &(k, first) in &elimination.left[elimination.row(j)] {
                let s_k = size(k);
                let place = layout.block(first, s_j * s_k);
                let jk = done.map(|values| &values[place.clone()]);
                S::update_diagonal::<K>(D_j, jk, s_j, s_k);
                for e in first + 1..elimination.column(k).end {
                    let i = elimination.below[e];
                    let s_i = size(i);
                    let place = layout.block(e, s_i * s_k);
                    let ik = done.map(|values| &values[place.clone()]);
                    let place = position[i]..position[i] + s_i * s_j;
                    let ij = current.each_mut().map(|values| &mut values[place.clone()]);
                    S::update::<K>(ij, jk, ik, UpdateSizes { j: s_j, i: s_i, k: s_k });
                }
            }
            let at_j = elimination.start[j];
            if !steps.factor_diagonal::<K>(D_j, at_j, s_j) {
                return Err(elimination.order[j]);
            }
            let mut begin = 0;
            for e in elimination.column(j) {
                let s_i = size(elimination.below[e]);
                let place = begin..begin + s_j * s_i;
                let ij = current.each_mut().map(|values| &mut values[place.clone()]);
                steps.divide::<K>(D_j, at_j, ij, s_j, s_i);
                begin = place.end;
            }
        }
        Ok(())
    }
}

/// The values of finished columns, and the others.
#[inline(always)]
fn split_at<const N: usize>(
    values: &mut [Vec<f64>; N],
    at: usize,
) -> ([&[f64]; N], [&mut [f64]; N]) {
    let mut done = [&[][..]; N];
    let mut slots = done.iter_mut();
    let current = values.each_mut().map(|values| {
        let (finished, current) = values.split_at_mut(at);
        if let Some(slot) = slots.next() {
            *slot = finished;
        }
        current
    });
    (done, current)
}

struct Solve<'a, S, const N: usize> {
    factors: &'a BlockFactors<N>,
    steps: S,
    x: &'a mut [f64],
}

impl<S: SolveSteps<N>, const N: usize> SizedJob for Solve<'_, S, N> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self) {
        let Self { factors: BlockFactors { layout, diagonal, off_diagonal, .. }, steps, x } = self;
        let elimination = &layout.elimination;
        let size = |k: usize| K::size(elimination.size[k]);
        for j in 0..elimination.n_blocks() {
            let (s_j, at_j) = (size(j), elimination.start[j]);
            let D_j = &diagonal[layout.diagonal(j, s_j)];
            steps.forward_diagonal(D_j, at_j, &mut x[at_j..at_j + s_j], s_j);
            for e in elimination.column(j) {
                let i = elimination.below[e];
                let (s_i, at_i) = (size(i), elimination.start[i]);
                let Ok([x_j, x_i]) = x.get_disjoint_mut([at_j..at_j + s_j, at_i..at_i + s_i])
                else {
                    unreachable!("invariant: blocks do not overlap")
                };
                let place = layout.block(e, s_i * s_j);
                let ij = off_diagonal.each_ref().map(|values| &values[place.clone()]);
                S::forward(ij, x_j, x_i, s_j, s_i);
            }
        }
        for j in (0..elimination.n_blocks()).rev() {
            let (s_j, at_j) = (size(j), elimination.start[j]);
            for e in elimination.column(j) {
                let i = elimination.below[e];
                let (s_i, at_i) = (size(i), elimination.start[i]);
                let Ok([x_j, x_i]) = x.get_disjoint_mut([at_j..at_j + s_j, at_i..at_i + s_i])
                else {
                    unreachable!("invariant: blocks do not overlap")
                };
                let place = layout.block(e, s_i * s_j);
                let ij = off_diagonal.each_ref().map(|values| &values[place.clone()]);
                S::backward(ij, x_i, x_j, s_j, s_i);
            }
            let D_j = &diagonal[layout.diagonal(j, s_j)];
            steps.backward_diagonal(D_j, &mut x[at_j..at_j + s_j], s_j);
        }
    }
}
