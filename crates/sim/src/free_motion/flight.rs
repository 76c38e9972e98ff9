//! Trees without constraint rows: coordinates and velocities advance together over the step.
//!
//! One substep of length τ moves the coordinates by half of it with the old velocity, changes the
//! velocity at the midpoint, and moves the coordinates by the other half with the next velocity:
//!
//! `q̄ = q₀ ⊕ (τ/2) v₀`, `M(q̄)(v₁ − v₀) = τ (f − c(q̄, v̄))` with `v̄ = (v₀ + v₁)/2`, `q₁ = q̄ ⊕ (τ/2) v₁`.
//!
//! The rule is its own inverse in reversed time, hence of second order, and its energy error does not
//! grow systematically [Hairer06, Chs. V and XI]. One evaluation of kinematics and mass matrix serves a
//! substep; the velocity-dependent forces c are solved for by fixed-point iteration. Springs of
//! stiffness K enter A with τ²/4 K, which makes them the implicit midpoint rule. Dampers D enter with
//! τ θ D, where `θ = 1/(1 − e⁻ᶻ) − 1/z`, `z = τ D/M`, makes the decay of a single damped
//! velocity exact at any stiffness and is ½ + O(τ) where the step resolves it [Liniger70].
//!
//! The number of substeps doubles until the iteration converges, links turn little in a substep,
//! and the energy balance, kinetic and potential energy less the work of forces, holds. Where
//! the largest number does not suffice, the step is unresolved, and energy that no force supplied is
//! removed.

use stiction_math::branch;
use stiction_mech::{
    Data, ForceError, MechanismState, Model, State, tree_bias_forces, tree_bias_forces_at,
    tree_integrate, tree_kinematics, tree_kinetic_energy, tree_mass_matrix, tree_velocities,
    tree_weight_energy,
};

use crate::scheme::Scheme;

use super::{FreeMotion, StepStart, Trial, dense};

/// Largest turn of a link in one substep [rad].
const SUBSTEP_TURN: f64 = 0.2;
/// Largest number of substeps, as a power of two.
const MAX_LEVEL: u32 = 6;
/// Largest turn of a link in a step whose energy balance is not computed [rad].
const UNCHECKED_TURN: f64 = 0.05;
/// Largest unaccounted energy of a step, relative to the kinetic energy [-].
const ENERGY_TOLERANCE: f64 = 1e-3;
/// Largest number of iterations for the velocity, the predicted error at which they end, relative to
/// the velocity, and the least rate at which the change must decrease; all in the metric of A.
const MAX_ITERATIONS: usize = 30;
const TOLERANCE: f64 = 1e-9;
const CONTRACTION: f64 = 0.5;
/// Round-off of forces, relative to their size [-].
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;

/// Memory for the motion of trees without rows.
pub(super) struct Flight {
    /// Trees whose motion is not accepted yet, and those that take part in the present substeps.
    pending: Vec<usize>,
    pub(super) active: Vec<usize>,
    /// State at the start of a substep.
    q: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Activations in the middle of a substep.
    pub(super) activation: Vec<f64>,
    /// Activations at a stage of a Runge–Kutta step.
    pub(super) stage_activation: Vec<f64>,
    /// v₁ − v₀ over the whole step, as far as it is known before.
    pub(super) predicted: Vec<f64>,
    /// v₁ − v₀ of a substep, and A (v₁ − v₀).
    pub(super) change: Vec<f64>,
    pub(super) impulse: Vec<f64>,
    /// Per tree: work of applied forces [J], and whether an equation was not solved.
    pub(super) work: Vec<f64>,
    /// Per tree: the part of the work that springs of joints did [J].
    pub(super) spring_work: Vec<f64>,
    failed: Vec<bool>,
    /// Per tree: whether it advanced in several substeps.
    pub in_substeps: Vec<bool>,
    /// Mean forces of the actuators, before their gears.
    pub(super) actuator_force: Vec<f64>,
    /// Energy that no force supplied, in all trees of the step [J].
    pub unaccounted: f64,
}

