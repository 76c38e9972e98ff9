//! Seeded random patterns and matrices for the tests of this crate.

use crate::block::{General, Pattern, Symmetric};
use nalgebra::DMatrix;

/// Steele, Lea and Flood's SplitMix64 generator.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [-1, 1).
    pub(crate) fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

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
                let value = rng.number();
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
        A.block_mut(e.id).fill_with(|| rng.number());
        if e.row == e.col {
            let n = pattern.size(e.row);
            A.block_mut(e.id).iter_mut().step_by(n + 1).for_each(|d| *d += lift);
        } else {
            A.upper_mut(e.id).fill_with(|| rng.number());
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
