//! The classical Runge–Kutta method of fourth order for trees on which no constraint rows act.
//!
//! Four stages evaluate all forces explicitly, at states `q₀ ⊕ h a v`, `v₀ + h a v̇`; the step moves with the weighted
//! means of velocities and accelerations, as MuJoCo's RK4 does [Hairer06, Ch. II]. Rotations are taken by their
//! rotation vectors from the start of the step [MuntheKaas98]. Activations have stages of their own.
//! The work of the forces is summed with the same weights.

use nalgebra::Vector3;
use stiction_math::branch;
use stiction_mech::{
    ActivationSpec, ActivationStart, Data, ForceError, Forces, Joint, MechanismState, State,
    tree_bias_forces, tree_integrate, tree_kinematics, tree_mass_matrix, tree_velocities,
};

use super::flight::Flight;
use super::{FreeMotion, StepStart, Trial};

/// Times of the stages, and the weights of their slopes.
const STAGES: [(f64, f64); 4] =
    [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)];

impl FreeMotion {
    /// Moves the trees for which `is_free` holds, and writes their next coordinates and velocities.
    pub(super) fn runge_kutta(
        &mut self,
        start: &StepStart,
        is_free: impl Fn(usize) -> bool,
        next: &mut State,
    ) -> Result<(), ForceError> {
        let StepStart { model, scheme, time_step: h, state, .. } = *start;
        self.flight.unaccounted = 0.0;
        self.flight.actuator_force.fill(0.0);
        self.flight.active.clear();
        for tree in 0..model.trees().len() {
            if self.flies(model, scheme, tree) && is_free(tree) {
                self.flight.active.push(tree);
                self.flight.work[tree] = 0.0;
            }
        }
        if self.flight.active.is_empty() {
            return Ok(());
        }
        self.place_at_start(model, state);
        self.trial.speed.copy_from_slice(&state.v);
        // Weighted means of velocities and accelerations, and the acceleration of the last stage.
        let mut mean_v = std::mem::take(&mut self.flight.change);
        let mut mean_a = std::mem::take(&mut self.flight.impulse);
        let mut a = std::mem::take(&mut self.flight.v);
        let mut rate = std::mem::take(&mut self.activation.stage_rate);
        let mut mean_rate = std::mem::take(&mut self.activation.spare);
        mean_v.fill(0.0);
        mean_a.fill(0.0);
        rate.fill(0.0);
        mean_rate.fill(0.0);
        let mut outcome = Ok(());
        for (time, weight) in STAGES {
            self.place_stage(start, time, &a);
            outcome = self.evaluate_stage(start, time, (weight, &mut rate, &mut mean_rate));
            if outcome.is_err() {
                break;
            }
            let forces = &mut self.trial.forces;
            forces.take_drives_explicitly();
            for k in 0..self.flight.active.len() {
                self.accelerate(start, self.flight.active[k], (h * weight, &mut a));
            }
            for &tree in &self.flight.active {
                for dof in model.trees()[tree].dofs.clone() {
                    mean_v[dof] += weight * self.trial.speed[dof];
                    mean_a[dof] += weight * a[dof];
                }
            }
            let forces = &self.trial.forces.actuator_force;
            for (mean, force) in self.flight.actuator_force.iter_mut().zip(forces) {
                *mean += 6.0 * weight * force;
            }
        }
        // Whole weights, so that the mean of equal forces is exact.
        self.flight.actuator_force.iter_mut().for_each(|mean| *mean /= 6.0);
        for &tree in self.flight.active.iter().filter(|_| outcome.is_ok()) {
            tree_integrate(model, tree, &state.q, &mean_v, h, &mut next.q);
            for dof in model.trees()[tree].dofs.clone() {
                next.v[dof] = state.v[dof] + h * mean_a[dof];
            }
        }
        (self.flight.change, self.flight.impulse, self.flight.v) = (mean_v, mean_a, a);
        (self.activation.stage_rate, self.activation.stage_mean) = (rate, Some(mean_rate));
        outcome
    }

