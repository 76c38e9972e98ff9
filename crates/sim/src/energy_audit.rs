//! Balance of energy of one step, from the states before and after it, the forces and the impulses.
//!
//! For a tree with velocities v₀ and v₁ at the ends of a step h, and v̄ their mean, the energy without cause is
//!
//! ```text
//! r = ΔT + ΔV − v̄ᵀp − v̄ᵀJᵀλ
//! ```
//!
//! with T the kinetic energy at the configurations q₀ and q₁ ahead of the position correction, V the potential
//! energy of weight, joint springs and rods, p the impulse of all other forces and λ those of the constraints. With
//! `M(q₀)(v₁ − v₀) = p + …`, `v̄ᵀM(v₁ − v₀)` is the change of kinetic energy of any step in which M is
//! constant, an impact included, so that r vanishes then. What remains is the error of the scheme:
//!
//! - Coriolis forces against the change of M: of the order of T times the square of the turn in the step;
//! - the curvature of V: T (ω h)² for a frequency ω;
//! - positions move with a velocity v₀ … v₁, impulses work with v̄: at most `½ |pᵥᵀ(v₁ − v₀)|` for the impulse
//!   pᵥ of weight and springs. This is known, and allowed for.
//!
//! A tree whose |r| exceeds what `Account::imbalance` allows for a gain or a loss is not resolved. Trees are judged one by
//! one, so that a small body in a large world counts as much as any. A rod is judged as a whole, and only for
//! energy that it gains: its strains are stiff and implicit, and dissipate. Soft bodies have `soft_audit`. Gains
//! add up over steps, see [`EnergyDrift`]. All bodies together are judged by their states alone, see [`WorldEnergy`]. Trees with a free root keep a balance of momentum as well, see
//! [`MomentumAuditor`].
//! Cost: linear in the number of links; Jᵀλ comes from the measured residual of the solve.

mod correction;

use nalgebra::Vector3;
use stiction_mech::{Data, Model, State, TreeMotion, tree_motion};

use crate::constraint_work::{ConstraintWork, SolvedRows};
use crate::energy_account::Account;
use crate::energy_balance::EnergyBalance;
use crate::energy_drift::EnergyDrift;
use crate::free_motion::{FreeMotion, StepStart};
use crate::momentum_audit::MomentumAuditor;
use crate::soft_audit::SoftAuditor;
use crate::world_energy::WorldEnergy;

/// Turn of a segment in a step beyond which a rod must not store energy without cause, if steps are not divided [rad].
const MAX_ROD_TURN: f64 = 0.5;
/// Most of the elastic energies of a rod that the work of elastic forces on half of the change of velocity explains [-].
const MAX_ROD_SAMPLING: f64 = 1e-6;
/// Speed to which velocities are solved, besides the closure of equalities in a step, and that of trees in flight, for which
/// nothing is solved but their own equations [m/s].
const LEAST_SPEED: f64 = 1e-6;
const FLIGHT_LEAST_SPEED: f64 = 1e-7;
/// Largest number of velocities of a joint.
const MAX_NV: usize = 6;

/// Computes the balance of energy of steps.
pub(crate) struct EnergyAuditor {
    /// Per tree: sums at the start of the step, and whether they are known; the same at its end.
    start: Vec<TreeMotion>,
    is_start_known: Vec<bool>,
    end: Vec<TreeMotion>,
    is_end_known: Vec<bool>,
    /// Per tree: kinetic and potential energy of weight and springs after the motion [J].
    moved: Vec<f64>,
    /// Per tree: kinetic energy [J] and momentum [N·s] after the motion.
    kinetic: Vec<f64>,
    linear_momentum: Vec<Vector3<f64>>,
    /// Length of the motion relative to the time step [-].
    fraction: f64,
    /// Per tree: energies exchanged in the motion [J]; those of a rod are with its last tree.
    exchanged: Vec<f64>,
    /// Energy that each tree may gain by the position correction, besides what lifts it out of others [J].
    room: Vec<f64>,
    /// Joints with springs, by tree, and per velocity their stretch at the start.
    springs: Vec<(usize, usize)>,
    stretch: Vec<f64>,
    /// Per rod: elastic energy at the start, without clamps on moving bodies, which are constraints [J].
    elastic: Vec<f64>,
    pub constraints: ConstraintWork,
    /// Impulse of the forces on one tree [N·s].
    force_impulse: Vec<f64>,
    momentum: MomentumAuditor,
    pub soft: SoftAuditor,
    /// Per tree: gains of energy over the last steps, with this one; that of a rod is with its last tree.
    pub drift: Vec<EnergyDrift>,
    /// Largest part of what was left up to the bound of these gains that this step used up, where little is left [-].
    pub drift_rise: f64,
    /// Per tree: unexplained energy of this part of the step; that of the parts before it, and the largest energies
    /// exchanged in them [J].
    residual: Vec<f64>,
    earlier: Vec<[f64; 2]>,
    /// The energies of all trees, rods and soft bodies together.
    pub world: WorldEnergy,
    /// Per tree: factor of its velocities that takes a gain of energy without cause out of them, if it is not resolved [-].
    pub reduction: Vec<f64>,
}

