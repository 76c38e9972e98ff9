//! Stage 1: poses and velocities of bodies at the start of the step.

use stiction_mech::{Data, Model, set_driven_poses, tree_kinematics, tree_velocities};

use super::{Scratch, StepContext, failure};
use crate::error::StepError;
use crate::history::StepHistory;
use crate::report::Phase;
use crate::world::World;

/// Sets the targets of driven bodies, and updates the kinematics unless the last step left those of
/// the present state. A state that was changed from outside is checked first.
pub(super) fn update(step: &mut StepContext) -> Result<(), StepError> {
    let StepContext { world, settings, part, input, state, history, scratch, .. } = step;
    let h = settings.time_step;
    scratch.driven.set_target(&input.driven_pose, h, part.remaining);
    if !history.yielding.follows {
        // The energies of another motion are no measure for this one.
        history.energy_drift.fill(Default::default());
    }
    // The last step detected contacts before the targets of driven bodies were known.
    history.detection_is_current &= !driven_bodies_exceed_reach(world, scratch, history, h);
    if history.detection_is_current {
        return Ok(());
    }
    state.normalise_quaternions(&world.model);
    failure::check_start(world, state)?;
    scratch.auditor.forget_start();
    set_driven_poses(&world.model, &scratch.driven.now, &mut scratch.data);
    history.sleep.awake_into(&mut scratch.moves);
    update_trees(&world.model, &state.q, &state.v, &scratch.moves, &mut scratch.data);
    failure::check_distance(world, &scratch.data, state.time)?;
    step.clock.lap(Phase::Kinematics);
    Ok(())
}

/// Poses and velocities of the trees that move.
pub(super) fn update_trees(model: &Model, q: &[f64], v: &[f64], moves: &[bool], data: &mut Data) {
    for tree in (0..moves.len()).filter(|tree| moves[*tree]) {
        tree_kinematics(model, tree, q, data);
        tree_velocities(model, tree, v, data);
    }
}

/// Multiplies the velocities of a tree by a factor.
pub(super) fn slow_down(model: &Model, tree: usize, factor: f64, v: &mut [f64], data: &mut Data) {
    v[model.trees()[tree].dofs.clone()].iter_mut().for_each(|v| *v *= factor);
    tree_velocities(model, tree, v, data);
}

/// Whether a driven body travels farther within the step than its contacts were detected.
fn driven_bodies_exceed_reach(
    world: &World,
    scratch: &Scratch,
    history: &StepHistory,
    h: f64,
) -> bool {
    let mut driven = world.model.driven().iter().enumerate();
    driven
        .any(|(k, body)| scratch.driven.travel(k, world.radius[body.0], h) > history.reach[body.0])
}
