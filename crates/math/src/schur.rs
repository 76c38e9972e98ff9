//! Schur complement of a sparse positive definite block matrix onto some of its blocks.
//!
//! With the kept blocks p and the others n, Ŝ = A_pp − A_pn A_nn⁻¹ A_np: the matrix of a problem of
//! which only p takes part in contact. The blocks are ordered [n; p] with little fill in n, factored
//! once as A = L Lᵀ, and Ŝ = L_pp L_ppᵀ is read off the last columns; right-hand sides are reduced
//! and solutions expanded with the same factor. Cost: one sparse factorization and |p|³/3. Neither
//! factoring nor solving allocates. It does not solve with Ŝ.

use crate::NotPositiveDefinite;
use crate::block::{Elimination, Pattern, Supernodal, Symmetric, View, dot};
use crate::simd::{Job, dispatch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

/// A Schur complement that is analysed once and formed again as values change.
#[derive(Debug)]
pub struct Schur {
    pattern: Pattern,
    factor: Supernodal,
    /// Scalar indices of the kept blocks in the pattern's order.
    kept: Vec<usize>,
    /// Lower triangle of L_pp, column-major.
    L_pp: Vec<f64>,
    S: Vec<f64>,
    /// L⁻¹ b for the right-hand side last reduced, in order of elimination.
    half_solved: Vec<f64>,
}

impl Schur {
    /// Analyses a pattern for the blocks for which `keep` is true.
    ///
    /// # Panics
    /// If `keep` has not one entry for each block.
    pub fn analyse(pattern: &Pattern, keep: &[bool]) -> Self {
        assert_eq!(keep.len(), pattern.n_blocks());
        Self::from_elimination(pattern, keep, &Elimination::analyse(pattern, keep))
    }

    /// Analyses a pattern in a given order, that of [`Schur::order_of`]; blocks that are not kept are
    /// eliminated in it. For repeated analyses with other kept blocks: finding the order takes most
    /// of the time of an analysis.
    ///
    /// # Panics
    /// If `keep` or `order` has not one entry for each block.
    pub fn analyse_in(pattern: &Pattern, keep: &[bool], order: &[usize]) -> Self {
        assert_eq!((keep.len(), order.len()), (pattern.n_blocks(), pattern.n_blocks()));
        let eliminated = order.iter().copied().filter(|k| !keep[*k]);
        let order = eliminated.chain((0..keep.len()).filter(|k| keep[*k])).collect();
        Self::from_elimination(pattern, keep, &Elimination::analyse_in(pattern, keep, order))
    }

    /// An order of elimination with little fill.
    pub fn order_of(pattern: &Pattern) -> Vec<usize> {
        Elimination::order_of(pattern)
    }

    fn from_elimination(pattern: &Pattern, keep: &[bool], elimination: &Elimination) -> Self {
        let kept: Vec<_> =
            (0..keep.len()).filter(|&k| keep[k]).flat_map(|k| pattern.range(k)).collect();
        Self {
            factor: Supernodal::new(pattern, elimination),
            L_pp: vec![0.0; kept.len() * kept.len()],
            S: vec![0.0; kept.len() * kept.len()],
            half_solved: vec![0.0; pattern.dim()],
            pattern: pattern.clone(),
            kept,
        }
    }

    /// The pattern that was analysed.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Dimension of the complement.
    pub fn dim(&self) -> usize {
        self.kept.len()
    }

    /// Scalar index in the pattern of each row of the complement, increasing.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Forms the complement of a matrix with the analysed pattern. After an error there is none.
    ///
    /// # Panics
    /// If the matrix has not as many values as the analysed pattern.
    pub fn factor(&mut self, A: &Symmetric) -> Result<(), NotPositiveDefinite> {
        self.factor_view(A.into())
    }

    /// [`Self::factor`] for a borrowed view of the matrix.
    ///
    /// # Panics
    /// If the matrix has not as many values as the analysed pattern.
    pub fn factor_view(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        assert_eq!(A.values().len(), self.pattern.n_values());
        debug_assert_eq!(A.pattern(), &self.pattern);
        self.factor.factor(A)?;
        let p = self.kept.len();
        self.factor.copy_last_columns(p, &mut self.L_pp);
        let L = MatRef::from_column_major_slice(&self.L_pp, p, p);
        triangular::matmul(
            MatMut::from_column_major_slice_mut(&mut self.S, p, p),
            BlockStructure::TriangularLower,
            Accum::Replace,
            L,
            BlockStructure::TriangularLower,
            L.transpose(),
            BlockStructure::TriangularUpper,
            1.0,
            Par::Seq,
        );
        mirror(&mut self.S, p);
        Ok(())
    }

    /// Ŝ in full, row-major, kept blocks by increasing number.
    pub fn complement(&self) -> &[f64] {
        &self.S
    }

    /// b̂_p = b_p − A_pn A_nn⁻¹ b_n, and stores L⁻¹ b for [`Schur::expand`].
    ///
    /// # Panics
    /// If `b` has not the dimension of the matrix, or `reduced` that of the complement.
    pub fn reduce_rhs(&mut self, b: &[f64], reduced: &mut [f64]) {
        assert_eq!((b.len(), reduced.len()), (self.pattern.dim(), self.dim()));
        self.factor.forward(b, &mut self.half_solved);
        let y_p = &self.half_solved[b.len() - reduced.len()..];
        dispatch(LowerTimes { L: &self.L_pp, y: y_p, out: reduced }); // b̂_p = L_pp (L⁻¹ b)_p
    }

    /// The whole x from its kept part: x_n = A_nn⁻¹ (b_n − A_np x_p), with the b last reduced.
    ///
    /// # Panics
    /// If `x_kept` has not the dimension of the complement, or `x` that of the matrix.
    pub fn expand(&mut self, x_kept: &[f64], x: &mut [f64]) {
        assert_eq!((x_kept.len(), x.len()), (self.dim(), self.pattern.dim()));
        let split = x.len() - x_kept.len();
        // Lᵀ x = y returns x_p if y_p = L_ppᵀ x_p.
        dispatch(TransposedTimes { L: &self.L_pp, x: x_kept, out: &mut self.half_solved[split..] });
        self.factor.backward(&self.half_solved, x);
        for (&k, value) in self.kept.iter().zip(x_kept) {
            x[k] = *value;
        }
    }
}

/// Copies the lower triangle of a column-major matrix into the upper one, tile by tile.
fn mirror(S: &mut [f64], p: usize) {
    const TILE: usize = 32;
    for c0 in (0..p).step_by(TILE) {
        for r0 in (c0..p).step_by(TILE) {
            for c in c0..(c0 + TILE).min(p) {
                for r in r0.max(c + 1)..(r0 + TILE).min(p) {
                    S[r * p + c] = S[c * p + r];
                }
            }
        }
    }
}

/// out = L y for a lower triangle, column-major.
struct LowerTimes<'a> {
    L: &'a [f64],
    y: &'a [f64],
    out: &'a mut [f64],
}

