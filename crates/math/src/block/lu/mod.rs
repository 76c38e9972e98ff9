//! LU factorization of a [`General`] block matrix: symmetric pattern, unsymmetric values.
//!
//! Our own block factorization exchanges rows inside diagonal blocks only, so that its structure is
//! that of the Cholesky factor and is analysed once. Where that is not enough, because a diagonal
//! block is singular or [`Lu::solve_refined`] cannot reach a small residual, the same matrix is
//! factored with full row exchanges: densely if it is small, else by faer's sparse LU. One large
//! block, or a factor so full that single blocks would take longer, is factored densely from the start.
//! `factor` and the solves do not allocate, but for the first fallback and every sparse one.

mod blocks;
mod dense;
mod sparse;

use super::{Elimination, Engine, General, Pattern};
use crate::Singular;

/// An LU factorization that is analysed once and refactored as values change.
#[derive(Debug)]
pub struct Lu {
    pattern: Pattern,
    /// None where the matrix is factored with full row exchanges from the start.
    blocks: Option<blocks::Blocks>,
    pivoted: Pivoted,
    /// Selects the one of the two that holds the factors of the last matrix.
    active: Active,
    /// Scratch of `solve_refined`: residual and candidate.
    memory: [Vec<f64>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Active {
    Blocks,
    Pivoted,
}

/// Factorization with full row exchanges.
#[derive(Debug)]
enum Pivoted {
    Unused,
    Dense(Box<dense::Dense>),
    Sparse(Box<sparse::Sparse>),
}

/// Largest dimension for which full row exchanges are made densely.
const LARGEST_DENSE: usize = 2000;
/// Largest dimension that is factored densely from the start, and the speed of a dense product relative
/// to one block by block [-].
const LARGEST_DENSE_FIRST: usize = 4000;
const DENSE_SPEED: f64 = 6.0;
/// Relative residual above which the matrix is factored again with full row exchanges [-].
const GOOD_RESIDUAL: f64 = 1e-8;
/// Relative residual at which refinement stops [-].
const FINE_RESIDUAL: f64 = 1e-14;
/// Largest number of refinements; a good factor needs no more.
const REFINEMENTS: usize = 4;

impl Lu {
    /// Analyses a pattern and chooses how to factor.
    pub fn analyse(pattern: &Pattern) -> Self {
        let elimination = Elimination::analyse(pattern, &vec![false; pattern.n_blocks()]);
        let dense = match Engine::best(&elimination) {
            Engine::Dense => true,
            Engine::Supernodal => is_faster_dense(&elimination),
            Engine::Blocks => false,
        };
        Self::from_elimination(pattern, elimination, dense)
    }

    fn from_elimination(pattern: &Pattern, elimination: Elimination, dense: bool) -> Self {
        Self {
            blocks: (!dense).then(|| blocks::Blocks::new(pattern, elimination)),
            pivoted: if dense {
                Pivoted::Dense(Box::new(dense::Dense::new(pattern)))
            } else {
                Pivoted::Unused
            },
            active: if dense { Active::Pivoted } else { Active::Blocks },
            memory: [vec![0.0; pattern.dim()], vec![0.0; pattern.dim()]],
            pattern: pattern.clone(),
        }
    }

    /// The pattern that was analysed.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether the last factorization exchanged rows across blocks.
    pub fn is_fully_pivoted(&self) -> bool {
        self.active == Active::Pivoted
    }

    /// Factors a matrix with the analysed pattern. After an error there is no factor to solve with.
    ///
    /// # Panics
    /// If the matrix has another pattern than the one analysed.
    pub fn factor(&mut self, A: &General) -> Result<(), Singular> {
        assert_eq!(A.pattern().n_values(), self.pattern.n_values());
        debug_assert_eq!(A.pattern(), &self.pattern);
        if let Some(blocks) = &mut self.blocks
            && blocks.factor(A).is_ok()
        {
            self.active = Active::Blocks;
            return Ok(());
        }
        self.factor_pivoted(A)
    }

    fn factor_pivoted(&mut self, A: &General) -> Result<(), Singular> {
        self.active = Active::Pivoted;
        if let Pivoted::Unused = self.pivoted {
            self.pivoted = if self.pattern.dim() <= LARGEST_DENSE {
                Pivoted::Dense(Box::new(dense::Dense::new(&self.pattern)))
            } else {
                Pivoted::Sparse(Box::new(sparse::Sparse::new(A)))
            };
        }
        match &mut self.pivoted {
            Pivoted::Unused => Ok(()),
            Pivoted::Dense(f) => f.factor(A),
            Pivoted::Sparse(f) => f.factor(A),
        }
    }

    /// x ← A⁻¹ x with the matrix last factored.
    ///
    /// # Panics
    /// If `x` has not the dimension of the matrix.
    pub fn solve_in_place(&mut self, x: &mut [f64]) {
        assert_eq!(x.len(), self.pattern.dim());
        match (&self.blocks, self.active, &mut self.pivoted) {
            (Some(f), Active::Blocks, _) => f.solve_in_place(x),
            (_, _, Pivoted::Dense(f)) => f.solve_in_place(x),
            (_, _, Pivoted::Sparse(f)) => f.solve_in_place(x),
            (_, _, Pivoted::Unused) => {}
        }
    }

    /// Solves A x = rhs with iterative refinement; returns ‖rhs − A x‖ / ‖rhs‖, infinite if no
    /// finite solution was found. `A` is the matrix last factored. Factors it again with full row
    /// exchanges if the residual is too large.
    ///
    /// # Panics
    /// If `rhs` or `x` has not the dimension of the matrix.
    pub fn solve_refined(&mut self, A: &General, rhs: &[f64], x: &mut [f64]) -> f64 {
        let first = self.refine(A, rhs, x);
        if first <= GOOD_RESIDUAL || self.active == Active::Pivoted {
            return first;
        }
        if self.factor_pivoted(A).is_err() {
            return f64::INFINITY;
        }
        self.refine(A, rhs, x)
    }

    /// Solves, then corrects the solution with that of its residual while this helps.
    fn refine(&mut self, A: &General, rhs: &[f64], x: &mut [f64]) -> f64 {
        if rhs.iter().all(|b| *b == 0.0) {
            x.fill(0.0);
            return 0.0;
        }
        x.copy_from_slice(rhs);
        self.solve_in_place(x);
        let mut memory = std::mem::take(&mut self.memory);
        let [residual, candidate] = &mut memory;
        let mut best = relative_residual(A, rhs, x, residual);
        for _ in 0..REFINEMENTS {
            if best <= FINE_RESIDUAL || !best.is_finite() {
                break;
            }
            candidate.copy_from_slice(residual);
            self.solve_in_place(candidate);
            for (candidate, x) in candidate.iter_mut().zip(&*x) {
                *candidate += x;
            }
            let next = relative_residual(A, rhs, candidate, residual);
            if next >= best {
                break;
            }
            x.copy_from_slice(candidate);
            best = next;
        }
        self.memory = memory;
        best
    }
}

/// Whether one dense block takes less time than the products of small ones: twice those of the Cholesky
/// factor here, a third of the cube of the dimension there.
fn is_faster_dense(elimination: &Elimination) -> bool {
    let dim: usize = elimination.size.iter().sum();
    let (sparse, dense) = (2.0 * elimination.work(), (dim as f64).powi(3) / 3.0);
    dim <= LARGEST_DENSE_FIRST && dense <= DENSE_SPEED * sparse
}

/// r = b − A x; returns ‖r‖ / ‖b‖, infinite if it is not a number.
fn relative_residual(A: &General, b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    A.mul(x, r);
    for (r, b) in r.iter_mut().zip(b) {
        *r = b - *r;
    }
    let ratio = norm(r) / norm(b);
    if ratio.is_nan() { f64::INFINITY } else { ratio }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockId;
    use crate::random::SplitMix64;
    use crate::testing;

    fn analyse(pattern: &Pattern, dense: bool) -> Lu {
        let elimination = Elimination::analyse(pattern, &vec![false; pattern.n_blocks()]);
        Lu::from_elimination(pattern, elimination, dense)
    }

    #[test]
    fn random_systems_are_solved_backward_stably() {
        let mut rng = SplitMix64::new(31);
        let shapes: [(usize, &[usize]); 9] = [
            (0, &[6]),
            (1, &[1]),
            (1, &[120]),
            (5, &[0]),
            (40, &[6]),
            (90, &[3]),
            (25, &[6, 18, 31]),
            (30, &[0, 1, 2, 3, 6]),
            (12, &[7]),
        ];
        for (n, sizes) in shapes {
            let pattern = testing::pattern(&mut rng, n, sizes, 4);
            // Lifted above the row sums: pivots inside the blocks do, and growth is at most two.
            let lift = 2.0 * pattern.dim() as f64;
            let A = testing::general(&mut rng, &pattern, lift);
            let b = rng.values(pattern.dim());
            for dense in [false, true] {
                let mut lu = analyse(&pattern, dense);
                for _ in 0..2 {
                    lu.factor(&A).unwrap();
                    assert_eq!(lu.is_fully_pivoted(), dense);
                    let mut x = b.clone();
                    lu.solve_in_place(&mut x);
                    // Backward error of LU: 3 n ε times the growth [Higham02, Thm. 9.4].
                    let bound = 8.0 * f64::EPSILON * (pattern.dim() + 1) as f64;
                    let error = testing::backward_error(&A.to_dense(), &x, &b);
                    assert!(error <= bound, "dense {dense} {n} {sizes:?}: {error:e}");
                    let residual = lu.solve_refined(&A, &b, &mut x);
                    assert!(residual <= 1e-13, "{residual:e}");
                }
            }
        }
    }

    #[test]
    fn a_zero_diagonal_block_is_passed_by_exchanging_rows_across_blocks() {
        // [0 I; I 0] has no pivot inside its diagonal blocks, yet is its own inverse.
        let pattern = Pattern::new(&[3, 3], [(1, 0)]);
        let mut A = General::zeros(&pattern);
        let coupling = pattern.find(1, 0).unwrap();
        for k in 0..3 {
            A.block_mut(coupling)[4 * k] = 1.0;
            A.upper_mut(coupling)[4 * k] = 1.0;
        }
        let mut lu = analyse(&pattern, false);
        lu.factor(&A).unwrap();
        assert!(lu.is_fully_pivoted());
        let mut x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        lu.solve_in_place(&mut x);
        assert_eq!(x, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn tiny_pivots_are_noticed_by_the_residual() {
        // Diagonal blocks of 1e-14 next to couplings of order one lose nearly all digits.
        let mut rng = SplitMix64::new(32);
        let pattern = Pattern::new(&[2; 12], (1..12).map(|i| (i, i - 1)).chain([(11, 0), (7, 2)]));
        let mut A = testing::general(&mut rng, &pattern, 0.0);
        for k in 0..12 {
            A.block_mut(pattern.diagonal(k)).iter_mut().for_each(|d| *d *= 1e-14);
        }
        let b = rng.values(24);
        let mut x = vec![0.0; 24];
        let mut lu = analyse(&pattern, false);
        lu.factor(&A).unwrap();
        let residual = lu.solve_refined(&A, &b, &mut x);
        assert!(residual <= GOOD_RESIDUAL, "{residual:e}");
    }

    #[test]
    fn a_singular_matrix_or_a_value_that_is_not_finite_is_refused() {
        let mut rng = SplitMix64::new(33);
        let pattern = testing::pattern(&mut rng, 12, &[2, 5], 3);
        for dense in [false, true] {
            let mut lu = analyse(&pattern, dense);
            for id in 0..pattern.n_entries() {
                let mut A = testing::general(&mut rng, &pattern, 50.0);
                A.block_mut(BlockId(id)).fill(f64::NAN);
                assert!(lu.factor(&A).is_err(), "dense {dense}, block {id}");
            }
            // Row and column of one block are zero.
            let mut A = testing::general(&mut rng, &pattern, 50.0);
            for e in pattern.entries().filter(|e| e.row == 4 || e.col == 4).collect::<Vec<_>>() {
                A.block_mut(e.id).fill(0.0);
                A.upper_mut(e.id).fill(0.0);
            }
            assert!(lu.factor(&A).is_err(), "dense {dense}");
        }
    }

    #[test]
    fn a_large_matrix_without_pivots_in_its_blocks_goes_to_the_sparse_fallback() {
        // Pairs of blocks [0 D; E 0] with a few weak couplings between pairs.
        let n = 2 * (LARGEST_DENSE / 12 + 1);
        let mut rng = SplitMix64::new(34);
        let pairs = (0..n / 2).map(|k| (2 * k + 1, 2 * k)).chain((2..n).map(|i| (i, i - 2)));
        let pattern = Pattern::new(&vec![6; n], pairs);
        let mut A = testing::general(&mut rng, &pattern, 0.0);
        for e in pattern.entries().collect::<Vec<_>>() {
            A.block_mut(e.id)
                .iter_mut()
                .for_each(|a| *a *= if e.row == e.col { 0.0 } else { 0.01 });
            A.upper_mut(e.id).iter_mut().for_each(|a| *a *= 0.01);
            if e.row == e.col + 1 && e.col % 2 == 0 {
                A.block_mut(e.id).iter_mut().step_by(7).for_each(|a| *a += 1.0);
                A.upper_mut(e.id).iter_mut().step_by(7).for_each(|a| *a += 1.0);
            }
        }
        let b = rng.values(pattern.dim());
        let mut x = vec![0.0; pattern.dim()];
        let mut lu = Lu::analyse(&pattern);
        for _ in 0..2 {
            lu.factor(&A).unwrap();
            assert!(lu.is_fully_pivoted());
            assert!(lu.solve_refined(&A, &b, &mut x) <= 1e-13);
        }
    }
}
