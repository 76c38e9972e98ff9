//! PID servos: several inputs, a setpoint whose rate is limited, and an integral of the position error.
//!
//! The force is `kp (s − ℓ) + kv (u_v − ℓ̇) + ki I + u_f`. Stiffness kp and damping kv are those of the affine law of the
//! actuator, so that steps treat them as those of any servo; this file computes the rest of the force, the signal
//! `kp s + kv u_v + ki I + u_f`. The setpoint s follows the position input at a limited rate, and I integrates s − ℓ; both are
//! activations. Inputs that the servo does not have are zero.

use std::ops::Range;

use crate::activation::{ActivationDynamics, ActivationSpec};
use crate::force::ForceError;
use crate::force::error::SpecCheck;

/// How the integral of a PID servo is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntegralBound {
    /// Outside of ± this value the integral does not grow any more, as with MuJoCo's `pid`.
    Stop(f64),
    /// Outside it does not grow, and at the end of a step it is clamped to ± this value, as with MuJoCo's `dcmotor`.
    StopAndClamp(f64),
    /// The integral is clamped to ± this value, as with MuJoCo's plugin `mujoco.pid`.
    Clamp(f64),
}

/// Controller of a PID servo. The actuator's law has the gain 1 and the bias `b₀ − kp ℓ − kv ℓ̇`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PidController {
    /// Whether the first control is the desired length.
    pub has_position: bool,
    /// Whether the next control is the desired rate.
    pub has_velocity: bool,
    /// Whether the last control is a force that is added.
    pub has_feedforward: bool,
    /// Desired rates outside are clamped to it.
    pub velocity_range: Option<(f64, f64)>,
    /// Added forces outside are clamped to it.
    pub feedforward_range: Option<(f64, f64)>,
    /// Force per unit of the integral; zero if there is none.
    pub ki: f64,
    /// Bound of the integral.
    pub integral_bound: Option<IntegralBound>,
    /// Largest rate of the setpoint [m/s or rad/s].
    pub slew_limit: Option<f64>,
    /// As in MuJoCo's plugin `mujoco.pid`: the integral comes before the setpoint among the activations, the force reads
    /// it at the end of the step in MuJoCo's schemes, and at time zero the rate of the setpoint is not limited.
    pub is_plugin: bool,
}

impl Default for PidController {
    /// A servo with a desired length as its only input, without integral and limit.
    fn default() -> Self {
        Self {
            has_position: true,
            has_velocity: false,
            has_feedforward: false,
            velocity_range: None,
            feedforward_range: None,
            ki: 0.0,
            integral_bound: None,
            slew_limit: None,
            is_plugin: false,
        }
    }
}

impl PidController {
    /// Number of controls.
    pub fn control_count(&self) -> usize {
        [self.has_position, self.has_velocity, self.has_feedforward].map(usize::from).iter().sum()
    }

    /// Number of activations.
    pub fn activation_count(&self) -> usize {
        usize::from(self.has_integral()) + usize::from(self.slew_limit.is_some())
    }

    /// Whether the position error is integrated.
    pub fn has_integral(&self) -> bool {
        self.ki != 0.0
    }

    /// Range of each control; `first` is that of the desired length.
    pub fn control_ranges(
        &self,
        first: Option<(f64, f64)>,
    ) -> impl Iterator<Item = Option<(f64, f64)>> {
        let inputs = [
            (self.has_position, first),
            (self.has_velocity, self.velocity_range),
            (self.has_feedforward, self.feedforward_range),
        ];
        inputs.into_iter().filter(|(exists, _)| *exists).map(|(_, range)| range)
    }

    /// Desired length, desired rate and added force, each within its range.
    pub(crate) fn inputs(&self, position_range: Option<(f64, f64)>, controls: &[f64]) -> [f64; 3] {
        let mut inputs = [0.0; 3];
        let has = [self.has_position, self.has_velocity, self.has_feedforward];
        let ranges = [position_range, self.velocity_range, self.feedforward_range];
        let mut controls = controls.iter();
        for ((input, range), _) in inputs.iter_mut().zip(ranges).zip(has).filter(|(_, has)| *has) {
            let control = controls.next().copied().unwrap_or(0.0);
            *input = range.map_or(control, |(lower, upper)| control.clamp(lower, upper));
        }
        inputs
    }

    /// Index of the setpoint among the activations of the servo.
    fn setpoint_index(&self) -> Option<usize> {
        self.slew_limit.map(|_| usize::from(self.is_plugin && self.has_integral()))
    }

    /// Index of the integral among the activations of the servo.
    fn integral_index(&self) -> Option<usize> {
        let after = !self.is_plugin && self.slew_limit.is_some();
        self.has_integral().then_some(usize::from(after))
    }

