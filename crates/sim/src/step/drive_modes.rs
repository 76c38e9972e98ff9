//! Repeats a step in which a servo or dry friction left the mode that was predicted for it.

use stiction_mech::DriveKind;
use stiction_solve::law::Law;

use super::missed::impulses_so_far;
use super::{Scratch, StepContext, assembly, dynamics, integrate, solve};
use crate::error::StepError;
use crate::rows::drive::kind_of;
use crate::rows::limit::limited_dof;

/// Largest number of repetitions before all drives get rows.
const ROUNDS: usize = 3;
/// Speed below which friction within its bounds holds a joint, in units of the tolerance of the solve [-].
const HELD: f64 = 10.0;

/// Begins a step. With soft bodies all drives have rows: their forces are linearised anew by every solve.
pub(super) fn begin(step: &mut StepContext) {
    let rows = || step.history.warm_start.single_rows();
    let drives = rows().filter_map(|(key, impulse)| Some((kind_of(&key)?, impulse)));
    let model = &step.world.model;
    let limits = rows().filter_map(|(key, impulse)| {
        let (dof, sign) = limited_dof(model, &key)?;
        Some((dof, sign * impulse))
    });
    let holds_equality = step.history.equality_active.contains(&true);
    step.scratch.free.predict_modes([model.nodes() == 0, holds_equality], drives, limits);
}

/// Computes the step again, with rows for the drives that left their modes, until none does.
pub(super) fn repeat_where_left(step: &mut StepContext) -> Result<(), StepError> {
    for round in 0..=ROUNDS {
        let (model, settings) = (&step.world.model, step.settings);
        let motion = (model, settings.scheme, settings.time_step);
        let Scratch { free, in_flight, contact_velocity, .. } = &mut *step.scratch;
        if !free.leaves_modes(motion, in_flight, contact_velocity) {
            break;
        }
        if round + 1 >= ROUNDS {
            free.give_up_modes();
        }
        let warm_start = impulses_so_far(step.scratch);
        dynamics::compute(step)?;
        assembly::assemble(step)?;
        let velocity = std::mem::take(&mut step.scratch.contact_velocity);
        let solved = solve::solve_from(step, &warm_start, &velocity);
        step.scratch.contact_velocity = velocity;
        step.scratch.spare_warm_start = warm_start;
        solved?;
        integrate::integrate(step)?;
    }
    stop_held_joints(step);
    Ok(())
}

/// Sets the velocities to zero that dry friction holds by a row, which holds them up to the tolerance of the solve:
/// whether a joint rests or moves decides the mode of its friction in the next step.
fn stop_held_joints(step: &mut StepContext) {
    let Scratch { rows, problem, solution, next, contact_velocity, .. } = &mut *step.scratch;
    let scheme = step.settings.scheme;
    if scheme.is_direct() || scheme.is_iterated() {
        return;
    }
    let tolerance = HELD * step.goal.tolerance * problem.reference_velocity();
    for (record, constraint) in rows.records().iter().zip(problem.constraints()) {
        let (Some(DriveKind::JointFriction(dof)), Law::Bounded(law)) =
            (kind_of(&record.key), constraint.law)
        else {
            continue;
        };
        let row = constraint.rows().start;
        let is_held = problem.compliance()[row] == 0.0
            && law.is_inside(solution.impulse[row])
            && next.v[dof].abs() <= tolerance;
        if is_held {
            (next.v[dof], contact_velocity[dof]) = (0.0, 0.0);
        }
    }
}
