//! Diagonalization: the diagonal W in place of A~⁻¹ [Lee23, Eq. (20), Sec. IV-C].
//!
//! W is equal over the rows of a contact's node, so that the surrogate's Delassus operator is
//! `γ I` there [Lee23, Eq. (25)]. Two choices: the minimiser of `|I − W A~|_F`,
//! `w = Σ a_kk / Σ |A~_k*|²` over the rows k of a node, or the step of Barzilai and Borwein.
//!
//! Deviation: rows of A~ have different units (rotations, joint coordinates). W is found for the
//! scaled unknowns `x' = D⁻¹ x`, `D = diag(A~)^(−1/2)` with one entry per node, and then expressed
//! in x: `w = d² w'`. Without scaling, D = 1.
//! Deviation: neither choice bounds the largest eigenvalue σ of `W A~`, which must stay below two
//! [Lee23, Theorem 2]; W is multiplied by a factor that places an estimate of σ.
//! Cost: one pass over the blocks of A and the pairs of blocks of each constraint.

use super::node::{Node, Nodes};
use super::system::product;
use crate::contact::DIM;
use crate::problem::Problem;

/// W and the scaling that it was found in.
#[derive(Clone, Debug, Default)]
pub(super) struct Surrogate {
    /// d² of each unknown [1/kg].
    pub scale: Vec<f64>,
    /// d⁻² of each unknown [kg]: the norm of the scaled unknowns.
    pub metric: Vec<f64>,
    /// The Frobenius W of each unknown [1/kg].
    pub inverse: Vec<f64>,
    /// Largest row sum of |A'|, a bound on its eigenvalues [-]; computed only if required.
    pub row_sum: f64,
    sums: bool,
    diagonal: Vec<f64>,
    square: Vec<f64>,
    absolute: Vec<f64>,
    rows: BlockRow,
    probe: Vec<f64>,
    image: Vec<f64>,
    before: Vec<f64>,
}

/// Products with A~ spent on the largest eigenvalue.
const LANCZOS_STEPS: usize = 8;
/// Halvings of the interval that holds it: far more exact than the estimate.
const BISECTIONS: usize = 30;

/// One block row of `A + Jᵀ K J` while it is summed.
#[derive(Clone, Debug, Default)]
struct BlockRow {
    /// Where the block of a column starts in `values`, or `ABSENT`.
    slot: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

const ABSENT: usize = usize::MAX;

impl BlockRow {
    fn block(&mut self, column: usize, size: usize) -> &mut [f64] {
        if self.slot[column] == ABSENT {
            self.slot[column] = self.values.len();
            self.columns.push(column);
            self.values.resize(self.values.len() + size, 0.0);
        }
        &mut self.values[self.slot[column]..][..size]
    }

    fn clear(&mut self) {
        for column in self.columns.drain(..) {
            self.slot[column] = ABSENT;
        }
        self.values.clear();
    }
}

impl Surrogate {
    /// Finds the Frobenius W of a nodalized problem, and the largest row sum if `sums`.
    pub fn prepare(&mut self, problem: &Problem, nodes: &Nodes, scaled: bool, sums: bool) {
        self.sums = sums;
        for x in [
            &mut self.scale,
            &mut self.metric,
            &mut self.inverse,
            &mut self.diagonal,
            &mut self.square,
            &mut self.absolute,
            &mut self.probe,
            &mut self.image,
            &mut self.before,
        ] {
            x.clear();
            x.resize(nodes.unknowns, 0.0);
        }
        self.find_diagonal(problem, nodes);
        if scaled {
            self.metric.copy_from_slice(&self.diagonal);
        } else {
            self.metric.fill(1.0);
        }
        for (scale, metric) in self.scale.iter_mut().zip(&self.metric) {
            *scale = 1.0 / metric;
        }
        self.sum_rows_of_velocities(problem, nodes);
        self.sum_virtual_rows(problem, nodes);
        self.row_sum = 0.0;
        for i in 0..nodes.unknowns {
            self.inverse[i] = self.scale[i] * self.diagonal[i] / self.square[i];
            if sums {
                self.row_sum = self.row_sum.max(self.absolute[i] * self.scale[i].sqrt());
            }
        }
        for first in nodes.direct_nodes() {
            average_inverse(
                &mut self.inverse,
                &self.diagonal,
                &self.square,
                &self.scale,
                first,
                DIM,
            );
        }
        for (i, first, _) in nodes.virtual_nodes() {
            let dim = problem.law(i).dim();
            average_inverse(
                &mut self.inverse,
                &self.diagonal,
                &self.square,
                &self.scale,
                first,
                dim,
            );
        }
    }

