//! The blocks of A⁻¹ that lie in the pattern of the Cholesky factor.
//!
//! Takahashi's recursion: with A = Rᵀ R and W_jk = R_jj⁻¹ R_jk, the inverse Z satisfies
//! Z_ji = −Σ_k W_jk Z_ki and Z_jj = R_jj⁻¹ R_jj⁻ᵀ − Σ_k W_jk Z_kj over the later blocks k that row j
//! of R holds [Takahashi73]; all Z on the right lie in the pattern, too. From the last block to the
//! first, it costs about twice the factorization. Blocks outside the pattern are not computed.

use super::blocks::Blocks;
use crate::NotPositiveDefinite;
use crate::block::kernel::{self, BySize, Kernel, SizedJob};
use crate::block::left_looking::BlockFactors;
use crate::block::{Elimination, Pattern, Symmetric, View};
use crate::simd::dispatch;

/// Blocks of an inverse, analysed once and computed again as values change.
#[derive(Debug)]
pub struct SelectedInverse {
    cholesky: Blocks,
    /// Diagonal blocks of Z, in full.
    Z_diagonal: Vec<f64>,
    /// The blocks of Z right of the diagonal, in the layout of R.
    Z: Vec<f64>,
    /// Scratch of one row: W, and a transposed block.
    W: Vec<f64>,
    transposed: Vec<f64>,
}

impl SelectedInverse {
    /// Analyses a pattern.
    pub fn analyse(pattern: &Pattern) -> Self {
        let elimination = Elimination::analyse(pattern, &vec![false; pattern.n_blocks()]);
        let largest = elimination.size.iter().copied().max().unwrap_or(0);
        let width = |k| {
            let later: usize =
                elimination.below[elimination.column(k)].iter().map(|&i| elimination.size[i]).sum();
            elimination.size[k] * later
        };
        let widest = (0..elimination.n_blocks()).map(width).max().unwrap_or(0);
        let cholesky = Blocks::new(pattern, elimination);
        Self {
            Z_diagonal: vec![0.0; cholesky.factors.layout.n_diagonal()],
            Z: vec![0.0; cholesky.factors.layout.n_off_diagonal()],
            W: vec![0.0; widest],
            transposed: vec![0.0; largest * largest],
            cholesky,
        }
    }

    /// Factors a matrix with the analysed pattern and computes the blocks of its inverse.
    ///
    /// # Panics
    /// If the matrix has another pattern than the one analysed.
    pub fn compute(&mut self, A: &Symmetric) -> Result<(), NotPositiveDefinite> {
        self.compute_view(A.into())
    }

    /// The same for a matrix whose values lie elsewhere.
    ///
    /// # Panics
    /// If the matrix has another pattern than the one analysed.
    pub fn compute_view(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        let layout = &self.cholesky.factors.layout;
        assert_eq!(A.pattern().n_blocks(), layout.elimination.n_blocks());
        let common_size = layout.common_size;
        self.cholesky.factor(A)?;
        dispatch(BySize { common_size, job: Invert { inverse: self } });
        Ok(())
    }

    /// x ← A⁻¹ x with the matrix last computed.
    ///
    /// # Panics
    /// If `x` is shorter than the dimension of the matrix.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        self.cholesky.solve_in_place(x);
    }

    /// The diagonal block (k, k) of the inverse, row-major.
    pub fn diagonal_block(&self, k: usize) -> &[f64] {
        let layout = &self.cholesky.factors.layout;
        let place = layout.elimination.place[k];
        &self.Z_diagonal[layout.diagonal(place, layout.elimination.size[place])]
    }

    /// Writes the block (i, j) of the inverse, row-major; false if it lies outside the factor.
    ///
    /// # Panics
    /// If `out` has not the size of the block.
    pub fn copy_block(&self, i: usize, j: usize, out: &mut [f64]) -> bool {
        if i == j {
            out.copy_from_slice(self.diagonal_block(i));
            return true;
        }
        let layout = &self.cholesky.factors.layout;
        let elimination = &layout.elimination;
        let (i, j) = (elimination.place[i], elimination.place[j]);
        let Some(entry) = elimination.find(i.max(j), i.min(j)) else {
            return false;
        };
        let (m, n) = (elimination.size[i], elimination.size[j]);
        let block = &self.Z[layout.block(entry, m * n)];
        if i < j {
            out.copy_from_slice(block);
        } else {
            assert_eq!(out.len(), m * n);
            kernel::transpose(out, block, n, m);
        }
        true
    }
}

struct Invert<'a> {
    inverse: &'a mut SelectedInverse,
}

impl SizedJob for Invert<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self) {
        invert::<K>(self.inverse);
    }
}

