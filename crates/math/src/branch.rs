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

/// Replaces the lower triangle of a row-major H by L. False if a pivot is not positive, relative
/// to `scale` of its coordinate: a pivot at the level of round-off counts as zero.
pub fn factor(H: &mut [f64], parents: &Parents, scale: impl Fn(usize) -> f64) -> bool {
    let n = parents.len();
    for k in (0..n).rev() {
        let (above, row) = H.split_at_mut(k * n);
        let pivot = row[k];
        let floor = n as f64 * f64::EPSILON * scale(k).abs();
        if pivot <= floor || !pivot.is_finite() {
            return false;
        }
        let root = pivot.sqrt();
        row[k] = root;
        for i in ancestors(parents, parents[k]) {
            row[i] /= root;
        }
        for i in ancestors(parents, parents[k]).filter(|i| row[*i] != 0.0) {
            let (l, target) = (row[i], &mut above[i * n..(i + 1) * n]);
            for j in ancestors(parents, Some(i as u32)) {
                target[j] -= l * row[j];
            }
        }
    }
    true
}

/// `x ← L⁻ᵀ x` with the L of [`factor`]: then `|x|²` is `xᵀ H⁻¹ x` of the x before. An x that is zero
/// off one path costs the square of the path's length.
pub fn solve_transposed(L: &[f64], parents: &Parents, x: &mut [f64]) {
    let n = parents.len();
    for k in (0..n).rev() {
        if x[k] == 0.0 {
            continue;
        }
        let row = &L[k * n..(k + 1) * n];
        let y = x[k] / row[k];
        x[k] = y;
        for j in ancestors(parents, parents[k]) {
            x[j] -= row[j] * y;
        }
    }
}

/// `x ← H⁻¹ x` with the L of [`factor`].
pub fn solve(L: &[f64], parents: &Parents, x: &mut [f64]) {
    let n = parents.len();
    solve_transposed(L, parents, x);
    for k in 0..n {
        let row = &L[k * n..(k + 1) * n];
        let sum: f64 = ancestors(parents, parents[k]).map(|j| row[j] * x[j]).sum();
        x[k] = (x[k] - sum) / row[k];
    }
}
