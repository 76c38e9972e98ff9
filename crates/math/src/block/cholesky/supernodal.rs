//! Supernodal sparse Cholesky factorization by faer, in our own order of elimination.
//!
//! The block matrix is spread into the lower triangle of a scalar matrix whose columns follow the
//! elimination; faer finds the supernodes once and refactors them in place. The supernodal method is
//! always taken, never the simplicial one, and always on one thread.

use crate::NotPositiveDefinite;
use crate::block::{Elimination, Pattern, View};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{LltError, LltParams};
use faer::sparse::linalg::cholesky::{simplicial, supernodal};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Auto, Conj, MatMut, Par, Spec};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Supernodal {
    symbolic: supernodal::SymbolicSupernodalCholesky<usize>,
    /// Lower triangle in order of elimination, diagonal blocks in full.
    matrix: SymbolicSparseColMat<usize>,
    values: Vec<f64>,
    /// For each block of the pattern, its first value and the distance of its columns;
    /// whether its rows become columns.
    target: Vec<(usize, usize, bool)>,
    /// Scalar index in the pattern of each index of the elimination.
    scalar_order: Vec<usize>,
    /// Block of the pattern of each index of the elimination.
    block_of: Vec<usize>,
    L: Vec<f64>,
    scratch: MemBuffer,
    solve_scratch: Mutex<(Vec<f64>, MemBuffer)>,
}

impl std::fmt::Debug for Supernodal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supernodal").field("symbolic", &self.symbolic).finish_non_exhaustive()
    }
}

fn parameters() -> Spec<LltParams, f64> {
    Spec::new(<LltParams as Auto<f64>>::auto())
}

impl Supernodal {
    pub(crate) fn new(pattern: &Pattern, elimination: &Elimination) -> Self {
        let dim = pattern.dim();
        let (mut scalar_order, mut block_of) = (Vec::with_capacity(dim), Vec::with_capacity(dim));
        for &block in &elimination.order {
            scalar_order.extend(pattern.range(block));
            block_of.extend(std::iter::repeat_n(block, pattern.size(block)));
        }
        let (matrix, target) = spread(pattern, elimination);
        let symbolic = find_supernodes(&matrix);
        let need = supernodal::factorize_supernodal_numeric_llt_scratch::<usize, f64>(
            &symbolic,
            Par::Seq,
            parameters(),
        );
        let solve_need = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        Self {
            values: vec![0.0; matrix.row_idx().len()],
            L: vec![0.0; symbolic.len_val()],
            scratch: MemBuffer::new(need),
            solve_scratch: Mutex::new((vec![0.0; dim], MemBuffer::new(solve_need))),
            symbolic,
            matrix,
            target,
            scalar_order,
            block_of,
        }
    }

    pub(crate) fn factor(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        self.load(A);
        let result = supernodal::factorize_supernodal_numeric_llt(
            &mut self.L,
            SparseColMatRef::new(self.matrix.as_ref(), &self.values),
            Default::default(),
            &self.symbolic,
            Par::Seq,
            MemStack::new(&mut self.scratch),
            parameters(),
        );
        match result {
            Ok(_) => self.check_pivots(),
            Err(LltError::NonPositivePivot { index }) => {
                Err(NotPositiveDefinite { block: self.block_of[index] })
            }
        }
    }

    fn load(&mut self, A: View<'_>) {
        self.values.fill(0.0);
        for e in A.pattern().entries() {
            let (m, n) = (A.pattern().size(e.row), A.pattern().size(e.col));
            let (first, height, transposed) = self.target[e.id.0];
            for (r, row) in A.block(e.id).chunks_exact(n.max(1)).enumerate() {
                if transposed {
                    // Row r of the block is column r of its mirror image.
                    let begin = first + r * height;
                    self.values[begin..begin + n].copy_from_slice(row);
                } else {
                    for (c, value) in row.iter().enumerate() {
                        self.values[first + c * height + r] = *value;
                    }
                }
            }
            debug_assert!(m * n == A.block(e.id).len());
        }
    }

    fn check_pivots(&self) -> Result<(), NotPositiveDefinite> {
        let factor = supernodal::SupernodalLltRef::new(&self.symbolic, &self.L);
        for s in 0..self.symbolic.n_supernodes() {
            let node = factor.supernode(s);
            for k in 0..node.val().ncols() {
                let pivot = node.val()[(k, k)];
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return Err(NotPositiveDefinite { block: self.block_of[node.start() + k] });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn solve_in_place(&self, x: &mut [f64]) {
        let mut scratch = self.solve_scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (y, memory) = &mut *scratch;
        for (y, &k) in y.iter_mut().zip(&self.scalar_order) {
            *y = x[k];
        }
        let n = y.len();
        supernodal::SupernodalLltRef::new(&self.symbolic, &self.L).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(y, n, 1),
            Par::Seq,
            MemStack::new(memory),
        );
        for (y, &k) in y.iter().zip(&self.scalar_order) {
            x[k] = *y;
        }
    }
}

/// Halves of a solve and pieces of the factor, for the Schur complement.
impl Supernodal {
    /// y = L⁻¹ b, with y in order of elimination.
    pub(crate) fn forward(&self, b: &[f64], y: &mut [f64]) {
        for (y, &k) in y.iter_mut().zip(&self.scalar_order) {
            *y = b[k];
        }
        let mut scratch = self.solve_scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let n = y.len();
        supernodal::SupernodalLltRef::new(&self.symbolic, &self.L).l_solve_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(y, n, 1),
            Par::Seq,
            MemStack::new(&mut scratch.1),
        );
    }

    /// x = L⁻ᵀ y, with y in order of elimination.
    pub(crate) fn backward(&self, y: &[f64], x: &mut [f64]) {
        let mut scratch = self.solve_scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (z, memory) = &mut *scratch;
        z.copy_from_slice(y);
        let n = z.len();
        supernodal::SupernodalLltRef::new(&self.symbolic, &self.L).l_transpose_solve_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(z, n, 1),
            Par::Seq,
            MemStack::new(memory),
        );
        for (z, &k) in z.iter().zip(&self.scalar_order) {
            x[k] = *z;
        }
    }

