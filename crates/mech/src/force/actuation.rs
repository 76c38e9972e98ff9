//! Forces of actuators: a law through gear and transmission.
//!
//! Along the transmission's row, an affine law has stiffness −b₁ gear² and damping −b₂ gear². Positive
//! stiffness and damping are implicit; negative ones are explicit, because an implicit step must not
//! subtract from the mass matrix. Of muscles the damping is implicit, linearised at the present state; that
//! of muscles on several velocities is listed apart ([`Forces::muscle_slopes`]): there may be hundreds.
//!
//! The sum of all actuator forces on a joint is clamped to the joint's force range. For a single
//! actuator on the joint the range is a bound of its drive. For several, the sum at the present state
//! is clamped, and their stiffness and damping are used only while the sum is inside the range. The forces of all
//! actuators on a tendon are scaled so that their sum, before gears and their own ranges, is in the tendon's range.

use super::Forces;
use super::drive::{Drive, DriveKind, RowEntry};
use super::layout::RangeSharing;
use crate::actuator::{Actuator, ActuatorId, ActuatorSpec, ResolvedTransmission};
use crate::data::Data;
use crate::force::Input;
use crate::jacobian::for_each_column;
use crate::joint::quaternion;
use crate::model::Model;
use crate::spatial::{angular, linear};

impl Forces {
    /// Sets the signals of the force laws.
    pub(super) fn set_signals(&mut self, model: &Model, activation: &[f64], input: &Input) {
        let signals = self.actuator_signal.iter_mut().zip(&self.layout.scalar_actuators);
        for ((signal, scalar), actuator) in signals.zip(model.actuators()) {
            if let Some(scalar) = scalar {
                *signal = scalar.signal(&input.control);
                continue;
            }
            let control = input.control.get(actuator.controls.clone()).unwrap_or_default();
            let activation = activation.get(actuator.activations.clone()).unwrap_or_default();
            *signal = actuator.spec.signal(control, activation);
        }
    }

    /// Adds the forces of all actuators. Needs the tendons' lengths and rates.
    pub(super) fn add_actuators(&mut self, model: &Model, (q, v): (&[f64], &[f64]), data: &Data) {
        if model.actuators().is_empty() {
            return;
        }
        self.actuation.fill(0.0);
        self.find_tendon_shares(model);
        for (index, actuator) in model.actuators().iter().enumerate() {
            if self.add_scalar_actuator(index, q, v) {
                continue;
            }
            let (length, rate) = self.measure(model, index, (q, v), data);
            let spec = &actuator.spec;
            let (length, rate) = (spec.gear * length, spec.gear * rate);
            let signal = self.actuator_signal[index];
            let (mut force, mut slopes) = spec.law.force_and_slopes(signal, length, rate);
            if let ResolvedTransmission::Tendon(tendon) = actuator.resolved {
                let share = self.tendon_share[tendon];
                if share != 1.0 {
                    // The sum is at an end of its range, whatever the lengths and rates are.
                    (force, slopes) = (share * force, [0.0; 2]);
                }
            }
            let (lower, upper) = spec.force_bounds();
            self.actuator_length[index] = length;
            self.actuator_rate[index] = rate;
            self.actuator_slopes[index] = slopes;
            self.actuator_force[index] = force.clamp(lower, upper);
            if spec.gear != 0.0 {
                self.add_actuator(index, actuator, force);
            }
        }
        self.clamp_shared_ranges(model);
    }

    /// Finds the share of the forces of a tendon's actuators that keeps their sum in the tendon's range.
    fn find_tendon_shares(&mut self, model: &Model) {
        if model.tendons().iter().all(|tendon| tendon.spec.actuator_force_range.is_none()) {
            return;
        }
        self.tendon_share.fill(0.0);
        for (index, actuator) in model.actuators().iter().enumerate() {
            let ResolvedTransmission::Tendon(tendon) = actuator.resolved else { continue };
            let (spec, signal) = (&actuator.spec, self.actuator_signal[index]);
            let (length, rate) = (self.tendon_length[tendon], self.tendon_rate[tendon]);
            let (length, rate) = (spec.gear * length, spec.gear * rate);
            self.tendon_share[tendon] += spec.law.force_and_slopes(signal, length, rate).0;
        }
        for (share, tendon) in self.tendon_share.iter_mut().zip(model.tendons()) {
            let sum = *share;
            *share = match tendon.spec.actuator_force_range {
                Some((lower, upper)) if sum < lower || sum > upper => sum.clamp(lower, upper) / sum,
                _ => 1.0,
            };
        }
    }

