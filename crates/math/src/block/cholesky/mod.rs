//! Cholesky factorization A = L Lᵀ of a [`Symmetric`] block matrix.
//!
//! The analysis orders the blocks and chooses one of three engines from the pattern alone:
//! * `Blocks`: our own left-looking factorization, block by block. It is fastest while the blocks of the
//!   factor are few, since it has no overhead per supernode: piles of rigid bodies, chains of trees.
//! * `Supernodal`: faer's supernodal factorization in our order, which is fastest once supernodes are wide
//!   enough for efficient matrix products: large piles, meshes.
//! * `Dense`: faer's dense factorization, for one large block or a factor that is nearly full.
//!
//! `examples/factor_bench.rs` measures the crossover: several hundred rigid bodies or trees (fewer if
//! densely packed); some dozens of mesh vertices; for full matrices, the size at which a block no longer
//! fits the registers. Compiling our own code for AVX-512 as well gave no speed-up.
//! `factor` and `solve_in_place` do not allocate and give the same bits for every number of threads.

mod blocks;
mod dense;
mod selected_inverse;
mod supernodal;

use super::{Elimination, Pattern, Symmetric, View};
use crate::NotPositiveDefinite;

pub use selected_inverse::SelectedInverse;
pub(crate) use supernodal::Supernodal;

/// How a matrix is factored; chosen by [`Cholesky::analyse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Our own factorization, block by block.
    Blocks,
    /// faer's supernodal sparse factorization.
    Supernodal,
    /// faer's dense factorization.
    Dense,
}

/// A Cholesky factorization that is analysed once and refactored as values change.
#[derive(Debug)]
pub struct Cholesky {
    pattern: Pattern,
    work: f64,
    factors: Factors,
}

#[derive(Debug)]
enum Factors {
    Blocks(blocks::Blocks),
    Supernodal(Box<Supernodal>),
    Dense(dense::Dense),
}

/// Dimension below which a full matrix is factored by our own code: one block, and several.
const SMALL: [usize; 2] = [48, 140];
/// Fraction of the full triangle above which a factor counts as full [-].
const NEARLY_FULL: f64 = 0.7;
/// Mean size of blocks below which the products of single blocks are slow.
const SMALL_BLOCKS: usize = 5;
/// Multiplications above which the supernodal engine is faster, for small blocks and for others.
const SUPERNODAL_WORK: [f64; 2] = [1e6, 3e7];

impl Engine {
    pub(super) fn best(elimination: &Elimination) -> Self {
        let dim: usize = elimination.size.iter().sum();
        let full = (dim * dim) as f64 / 2.0;
        let small_blocks = dim < SMALL_BLOCKS * elimination.n_blocks();
        let supernodal_work = SUPERNODAL_WORK[usize::from(!small_blocks)];
        let small = SMALL[usize::from(elimination.n_blocks() > 1)];
        if dim < small {
            Self::Blocks
        } else if elimination.n_values() as f64 > NEARLY_FULL * full {
            Self::Dense
        } else if elimination.work() > supernodal_work {
            Self::Supernodal
        } else {
            Self::Blocks
        }
    }
}

impl Cholesky {
    /// Analyses a pattern and chooses the engine.
    pub fn analyse(pattern: &Pattern) -> Self {
        let elimination = Elimination::analyse(pattern, &vec![false; pattern.n_blocks()]);
        let engine = Engine::best(&elimination);
        Self::from_elimination(pattern, elimination, engine)
    }

    /// Analyses a pattern for a given engine.
    pub fn analyse_for(pattern: &Pattern, engine: Engine) -> Self {
        let elimination = Elimination::analyse(pattern, &vec![false; pattern.n_blocks()]);
        Self::from_elimination(pattern, elimination, engine)
    }

    fn from_elimination(pattern: &Pattern, elimination: Elimination, engine: Engine) -> Self {
        let work = elimination.work();
        let factors = match engine {
            Engine::Blocks => Factors::Blocks(blocks::Blocks::new(pattern, elimination)),
            Engine::Supernodal => {
                Factors::Supernodal(Box::new(Supernodal::new(pattern, &elimination)))
            }
            Engine::Dense => Factors::Dense(dense::Dense::new(pattern)),
        };
        Self { pattern: pattern.clone(), work, factors }
    }

    /// The pattern that was analysed.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Multiplications of one sparse factorization, to leading order.
    pub fn work(&self) -> f64 {
        self.work
    }

    /// Multiplications of a sparse factorization of a pattern in a given order, to leading order.
    ///
    /// # Panics
    /// If `order` has not one entry for each block.
    pub fn work_in(pattern: &Pattern, order: &[usize]) -> f64 {
        assert_eq!(order.len(), pattern.n_blocks());
        let held = vec![false; pattern.n_blocks()];
        Elimination::analyse_in(pattern, &held, order.to_vec()).work()
    }

    /// How the matrix is factored.
    pub fn engine(&self) -> Engine {
        match &self.factors {
            Factors::Blocks(_) => Engine::Blocks,
            Factors::Supernodal(_) => Engine::Supernodal,
            Factors::Dense(_) => Engine::Dense,
        }
    }

