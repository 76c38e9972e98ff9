//! Impulse of the forces on a tree in a step, from the velocity with which the step ended.
//!
//! Forces are evaluated once, their implicit part is in A. With `D = A − M/α`, v₀ the old velocity and u that
//! on which contact laws acted, it is
//!
//! ```text
//! θ = 0:  p = h f(q₀, v₀) − h² K v₀ − D (u − v₀),   K of servos, zero in MuJoCo's schemes
//! θ > 0:  p = h f(q^θ, v^θ) − D (u − v*)
//! ```
//!
//! as the step applied it, without gravity, Coriolis forces, rods and constraints. A tree that advances in substeps
//! sums up the work of its forces instead.

use std::ops::Range;

use stiction_mech::{Data, State, TreeRange};

use super::{FreeMotion, StepStart, stiff_springs};
use crate::scheme::Scheme;

impl FreeMotion {
    /// Writes the impulse [N·s] of the forces on one tree of the model into `out`. `u` are the velocities of the
    /// tree on which contact laws acted. The mass matrix in `data` is that at the start of the step.
    pub fn force_impulse(
        &self,
        start: &StepStart,
        tree: usize,
        u: &[f64],
        data: &Data,
        out: &mut Vec<f64>,
    ) {
        let StepStart { model, scheme, time_step: h, state, .. } = *start;
        let range = &model.trees()[tree];
        let dofs = range.dofs.clone();
        let force = self.forces_of(scheme);
        out.clear();
        out.extend(force.generalized[dofs.clone()].iter().map(|f| h * f));
        if scheme.is_iterated() {
            let theta = scheme.theta();
            for ((k, dof), p) in dofs.enumerate().zip(out) {
                let free = (self.trial.v[dof] - (1.0 - theta) * state.v[dof]) / theta;
                *p -= self.diagonal[dof] * (u[k] - free);
            }
            return;
        }
        if self.has_modes[tree] {
            for ((dof, p), u) in dofs.clone().zip(&mut *out).zip(u) {
                *p -= self.held[dof] * u;
            }
        }
        if !scheme.is_direct() {
            for (dof, p) in dofs.clone().zip(&mut *out) {
                let (spring, is_stiff) = (self.spring[dof], self.is_stiff[dof]);
                let servo = stiff_springs::implicit(force.stiffness[dof], spring, is_stiff);
                *p -= h * h * servo * state.v[dof];
            }
        }
        if force.has_coupled_slopes()
            || matches!(scheme, Scheme::ImplicitFast | Scheme::ImplicitFull)
        {
            self.subtract_coupled(range, state, u, data, out);
            return;
        }
        for ((k, dof), p) in dofs.enumerate().zip(out) {
            let implicit = self.diagonal[dof] - self.inertia_scale * model.armature()[dof];
            *p -= implicit * (u[k] - state.v[dof]);
        }
    }

    /// Work [J] of the forces on a tree without constraint rows that advanced by a rule of its own, springs
    /// included, and that of the springs of joints if it is known; `None` if it did not.
    pub fn flight_work(&self, start: &StepStart, tree: usize) -> Option<(f64, Option<f64>)> {
        let springs = (start.scheme != Scheme::Rk4).then(|| self.flight.spring_work[tree]);
        self.flies(start.model, start.scheme, tree).then(|| (self.flight.work[tree], springs))
    }

    /// Mean forces of the actuators over a step, before their gears, where the trees on which they act advanced by a
    /// rule of their own; meaningless elsewhere.
    pub fn flight_actuator_forces(&self) -> &[f64] {
        &self.flight.actuator_force
    }

    /// Subtracts `(A − M/α)(u − v₀)` where it couples velocities.
    fn subtract_coupled(
        &self,
        range: &TreeRange,
        state: &State,
        u: &[f64],
        data: &Data,
        out: &mut [f64],
    ) {
        let Range { start, end } = range.dofs;
        let n = end - start;
        let (A, M) = (&self.matrix[range.mass.clone()], &data.mass[range.mass.clone()]);
        for (k, p) in out.iter_mut().enumerate() {
            for j in 0..n {
                let implicit = A[k * n + j] - self.inertia_scale * M[k * n + j];
                *p -= implicit * (u[j] - state.v[start + j]);
            }
        }
    }

    /// The forces with which the step was computed.
    fn forces_of(&self, scheme: Scheme) -> &stiction_mech::Forces {
        if scheme.is_iterated() { &self.trial.forces } else { &self.forces }
    }
}
