//! Stage 5: the contact problem.

use stiction_mech::Model;
use stiction_solve::Problem;

use super::{Scratch, StepContext, relinearise, restitution};
use crate::error::StepError;
use crate::report::Phase;
use crate::rows::ConstraintKey;
use crate::rows::drive::kind_of;
use crate::solve_policy::{self, Retry};
use crate::warm_start::{Guess, WarmStart};
use nalgebra::Vector3;

/// Compliance of softened constraints, relative to their Delassus scale [-].
const SOFTENING: f64 = 1e-2;

/// Solves the contact problem from the impulses of the last step. A problem that has no solution, or
/// for which the default solver finds none with reasonable effort, is solved again with softened
/// constraints, and the report says so.
pub(super) fn solve(step: &mut StepContext) -> Result<(), StepError> {
    let warm_start = std::mem::take(&mut step.history.warm_start);
    let velocity = std::mem::take(&mut step.history.contact_velocity);
    let solved = solve_from(step, &warm_start, &velocity);
    step.history.contact_velocity = velocity;
    step.history.warm_start = warm_start;
    solved
}

/// Solves the contact problem from given impulses and velocities of trees.
pub(super) fn solve_from(
    step: &mut StepContext,
    warm_start: &WarmStart,
    velocity: &[f64],
) -> Result<(), StepError> {
    let StepContext { world, history, scratch, session, goal, report, .. } = step;
    if !scratch.rows.is_empty() {
        let Scratch { rows, problem, solution, free, .. } = &mut **scratch;
        let guess = |key: &ConstraintKey| kind_of(key).map_or(0.0, |kind| free.guess_impulse(kind));
        let constraints = (rows.records(), problem.constraints());
        warm_start.recall(constraints, Guess::Last, guess, &mut solution.impulse);
        if problem.mass().has_tree() {
            warm_start.recall(constraints, Guess::Continued, guess, session.other_guess());
        }
        write_guess(&world.model, velocity, &history.node_contact_velocity, scratch);
        let Scratch { problem, solution, .. } = &mut **scratch;
        // What a step had to soften has no solution with more rows either.
        let mut retry = Retry::Softened;
        if !report.softened {
            let solved;
            (solved, retry) =
                solve_policy::solve(session, problem, (goal, history.unsolved), solution)?;
            report.friction_model = solved.friction_model;
            report.add_solve(&solved);
        }
        if retry != Retry::None {
            soften(&mut scratch.problem);
            if retry == Retry::SoftenedColdStart {
                scratch.solution.reset(&scratch.problem);
            }
            report.add_solve(&session.solve(&scratch.problem, goal, &mut scratch.solution)?);
            report.softened = true;
        }
        restitution::limit(step)?;
        relinearise::relinearise(step)?;
        step.clock.lap(Phase::Solve);
    }
    Ok(())
}

/// Raises the compliance of all rows.
fn soften(problem: &mut Problem) {
    for index in 0..problem.constraints().len() {
        problem.raise_compliance(index, SOFTENING * problem.delassus().scale(index));
    }
}

/// Sets the initial guess of the problem to the velocities of its subsystems.
pub(super) fn write_guess(model: &Model, v: &[f64], x_dot: &[Vector3<f64>], scratch: &mut Scratch) {
    let Scratch { assembler, free, solution, .. } = scratch;
    solution.velocity.clear();
    for (tree, _) in assembler.trees() {
        solution.velocity.extend_from_slice(&v[model.trees()[*tree].dofs.clone()]);
    }
    for (soft, _) in assembler.softs() {
        let first = model.softs()[*soft].nodes.start;
        for vertex in free.soft.free_vertices(*soft) {
            solution.velocity.extend_from_slice(x_dot[first + *vertex as usize].as_slice());
        }
    }
}