    /// diag(A~), averaged over nodes.
    fn find_diagonal(&mut self, problem: &Problem, nodes: &Nodes) {
        let (n, jacobian) = (problem.dofs(), problem.jacobian());
        problem.mass().matrix().diagonal(&mut self.diagonal[..n]);
        for (i, first, k) in nodes.virtual_nodes() {
            self.diagonal[first..first + jacobian.dim(i)].fill(k);
            for e in jacobian.constraint_entries(i) {
                let columns = jacobian.block_range(e.block as usize);
                for row in jacobian.block(e).chunks_exact(columns.len()) {
                    for (a, j) in self.diagonal[columns.clone()].iter_mut().zip(row) {
                        *a += k * j * j;
                    }
                }
            }
        }
        for first in nodes.direct_nodes() {
            let node = &mut self.diagonal[first..first + DIM];
            let mean = node.iter().sum::<f64>() / DIM as f64;
            node.fill(mean);
        }
    }

    /// `Σ_j a_ij² d_j²` and `Σ_j |a_ij| d_j` over the rows of `A + Jᵀ K J`.
    fn sum_rows_of_velocities(&mut self, problem: &Problem, nodes: &Nodes) {
        let (matrix, jacobian) = (problem.mass().matrix(), problem.jacobian());
        let pattern = matrix.pattern();
        self.rows.clear();
        self.rows.slot.clear();
        self.rows.slot.resize(pattern.n_blocks(), ABSENT);
        let is_virtual = |index: &u32| {
            let i = jacobian.entries()[*index as usize].constraint as usize;
            matches!(nodes.of_constraint[i], Node::Virtual { .. })
        };
        for p in 0..pattern.n_blocks() {
            let (width, i0) = (pattern.size(p), pattern.start(p));
            let entries = pattern.row_entries(p);
            if !jacobian.column_entries(p).iter().any(is_virtual) {
                for e in entries {
                    let place = (i0, pattern.start(e.col), pattern.size(e.col));
                    self.add_squares(place, matrix.block(e.id));
                }
                continue;
            }
            for e in entries {
                let block = matrix.block(e.id);
                self.rows.block(e.col, block.len()).copy_from_slice(block);
            }
            for &index in jacobian.column_entries(p) {
                let left = &jacobian.entries()[index as usize];
                let i = left.constraint as usize;
                let Node::Virtual { coupling: k, .. } = nodes.of_constraint[i] else { continue };
                for right in jacobian.constraint_entries(i) {
                    let q = right.block as usize;
                    if q > p {
                        continue;
                    }
                    let other = pattern.size(q);
                    let sum = self.rows.block(q, width * other);
                    let rows = jacobian.block(left).chunks_exact(width);
                    for (a, b) in rows.zip(jacobian.block(right).chunks_exact(other)) {
                        for (sum, a) in sum.chunks_exact_mut(other).zip(a) {
                            for (sum, b) in sum.iter_mut().zip(b) {
                                *sum += k * a * b;
                            }
                        }
                    }
                }
            }
            let rows = std::mem::take(&mut self.rows);
            for &q in &rows.columns {
                let (from, other) = (rows.slot[q], pattern.size(q));
                let block = &rows.values[from..from + width * other];
                self.add_squares((i0, pattern.start(q), other), block);
            }
            self.rows = rows;
            self.rows.clear();
        }
    }

    /// Adds one block, whose rows start at i0 and its columns at j0, to the sums of both.
    #[inline]
    fn add_squares(&mut self, (i0, j0, columns): (usize, usize, usize), block: &[f64]) {
        if let (3, Ok(block)) = (columns, <&[f64; 9]>::try_from(block)) {
            add_squares_of_three(block, i0, j0, &self.scale, &mut self.square);
        } else {
            for (c, a) in block.iter().enumerate() {
                let (i, j) = (i0 + c / columns, j0 + c % columns);
                self.square[i] += a * a * self.scale[j];
                if i0 != j0 {
                    self.square[j] += a * a * self.scale[i];
                }
            }
        }
        if self.sums {
            for (c, a) in block.iter().enumerate() {
                let (i, j) = (i0 + c / columns, j0 + c % columns);
                self.absolute[i] += a.abs() * self.scale[j].sqrt();
                if i0 != j0 {
                    self.absolute[j] += a.abs() * self.scale[i].sqrt();
                }
            }
        }
    }

    /// Adds the blocks `−K J` to both their rows, and K.
    fn sum_virtual_rows(&mut self, problem: &Problem, nodes: &Nodes) {
        let jacobian = problem.jacobian();
        for (i, first, k) in nodes.virtual_nodes() {
            for d in first..first + jacobian.dim(i) {
                self.square[d] += k * k * self.scale[d];
                if self.sums {
                    self.absolute[d] += k * self.scale[d].sqrt();
                }
            }
            for e in jacobian.constraint_entries(i) {
                let columns = jacobian.block_range(e.block as usize);
                for (d, row) in jacobian.block(e).chunks_exact(columns.len()).enumerate() {
                    let y = first + d;
                    for (c, j) in columns.clone().zip(row) {
                        let a = k * j;
                        self.square[c] += a * a * self.scale[y];
                        self.square[y] += a * a * self.scale[c];
                        if self.sums {
                            self.absolute[c] += a.abs() * self.scale[y].sqrt();
                            self.absolute[y] += a.abs() * self.scale[c].sqrt();
                        }
                    }
                }
            }
        }
    }

