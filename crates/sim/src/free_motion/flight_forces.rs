//! Mean forces of actuators over the substeps of trees without constraint rows, for sensors.

use stiction_mech::{ActuatorId, Model, RowEntry};

use super::{FreeMotion, Trial};
use crate::rows::tree_of_dof;

impl FreeMotion {
    /// Whether the first tree on which an actuator acts takes part in the present substeps.
    fn is_active(&self, model: &Model, actuator: usize) -> bool {
        let row = self.trial.forces.row(self.trial.forces.actuator_row(ActuatorId(actuator)));
        let tree = row.first().map(|entry| tree_of_dof(model, entry.dof));
        tree.is_some_and(|tree| self.flight.active.contains(&tree))
    }

    /// Resets the mean forces of the actuators on active trees.
    pub(super) fn clear_actuator_forces(&mut self, model: &Model) {
        if !self.keeps_actuator_forces {
            return;
        }
        for index in 0..model.actuators().len() {
            if self.is_active(model, index) {
                self.flight.actuator_force[index] = 0.0;
            }
        }
    }

    /// Adds the forces of actuators in a substep to their means: the laws at its midpoint, with the implicit part of
    /// their slopes.
    pub(super) fn add_actuator_forces(&mut self, model: &Model, tau: f64, weight: f64) {
        if !self.keeps_actuator_forces {
            return;
        }
        for (index, actuator) in model.actuators().iter().enumerate() {
            if !self.is_active(model, index) {
                continue;
            }
            let Self { trial: Trial { forces, residual: slope, .. }, flight, .. } = self;
            let spec = &actuator.spec;
            let row = forces.row(forces.actuator_row(ActuatorId(index)));
            let mut force = forces.actuator_force[index];
            let (lower, upper) = spec.force_bounds();
            if let &[RowEntry { dof, coefficient }] = row
                && lower < force
                && force < upper
            {
                let [length, rate] = forces.actuator_slopes[index].map(|slope| slope.min(0.0));
                let length = if spec.law.is_muscle() { 0.0 } else { length };
                let (D, K) = (forces.damping[dof], forces.stiffness[dof]);
                let theta = if D > 0.0 { (slope[dof] - 0.25 * tau * K) / D } else { 0.0 };
                let change = spec.gear * coefficient * flight.change[dof];
                force += (theta * rate + 0.25 * tau * length) * change;
            }
            flight.actuator_force[index] += weight * force;
        }
    }
}
