//! Seeded random patterns and matrices for the tests of this crate.

use crate::block::{General, Pattern, Symmetric};
use crate::random::SplitMix64;
use nalgebra::DMatrix;

/// Blocks with sizes drawn from `sizes`, each coupled with about `degree` others.
pub(crate) fn pattern(rng: &mut SplitMix64, n: usize, sizes: &[usize], degree: usize) -> Pattern {
    let sizes: Vec<_> = (0..n).map(|_| sizes[rng.below(sizes.len())]).collect();
    let n_pairs = if n < 2 { 0 } else { n * degree / 2 };
    let pairs: Vec<_> = (0..n_pairs).map(|_| (rng.below(n), rng.below(n))).collect();
    Pattern::new(&sizes, pairs)
}

/// A diagonally dominant, hence positive definite, random matrix.
pub(crate) fn positive_definite(rng: &mut SplitMix64, pattern: &Pattern) -> Symmetric {
    let mut A = Symmetric::zeros(pattern);
    let mut row_sum = vec![0.0; pattern.dim()];
    for e in pattern.entries() {
        let (m, n) = (pattern.size(e.row), pattern.size(e.col));
        for r in 0..m {
            for c in 0..n {
                if e.row == e.col && c > r {
                    continue;
                }
                let value = rng.signed_unit();
                A.block_mut(e.id)[r * n + c] = value;
                if e.row == e.col {
                    A.block_mut(e.id)[c * n + r] = value;
                }
                row_sum[pattern.start(e.row) + r] += value.abs();
                row_sum[pattern.start(e.col) + c] += value.abs();
            }
        }
    }
    for k in 0..pattern.n_blocks() {
        let (n, start) = (pattern.size(k), pattern.start(k));
        for r in 0..n {
            A.block_mut(pattern.diagonal(k))[r * n + r] = row_sum[start + r] + 0.1;
        }
    }
    A
}

/// A random matrix without symmetry; the diagonal blocks are lifted by `lift` times the identity.
pub(crate) fn general(rng: &mut SplitMix64, pattern: &Pattern, lift: f64) -> General {
    let mut A = General::zeros(pattern);
    for e in pattern.entries() {
        A.block_mut(e.id).fill_with(|| rng.signed_unit());
        if e.row == e.col {
            let n = pattern.size(e.row);
            A.block_mut(e.id).iter_mut().step_by(n + 1).for_each(|d| *d += lift);
        } else {
            A.upper_mut(e.id).fill_with(|| rng.signed_unit());
        }
    }
    A
}

/// ‖A x − b‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞): a backward stable solution has a small multiple of n ε.
pub(crate) fn backward_error(A: &DMatrix<f64>, x: &[f64], b: &[f64]) -> f64 {
    let x = nalgebra::DVector::from_column_slice(x);
    let b = nalgebra::DVector::from_column_slice(b);
    let norm = A.row_iter().map(|row| row.iter().map(|a| a.abs()).sum()).fold(0.0, f64::max);
    let scale: f64 = norm * x.amax() + b.amax();
    if scale == 0.0 { 0.0 } else { (A * x - b).amax() / scale }
}