    /// An estimate from below of the largest eigenvalue of `W A~` [-], by the iteration of Lanczos on
    /// `S = W^(1/2) A~ W^(1/2)`: the largest of the tridiagonal matrix that it finds.
    ///
    /// Vectors q are kept as `p = W^(1/2) q`, so that `q·S q = p·A~ p` and `W^(1/2) S q = W A~ p`.
    pub fn largest_eigenvalue(&mut self, problem: &Problem, nodes: &Nodes) -> f64 {
        let mut random = stiction_math::random::SplitMix64::new(nodes.unknowns as u64);
        let mut square = 0.0;
        for (p, w) in self.probe.iter_mut().zip(&self.inverse) {
            let q = random.uniform(-1.0, 1.0);
            (*p, square) = (q * w.sqrt(), square + q * q);
        }
        let (mut diagonal, mut beside) = ([0.0; LANCZOS_STEPS], [0.0; LANCZOS_STEPS]);
        let (mut steps, mut beta) = (0, 0.0);
        while steps < LANCZOS_STEPS && square > 0.0 && square.is_finite() {
            // The last remainder, of norm β, becomes the next vector.
            let norm = 1.0 / f64::sqrt(square);
            self.probe.iter_mut().for_each(|p| *p *= norm);
            product(problem, nodes, &self.probe, &mut self.image);
            let alpha = super::dot(&self.probe, &self.image);
            if !alpha.is_finite() {
                break;
            }
            (diagonal[steps], beside[steps]) = (alpha, beta);
            square = 0.0;
            let rest = self.probe.iter_mut().zip(&mut self.before).zip(&self.image);
            for (((p, before), g), w) in rest.zip(&self.inverse) {
                let next = w * g - alpha * *p - beta * *before;
                square += next * next / w;
                (*before, *p) = (*p, next);
            }
            beta = f64::sqrt(square);
            steps += 1;
        }
        largest_of_tridiagonal(&diagonal[..steps], &beside[..steps])
    }
}

/// The largest eigenvalue of a symmetric tridiagonal matrix with this diagonal, where `beside[k]` is the
/// entry between k − 1 and k, by bisection on the number of eigenvalues above.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let Some(last) = diagonal.len().checked_sub(1) else { return 0.0 };
    let next = |k: usize| if k < last { beside[k + 1].abs() } else { 0.0 };
    let first = |k: usize| if k > 0 { beside[k].abs() } else { 0.0 };
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut high = (0..=last).map(|k| diagonal[k] + first(k) + next(k)).fold(low, f64::max);
    // All pivots of T − λ are negative if and only if λ lies above every eigenvalue.
    let above = |lambda: f64| {
        let mut pivot = diagonal[0] - lambda;
        (1..=last).all(|k| {
            let before = std::mem::replace(&mut pivot, 0.0);
            pivot = diagonal[k] - lambda - beside[k] * beside[k] / before;
            before < 0.0
        }) && pivot < 0.0
    };
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// The sums of squares of a 3×3 block.
#[inline(always)]
fn add_squares_of_three(a: &[f64; 9], i0: usize, j0: usize, scale: &[f64], square: &mut [f64]) {
    const N: usize = 3;
    let (Some(si), Some(sj)) = (scale[i0..].first_chunk::<N>(), scale[j0..].first_chunk::<N>())
    else {
        return;
    };
    let (mut of_rows, mut of_columns) = ([0.0; N], [0.0; N]);
    for r in 0..N {
        for c in 0..N {
            let squared = a[N * r + c] * a[N * r + c];
            of_rows[r] += squared * sj[c];
            of_columns[c] += squared * si[r];
        }
    }
    square[i0..i0 + N].iter_mut().zip(of_rows).for_each(|(s, x)| *s += x);
    if i0 != j0 {
        square[j0..j0 + N].iter_mut().zip(of_columns).for_each(|(s, x)| *s += x);
    }
}

/// One w for the rows of a node: `d² Σ a / Σ |A~|²`.
fn average_inverse(
    inverse: &mut [f64],
    diagonal: &[f64],
    square: &[f64],
    scale: &[f64],
    first: usize,
    dim: usize,
) {
    let rows = first..first + dim;
    let a: f64 = diagonal[rows.clone()].iter().sum();
    let squares: f64 = square[rows.clone()].iter().sum();
    inverse[rows].fill(scale[first] * a / squares);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_of_a_chain_is_that_of_its_closed_form() {
        // 2 on the diagonal and −1 beside it: 2 + 2 cos(π / (n + 1)).
        for n in [1, 2, 5, 8] {
            let largest = largest_of_tridiagonal(&vec![2.0; n], &vec![-1.0; n]);
            let expected = 2.0 + 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
            // The interval is at most as long as the row sum, 4, and is halved so many times.
            let bound = 4.0 * 0.5_f64.powi(BISECTIONS as i32);
            assert!((largest - expected).abs() <= bound, "{n}: {largest} against {expected}");
        }
        assert_eq!(largest_of_tridiagonal(&[], &[]), 0.0);
    }
}
