//! Cholesky factorization block by block.
//!
//! The transposed factor R = Lᵀ is stored by block rows: row j is the matrix's minus Σ_k R_kjᵀ R_ki
//! over the earlier rows k that hold j, then divided by the Cholesky factor of its diagonal block
//! [George81, Ch. 2]. Row-major blocks of R put both factors of the product in the order in which
//! vector registers need them. The loop is that of [`left_looking`](crate::block::left_looking).

use crate::NotPositiveDefinite;
use crate::block::kernel::{self, Kernel};
use crate::block::left_looking::{BlockFactors, FactorSteps, SolveSteps, UpdateSizes};
use crate::block::{Elimination, Pattern, View};

/// The factor R, with one value array for the blocks right of its diagonal.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) factors: BlockFactors<1>,
}

impl Blocks {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        Self { factors: BlockFactors::new(pattern, elimination) }
    }

    pub(super) fn factor(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        self.factors.factor(CholeskySteps { A }).map_err(|block| NotPositiveDefinite { block })
    }

    pub(super) fn solve_in_place(&self, x: &mut [f64]) {
        self.factors.solve_in_place(TriangularSteps, x);
    }
}

struct CholeskySteps<'a> {
    A: View<'a>,
}

impl FactorSteps<1> for CholeskySteps<'_> {
    #[inline(always)]
    fn load<K: Kernel>(&mut self, factors: &mut BlockFactors<1>) {
        let BlockFactors { layout, diagonal, off_diagonal: [R], .. } = factors;
        R.fill(0.0);
        let (start, rows, cols, offset) = self.A.pattern().raw();
        for i in 0..self.A.pattern().n_blocks() {
            for id in rows[i]..rows[i + 1] {
                let j = cols[id];
                let (s_i, s_j) =
                    (K::size(start[i + 1] - start[i]), K::size(start[j + 1] - start[j]));
                let block = &self.A.values()[offset[id]..offset[id] + s_i * s_j];
                let (target, is_lower) = layout.target[id];
                let values = if i == j { &mut *diagonal } else { &mut *R };
                let copy = &mut values[target..target + s_i * s_j];
                if is_lower {
                    kernel::transpose(copy, block, s_i, s_j);
                } else {
                    copy.copy_from_slice(block);
                }
            }
        }
    }

    /// R_jj −= R_kjᵀ R_kj.
    #[inline(always)]
    fn update_diagonal<K: Kernel>(R_jj: &mut [f64], [R_kj]: [&[f64]; 1], s_j: usize, s_k: usize) {
        K::sub_tn(R_jj, R_kj, R_kj, s_j, s_j, s_k);
    }

    /// R_ji −= R_kjᵀ R_ki.
    #[inline(always)]
    fn update<K: Kernel>(
        [R_ji]: [&mut [f64]; 1],
        [R_kj]: [&[f64]; 1],
        [R_ki]: [&[f64]; 1],
        s: UpdateSizes,
    ) {
        K::sub_tn(R_ji, R_kj, R_ki, s.j, s.i, s.k);
    }

    /// R_jj from R_jjᵀ R_jj.
    #[inline(always)]
    fn factor_diagonal<K: Kernel>(&mut self, R_jj: &mut [f64], _: usize, s_j: usize) -> bool {
        K::cholesky(R_jj, s_j)
    }

    /// R_ji ← R_jj⁻ᵀ R_ji.
    #[inline(always)]
    fn divide<K: Kernel>(
        &self,
        R_jj: &[f64],
        _: usize,
        [R_ji]: [&mut [f64]; 1],
        s_j: usize,
        s_i: usize,
    ) {
        K::solve_transposed(R_jj, R_ji, s_j, s_i);
    }
}

/// Rᵀ y = b, then R x = y.
struct TriangularSteps;

impl SolveSteps<1> for TriangularSteps {
    #[inline(always)]
    fn forward_diagonal(&self, R_jj: &[f64], _: usize, x_j: &mut [f64], s_j: usize) {
        kernel::solve_upper_transposed(R_jj, x_j, s_j);
    }

    #[inline(always)]
    fn forward([R_ji]: [&[f64]; 1], x_j: &[f64], x_i: &mut [f64], s_j: usize, s_i: usize) {
        kernel::sub_transposed_times(x_i, R_ji, x_j, s_j, s_i);
    }

    #[inline(always)]
    fn backward([R_ji]: [&[f64]; 1], x_i: &[f64], x_j: &mut [f64], s_j: usize, s_i: usize) {
        kernel::sub_times(x_j, R_ji, x_i, s_j, s_i);
    }

    #[inline(always)]
    fn backward_diagonal(&self, R_jj: &[f64], x_j: &mut [f64], s_j: usize) {
        kernel::solve_upper(R_jj, x_j, s_j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::simd::Job;
    use crate::testing;

    #[test]
    fn the_vector_code_gives_the_bits_of_its_scalar_twin() {
        let mut rng = SplitMix64::new(21);
        for (n, sizes) in [(60, &[3][..]), (40, &[6]), (20, &[1, 6, 17, 24])] {
            let pattern = testing::pattern(&mut rng, n, sizes, 5);
            let A = testing::positive_definite(&mut rng, &pattern);
            let elimination = Elimination::analyse(&pattern, &vec![false; n]);
            let mut vector = Blocks::new(&pattern, elimination.clone());
            let mut scalar = Blocks::new(&pattern, elimination);
            vector.factor((&A).into()).unwrap();
            scalar.factors.factor_job(CholeskySteps { A: (&A).into() }).run().unwrap();
            assert_eq!(vector.factors.diagonal, scalar.factors.diagonal, "{sizes:?}");
            assert_eq!(vector.factors.off_diagonal, scalar.factors.off_diagonal, "{sizes:?}");
            let (mut x, mut y) = (vec![1.0; pattern.dim()], vec![1.0; pattern.dim()]);
            vector.solve_in_place(&mut x);
            scalar.factors.solve_job(TriangularSteps, &mut y).run();
            assert_eq!(x, y, "{sizes:?}");
        }
    }
}
