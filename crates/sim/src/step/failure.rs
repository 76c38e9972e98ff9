//! Checks of states, and errors of a step in terms of joints and soft bodies.

use nalgebra::Vector3;
use stiction_mech::{Data, State};
use stiction_solve::ProblemError;

use crate::error::StepError;
use crate::problem_assembly::ProblemAssembler;
use crate::world::World;

/// Checks a state from which a step starts.
pub(super) fn check_start(world: &World, state: &State) -> Result<(), StepError> {
    let time = state.time;
    state.check(&world.model).map_err(|source| StepError::State { time, source })?;
    match too_large(world, state) {
        Some((what, soft, vertex, found)) => {
            Err(StepError::SoftTooLarge { time, what, soft, vertex, found })
        }
        None => Ok(()),
    }
}

/// Checks that the next state is finite.
pub(super) fn check_next(
    world: &World,
    next: &State,
    time: f64,
    time_step: f64,
) -> Result<(), StepError> {
    let is_finite = |array: &[f64]| array.iter().fold(true, |all, x| all & x.is_finite());
    let joints = if is_finite(&next.v) && is_finite(&next.q) { &[] } else { world.model.joints() };
    for joint in joints {
        let arrays =
            [("velocity", &next.v[joint.dofs.clone()]), ("position", &next.q[joint.q.clone()])];
        for (what, array) in arrays {
            if let Some(found) = array.iter().find(|x| !x.is_finite()) {
                let joint = joint_name(world, joint);
                return Err(StepError::NotFinite { time, time_step, what, joint, found: *found });
            }
        }
    }
    if let Some(index) = next.activation.iter().position(|x| !x.is_finite()) {
        let found = next.activation[index];
        return Err(StepError::ActivationNotFinite { time, time_step, index, found });
    }
    if let Some((what, soft, vertex, found)) = too_large(world, next) {
        return Err(StepError::SoftNotFinite { time, time_step, what, soft, vertex, found });
    }
    Ok(())
}

/// Round-off of a coordinate, relative to the size of a body's shapes, above which these are not
/// resolved [-].
const LOST: f64 = 1e-2;

/// Largest coordinate [m] at which shapes of a size [m] are resolved.
fn farthest(size: f64) -> f64 {
    size * (LOST / f64::EPSILON)
}

/// The first body whose shapes are not resolved where it is.
fn too_far(world: &World, data: &Data) -> Option<usize> {
    let links = world.model.links().iter().map(|link| link.body);
    let mut bodies = links.chain(world.model.driven().iter().map(|body| body.0));
    bodies.find(|&body| {
        let size = world.radius[body];
        // A place that is not a number is none.
        size > 0.0 && !(data.body_pose[body].translation.vector.amax() <= farthest(size))
    })
}

/// Checks that the shapes of all bodies are resolved where they are.
pub(super) fn check_distance(world: &World, data: &Data, time: f64) -> Result<(), StepError> {
    let Some(body) = too_far(world, data) else { return Ok(()) };
    let size = world.radius[body];
    Err(StepError::TooFar {
        time,
        body: world.model.bodies()[body].spec.name.clone(),
        distance: data.body_pose[body].translation.vector.amax(),
        size,
        most: farthest(size),
    })
}

/// Finds a number of a soft body whose square is not finite: its quantity, body, vertex and value. Contact
/// laws and energies square velocities, and distances positions.
fn too_large(world: &World, state: &State) -> Option<(&'static str, String, usize, f64)> {
    let wrong = |x: &Vector3<f64>| x.iter().copied().find(|x| !(x * x).is_finite());
    for soft in world.model.softs() {
        let nodes = soft.nodes.clone();
        for (what, array) in
            [("velocity", &state.x_dot[nodes.clone()]), ("position", &state.x[nodes])]
        {
            let found = array.iter().enumerate().find_map(|(k, x)| Some((k, wrong(x)?)));
            if let Some((vertex, found)) = found {
                return Some((what, soft.spec.name.clone(), vertex, found));
            }
        }
    }
    None
}

/// The error of a tree whose mass matrix is singular.
pub(super) fn singular(world: &World, time: f64, tree: usize) -> StepError {
    let joint = &world.model.joints()[world.model.trees()[tree].joints.start];
    StepError::Singular { time, joint: joint_name(world, joint) }
}

/// The error of a soft body whose matrix is singular.
pub(super) fn soft_singular(world: &World, time: f64, soft: usize) -> StepError {
    StepError::SoftSingular { time, soft: world.model.softs()[soft].spec.name.clone() }
}

/// The error of a problem that could not be assembled, with subsystems named as joints or soft bodies.
pub(super) fn not_assembled(
    world: &World,
    assembler: &ProblemAssembler,
    time: f64,
    source: ProblemError,
) -> StepError {
    let subsystem = match source {
        ProblemError::NotPositiveDefinite { subsystem } => subsystem,
        ProblemError::NotFinite { owner: "subsystem", index, .. } => index,
        _ => return StepError::Problem { time, source },
    };
    let is_singular = matches!(source, ProblemError::NotPositiveDefinite { .. });
    let mut trees = assembler.trees().iter().map(|part| part.0);
    if let Some(tree) = trees.find(|tree| assembler.subsystem_of(*tree) == subsystem)
        && is_singular
    {
        return singular(world, time, tree);
    }
    let mut softs = assembler.softs().iter().map(|part| part.0);
    match softs.find(|soft| assembler.subsystem_of_soft(*soft) == subsystem) {
        Some(soft) => soft_singular(world, time, soft),
        None => StepError::Problem { time, source },
    }
}

/// The name of a joint, or of its body if it has none.
fn joint_name(world: &World, joint: &stiction_mech::Joint) -> String {
    if !joint.spec.name.is_empty() {
        return joint.spec.name.clone();
    }
    let name = &world.model.bodies()[joint.body].spec.name;
    if name.is_empty() { format!("body {}", joint.body) } else { name.clone() }
}