    /// Length and rate of a transmission, before the gear. Fills the coefficients of rows of its own.
    fn measure(
        &mut self,
        model: &Model,
        index: usize,
        (q, v): (&[f64], &[f64]),
        data: &Data,
    ) -> (f64, f64) {
        match model.actuators()[index].resolved {
            ResolvedTransmission::Scalar { q: coordinate, dof } => (q[coordinate], v[dof]),
            ResolvedTransmission::Rotation { quaternion: at, component, dof } => {
                let rotation_vector = quaternion::log(&quaternion::read(&q[at..at + 4]));
                (rotation_vector[component], v[dof])
            }
            ResolvedTransmission::JointWrench(wrench) => {
                let row = self.layout.actuators[index];
                let joint = &model.joints()[wrench.joint.0];
                let scalars = joint.dofs.len() - 3;
                let rotation = quaternion::read(&q[joint.q.start + scalars..]);
                let torque = if wrench.in_parent {
                    rotation.inverse_transform_vector(&wrench.torque)
                } else {
                    wrench.torque
                };
                let coefficients = wrench.force.iter().take(scalars).chain(torque.iter());
                for (entry, coefficient) in
                    self.entries[row.start..row.end].iter_mut().zip(coefficients)
                {
                    entry.coefficient = *coefficient;
                }
                let length =
                    if scalars == 0 { quaternion::log(&rotation).dot(&torque) } else { 0.0 };
                (length, self.rate(row, v))
            }
            ResolvedTransmission::Tendon(tendon) => {
                (self.tendon_length[tendon], self.tendon_rate[tendon])
            }
            ResolvedTransmission::Sites(pair) => {
                let row = self.layout.actuators[index];
                // The layout lists the same velocities in the same order.
                let mut entries = self.entries[row.start..row.end].iter_mut();
                let length = pair.measure(model, data, |_, rate| {
                    if let Some(entry) = entries.next() {
                        entry.coefficient = rate;
                    }
                });
                (length, self.rate(row, v))
            }
            ResolvedTransmission::SliderCrank(pair) => {
                let row = self.layout.actuators[index];
                let mut entries = self.entries[row.start..row.end].iter_mut();
                let length = pair.measure(model, data, |_, rate| {
                    if let Some(entry) = entries.next() {
                        entry.coefficient = rate;
                    }
                });
                (length, self.rate(row, v))
            }
            ResolvedTransmission::Contacts => (0.0, 0.0),
            ResolvedTransmission::Body { body, point, wrench } => {
                let row = self.layout.actuators[index];
                let X_WB = &data.body_pose[body.0];
                let p_WP = X_WB.translation.vector + X_WB.rotation * point;
                let torque_W = X_WB.rotation * angular(&wrench);
                let force_W = X_WB.rotation * linear(&wrench);
                // The layout lists the same velocities in the same order.
                let mut entries = self.entries[row.start..row.end].iter_mut();
                for_each_column(model, data, body, p_WP, |_, angular, linear| {
                    if let Some(entry) = entries.next() {
                        entry.coefficient = torque_W.dot(&angular) + force_W.dot(&linear);
                    }
                });
                (0.0, self.rate(row, v))
            }
        }
    }

    /// Adds the force of an actuator, given before its bounds and its gear.
    fn add_actuator(&mut self, index: usize, actuator: &Actuator, force: f64) {
        let (spec, row) = (&actuator.spec, self.layout.actuators[index]);
        let (gear, bounded) = (spec.gear, self.actuator_force[index]);
        let (least, most) = spec.force_bounds();
        let (lower, upper) = ((gear * least).min(gear * most), (gear * least).max(gear * most));
        let (row_force, lower, upper) = match self.layout.shares[index] {
            RangeSharing::Exclusive { lower: least, upper: most } => {
                let clamp = |force: f64| force.clamp(least, most);
                (clamp(gear * bounded), clamp(lower), clamp(upper))
            }
            _ => (gear * bounded, lower, upper),
        };
        for entry in row.of(&self.entries) {
            self.actuation[entry.dof] += entry.coefficient * row_force;
        }
        if self.layout.shares[index] == RangeSharing::Shared {
            return;
        }
        let [stiffness, damping] = self.implicit_slopes(spec, index);
        if stiffness == 0.0 && damping == 0.0 {
            self.add_explicit(row, row_force);
        } else if spec.law.is_muscle() && row.end != row.start + 1 {
            self.add_explicit(row, row_force);
            if least < force && force < most {
                self.muscle_slopes.push((row, -damping));
            }
        } else {
            self.add_drive(Drive {
                kind: DriveKind::Servo(ActuatorId(index)),
                row,
                force: gear * force,
                rate: self.actuator_rate[index] / gear,
                stiffness,
                damping,
                lower,
                upper,
            });
        }
    }

