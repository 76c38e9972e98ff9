//! Cholesky factorization along a tree: `H = Lᵀ L` with the sparsity of its branches.
//!
//! Coordinate k couples only with its ancestors and descendants. Factored from the leaves to the
//! root, such a matrix has no fill-in [Featherstone08, Sec. 6.5]. The parent of each coordinate
//! comes before it; a chain (every parent the coordinate before) gives the dense factorization.
//! Costs the sum of the squared depths to factor and twice the sum of the depths to solve.

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

/// Replaces the lower triangle of a row-major H by L. False if a pivot is not positive, relative
/// to `scale` of its coordinate: a pivot at the level of round-off counts as zero.
pub fn factor(H: &mut [f64], parents: &Parents, scale: impl Fn(usize) -> f64) -> bool {
    let (n, runs) = (parents.len(), Runs::new(parents));
    for k in (0..n).rev() {
        let (above, row) = H.split_at_mut(k * n);
        let pivot = row[k];
        let floor = n as f64 * f64::EPSILON * scale(k).abs();
        if pivot <= floor || !pivot.is_finite() {
            return false;
        }
        let root = pivot.sqrt();
        row[k] = root;
        for run in runs.up_from(parents[k]) {
            row[run].iter_mut().for_each(|l| *l /= root);
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
        let y = x[k] / row[k];
        x[k] = y;
        for run in runs.up_from(parents[k]) {
            x[run.clone()].iter_mut().zip(&row[run]).for_each(|(x, l)| *x -= l * y);
        }
    }
}

/// [`solve_transposed`] for four vectors at once, x of which is one entry per vector.
pub fn solve_transposed_four(L: &[f64], parents: &Parents, x: &mut [[f64; 4]]) {
    let n = parents.len();
    for k in (0..n).rev() {
        if x[k] == [0.0; 4] {
            continue;
        }
        let row = &L[k * n..(k + 1) * n];
        let y = x[k].map(|x| x / row[k]);
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
        x[k] = (x[k] - sum) / row[k];
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
    fn four_vectors_at_once_are_solved_as_one_by_one() {
        for parents in trees() {
            let n = parents.len();
            let mut L = matrix(&parents);
            assert!(factor(&mut L, &parents, |_| 0.0));
            let entry = |k: usize, lane: usize| if k + lane < 4 { 0.0 } else { (k * lane) as f64 };
            let mut four: Vec<[f64; 4]> =
                (0..n).map(|k| std::array::from_fn(|lane| entry(k, lane))).collect();
            let alone = four.clone();
            solve_transposed_four(&L, &parents, &mut four);
            for lane in 0..4 {
                let mut x: Vec<f64> = alone.iter().map(|x| x[lane]).collect();
                solve_transposed(&L, &parents, &mut x);
                assert!(x.iter().zip(&four).all(|(x, four)| *x == four[lane]));
            }
        }
    }
}
