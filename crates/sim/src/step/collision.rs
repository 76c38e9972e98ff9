//! Stage 2: contacts, and waking of the islands that they touch.

use stiction_geom::{DetectionReach, FrameMotion};
use stiction_mech::{BodyId, State, angular_velocity, point_velocity};

use super::{Scratch, StepContext};
use crate::contacts::welded;
use crate::history::StepHistory;
use crate::report::Phase;
use crate::rows::contact::REACH_FACTOR;
use crate::settings::Settings;
use crate::world::World;

/// Gap up to which shapes have all the contacts of the area that they share, in slops [-]: well beyond touching. Whether shapes
/// farther apart meet depends on their motion, and at their meeting all contacts are found again.
const PATCH: f64 = 10.0;

/// Detects the contacts of the present state unless the last step did, and wakes the islands that
/// moving bodies touch.
pub(super) fn update(step: &mut StepContext) {
    let StepContext { world, settings, state, history, scratch, .. } = step;
    if !history.detection_is_current {
        history.sleep.awake_into(&mut scratch.moves);
        detect_rigid(world, settings, history, scratch);
        detect_soft(world, state, settings.time_step, &history.reach, scratch);
        detect_patches(world, scratch);
        history.detection_is_current = true;
        step.clock.lap(Phase::Collision);
    }
    if let Some(sleep) = settings.sleep {
        let Scratch { data, soft_detector, patch_detector, waking, .. } = &mut **scratch;
        let contacts = history.detected.iter().map(|contact| [contact.a, contact.b]);
        let patches = patch_detector.patches().iter().map(|patch| [patch.a, patch.b]);
        history.sleep.wake_touched(world, contacts.chain(patches), data, sleep, waking);
        history.sleep.wake_near_soft(world, soft_detector.contacts(), waking);
    }
}

/// Contacts of rigid shapes at the poses in the data.
pub(super) fn detect_rigid(
    world: &World,
    settings: &Settings,
    history: &mut StepHistory,
    scratch: &mut Scratch,
) {
    update_reach(world, settings.time_step, history, scratch);
    let StepHistory { detected, reach, .. } = history;
    let Scratch { detector, data, resting, motions, .. } = scratch;
    let patch = PATCH * settings.stabilisation.slop;
    let reach = DetectionReach { frames: reach, motions, patch };
    detector.detect_into(&world.colliders, &data.body_pose, reach, resting, detected);
    replace_flush(world, settings.stabilisation.slop, history, scratch);
}

/// Gives the contacts with shapes that are flush with one another the same normal.
pub(super) fn replace_flush(
    world: &World,
    slop: f64,
    history: &StepHistory,
    scratch: &mut Scratch,
) {
    let Scratch { flush, data, contacts, .. } = scratch;
    flush.replace(world, data, &history.detected, slop, &history.reach, contacts);
    welded::remove_contacts(world, &history.equality_active, contacts);
}

/// Distance that each body can travel within the step and its motion, and which bodies rest: those whose trees
/// did not move keep their reach.
fn update_reach(world: &World, h: f64, history: &mut StepHistory, scratch: &mut Scratch) {
    let (model, gravity) = (&world.model, world.model.gravity().norm());
    let Scratch { data, driven, resting, moves, motions, .. } = scratch;
    let slack = REACH_FACTOR * h * h * gravity;
    for link in model.links() {
        let tree = model.bodies()[link.body].tree.unwrap_or(0);
        resting[link.body] = !moves[tree];
        if resting[link.body] {
            continue;
        }
        let body = BodyId(link.body);
        let p_WB = data.body_pose[link.body].translation.vector;
        let shift = REACH_FACTOR * h * point_velocity(model, data, body, p_WB);
        let turn = REACH_FACTOR * h * angular_velocity(data, body);
        history.reach[link.body] = shift.norm() + turn.norm() * world.radius[link.body] + slack;
        let group = 1 + tree as u32;
        let is_guided = !model.trees()[tree].single;
        motions[link.body] = FrameMotion { shift, turn, group, slack, is_guided };
    }
    for (k, body) in model.driven().iter().enumerate() {
        history.reach[body.0] = REACH_FACTOR * driven.travel(k, world.radius[body.0], h);
    }
}

/// Patches of compliant shapes at the poses in the data.
pub(super) fn detect_patches(world: &World, scratch: &mut Scratch) {
    let Scratch { patch_detector, data, .. } = scratch;
    patch_detector.detect(&world.colliders, &world.pressure, &data.body_pose, &[]);
}

/// Contacts of soft bodies at a state whose poses are in the data. `reach` is that of rigid bodies [m].
pub(super) fn detect_soft(
    world: &World,
    state: &State,
    h: f64,
    reach: &[f64],
    scratch: &mut Scratch,
) {
    if world.model.nodes() == 0 {
        return;
    }
    let fall = h * world.model.gravity().norm();
    let Scratch { soft_detector, data, node_reach, .. } = scratch;
    for (node_reach, v) in node_reach.iter_mut().zip(&state.x_dot) {
        *node_reach = REACH_FACTOR * h * (v.norm() + fall);
    }
    let (colliders, surfaces) = (&world.colliders, &world.softs.surfaces);
    soft_detector.detect(colliders, surfaces, &data.body_pose, &state.x, reach, node_reach);
}