impl Flight {
    pub fn new(model: &Model) -> Self {
        let (nv, trees) = (model.nv(), model.trees().len());
        Self {
            pending: Vec::with_capacity(trees),
            active: Vec::with_capacity(trees),
            q: vec![0.0; model.nq()],
            v: vec![0.0; nv],
            activation: vec![0.0; model.na()],
            stage_activation: vec![0.0; model.na()],
            predicted: vec![0.0; nv],
            change: vec![0.0; nv],
            impulse: vec![0.0; nv],
            work: vec![0.0; trees],
            spring_work: vec![0.0; trees],
            failed: vec![false; trees],
            in_substeps: vec![false; trees],
            actuator_force: vec![0.0; model.actuators().len()],
            unaccounted: 0.0,
        }
    }
}

/// Balance of energy of one tree over a step.
struct Balance {
    /// Kinetic energy at the start and at the end [J].
    kinetic: [f64; 2],
    /// Energy that no force supplied [J].
    unaccounted: f64,
}

impl Balance {
    fn holds(&self) -> bool {
        let scale = self.kinetic[0].max(self.kinetic[1]);
        self.unaccounted.abs() <= ENERGY_TOLERANCE * scale
    }
}

impl FreeMotion {
    /// Moves the trees without constraint rows, those for which `is_free` holds, and writes their
    /// next coordinates and velocities. Trees with drag are left out: theirs is the linearly implicit step of A and b.
    pub fn fly(
        &mut self,
        start: &StepStart,
        data: &mut Data,
        is_free: impl Fn(usize) -> bool,
        next: &mut State,
    ) -> Result<(), ForceError> {
        let StepStart { model, scheme, time_step: h, state, .. } = *start;
        if scheme == Scheme::Rk4 {
            return self.runge_kutta(start, is_free, next);
        }
        self.flight.unaccounted = 0.0;
        self.flight.in_substeps.fill(false);
        self.flight.actuator_force.fill(0.0);
        self.flight.pending.clear();
        for tree in 0..model.trees().len() {
            if self.flies(model, scheme, tree) && is_free(tree) {
                self.flight.pending.push(tree);
            }
        }
        if self.flight.pending.is_empty() {
            return Ok(());
        }
        for level in 0..=MAX_LEVEL {
            let substeps = f64::from(1_u32 << level);
            let Flight { pending, active, q, work, spring_work, failed, .. } = &mut self.flight;
            active.clear();
            q.copy_from_slice(&state.q);
            for &tree in &*pending {
                if self.turn[tree] <= SUBSTEP_TURN * substeps || level == MAX_LEVEL {
                    (work[tree], spring_work[tree], failed[tree]) = (0.0, 0.0, false);
                    active.push(tree);
                }
            }
            let Flight { predicted, change, .. } = &mut self.flight;
            for (change, predicted) in change.iter_mut().zip(predicted) {
                *change = *predicted / substeps;
            }
            self.place_at_start(model, state);
            self.clear_actuator_forces(model);
            for k in 0..1_u32 << level {
                self.substep(start, h / substeps, f64::from(k))?;
            }
            self.accept_resolved(start, data, level, next);
            if self.flight.pending.is_empty() {
                return Ok(());
            }
        }
        for k in 0..self.flight.pending.len() {
            self.move_unresolved(start, self.flight.pending[k], data, next);
        }
        Ok(())
    }

    /// Sets coordinates and velocities of all trees to those at the start of the step and, where forces may couple trees,
    /// the poses of those that are not active: substeps place the active ones.
    pub(super) fn place_at_start(&mut self, model: &Model, state: &State) {
        self.flight.v.copy_from_slice(&state.v);
        self.trial.q.copy_from_slice(&state.q);
        if !self.forces_read_poses {
            return;
        }
        let mut active = self.flight.active.iter().peekable();
        for tree in 0..model.trees().len() {
            if active.next_if_eq(&&tree).is_none() {
                tree_kinematics(model, tree, &state.q, &mut self.trial.data);
            }
        }
    }

    /// One substep of the active trees, after some others.
    fn substep(&mut self, start: &StepStart, tau: f64, before: f64) -> Result<(), ForceError> {
        let StepStart { model, input, time_step: h, state: at_start, .. } = *start;
        let Trial { data, forces, q: middle, .. } = &mut self.trial;
        let Flight { active, q, v, activation, .. } = &mut self.flight;
        for &mut tree in active {
            tree_integrate(model, tree, q, v, 0.5 * tau, middle);
            tree_kinematics(model, tree, middle, data);
        }
        self.activation.set_at(model, (input, at_start), (before + 0.5) * tau, activation);
        let state = MechanismState { q: middle, v, activation };
        forces.evaluate_smooth(model, state, data, input, h)?;
        forces.take_single_servos_linearly();
        for k in 0..self.flight.active.len() {
            let tree = self.flight.active[k];
            if self.flight.failed[tree] || !self.change_velocity(model, tree, tau) {
                self.flight.failed[tree] = true;
                continue;
            }
            if self.sprung[tree] {
                self.add_spring_work(model, tree, tau);
            }
            let Flight { q, v, .. } = &mut self.flight;
            tree_integrate(model, tree, &self.trial.q, v, 0.5 * tau, q);
        }
        self.add_actuator_forces(model, tau, tau / h);
        Ok(())
    }

