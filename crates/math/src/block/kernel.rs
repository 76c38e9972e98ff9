//! The dense loops inside block factorizations: products, triangles and pivots of one block.
//!
//! All matrices are row-major. Every sum runs over its inner index from first to last with one
//! `mul_add` per term, whatever the tiling, so that [`Fixed`] and [`Any`] give the same bits. All
//! functions are `#[inline(always)]`: they take on the instruction set of the calling job.

use crate::simd::Job;

/// The block operations of a factorization.
pub(super) trait Kernel {
    /// The size of a block of size `n`, as a constant where the kernel fixes it.
    fn size(n: usize) -> usize;
    /// C −= Aᵀ B, with C of `m` × `n` and A of `p` × `m`.
    fn sub_tn(C: &mut [f64], A: &[f64], B: &[f64], m: usize, n: usize, p: usize);
    /// C −= A B, with C of `m` × `n` and A of `m` × `p`.
    fn sub_nn(C: &mut [f64], A: &[f64], B: &[f64], m: usize, n: usize, p: usize);
    /// Upper factor R of A = Rᵀ R from the upper triangle of A, in place, with reciprocal diagonal.
    /// False at a pivot that is not positive and finite.
    fn cholesky(A: &mut [f64], n: usize) -> bool;
    /// B ← R⁻ᵀ B for the result of `cholesky`, with B of `n` × `m`.
    fn solve_transposed(R: &[f64], B: &mut [f64], n: usize, m: usize);
}

/// A loop nest over blocks that is compiled once per kernel.
pub(super) trait SizedJob {
    /// The result.
    type Output;
    /// Does the work; must be `#[inline(always)]`.
    fn run<K: Kernel>(self) -> Self::Output;
}

/// Runs a [`SizedJob`] with the kernel for the size that all blocks have in common, if there is one.
pub(super) struct BySize<J> {
    pub(super) common_size: Option<usize>,
    pub(super) job: J,
}

impl<J: SizedJob> Job for BySize<J> {
    type Output = J::Output;

    #[inline(always)]
    fn run(self) -> J::Output {
        match self.common_size {
            Some(3) => self.job.run::<Fixed<3>>(),
            Some(6) => self.job.run::<Fixed<6>>(),
            _ => self.job.run::<Any>(),
        }
    }
}

/// Blocks that all have `S` rows and columns.
pub(super) struct Fixed<const S: usize>;

/// Blocks of any size.
pub(super) struct Any;

#[inline(always)]
fn square<const S: usize>(values: &[f64]) -> &[[f64; S]; S] {
    match values.as_chunks::<S>().0.first_chunk::<S>() {
        Some(block) => block,
        None => unreachable!("invariant: the block has S × S values"),
    }
}

#[inline(always)]
fn square_mut<const S: usize>(values: &mut [f64]) -> &mut [[f64; S]; S] {
    match values.as_chunks_mut::<S>().0.first_chunk_mut::<S>() {
        Some(block) => block,
        None => unreachable!("invariant: the block has S × S values"),
    }
}

impl<const S: usize> Kernel for Fixed<S> {
    #[inline(always)]
    fn size(_: usize) -> usize {
        S
    }

    #[inline(always)]
    fn sub_tn(C: &mut [f64], A: &[f64], B: &[f64], _: usize, _: usize, _: usize) {
        let (C, A, B) = (square_mut::<S>(C), square::<S>(A), square::<S>(B));
        let mut sum = *C;
        for k in 0..S {
            for r in 0..S {
                for c in 0..S {
                    sum[r][c] = (-A[k][r]).mul_add(B[k][c], sum[r][c]);
                }
            }
        }
        *C = sum;
    }

    #[inline(always)]
    fn sub_nn(C: &mut [f64], A: &[f64], B: &[f64], _: usize, _: usize, _: usize) {
        let (C, A, B) = (square_mut::<S>(C), square::<S>(A), square::<S>(B));
        let mut sum = *C;
        for k in 0..S {
            for r in 0..S {
                for c in 0..S {
                    sum[r][c] = (-A[r][k]).mul_add(B[k][c], sum[r][c]);
                }
            }
        }
        *C = sum;
    }

