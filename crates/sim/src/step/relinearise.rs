//! Newton's method on a step whose soft bodies have forces that are nonlinear within the step.
//!
//! Forces are linearised at the last iterate, contacts of soft bodies are detected again there, and
//! the problem is solved again, until the solution no longer changes:
//!
//! ```text
//! m(u) = Jᵀ λ,   m ≈ A (u − u_k) + m(u_k),   gap ≈ gap_k + h J_k (u − u_k).
//! ```
//!
//! Line search along d = u − u_k with step length t: t = 1, unless the imbalance of momentum along d,
//! `dᵀ (m(u_k + t d) − Jᵀ λ)`, rises from `−dᵀ A d` to far above zero. That is the slope of the
//! energy which the step minimises, with the impulses given; where it becomes positive the energy has
//! a minimum before the end of the line. It needs no energy of friction, and forces only.
//!
//! Contacts are detected again in schemes whose positions move with the velocity on which contact
//! laws act; in others, and once constraints were softened, those of the step's start are kept.

use stiction_mech::{Model, State, integrate as move_positions, set_driven_poses};

use super::{Scratch, StepContext, assembly, failure, integrate, kinematics, solve};
use crate::cable;
use crate::error::StepError;
use crate::rows::contact::REACH_FACTOR;
use crate::rows::{ConstraintClass, ConstraintContext, RowParameters};
use crate::soft;
use crate::soft::contact::{SoftContactInput, SoftContactStart};
use crate::soft_audit::solved_speed;
use crate::solve_policy::{self, Retry};
use crate::warm_start::{Guess, WarmStart};

/// Change of velocities below which Newton's method ends, relative to the fastest [-].
const CONVERGED: f64 = 1e-4;
/// How often the step length is reduced, and the largest reduction at once [-].
const MAX_REDUCTIONS: usize = 6;
const MIN_REDUCTION: f64 = 0.1;
/// Slope at the end of the line up to which it is accepted, relative to that at its start [-].
const ACCEPTED_SLOPE: f64 = 0.5;

/// Memory of the iterations.
#[derive(Debug, Default)]
pub(crate) struct NewtonScratch {
    /// u_k: velocities of the problem at which soft bodies are linearised.
    iterate: Vec<f64>,
    /// Contacts of soft bodies at the start of the step.
    at_start: Vec<SoftContactStart>,
    /// Impulses of the last iteration.
    warm_start: WarmStart,
}

/// Solves again, linearised at the last solution, until it no longer changes. Flags the step as
/// unresolved if it still does after the iterations that the settings allow.
pub(super) fn relinearise(step: &mut StepContext) -> Result<(), StepError> {
    let (iterations, scratch) = (step.settings.relinearisations, &*step.scratch);
    if iterations == 0 || !has_nonlinear_soft(scratch) {
        return Ok(());
    }
    let weights = scratch.free.soft.weights();
    let redetects = !step.report.softened && weights.alpha == 1.0 && weights.moving == 1.0;
    let parameters = step.row_parameters();
    if redetects {
        keep_start_contacts(step, &parameters);
    }
    let NewtonScratch { iterate, .. } = &mut step.scratch.newton;
    iterate.clear();
    iterate.resize(step.scratch.solution.velocity.len(), 0.0);
    let (model, h) = (&step.world.model, step.settings.time_step);
    // Vertices that move less count as at rest.
    let least_change = solved_speed(model, h) + CONVERGED * model.gravity().norm() * h;
    let mut reach = 0.0_f64;
    for _ in 0..iterations {
        let model = &step.world.model;
        let Some(moved) = line_search(model, step.state, step.scratch) else { break };
        if redetects {
            // Contacts that pressed along the line must be found again, also after a shorter step.
            reach = reach.max(REACH_FACTOR * step.settings.time_step * moved);
            redetect_soft_contacts(step, &parameters, reach)?;
            if step.scratch.rows.is_empty() {
                step.scratch.assembler.clear();
                return Ok(());
            }
        } else {
            step.scratch.rows.take_back(&mut step.scratch.problem);
        }
        let StepContext { world, state, history, scratch, session, goal, report, .. } = step;
        assembly::build(world, scratch, state.time)?;
        if redetects {
            let v = std::mem::take(&mut scratch.contact_velocity);
            let x_dot = std::mem::take(&mut scratch.node_contact_velocity);
            solve::write_guess(model, &v, &x_dot, scratch);
            (scratch.contact_velocity, scratch.node_contact_velocity) = (v, x_dot);
            scratch.newton.iterate.clone_from(&scratch.solution.velocity);
        }
        let Scratch { problem, solution, .. } = &mut **scratch;
        let effort = (*goal, history.unsolved);
        let (solved, retry) = solve_policy::solve(session, problem, effort, solution)?;
        report.add_solve(&solved);
        if retry == Retry::SoftenedColdStart {
            break;
        }
        let (change, size) = largest_change(scratch);
        if change <= (CONVERGED * size).max(least_change) {
            return Ok(());
        }
    }
    step.scratch.free.soft.set_unresolved();
    Ok(())
}

fn has_nonlinear_soft(scratch: &Scratch) -> bool {
    let Scratch { assembler, free, .. } = scratch;
    assembler.softs().iter().any(|(soft, _)| free.soft.is_nonlinear(*soft))
}

/// Largest change from the iterate to the solution, and largest speed, of nonlinear soft bodies [m/s].
fn largest_change(scratch: &Scratch) -> (f64, f64) {
    let Scratch { assembler, free, solution, newton, .. } = scratch;
    let (mut change, mut size) = (0.0_f64, 0.0_f64);
    for (soft, range) in assembler.softs() {
        if free.soft.is_nonlinear(*soft) {
            let at = &newton.iterate[range.clone()];
            for (u, at) in solution.velocity[range.clone()].iter().zip(at) {
                change = change.max((u - at).abs());
                size = size.max(u.abs());
            }
        }
    }
    (change, size)
}

