//! Stage 9: makes the next state the state, and updates the history.

use nalgebra::Vector3;
use stiction_mech::ActuatorId;
use stiction_solve::contact;

use super::{Scratch, StepContext, kinematics};
use crate::contact_point::ContactPoint;
use crate::history::StepHistory;
use crate::report::Phase;
use crate::rows::tree_of_dof;
use crate::sensor::AcceptedStep;
use crate::status::StepFlags;

/// Gain of energy without cause above which a motion is divided, relative to what is flagged [-].
const DIVIDED_GAIN: f64 = 0.75;
/// Part of what is left of the gains that may accumulate, near their bound, that a step or a part of it may use up
/// undivided [-]. So the bound is approached more slowly the nearer it is, by parts as small as that takes.
const DIVIDED_RISE: f64 = 0.2;

/// Whether a motion is better computed in two halves.
pub(super) fn is_divided(step: &StepContext) -> bool {
    let energy = &step.report.energy;
    let gains = energy.gain > DIVIDED_GAIN;
    let drifts = step.scratch.auditor.drift_rise > DIVIDED_RISE;
    // Errors that were there before are not those of the motion.
    let opens = step.report.correction_failed && step.history.lasting_errors.errors.is_empty();
    let jumps = step.scratch.patches_jump;
    step.scratch.free.is_unresolved() || !energy.is_kept() || gains || drifts || opens || jumps
}

/// Takes energy without cause out of the velocities of trees whose motion the smallest parts do not resolve. Positions stay,
/// and the step is flagged.
fn remove_gains(step: &mut StepContext) {
    let (model, Scratch { auditor, next, data, .. }) = (&step.world.model, &mut *step.scratch);
    for tree in 0..auditor.reduction.len() {
        let factor = auditor.reduction[tree];
        if factor < 1.0 {
            kinematics::slow_down(model, tree, factor, &mut next.v, data);
            auditor.forget_end(tree);
        }
    }
}

/// Accepts the step and completes its report.
pub(super) fn accept(step: &mut StepContext) {
    if step.part.fraction < 1.0 && !step.report.energy.is_kept() {
        remove_gains(step);
    }
    let h = step.settings.time_step;
    let StepContext { world, settings, part, input, state, history, scratch, report, .. } = step;
    read_contact_forces(scratch, h, &mut history.contacts);
    let Scratch { rows, problem, solution, spare_warm_start: next, .. } = &mut **scratch;
    if rows.is_empty() {
        history.warm_start.clear();
    } else {
        report.rows = problem.rows();
        let before = Some(&history.warm_start);
        next.store(rows.records(), problem.constraints(), &solution.impulse, before);
        std::mem::swap(&mut history.warm_start, next);
    }
    std::mem::swap(&mut history.contact_velocity, &mut scratch.contact_velocity);
    std::mem::swap(&mut history.node_contact_velocity, &mut scratch.node_contact_velocity);
    std::mem::swap(&mut history.correction, &mut scratch.corrector.history);
    scratch.auditor.accept(part.fraction);
    history.energy_drift.copy_from_slice(&scratch.auditor.drift);
    std::mem::swap(&mut history.lasting_errors, &mut scratch.corrector.lasting);
    std::mem::swap(*state, &mut scratch.next);
    scratch.driven.commit();
    scratch.solved_time = h;
    history.driven_pose.copy_from_slice(&scratch.driven.now);
    history.detection_is_current = true;
    history.yielding.follows = true;
    if world.sensors.read_last_step {
        let (free, scheme) = (&scratch.free, settings.scheme);
        let tree_has_flown =
            |tree: usize| scratch.in_flight[tree] && free.flies(&world.model, scheme, tree);
        let any_has_flown =
            scheme.advances_trees() && (0..world.model.trees().len()).any(tree_has_flown);
        let has_flown = |actuator: usize| {
            let row = free.forces.row(free.forces.actuator_row(ActuatorId(actuator)));
            any_has_flown
                && !row.is_empty()
                && row.iter().all(|entry| tree_has_flown(tree_of_dof(&world.model, entry.dof)))
        };
        history.last_step.keep(&AcceptedStep {
            world,
            old: &scratch.next,
            next: &state.v,
            time_step: h,
            input,
            activation: scratch.free.activations(),
            actuator_force: scratch.free.flight_actuator_forces(),
            has_flown: &has_flown,
            contacts: &history.contacts,
            records: scratch.rows.records(),
            constraints: scratch.problem.constraints(),
            impulse: &scratch.solution.impulse,
            asleep: &history.sleep.asleep,
        });
    }
    if let Some(sleep) = settings.sleep {
        wake_if_activations_change(history, &scratch.next.activation, &state.activation);
        // A tree that is being displaced has no velocity, and does not rest.
        let solved = report.converged() && history.lasting_errors.errors.is_empty();
        let model = &world.model;
        history.sleep.measure_rest(model, &state.v, h, solved, sleep);
        let Scratch { data, problem, assembler, .. } = &mut **scratch;
        if solved && !assembler.trees().is_empty() {
            let parts = (&*problem, &*assembler);
            history.sleep.put_to_sleep(model, parts, sleep, &mut state.v, data);
        }
        scratch.auditor.forget_asleep(&history.sleep.asleep);
    }
    report.unresolved =
        scratch.free.is_unresolved() || scratch.patches_jump || !report.energy.is_kept();
    if report.flags() != StepFlags::default() {
        // The energies of a motion that was not computed to its tolerance are no measure for the next.
        scratch.auditor.restart_drift(&mut history.energy_drift, !report.unresolved);
    }
    history.unsolved = if report.converged() { 0 } else { history.unsolved.saturating_add(1) };
    report.inverted = scratch.free.soft.inverted();
    report.asleep = history.sleep.count();
    step.clock.lap(Phase::Integrate);
    step.report.phases = step.clock.phases;
}

/// Change of an activation within a step that counts, relative to its size or one [-].
const ACTIVATION_CHANGE: f64 = 1e-6;

/// Wakes everything while activations change, since forces change with them.
fn wake_if_activations_change(history: &mut StepHistory, old: &[f64], next: &[f64]) {
    let changes =
        |(old, next): (&f64, &f64)| (next - old).abs() > ACTIVATION_CHANGE * old.abs().max(1.0);
    if old.iter().zip(next).any(changes) {
        history.sleep.wake_all();
    }
}

/// Reads the forces of contacts from the solution.
fn read_contact_forces(scratch: &Scratch, h: f64, contacts: &mut Vec<ContactPoint>) {
    let Scratch { rows, problem, solution, .. } = scratch;
    contacts.clear();
    for row in rows.contacts() {
        let index = row.constraint as usize;
        let mut c = [0.0; contact::DIM];
        problem.jacobian().mul_constraint(index, &solution.velocity, &mut c);
        let to_world = |rows: &[f64]| row.R_CW.tr_mul(&Vector3::from_column_slice(rows));
        let impulse = &solution.impulse[problem.row_range(index)];
        contacts.push(ContactPoint {
            force: to_world(impulse) / h,
            velocity: to_world(&c) + row.point.velocity,
            ..row.point
        });
    }
    for row in rows.torsion() {
        let impulse = solution.impulse[problem.row_range(row.constraint as usize).start];
        contacts[row.contact as usize].torque += row.axis_W * (impulse / h);
    }
}
