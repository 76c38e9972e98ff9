//! Cholesky factorization along a tree: `H = Lᵀ L` with the sparsity of its branches.
//!
//! Coordinate k couples only with its ancestors and descendants. Factored from the leaves to the
//! root, such a matrix has no fill-in [Featherstone08, Sec. 6.5]. The parent of each coordinate
//! comes before it; a chain (every parent the coordinate before) gives the dense factorization.
//! Costs the sum of the squared depths to factor and twice the sum of the depths to solve.

mod small;

use crate::simd;

/// Parent of a coordinate, `None` at the root.
pub type Parents = [Option<u32>];

/// Coordinates from `from` to the root.
#[inline]
pub fn ancestors(parents: &Parents, from: Option<u32>) -> impl Iterator<Item = usize> + Clone + '_ {
    std::iter::successors(from.map(|k| k as usize), |k| parents[*k].map(|p| p as usize))
}

/// Coordinates whose runs are in a table.
const TABLE: usize = 128;

/// Runs of consecutive coordinates, each the parent of the next, from `from` to the root: loops over a run are over
/// contiguous values.
struct Runs<'a> {
    parents: &'a Parents,
    /// First coordinate of the run of each coordinate, of as many as fit.
    first: [u16; TABLE],
}

impl<'a> Runs<'a> {
    #[inline]
    fn new(parents: &'a Parents) -> Self {
        let mut first = [0; TABLE];
        for k in 1..parents.len().min(TABLE) {
            let continues = parents[k] == Some(k as u32 - 1);
            first[k] = if continues { first[k - 1] } else { k as u16 };
        }
        Self { parents, first }
    }

    /// First coordinate of the run of a coordinate.
    #[inline]
    fn first(&self, k: usize) -> usize {
        let mut k = k;
        while k >= TABLE && self.parents[k] == Some(k as u32 - 1) {
            k -= 1;
        }
        self.first.get(k).map_or(k, |first| *first as usize)
    }

    /// The runs from a coordinate to the root, itself included.
    #[inline]
    fn up_from(&self, from: Option<u32>) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut next = from;
        std::iter::from_fn(move || {
            let last = next? as usize;
            let first = self.first(last);
            next = self.parents[first];
            Some(first..last + 1)
        })
    }
}

/// Replaces the lower triangle of a row-major H by L, with the reciprocals of its diagonal in their places: to multiply by them
/// takes less time than to divide. False if a pivot is not positive, relative to `scale` of its coordinate: a pivot at the level
/// of round-off counts as zero.
pub fn factor(H: &mut [f64], parents: &Parents, scale: impl Fn(usize) -> f64) -> bool {
    let n = parents.len();
    let descendants = if n >= small::LEAST { small::descendants(parents) } else { None };
    match descendants {
        Some(descendants) => {
            let floor = |k| round_off(n, scale(k));
            simd::dispatch(small::FactorByRows { H, n, descendants: &descendants, floor })
        }
        None => factor_by_columns(H, parents, scale),
    }
}

/// Level of round-off of a pivot.
#[inline]
fn round_off(n: usize, scale: f64) -> f64 {
    n as f64 * f64::EPSILON * scale.abs()
}

/// [`factor`] of any tree, one update after another.
fn factor_by_columns(H: &mut [f64], parents: &Parents, scale: impl Fn(usize) -> f64) -> bool {
    let (n, runs) = (parents.len(), Runs::new(parents));
    for k in (0..n).rev() {
        let (above, row) = H.split_at_mut(k * n);
        let pivot = row[k];
        if pivot <= round_off(n, scale(k)) || !pivot.is_finite() {
            return false;
        }
        let reciprocal = 1.0 / pivot.sqrt();
        row[k] = reciprocal;
        for run in runs.up_from(parents[k]) {
            row[run].iter_mut().for_each(|l| *l *= reciprocal);
        }
        for i in ancestors(parents, parents[k]).filter(|i| row[*i] != 0.0) {
            let (l, target) = (row[i], &mut above[i * n..(i + 1) * n]);
            for run in runs.up_from(Some(i as u32)) {
                target[run.clone()].iter_mut().zip(&row[run]).for_each(|(t, r)| *t -= l * r);
            }
        }
    }
    true
}

