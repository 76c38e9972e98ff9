//! Stages 7 and 8: contacts of the next state, and displacements that remove its position errors.

use stiction_mech::set_driven_poses;

use super::dynamics::step_start;
use super::{Scratch, StepContext, collision, failure, kinematics, patches};
use crate::constraint_work::SolvedRows;
use crate::energy_audit::AuditInput;
use crate::error::StepError;
use crate::position_correction::{CorrectionInput, PositionErrors};
use crate::report::Phase;
use crate::rows::ConstraintContext;
use crate::soft;
use crate::solve_policy::{is_limited, is_worth_later_passes};

/// Largest number of corrections in one step, and where step after step constraints contradict one another: the next motion
/// undoes them.
const ROUNDS: usize = 6;
const CONTRADICTED_ROUNDS: usize = 1;
/// Factor of velocities by a correction below which the step is unresolved [-].
const LEAST_REDUCTION: f64 = 0.9;
/// Distance by which corrections lift a tree without a loss of velocity, in slops [-].
const LIFT: f64 = 0.5;
/// Penetration of a soft body above which the step is unresolved, in shortest edges of a mesh [-].
const UNRESOLVED_DEPTH: f64 = 0.5;

/// Detects the contacts of the next state and corrects its position errors.
pub(super) fn correct_positions(step: &mut StepContext) -> Result<(), StepError> {
    let mut errors = correct_rigid(step)?;
    let StepContext { world, settings, state, scratch, .. } = step;
    failure::check_next(world, &scratch.next, state.time, settings.time_step)?;
    if world.model.nodes() > 0 {
        measure_soft(step, &mut errors);
    }
    patches::detect_next(step);
    audit_world(step);
    let report = &mut step.report;
    report.uncertain_contacts = step.scratch.detector.depth_doubt().pairs as usize;
    report.penetration = errors.depth;
    report.limit_error = errors.limit;
    report.equality_error = errors.equality;
    Ok(())
}

/// Updates kinematics and contacts to the next state; an error if shapes are not resolved there.
pub(super) fn detect_next(step: &mut StepContext) -> Result<(), StepError> {
    // From here on the contacts are those of the next state.
    step.history.detection_is_current = false;
    let StepContext { world, scratch, .. } = step;
    set_driven_poses(&world.model, &scratch.driven.next, &mut scratch.data);
    detect(step, Moved::Awake)
}

/// Whether step after step the constraints have no common solution, as far as the default solver can tell: another one may fail where
/// there is one.
pub(super) fn is_contradicted(step: &StepContext) -> bool {
    step.report.softened
        && is_limited(step.session, step.goal)
        && !is_worth_later_passes(step.history.unsolved)
}

/// Corrects the positions of trees, and returns the errors that are left.
fn correct_rigid(step: &mut StepContext) -> Result<PositionErrors, StepError> {
    let (world, settings) = (step.world, step.settings);
    let (stabilisation, h) = (&settings.stabilisation, settings.time_step);
    step.scratch.corrector.begin_step(&step.history.correction, step.part.fraction);
    let mut errors = measure(step);
    step.scratch.corrector.keep_errors();
    audit_motion(step);
    let rounds = if is_contradicted(step) { CONTRADICTED_ROUNDS } else { ROUNDS };
    for round in 0..rounds {
        let Scratch { next, data, free, driven, contacts, corrector, .. } = &mut *step.scratch;
        let context = ConstraintContext::new(&world.model, data, free, step.history, driven);
        let active = &step.history.equality_active;
        let input = CorrectionInput::new((world, active), settings, next, context, contacts, free);
        if !corrector.solve(&input, round) {
            break;
        }
        corrector.bound(world, &next.v, stabilisation, h, data);
        loop {
            let Scratch { next, corrector, moves, .. } = &mut *step.scratch;
            corrector.displace(world, &mut next.q, moves);
            step.clock.lap(Phase::Integrate);
            detect(step, Moved::Displaced)?;
            errors = measure(step);
            if step.scratch.corrector.judge(stabilisation) {
                break;
            }
        }
    }
    audit_correction(step);
    let Scratch { next, data, free, driven, contacts, corrector, .. } = &mut *step.scratch;
    let context = ConstraintContext::new(&world.model, data, free, step.history, driven);
    let world = (world, &step.history.equality_active[..]);
    let input = CorrectionInput::new(world, settings, next, context, contacts, free);
    step.report.correction_failed = corrector.end_step(&input, &step.history.lasting_errors);
    Ok(errors)
}