/// The end of a step.
pub(crate) struct AuditInput<'a> {
    pub start: StepStart<'a>,
    pub next: &'a State,
    pub data: &'a Data,
    pub free: &'a FreeMotion,
    /// Per degree of freedom: velocity on which contact laws acted.
    pub contact_velocity: &'a [f64],
    pub solved: SolvedRows<'a>,
    /// Error to which equalities are closed, zero without any [m].
    pub closure: f64,
    /// Length of the motion relative to the time step [-].
    pub fraction: f64,
    /// Whether motions that are not resolved are computed in parts.
    pub is_divisible: bool,
}

impl AuditInput<'_> {
    /// Speed to which velocities are solved [m/s].
    fn least_speed(&self) -> f64 {
        LEAST_SPEED + self.closure / self.start.time_step
    }
}

impl EnergyAuditor {
    pub fn new(model: &Model) -> Self {
        let trees = model.trees().len();
        let mut auditor = Self {
            start: vec![TreeMotion::default(); trees],
            is_start_known: vec![false; trees],
            end: vec![TreeMotion::default(); trees],
            is_end_known: vec![false; trees],
            moved: vec![0.0; trees],
            kinetic: vec![0.0; trees],
            linear_momentum: vec![Vector3::zeros(); trees],
            fraction: 1.0,
            exchanged: vec![0.0; trees],
            room: vec![0.0; trees],
            springs: Vec::new(),
            stretch: vec![0.0; model.nv()],
            elastic: vec![0.0; model.rods().len()],
            constraints: ConstraintWork::new(model),
            force_impulse: Vec::new(),
            momentum: MomentumAuditor::new(model),
            soft: SoftAuditor::default(),
            drift: vec![EnergyDrift::default(); trees],
            drift_rise: 0.0,
            residual: vec![0.0; trees],
            earlier: vec![[0.0; 2]; trees],
            world: WorldEnergy::default(),
            reduction: vec![1.0; trees],
        };
        auditor.update_parameters(model);
        auditor
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &Model) {
        self.springs.clear();
        for (tree, range) in model.trees().iter().enumerate() {
            let stiff = |joint: &usize| model.joints()[*joint].spec.stiffness > 0.0;
            self.springs.extend(range.joints.clone().filter(stiff).map(|joint| (tree, joint)));
        }
        self.momentum.update_parameters(model);
        self.forget_start();
    }

    /// Forgets the state at the start of the coming step, because it was changed.
    pub fn forget_start(&mut self) {
        self.is_start_known.fill(false);
    }

    /// Forgets the state of trees that sleep at the start of the coming step: their velocities were set to zero.
    pub fn forget_asleep(&mut self, asleep: &[bool]) {
        self.is_start_known
            .iter_mut()
            .zip(asleep)
            .for_each(|(is_known, asleep)| *is_known &= !asleep);
    }

    /// Forgets the state of a tree at the end of the step, because its velocities were changed.
    pub fn forget_end(&mut self, tree: usize) {
        self.is_end_known[tree] = false;
    }

    /// Begins the next step or part where this one ended. Keeps what a part of a step gained without cause for the parts that
    /// follow; a whole step has none.
    pub fn accept(&mut self, fraction: f64) {
        std::mem::swap(&mut self.start, &mut self.end);
        std::mem::swap(&mut self.is_start_known, &mut self.is_end_known);
        if fraction < 1.0 {
            for (tree, [residual, exchanged]) in self.earlier.iter_mut().enumerate() {
                *residual += self.residual[tree];
                *exchanged = exchanged.max(self.exchanged[tree]);
            }
            self.momentum.accept();
            self.soft.accept();
            self.world.accept();
        }
    }

