//! Forces of actuators in the last step, as the scheme took them.
//!
//! Laws are linear in length and rate, so that the force of a step differs from that of its start by
//! slopes times changes: with slopes that hold back at the end of the step, or with all of them at
//! the state between, where the scheme says so. A saturated actuator gives its bound.

use stiction_mech::{ActuatorId, ActuatorSpec, Forces, JointId, Model};

use crate::scheme::Scheme;

/// Where a step asks the laws, beyond the state from which it begins.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub scheme: Scheme,
    /// [s]; zero where there was no step.
    pub time_step: f64,
    /// Velocities on which the laws acted.
    pub lawful: &'a [f64],
    pub control: &'a [f64],
}

impl Asked<'_> {
    /// Force of an actuator before its gear [N or N·m], from the forces at the start of the step.
    pub fn force(&self, model: &Model, forces: &Forces, actuator: ActuatorId) -> f64 {
        let spec = &model.actuators()[actuator.0].spec;
        let control = spec.clamp_control(self.control[actuator.0]);
        let (length, rate) = (forces.actuator_length[actuator.0], forces.actuator_rate[actuator.0]);
        let next = spec.gear * forces.rate(forces.actuator_row(actuator), self.lawful);
        let (lower, upper) = spec.force_bounds();
        let start = spec.law.force(control, length, rate);
        (start + self.change(spec, rate, next)).clamp(lower, upper)
    }

    /// What the step adds to a force, from the rates before and after.
    fn change(&self, spec: &ActuatorSpec, rate: f64, next: f64) -> f64 {
        let (_, [_, b_length, b_rate]) = spec.law.affine();
        let h = self.time_step;
        if h == 0.0 {
            return 0.0;
        }
        if self.scheme.is_iterated() {
            let (theta, theta_vq) = (self.scheme.theta(), self.scheme.theta_vq());
            let way = theta * h * (theta_vq * next + (1.0 - theta_vq) * rate);
            return b_length * way + b_rate * theta * (next - rate);
        }
        b_length.min(0.0) * h * next + b_rate.min(0.0) * (next - rate)
    }

    /// Force of all actuators on the only coordinate of a joint [N or N·m].
    pub fn on_joint(&self, model: &Model, forces: &Forces, joint: JointId) -> f64 {
        let dof = model.joints()[joint.0].dofs.start;
        let mut sum = 0.0;
        for (index, actuator) in model.actuators().iter().enumerate() {
            let row = forces.row(forces.actuator_row(ActuatorId(index)));
            let entries = row.iter().filter(|entry| entry.dof == dof);
            let coefficient: f64 = entries.map(|entry| entry.coefficient).sum();
            if coefficient != 0.0 {
                let force = self.force(model, forces, ActuatorId(index));
                sum += coefficient * actuator.spec.gear * force;
            }
        }
        sum
    }
}