#[inline(always)]
fn invert<K: Kernel>(inverse: &mut SelectedInverse) {
    let SelectedInverse { cholesky, Z_diagonal, Z, W, transposed } = inverse;
    let BlockFactors { layout, diagonal, off_diagonal: [R], .. } = &cholesky.factors;
    let elimination = &layout.elimination;
    let size = |k: usize| K::size(elimination.size[k]);
    for j in (0..elimination.n_blocks()).rev() {
        let s_j = size(j);
        let column = elimination.column(j);
        let R_jj = &diagonal[layout.diagonal(j, s_j)];
        // Row j of Z ends where the next row starts; the blocks it needs come after.
        let (first, row_end) = (layout.first_value(column.start), layout.first_value(column.end));
        let (front, later) = Z.split_at_mut(row_end);
        let Z_j = &mut front[first..];
        let diagonal_end = layout.diagonal(j, s_j).end;
        let (front, later_diagonal) = Z_diagonal.split_at_mut(diagonal_end);
        let Z_jj = &mut front[layout.diagonal(j, s_j)];
        Z_j.fill(0.0);

        // W_jk = R_jj⁻¹ R_jk.
        W[..row_end - first].copy_from_slice(&R[first..row_end]);
        for e in column.clone() {
            let s_k = size(elimination.below[e]);
            let at = layout.first_value(e) - first;
            kernel::divide_by_upper(R_jj, &mut W[at..at + s_j * s_k], s_j, s_k);
        }

        // Z_ji −= W_jk Z_ki, using each Z_ki with k < i for its mirror image, too.
        for e in column.clone() {
            let k = elimination.below[e];
            let (s_k, at_k) = (size(k), layout.first_value(e) - first);
            let W_k = &W[at_k..at_k + s_j * s_k];
            let begin = layout.diagonal(k, s_k).start - diagonal_end;
            let Z_kk = &later_diagonal[begin..begin + s_k * s_k];
            K::sub_nn(&mut Z_j[at_k..at_k + s_j * s_k], W_k, Z_kk, s_j, s_k, s_k);
            let mut entry_k = elimination.column(k).start;
            for e_i in e + 1..column.end {
                let i = elimination.below[e_i];
                while elimination.below[entry_k] != i {
                    entry_k += 1;
                }
                let (s_i, at_i) = (size(i), layout.first_value(e_i) - first);
                let begin = layout.first_value(entry_k) - row_end;
                let Z_ki = &later[begin..begin + s_k * s_i];
                K::sub_nn(&mut Z_j[at_i..at_i + s_j * s_i], W_k, Z_ki, s_j, s_i, s_k);
                let Z_ik = &mut transposed[..s_k * s_i];
                kernel::transpose(Z_ik, Z_ki, s_k, s_i);
                let W_i = &W[at_i..at_i + s_j * s_i];
                K::sub_nn(&mut Z_j[at_k..at_k + s_j * s_k], W_i, Z_ik, s_j, s_k, s_i);
            }
        }

        // Z_jj = R_jj⁻¹ R_jj⁻ᵀ − Σ W_jk Z_kj.
        kernel::invert_gram(R_jj, Z_jj, &mut transposed[..s_j * s_j], s_j);
        for e in column {
            let s_k = size(elimination.below[e]);
            let at = layout.first_value(e) - first;
            let Z_kj = &mut transposed[..s_k * s_j];
            kernel::transpose(Z_kj, &Z_j[at..at + s_j * s_k], s_j, s_k);
            K::sub_nn(Z_jj, &W[at..at + s_j * s_k], Z_kj, s_j, s_j, s_k);
        }
        for r in 0..s_j {
            for c in 0..r {
                Z_jj[r * s_j + c] = Z_jj[c * s_j + r];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn the_blocks_are_those_of_the_dense_inverse() {
        let mut rng = SplitMix64::new(91);
        for (n, sizes) in
            [(40, &[6][..]), (60, &[3]), (20, &[1, 6, 17]), (6, &[0, 2]), (1, &[30]), (0, &[1])]
        {
            let pattern = testing::pattern(&mut rng, n, sizes, 4);
            let A = testing::positive_definite(&mut rng, &pattern);
            let mut selected = SelectedInverse::analyse(&pattern);
            selected.compute(&A).unwrap();
            let dense = A.to_dense().cholesky().map(|c| c.inverse()).unwrap();
            // ‖ΔZ‖ ≤ c dim ε κ ‖Z‖ with κ below the dimension for these dominant matrices.
            let scale = if pattern.dim() == 0 { 0.0 } else { dense.amax() };
            let bound = f64::EPSILON * (pattern.dim() * pattern.dim()) as f64 * scale;
            for e in pattern.entries() {
                for (i, j) in [(e.row, e.col), (e.col, e.row)] {
                    let mut block = vec![f64::NAN; pattern.size(i) * pattern.size(j)];
                    assert!(selected.copy_block(i, j, &mut block));
                    for (k, value) in block.iter().enumerate() {
                        let (r, c) = (k / pattern.size(j), k % pattern.size(j));
                        let exact = dense[(pattern.start(i) + r, pattern.start(j) + c)];
                        assert!(
                            (value - exact).abs() <= bound,
                            "({i}, {j}): {value} against {exact}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_outside_the_factor_is_not_computed() {
        let pattern = Pattern::new(&[2, 2], []);
        let mut A = Symmetric::zeros(&pattern);
        for k in 0..2 {
            A.block_mut(pattern.diagonal(k)).copy_from_slice(&[4.0, 0.0, 0.0, 16.0]);
        }
        let mut selected = SelectedInverse::analyse(&pattern);
        selected.compute(&A).unwrap();
        assert_eq!(selected.diagonal_block(1), [0.25, 0.0, 0.0, 0.0625]);
        assert!(!selected.copy_block(0, 1, &mut [0.0; 4]));
    }
}
