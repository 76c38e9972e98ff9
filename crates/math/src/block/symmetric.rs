//! A symmetric block matrix: the lower triangle of a [`Pattern`] with values.
//!
//! The product reads each stored block once and uses it twice, for (i, j) and for (j, i); it is
//! bound by memory on large matrices. Diagonal blocks hold both their triangles, and both must be
//! written. The product is one fixed sequence of operations, hence the same bits always; two
//! threads did not reliably beat one.

use super::{BlockId, Pattern, product3};
use crate::simd::{Job, dispatch};
use nalgebra::DMatrix;

/// Lower block triangle of a symmetric matrix, row-major blocks.
#[derive(Clone, Debug, Default)]
pub struct Symmetric {
    pattern: Pattern,
    values: Vec<f64>,
}

/// A borrowed view of a symmetric block matrix, for example a part of a larger one.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pattern: &'a Pattern,
    values: &'a [f64],
}

impl<'a> View<'a> {
    /// Values in the order of a pattern.
    ///
    /// # Panics
    /// If there are not as many values as the pattern has.
    pub fn new(pattern: &'a Pattern, values: &'a [f64]) -> Self {
        assert_eq!(values.len(), pattern.n_values());
        Self { pattern, values }
    }

    /// The sparsity pattern.
    pub fn pattern(self) -> &'a Pattern {
        self.pattern
    }

    /// All values, block after block in the order of [`Pattern::entries`].
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// A block, row-major.
    pub fn block(self, id: BlockId) -> &'a [f64] {
        &self.values[self.pattern.values(id)]
    }

    /// y = A x.
    ///
    /// # Panics
    /// If `x` or `y` has not the dimension of the matrix.
    pub fn mul(self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.pattern.dim(), self.pattern.dim()));
        if self.pattern.common_size() == Some(3) {
            let (_, row, col, _) = self.pattern.raw();
            product3::product(row, col, self.values, x, y);
        } else {
            dispatch(Product { A: self, x, y });
        }
    }
}

impl<'a> From<&'a Symmetric> for View<'a> {
    fn from(A: &'a Symmetric) -> Self {
        Self { pattern: &A.pattern, values: &A.values }
    }
}

impl Symmetric {
    /// The zero matrix with the given pattern.
    pub fn zeros(pattern: &Pattern) -> Self {
        Self { pattern: pattern.clone(), values: vec![0.0; pattern.n_values()] }
    }

    /// Replaces the matrix by zero with the given pattern; keeps the allocations.
    pub fn reshape(&mut self, pattern: &Pattern) {
        self.pattern.clone_from(pattern);
        self.values.clear();
        self.values.resize(pattern.n_values(), 0.0);
    }

    /// Exchanges all values, in the order of the pattern, with those of a vector of the same length.
    ///
    /// # Panics
    /// If `values` has another length.
    pub fn swap_values(&mut self, values: &mut Vec<f64>) {
        assert_eq!(values.len(), self.values.len(), "as many values as the pattern has");
        std::mem::swap(&mut self.values, values);
    }

    /// Sets every value to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// The sparsity pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// A block, row-major.
    pub fn block(&self, id: BlockId) -> &[f64] {
        &self.values[self.pattern.values(id)]
    }

    /// A block, row-major; both triangles of a diagonal block must be written.
    pub fn block_mut(&mut self, id: BlockId) -> &mut [f64] {
        &mut self.values[self.pattern.values(id)]
    }

    /// All values, block after block in the order of [`Pattern::entries`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, block after block in the order of [`Pattern::entries`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// y = A x.
    ///
    /// # Panics
    /// If `x` or `y` has not the dimension of the matrix.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        View::from(self).mul(x, y);
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

    /// The whole matrix, both triangles.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.pattern.dim(), self.pattern.dim());
        for e in self.pattern.entries() {
            let n = self.pattern.size(e.col);
            for (k, &value) in self.block(e.id).iter().enumerate() {
                let (r, c) = (self.pattern.start(e.row) + k / n, self.pattern.start(e.col) + k % n);
                dense[(r, c)] = value;
                dense[(c, r)] = value;
            }
        }
        dense
    }
}

struct Product<'a> {
    A: View<'a>,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Job for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { A, x, y } = self;
        match A.pattern.common_size() {
            Some(6) => product_of_blocks_of_six(A, x, y),
            _ => product_of_any_blocks(A, x, y),
        }
    }
}

