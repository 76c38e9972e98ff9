//! Products and solves of small dense matrices, row-major, compiled for the widest instruction set of the processor.

use stiction_math::simd;
use stiction_math::vector::{add_scaled, dot};

/// `W = Y Yᵀ` for the rows of Y.
pub(super) struct Gram<'a> {
    pub Y: &'a [f64],
    /// Length of a row of Y.
    pub width: usize,
    pub W: &'a mut [f64],
}

impl simd::Job for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { Y, width, W } = self;
        let m = Y.len() / width.max(1);
        let row = |i: usize| &Y[i * width..(i + 1) * width];
        for i in 0..m {
            for j in 0..=i {
                let sum = dot(row(i), row(j));
                (W[i * m + j], W[j * m + i]) = (sum, sum);
            }
        }
    }
}

/// `out = W x`.
pub(super) struct Product<'a> {
    pub W: &'a [f64],
    pub x: &'a [f64],
    pub out: &'a mut [f64],
}

impl simd::Job for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { W, x, out } = self;
        for (row, out) in W.chunks_exact(x.len().max(1)).zip(out) {
            *out = dot(row, x);
        }
    }
}

/// `out = Wᵀ x`.
pub(super) struct TransposedProduct<'a> {
    pub W: &'a [f64],
    pub x: &'a [f64],
    pub out: &'a mut [f64],
}

impl simd::Job for TransposedProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { W, x, out } = self;
        out.fill(0.0);
        for (row, x) in W.chunks_exact(out.len().max(1)).zip(x) {
            if *x != 0.0 {
                add_scaled(out, *x, row);
            }
        }
    }
}

/// A row is exchanged with another only if its pivot is less than this part of the largest of its column [-].
const PIVOT_THRESHOLD: f64 = 0.1;
/// Longest row, in fours.
const MAX_FOURS: usize = 40;

/// `x ← A⁻¹ x` by elimination with partial pivoting by a threshold, which overwrites the row-major A. Rows of A are `stride`
/// apart, a multiple of four. False if A is singular or too large.
pub(super) struct Solve<'a> {
    pub A: &'a mut [f64],
    pub stride: usize,
    pub x: &'a mut [f64],
}

impl simd::Job for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { A, stride, x } = self;
        let (n, fours) = (x.len(), stride / 4);
        if n == 0 || fours > MAX_FOURS {
            return n == 0;
        }
        let A = A.as_chunks_mut::<4>().0;
        // The compiler knows that memory of its own does not overlap the rows.
        let mut pivot_row = [[0.0; 4]; MAX_FOURS];
        for k in 0..n {
            let (first, lane) = (k / 4, k % 4);
            let (mut largest, mut pivot) = (0.0, k);
            for (row, values) in A[k * fours..].chunks_exact(fours).enumerate() {
                let size = values[first][lane].abs();
                if size > largest {
                    (largest, pivot) = (size, k + row);
                }
            }
            if !(largest > 0.0) {
                return false;
            }
            if A[k * fours + first][lane].abs() < PIVOT_THRESHOLD * largest {
                (first..fours).for_each(|at| A.swap(k * fours + at, pivot * fours + at));
                x.swap(k, pivot);
            }
            let (upper, lower) = A.split_at_mut((k + 1) * fours);
            let pivot_row = &mut pivot_row[..fours - first];
            pivot_row.copy_from_slice(&upper[k * fours + first..]);
            let (reciprocal, x_k) = (1.0 / pivot_row[0][lane], x[k]);
            for (row, x) in lower.chunks_exact_mut(fours).zip(&mut x[k + 1..]) {
                let row = &mut row[first..];
                let factor = -row[0][lane] * reciprocal;
                if factor != 0.0 {
                    for (row, pivot) in row.iter_mut().zip(&*pivot_row) {
                        *row = std::array::from_fn(|k| factor.mul_add(pivot[k], row[k]));
                    }
                    *x = factor.mul_add(x_k, *x);
                }
            }
        }
        for (k, row) in A.chunks_exact(fours).enumerate().take(n).rev() {
            let (row, (done, known)) = (row.as_flattened(), x.split_at_mut(k + 1));
            done[k] = (done[k] - dot(&row[k + 1..n], known)) / row[k];
        }
        true
    }
}

