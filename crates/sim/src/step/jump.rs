//! Displacements of joints in a step that the velocities before and after it do not explain.

use stiction_mech::{Model, State};

/// Displacement of a joint that needs no explanation: its velocity may rise and fall within a step [m, rad].
pub(crate) const MAX_JUMP: f64 = 0.02;

/// Whether a joint of one velocity moves farther from one state to the next, a time h [s] later, than a multiple of its
/// velocities at these states explains.
pub(crate) fn any_joint_jumps(model: &Model, [old, new]: [&State; 2], h: f64, faster: f64) -> bool {
    let mut single = model.joints().iter().filter(|joint| joint.q.len() == 1);
    single.any(|joint| {
        let (q, dof) = (joint.q.start, joint.dofs.start);
        let speed = faster * old.v[dof].abs().max(new.v[dof].abs());
        (new.q[q] - old.q[q]).abs() > h * speed + MAX_JUMP
    })
}
