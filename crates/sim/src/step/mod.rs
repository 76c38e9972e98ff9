//! One step of a simulation: a function per stage, each on the same context.
//!
//! ```text
//! 1 kinematics   q, v            → poses and velocities of bodies
//! 2 collision    poses           → contacts {point, normal, gap, identity}; wakes what is touched
//! 3 dynamics     q, v, x, ẋ, u   → A, b of every tree, rod and soft body
//! 4 assembly     constraints     → rows {law, bias, compliance, Jacobian} → problem
//! 5 solve        warm start      → v, λ, measured residuals
//! 6 integrate    v               → next state, beside the present one
//! 7 missed       next contacts   → contacts without a row: solved again with them
//! 8 correct      next state      → displacements that remove penetration and open loops
//! 9 accept       next state      → the state; warm start, contact forces, sleeping
//! ```
//!
//! The contacts that stages 7 and 8 detect at the next state are those with which the next step starts, so
//! that stages 1 and 2 have nothing to do unless the state was changed from outside. An error in any
//! stage leaves the state as it was.

mod accept;
mod adhesion;
mod assembly;
mod collision;
mod correct;
mod drive_modes;
mod dynamics;
mod failure;
mod integrate;
mod jump;
mod kinematics;
mod missed;
mod part;
mod patches;
mod relinearise;
mod restitution;
mod scratch;
mod slow_motion;
mod solve;
mod start;

pub(crate) use jump::{MAX_JUMP, any_joint_jumps};
pub(crate) use part::StepPart;
pub(crate) use scratch::Scratch;

use stiction_mech::{Input, State};
use stiction_solve::{Goal, Session};

use crate::error::StepError;
use crate::history::StepHistory;
use crate::report::{PhaseClock, StepReport};
use crate::rows::RowParameters;
use crate::settings::Settings;
use crate::world::World;

/// All that the stages of a step read and write.
pub(crate) struct StepContext<'a> {
    pub world: &'a World,
    /// The settings; their time step is the length of the part.
    pub settings: &'a Settings,
    pub part: StepPart,
    pub input: &'a Input,
    /// Memory for an input with the wrenches of adhesion.
    pub pulled_input: Option<&'a mut Input>,
    pub goal: &'a Goal,
    pub session: &'a mut Session,
    /// The present state; changes when the step is accepted.
    pub state: &'a mut State,
    pub history: &'a mut StepHistory,
    pub scratch: &'a mut Scratch,
    /// Results so far.
    pub report: StepReport,
    pub clock: PhaseClock,
}

impl StepContext<'_> {
    /// Inputs of the rows of this step besides positions and velocities.
    fn row_parameters(&self) -> RowParameters {
        let gravity = self.world.model.gravity().norm();
        let friction_model = self.session.friction_model(self.goal);
        RowParameters::new(self.settings, self.part.fraction, gravity, friction_model)
    }
}

/// Advances the state by one time step or a part of it, or returns an error and leaves it as it was. So does a part
/// that is given up, for which nothing is returned.
pub(crate) fn advance(mut step: StepContext) -> Result<Option<StepReport>, StepError> {
    Ok(try_advance(&mut step)?.then_some(step.report))
}

/// A whole step that is accepted as it is, but for energy that its trees gain without cause: they are slowed down.
pub(crate) fn advance_at_once(mut step: StepContext) -> Result<StepReport, StepError> {
    move_to_next(&mut step)?;
    slow_down(&mut step)?;
    accept::accept(&mut step);
    Ok(step.report)
}

/// [`advance`] whose report is left in the context. False for a part that is given up.
pub(crate) fn try_advance(step: &mut StepContext) -> Result<bool, StepError> {
    move_to_next(step)?;
    if step.part.may_be_divided && accept::is_divided(step) {
        return accept_contradicted(step);
    }
    accept::accept(step);
    Ok(true)
}

/// Accepts a motion that is not resolved, slowed down, if step after step constraints contradict one another, so that shorter steps
/// do not help, and no joint jumps. Returns whether it is accepted.
fn accept_contradicted(step: &mut StepContext) -> Result<bool, StepError> {
    if !correct::is_contradicted(step) {
        return Ok(false);
    }
    slow_down(step)?;
    let states = [&*step.state, &step.scratch.next];
    if any_joint_jumps(&step.world.model, states, step.settings.time_step, 1.0) {
        return Ok(false);
    }
    accept::accept(step);
    step.report.unresolved = true;
    Ok(true)
}

/// Takes energy without cause out of the motion.
fn slow_down(step: &mut StepContext) -> Result<(), StepError> {
    if slow_motion::remove_gains(step) {
        correct::detect_next(step)?;
        correct::correct_positions(step)?;
    }
    Ok(())
}

/// The stages up to the next state, corrected and measured.
fn move_to_next(step: &mut StepContext) -> Result<(), StepError> {
    drive_modes::begin(step);
    assemble_problem(step)?;
    solve::solve(step)?;
    integrate::integrate(step)?;
    drive_modes::repeat_where_left(step)?;
    correct::detect_next(step)?;
    missed::solve_with_missed_contacts(step)?;
    correct::correct_positions(step)
}

/// The stages up to the contact problem of the coming step.
pub(crate) fn assemble_problem(step: &mut StepContext) -> Result<(), StepError> {
    kinematics::update(step)?;
    collision::update(step);
    adhesion::update(step);
    dynamics::compute(step)?;
    start::inspect(step);
    assembly::select_contacts(step);
    assembly::assemble(step)
}
