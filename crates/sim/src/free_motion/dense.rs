//! Products with dense rows of a matrix: they are short, and run in vector instructions.

use stiction_math::simd::{self, Job};
use stiction_math::vector::dot;

struct AddProduct<'a> {
    A: &'a [f64],
    x: &'a [f64],
    b: &'a mut [f64],
}

impl Job for AddProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (row, b) in self.A.chunks_exact(self.x.len()).zip(self.b) {
            *b += dot(row, self.x);
        }
    }
}

struct QuadraticForm<'a> {
    A: &'a [f64],
    x: &'a [f64],
}

impl Job for QuadraticForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sum = 0.0;
        for (row, x) in self.A.chunks_exact(self.x.len()).zip(self.x) {
            sum = x.mul_add(dot(row, self.x), sum);
        }
        sum
    }
}

/// `b ← b + A x` for a row-major A.
pub(super) fn add_product(A: &[f64], x: &[f64], b: &mut [f64]) {
    simd::dispatch(AddProduct { A, x, b });
}

/// `xᵀ A x` for a row-major A.
pub(super) fn quadratic_form(A: &[f64], x: &[f64]) -> f64 {
    simd::dispatch(QuadraticForm { A, x })
}
