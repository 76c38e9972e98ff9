//! Sums of products whose additions do not wait for one another.

/// The sum of products in four lanes: one chain of additions waits for each of them. One order for every instruction set.
#[inline]
pub fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            lanes[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_whole_numbers_add_up_exactly() {
        for n in 0..20 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let b: Vec<f64> = (0..n).map(|k| f64::from(2 * k + 1)).collect();
            let expected: i32 = (0..n).map(|k| k * (2 * k + 1)).sum();
            assert_eq!(dot_in_lanes(&a, &b), f64::from(expected));
        }
    }
}
