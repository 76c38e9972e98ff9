//! Forces of actuators and tendon springs in the last step, as the scheme evaluated them.
//!
//! The force laws are linear in length and rate, so that the force of a step is that at its start plus
//! slopes times changes. The scheme selects the slopes: only the stabilising ones, at the end of the
//! step; all of them, at the state in between; those of rates alone; or none. A saturated actuator
//! exerts its force limit.

use stiction_mech::{ActuatorId, Forces, JointId, Model, TendonId, Transmission};

use crate::scheme::Scheme;

/// Data to evaluate the force laws of actuators and tendons over one step.
#[derive(Clone, Copy)]
pub(super) struct LastStepForces<'a> {
    pub model: &'a Model,
    /// Forces at the start of the step.
    pub forces: &'a Forces,
    pub scheme: Scheme,
    /// Time step [s]; zero if no step was taken.
    pub time_step: f64,
    /// Velocities with which the laws were evaluated.
    pub contact_velocity: &'a [f64],
    /// Mean forces of actuators where they are known; infinite elsewhere.
    pub actuator_force: &'a [f64],
}

/// Slopes of a force over length and rate.
#[derive(Clone, Copy)]
struct Slopes {
    length: f64,
    rate: f64,
}

impl LastStepForces<'_> {
    /// Force of an actuator before its gear [N or N·m].
    pub fn actuator(&self, actuator: ActuatorId) -> f64 {
        let (forces, ActuatorId(index)) = (self.forces, actuator);
        if let Some(mean) = self.actuator_force.get(index).filter(|mean| mean.is_finite()) {
            return *mean;
        }
        let spec = &self.model.actuators()[index].spec;
        let (length, rate) = (forces.actuator_length[index], forces.actuator_rate[index]);
        let next = spec.gear * forces.rate(forces.actuator_row(actuator), self.contact_velocity);
        let (lower, upper) = spec.force_bounds();
        let (start, [length, slope]) =
            spec.law.force_and_slopes(forces.actuator_signal[index], length, rate);
        // Of muscles only the slope over the rate is implicit.
        let length = if spec.law.is_muscle() { 0.0 } else { length };
        let mut slopes = Slopes { length, rate: slope };
        if self.scheme.is_direct() && !(lower < start && start < upper) {
            slopes.rate = 0.0;
        }
        (start + self.change(slopes, rate, next)).clamp(lower, upper)
    }

    /// Force of the spring and the damper of a tendon and of the actuators on it [N or N·m].
    pub fn tendon(&self, id: TendonId) -> f64 {
        let (tendon, forces) = (&self.model.tendons()[id.0], self.forces);
        let (length, rate) = (forces.tendon_length[id.0], forces.tendon_rate[id.0]);
        let stretch = tendon.slack.stretch(length);
        let is_slack = stretch == 0.0 && tendon.slack.lower < tendon.slack.upper;
        let stiffness = if is_slack { 0.0 } else { tendon.spec.stiffness };
        let slopes = Slopes { length: -stiffness, rate: -tendon.spec.damping };
        let next = forces.rate(forces.tendon_row(id), self.contact_velocity);
        let mut sum = slopes.length * stretch + slopes.rate * rate;
        sum += self.change(slopes, rate, next);
        for (index, actuator) in self.model.actuators().iter().enumerate() {
            if actuator.spec.transmission == Transmission::Tendon(id) {
                sum += actuator.spec.gear * self.actuator(ActuatorId(index));
            }
        }
        sum
    }

    /// Sum of the forces of the actuators on a tendon before their gears, as in MuJoCo [N or N·m].
    pub fn of_tendon_actuators(&self, id: TendonId) -> f64 {
        let actuators = self.model.actuators().iter().enumerate();
        let on_it =
            actuators.filter(|(_, found)| found.spec.transmission == Transmission::Tendon(id));
        on_it.map(|(index, _)| self.actuator(ActuatorId(index))).sum()
    }

    /// Force of all actuators on the only coordinate of a joint, within its range [N or N·m].
    pub fn on_joint(&self, JointId(joint): JointId) -> f64 {
        let joint = &self.model.joints()[joint];
        let mut sum = 0.0;
        for (index, actuator) in self.model.actuators().iter().enumerate() {
            let row = self.forces.row(self.forces.actuator_row(ActuatorId(index)));
            let entries = row.iter().filter(|entry| entry.dof == joint.dofs.start);
            let coefficient: f64 = entries.map(|entry| entry.coefficient).sum();
            if coefficient != 0.0 {
                sum += coefficient * actuator.spec.gear * self.actuator(ActuatorId(index));
            }
        }
        joint.spec.actuator_force_range.map_or(sum, |(lower, upper)| sum.clamp(lower, upper))
    }

    /// Change of a force over the step, from the rates before and after.
    fn change(&self, slopes: Slopes, rate: f64, next: f64) -> f64 {
        let (h, scheme) = (self.time_step, self.scheme);
        if h == 0.0 || matches!(scheme, Scheme::Euler | Scheme::Rk4) {
            0.0
        } else if matches!(scheme, Scheme::ImplicitFast | Scheme::ImplicitFull) {
            slopes.rate * (next - rate)
        } else if scheme.is_iterated() {
            let (theta, theta_vq) = (scheme.theta(), scheme.theta_vq());
            let way = theta * h * (theta_vq * next + (1.0 - theta_vq) * rate);
            slopes.length * way + slopes.rate * theta * (next - rate)
        } else {
            slopes.length.min(0.0) * h * next + slopes.rate.min(0.0) * (next - rate)
        }
    }
}
