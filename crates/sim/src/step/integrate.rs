//! Stage 6: velocities and positions of the next state.

use nalgebra::Vector3;
use stiction_mech::{ForceError, Model, State, integrate as move_positions};

use super::dynamics::step_start;
use super::{Scratch, StepContext, failure};
use crate::error::StepError;
use crate::free_motion::StepStart;
use crate::report::Phase;
use crate::scheme::Scheme;

/// Writes the next state from the solution of the contact problem, and from free motion for the
/// subsystems that are not in it.
pub(super) fn integrate(step: &mut StepContext) -> Result<(), StepError> {
    let StepContext { world, settings, input, state, history, scratch, .. } = step;
    let (model, scheme, h) = (&world.model, settings.scheme, settings.time_step);
    if let Some(tree) = collect_velocities(model, &history.sleep.asleep, Some(scheme), scratch) {
        return Err(failure::singular(world, state.time, tree));
    }
    let (alpha, theta_vq) = (scheme.alpha(), scheme.theta_vq());
    for dof in 0..model.nv() {
        let (old, u) = (state.v[dof], scratch.contact_velocity[dof]);
        scratch.next.v[dof] = (u - (1.0 - alpha) * old) / alpha;
        scratch.position_velocity[dof] = theta_vq * u + (1.0 - theta_vq) * old;
    }
    if scheme == Scheme::Refined {
        use_mean_velocities(model, &state.v, scratch);
    }
    let Scratch { position_velocity, next, .. } = &mut **scratch;
    move_positions(model, &state.q, position_velocity, h, &mut next.q);
    if scheme.advances_trees() {
        let start = step_start(world, settings, state, input, history);
        move_in_flight(&start, scratch).map_err(|source| {
            let time = state.time;
            StepError::Force { time, source }
        })?;
    }
    if let Some(soft) = move_soft_bodies(model, scheme, state, h, scratch) {
        return Err(failure::soft_singular(world, state.time, soft));
    }
    let start = step_start(world, settings, state, input, history);
    scratch.free.advance_activations(&start, &mut scratch.next);
    scratch.next.time = state.time + h;
    failure::check_next(world, &scratch.next, state.time, h)?;
    step.clock.lap(Phase::Integrate);
    Ok(())
}

/// The velocities on which contact laws acted: those of the problem for the trees that take part, free
/// motion for the others. With a scheme, trees that it moves by a rule of its own are left out. Returns
/// a tree whose matrix is singular, if there is one.
pub(super) fn collect_velocities(
    model: &Model,
    asleep: &[bool],
    scheme: Option<Scheme>,
    scratch: &mut Scratch,
) -> Option<usize> {
    let Scratch { assembler, free, solution, contact_velocity, .. } = scratch;
    let mut participants = assembler.trees().iter().peekable();
    for (tree, range) in model.trees().iter().enumerate() {
        let out = &mut contact_velocity[range.dofs.clone()];
        if let Some((_, part)) = participants.next_if(|(participant, _)| *participant == tree) {
            out.copy_from_slice(&solution.velocity[part.clone()]);
        } else if asleep[tree] {
            out.fill(0.0);
        } else if let Some(rod) = model.rod_of_tree(tree) {
            // All segments of a rod move together, with the first.
            let range = &model.rods()[rod.0];
            let out = &mut contact_velocity[range.dofs.clone()];
            if range.trees.start == tree && !free.solve_rod(model, rod.0, out) {
                return Some(tree);
            }
        } else if !scheme.is_some_and(|scheme| free.flies(model, scheme, tree))
            && !free.solve(model, tree, out)
        {
            return Some(tree);
        }
    }
    None
}

