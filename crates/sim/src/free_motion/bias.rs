//! Coriolis, centrifugal and gravity forces of mechanisms in b.

use stiction_mech::{
    Data, Model, State, tree_bias_forces, tree_bias_forces_at, tree_gravity_forces, tree_velocities,
};

use super::{FreeMotion, MAX_TURN, dense};
use crate::rows::RowBuilder;
use crate::scheme::Scheme;

/// Turn of a link within a step below which forces may be evaluated at the start of the step [rad].
const NEGLIGIBLE_TURN: f64 = 1e-3;
/// Change of the velocity by velocity-dependent forces above which a step does not resolve it, relative
/// to the velocity in the kinetic metric [-]: where the forces are evaluated at a predicted midpoint, and
/// where they are evaluated at the start of the step, which adds half the square of this to the energy.
const MAX_CHANGE: f64 = 0.5;
const MAX_EXPLICIT_CHANGE: f64 = 0.1;

/// Coriolis, centrifugal and gravity forces in b of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BiasInMomentum {
    /// As constraint rows need them.
    Complete,
    /// Evaluated at the start of the step.
    AtStart,
    /// Left out.
    Missing,
}

impl FreeMotion {
    /// Adds the impulses of Coriolis, centrifugal and gravity forces of a tree to b. A tree that may
    /// turn out to have no constraint rows gets no more than is needed before that is known.
    pub(super) fn add_bias(
        &mut self,
        model: &Model,
        index: usize,
        (scheme, h): (Scheme, f64),
        state: &State,
        data: &mut Data,
    ) {
        self.bias[index] = BiasInMomentum::Missing;
        if !scheme.advances_trees() || self.linearised[index] {
            self.complete_momentum(model, index, h, state, data);
        } else if self.limited[index] {
            self.subtract_bias(model, index, h, state, data);
            self.bias[index] = BiasInMomentum::AtStart;
        }
    }

    /// Subtracts the impulses of the forces at the start of the step from b.
    fn subtract_bias(
        &mut self,
        model: &Model,
        index: usize,
        h: f64,
        state: &State,
        data: &mut Data,
    ) {
        tree_bias_forces(model, index, &state.v, data);
        for dof in model.trees()[index].dofs.clone() {
            self.momentum[dof] -= h * data.bias[dof];
        }
        self.is_solved[index] = false;
    }

    /// Completes b of the trees on which constraint rows act.
    pub fn complete_momenta(
        &mut self,
        model: &Model,
        h: f64,
        state: &State,
        rows: &RowBuilder,
        data: &mut Data,
    ) {
        for tree in rows.ports().iter().filter_map(|port| port.tree()) {
            self.complete_momentum(model, tree, h, state, data);
        }
    }

    /// Completes b of all trees.
    pub fn complete_all_momenta(&mut self, model: &Model, h: f64, state: &State, data: &mut Data) {
        for tree in 0..model.trees().len() {
            self.complete_momentum(model, tree, h, state, data);
        }
    }