    /// The signal of the force law: the force without the feedback of length and rate. `bias` is that of the law, and
    /// `activation` holds the activations of the servo, or none if all are zero.
    pub(crate) fn signal(&self, inputs: [f64; 3], bias: [f64; 3], activation: &[f64]) -> f64 {
        let [position, velocity, feedforward] = inputs;
        let state = |index: Option<usize>, default: f64| {
            index.map_or(default, |index| activation.get(index).copied().unwrap_or(0.0))
        };
        let setpoint = state(self.setpoint_index(), position);
        let integral = state(self.integral_index(), 0.0);
        -bias[1] * setpoint - bias[2] * velocity + self.ki * integral + feedforward
    }

    /// Calls `visit(dynamics, control, index)` for every activation, with indices from `at.start`. The control of the setpoint
    /// is the desired length; that of the integral is the position error.
    pub(crate) fn for_each_activation(
        &self,
        desired: f64,
        motion: &ServoMotion,
        (activation, at): (&[f64], Range<usize>),
        mut visit: impl FnMut(&ActivationSpec, f64, usize),
    ) {
        let mut setpoint = desired;
        if let (Some(limit), Some(index)) = (self.slew_limit, self.setpoint_index()) {
            let limit = if self.is_plugin && motion.time == 0.0 { f64::INFINITY } else { limit };
            let mut spec = ActivationSpec::new(ActivationDynamics::Slew { limit });
            spec.early = true;
            let present = activation.get(at.start + index).copied().unwrap_or(0.0);
            setpoint = spec.advance(desired, present, motion.setpoint_time);
            visit(&spec, desired, at.start + index);
        }
        if let Some(index) = self.integral_index() {
            let bound = self.integral_bound;
            let mut spec = ActivationSpec::new(ActivationDynamics::ErrorIntegral { bound });
            spec.early = self.is_plugin;
            if let Some(IntegralBound::StopAndClamp(bound)) = bound {
                spec.range = Some((-bound, bound));
            }
            visit(&spec, setpoint - motion.length, at.start + index);
        }
    }

    /// Checks the numbers.
    pub(crate) fn check(&self, check: &SpecCheck<'_>) -> Result<(), ForceError> {
        check.finite("ki", self.ki)?;
        if let Some(
            IntegralBound::Stop(bound)
            | IntegralBound::StopAndClamp(bound)
            | IntegralBound::Clamp(bound),
        ) = self.integral_bound
        {
            check.not_negative("bound of the integral", bound)?;
        }
        if let Some(limit) = self.slew_limit {
            check.not_negative("largest rate of the setpoint", limit)?;
        }
        for range in [self.velocity_range, self.feedforward_range].into_iter().flatten() {
            check.range("control range", range)?;
        }
        Ok(())
    }
}

/// The motion of a servo over the time for which an activation is advanced.
pub(crate) struct ServoMotion {
    /// Length from which the position error is measured.
    pub length: f64,
    /// Time after the start of the step at which the setpoint of the position error is taken [s].
    pub setpoint_time: f64,
    /// Time at the start of the step [s].
    pub time: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_is_the_force_without_feedback() {
        let pid = PidController {
            has_velocity: true,
            has_feedforward: true,
            feedforward_range: Some((-0.5, 0.5)),
            ki: 3.0,
            slew_limit: Some(2.0),
            ..PidController::default()
        };
        assert_eq!((pid.control_count(), pid.activation_count()), (3, 2));
        let inputs = pid.inputs(Some((-1.0, 1.0)), &[4.0, 0.25, 7.0]);
        assert_eq!(inputs, [1.0, 0.25, 0.5]);
        // kp s + kv u_v + ki I + u_f with s and I from the activations, which are dyadic numbers.
        let signal = pid.signal(inputs, [0.0, -8.0, -2.0], &[0.5, 0.125]);
        assert_eq!(signal, 8.0 * 0.5 + 2.0 * 0.25 + 3.0 * 0.125 + 0.5);
        // The plugin has the integral first.
        let plugin = PidController { is_plugin: true, ..pid };
        assert_eq!(plugin.signal(inputs, [0.0, -8.0, -2.0], &[0.125, 0.5]), signal);
    }

    #[test]
    fn absent_inputs_are_zero() {
        let pid = PidController {
            has_position: false,
            has_feedforward: true,
            ..PidController::default()
        };
        assert_eq!(pid.inputs(Some((1.0, 2.0)), &[0.75]), [0.0, 0.0, 0.75]);
        assert_eq!(pid.control_count(), 1);
    }
}
