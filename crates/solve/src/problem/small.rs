//! Products with the small dense blocks of J; the widths of bodies and nodes have loops of their own.

/// `out += B x`, B row-major.
#[inline(always)]
pub(crate) fn add_product(B: &[f64], x: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn fixed<const N: usize>(B: &[f64], x: &[f64], out: &mut [f64]) {
        let Some(x) = x.first_chunk::<N>() else { return };
        for (row, out) in B.as_chunks::<N>().0.iter().zip(out) {
            let mut sum = 0.0;
            for k in 0..N {
                sum += row[k] * x[k];
            }
            *out += sum;
        }
    }
    match x.len() {
        3 => fixed::<3>(B, x, out),
        6 => fixed::<6>(B, x, out),
        n => {
            for (row, out) in B.chunks_exact(n).zip(out) {
                *out += dot(row, x);
            }
        }
    }
}

/// `out += Bᵀ x`, B row-major.
#[inline(always)]
pub(crate) fn add_transposed_product(B: &[f64], x: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn fixed<const N: usize>(B: &[f64], x: &[f64], out: &mut [f64]) {
        let Some(out) = out.first_chunk_mut::<N>() else { return };
        for (row, x) in B.as_chunks::<N>().0.iter().zip(x) {
            for k in 0..N {
                out[k] += row[k] * x;
            }
        }
    }
    match out.len() {
        3 => fixed::<3>(B, x, out),
        6 => fixed::<6>(B, x, out),
        n => {
            for (row, x) in B.chunks_exact(n).zip(x) {
                for (out, b) in out.iter_mut().zip(row) {
                    *out += b * x;
                }
            }
        }
    }
}

/// The sum of products.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The sum of products in four lanes: one chain of additions waits for each of them.
#[inline(always)]
pub(crate) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            lanes[k] += a[k] * b[k];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + dot(a_rest, b_rest)
}
