//! Constraints that the start of a run violates.

use super::{Scratch, StepContext};
use crate::constraint::Configuration;
use crate::start_errors::StartInput;

/// Inspects a state that was set from outside; otherwise updates the constraints that yield since the start.
pub(super) fn inspect(step: &mut StepContext) {
    let StepContext { world, settings, state, history, scratch, report, .. } = step;
    let Scratch { data, free, contacts, .. } = &mut **scratch;
    let configuration = Configuration { model: &world.model, q: &state.q, data };
    let equality_active = &history.equality_active;
    let limits = &free.forces.limits;
    let input = StartInput { world, equality_active, configuration, limits, contacts };
    let yielding = &mut history.yielding;
    if !yielding.follows {
        report.start_errors = yielding.begin(&input, settings.stabilisation.start);
    } else if !yielding.keys.is_empty() {
        yielding.update(&input);
    }
}
