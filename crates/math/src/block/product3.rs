//! Product of a symmetric matrix of 3×3 blocks, the inner loop of solvers on meshes.
//!
//! Each stored block (i, j) is read once and used for rows i and j. The loop for AVX2 loads a row of
//! a block together with the first value behind it and ignores the fourth lane; a diagonal block ends
//! each block row, so that this value is always there. Its safe twin makes the same roundings in the
//! same order. Bound by the bandwidth of the cache or memory that holds the matrix.

/// y = A x for block rows `row`, block columns `col` (the diagonal last in each row) and row-major
/// values.
#[allow(unsafe_code)] // the call into code for a checked instruction set
pub(super) fn product(row: &[usize], col: &[usize], values: &[f64], x: &[f64], y: &mut [f64]) {
    let n = row.len() - 1;
    assert!(x.len() == 3 * n && y.len() == 3 * n && values.len() == 9 * col.len());
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the two features that the loop is compiled for have just been detected.
        return unsafe { avx2::product(row, col, values, x, y) };
    }
    scalar_product(row, col, values, x, y);
}

/// The safe twin.
fn scalar_product(row: &[usize], col: &[usize], values: &[f64], x: &[f64], y: &mut [f64]) {
    let blocks = values.as_chunks::<9>().0;
    let (x, y) = (x.as_chunks::<3>().0, y.as_chunks_mut::<3>().0);
    for i in 0..y.len() {
        let (x_i, mut sums) = (x[i], [[0.0; 3]; 3]);
        let diagonal = row[i + 1] - 1;
        for id in row[i]..diagonal {
            let (j, block) = (col[id], &blocks[id]);
            for r in 0..3 {
                for c in 0..3 {
                    sums[r][c] = block[3 * r + c].mul_add(x[j][c], sums[r][c]);
                    y[j][c] = block[3 * r + c].mul_add(x_i[r], y[j][c]);
                }
            }
        }
        y[i] = finish_row(&blocks[diagonal], &x_i, &sums);
    }
}

/// Adds the diagonal block to the sums of a row, which are kept apart by column.
#[inline(always)]
fn finish_row<const N: usize>(
    diagonal: &[f64; 9],
    x_i: &[f64; 3],
    sums: &[[f64; N]; 3],
) -> [f64; 3] {
    std::array::from_fn(|r| {
        let term = |c: usize| diagonal[3 * r + c].mul_add(x_i[c], sums[r][c]);
        (term(0) + term(1)) + term(2)
    })
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // unaligned vector loads at checked indices
mod avx2 {
    use super::finish_row;
    use std::arch::x86_64::*;

    /// Blocks prefetched ahead of their use: several cache lines, about a microsecond of work.
    const AHEAD: usize = 24;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn product(row: &[usize], col: &[usize], values: &[f64], x: &[f64], y: &mut [f64]) {
        let n = x.len() / 3;
        let blocks = values.as_chunks::<9>().0;
        for i in 0..n {
            let x_i = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
            let [x0, x1, x2] = x_i.map(|x| _mm256_set1_pd(x));
            let mut sums = [_mm256_setzero_pd(); 3];
            let diagonal = row[i + 1] - 1;
            for id in row[i]..diagonal {
                let j = col[id];
                // Below the diagonal: a block and one value behind it, and four values of x, exist.
                let block = &values[9 * id..9 * id + 10];
                let x_j = &x[3 * j..3 * j + 4];
                let y_j = &mut y[3 * j..3 * j + 3];
                // SAFETY: each load and store lies in a slice whose length was checked just above.
                unsafe {
                    // A hint, which may point behind the end: blocks stream faster than the
                    // hardware prefetches.
                    let ahead = block.as_ptr().wrapping_add(9 * AHEAD);
                    _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                    let b0 = _mm256_loadu_pd(block.as_ptr());
                    let b1 = _mm256_loadu_pd(block.as_ptr().add(3));
                    let b2 = _mm256_loadu_pd(block.as_ptr().add(6));
                    let x_j = _mm256_loadu_pd(x_j.as_ptr());
                    sums[0] = _mm256_fmadd_pd(b0, x_j, sums[0]);
                    sums[1] = _mm256_fmadd_pd(b1, x_j, sums[1]);
                    sums[2] = _mm256_fmadd_pd(b2, x_j, sums[2]);
                    // Loads of the widths that were stored, so that they are forwarded.
                    let low = _mm_loadu_pd(y_j.as_ptr());
                    let high = _mm_load_sd(y_j.as_ptr().add(2));
                    let mut sum = _mm256_set_m128d(high, low);
                    sum = _mm256_fmadd_pd(b0, x0, sum);
                    sum = _mm256_fmadd_pd(b1, x1, sum);
                    sum = _mm256_fmadd_pd(b2, x2, sum);
                    _mm_storeu_pd(y_j.as_mut_ptr(), _mm256_castpd256_pd128(sum));
                    _mm_store_sd(y_j.as_mut_ptr().add(2), _mm256_extractf128_pd::<1>(sum));
                }
            }
            let mut lanes = [[0.0; 4]; 3];
            for (lanes, sum) in lanes.iter_mut().zip(sums) {
                // SAFETY: four lanes are written to four elements.
                unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), sum) };
            }
            y[3 * i..3 * i + 3].copy_from_slice(&finish_row(&blocks[diagonal], &x_i, &lanes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn the_vector_code_gives_the_bits_of_its_scalar_twin() {
        let mut rng = SplitMix64::new(101);
        for n in [1, 2, 3, 50, 200] {
            let pattern = testing::pattern(&mut rng, n, &[3], 6);
            let A = testing::positive_definite(&mut rng, &pattern);
            let x = rng.values(pattern.dim());
            let (_, row, col, _) = pattern.raw();
            let (mut y, mut twin) = (vec![f64::NAN; 3 * n], vec![f64::NAN; 3 * n]);
            product(row, col, A.values(), &x, &mut y);
            scalar_product(row, col, A.values(), &x, &mut twin);
            assert_eq!(y, twin);
        }
    }
}
