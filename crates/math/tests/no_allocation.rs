//! Factoring and solving with an analysed pattern takes no memory from the allocator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

use stiction_math::block::{Cholesky, Engine, General, Lu, Pattern, SelectedInverse, Symmetric};
use stiction_math::schur::Schur;
use stiction_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn allocations(f: impl FnOnce()) -> usize {
    let before = stiction_testkit::allocations();
    f();
    stiction_testkit::allocations() - before
}

/// A ring of blocks with a few chords.
fn ring(n: usize, size: usize) -> Pattern {
    let chords = (0..n / 5).map(|k| (k, (7 * k + n / 2) % n));
    Pattern::new(&vec![size; n], (0..n).map(|i| (i, (i + 1) % n)).chain(chords))
}

/// Couplings of -1 and a diagonal that outweighs them.
fn dominant(pattern: &Pattern) -> Symmetric {
    let mut A = Symmetric::zeros(pattern);
    A.values_mut().fill(-1.0);
    for k in 0..pattern.n_blocks() {
        let stride = pattern.size(k) + 1;
        let lift = 2.0 * pattern.dim() as f64;
        A.block_mut(pattern.diagonal(k)).iter_mut().step_by(stride).for_each(|d| *d = lift);
    }
    A
}

#[test]
fn refactoring_and_solving_a_cholesky_factor_does_not_allocate() {
    for (pattern, engine) in [
        (ring(40, 6), Engine::Blocks),
        (ring(40, 7), Engine::Blocks),
        (ring(200, 6), Engine::Supernodal),
        (ring(200, 3), Engine::Supernodal),
        (Pattern::new(&[300], []), Engine::Dense),
        (ring(40, 6), Engine::Dense),
    ] {
        let A = dominant(&pattern);
        let mut factor = Cholesky::analyse_for(&pattern, engine);
        let mut x = vec![1.0; pattern.dim()];
        let mut once = |x: &mut [f64]| {
            factor.factor(&A).unwrap();
            factor.solve_in_place(x);
        };
        once(&mut x); // faer's matrix products keep their packing memory from the first call on
        assert_eq!(allocations(|| once(&mut x)), 0, "{engine:?}");
    }
}

#[test]
fn refactoring_and_solving_an_lu_factor_does_not_allocate() {
    for pattern in [ring(40, 6), ring(40, 7), Pattern::new(&[300], [])] {
        let symmetric = dominant(&pattern);
        let mut A = General::zeros(&pattern);
        for e in pattern.entries() {
            A.block_mut(e.id).copy_from_slice(symmetric.block(e.id));
            A.upper_mut(e.id).fill(0.5);
        }
        let mut factor = Lu::analyse(&pattern);
        let (mut x, b) = (vec![0.0; pattern.dim()], vec![1.0; pattern.dim()]);
        let mut once = |x: &mut [f64]| {
            factor.factor(&A).unwrap();
            factor.solve_in_place(x);
            assert!(factor.solve_refined(&A, &b, x) < 1e-12);
        };
        once(&mut x);
        assert_eq!(allocations(|| once(&mut x)), 0);
    }
}

#[test]
fn complements_and_selected_inverses_do_not_allocate() {
    let pattern = ring(60, 6);
    let A = dominant(&pattern);
    let keep: Vec<_> = (0..60).map(|k| k % 4 == 0).collect();
    let mut schur = Schur::analyse(&pattern, &keep);
    let mut inverse = SelectedInverse::analyse(&pattern);
    let (mut x, mut reduced) = (vec![1.0; pattern.dim()], vec![0.0; schur.dim()]);
    let mut once = || {
        schur.factor(&A).unwrap();
        schur.reduce_rhs(&x, &mut reduced);
        schur.expand(&reduced, &mut x);
        inverse.compute(&A).unwrap();
        inverse.solve_in_place(&mut x);
    };
    once();
    assert_eq!(allocations(once), 0);
}

#[test]
fn rebuilding_a_pattern_and_reshaping_a_matrix_reuse_their_memory() {
    let (large, small) = (ring(50, 6), ring(20, 6));
    let (mut pattern, mut A) = (large.clone(), Symmetric::zeros(&large));
    pattern.rebuild(&[6; 50], (0..50).map(|i| (i, (i + 1) % 50)));
    let found = allocations(|| {
        pattern.rebuild(&[6; 20], (0..20).map(|i| (i, (i + 1) % 20)));
        A.reshape(&small);
        A.reshape(&pattern);
        A.clear();
    });
    assert_eq!(found, 0);
}