#[inline(always)]
fn product_of_blocks_of_six(A: View<'_>, x: &[f64], y: &mut [f64]) {
    const S: usize = 6;
    let (_, row, col, _) = A.pattern.raw();
    let blocks = A.values.as_chunks::<S>().0;
    let (x, y) = (x.as_chunks::<S>().0, y.as_chunks_mut::<S>().0);
    for i in 0..y.len() {
        let (x_i, mut y_i) = (x[i], [0.0; S]);
        let (begin, end) = (row[i], row[i + 1] - 1);
        let stored = blocks[begin * S..end * S].chunks_exact(S);
        for (&j, block) in col[begin..end].iter().zip(stored) {
            let (x_j, mut y_j) = (x[j], y[j]);
            for r in 0..S {
                for c in 0..S {
                    y_i[r] = block[r][c].mul_add(x_j[c], y_i[r]);
                    y_j[c] = block[r][c].mul_add(x_i[r], y_j[c]);
                }
            }
            y[j] = y_j;
        }
        for (r, block_row) in blocks[end * S..(end + 1) * S].iter().enumerate() {
            for c in 0..S {
                y_i[r] = block_row[c].mul_add(x_i[c], y_i[r]);
            }
        }
        y[i] = y_i;
    }
}

#[inline(always)]
fn product_of_any_blocks(A: View<'_>, x: &[f64], y: &mut [f64]) {
    let (start, row, col, offset) = A.pattern.raw();
    y.fill(0.0);
    for i in 0..A.pattern.n_blocks() {
        for id in row[i]..row[i + 1] {
            let j = col[id];
            let n = start[j + 1] - start[j];
            if n == 0 {
                continue;
            }
            let (x_i, x_j) = (&x[start[i]..start[i + 1]], &x[start[j]..start[j + 1]]);
            let block = &A.values[offset[id]..offset[id + 1]];
            for (r, block_row) in block.chunks_exact(n).enumerate() {
                y[start[i] + r] += dot(block_row, x_j);
                if i != j {
                    for (y_c, a) in y[start[j]..start[j + 1]].iter_mut().zip(block_row) {
                        *y_c = a.mul_add(x_i[r], *y_c);
                    }
                }
            }
        }
    }
}

/// Sum of products in lanes that a vector unit can hold; one order for every instruction set.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sum = [0.0; LANES];
    let ((a8, a_rest), (b8, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a8.iter().zip(b8) {
        for k in 0..LANES {
            sum[k] = a[k].mul_add(b[k], sum[k]);
        }
    }
    let mut total =
        ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
    for (a, b) in a_rest.iter().zip(b_rest) {
        total = a.mul_add(*b, total);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn the_product_equals_that_of_the_dense_matrix_and_of_the_scalar_twin() {
        let mut rng = SplitMix64::new(1);
        for (n, sizes) in
            [(30, &[3][..]), (20, &[6]), (20, &[1, 3, 6, 18, 0]), (1, &[40]), (0, &[6])]
        {
            let pattern = testing::pattern(&mut rng, n, sizes, 4);
            let A = testing::positive_definite(&mut rng, &pattern);
            let x = rng.values(pattern.dim());
            let (mut y, mut twin) = (rng.values(pattern.dim()), vec![f64::NAN; pattern.dim()]);
            A.mul(&x, &mut y);
            Product { A: View::from(&A), x: &x, y: &mut twin }.run();
            if sizes != [3] {
                assert_eq!(y, twin, "{sizes:?}"); // 3×3 blocks have a loop and a twin of their own
            }
            let dense = A.to_dense();
            let expected = &dense * nalgebra::DVector::from_column_slice(&x);
            // A row has at most dim terms below the row sum of |A|; each rounds once.
            let bound = f64::EPSILON
                * (2 * pattern.dim()) as f64
                * dense.map(f64::abs).row_sum().amax().max(1.0);
            for (y, e) in y.iter().zip(expected.iter()) {
                assert!((y - e).abs() <= bound, "{sizes:?}: {y} against {e}");
            }
            let mut diagonal = vec![0.0; pattern.dim()];
            A.diagonal(&mut diagonal);
            assert_eq!(diagonal, dense.diagonal().as_slice());
        }
    }

    #[test]
    fn a_reshaped_matrix_is_zero_on_its_pattern() {
        let mut rng = SplitMix64::new(2);
        let (first, second) =
            (testing::pattern(&mut rng, 8, &[6], 3), Pattern::new(&[2, 2], [(0, 1)]));
        let mut A = testing::positive_definite(&mut rng, &first);
        A.reshape(&second);
        assert_eq!(A.pattern(), &second);
        assert_eq!(A.values(), [0.0; 12]);
    }
}
