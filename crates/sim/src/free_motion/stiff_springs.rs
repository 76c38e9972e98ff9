//! Springs of joints that are too stiff for a step in which their force is that at its start.
//!
//! With the force at the start, a spring of stiffness k on an effective inertia m oscillates with the frequency of the step
//! for h² k/m > 1 and is unstable beyond 4. Such springs are linearly implicit: `h² k` is added to the diagonal
//! of A, which is stable for any k and damps what the step does not resolve [Baraff98, Sec. 2].
//! The effective inertia is the inverse of the diagonal of M⁻¹, at most the diagonal of M. Cost: a factorization of
//! the mass matrix and a solve per spring, only for trees with springs that come near the bound.

use stiction_math::branch;
use stiction_mech::{Data, Model};

use super::FreeMotion;

/// Largest h² k/m of a spring whose force is that at the start of the step [-].
const MAX_STIFFNESS: f64 = 0.25;
/// Ratio of the diagonal of M to the effective inertia up to which springs are not looked at [-].
const MAX_RATIO: f64 = 25.0;

/// Stiffness that is in A: that of servos, which is `stiffness` less that of the spring, and of the spring if it is stiff.
pub(super) fn implicit(stiffness: f64, spring: f64, is_stiff: bool) -> f64 {
    if is_stiff { stiffness } else { (stiffness - spring).max(0.0) }
}

impl FreeMotion {
    /// Marks the springs of a tree that are stiff in a step of length `h` [s]; the mass matrix is in the data.
    pub(super) fn mark_stiff_springs(&mut self, model: &Model, tree: usize, h: f64, data: &Data) {
        let range = &model.trees()[tree];
        let (n, M) = (range.dofs.len(), &data.mass[range.mass.clone()]);
        let mut is_factored = None;
        for (k, dof) in range.dofs.clone().enumerate() {
            let stiffness = h * h * self.spring[dof];
            self.is_stiff[dof] = stiffness > MAX_STIFFNESS * M[k * n + k];
            if self.is_stiff[dof] || MAX_RATIO * stiffness <= MAX_STIFFNESS * M[k * n + k] {
                continue;
            }
            let parents = &model.dof_parents()[range.dofs.clone()];
            let L = &mut self.factor[range.mass.clone()];
            let is_factored = *is_factored.get_or_insert_with(|| {
                L.copy_from_slice(M);
                branch::factor(L, parents, |k| M[k * n + k])
            });
            let column = &mut self.trial.residual[range.dofs.clone()];
            column.fill(0.0);
            column[k] = 1.0;
            if is_factored {
                branch::solve(L, parents, column);
            }
            self.is_stiff[dof] = !is_factored || stiffness * column[k] > MAX_STIFFNESS;
        }
    }

    /// Weight of the end of the step in the force of a spring of a joint [-]; `theta` is that of the scheme.
    pub fn spring_weight(&self, dof: usize, theta: f64) -> f64 {
        if self.is_stiff[dof] { 1.0 } else { theta }
    }
}