    #[inline(always)]
    fn cholesky(A: &mut [f64], _: usize) -> bool {
        let A = square_mut::<S>(A);
        for k in 0..S {
            let pivot = A[k][k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            A[k][k] = inverse;
            for c in k + 1..S {
                A[k][c] *= inverse;
            }
            for r in k + 1..S {
                for c in r..S {
                    A[r][c] = (-A[k][r]).mul_add(A[k][c], A[r][c]);
                }
            }
        }
        true
    }

    #[inline(always)]
    fn solve_transposed(R: &[f64], B: &mut [f64], _: usize, _: usize) {
        let (R, B) = (square::<S>(R), square_mut::<S>(B));
        for r in 0..S {
            let mut row = B[r];
            for k in 0..r {
                for c in 0..S {
                    row[c] = (-R[k][r]).mul_add(B[k][c], row[c]);
                }
            }
            for value in &mut row {
                *value *= R[r][r];
            }
            B[r] = row;
        }
    }
}

impl Kernel for Any {
    #[inline(always)]
    fn size(n: usize) -> usize {
        n
    }

    #[inline(always)]
    fn sub_tn(C: &mut [f64], A: &[f64], B: &[f64], m: usize, n: usize, p: usize) {
        match (m, n, p) {
            (6, 6, 6) => Fixed::<6>::sub_tn(C, A, B, m, n, p),
            (3, 3, 3) => Fixed::<3>::sub_tn(C, A, B, m, n, p),
            _ => sub_tiled(C, B, m, n, p, |r, k| A[k * m + r]),
        }
    }

    #[inline(always)]
    fn sub_nn(C: &mut [f64], A: &[f64], B: &[f64], m: usize, n: usize, p: usize) {
        match (m, n, p) {
            (6, 6, 6) => Fixed::<6>::sub_nn(C, A, B, m, n, p),
            (3, 3, 3) => Fixed::<3>::sub_nn(C, A, B, m, n, p),
            _ => sub_tiled(C, B, m, n, p, |r, k| A[r * p + k]),
        }
    }

