//! Stage 7: contacts that a step missed: shapes that penetrate at the next state without a row in its problem.
//!
//! Shapes that are apart at the start of a step and would not meet in free motion may come to meet because
//! other contacts change their motion, as in a row of colliding bodies. They get rows, and the step is solved
//! again from the impulses found so far.

use stiction_mech::set_driven_poses;

use super::{
    Scratch, StepContext, assembly, collision, correct, drive_modes, dynamics, integrate,
    kinematics, solve,
};
use crate::error::StepError;
use crate::warm_start::WarmStart;

/// Largest number of further solves in a step.
const ROUNDS: usize = 3;

/// Solves the step again while contacts of the next state penetrate without a row. Contacts that are still
/// missed after the last round are left to the position correction.
pub(super) fn solve_with_missed_contacts(step: &mut StepContext) -> Result<(), StepError> {
    for _ in 0..ROUNDS {
        let StepContext { world, settings, state, history, scratch, .. } = step;
        let Scratch { look_ahead, contacts, data, driven, moves, .. } = &mut **scratch;
        if !look_ahead.find_missed(world, contacts, settings, data) {
            break;
        }
        // Back to the start of the step.
        set_driven_poses(&world.model, &driven.now, data);
        history.sleep.awake_into(moves);
        kinematics::update_trees(&world.model, &state.q, &state.v, moves, data);
        look_ahead.add_missed(world, data);
        let warm_start = impulses_so_far(scratch);
        if world.model.nodes() > 0 {
            // The last solve linearised soft bodies elsewhere.
            collision::detect_soft(world, state, settings.time_step, &history.reach, scratch);
            dynamics::compute(step)?;
        }
        assembly::assemble(step)?;
        let velocity = std::mem::take(&mut step.history.contact_velocity);
        let solved = solve::solve_from(step, &warm_start, &velocity);
        step.history.contact_velocity = velocity;
        step.scratch.spare_warm_start = warm_start;
        solved?;
        integrate::integrate(step)?;
        drive_modes::repeat_where_left(step)?;
        correct::detect_next(step)?;
    }
    Ok(())
}

/// The impulses of the last solve, in memory that the scratch keeps.
pub(super) fn impulses_so_far(scratch: &mut Scratch) -> WarmStart {
    let Scratch { rows, problem, solution, spare_warm_start, .. } = scratch;
    let mut warm_start = std::mem::take(spare_warm_start);
    warm_start.clear();
    if !rows.is_empty() {
        warm_start.store(rows.records(), problem.constraints(), &solution.impulse, None);
    }
    warm_start
}
