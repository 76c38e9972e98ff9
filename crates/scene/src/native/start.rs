//! The initial state of a scene: reference configuration, keyframes of models, and the values of
//! bodies, joints and actuators.

use nalgebra::Vector3;
use stiction_mech::{ActuatorId, Input, JointId, SoftId, State};
use stiction_sim::World;

use super::SceneBuilder;
use crate::import::Keyframe;

/// Initial value of a joint, a body or an actuator. Ids are those of the builder.
pub(super) enum InitialValue {
    /// Coordinate of a joint that has one [m or rad].
    Coordinate { joint: JointId, value: f64 },
    /// Velocity of a free body: linear in the world [m/s], angular in its own frame [rad/s].
    Velocity { joint: JointId, linear: Vector3<f64>, angular: Vector3<f64> },
    /// Velocity of all vertices of a soft body that are not fixed [m/s].
    SoftVelocity { soft: SoftId, velocity: Vector3<f64> },
    /// Control of an actuator.
    Control { actuator: ActuatorId, value: f64 },
}

/// The state with its controls, in the numbering of the world.
pub(super) fn keyframe(world: &World, scene: &SceneBuilder) -> Keyframe {
    let model = world.model();
    let State { time, q, v, x_dot, .. } = State::new(model);
    let control = vec![0.0; model.nu()];
    let driven = Input::new(model).driven_pose;
    let (name, activation) = ("start".to_owned(), vec![0.0; model.na()]);
    let mut start = Keyframe { name, time, q, v, activation, control, driven, x_dot };
    for part in &scene.parts {
        part.begin(world, &mut start);
    }
    for beginning in &scene.beginnings {
        match beginning {
            InitialValue::Coordinate { joint, value } => {
                if let Some(joint) = model.joint_of_builder(*joint) {
                    start.q[model.joints()[joint.0].q.start] = *value;
                }
            }
            InitialValue::Velocity { joint, linear, angular } => {
                if let Some(joint) = model.joint_of_builder(*joint) {
                    let v = &mut start.v[model.joints()[joint.0].dofs.clone()];
                    v[..3].copy_from_slice(linear.as_slice());
                    v[3..].copy_from_slice(angular.as_slice());
                }
            }
            InitialValue::SoftVelocity { soft, velocity } => {
                let body = &model.softs()[soft.0];
                let moving = start.x_dot[body.nodes.clone()].iter_mut().zip(body.is_fixed());
                for (x_dot, _) in moving.filter(|(_, fixed)| !**fixed) {
                    *x_dot = *velocity;
                }
            }
            InitialValue::Control { actuator, value } => {
                let controls = model.actuators()[actuator.0].controls.clone();
                start.control[controls].iter_mut().take(1).for_each(|control| *control = *value);
            }
        }
    }
    start
}