    #[inline(always)]
    fn cholesky(A: &mut [f64], n: usize) -> bool {
        for k in 0..n {
            let pivot = A[k * n + k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            let (done, rest) = A.split_at_mut((k + 1) * n);
            let row_k = &mut done[k * n..];
            row_k[k] = inverse;
            for value in &mut row_k[k + 1..] {
                *value *= inverse;
            }
            for (r, row) in (k + 1..n).zip(rest.chunks_exact_mut(n)) {
                let factor = -row_k[r];
                for (value, a) in row[r..].iter_mut().zip(&row_k[r..]) {
                    *value = factor.mul_add(*a, *value);
                }
            }
        }
        true
    }

    #[inline(always)]
    fn solve_transposed(R: &[f64], B: &mut [f64], n: usize, m: usize) {
        for r in 0..n {
            let (done, rest) = B.split_at_mut(r * m);
            let row = &mut rest[..m];
            sub_tiled(row, done, 1, m, r, |_, k| R[k * n + r]);
            for value in row {
                *value *= R[r * n + r];
            }
        }
    }
}

/// y −= Aᵀ x, with A of `m` × `n`.
#[inline(always)]
pub(super) fn sub_transposed_times(y: &mut [f64], A: &[f64], x: &[f64], m: usize, n: usize) {
    let (y, x) = (&mut y[..n], &x[..m]);
    for r in 0..m {
        let row = &A[r * n..r * n + n];
        for c in 0..n {
            y[c] = (-x[r]).mul_add(row[c], y[c]);
        }
    }
}

/// y −= A x, with A of `m` × `n`.
#[inline(always)]
pub(super) fn sub_times(y: &mut [f64], A: &[f64], x: &[f64], m: usize, n: usize) {
    let (y, x) = (&mut y[..m], &x[..n]);
    for r in 0..m {
        let row = &A[r * n..r * n + n];
        let mut sum = y[r];
        for c in 0..n {
            sum = (-row[c]).mul_add(x[c], sum);
        }
        y[r] = sum;
    }
}

/// x ← R⁻ᵀ x for the result of [`Kernel::cholesky`].
#[inline(always)]
pub(super) fn solve_upper_transposed(R: &[f64], x: &mut [f64], n: usize) {
    let x = &mut x[..n];
    for k in 0..n {
        x[k] *= R[k * n + k];
        for c in k + 1..n {
            x[c] = (-x[k]).mul_add(R[k * n + c], x[c]);
        }
    }
}

/// x ← R⁻¹ x for an upper triangle whose diagonal is stored as its reciprocal.
#[inline(always)]
pub(super) fn solve_upper(R: &[f64], x: &mut [f64], n: usize) {
    let x = &mut x[..n];
    for r in (0..n).rev() {
        let mut sum = x[r];
        for c in r + 1..n {
            sum = (-R[r * n + c]).mul_add(x[c], sum);
        }
        x[r] = sum * R[r * n + r];
    }
}

/// B ← R⁻¹ B for an upper triangle whose diagonal is stored as its reciprocal, with B of `n` × `m`.
#[inline(always)]
pub(super) fn divide_by_upper(R: &[f64], B: &mut [f64], n: usize, m: usize) {
    for r in (0..n).rev() {
        let (rest, done) = B.split_at_mut((r + 1) * m);
        let row = &mut rest[r * m..];
        sub_tiled(row, done, 1, m, n - r - 1, |_, k| R[r * n + r + 1 + k]);
        for value in row {
            *value *= R[r * n + r];
        }
    }
}

/// Z ← R⁻¹ R⁻ᵀ for an upper triangle whose diagonal is stored as its reciprocal.
#[inline(always)]
pub(super) fn invert_gram(R: &[f64], Z: &mut [f64], memory: &mut [f64], n: usize) {
    memory.fill(0.0);
    memory.iter_mut().step_by(n + 1).for_each(|d| *d = 1.0);
    divide_by_upper(R, memory, n, n); // R⁻¹
    transpose(Z, memory, n, n); // R⁻ᵀ
    divide_by_upper(R, Z, n, n);
}

/// P D = L U with row exchanges, in place; `pivot[k]` is the row exchanged with row k.
/// The diagonal of U is stored as its reciprocal. False where no finite pivot but zero is left.
#[inline(always)]
pub(super) fn lu(D: &mut [f64], pivot: &mut [usize], n: usize) -> bool {
    for k in 0..n {
        let mut largest = k;
        for r in k + 1..n {
            let (found, best) = (D[r * n + k].abs(), D[largest * n + k].abs());
            if found > best || found.is_nan() {
                largest = r; // NaN wins and is refused below
            }
        }
        pivot[k] = largest;
        if largest != k {
            for c in 0..n {
                D.swap(k * n + c, largest * n + c);
            }
        }
        let inverse = 1.0 / D[k * n + k];
        if !(inverse.is_finite() && D[k * n + k].is_finite()) {
            return false;
        }
        D[k * n + k] = inverse;
        let (done, rest) = D.split_at_mut((k + 1) * n);
        let row_k = &done[k * n..];
        for row in rest.chunks_exact_mut(n) {
            let factor = row[k] * inverse;
            row[k] = factor;
            for (value, u) in row[k + 1..].iter_mut().zip(&row_k[k + 1..]) {
                *value = (-factor).mul_add(*u, *value);
            }
        }
    }
    true
}

/// B ← D⁻¹ B for the result of [`lu`], with B of `n` × `m`.
#[inline(always)]
pub(super) fn divide_by_lu(D: &[f64], pivot: &[usize], B: &mut [f64], n: usize, m: usize) {
    for k in 0..n {
        if pivot[k] != k {
            for c in 0..m {
                B.swap(k * m + c, pivot[k] * m + c);
            }
        }
    }
    for r in 1..n {
        let (done, rest) = B.split_at_mut(r * m);
        sub_tiled(&mut rest[..m], done, 1, m, r, |_, k| D[r * n + k]);
    }
    divide_by_upper(D, B, n, m);
}

/// x ← D⁻¹ x for the result of [`lu`].
#[inline(always)]
pub(super) fn solve_lu(D: &[f64], pivot: &[usize], x: &mut [f64], n: usize) {
    let x = &mut x[..n];
    for k in 0..n {
        x.swap(k, pivot[k]);
    }
    for r in 1..n {
        let mut sum = x[r];
        for c in 0..r {
            sum = (-D[r * n + c]).mul_add(x[c], sum);
        }
        x[r] = sum;
    }
    solve_upper(D, x, n);
}

/// B ← Aᵀ, with A of `m` × `n`.
#[inline(always)]
pub(super) fn transpose(B: &mut [f64], A: &[f64], m: usize, n: usize) {
    for r in 0..m {
        for c in 0..n {
            B[c * m + r] = A[r * n + c];
        }
    }
}

/// C −= a B with `a(r, k)` for the left factor, in tiles that fit the vector registers.
#[inline(always)]
fn sub_tiled(
    C: &mut [f64],
    B: &[f64],
    m: usize,
    n: usize,
    p: usize,
    a: impl Fn(usize, usize) -> f64,
) {
    let mut r = 0;
    while r + 4 <= m {
        sub_rows::<4>(C, B, r, n, p, &a);
        r += 4;
    }
    while r < m {
        sub_rows::<1>(C, B, r, n, p, &a);
        r += 1;
    }
}

#[inline(always)]
fn sub_rows<const M: usize>(
    C: &mut [f64],
    B: &[f64],
    r: usize,
    n: usize,
    p: usize,
    a: &impl Fn(usize, usize) -> f64,
) {
    let mut c = 0;
    while c + 8 <= n {
        sub_tile::<M, 8>(C, B, r, c, n, p, a);
        c += 8;
    }
    while c + 2 <= n {
        sub_tile::<M, 2>(C, B, r, c, n, p, a);
        c += 2;
    }
    if c < n {
        sub_tile::<M, 1>(C, B, r, c, n, p, a);
    }
}

#[inline(always)]
fn sub_tile<const M: usize, const N: usize>(
    C: &mut [f64],
    B: &[f64],
    r0: usize,
    c0: usize,
    n: usize,
    p: usize,
    a: &impl Fn(usize, usize) -> f64,
) {
    let mut sum = [[0.0; N]; M];
    for (r, row) in sum.iter_mut().enumerate() {
        let begin = (r0 + r) * n + c0;
        row.copy_from_slice(&C[begin..begin + N]);
    }
    for k in 0..p {
        let begin = k * n + c0;
        let Some(b) = B[begin..].first_chunk::<N>() else {
            unreachable!("invariant: B has p rows")
        };
        for (r, row) in sum.iter_mut().enumerate() {
            let factor = -a(r0 + r, k);
            for c in 0..N {
                row[c] = factor.mul_add(b[c], row[c]);
            }
        }
    }
    for (r, row) in sum.iter().enumerate() {
        let begin = (r0 + r) * n + c0;
        C[begin..begin + N].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// The same operations as `Any`, with sizes for which no fixed kernel is taken.
    fn agree<const S: usize>(rng: &mut SplitMix64) {
        let (A, B, C) = (rng.values(S * S), rng.values(S * S), rng.values(S * S));
        let (mut fixed, mut tiled) = (C.clone(), C.clone());
        Fixed::<S>::sub_tn(&mut fixed, &A, &B, S, S, S);
        sub_tiled(&mut tiled, &B, S, S, S, |r, k| A[k * S + r]);
        assert_eq!(fixed, tiled);
        Fixed::<S>::sub_nn(&mut fixed, &A, &B, S, S, S);
        sub_tiled(&mut tiled, &B, S, S, S, |r, k| A[r * S + k]);
        assert_eq!(fixed, tiled);

        let mut R = vec![0.0; S * S];
        sub_tiled(&mut R, &A, S, S, S, |r, k| -A[k * S + r]);
        (0..S).for_each(|k| R[k * S + k] += 1.0);
        let mut R_any = R.clone();
        assert!(Fixed::<S>::cholesky(&mut R, S) && Any::cholesky(&mut R_any, S));
        assert_eq!(R, R_any);
        Fixed::<S>::solve_transposed(&R, &mut fixed, S, S);
        Any::solve_transposed(&R, &mut tiled, S, S);
        assert_eq!(fixed, tiled);
    }

    #[test]
    fn kernels_of_a_fixed_size_give_the_bits_of_those_for_any_size() {
        let mut rng = SplitMix64::new(8);
        for _ in 0..10 {
            agree::<3>(&mut rng);
            agree::<6>(&mut rng);
            agree::<11>(&mut rng);
        }
    }

    #[test]
    fn a_pivot_that_is_not_positive_or_not_finite_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut A = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, bad];
            assert!(!Fixed::<3>::cholesky(&mut A, 3));
            let mut A = [1.0, 0.0, 0.0, bad];
            assert!(!Any::cholesky(&mut A, 2));
        }
    }
}
