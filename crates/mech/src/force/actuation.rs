//! Forces of actuators: MuJoCo's affine law through gear and transmission.
//!
//! Seen along the transmission's row, the law has stiffness −b₁ gear² and damping −b₂ gear². What
//! of these holds back is taken implicitly; what drives on (a slope of the other sign) is explicit,
//! because an implicit step must not take away from the mass matrix.

use super::Forces;
use super::drive::{Drive, DriveKind};
use crate::actuator::{ActuatorId, Place};
use crate::data::Data;
use crate::force::Input;
use crate::jacobian::for_each_column;
use crate::joint::quaternion;
use crate::model::Model;
use crate::spatial::{angular, linear};

impl Forces {
    /// Evaluates every actuator; needs the tendons' lengths and rates.
    pub(super) fn actuators(
        &mut self,
        model: &Model,
        (q, v): (&[f64], &[f64]),
        data: &Data,
        input: &Input,
    ) {
        for (index, actuator) in model.actuators().iter().enumerate() {
            let (spec, row) = (&actuator.spec, self.layout.actuators[index]);
            let (length, rate) = match actuator.place {
                Place::Scalar { q: coordinate, dof } => (q[coordinate], v[dof]),
                Place::Rotation { quaternion: at, component, dof } => {
                    let turned = quaternion::log(&quaternion::read(&q[at..at + 4]));
                    (turned[component], v[dof])
                }
                Place::Tendon(tendon) => (self.tendon_length[tendon], self.tendon_rate[tendon]),
                Place::Body { body, point, wrench } => {
                    let X_WB = &data.body_pose[body.0];
                    let p_W = X_WB.translation.vector + X_WB.rotation * point;
                    let torque = X_WB.rotation * angular(&wrench);
                    let force = X_WB.rotation * linear(&wrench);
                    // The layout lists the same velocities in the same order.
                    let mut entries = self.entries[row.start..row.end].iter_mut();
                    for_each_column(model, data, body, p_W, |_, turning, moving| {
                        if let Some(entry) = entries.next() {
                            entry.coefficient = torque.dot(&turning) + force.dot(&moving);
                        }
                    });
                    (0.0, self.rate(row, v))
                }
            };

            let gear = spec.gear;
            let (length, rate) = (gear * length, gear * rate);
            let force = spec.law.force(spec.clamp_control(input.control[index]), length, rate);
            let (lower, upper) = spec.force_bounds();
            let bounded = force.clamp(lower, upper);
            self.actuator_length[index] = length;
            self.actuator_rate[index] = rate;
            self.actuator_force[index] = bounded;
            if gear == 0.0 {
                continue;
            }

            let (_, [_, b_length, b_rate]) = spec.law.affine();
            let stiffness = gear * gear * (-b_length).max(0.0);
            let damping = gear * gear * (-b_rate).max(0.0);
            if stiffness == 0.0 && damping == 0.0 {
                self.push(row, gear * bounded);
                continue;
            }
            let (lower, upper) = (gear * lower, gear * upper);
            self.drive(Drive {
                kind: DriveKind::Servo(ActuatorId(index)),
                row,
                force: gear * force,
                rate: rate / gear,
                stiffness,
                damping,
                lower: lower.min(upper),
                upper: lower.max(upper),
            });
        }
    }
}