/// Balance of energy of the motion, ahead of the correction.
fn audit_motion(step: &mut StepContext) {
    let start = step_start(step.world, step.settings, step.state, step.input, step.history);
    let Scratch {
        auditor,
        rows,
        problem,
        solution,
        assembler,
        next,
        data,
        free,
        contact_velocity,
        ..
    } = &mut *step.scratch;
    let solved = SolvedRows {
        world: step.world,
        rows,
        problem,
        impulse: &solution.impulse,
        on_velocities: step.session.constraint_impulse(),
        assembler,
        free,
        slop: step.settings.stabilisation.slop,
        states: [step.state, next],
    };
    let has_equalities = !step.world.equalities().is_empty();
    let closure = if has_equalities { step.settings.stabilisation.closure } else { 0.0 };
    let (fraction, is_divisible) = (step.part.fraction, step.part.is_divisible());
    let input = AuditInput {
        start,
        next,
        data,
        free,
        contact_velocity,
        solved,
        closure,
        fraction,
        is_divisible,
    };
    step.report.energy = auditor.balance(&input, &step.history.energy_drift);
    // A gain that is not a number is one.
    if !(auditor.soft.gain() <= 1.0) {
        free.soft.set_unresolved();
    }
}

/// Balance of energy of all bodies together, after corrections. A problem that was not solved has its own flag.
fn audit_world(step: &mut StepContext) {
    if !step.report.converged() {
        return;
    }
    let Scratch { auditor, rows, problem, solution, assembler, next, free, .. } =
        &mut *step.scratch;
    let solved = SolvedRows {
        world: step.world,
        rows,
        problem,
        impulse: &solution.impulse,
        on_velocities: step.session.constraint_impulse(),
        assembler,
        free,
        slop: step.settings.stabilisation.slop,
        states: [step.state, next],
    };
    auditor.balance_world(&solved, &mut step.report.energy);
}

/// Takes the energy that corrections added out of the velocities, and measures the change of energy that is left.
fn audit_correction(step: &mut StepContext) {
    let start = step_start(step.world, step.settings, step.state, step.input, step.history);
    let stabilisation = &step.settings.stabilisation;
    let (model, Scratch { auditor, corrector, next, data, .. }) =
        (&step.world.model, &mut *step.scratch);
    // Errors that were there before the step, or may have been, may take any energy to remove.
    let lasting = &step.history.lasting_errors;
    let is_clean = lasting.known && lasting.errors.is_empty();
    let least = LIFT * stabilisation.slop;
    let lift = if is_clean { least } else { f64::INFINITY };
    let error = if lasting.known { least + lasting.largest() } else { f64::INFINITY };
    for tree in corrector.corrected_trees() {
        let ([kinetic, excess], change) =
            auditor.correction_reduction((&start, lift), tree, next, data);
        // The velocity after the step may not describe its motion.
        let imbalance = if kinetic < LEAST_REDUCTION { 1.0 / kinetic } else { 0.0 };
        step.report.energy.raise([imbalance, 0.0, change], model.trees()[tree].bodies.start);
        let factor = kinetic * excess.max(LEAST_REDUCTION);
        if factor < 1.0 {
            kinematics::slow_down(model, tree, factor, &mut next.v, data);
        }
        let max_speed = stabilisation.max_speed;
        auditor.add_correction(
            (&start, max_speed, error),
            tree,
            next,
            data,
            &mut step.report.energy,
        );
    }
}

/// Trees that moved since the last detection of contacts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// All that do not sleep.
    Awake,
    /// Those that the last correction displaced.
    Displaced,
}

/// Updates kinematics and contacts of the trees that moved; an error if shapes are not resolved there.
fn detect(step: &mut StepContext, moved: Moved) -> Result<(), StepError> {
    let StepContext { world, settings, state, history, scratch, clock, .. } = step;
    let Scratch { next, data, moves, .. } = &mut **scratch;
    if moved == Moved::Awake {
        history.sleep.awake_into(moves);
    }
    kinematics::update_trees(&world.model, &next.q, &next.v, moves, data);
    failure::check_distance(world, data, state.time)?;
    clock.lap(Phase::Kinematics);
    collision::detect_rigid(world, settings, history, scratch);
    clock.lap(Phase::Collision);
    Ok(())
}

/// Measures the position errors at the kinematics and contacts of the next state.
fn measure(step: &mut StepContext) -> PositionErrors {
    let StepContext { world, settings, history, scratch, .. } = step;
    let Scratch { next, data, free, driven, contacts, corrector, .. } = &mut **scratch;
    let context = ConstraintContext::new(&world.model, data, free, history, driven);
    let world = (*world, &history.equality_active[..]);
    let input = CorrectionInput::new(world, settings, next, context, contacts, free);
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