    /// Forgets gains over the steps so far, and the energies exchanged before the last; of a motion that was not resolved, all
    /// but what it left.
    pub fn restart_drift(&self, drift: &mut [EnergyDrift], is_resolved: bool) {
        let energies = if is_resolved { &self.exchanged } else { &self.kinetic };
        for (drift, exchanged) in drift.iter_mut().zip(energies) {
            *drift = EnergyDrift { gained: 0.0, exchanged: *exchanged };
        }
    }

    /// Measures the state at the start of a step, where the step before has not measured it at its end.
    pub fn begin(&mut self, start: &StepStart, data: &Data) {
        let StepStart { model, state, asleep, .. } = *start;
        self.is_end_known.fill(false);
        for (tree, is_known) in self.is_start_known.iter_mut().enumerate() {
            if !asleep[tree] && !*is_known {
                self.start[tree] = tree_motion(model, tree, &state.v, data);
            }
            *is_known = !asleep[tree];
        }
        for (_, joint) in &self.springs {
            let joint = &model.joints()[*joint];
            let (rest, q) = (&model.q_spring()[joint.q.clone()], &state.q[joint.q.clone()]);
            joint.difference(rest, q, &mut self.stretch[joint.dofs.clone()]);
        }
        for (rod, energy) in model.rods().iter().zip(&mut self.elastic) {
            if !asleep[rod.trees.start] {
                *energy = rod.internal_energy(data);
            }
        }
    }

    /// Computes the balance of a step whose next state is in the data, ahead of the position correction. `drift` are
    /// the gains of energy over the steps before.
    pub fn balance(&mut self, input: &AuditInput, drift: &[EnergyDrift]) -> EnergyBalance {
        let StepStart { model, asleep, .. } = input.start;
        let fraction = input.fraction;
        self.fraction = fraction;
        if fraction == 1.0 {
            self.earlier.fill([0.0; 2]);
            self.soft.begin_step();
        }
        self.momentum.begin(fraction);
        self.world.begin(fraction);
        self.constraints.measure(&input.solved);
        self.drift.copy_from_slice(drift);
        self.drift_rise = 0.0;
        let mut balance = EnergyBalance::default();
        let mut participants = input.solved.assembler.trees().iter().peekable();
        let mut rod_account = Account::default();
        for (tree, range) in model.trees().iter().enumerate() {
            let part = participants.next_if(|(participant, _)| *participant == tree);
            if asleep[tree] {
                continue;
            }
            let offset = part.map(|(_, part)| part.start);
            let mut account = self.account(input, tree, offset);
            balance.add(&account);
            self.residual[tree] = 0.0;
            account.earlier = self.earlier[tree];
            let (mut gains_only, mut trees) = (false, tree..tree + 1);
            if let Some(rod) = model.rod_of_tree(tree) {
                trees = model.rods()[rod.0].trees.clone();
                rod_account.add(&account);
                if tree + 1 < trees.end {
                    continue;
                }
                let now = model.rods()[rod.0].internal_energy(input.data);
                let before = self.elastic[rod.0];
                balance.potential += now - before;
                // Strains are stiff: what they store in a step that hardly turns, the next steps dissipate. Shorter steps
                // show whether that is so.
                let turn = fraction * rod_account.squared_turn().sqrt();
                let is_counted = input.is_divisible || turn > MAX_ROD_TURN;
                rod_account.potential +=
                    (now - before).min(if is_counted { f64::MAX } else { 0.0 });
                rod_account.potential_size += now + before;
                rod_account.sample_elastic_forces(MAX_ROD_SAMPLING * (now + before));
                account = std::mem::take(&mut rod_account);
                gains_only = true;
            }
            // Most balances hold without what the residual of the solver explains.
            if offset.is_some() && !account.is_clear(&drift[tree], gains_only, fraction) {
                account.gross =
                    trees.clone().map(|t| self.constraints.gross(&input.solved, t)).sum();
            }
            let imbalance = account.imbalance(drift[tree].exchanged, gains_only);
            let size = if gains_only && imbalance < 0.0 { 0.0 } else { imbalance.abs() };
            self.residual[tree] = account.unexplained();
            self.exchanged[trees.clone()].fill(account.exchanged());
            let room = if gains_only { f64::INFINITY } else { account.room(drift[tree].exchanged) };
            self.room[trees.clone()].fill(room);
            self.reduction[trees].fill(if imbalance > 1.0 { account.reduction() } else { 1.0 });
            let energies = [account.residual(), account.explained(), account.exchanged()];
            let [drift, rise] = self.drift[tree].add(fraction, energies);
            self.drift_rise = self.drift_rise.max(rise);
            if imbalance.abs() > 1.0 {
                // The energies of a motion that was not resolved are no measure for the next.
                self.drift[tree] = EnergyDrift { gained: 0.0, exchanged: account.kinetic[1] };
            }
            balance.gain = balance.gain.max(imbalance);
            balance.raise([size, drift, account.momentum], range.bodies.start);
            self.world.add(&account);
        }
        if model.nodes() > 0 {
            let (start, impulse) = ((&input.start, fraction), &self.constraints.impulse);
            let motion = self.soft.measure(start, &input.solved, impulse);
            self.world.add_motion(motion.kinetic, motion.potential, motion.explained);
        }
        self.supply_world(&input.solved);
        balance
    }

