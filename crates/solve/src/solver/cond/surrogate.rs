//! Diagonalization: the diagonal W that stands for A~⁻¹ [Lee23, Eq. (20), Sec. IV-C].
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
    /// Largest row sum of |A'|, a bound on its eigenvalues [-].
    pub row_sum: f64,
    diagonal: Vec<f64>,
    square: Vec<f64>,
    absolute: Vec<f64>,
    rows: BlockRow,
    probe: Vec<f64>,
    image: Vec<f64>,
}

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
    /// Finds the Frobenius W of a nodalized problem.
    pub fn prepare(&mut self, problem: &Problem, nodes: &Nodes, scaled: bool) {
        for x in [
            &mut self.scale,
            &mut self.metric,
            &mut self.inverse,
            &mut self.diagonal,
            &mut self.square,
            &mut self.absolute,
            &mut self.probe,
            &mut self.image,
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
            self.row_sum = self.row_sum.max(self.absolute[i] * self.scale[i].sqrt());
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
        for p in 0..pattern.n_blocks() {
            let width = pattern.size(p);
            for e in pattern.row_entries(p) {
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
            for &q in &self.rows.columns {
                let (from, other) = (self.rows.slot[q], pattern.size(q));
                let (i0, j0) = (pattern.start(p), pattern.start(q));
                for (c, a) in self.rows.values[from..from + width * other].iter().enumerate() {
                    let (i, j) = (i0 + c / other, j0 + c % other);
                    self.square[i] += a * a * self.scale[j];
                    self.absolute[i] += a.abs() * self.scale[j].sqrt();
                    if p != q {
                        self.square[j] += a * a * self.scale[i];
                        self.absolute[j] += a.abs() * self.scale[i].sqrt();
                    }
                }
            }
            self.rows.clear();
        }
    }

    /// Adds the blocks `−K J` to both their rows, and K.
    fn sum_virtual_rows(&mut self, problem: &Problem, nodes: &Nodes) {
        let jacobian = problem.jacobian();
        for (i, first, k) in nodes.virtual_nodes() {
            for d in first..first + jacobian.dim(i) {
                self.square[d] += k * k * self.scale[d];
                self.absolute[d] += k * self.scale[d].sqrt();
            }
            for e in jacobian.constraint_entries(i) {
                let columns = jacobian.block_range(e.block as usize);
                for (d, row) in jacobian.block(e).chunks_exact(columns.len()).enumerate() {
                    let y = first + d;
                    for (c, j) in columns.clone().zip(row) {
                        let a = k * j;
                        self.square[c] += a * a * self.scale[y];
                        self.square[y] += a * a * self.scale[c];
                        self.absolute[c] += a.abs() * self.scale[y].sqrt();
                        self.absolute[y] += a.abs() * self.scale[c].sqrt();
                    }
                }
            }
        }
    }

    /// An estimate from below of the largest eigenvalue of `W A~` [-], by power iteration.
    pub fn largest_eigenvalue(&mut self, problem: &Problem, nodes: &Nodes, steps: usize) -> f64 {
        let mut random = crate::random::SplitMix64::new(nodes.unknowns as u64);
        for (x, w) in self.probe.iter_mut().zip(&self.inverse) {
            *x = random.uniform(-1.0, 1.0) * w.sqrt();
        }
        let mut eigenvalue = 0.0;
        for _ in 0..steps {
            product(problem, nodes, &self.probe, &mut self.image);
            // Rayleigh quotient of W^(1/2) A~ W^(1/2), whose vectors are W^(−1/2) x.
            let (mut top, mut bottom, mut next) = (0.0, 0.0, 0.0);
            for ((x, g), w) in self.probe.iter().zip(&mut self.image).zip(&self.inverse) {
                top += x * *g;
                bottom += x * x / w;
                *g *= w;
                next += *g * *g / w;
            }
            if !(bottom > 0.0 && next > 0.0) {
                break;
            }
            eigenvalue = f64::max(eigenvalue, top / bottom);
            let norm = next.sqrt();
            for (x, g) in self.probe.iter_mut().zip(&self.image) {
                *x = g / norm;
            }
        }
        eigenvalue
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