/// Moves the bodies and trees on which no constraint rows act: the free rotation of single bodies, and
/// coordinates and velocities of trees together.
fn move_in_flight(start: &StepStart, scratch: &mut Scratch) -> Result<(), ForceError> {
    let StepStart { model, scheme, time_step: h, state, asleep, .. } = *start;
    let Scratch { assembler, free, data, in_flight, contact_velocity, next, .. } = scratch;
    in_flight.clear();
    in_flight.extend(asleep.iter().map(|asleep| !asleep));
    model.rods().iter().for_each(|rod| in_flight[rod.trees.clone()].fill(false));
    assembler.trees().iter().for_each(|(tree, _)| in_flight[*tree] = false);
    let weight = if scheme == Scheme::Refined { 0.5 } else { 1.0 };
    for (index, tree) in model.trees().iter().enumerate() {
        if tree.single && in_flight[index] && scheme != Scheme::Rk4 {
            free.write_flight(model, index, (h, weight), (state, data), next);
        }
    }
    free.fly(start, data, |tree| in_flight[tree], next)?;
    contact_velocity.copy_from_slice(&next.v);
    Ok(())
}

/// Lets positions of free bodies in flight or in lasting contact move with the mean of the old and
/// next velocity.
fn use_mean_velocities(model: &Model, old: &[f64], scratch: &mut Scratch) {
    let Scratch { rows, problem, uses_mean_velocity, position_velocity, .. } = scratch;
    let trees = model.trees();
    uses_mean_velocity.clear();
    uses_mean_velocity.extend(trees.iter().map(|tree| tree.single));
    // A rod is stiff: its strains follow from the next velocity.
    model.rods().iter().for_each(|rod| uses_mean_velocity[rod.trees.clone()].fill(false));
    for (record, constraint) in rows.records().iter().zip(problem.constraints()) {
        if record.lasting {
            continue;
        }
        for tree in rows.ports()[constraint.terms()].iter().filter_map(|port| port.tree()) {
            uses_mean_velocity[tree] = false;
        }
    }
    for (tree, _) in trees.iter().zip(&*uses_mean_velocity).filter(|(_, uses)| **uses) {
        for dof in tree.dofs.clone() {
            position_velocity[dof] = 0.5 * (position_velocity[dof] + old[dof]);
        }
    }
}

/// Velocities on which contact laws acted on soft bodies, and their next positions and velocities.
/// Returns a soft body whose matrix is singular, if there is one.
pub(super) fn move_soft_bodies(
    model: &Model,
    scheme: Scheme,
    old: &State,
    h: f64,
    scratch: &mut Scratch,
) -> Option<usize> {
    let Scratch { assembler, free, solution, soft_velocity, node_contact_velocity, next, .. } =
        scratch;
    let weights = free.soft.weights();
    for (soft, body) in model.softs().iter().enumerate() {
        let part = assembler.softs().iter().find(|(participant, _)| *participant == soft);
        let u = match part {
            Some((_, range)) => &solution.velocity[range.clone()],
            None => {
                soft_velocity.resize(free.soft.momentum(soft).len(), 0.0);
                if !free.soft.solve(model, soft, old, soft_velocity) {
                    return Some(soft);
                }
                &soft_velocity[..]
            }
        };
        let u_nodes = &mut node_contact_velocity[body.nodes.clone()];
        u_nodes.fill(Vector3::zeros());
        for (vertex, u) in free.soft.free_vertices(soft).iter().zip(u.chunks_exact(3)) {
            u_nodes[*vertex as usize] = Vector3::from_column_slice(u);
        }
        let has_fixed = !(body.spec.fixed.is_empty() && body.spec.fixed_axes.is_empty());
        if has_fixed {
            for (u, fixed) in u_nodes.iter_mut().zip(body.fixed_axes()) {
                (0..3).filter(|axis| fixed[*axis]).for_each(|axis| u[axis] = 0.0);
            }
        }
        for node in body.nodes.clone() {
            let (v0, u) = (old.x_dot[node], node_contact_velocity[node]);
            next.x_dot[node] = (u - (1.0 - weights.alpha) * v0) / weights.alpha;
            let speed = weights.moving * u + (1.0 - weights.moving) * v0;
            next.x[node] = old.x[node] + h * speed;
        }
        // In flight the centre of mass moves with the mean velocity, as that of a rigid body.
        if scheme == Scheme::Refined && part.is_none() && !has_fixed {
            let change = body.centre_of_mass(&next.x_dot[body.nodes.clone()])
                - body.centre_of_mass(&old.x_dot[body.nodes.clone()]);
            let shift = -0.5 * h * change;
            next.x[body.nodes.clone()].iter_mut().for_each(|x| *x += shift);
        }
    }
    None
}
