//! Adhesion: actuators that pull at the contacts of a body.
//!
//! The force of an actuator is shared by the contacts of its body that touch; each pulls the two bodies together along
//! its normal. The wrenches are added to those of the input, so that all later stages treat them as applied
//! forces. Contacts are those at the start of the step.

use nalgebra::{Vector3, Vector6};
use stiction_geom::Contact;
use stiction_mech::{Data, Input, Transmission};

use super::StepContext;
use crate::world::World;

/// Replaces the input of the step by one with the wrenches of adhesion, if there is any.
pub(super) fn update(step: &mut StepContext) {
    let (world, slop) = (step.world, step.settings.stabilisation.slop);
    let adheres = |spec: &Transmission| matches!(spec, Transmission::Contacts(_));
    if !world.model.actuators().iter().any(|actuator| adheres(&actuator.spec.transmission)) {
        return;
    }
    let Some(pulled) = step.pulled_input.take() else { return };
    pulled.clone_from(step.input);
    // A control that is not a number is refused by the evaluation of forces.
    for actuator in world.model.actuators() {
        let (spec, Transmission::Contacts(body)) = (&actuator.spec, actuator.spec.transmission)
        else {
            continue;
        };
        let controls = step.input.control.get(actuator.controls.clone()).unwrap_or_default();
        let signal = spec.signal(controls, &step.state.activation[actuator.activations.clone()]);
        let (lower, upper) = spec.force_bounds();
        let force = spec.gear * spec.law.force(signal, 0.0, 0.0).clamp(lower, upper);
        let touches = |contact: &&Contact| {
            let bodies = world.bodies_of(contact);
            bodies.contains(&body.0) && contact.gap <= slop + world.standoff(contact)
        };
        let contacts = || step.scratch.contacts.iter().filter(touches);
        let count = contacts().count();
        if count == 0 || !force.is_finite() {
            continue;
        }
        for contact in contacts() {
            let pull = contact.normal * (force / count as f64);
            let [a, b] = world.bodies_of(contact);
            add_wrench(world, &step.scratch.data, a, (&contact.point, pull), pulled);
            add_wrench(world, &step.scratch.data, b, (&contact.point, -pull), pulled);
        }
    }
    step.input = pulled;
}

/// Adds a force at a point of the world to the wrench on a body, which acts at its centre of mass.
fn add_wrench(
    world: &World,
    data: &Data,
    body: usize,
    (point, force): (&Vector3<f64>, Vector3<f64>),
    input: &mut Input,
) {
    let X_WB = &data.body_pose[body];
    let com = world.model.bodies()[body].spec.mass.map_or(Vector3::zeros(), |mass| mass.com());
    let torque = (point - X_WB.translation.vector - X_WB.rotation * com).cross(&force);
    if let Some(wrench) = input.wrench.get_mut(body) {
        *wrench += Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
    }
}
