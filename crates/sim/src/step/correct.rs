//! Stage 7: contacts of the next state, and displacements that remove its position errors.

use stiction_mech::set_driven_poses;

use super::{Scratch, StepContext, collision, failure, kinematics};
use crate::error::StepError;
use crate::position_correction::{CorrectionInput, PositionErrors};
use crate::report::Phase;
use crate::rows::ConstraintContext;
use crate::soft;

/// Largest number of corrections in one step.
const ROUNDS: usize = 6;
/// Penetration of a soft body above which the step is unresolved, in shortest edges of a mesh [-].
const UNRESOLVED_DEPTH: f64 = 0.5;

/// Detects the contacts of the next state and corrects its position errors.
pub(super) fn correct_positions(step: &mut StepContext) -> Result<(), StepError> {
    // From here on the contacts are those of the next state.
    step.history.detection_is_current = false;
    let mut errors = correct_rigid(step);
    let StepContext { world, settings, state, scratch, .. } = step;
    failure::check_next(world, &scratch.next, state.time, settings.time_step)?;
    failure::check_distance(world, &scratch.data, state.time)?;
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
    let (world, settings) = (step.world, step.settings);
    let (stabilisation, h) = (&settings.stabilisation, settings.time_step);
    set_driven_poses(&world.model, &step.scratch.driven.next, &mut step.scratch.data);
    step.scratch.corrector.begin_step(&step.history.correction);
    let mut errors = measure(step, Moved::Awake);
    for round in 0..ROUNDS {
        let Scratch { next, data, free, driven, corrector, .. } = &mut *step.scratch;
        let asleep = &step.history.sleep.asleep;
        let context = ConstraintContext::new(&world.model, data, free, asleep, driven);
        let detected = &step.history.detected;
        let input = CorrectionInput::new(world, settings, next, context, detected, free);
        if !corrector.solve(&input, round) {
            break;
        }
        corrector.bound(world, &next.v, stabilisation, h, data);
        loop {
            let Scratch { next, corrector, moves, .. } = &mut *step.scratch;
            corrector.displace(world, &mut next.q, moves);
            step.clock.lap(Phase::Integrate);
            errors = measure(step, Moved::Displaced);
            if step.scratch.corrector.judge(stabilisation) {
                break;
            }
        }
    }
    step.report.correction_failed = step.scratch.corrector.end_step(stabilisation, h);
    errors
}

/// Trees that moved since the last detection of contacts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// All that do not sleep.
    Awake,
    /// Those that the last correction displaced.
    Displaced,
}

/// Updates kinematics and contacts of the trees that moved, and measures the position errors.
fn measure(step: &mut StepContext, moved: Moved) -> PositionErrors {
    let StepContext { world, settings, history, scratch, clock, .. } = step;
    let (h, model) = (settings.time_step, &world.model);
    let Scratch { next, data, moves, .. } = &mut **scratch;
    if moved == Moved::Awake {
        history.sleep.awake_into(moves);
    }
    kinematics::update_trees(model, &next.q, &next.v, moves, data);
    clock.lap(Phase::Kinematics);
    collision::detect_rigid(world, h, history, scratch);
    clock.lap(Phase::Collision);
    let Scratch { next, data, free, driven, corrector, .. } = &mut **scratch;
    let context = ConstraintContext::new(model, data, free, &history.sleep.asleep, driven);
    let input = CorrectionInput::new(world, settings, next, context, &history.detected, free);
    corrector.measure(&input)
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
