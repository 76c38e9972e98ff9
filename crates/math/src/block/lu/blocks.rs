//! LU factorization block by block, with row exchanges inside diagonal blocks.
//!
//! A = L U with unit diagonal blocks in U: for each j, column j of L and row j of U are the matrix's
//! minus Σ_k L_ik U_kj and Σ_k L_jk U_ki over the earlier k that hold j, then U_ji ← D_j⁻¹ U_ji with
//! the diagonal block D_j = L_jj factored by row exchanges. Structure and order are those of the
//! Cholesky factor, and so is the loop, [`left_looking`](crate::block::left_looking).

use crate::Singular;
use crate::block::kernel::{self, Kernel};
use crate::block::left_looking::{BlockFactors, FactorSteps, SolveSteps, UpdateSizes};
use crate::block::{Elimination, General, Pattern};

/// The factors D, L and U.
#[derive(Debug)]
pub(super) struct Blocks {
    factors: BlockFactors<2>,
    /// Row exchanges of the diagonal blocks, by scalar index of the pattern.
    pivot: Vec<usize>,
}

impl Blocks {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        let factors = BlockFactors::new(pattern, elimination);
        Self { factors, pivot: vec![0; pattern.dim()] }
    }

    pub(super) fn factor(&mut self, A: &General) -> Result<(), Singular> {
        let steps = LuSteps { A, pivot: &mut self.pivot };
        self.factors.factor(steps).map_err(|block| Singular { block })
    }

    pub(super) fn solve_in_place(&self, x: &mut [f64]) {
        self.factors.solve_in_place(TriangularSteps { pivot: &self.pivot }, x);
    }
}

struct LuSteps<'a> {
    A: &'a General,
    pivot: &'a mut [usize],
}

impl FactorSteps<2> for LuSteps<'_> {
    #[inline(always)]
    fn load<K: Kernel>(&mut self, factors: &mut BlockFactors<2>) {
        let BlockFactors { layout, diagonal, off_diagonal: [L, U], .. } = factors;
        L.fill(0.0);
        U.fill(0.0);
        for e in self.A.pattern().entries() {
            let (target, is_lower) = layout.target[e.id.0];
            let (block, mirror) = (self.A.block(e.id), self.A.upper(e.id));
            if e.row == e.col {
                diagonal[target..target + block.len()].copy_from_slice(block);
                continue;
            }
            let (lower, upper) = if is_lower { (block, mirror) } else { (mirror, block) };
            L[target..target + lower.len()].copy_from_slice(lower);
            U[target..target + upper.len()].copy_from_slice(upper);
        }
    }

    /// D_j −= L_jk U_kj.
    #[inline(always)]
    fn update_diagonal<K: Kernel>(
        D_j: &mut [f64],
        [L_jk, U_kj]: [&[f64]; 2],
        s_j: usize,
        s_k: usize,
    ) {
        K::sub_nn(D_j, L_jk, U_kj, s_j, s_j, s_k);
    }

    /// L_ij −= L_ik U_kj, U_ji −= L_jk U_ki.
    #[inline(always)]
    fn update<K: Kernel>(
        [L_ij, U_ji]: [&mut [f64]; 2],
        [L_jk, U_kj]: [&[f64]; 2],
        [L_ik, U_ki]: [&[f64]; 2],
        s: UpdateSizes,
    ) {
        K::sub_nn(L_ij, L_ik, U_kj, s.i, s.j, s.k);
        K::sub_nn(U_ji, L_jk, U_ki, s.j, s.i, s.k);
    }

    #[inline(always)]
    fn factor_diagonal<K: Kernel>(&mut self, D_j: &mut [f64], at_j: usize, s_j: usize) -> bool {
        kernel::lu(D_j, &mut self.pivot[at_j..at_j + s_j], s_j)
    }

    /// U_ji ← D_j⁻¹ U_ji.
    #[inline(always)]
    fn divide<K: Kernel>(
        &self,
        D_j: &[f64],
        at_j: usize,
        [_, U_ji]: [&mut [f64]; 2],
        s_j: usize,
        s_i: usize,
    ) {
        kernel::divide_by_lu(D_j, &self.pivot[at_j..at_j + s_j], U_ji, s_j, s_i);
    }
}

/// L y = b, then U x = y.
struct TriangularSteps<'a> {
    pivot: &'a [usize],
}

impl SolveSteps<2> for TriangularSteps<'_> {
    #[inline(always)]
    fn forward_diagonal(&self, D_j: &[f64], at_j: usize, x_j: &mut [f64], s_j: usize) {
        kernel::solve_lu(D_j, &self.pivot[at_j..at_j + s_j], x_j, s_j);
    }

    #[inline(always)]
    fn forward([L_ij, _]: [&[f64]; 2], x_j: &[f64], x_i: &mut [f64], s_j: usize, s_i: usize) {
        kernel::sub_times(x_i, L_ij, x_j, s_i, s_j);
    }

    #[inline(always)]
    fn backward([_, U_ji]: [&[f64]; 2], x_i: &[f64], x_j: &mut [f64], s_j: usize, s_i: usize) {
        kernel::sub_times(x_j, U_ji, x_i, s_j, s_i);
    }

    /// U has unit diagonal blocks.
    #[inline(always)]
    fn backward_diagonal(&self, _: &[f64], _: &mut [f64], _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::simd::Job;
    use crate::testing;

    #[test]
    fn the_vector_code_gives_the_bits_of_its_scalar_twin() {
        let mut rng = SplitMix64::new(41);
        for (n, sizes) in [(60, &[3][..]), (40, &[6]), (20, &[1, 6, 17, 24])] {
            let pattern = testing::pattern(&mut rng, n, sizes, 5);
            let A = testing::general(&mut rng, &pattern, 3.0);
            let elimination = Elimination::analyse(&pattern, &vec![false; n]);
            let mut vector = Blocks::new(&pattern, elimination.clone());
            let mut scalar = Blocks::new(&pattern, elimination);
            vector.factor(&A).unwrap();
            let steps = LuSteps { A: &A, pivot: &mut scalar.pivot };
            scalar.factors.factor_job(steps).run().unwrap();
            assert_eq!(vector.factors.diagonal, scalar.factors.diagonal, "{sizes:?}");
            assert_eq!(vector.factors.off_diagonal, scalar.factors.off_diagonal, "{sizes:?}");
            let (mut x, mut y) = (vec![1.0; pattern.dim()], vec![1.0; pattern.dim()]);
            vector.solve_in_place(&mut x);
            let steps = TriangularSteps { pivot: &scalar.pivot };
            scalar.factors.solve_job(steps, &mut y).run();
            assert_eq!(x, y, "{sizes:?}");
        }
    }
}
