//! Trees that gain energy without cause in a step that is not divided: velocities and displacement are reduced together.
//!
//! The displacement of the step stays that of its velocity, so that no coordinate moves farther than states explain.

use stiction_mech::tree_integrate;

use super::{Scratch, StepContext};

/// Reduces the motion of the step such that kinetic energy loses what was gained without cause, for the trees in which rows
/// act. Returns whether there are any; their contacts and errors are to be found again.
pub(super) fn remove_gains(step: &mut StepContext) -> bool {
    let StepContext { world, settings, state, scratch, .. } = step;
    let (model, h) = (&world.model, settings.time_step);
    let Scratch { auditor, in_flight, position_velocity, next, .. } = &mut **scratch;
    let mut is_any_slow = false;
    for (tree, range) in model.trees().iter().enumerate() {
        let factor = auditor.reduction[tree];
        if factor >= 1.0 || in_flight.get(tree).is_some_and(|flies| *flies) {
            continue;
        }
        next.v[range.dofs.clone()].iter_mut().for_each(|v| *v *= factor);
        tree_integrate(model, tree, &state.q, position_velocity, h * factor, &mut next.q);
        is_any_slow = true;
    }
    is_any_slow
}
