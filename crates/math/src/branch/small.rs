//! Factorization of small trees whose subtrees are numbered one after another, as those of robots are.
//!
//! Row i of the factor takes the sum over all descendants of coordinate i, four entries at once, instead of one update per pair of
//! coordinates. Rows stay without the factor of their pivot until the end, so that no square root is between one row and the next.
//! Entries between coordinates of different branches may have any value: they are computed with the others, and change none of them.

use super::Parents;
use crate::simd;

/// Least number of coordinates: a single body has hardly any work to share.
pub(super) const LEAST: usize = 8;
/// Largest number of coordinates: in larger trees most entries of a row belong to other branches.
pub(super) const MOST: usize = 48;

/// Per coordinate, the number of its descendants.
pub(super) type Descendants = [u8; MOST];

/// Numbers of descendants; `None` if there are too many coordinates, or if those of a subtree do not follow one another.
#[inline]
pub(super) fn descendants(parents: &Parents) -> Option<Descendants> {
    let (mut count, mut last) = ([0_u8; MOST], [0_u8; MOST]);
    if parents.len() > MOST {
        return None;
    }
    for k in (0..parents.len()).rev() {
        last[k] = last[k].max(k as u8);
        if count[k] != last[k] - k as u8 {
            return None;
        }
        if let Some(parent) = parents[k] {
            let parent = parent as usize;
            count[parent] += count[k] + 1;
            last[parent] = last[parent].max(last[k]);
        }
    }
    Some(count)
}

/// [`super::factor`] by rows; `floor` is the level of round-off of a pivot.
pub(super) struct FactorByRows<'a, F: Fn(usize) -> f64> {
    pub H: &'a mut [f64],
    pub n: usize,
    pub descendants: &'a Descendants,
    pub floor: F,
}

impl<F: Fn(usize) -> f64> simd::Job for FactorByRows<'_, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { H, n, descendants, floor } = self;
        // Reciprocals of the pivots, and factors of the rows of descendants.
        let (mut reciprocals, mut factors) = ([0.0; MOST], [0.0; MOST]);
        for i in (0..n).rev() {
            let (above, below) = H.split_at_mut((i + 1) * n);
            let row = &mut above[i * n..];
            let factors = &mut factors[..descendants[i] as usize];
            let below = &below[..factors.len() * n];
            for ((factor, row), reciprocal) in
                factors.iter_mut().zip(below.chunks_exact(n)).zip(&reciprocals[i + 1..])
            {
                *factor = row[i] * reciprocal;
            }
            if factors.is_empty() {
            } else if i >= 3 {
                // The last four overlap with those before, and are computed from what was there.
                let end = subtracted(row, below, n, factors, i - 3);
                for at in (0..i - 3).step_by(4) {
                    let found = subtracted(row, below, n, factors, at);
                    row[at..at + 4].copy_from_slice(&found);
                }
                row[i - 3..=i].copy_from_slice(&end);
            } else {
                for (factor, other) in factors.iter().zip(below.chunks_exact(n)) {
                    for (x, other) in row[..=i].iter_mut().zip(other) {
                        *x = (-factor).mul_add(*other, *x);
                    }
                }
            }
            let pivot = row[i];
            if pivot <= floor(i) || !pivot.is_finite() {
                return false;
            }
            reciprocals[i] = 1.0 / pivot;
        }
        for (i, row) in H.chunks_exact_mut(n).enumerate() {
            let root = reciprocals[i].sqrt();
            row[..i].iter_mut().for_each(|l| *l *= root);
            row[i] = root;
        }
        true
    }
}

