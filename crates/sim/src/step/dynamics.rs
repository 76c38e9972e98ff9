//! Stage 3: A and b of every tree, rod and soft body, without constraints.

use stiction_mech::{Input, State};

use super::{StepContext, failure};
use crate::error::StepError;
use crate::free_motion::{FreeMotionError, StepStart};
use crate::history::StepHistory;
use crate::report::Phase;
use crate::settings::Settings;
use crate::world::World;

/// The start of the step.
pub(super) fn step_start<'a>(
    world: &'a World,
    settings: &Settings,
    state: &'a State,
    input: &'a Input,
    history: &'a StepHistory,
) -> StepStart<'a> {
    StepStart {
        model: &world.model,
        scheme: settings.scheme,
        time_step: settings.time_step,
        state,
        input,
        asleep: &history.sleep.asleep,
        contacts: &history.contacts,
    }
}

/// Computes free motion from the present state.
pub(super) fn compute(step: &mut StepContext) -> Result<(), StepError> {
    let StepContext { world, settings, input, state, history, scratch, .. } = step;
    let (model, time) = (&world.model, state.time);
    scratch.free.set_driven_poses(model, &scratch.driven.now);
    let start = step_start(world, settings, state, input, history);
    scratch.auditor.begin(&start, &scratch.data);
    scratch.free.compute(&start, &mut scratch.data).map_err(|error| match error {
        FreeMotionError::Force(source) => StepError::Force { time, source },
        FreeMotionError::Singular { tree } => failure::singular(world, time, tree),
    })?;
    scratch.free.soft.compute(model, state);
    if settings.relinearisations == 0
        && let Some(soft) = scratch.free.soft.iterate(model, state)
    {
        return Err(failure::soft_singular(world, time, soft));
    }
    step.clock.lap(Phase::Dynamics);
    Ok(())
}