    /// Evaluates the forces of a stage, and replaces the rates of activation of the stage before by its own. The rates are added
    /// to their mean.
    fn evaluate_stage(
        &mut self,
        start: &StepStart,
        time: f64,
        (weight, rate, mean_rate): (f64, &mut [f64], &mut [f64]),
    ) -> Result<(), ForceError> {
        let StepStart { model, time_step: h, state, input, .. } = *start;
        let Trial { data, forces, q, v, .. } = &mut self.trial;
        let Flight { activation, stage_activation: present, .. } = &mut self.flight;
        for ((present, start), rate) in present.iter_mut().zip(&state.activation).zip(&*rate) {
            *present = start + time * h * rate;
        }
        let visit = |forces: &Forces, visit: &mut dyn FnMut(&ActivationSpec, f64, usize)| {
            let motion = (&forces.actuator_length[..], &forces.actuator_rate[..]);
            let states = (&input.control[..], &present[..]);
            let from = ActivationStart::direct(states, motion, (state.time, h));
            model.for_each_activation(&from, |spec, control, index| visit(spec, control, index));
        };
        if model.integrates_errors() {
            let activation = &present[..];
            forces.evaluate(model, MechanismState { q, v, activation }, data, input, h)?;
        }
        visit(forces, &mut |spec, control, index| {
            let present = present[index];
            activation[index] =
                if spec.early { spec.advance_directly(control, present, h) } else { present };
        });
        forces.evaluate(model, MechanismState { q, v, activation }, data, input, h)?;
        visit(forces, &mut |spec, control, index| {
            rate[index] = spec.rate(control, present[index], h);
            mean_rate[index] += weight * rate[index];
        });
        Ok(())
    }

    /// Sets the state of a stage, `time` of the step with the rates of the last, and the rates of displacement there.
    fn place_stage(&mut self, start: &StepStart, time: f64, a: &[f64]) {
        let StepStart { model, time_step: h, state, .. } = *start;
        let Trial { data, q, v, speed: rate, .. } = &mut self.trial;
        for &tree in &self.flight.active {
            let range = &model.trees()[tree];
            tree_integrate(model, tree, &state.q, rate, h * time, q);
            for dof in range.dofs.clone() {
                v[dof] = state.v[dof] + h * time * a[dof];
            }
            for joint in &model.joints()[range.joints.clone()] {
                let turn = joint.quaternion().map(|_| rotation(joint, rate) * (h * time));
                rate[joint.dofs.clone()].copy_from_slice(&v[joint.dofs.clone()]);
                if let Some(turn) = turn {
                    let corrected = displacement_rate(&turn, &rotation(joint, v));
                    rate[joint.dofs.end - 3..joint.dofs.end].copy_from_slice(corrected.as_slice());
                }
            }
            tree_kinematics(model, tree, q, data);
        }
    }

    /// The acceleration of a tree at a stage, and its share of the work of forces. A singular mass matrix, which
    /// the computation of A has refused before, leaves the tree without acceleration.
    fn accelerate(&mut self, start: &StepStart, index: usize, (weight, a): (f64, &mut [f64])) {
        let model = start.model;
        let Trial { data, forces, v, .. } = &mut self.trial;
        let tree = &model.trees()[index];
        let (dofs, n) = (tree.dofs.clone(), tree.dofs.len());
        let data: &mut Data = data;
        tree_velocities(model, index, v, data);
        tree_bias_forces(model, index, v, data);
        tree_mass_matrix(model, index, data);
        self.is_factored[index] = false;
        let (L, M) = (&mut self.factor[tree.mass.clone()], &data.mass[tree.mass.clone()]);
        L.copy_from_slice(M);
        for dof in dofs.clone() {
            a[dof] = forces.generalized[dof] - data.bias[dof];
            self.flight.work[index] += weight * forces.generalized[dof] * v[dof];
        }
        let parents = &model.dof_parents()[dofs.clone()];
        if branch::factor(L, parents, |k| M[k * n + k]) {
            branch::solve(L, parents, &mut a[dofs]);
        } else {
            a[dofs].fill(0.0);
        }
    }
}

/// The angular velocity of a joint with a quaternion, which comes last among its velocities.
fn rotation(joint: &Joint, v: &[f64]) -> Vector3<f64> {
    Vector3::from_column_slice(&v[joint.dofs.end - 3..joint.dofs.end])
}

/// Rate of the rotation vector Θ at which a body turns with angular velocity ω in its own frame: the inverse of the
/// differential of the exponential map, `ω + ½ Θ×ω + (1 − θ/2 cot θ/2)/θ² Θ×(Θ×ω)`. Without it, means of angular
/// velocities at different orientations are of second order only [MuntheKaas98].
fn displacement_rate(turn: &Vector3<f64>, w: &Vector3<f64>) -> Vector3<f64> {
    let square = turn.norm_squared();
    // The next term of the series is θ⁴/30240.
    let factor = if square < 1e-4 {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * square.sqrt();
        (1.0 - half / half.tan()) / square
    };
    let across = turn.cross(w);
    w + 0.5 * across + factor * turn.cross(&across)
}