/// `out += Yᵀ Z` for row-major Y and Z, in rows of `width`, a multiple of four.
pub(super) struct AddProduct<'a> {
    pub Y: &'a [f64],
    pub Z: &'a [f64],
    pub width: usize,
    pub out: &'a mut [f64],
}

impl simd::Job for AddProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { Y, Z, width, out } = self;
        let mut first = 0;
        while first < width {
            // As many columns at once as there are registers for.
            first += match width - first {
                left if left >= 32 => add_columns::<8>(Y, Z, width, first, out),
                left if left >= 16 => add_columns::<4>(Y, Z, width, first, out),
                left if left >= 8 => add_columns::<2>(Y, Z, width, first, out),
                _ => add_columns::<1>(Y, Z, width, first, out),
            };
        }
    }
}

/// [`AddProduct`] for 4 N columns from `first` on; their number.
#[inline(always)]
fn add_columns<const N: usize>(
    Y: &[f64],
    Z: &[f64],
    width: usize,
    first: usize,
    out: &mut [f64],
) -> usize {
    for (k, out) in out.chunks_exact_mut(width).enumerate() {
        let Some(out) = out[first..].as_chunks_mut::<4>().0.first_chunk_mut::<N>() else { break };
        let mut sum = *out;
        for (y, z) in Y.chunks_exact(width).zip(Z.chunks_exact(width)) {
            let (y, z) = (y[k], z[first..].as_chunks::<4>().0.first_chunk::<N>());
            if let (true, Some(z)) = (y != 0.0, z) {
                for (sum, z) in sum.iter_mut().zip(z) {
                    *sum = std::array::from_fn(|k| y.mul_add(z[k], sum[k]));
                }
            }
        }
        *out = sum;
    }
    4 * N
}

#[cfg(test)]
mod tests {
    use super::*;
    use simd::Job;
    use stiction_math::random::SplitMix64;

    #[test]
    fn elimination_solves_systems_of_any_size_with_either_instruction_set() {
        let mut random = SplitMix64::new(5);
        for n in 0..14_usize {
            let stride = n.next_multiple_of(4);
            let A: Vec<f64> = (0..n * stride).map(|_| random.normal()).collect();
            let b: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let (mut factored, mut x) = (A.clone(), b.clone());
            assert!(simd::dispatch(Solve { A: &mut factored, stride, x: &mut x }));
            for (row, b) in A.chunks_exact(stride.max(1)).zip(&b) {
                let terms = row.iter().zip(&x).map(|(a, x)| a * x);
                let size: f64 = terms.clone().map(f64::abs).sum();
                // Round-off of n eliminations; entries grow by less than a thousand in these.
                assert!((terms.sum::<f64>() - b).abs() <= 1e3 * 14.0 * f64::EPSILON * (size + 1.0));
            }
            let (mut factored, mut plain) = (A.clone(), b.clone());
            assert!(Solve { A: &mut factored, stride, x: &mut plain }.run());
            assert_eq!(x, plain);
        }
        let mut singular = [1.0, 2.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0];
        assert!(!simd::dispatch(Solve { A: &mut singular, stride: 4, x: &mut [1.0, 1.0] }));
    }

    #[test]
    fn products_are_those_of_plain_loops() {
        for width in [4, 8, 12, 20, 44] {
            // Small integers: all sums are exact.
            let entry = |k: usize, p: usize| ((k * p) % 7) as f64 - 3.0;
            let Y: Vec<f64> = (0..3 * width).map(|k| entry(k, 5)).collect();
            let Z: Vec<f64> = (0..3 * width).map(|k| entry(k, 11)).collect();
            let mut out = vec![1.0; width * width];
            simd::dispatch(AddProduct { Y: &Y, Z: &Z, width, out: &mut out });
            for (k, found) in out.iter().enumerate() {
                let (i, j) = (k / width, k % width);
                let expected: f64 = (0..3).map(|r| Y[r * width + i] * Z[r * width + j]).sum();
                assert_eq!(*found, 1.0 + expected);
            }
        }
    }
}
