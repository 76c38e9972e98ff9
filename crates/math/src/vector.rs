//! Loops over short vectors, in fours, for jobs that [`simd`](crate::simd) compiles for the widest instruction set of the
//! processor.

/// `x += factor y`. The last four overlap those before them, so that nothing is left over: of short vectors that would be
/// most.
#[inline(always)]
pub fn add_scaled(x: &mut [f64], factor: f64, y: &[f64]) {
    let Some(last) = last_sum(x, factor, y) else {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = factor.mul_add(*y, *x));
        return;
    };
    for (x, y) in x.as_chunks_mut::<4>().0.iter_mut().zip(y.as_chunks::<4>().0) {
        *x = sum(x, factor, y);
    }
    if let Some(x) = x.last_chunk_mut::<4>() {
        *x = last;
    }
}

#[inline(always)]
fn sum(x: &[f64; 4], factor: f64, y: &[f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| factor.mul_add(y[k], x[k]))
}

/// The last four of `x + factor y`, of as many as x has.
#[inline(always)]
fn last_sum(x: &[f64], factor: f64, y: &[f64]) -> Option<[f64; 4]> {
    Some(sum(x.last_chunk()?, factor, y.get(..x.len())?.last_chunk()?))
}

/// The sum of products, in four lanes: one chain of additions waits for each of them.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        lanes = std::array::from_fn(|k| a[k].mul_add(b[k], lanes[k]));
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_plain_loops_whatever_the_length() {
        for n in 0..19 {
            // Small integers: all sums are exact.
            let a: Vec<f64> = (0..n).map(|k| (k % 5) as f64 - 2.0).collect();
            let b: Vec<f64> = (0..n).map(|k| (k % 7) as f64 - 3.0).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), expected);
            let mut x = a.clone();
            add_scaled(&mut x, 3.0, &b);
            assert!(x.iter().zip(a.iter().zip(&b)).all(|(x, (a, b))| *x == a + 3.0 * b));
        }
    }
}