/// `x ← L⁻ᵀ x` with the L of [`factor`]: then `|x|²` is `xᵀ H⁻¹ x` of the x before. An x that is zero
/// off one path costs the square of the path's length.
pub fn solve_transposed(L: &[f64], parents: &Parents, x: &mut [f64]) {
    let (n, runs) = (parents.len(), Runs::new(parents));
    for k in (0..n).rev() {
        if x[k] == 0.0 {
            continue;
        }
        let row = &L[k * n..(k + 1) * n];
        let y = x[k] * row[k];
        x[k] = y;
        for run in runs.up_from(parents[k]) {
            x[run.clone()].iter_mut().zip(&row[run]).for_each(|(x, l)| *x -= l * y);
        }
    }
}

/// Memory of a division of several rows at once.
pub type FourRows = Vec<[f64; 4]>;

/// Copies up to four rows of n entries, `stride` apart, into one entry per column. Where there are less, the first stands for
/// those that are missing.
#[inline(always)]
fn transpose(rows: &[f64], stride: usize, n: usize, four: &mut FourRows) {
    four.clear();
    let row = |lane: usize| rows.get(lane * stride..).filter(|row| row.len() >= n);
    let Some(first) = row(0) else { return four.resize(n, [0.0; 4]) };
    let [a, b, c, d] = [0, 1, 2, 3].map(|lane| &row(lane).unwrap_or(first)[..n]);
    four.extend((0..n).map(|k| [a[k], b[k], c[k], d[k]]));
}

/// [`solve_transposed`] for every row of n entries; rows are `stride` apart. Four are solved at once.
pub fn solve_transposed_rows(
    L: &[f64],
    parents: &Parents,
    rows: &mut [f64],
    stride: usize,
    four: &mut FourRows,
) {
    for rows in rows.chunks_mut(4 * stride) {
        transpose(rows, stride, parents.len(), four);
        divide_four(L, parents, four);
        for (lane, x) in rows.chunks_mut(stride).enumerate() {
            for (x, four) in x.iter_mut().zip(&*four) {
                *x = four[lane];
            }
        }
    }
}

/// `X H⁻¹ Xᵀ` with the L of [`factor`] for three rows X of n entries, in the order 00, 11, 22, 01, 12, 20; zero for none.
pub fn inverse_products(
    L: &[f64],
    parents: &Parents,
    rows: &[f64],
    four: &mut FourRows,
) -> [f64; 6] {
    transpose(rows, parents.len(), parents.len(), four);
    divide_four(L, parents, four);
    let mut sums = [0.0; 6];
    for [a, b, c, _] in &*four {
        let products = [a * a, b * b, c * c, a * b, b * c, c * a];
        sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    sums
}

/// `xᵀ H⁻¹ x` with the L of [`factor`] for up to four rows x of n entries; where there are less, the others are that of the first.
pub fn inverse_squares(
    L: &[f64],
    parents: &Parents,
    rows: &[f64],
    four: &mut FourRows,
) -> [f64; 4] {
    transpose(rows, parents.len(), parents.len(), four);
    divide_four(L, parents, four);
    let mut sums = [0.0; 4];
    for x in &*four {
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x * x);
    }
    sums
}

/// [`solve_transposed`] for four vectors at once, x of which is one entry per vector.
fn divide_four(L: &[f64], parents: &Parents, x: &mut [[f64; 4]]) {
    let n = parents.len();
    for k in (0..n).rev() {
        if x[k] == [0.0; 4] {
            continue;
        }
        let row = &L[k * n..(k + 1) * n];
        let y = x[k].map(|x| x * row[k]);
        x[k] = y;
        for j in ancestors(parents, parents[k]) {
            for (x, y) in x[j].iter_mut().zip(y) {
                *x -= row[j] * y;
            }
        }
    }
}