    /// Stiffness and damping of an actuator along its row that a step treats implicitly; negative values are
    /// replaced by zero, and the stiffness of muscles is explicit.
    fn implicit_slopes(&self, spec: &ActuatorSpec, index: usize) -> [f64; 2] {
        let [length, rate] = self.actuator_slopes[index];
        let length = if spec.law.is_muscle() { 0.0 } else { length };
        [length, rate].map(|slope| spec.gear * spec.gear * (-slope).max(0.0))
    }

    /// Adds the explicit forces of actuators that share the force range of a joint.
    fn clamp_shared_ranges(&mut self, model: &Model) {
        for index in 0..self.layout.actuators.len() {
            if self.layout.shares[index] != RangeSharing::Shared {
                continue;
            }
            let spec = &model.actuators()[index].spec;
            let (row, force) = (self.layout.actuators[index], self.actuator_force[index]);
            let (least, most) = spec.force_bounds();
            let is_linear = least < force && force < most;
            for k in row.start..row.end {
                let RowEntry { dof, coefficient } = self.entries[k];
                match self.layout.shared_range(dof) {
                    None => self.generalized[dof] += coefficient * spec.gear * force,
                    Some((lower, upper)) => {
                        let sum = self.actuation[dof];
                        if is_linear && row.end == row.start + 1 && lower < sum && sum < upper {
                            let [stiffness, damping] = self.implicit_slopes(spec, index);
                            self.stiffness[dof] += coefficient * coefficient * stiffness;
                            self.damping[dof] += coefficient * coefficient * damping;
                        }
                    }
                }
            }
        }
        for &(dof, lower, upper) in &self.layout.shared_ranges {
            self.actuation[dof] = self.actuation[dof].clamp(lower, upper);
            self.generalized[dof] += self.actuation[dof];
        }
    }

    /// Adds servos with bounds that act on single velocities to [`Forces::generalized`] and to the diagonals, and
    /// removes their drives: within its bounds a servo is linear, outside it exerts the bound.
    pub fn take_single_servos_linearly(&mut self) {
        let Self { generalized, stiffness, damping, drives, entries, .. } = self;
        drives.retain(|drive| {
            let &[RowEntry { dof, coefficient }] = drive.row.of(entries) else { return true };
            if !matches!(drive.kind, DriveKind::Servo(_)) {
                return true;
            }
            generalized[dof] += coefficient * drive.present_force();
            if drive.lower < drive.force && drive.force < drive.upper {
                stiffness[dof] += coefficient * coefficient * drive.stiffness;
                damping[dof] += coefficient * coefficient * drive.damping;
            }
            false
        });
    }

    /// Adds the present forces of springs, dampers and servos to [`Forces::generalized`] and removes
    /// their drives, for steps that treat them explicitly. Only dry friction remains among the drives.
    pub fn take_drives_explicitly(&mut self) {
        let Self { generalized, drives, entries, .. } = self;
        drives.retain(|drive| {
            if drive.kind.is_dry_friction() {
                return true;
            }
            let force = drive.present_force();
            for entry in drive.row.of(entries) {
                generalized[entry.dof] += entry.coefficient * force;
            }
            false
        });
    }

    /// Calls `visit(row, slope)` for every force that depends on the rate of a row, except the dampers
    /// of joints: drag, dampers of tendons, and actuators that are at an end neither of their own force
    /// range nor of that of their joint. The slope is ∂force/∂rate [N·s/m or N·m·s/rad], of either
    /// sign.
    pub fn rate_slopes(&self, model: &Model, mut visit: impl FnMut(&[RowEntry], f64)) {
        for (row, slope) in self.drag_rows() {
            visit(row.of(&self.entries), slope);
        }
        for (tendon, row) in model.tendons().iter().zip(&self.layout.tendons) {
            if tendon.spec.damping != 0.0 {
                visit(row.of(&self.entries), -tendon.spec.damping);
            }
        }
        for (index, actuator) in model.actuators().iter().enumerate() {
            let spec = &actuator.spec;
            let [_, b_rate] = self.actuator_slopes[index];
            let (lower, upper) = spec.force_bounds();
            let force = self.actuator_force[index];
            let clamped = match actuator.resolved {
                ResolvedTransmission::Scalar { dof, .. } => {
                    let range = match self.layout.shares[index] {
                        RangeSharing::Exclusive { lower, upper } => Some((lower, upper)),
                        _ => self.layout.shared_range(dof),
                    };
                    let sum = self.actuation[dof];
                    range.is_some_and(|(lower, upper)| !(lower < sum && sum < upper))
                }
                _ => false,
            };
            if b_rate != 0.0 && lower < force && force < upper && !clamped {
                let slope = spec.gear * spec.gear * b_rate;
                visit(self.layout.actuators[index].of(&self.entries), slope);
            }
        }
    }

    /// Damping of the joints [N·s/m, N·m·s/rad]; per dof.
    pub fn joint_damping(&self) -> &[f64] {
        &self.layout.damping
    }
}
