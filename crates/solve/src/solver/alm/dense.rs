//! Products and solves of small dense matrices, row-major, compiled for the widest instruction set of the processor.

use stiction_math::simd;

/// `W = Y Yᵀ` for the rows of Y.
pub(super) struct Gram<'a> {
    pub half: &'a [f64],
    /// Number of columns of Y.
    pub n: usize,
    pub W: &'a mut [f64],
}

impl simd::Job for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { half, n, W } = self;
        let m = half.len() / n.max(1);
        for i in 0..m {
            for j in 0..=i {
                let sum = dot(&half[i * n..(i + 1) * n], &half[j * n..(j + 1) * n]);
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
        for (row, x) in W.chunks_exact(out.len().max(1)).zip(x).filter(|(_, x)| **x != 0.0) {
            add_scaled(out, *x, row);
        }
    }
}

/// Dot product in four lanes.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            lanes[k] = a[k].mul_add(b[k], lanes[k]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

/// `out += factor x`, in fours: loops are short, and what is left over of longer vectors would be most of them.
#[inline(always)]
fn add_scaled(out: &mut [f64], factor: f64, x: &[f64]) {
    let (out, out_rest) = out.as_chunks_mut::<4>();
    let (x, x_rest) = x.as_chunks::<4>();
    for (out, x) in out.iter_mut().zip(x) {
        for k in 0..4 {
            out[k] = factor.mul_add(x[k], out[k]);
        }
    }
    for (out, x) in out_rest.iter_mut().zip(x_rest) {
        *out = factor.mul_add(*x, *out);
    }
}

/// `x ← A⁻¹ x` by elimination with partial pivoting, which overwrites the row-major A. False if A is singular.
pub(super) struct Solve<'a> {
    pub A: &'a mut [f64],
    pub x: &'a mut [f64],
}

impl simd::Job for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { A, x } = self;
        let n = x.len();
        for k in 0..n {
            let mut pivot = k;
            for row in k + 1..n {
                if A[row * n + k].abs() > A[pivot * n + k].abs() {
                    pivot = row;
                }
            }
            if !(A[pivot * n + k].abs() > 0.0) {
                return false;
            }
            if pivot != k {
                let (upper, lower) = A.split_at_mut(pivot * n);
                upper[k * n + k..(k + 1) * n].swap_with_slice(&mut lower[k..n]);
                x.swap(k, pivot);
            }
            let (upper, lower) = A.split_at_mut((k + 1) * n);
            let pivot_row = &upper[k * n + k..];
            let reciprocal = 1.0 / pivot_row[0];
            let x_k = x[k];
            for (row, x) in lower.chunks_exact_mut(n).zip(&mut x[k + 1..]) {
                let factor = row[k] * reciprocal;
                if factor == 0.0 {
                    continue;
                }
                add_scaled(&mut row[k + 1..], -factor, &pivot_row[1..]);
                *x -= factor * x_k;
            }
        }
        for k in (0..n).rev() {
            let (row, (done, known)) = (&A[k * n..(k + 1) * n], x.split_at_mut(k + 1));
            done[k] = (done[k] - dot(&row[k + 1..], known)) / row[k];
        }
        true
    }
}

/// `out += Yᵀ G Y` for the rows of Y that belong to one constraint; `GY` is memory for `G Y`.
pub(super) struct AddOuter<'a> {
    pub G: &'a [f64],
    pub Y: &'a [f64],
    pub GY: &'a mut [f64],
    pub out: &'a mut [f64],
}

impl simd::Job for AddOuter<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { G, Y, GY, out } = self;
        let dim = G.len().isqrt();
        let n = Y.len() / dim.max(1);
        for (g, GY) in G.chunks_exact(dim).zip(GY.chunks_exact_mut(n)) {
            GY.fill(0.0);
            for (g, y) in g.iter().zip(Y.chunks_exact(n)).filter(|(g, _)| **g != 0.0) {
                add_scaled(GY, *g, y);
            }
        }
        for (y, GY) in Y.chunks_exact(n).zip(GY.chunks_exact(n)) {
            for (y, out) in y.iter().zip(out.chunks_exact_mut(n)).filter(|(y, _)| **y != 0.0) {
                add_scaled(out, *y, GY);
            }
        }
    }
}
