//! Stage 7: contacts of the next state, and displacements that remove its position errors.

use stiction_mech::{integrate as move_positions, set_driven_poses};

use super::{Scratch, StepContext, collision, failure, kinematics};
use crate::error::StepError;
use crate::position_correction::{CorrectionInput, PositionErrors};
use crate::report::Phase;
use crate::rows::ConstraintContext;
use crate::soft;

/// How often position errors are measured and corrected in one step; how often for penetration
/// alone, unless it is this many times the slop.
const CORRECTIONS: usize = 6;
const DEPTH_CORRECTIONS: usize = 2;
const DEEP: f64 = 10.0;
/// Penetration of a soft body above which the step is unresolved, in shortest edges of a mesh [-].
const UNRESOLVED_DEPTH: f64 = 0.5;

/// Detects the contacts of the next state and corrects its position errors.
pub(super) fn correct_positions(step: &mut StepContext) -> Result<(), StepError> {
    // From here on the contacts are those of the next state.
    step.history.detection_is_current = false;
    let mut errors = correct_rigid(step);
    let StepContext { world, settings, state, scratch, .. } = step;
    failure::check_next(world, &scratch.next, state.time, settings.time_step)?;
    if world.model.nodes() > 0 {
        measure_soft(step, &mut errors);
    }
    let report = &mut step.report;
    report.penetration = errors.depth;
    report.limit_error = errors.limit;
    report.equality_error = errors.equality;
    Ok(())
}

/// Corrects the positions of trees, and returns the errors that are left.
fn correct_rigid(step: &mut StepContext) -> PositionErrors {
    let StepContext { world, settings, history, scratch, clock, .. } = step;
    let (h, model) = (settings.time_step, &world.model);
    let stabilisation = &settings.stabilisation;
    set_driven_poses(model, &scratch.driven.next, &mut scratch.data);
    let mut round = 0;
    loop {
        let Scratch { next, data, .. } = &mut **scratch;
        kinematics::update_trees(model, &next.q, &next.v, &history.sleep.asleep, data);
        clock.lap(Phase::Kinematics);
        collision::detect_rigid(world, h, history, scratch);
        clock.lap(Phase::Collision);
        let Scratch { next, data, free, driven, corrector, corrected_q, .. } = &mut **scratch;
        let input = CorrectionInput {
            world,
            q: &next.q,
            v: &next.v,
            context: ConstraintContext::new(model, data, free, &history.sleep.asleep, driven),
            contacts: &history.detected,
            free,
            time_step: h,
        };
        let errors = corrector.measure(&input);
        let open = errors.equality > stabilisation.closure;
        let allowed_depth =
            if round < DEPTH_CORRECTIONS { stabilisation.slop } else { DEEP * stabilisation.slop };
        let deep = errors.depth.max(errors.limit) > allowed_depth;
        if round == CORRECTIONS || !(open || deep) {
            return errors;
        }
        let Some(displacement) = corrector.correct(&input, stabilisation) else { return errors };
        move_positions(model, &next.q, displacement, 1.0, corrected_q);
        std::mem::swap(&mut next.q, corrected_q);
        clock.lap(Phase::Integrate);
        round += 1;
    }
}

/// Contacts and errors of soft bodies at the next state.
fn measure_soft(step: &mut StepContext, errors: &mut PositionErrors) {
    let StepContext { world, settings, state, history, scratch, clock, .. } = step;
    let next = std::mem::take(&mut scratch.next);
    collision::detect_soft(world, &next, settings.time_step, &history.reach, scratch);
    scratch.next = next;
    let Scratch { next, data, free, soft_detector, .. } = &mut **scratch;
    let detected = soft_detector.contacts();
    let depth = soft::contact::deepest_penetration(world, detected, settings.combine);
    errors.depth = errors.depth.max(depth);
    if depth > UNRESOLVED_DEPTH * world.softs.shortest {
        free.soft.set_unresolved();
    }
    let apart = soft::attachment::largest_error(world, &next.x, data);
    errors.equality = errors.equality.max(apart);
    clock.lap(Phase::Collision);
    free.soft.inspect(&world.model, state, next);
}