/// `x ← H⁻¹ x` with the L of [`factor`].
pub fn solve(L: &[f64], parents: &Parents, x: &mut [f64]) {
    let (n, runs) = (parents.len(), Runs::new(parents));
    solve_transposed(L, parents, x);
    for k in 0..n {
        let row = &L[k * n..(k + 1) * n];
        let mut sum = 0.0;
        for run in runs.up_from(parents[k]) {
            sum += row[run.clone()].iter().zip(&x[run]).map(|(l, x)| l * x).sum::<f64>();
        }
        x[k] = (x[k] - sum) * row[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two legs of three coordinates on a base of two, the second of which branches once more, and a long chain.
    fn trees() -> [Vec<Option<u32>>; 2] {
        let legs = [None, Some(0), Some(1), Some(2), Some(3), Some(1), Some(5), Some(6), Some(5)];
        let chain = (0..TABLE as u32 + 20).map(|k| k.checked_sub(1)).collect();
        [legs.to_vec(), chain]
    }

    /// A matrix with the sparsity of a tree: a large diagonal, and couplings with ancestors.
    fn matrix(parents: &Parents) -> Vec<f64> {
        let n = parents.len();
        let mut H = vec![0.0; n * n];
        for k in 0..n {
            H[k * n + k] = n as f64 + k as f64;
            for j in ancestors(parents, parents[k]) {
                H[k * n + j] = ((3 * k + 5 * j) % 7) as f64 / 7.0 - 0.4;
                H[j * n + k] = H[k * n + j];
            }
        }
        H
    }

    #[test]
    fn solutions_satisfy_the_equations_on_branching_and_on_long_trees() {
        for parents in trees() {
            let n = parents.len();
            let H = matrix(&parents);
            let mut L = H.clone();
            assert!(factor(&mut L, &parents, |k| H[k * n + k]));
            let b: Vec<f64> = (0..n).map(|k| 1.0 + (k % 5) as f64).collect();
            let mut x = b.clone();
            solve(&L, &parents, &mut x);
            for (row, b) in H.chunks_exact(n).zip(&b) {
                let product: f64 = row.iter().zip(&x).map(|(h, x)| h * x).sum();
                // The matrix is diagonally dominant: round-off of n products of numbers of the size of b.
                assert!((product - b).abs() <= n as f64 * 10.0 * f64::EPSILON * 10.0);
            }
        }
    }

    #[test]
    fn rows_at_once_are_solved_as_one_by_one() {
        for parents in trees() {
            let n = parents.len();
            let H = matrix(&parents);
            let mut L = H.clone();
            assert!(factor(&mut L, &parents, |_| 0.0));
            let entry = |k: usize, row: usize| if k + row < 4 { 0.0 } else { (k * row) as f64 };
            for (count, stride) in [(4, n), (6, n + 3), (1, n)] {
                let mut rows = vec![f64::NAN; count * stride];
                for (k, x) in rows.chunks_mut(stride).enumerate() {
                    (0..n).for_each(|i| x[i] = entry(i, k));
                }
                let alone = rows.clone();
                solve_transposed_rows(&L, &parents, &mut rows, stride, &mut FourRows::new());
                for (x, found) in alone.chunks(stride).zip(rows.chunks(stride)) {
                    let mut x = x[..n].to_vec();
                    solve_transposed(&L, &parents, &mut x);
                    assert_eq!(x, found[..n]);
                }
            }
            let rows: Vec<f64> =
                (0..3).flat_map(|row| (0..n).map(move |k| entry(k, row + 1))).collect();
            let found = inverse_products(&L, &parents, &rows, &mut FourRows::new());
            let squares = inverse_squares(&L, &parents, &rows, &mut FourRows::new());
            for (at, (i, j)) in
                [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)].into_iter().enumerate()
            {
                let mut x = rows[i * n..(i + 1) * n].to_vec();
                solve(&L, &parents, &mut x);
                let expected: f64 = x.iter().zip(&rows[j * n..]).map(|(x, r)| x * r).sum();
                // Round-off of n products; the matrix is diagonally dominant.
                let bound = 10.0 * n as f64 * f64::EPSILON * expected.abs();
                assert!((found[at] - expected).abs() <= bound, "{} {expected}", found[at]);
                assert!(i != j || squares[i] == found[at]);
            }
        }
    }

    #[test]
    fn a_path_of_many_runs_is_solved() {
        // Every coordinate has two children of which the second continues: each run has one coordinate.
        let parents: Vec<Option<u32>> =
            (0..41_u32).map(|k| if k == 0 { None } else { Some((k - 1) / 2 * 2) }).collect();
        let n = parents.len();
        let H = matrix(&parents);
        let mut L = H.clone();
        assert!(factor(&mut L, &parents, |k| H[k * n + k]));
        let mut x = vec![1.0; n];
        solve(&L, &parents, &mut x);
        for row in H.chunks_exact(n) {
            let product: f64 = row.iter().zip(&x).map(|(h, x)| h * x).sum();
            assert!((product - 1.0).abs() <= n as f64 * 10.0 * f64::EPSILON);
        }
    }
}