    /// Changes the velocity of a tree at the midpoint of a substep. False if the equation is not solved.
    fn change_velocity(&mut self, model: &Model, index: usize, tau: f64) -> bool {
        let Trial { data, forces, v: mean, speed: sum, residual: slope, .. } = &mut self.trial;
        let Flight { v, change, impulse, work, .. } = &mut self.flight;
        let tree = &model.trees()[index];
        let (dofs, n) = (tree.dofs.clone(), tree.dofs.len());
        tree_mass_matrix(model, index, data);
        self.is_factored[index] = false;
        let (L, M) = (&mut self.factor[tree.mass.clone()], &data.mass[tree.mass.clone()]);
        let mut squared_speed = dense::quadratic_form(M, &v[dofs.clone()]);
        L.copy_from_slice(M);
        for (k, dof) in dofs.clone().enumerate() {
            let (D, K) = (forces.damping[dof], forces.stiffness[dof]);
            let theta = if D > 0.0 { fitted_weight(tau * D / M[k * n + k]) } else { 0.0 };
            slope[dof] = theta * D + 0.25 * tau * K;
            L[k * n + k] += tau * slope[dof];
        }
        // The change of the last substep, or the one predicted, is a guess for this one.
        impulse[dofs.clone()].fill(0.0);
        dense::add_product(L, &change[dofs.clone()], &mut impulse[dofs.clone()]);
        let parents = &model.dof_parents()[dofs.clone()];
        if !branch::factor(L, parents, |k| M[k * n + k]) {
            return false;
        }
        let (mut last, mut is_solved, mut round_off) = (f64::INFINITY, false, 0.0);
        for round in 0..MAX_ITERATIONS {
            for dof in dofs.clone() {
                mean[dof] = v[dof] + 0.5 * change[dof];
            }
            if model.has_tendon_inertia(index) {
                tree_velocities(model, index, mean, data);
                tree_bias_forces(model, index, mean, data);
            } else {
                tree_bias_forces_at(model, index, mean, data);
            }
            let step = &mut self.velocity[dofs.clone()];
            for (step, dof) in step.iter_mut().zip(dofs.clone()) {
                sum[dof] = tau * (forces.generalized[dof] - data.bias[dof]);
                *step = sum[dof];
            }
            branch::solve(L, parents, step);
            // Squared distance of two iterates in the metric of A, from the impulses A (v₁ − v₀).
            let mut distance = 0.0;
            for (step, dof) in step.iter().zip(dofs.clone()) {
                distance += (step - change[dof]) * (sum[dof] - impulse[dof]);
                (change[dof], impulse[dof]) = (*step, sum[dof]);
            }
            if round == 0 {
                for (k, dof) in dofs.clone().enumerate() {
                    squared_speed += change[dof] * impulse[dof];
                    let gross = tau * (forces.generalized[dof].abs() + data.bias[dof].abs());
                    let inertia = data.mass[tree.mass.start + k * (n + 1)];
                    round_off += (ROUND_OFF * gross).powi(2) / inertia;
                }
            }
            // The error that is left is the change times the rate at which changes decrease.
            let contracts = round == 0 || distance <= CONTRACTION * CONTRACTION * last;
            let rate = if round > 0 && contracts && last > 0.0 { distance / last } else { 1.0 };
            is_solved =
                distance * rate <= TOLERANCE * TOLERANCE * squared_speed || distance <= round_off;
            if is_solved || !contracts {
                break;
            }
            last = distance;
        }
        if is_solved {
            for dof in dofs {
                let force = forces.generalized[dof] - slope[dof] * change[dof];
                work[index] += tau * force * (v[dof] + 0.5 * change[dof]);
                v[dof] += change[dof];
            }
        }
        is_solved
    }