    /// Completes b of a tree with the velocity-dependent forces at the midpoint of the free motion that
    /// they cause, `v₀ − h/2 A⁻¹ c(v₀)`: evaluated at v₀ they add
    /// energy to rotating bodies. Where a link turns by more than the step resolves, the velocity is
    /// scaled down to the largest turn that the step resolves: no prediction is valid there, and forces
    /// quadratic in the velocity would square it in every step. A prediction that changes the velocity by more than a
    /// fraction of it is scaled down likewise.
    pub fn complete_momentum(
        &mut self,
        model: &Model,
        index: usize,
        h: f64,
        state: &State,
        data: &mut Data,
    ) {
        let present = std::mem::replace(&mut self.bias[index], BiasInMomentum::Complete);
        if present == BiasInMomentum::Complete {
            return;
        }
        let turn = self.turn[index];
        match present {
            BiasInMomentum::AtStart if turn <= NEGLIGIBLE_TURN => return,
            BiasInMomentum::Missing if turn <= NEGLIGIBLE_TURN => {
                self.subtract_bias(model, index, h, state, data);
                return;
            }
            _ => {}
        }
        self.is_solved[index] = false;
        let resolved = (MAX_TURN / turn).min(1.0);
        let mut v = std::mem::take(&mut self.trial.v);
        let mut gravity = std::mem::take(&mut self.trial.residual);
        let mut step = std::mem::take(&mut self.velocity);
        let dofs = model.trees()[index].dofs.clone();
        let bias_at = |v: &[f64], data: &mut Data| {
            if !model.has_tendon_inertia(index) {
                return tree_bias_forces_at(model, index, v, data);
            }
            tree_velocities(model, index, v, data);
            tree_bias_forces(model, index, v, data);
            tree_velocities(model, index, &state.v, data);
        };
        for dof in dofs.clone() {
            if present == BiasInMomentum::AtStart {
                self.momentum[dof] += h * data.bias[dof];
            }
            v[dof] = resolved * state.v[dof];
        }
        tree_gravity_forces(model, index, data, &mut gravity);
        if resolved < 1.0 {
            bias_at(&v, data);
        } else if present == BiasInMomentum::Missing {
            tree_bias_forces(model, index, &v, data);
        }
        let mut scale = 1.0;
        for dof in dofs.clone() {
            step[dof] = data.bias[dof] - gravity[dof];
        }
        if self.apply_inverse(model, index, &mut step[dofs.clone()]) {
            let change = self.relative_change(model, index, h, &v, (&gravity, &step), data);
            self.unresolved |= !(change <= MAX_CHANGE);
            scale = (MAX_CHANGE / change).min(1.0);
            for dof in dofs.clone() {
                v[dof] -= 0.5 * h * scale * step[dof];
            }
            bias_at(&v, data);
        }
        for dof in dofs {
            let bias = gravity[dof] + scale * (data.bias[dof] - gravity[dof]);
            self.momentum[dof] -= h * bias;
        }
        (self.trial.v, self.trial.residual, self.velocity) = (v, gravity, step);
    }

    /// Marks the step as unresolved if velocity-dependent forces, evaluated at the start of the step,
    /// change the velocity of a tree by too much.
    pub(super) fn check_explicit_bias(
        &mut self,
        model: &Model,
        index: usize,
        h: f64,
        state: &State,
        data: &mut Data,
    ) {
        // The change is of the order of the turn.
        if self.turn[index] <= MAX_EXPLICIT_CHANGE {
            return;
        }
        let mut gravity = std::mem::take(&mut self.trial.residual);
        let mut step = std::mem::take(&mut self.velocity);
        let dofs = model.trees()[index].dofs.clone();
        gravity.fill(0.0);
        tree_velocities(model, index, &gravity, data);
        tree_bias_forces(model, index, &gravity, data);
        gravity[dofs.clone()].copy_from_slice(&data.bias[dofs.clone()]);
        tree_velocities(model, index, &state.v, data);
        tree_bias_forces(model, index, &state.v, data);
        for dof in dofs.clone() {
            step[dof] = data.bias[dof] - gravity[dof];
        }
        if self.apply_inverse(model, index, &mut step[dofs]) {
            let forces = (&gravity[..], &step[..]);
            let change = self.relative_change(model, index, h, &state.v, forces, data);
            self.unresolved |= !(change <= MAX_EXPLICIT_CHANGE);
        }
        (self.trial.residual, self.velocity) = (gravity, step);
    }

    /// ‖h A⁻¹ c‖/‖v‖ in the metric of A, with `step = A⁻¹ c` and c the bias in `data` without gravity.
    fn relative_change(
        &self,
        model: &Model,
        index: usize,
        h: f64,
        v: &[f64],
        (gravity, step): (&[f64], &[f64]),
        data: &Data,
    ) -> f64 {
        let tree = &model.trees()[index];
        let A = &self.matrix[tree.mass.clone()];
        let speed = dense::quadratic_form(A, &v[tree.dofs.clone()]);
        let dofs = tree.dofs.clone();
        let change: f64 = dofs.map(|dof| (data.bias[dof] - gravity[dof]) * step[dof]).sum();
        if change > 0.0 { h * (change / speed).sqrt() } else { 0.0 }
    }
}