    /// Factors a matrix with the analysed pattern. After an error there is no factor to solve with.
    ///
    /// # Panics
    /// If the matrix has not as many values as the analysed pattern.
    pub fn factor(&mut self, A: &Symmetric) -> Result<(), NotPositiveDefinite> {
        self.factor_view(A.into())
    }

    /// Factors a matrix given as a borrowed view.
    ///
    /// # Panics
    /// If the matrix has not as many values as the analysed pattern.
    pub fn factor_view(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        assert_eq!(A.values().len(), self.pattern.n_values());
        debug_assert_eq!(A.pattern(), &self.pattern);
        match &mut self.factors {
            Factors::Blocks(f) => f.factor(A),
            Factors::Supernodal(f) => f.factor(A),
            Factors::Dense(f) => f.factor(A),
        }
    }

    /// x ← A⁻¹ x with the matrix last factored.
    ///
    /// # Panics
    /// If `x` has not the dimension of the matrix.
    pub fn solve_in_place(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.pattern.dim());
        match &self.factors {
            Factors::Blocks(f) => f.solve_in_place(x),
            Factors::Supernodal(f) => f.solve_in_place(x),
            Factors::Dense(f) => f.solve_in_place(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockId;
    use crate::random::SplitMix64;
    use crate::testing;

    const ENGINES: [Engine; 3] = [Engine::Blocks, Engine::Supernodal, Engine::Dense];

    #[test]
    fn every_engine_solves_random_systems_backward_stably() {
        let mut rng = SplitMix64::new(11);
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
            let A = testing::positive_definite(&mut rng, &pattern);
            let b = rng.values(pattern.dim());
            for engine in ENGINES {
                let mut factor = Cholesky::analyse_for(&pattern, engine);
                assert_eq!(factor.engine(), engine);
                for _ in 0..2 {
                    factor.factor(&A).unwrap();
                    let mut x = b.clone();
                    factor.solve_in_place(&mut x);
                    // Cholesky is backward stable with a constant of about 3 n [Higham02, Thm. 10.4].
                    let bound = 4.0 * f64::EPSILON * (pattern.dim() + 1) as f64;
                    let error = testing::backward_error(&A.to_dense(), &x, &b);
                    assert!(error <= bound, "{engine:?} {n} {sizes:?}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused_and_the_block_is_named() {
        let mut rng = SplitMix64::new(12);
        let pattern = testing::pattern(&mut rng, 20, &[6], 3);
        for engine in ENGINES {
            for block in [0, 7, 19] {
                for bad in [-1e3, f64::NAN, f64::INFINITY, 0.0] {
                    let mut A = testing::positive_definite(&mut rng, &pattern);
                    // A row and column of zeros but for the diagonal: the pivot is the entry itself.
                    for e in pattern.entries().collect::<Vec<_>>() {
                        if e.row == block || e.col == block {
                            A.block_mut(e.id).fill(0.0);
                        }
                    }
                    let d = A.block_mut(pattern.diagonal(block));
                    d.iter_mut().step_by(7).for_each(|d| *d = 1.0);
                    d[14] = bad;
                    let result = Cholesky::analyse_for(&pattern, engine).factor(&A);
                    assert_eq!(result, Err(NotPositiveDefinite { block }), "{engine:?} {bad}");
                }
            }
        }
    }

    #[test]
    fn a_value_that_is_not_finite_anywhere_is_refused() {
        let mut rng = SplitMix64::new(13);
        let pattern = testing::pattern(&mut rng, 15, &[3, 6], 3);
        for engine in ENGINES {
            let mut factor = Cholesky::analyse_for(&pattern, engine);
            for id in 0..pattern.n_entries() {
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut A = testing::positive_definite(&mut rng, &pattern);
                    A.block_mut(BlockId(id)).fill(bad);
                    assert!(factor.factor(&A).is_err(), "{engine:?} block {id} {bad}");
                }
            }
            let A = testing::positive_definite(&mut rng, &pattern);
            assert!(factor.factor(&A).is_ok(), "a failure leaves no trace in the next factor");
        }
    }

    #[test]
    fn a_factor_may_be_shared_between_threads() {
        fn shareable<T: Send + Sync>() {}
        shareable::<Cholesky>();
        shareable::<SelectedInverse>();
        shareable::<crate::schur::Schur>();
        shareable::<crate::block::Lu>();
    }

    #[test]
    fn the_engine_follows_from_the_pattern() {
        let chain =
            |n: usize, size: usize| Pattern::new(&vec![size; n], (1..n).map(|i| (i, i - 1)));
        assert_eq!(Cholesky::analyse(&Pattern::new(&[], [])).engine(), Engine::Blocks);
        assert_eq!(Cholesky::analyse(&Pattern::new(&[6], [])).engine(), Engine::Blocks);
        assert_eq!(Cholesky::analyse(&Pattern::new(&[600], [])).engine(), Engine::Dense);
        assert_eq!(Cholesky::analyse(&chain(100, 6)).engine(), Engine::Blocks);
    }
}