impl Job for LowerTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.out.fill(0.0);
        let columns = self.L.chunks_exact(self.y.len().max(1));
        for (c, (column, y)) in columns.zip(self.y).enumerate() {
            for (out, l) in self.out[c..].iter_mut().zip(&column[c..]) {
                *out = l.mul_add(*y, *out);
            }
        }
    }
}

/// out = Lᵀ x for a lower triangle, column-major.
struct TransposedTimes<'a> {
    L: &'a [f64],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl Job for TransposedTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let columns = self.L.chunks_exact(self.x.len().max(1));
        for (c, (column, out)) in columns.zip(self.out).enumerate() {
            *out = dot(&column[c..], &self.x[c..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;
    use nalgebra::{DMatrix, DVector};

    /// Dense blocks of a matrix by two lists of indices.
    fn part(A: &DMatrix<f64>, rows: &[usize], cols: &[usize]) -> DMatrix<f64> {
        DMatrix::from_fn(rows.len(), cols.len(), |r, c| A[(rows[r], cols[c])])
    }

    #[test]
    fn complement_reduction_and_expansion_equal_those_of_dense_blocks() {
        let mut rng = SplitMix64::new(81);
        for (n, sizes, every) in
            [(40, &[3][..], 4), (25, &[1, 6, 11], 3), (12, &[6], 1), (12, &[6], 99)]
        {
            let pattern = testing::pattern(&mut rng, n, sizes, 4);
            let keep: Vec<_> = (0..n).map(|k| k % every == every - 1).collect();
            let A = testing::positive_definite(&mut rng, &pattern);
            let mut schur = if every == 4 {
                Schur::analyse_in(&pattern, &keep, &Schur::order_of(&pattern))
            } else {
                Schur::analyse(&pattern, &keep)
            };
            schur.factor(&A).unwrap();

            let dense = A.to_dense();
            let p = schur.kept().to_vec();
            let others: Vec<_> = (0..pattern.dim()).filter(|k| !p.contains(k)).collect();
            let solve_n =
                |B: DMatrix<f64>| part(&dense, &others, &others).cholesky().unwrap().solve(&B);
            let expected = part(&dense, &p, &p)
                - part(&dense, &p, &others) * solve_n(part(&dense, &others, &p));
            // Diagonally dominant with margin: errors are a small multiple of dim ε ‖A‖.
            let bound = 8.0 * f64::EPSILON * pattern.dim() as f64 * dense.amax();
            let found = DMatrix::from_row_slice(p.len(), p.len(), schur.complement());
            if !p.is_empty() {
                assert!((&found - &expected).amax() <= bound);
                assert_eq!(found, found.transpose());
            }

            // Reducing, solving and expanding is solving.
            let b = rng.values(pattern.dim());
            let mut reduced = vec![0.0; p.len()];
            schur.reduce_rhs(&b, &mut reduced);
            let x_p = expected.cholesky().unwrap().solve(&DVector::from_column_slice(&reduced));
            let mut x = vec![f64::NAN; pattern.dim()];
            for _ in 0..2 {
                schur.expand(x_p.as_slice(), &mut x); // with the same stored L⁻¹ b
                let error = testing::backward_error(&dense, &x, &b);
                assert!(error <= 8.0 * f64::EPSILON * pattern.dim() as f64, "{error:e}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_has_no_complement() {
        let pattern = Pattern::new(&[2, 2], [(1, 0)]);
        let A = Symmetric::zeros(&pattern);
        assert!(Schur::analyse(&pattern, &[true, false]).factor(&A).is_err());
    }
}