/// Moves the iterate along the line to the last solution and linearises soft bodies there. Returns the
/// largest change of a velocity [m/s], or nothing if no finite forces were found.
fn line_search(model: &Model, state: &State, scratch: &mut Scratch) -> Option<f64> {
    let Scratch { assembler, free, solution, newton, .. } = scratch;
    let iterate = &mut newton.iterate;
    let mut t = 1.0;
    for _ in 0..MAX_REDUCTIONS {
        let (mut first, mut last) = (0.0, 0.0);
        for (soft, range) in assembler.softs() {
            if free.soft.is_nonlinear(*soft) {
                let line = (&iterate[range.clone()], &solution.velocity[range.clone()]);
                let slope = free.soft.slope(model, *soft, state, line, t);
                first += slope[0];
                last += slope[1];
            }
        }
        if last <= ACCEPTED_SLOPE * -first {
            break;
        }
        // Zero of the straight line between the two slopes.
        let zero = first / (first - last);
        t *= if zero.is_finite() { zero.clamp(MIN_REDUCTION, 0.5) } else { MIN_REDUCTION };
    }
    let mut moved = 0.0_f64;
    for (at, u) in iterate.iter_mut().zip(&solution.velocity) {
        let change = t * (u - *at);
        *at += change;
        moved = moved.max(change.abs());
    }
    let finite = assembler.softs().iter().all(|(soft, range)| {
        !free.soft.is_nonlinear(*soft)
            || free.soft.linearise(model, *soft, state, &iterate[range.clone()])
    });
    finite.then_some(moved)
}

/// Keeps the contacts of soft bodies at the start of the step.
fn keep_start_contacts(step: &mut StepContext, parameters: &RowParameters) {
    let StepContext { world, state, history, scratch, .. } = step;
    let Scratch { data, free, driven, soft_detector, newton, .. } = &mut **scratch;
    let context = ConstraintContext::new(&world.model, data, free, history, driven);
    let detected = soft_detector.contacts();
    soft::contact::start_of(
        world,
        parameters,
        detected,
        &state.x_dot,
        &context,
        &mut newton.at_start,
    );
}

/// Detects the contacts of soft bodies at the end of a step with the velocities of the iterate, within
/// a distance `reach` [m], and writes their rows again.
fn redetect_soft_contacts(
    step: &mut StepContext,
    parameters: &RowParameters,
    reach: f64,
) -> Result<(), StepError> {
    let StepContext { world, settings, state, history, scratch, .. } = step;
    let (model, h, asleep) = (&world.model, settings.time_step, &history.sleep.asleep);
    let Scratch { rows, problem, solution, newton, .. } = &mut **scratch;
    newton.warm_start.store(rows.records(), problem.constraints(), &solution.impulse, None);
    solution.velocity.clone_from(&newton.iterate);
    scratch.free.complete_all_momenta(model, h, state, &mut scratch.data);
    if let Some(tree) = integrate::collect_velocities(model, asleep, None, scratch) {
        return Err(failure::singular(world, state.time, tree));
    }
    if let Some(soft) = integrate::move_soft_bodies(model, settings.scheme, state, h, scratch) {
        return Err(failure::soft_singular(world, state.time, soft));
    }
    let Scratch { data, driven, corrected_q, contact_velocity, moves, .. } = &mut **scratch;
    history.sleep.awake_into(moves);
    move_positions(model, &state.q, contact_velocity, h, corrected_q);
    set_driven_poses(model, &driven.next, data);
    kinematics::update_trees(model, corrected_q, contact_velocity, moves, data);
    write_soft_contact_rows(step, parameters, reach);
    let StepContext { world, settings, state, history, scratch, .. } = step;
    let model = &world.model;
    let Scratch { data, driven, free, rows, newton, solution, moves, .. } = &mut **scratch;
    set_driven_poses(model, &driven.now, data);
    kinematics::update_trees(model, &state.q, &state.v, moves, data);
    let context = ConstraintContext::new(model, data, free, history, driven);
    cable::clamp::add_rows(settings.scheme, settings.time_step, &context, &state.v, rows);
    let constraints = rows.rows().constraints();
    let constraints = (rows.records(), constraints);
    newton.warm_start.recall(constraints, Guess::Last, |_| 0.0, &mut solution.impulse);
    Ok(())
}

/// Detects the contacts of soft bodies at the next positions, which the kinematics hold, and writes
/// their rows.
fn write_soft_contact_rows(step: &mut StepContext, parameters: &RowParameters, reach: f64) {
    let StepContext { world, settings, history, scratch, .. } = step;
    let model = &world.model;
    let Scratch {
        data,
        driven,
        soft_detector,
        node_reach,
        free,
        rows,
        problem,
        newton,
        node_contact_velocity,
        next,
        ..
    } = &mut **scratch;
    node_reach.fill(reach);
    let (colliders, surfaces) = (&world.colliders, &world.softs.surfaces);
    soft_detector.detect(colliders, surfaces, &data.body_pose, &next.x, &[], node_reach);
    rows.take_back(problem);
    rows.truncate(ConstraintClass::SoftContact);
    let context = ConstraintContext::new(model, data, free, history, driven);
    let soft_contacts = SoftContactInput {
        detected: soft_detector.contacts(),
        x_dot: node_contact_velocity,
        at_start: Some(&newton.at_start),
        max_speed: settings.stabilisation.max_speed,
    };
    soft::contact::add_rows(world, parameters, &soft_contacts, &context, rows);
}