    /// Adds what constraints supply, if the world gains energy without it: most steps do not.
    fn supply_world(&mut self, solved: &SolvedRows) {
        if self.world.gain() > 1.0 && !self.world.is_supplied() {
            let [supplied, parting] = self.constraints.supplied(solved);
            let [start, _] = solved.states;
            let most = self.soft.most_parting_work(&solved.world.model, &start.x);
            self.world.supply(supplied + parting.min(most));
        }
    }

    /// Judges the energy of the whole world, after corrections and soft bodies.
    pub fn balance_world(&mut self, solved: &SolvedRows, balance: &mut EnergyBalance) {
        self.supply_world(solved);
        let gain = self.world.gain();
        if gain > balance.gain {
            balance.gain = gain;
            balance.raise([gain, 0.0, 0.0], 0);
        }
    }

    /// The energies of one tree; `offset` is the place of its velocities in the problem.
    fn account(&mut self, input: &AuditInput, tree: usize, offset: Option<usize>) -> Account {
        let StepStart { model, time_step: h, state, .. } = input.start;
        let dofs = model.trees()[tree].dofs.clone();
        let gravity: Vector3<f64> = model.gravity();
        let (before, after) =
            (self.start[tree], tree_motion(model, tree, &input.next.v, input.data));
        (self.end[tree], self.is_end_known[tree]) = (after, true);
        self.kinetic[tree] = after.kinetic;
        self.linear_momentum[tree] = after.momentum;
        let whole = h / input.fraction;
        let squared_turns = [before, after].map(|motion| whole * whole * motion.squared_spin);
        let squared_turn = squared_turns[0].max(squared_turns[1]);
        let potential = -gravity.dot(&(after.moment - before.moment));
        let sampling = 0.5 * h * gravity.dot(&(after.momentum - before.momentum));
        let mut account = Account {
            kinetic: [before.kinetic, after.kinetic],
            potential,
            sampling: sampling.abs(),
            signed_sampling: sampling,
            potential_size: before.moment.abs().dot(&gravity.abs()),
            fall: 0.5 * before.mass * h * h * gravity.norm_squared(),
            floor: 0.5 * before.mass * input.least_speed().powi(2),
            squared_turns,
            ..Account::default()
        };
        if let Some((work, springs)) = self.flight_work(input, tree, offset) {
            self.add_springs(input, tree, &mut account);
            self.moved[tree] = after.kinetic + account.potential;
            let (pair, weight) = ([&before, &after], h * before.mass * gravity);
            // Without applied forces, weight alone changes the momentum of a tree in flight.
            if self.momentum.flies_freely(&input.start, tree) {
                let of = (tree, squared_turn);
                let least = before.mass * FLIGHT_LEAST_SPEED;
                account.momentum = self.momentum.imbalance(of, (pair, least), &weight, None);
            }
            // The work of the springs, which is in that of the forces, is in the potential energies as well.
            account.forces = work - springs.unwrap_or(potential - account.potential);
            return account;
        }
        let u = &input.contact_velocity[dofs.clone()];
        input.free.force_impulse(&input.start, tree, u, input.data, &mut self.force_impulse);
        self.add_springs(input, tree, &mut account);
        self.moved[tree] = after.kinetic + account.potential;
        let constraints = offset.map(|offset| &self.constraints.impulse[offset..]);
        let weight = h * before.mass * gravity;
        let (pair, of) = ([&before, &after], (tree, squared_turn));
        let impulses = Some((&self.force_impulse[..], constraints));
        let least = before.mass * input.least_speed();
        account.momentum = self.momentum.imbalance(of, (pair, least), &weight, impulses);
        for (k, dof) in dofs.enumerate() {
            let mean = 0.5 * (state.v[dof] + input.next.v[dof]);
            account.forces += self.force_impulse[k] * mean;
            if let Some(offset) = offset {
                account.constraints += self.constraints.impulse[offset + k] * mean;
            }
        }
        account.passive = self.constraints.passive(tree);
        if model.rod_of_tree(tree).is_some() {
            let inertia = &input.data.mass[model.trees()[tree].mass.clone()];
            account.elastic_sampling =
                self.potential_sampling(input, tree, offset, inertia) - sampling;
        }
        account
    }