/// Four entries of a row less the same entries of the rows below it, each times its factor.
#[inline(always)]
fn subtracted(row: &[f64], below: &[f64], n: usize, factors: &[f64], at: usize) -> [f64; 4] {
    let entries = |row: &[f64]| -> [f64; 4] { std::array::from_fn(|k| row[at + k]) };
    // Two sums, since each addition waits for the last one.
    let (mut sum, mut other) = (entries(row), [0.0; 4]);
    let (mut pairs, mut pair_factors) = (below.chunks_exact(2 * n), factors.chunks_exact(2));
    for (rows, factors) in (&mut pairs).zip(&mut pair_factors) {
        let (a, b) = (entries(&rows[..n]), entries(&rows[n..]));
        for k in 0..4 {
            sum[k] = (-factors[0]).mul_add(a[k], sum[k]);
            other[k] = (-factors[1]).mul_add(b[k], other[k]);
        }
    }
    if let [factor] = pair_factors.remainder() {
        let a = entries(pairs.remainder());
        for k in 0..4 {
            sum[k] = (-factor).mul_add(a[k], sum[k]);
        }
    }
    std::array::from_fn(|k| sum[k] + other[k])
}

#[cfg(test)]
mod tests {
    use super::super::{ancestors, factor_by_columns};
    use super::*;
    use crate::random::SplitMix64;
    use crate::simd::Job;

    /// A tree in which every coordinate continues the branch of the last one or starts one at an ancestor of it.
    fn random_tree(random: &mut SplitMix64, n: usize) -> Vec<Option<u32>> {
        let mut parents = vec![None];
        for k in 1..n as u32 {
            let mut parent = k - 1;
            while random.uniform(0.0, 1.0) < 0.3
                && let Some(up) = parents[parent as usize]
            {
                parent = up;
            }
            parents.push(Some(parent));
        }
        parents
    }

    /// A positive definite matrix with the sparsity of the tree; other entries are NaN.
    fn matrix(random: &mut SplitMix64, parents: &Parents) -> Vec<f64> {
        let n = parents.len();
        let mut H = vec![f64::NAN; n * n];
        for k in 0..n {
            H[k * n + k] = 2.0 * n as f64;
            for j in ancestors(parents, parents[k]) {
                H[k * n + j] = random.uniform(-1.0, 1.0);
            }
        }
        H
    }

    #[test]
    fn rows_at_once_give_the_factor_of_updates_one_by_one() {
        let mut random = SplitMix64::new(7);
        for n in 1..=MOST {
            let parents = random_tree(&mut random, n);
            let H = matrix(&mut random, &parents);
            let count = descendants(&parents).expect("branches follow one another");
            let [mut plain, mut by_rows, mut twin] = [H.clone(), H.clone(), H.clone()];
            assert!(factor_by_columns(&mut plain, &parents, |_| 0.0));
            let floor = |_: usize| 0.0;
            let job = FactorByRows { H: &mut by_rows, n, descendants: &count, floor };
            assert!(simd::dispatch(job));
            assert!(FactorByRows { H: &mut twin, n, descendants: &count, floor }.run());
            for k in 0..n {
                for j in ancestors(&parents, Some(k as u32)) {
                    let (found, expected) = (by_rows[k * n + j], plain[k * n + j]);
                    assert_eq!(found.to_bits(), twin[k * n + j].to_bits());
                    // The matrix is diagonally dominant: round-off of n products of entries of the factor, which are below √(2 n).
                    let bound = 10.0 * n as f64 * f64::EPSILON;
                    assert!((found - expected).abs() <= bound, "{n}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_pivot_at_the_level_of_round_off_counts_as_zero() {
        let parents: Vec<Option<u32>> = (0..6_u32).map(|k| k.checked_sub(1)).collect();
        let count = descendants(&parents).expect("a chain");
        // Of rank one: after the last coordinate nothing is left.
        let mut H = vec![1.0; 36];
        let floor = |_: usize| 6.0 * f64::EPSILON;
        assert!(!simd::dispatch(FactorByRows { H: &mut H, n: 6, descendants: &count, floor }));
    }

    #[test]
    fn trees_that_are_large_or_numbered_otherwise_have_no_rows() {
        let by_level = [None, Some(0), Some(0), Some(1), Some(2)];
        assert!(descendants(&by_level).is_none());
        let chain: Vec<Option<u32>> = (0..MOST as u32 + 1).map(|k| k.checked_sub(1)).collect();
        assert!(descendants(&chain).is_none());
        let in_order = [None, Some(0), Some(1), Some(0), None, Some(4)];
        assert_eq!(
            descendants(&in_order).map(|count| count[..6].to_vec()),
            Some(vec![3, 1, 0, 0, 1, 0])
        );
    }
}
