//! MuJoCo's implicit: as implicitfast, with the slopes of Coriolis, centrifugal and gyroscopic forces as well.
//!
//! A must be symmetric and C = ∂c/∂v is not: b is chosen such that A gives the velocity of free motion that `A + h C`
//! gives. With constraints, C therefore acts in free motion only. c is quadratic in v, so that central
//! differences are exact. Cost: two evaluations of c per velocity and one dense factorization per tree.

use stiction_mech::{Data, Model, State, tree_bias_forces, tree_velocities};

use super::FreeMotion;

/// Memory of the slopes of one tree.
#[derive(Default)]
pub(super) struct BiasSlopes {
    /// `A + h C` of a tree, row-major, and its right-hand side.
    matrix: Vec<f64>,
    change: Vec<f64>,
    v: Vec<f64>,
}

impl FreeMotion {
    /// Replaces the impulse of the forces in b of a tree by that with which A gives the velocity of `A + h C`.
    pub(super) fn follow_bias_slopes(
        &mut self,
        model: &Model,
        index: usize,
        h: f64,
        state: &State,
        data: &mut Data,
    ) {
        let tree = &model.trees()[index];
        let (dofs, n) = (tree.dofs.clone(), tree.dofs.len());
        let BiasSlopes { matrix, change, v } = &mut self.bias_slopes;
        v.clone_from(&state.v);
        matrix.clear();
        matrix.extend_from_slice(&self.matrix[tree.mass.clone()]);
        for step in [1.0, -1.0] {
            for (column, dof) in dofs.clone().enumerate() {
                v[dof] = state.v[dof] + step;
                tree_velocities(model, index, v, data);
                tree_bias_forces(model, index, v, data);
                for (row, other) in dofs.clone().enumerate() {
                    matrix[row * n + column] += 0.5 * step * h * data.bias[other];
                }
                v[dof] = state.v[dof];
            }
        }
        tree_velocities(model, index, v, data);
        tree_bias_forces(model, index, v, data);
        change.clear();
        change.extend_from_slice(&self.momentum[dofs.clone()]);
        if !solve_dense(matrix, change) {
            return; // Unsolvable slopes leave the forces explicit.
        }
        let A = &self.matrix[tree.mass.clone()];
        for (row, b) in self.momentum[dofs].iter_mut().enumerate() {
            *b = A[row * n..][..n].iter().zip(&*change).map(|(a, change)| a * change).sum();
        }
    }
}

/// Solves `A x = b` in place by elimination with row exchanges. False if A is singular.
fn solve_dense(A: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for k in 0..n {
        let size = |row: &usize| A[*row * n + k].abs();
        let Some(pivot) = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))) else { return false };
        if !(A[pivot * n + k].abs() > 0.0) {
            return false;
        }
        if pivot != k {
            (0..n).for_each(|column| A.swap(k * n + column, pivot * n + column));
            b.swap(k, pivot);
        }
        for row in k + 1..n {
            let factor = A[row * n + k] / A[k * n + k];
            if factor != 0.0 {
                (k..n).for_each(|column| A[row * n + column] -= factor * A[k * n + column]);
                b[row] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|column| A[k * n + column] * b[column]).sum();
        b[k] = (b[k] - known) / A[k * n + k];
    }
    true
}