    /// Work of the potential forces on a tree on half of its change of velocity, `½ Δvᵀ(M Δv − p − Jᵀλ)` [J].
    fn potential_sampling(
        &self,
        input: &AuditInput,
        tree: usize,
        offset: Option<usize>,
        inertia: &[f64],
    ) -> f64 {
        let dofs = input.start.model.trees()[tree].dofs.clone();
        let n = dofs.len();
        let change = |k: usize| input.next.v[dofs.start + k] - input.start.state.v[dofs.start + k];
        let mut work = 0.0;
        for (k, row) in inertia.chunks_exact(n).enumerate() {
            let mut impulse: f64 = row.iter().enumerate().map(|(j, m)| m * change(j)).sum();
            impulse -= self.force_impulse[k];
            impulse -= offset.map_or(0.0, |offset| self.constraints.impulse[offset + k]);
            work += 0.5 * impulse * change(k);
        }
        work
    }

    /// Work of the forces on a tree that advanced by a rule of its own.
    fn flight_work(
        &mut self,
        input: &AuditInput,
        tree: usize,
        offset: Option<usize>,
    ) -> Option<(f64, Option<f64>)> {
        let model = input.start.model;
        if offset.is_some() || model.rod_of_tree(tree).is_some() {
            return None;
        }
        self.force_impulse.clear();
        self.force_impulse.resize(model.trees()[tree].dofs.len(), 0.0);
        input.free.flight_work(&input.start, tree)
    }

    /// Moves the springs of a tree's joints from the forces to the potential energies.
    fn add_springs(&mut self, input: &AuditInput, tree: usize, account: &mut Account) {
        let StepStart { model, scheme, time_step: h, state, .. } = input.start;
        let first = self.springs.partition_point(|(of, _)| *of < tree);
        let start = model.trees()[tree].dofs.start;
        for (_, joint) in self.springs[first..].iter().take_while(|(of, _)| *of == tree) {
            let joint = &model.joints()[*joint];
            let (stiffness, mut stretch) = (joint.spec.stiffness, [0.0; MAX_NV]);
            let rest = &model.q_spring()[joint.q.clone()];
            let stretch = &mut stretch[..joint.dofs.len()];
            joint.difference(rest, &input.next.q[joint.q.clone()], stretch);
            for (x1, dof) in stretch.iter().zip(joint.dofs.clone()) {
                let x0 = self.stretch[dof];
                let theta = input.free.spring_weight(dof, scheme.theta());
                let impulse = -h * stiffness * (x0 + theta * (x1 - x0));
                self.force_impulse[dof - start] -= impulse;
                account.potential += 0.5 * stiffness * (x1 * x1 - x0 * x0);
                account.potential_size += stiffness * (x1 * x1 + x0 * x0);
                let sampling = 0.5 * impulse * (input.next.v[dof] - state.v[dof]);
                account.sampling += sampling.abs();
                account.signed_sampling += sampling;
            }
        }
    }
}
