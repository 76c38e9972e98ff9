//! Actuators on one coordinate whose force is linear in control, length and rate: most servos and motors of robots.
//!
//! All that their forces need is constant but for control, coordinate and velocity, and stands side by side.

use super::Forces;
use super::drive::{Drive, DriveKind, ForceRow};
use super::layout::{RangeSharing, of_dof};
use crate::actuator::{Actuator, ActuatorId, ResolvedTransmission};

/// The constants of such an actuator.
#[derive(Clone, Debug)]
pub(crate) struct ScalarActuator {
    /// Index of its control, and the range to which that is clamped.
    control: usize,
    control_range: (f64, f64),
    /// Indices of its coordinate and velocity.
    q: usize,
    dof: usize,
    row: ForceRow,
    gear: f64,
    gain: f64,
    bias: [f64; 3],
    /// Bounds of the force before the gear, and of that on the coordinate.
    bounds: (f64, f64),
    row_bounds: (f64, f64),
    /// Force range of the joint.
    joint_range: (f64, f64),
    /// Stiffness and damping along the row that a step treats implicitly.
    slopes: [f64; 2],
}

const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl ScalarActuator {
    /// The constants of an actuator, if it is of this kind.
    pub(crate) fn new(actuator: &Actuator, sharing: RangeSharing) -> Option<Self> {
        let spec = &actuator.spec;
        let ResolvedTransmission::Scalar { q, dof } = actuator.resolved else { return None };
        let (gain, bias) = spec.law.affine()?;
        if spec.pid.is_some() || spec.activation.is_some() || spec.gear == 0.0 {
            return None;
        }
        let joint_range = match sharing {
            RangeSharing::NoRange => UNBOUNDED,
            RangeSharing::Exclusive { lower, upper } => (lower, upper),
            RangeSharing::Shared => return None,
        };
        let (gear, (least, most)) = (spec.gear, spec.force_bounds());
        let clamp = |force: f64| force.clamp(joint_range.0, joint_range.1);
        let (lower, upper) = ((gear * least).min(gear * most), (gear * least).max(gear * most));
        Some(Self {
            control: actuator.controls.start,
            control_range: spec.control_range.unwrap_or(UNBOUNDED),
            q,
            dof,
            row: of_dof(dof),
            gear,
            gain,
            bias,
            bounds: (least, most),
            row_bounds: (clamp(lower), clamp(upper)),
            joint_range,
            slopes: [bias[1], bias[2]].map(|slope| gear * gear * (-slope).max(0.0)),
        })
    }

    /// The signal of its law.
    #[inline]
    pub(super) fn signal(&self, control: &[f64]) -> f64 {
        control[self.control].clamp(self.control_range.0, self.control_range.1)
    }
}

impl Forces {
    /// Adds the force of an actuator of this kind; false if it is of another.
    #[inline]
    pub(super) fn add_scalar_actuator(&mut self, index: usize, q: &[f64], v: &[f64]) -> bool {
        let Some(actuator) = &self.layout.scalar_actuators[index] else { return false };
        let ScalarActuator { gear, gain, bias, slopes: [stiffness, damping], .. } = *actuator;
        let (dof, rate) = (actuator.dof, v[actuator.dof]);
        let (length, geared_rate) = (gear * q[actuator.q], gear * rate);
        let free = bias[0] + bias[1] * length + bias[2] * geared_rate;
        let force = gain * self.actuator_signal[index] + free;
        let bounded = force.clamp(actuator.bounds.0, actuator.bounds.1);
        self.actuator_length[index] = length;
        self.actuator_rate[index] = geared_rate;
        self.actuator_slopes[index] = [bias[1], bias[2]];
        self.actuator_force[index] = bounded;
        let on_joint = (gear * bounded).clamp(actuator.joint_range.0, actuator.joint_range.1);
        self.actuation[dof] += on_joint;
        if stiffness == 0.0 && damping == 0.0 {
            self.generalized[dof] += on_joint;
        } else if actuator.row_bounds == UNBOUNDED {
            self.generalized[dof] += gear * force;
            self.stiffness[dof] += stiffness;
            self.damping[dof] += damping;
        } else {
            self.drives.push(Drive {
                kind: DriveKind::Servo(ActuatorId(index)),
                row: actuator.row,
                force: gear * force,
                rate,
                stiffness,
                damping,
                lower: actuator.row_bounds.0,
                upper: actuator.row_bounds.1,
            });
        }
        true
    }
}