    /// Accepts the motion of the active trees that the substeps resolve, and of all at the highest
    /// level.
    fn accept_resolved(&mut self, start: &StepStart, data: &Data, level: u32, next: &mut State) {
        let StepStart { model, .. } = *start;
        for k in 0..self.flight.active.len() {
            let tree = self.flight.active[k];
            let mut is_resolved = !self.flight.failed[tree];
            let is_checked = level > 0 || self.turn[tree] > UNCHECKED_TURN;
            if is_resolved && is_checked {
                let balance = self.balance(start, tree, data);
                is_resolved = balance.holds();
                if is_resolved || level == MAX_LEVEL {
                    self.flight.unaccounted += balance.unaccounted;
                }
                if !is_resolved && level == MAX_LEVEL {
                    self.remove_energy(model, tree, &balance);
                }
            }
            if level == MAX_LEVEL && !is_resolved {
                self.unresolved = true;
            }
            if is_resolved || (level == MAX_LEVEL && !self.flight.failed[tree]) {
                self.write(model, tree, next);
                self.flight.in_substeps[tree] = level > 0;
                self.flight.pending.retain(|pending| *pending != tree);
            }
        }
    }

    /// Balance of energy of a tree over the step.
    fn balance(&mut self, start: &StepStart, tree: usize, data: &Data) -> Balance {
        let StepStart { model, state, .. } = *start;
        let (Flight { q, v, work, .. }, end) = (&self.flight, &mut self.trial.data);
        tree_kinematics(model, tree, q, end);
        tree_velocities(model, tree, v, end);
        let kinetic = [
            tree_kinetic_energy(model, tree, data, &state.v),
            tree_kinetic_energy(model, tree, end, v),
        ];
        let weight = tree_weight_energy(model, tree, end) - tree_weight_energy(model, tree, data);
        Balance { kinetic, unaccounted: kinetic[1] - kinetic[0] + weight - work[tree] }
    }

    /// Moves a tree whose equations no number of substeps solves: one step of A and b, less the energy
    /// that no force supplied. A singular A leaves the tree at rest.
    fn move_unresolved(
        &mut self,
        start: &StepStart,
        tree: usize,
        data: &mut Data,
        next: &mut State,
    ) {
        let StepStart { model, time_step: h, state, .. } = *start;
        let dofs = model.trees()[tree].dofs.clone();
        self.complete_momentum(model, tree, h, state, data);
        let mut v = std::mem::take(&mut self.flight.v);
        if !self.solve(model, tree, &mut v[dofs.clone()]) {
            v[dofs.clone()].fill(0.0);
        }
        let mean = |dof: usize| 0.5 * (v[dof] + state.v[dof]);
        let power: f64 = dofs.clone().map(|dof| self.forces.generalized[dof] * mean(dof)).sum();
        self.flight.work[tree] = h * power;
        tree_integrate(model, tree, &state.q, &v, h, &mut self.flight.q);
        self.flight.v = v;
        let balance = self.balance(start, tree, data);
        self.remove_energy(model, tree, &balance);
        self.write(model, tree, next);
    }

    /// Writes the motion of a tree into the next state.
    fn write(&self, model: &Model, tree: usize, next: &mut State) {
        let (range, Flight { q, v, .. }) = (&model.trees()[tree], &self.flight);
        next.q[range.q.clone()].copy_from_slice(&q[range.q.clone()]);
        next.v[range.dofs.clone()].copy_from_slice(&v[range.dofs.clone()]);
    }

    /// Scales the velocity of a tree so that it has no energy that no force supplied.
    fn remove_energy(&mut self, model: &Model, tree: usize, balance: &Balance) {
        let [_, kinetic] = balance.kinetic;
        if balance.unaccounted > 0.0 && kinetic > 0.0 {
            let scale = (1.0 - balance.unaccounted / kinetic).max(0.0).sqrt();
            let dofs = model.trees()[tree].dofs.clone();
            self.flight.v[dofs].iter_mut().for_each(|v| *v *= scale);
        }
    }
}

/// Weight θ of the next velocity for which the decay e⁻ᶻ of a single damped velocity is exact.
fn fitted_weight(z: f64) -> f64 {
    // The next term of the series, z³/720, and e⁻ᶻ are negligible where they are left out.
    if z < 1e-3 {
        0.5 + z / 12.0
    } else if z < 40.0 {
        1.0 / (1.0 - (-z).exp()) - 1.0 / z
    } else {
        1.0 - 1.0 / z
    }
}
