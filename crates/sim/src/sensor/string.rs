//! Forces of spatial tendons on the bodies along their path, from the tensions of the last step.
//!
//! Along a tendon act its spring and damper, the actuators on it, its limits and dry friction, and
//! the equalities that tie its length.

use nalgebra::Vector3;
use stiction_mech::{BodyId, Data, TendonId, TendonPath};

use super::drive::LastStepForces;
use super::interaction::Wrench;
use super::last_step::LastStep;
use crate::constraint::Equality;
use crate::world::World;

/// Calls `visit(body, wrench, point)` for the forces of tendons on bodies, mean over the step.
pub(super) fn for_each_pull(
    world: &World,
    data: &Data,
    step_forces: &LastStepForces,
    last: &LastStep,
    mut visit: impl FnMut(BodyId, &Wrench, &Vector3<f64>),
) {
    for (index, tendon) in world.model.tendons().iter().enumerate() {
        if !matches!(tendon.spec.path, TendonPath::Spatial(_)) {
            continue;
        }
        let id = TendonId(index);
        let force = step_forces.tendon(id)
            + last.tendon_force[index]
            + equality_tension(world, step_forces, last, id);
        tendon.for_each_pull(data, |body, p_W, pull| {
            visit(body, &Wrench { torque: Vector3::zeros(), force: force * pull }, &p_W);
        });
    }
}

/// Force of equalities along a tendon.
fn equality_tension(
    world: &World,
    step_forces: &LastStepForces,
    last: &LastStep,
    tendon: TendonId,
) -> f64 {
    let mut sum = 0.0;
    for (index, equality) in world.equalities.iter().enumerate() {
        let Equality::Tendon(coupling) = equality else { continue };
        let force = last.equality_force(index, 0);
        if coupling.tendon == tendon {
            sum += force;
        }
        if coupling.leader == Some(tendon) {
            let reference = world.model.tendons()[tendon.0].reference_length;
            let elongation = step_forces.forces.tendon_length[tendon.0] - reference;
            sum -= coupling.polynomial.at(elongation).1 * force;
        }
    }
    sum
}