    /// The last `p` columns of L, column-major, zero above the diagonal.
    pub(crate) fn copy_last_columns(&self, p: usize, out: &mut [f64]) {
        out.fill(0.0);
        let first = self.scalar_order.len() - p;
        let factor = supernodal::SupernodalLltRef::new(&self.symbolic, &self.L);
        for s in (0..self.symbolic.n_supernodes()).rev() {
            let node = factor.supernode(s);
            let (start, width) = (node.start(), node.val().ncols());
            if start + width <= first {
                break;
            }
            for k in first.max(start)..start + width {
                let column = &mut out[(k - first) * p..(k - first + 1) * p];
                for row in k..start + width {
                    column[row - first] = node.val()[(row - start, k - start)];
                }
                for (r, &row) in node.pattern().iter().enumerate() {
                    column[row - first] = node.val()[(width + r, k - start)];
                }
            }
        }
    }
}

/// Places of the scalar entries: the lower triangle in order of elimination, by columns.
fn spread(
    pattern: &Pattern,
    elimination: &Elimination,
) -> (SymbolicSparseColMat<usize>, Vec<(usize, usize, bool)>) {
    let n = elimination.n_blocks();
    let mut scalar_start = vec![0; n + 1];
    for k in 0..n {
        scalar_start[k + 1] = scalar_start[k] + elimination.size[k];
    }
    // Blocks of each column: (later block, entry of the pattern, flipped).
    let mut columns: Vec<Vec<(usize, usize, bool)>> = vec![Vec::new(); n];
    for e in pattern.entries() {
        let (i, j) = (elimination.place[e.row], elimination.place[e.col]);
        columns[i.min(j)].push((i.max(j), e.id.0, i < j));
    }
    let mut target = vec![(0, 0, false); pattern.n_entries()];
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for (k, blocks) in columns.iter_mut().enumerate() {
        blocks.sort_unstable();
        let height: usize = blocks.iter().map(|b| elimination.size[b.0]).sum();
        let mut first = row_idx.len();
        for &(i, id, flipped) in blocks.iter() {
            target[id] = (first, height, flipped);
            first += elimination.size[i];
        }
        for _ in 0..elimination.size[k] {
            for &(i, ..) in blocks.iter() {
                row_idx.extend(scalar_start[i]..scalar_start[i + 1]);
            }
            col_ptr.push(row_idx.len());
        }
    }
    let dim = scalar_start[n];
    (SymbolicSparseColMat::new_checked(dim, dim, col_ptr, None, row_idx), target)
}

fn find_supernodes(
    lower: &SymbolicSparseColMat<usize>,
) -> supernodal::SymbolicSupernodalCholesky<usize> {
    let dim = lower.ncols();
    // faer reads the upper triangle here: the transpose of ours.
    let mut col_ptr = vec![0; dim + 1];
    for &i in lower.row_idx() {
        col_ptr[i + 1] += 1;
    }
    for i in 0..dim {
        col_ptr[i + 1] += col_ptr[i];
    }
    let mut fill = col_ptr.clone();
    let mut row_idx = vec![0; lower.row_idx().len()];
    for j in 0..dim {
        for &i in &lower.row_idx()[lower.col_ptr()[j]..lower.col_ptr()[j + 1]] {
            row_idx[fill[i]] = j;
            fill[i] += 1;
        }
    }
    let upper = SymbolicSparseColMat::new_checked(dim, dim, col_ptr, None, row_idx);
    let need = StackReq::any_of(&[
        simplicial::prefactorize_symbolic_cholesky_scratch::<usize>(dim, lower.row_idx().len()),
        supernodal::factorize_supernodal_symbolic_cholesky_scratch::<usize>(dim),
    ]);
    let mut memory = MemBuffer::new(need);
    let (mut tree, mut counts) = (vec![0isize; dim], vec![0usize; dim]);
    let tree = simplicial::prefactorize_symbolic_cholesky(
        &mut tree,
        &mut counts,
        upper.as_ref(),
        MemStack::new(&mut memory),
    );
    let result = supernodal::factorize_supernodal_symbolic_cholesky(
        upper.as_ref(),
        tree,
        &counts,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match result {
        Ok(symbolic) => symbolic,
        Err(error) => unreachable!("invariant: the index type holds the factor's size: {error}"),
    }
}
