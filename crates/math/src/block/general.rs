//! A block matrix without symmetry on a symmetric [`Pattern`]: both triangles with values.
//!
//! Each stored block (i, j) below the diagonal has a mirror image (j, i) above it with values of its
//! own. The product is one fixed sequence of operations, hence the same bits always.

use super::symmetric::dot;
use super::{BlockId, Pattern};
use crate::simd::{Job, dispatch};
use nalgebra::DMatrix;

/// Both block triangles of a matrix with a symmetric pattern, row-major blocks.
#[derive(Clone, Debug, Default)]
pub struct General {
    pattern: Pattern,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl General {
    /// The zero matrix with the given pattern.
    pub fn zeros(pattern: &Pattern) -> Self {
        Self {
            pattern: pattern.clone(),
            lower: vec![0.0; pattern.n_values()],
            upper: vec![0.0; pattern.n_mirrored()],
        }
    }

    /// Replaces the matrix by zero with the given pattern; keeps the allocations.
    pub fn reshape(&mut self, pattern: &Pattern) {
        self.pattern.clone_from(pattern);
        self.lower.clear();
        self.lower.resize(pattern.n_values(), 0.0);
        self.upper.clear();
        self.upper.resize(pattern.n_mirrored(), 0.0);
    }

    /// Sets every value to zero.
    pub fn clear(&mut self) {
        self.lower.fill(0.0);
        self.upper.fill(0.0);
    }

    /// The sparsity pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The block (i, j), row-major.
    pub fn block(&self, id: BlockId) -> &[f64] {
        &self.lower[self.pattern.values(id)]
    }

    /// The block (i, j), row-major.
    pub fn block_mut(&mut self, id: BlockId) -> &mut [f64] {
        &mut self.lower[self.pattern.values(id)]
    }

    /// The mirror image (j, i) of a block below the diagonal, row-major; empty for a diagonal block.
    pub fn upper(&self, id: BlockId) -> &[f64] {
        &self.upper[self.pattern.mirrored(id)]
    }

    /// The mirror image (j, i) of a block below the diagonal, row-major; empty for a diagonal block.
    pub fn upper_mut(&mut self, id: BlockId) -> &mut [f64] {
        &mut self.upper[self.pattern.mirrored(id)]
    }

    /// y = A x.
    ///
    /// # Panics
    /// If `x` or `y` has not the dimension of the matrix.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.pattern.dim(), self.pattern.dim()));
        dispatch(Product { A: self, x, y });
    }

    /// The diagonal of the matrix.
    ///
    /// # Panics
    /// If `out` has not the dimension of the matrix.
    pub fn diagonal(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.pattern.dim());
        for k in 0..self.pattern.n_blocks() {
            let block = self.block(self.pattern.diagonal(k));
            let stride = self.pattern.size(k) + 1;
            for (d, value) in
                out[self.pattern.range(k)].iter_mut().zip(block.iter().step_by(stride))
            {
                *d = *value;
            }
        }
    }

    /// The whole matrix.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.pattern.dim(), self.pattern.dim());
        self.for_each_value(|r, c, value| dense[(r, c)] = value);
        dense
    }

    /// Calls `f(row, column, value)` for every stored value.
    pub(super) fn for_each_value(&self, mut f: impl FnMut(usize, usize, f64)) {
        for e in self.pattern.entries() {
            let (i, j) = (self.pattern.range(e.row), self.pattern.range(e.col));
            for (k, &value) in self.block(e.id).iter().enumerate() {
                f(i.start + k / j.len(), j.start + k % j.len(), value);
            }
            for (k, &value) in self.upper(e.id).iter().enumerate() {
                f(j.start + k / i.len(), i.start + k % i.len(), value);
            }
        }
    }
}

struct Product<'a> {
    A: &'a General,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Job for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { A, x, y } = self;
        y.fill(0.0);
        for e in A.pattern.entries() {
            let (i, j) = (A.pattern.range(e.row), A.pattern.range(e.col));
            if i.is_empty() || j.is_empty() {
                continue;
            }
            for (y_r, row) in y[i.clone()].iter_mut().zip(A.block(e.id).chunks_exact(j.len())) {
                *y_r += dot(row, &x[j.clone()]);
            }
            for (y_r, row) in y[j].iter_mut().zip(A.upper(e.id).chunks_exact(i.len())) {
                *y_r += dot(row, &x[i.clone()]);
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
    fn the_product_equals_that_of_the_dense_matrix_and_of_the_scalar_twin() {
        let mut rng = SplitMix64::new(3);
        for (n, sizes) in [(30, &[3][..]), (20, &[1, 3, 6, 18, 0]), (1, &[40]), (0, &[6])] {
            let pattern = testing::pattern(&mut rng, n, sizes, 4);
            let A = testing::general(&mut rng, &pattern, 0.0);
            let x = rng.values(pattern.dim());
            let (mut y, mut twin) = (rng.values(pattern.dim()), vec![f64::NAN; pattern.dim()]);
            A.mul(&x, &mut y);
            Product { A: &A, x: &x, y: &mut twin }.run();
            assert_eq!(y, twin, "{sizes:?}");
            let expected = A.to_dense() * nalgebra::DVector::from_column_slice(&x);
            // Entries are at most one, so a sum of dim terms is off by at most dim² ε.
            let bound = f64::EPSILON * (pattern.dim() * pattern.dim()) as f64;
            for (y, e) in y.iter().zip(expected.iter()) {
                assert!((y - e).abs() <= bound, "{sizes:?}: {y} against {e}");
            }
        }
    }
}
