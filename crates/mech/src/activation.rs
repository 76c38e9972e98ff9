//! Activation states: the dynamics between the control of an actuator and the signal of its force law.
//!
//! `ȧ = u` for an integrator, `ȧ = (u − a)/τ` for a filter; τ of a muscle depends on a and u. Setpoint and integral of a
//! [`PidController`](crate::PidController) are activations as well. Two rules
//! advance an activation over a step in which the control is constant:
//! [`ActivationSpec::advance`] is exact for integrators, filters and setpoints, and of second order and stable at any step
//! for muscles (an exponential midpoint rule); [`ActivationSpec::advance_directly`] is MuJoCo's, with the rate
//! at the start of the step.

use crate::force::ForceError;
use crate::force::error::SpecCheck;
use crate::model::Model;
use crate::muscle::MuscleActivation;
use crate::pid::{IntegralBound, ServoMotion};

/// Least time constant [s].
const LEAST_TIME: f64 = 1e-15;

/// Dynamics of an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActivationDynamics {
    /// The activation stays as it is: a program sets it.
    Constant,
    /// ȧ = u.
    Integrator,
    /// ȧ = (u − a)/τ.
    Filter {
        /// τ [s].
        time_constant: f64,
        /// Whether MuJoCo's schemes integrate it exactly as well.
        exact: bool,
    },
    /// Activation of a muscle.
    Muscle(MuscleActivation),
    /// A setpoint that follows the control: |ȧ| ≤ limit.
    Slew {
        /// Largest rate [1/s].
        limit: f64,
    },
    /// ȧ = u, the position error of a servo, unless the bound stops it.
    ErrorIntegral {
        /// Bound of the integral.
        bound: Option<IntegralBound>,
    },
}

/// The activation of an actuator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationSpec {
    /// Its dynamics.
    pub dynamics: ActivationDynamics,
    /// Activations outside are clamped to it at the end of a step.
    pub range: Option<(f64, f64)>,
    /// Whether the force law reads the activation at the end of the step in MuJoCo's schemes, not that at
    /// its start. Other schemes read it in the middle of the step.
    pub early: bool,
}

impl ActivationSpec {
    /// An activation without range.
    pub fn new(dynamics: ActivationDynamics) -> Self {
        Self { dynamics, range: None, early: false }
    }

    /// ȧ at a control and an activation [1/s]; of activations that jump, the mean over a step of `time_step` [s].
    pub fn rate(&self, control: f64, activation: f64, time_step: f64) -> f64 {
        match self.dynamics {
            ActivationDynamics::Constant => 0.0,
            ActivationDynamics::Integrator => control,
            ActivationDynamics::Filter { time_constant, .. } => {
                (control - activation) / time_constant.max(LEAST_TIME)
            }
            ActivationDynamics::Muscle(muscle) => {
                let (excess, time) = muscle.decay(control, activation);
                excess / time
            }
            ActivationDynamics::Slew { limit } => {
                ((control - activation) / time_step).clamp(-limit, limit)
            }
            ActivationDynamics::ErrorIntegral { bound } => match bound {
                Some(IntegralBound::Stop(bound) | IntegralBound::StopAndClamp(bound))
                    if activation.abs() >= bound && control * activation > 0.0 =>
                {
                    0.0
                }
                Some(IntegralBound::Clamp(bound)) => {
                    let next = activation + time_step * control;
                    (next.clamp(-bound, bound) - activation) / time_step
                }
                _ => control,
            },
        }
    }

    /// The activation after `time_step` [s] with a rate of change from elsewhere, by MuJoCo's rule.
    pub fn advance_with_rate(&self, rate: f64, activation: f64, time_step: f64) -> f64 {
        self.clamp(match self.dynamics {
            ActivationDynamics::Filter { time_constant, exact: true } => {
                let time = time_constant.max(LEAST_TIME);
                activation - rate * time * (-time_step / time).exp_m1()
            }
            _ => activation + time_step * rate,
        })
    }

    /// The activation after `time_step` [s], by MuJoCo's rule.
    pub fn advance_directly(&self, control: f64, activation: f64, time_step: f64) -> f64 {
        match self.dynamics {
            // Without the rounding of a rate.
            ActivationDynamics::Slew { .. }
            | ActivationDynamics::ErrorIntegral { bound: Some(IntegralBound::Clamp(_)) } => {
                self.advance(control, activation, time_step)
            }
            _ => {
                let rate = self.rate(control, activation, time_step);
                self.advance_with_rate(rate, activation, time_step)
            }
        }
    }

    /// The activations of the four stages of the classical Runge–Kutta method.
    pub fn stages(&self, control: f64, activation: f64, time_step: f64) -> [f64; 4] {
        let mut stages = [activation; 4];
        for (stage, time) in [0.5, 0.5, 1.0].into_iter().enumerate() {
            let rate = self.rate(control, stages[stage], time_step);
            stages[stage + 1] = activation + time * time_step * rate;
        }
        stages
    }

    /// The activation after `time_step` [s] by the classical Runge–Kutta method, as in MuJoCo.
    pub fn advance_in_stages(&self, control: f64, activation: f64, time_step: f64) -> f64 {
        let [a, b, c, d] =
            self.stages(control, activation, time_step).map(|a| self.rate(control, a, time_step));
        self.advance_with_rate((a + 2.0 * (b + c) + d) / 6.0, activation, time_step)
    }

    /// The activation after `time_step` [s], of second order at least.
    pub fn advance(&self, control: f64, activation: f64, time_step: f64) -> f64 {
        self.clamp(match self.dynamics {
            ActivationDynamics::Constant => activation,
            ActivationDynamics::Integrator => activation + time_step * control,
            ActivationDynamics::Filter { time_constant, .. } => {
                decayed(activation, control - activation, time_step / time_constant.max(LEAST_TIME))
            }
            ActivationDynamics::Muscle(muscle) => {
                let (excess, time) = muscle.decay(control, activation);
                let middle = decayed(activation, excess, 0.5 * time_step / time);
                let (_, time) = muscle.decay(control, middle);
                decayed(activation, excess, time_step / time)
            }
            ActivationDynamics::Slew { limit } => {
                let most = limit * time_step;
                if (control - activation).abs() <= most {
                    control
                } else {
                    activation + most.copysign(control - activation)
                }
            }
            ActivationDynamics::ErrorIntegral { bound } => {
                let next = activation + time_step * control;
                match bound {
                    Some(IntegralBound::Clamp(bound)) => next.clamp(-bound, bound),
                    Some(IntegralBound::Stop(bound) | IntegralBound::StopAndClamp(bound))
                        if activation.abs() >= bound && control * activation > 0.0 =>
                    {
                        activation
                    }
                    _ => next,
                }
            }
        })
    }

    /// The activation within its range.
    fn clamp(&self, activation: f64) -> f64 {
        self.range.map_or(activation, |(lower, upper)| activation.clamp(lower, upper))
    }

    /// Checks the numbers.
    pub(crate) fn check(&self, check: &SpecCheck<'_>) -> Result<(), ForceError> {
        match self.dynamics {
            ActivationDynamics::Constant | ActivationDynamics::Integrator => {}
            ActivationDynamics::Filter { time_constant, .. } => {
                check.not_negative("time constant", time_constant)?;
            }
            ActivationDynamics::Muscle(MuscleActivation { rise, fall, smoothing }) => {
                check.not_negative("time constant of activation", rise)?;
                check.not_negative("time constant of deactivation", fall)?;
                check.not_negative("smoothing of the time constants", smoothing)?;
            }
            ActivationDynamics::Slew { limit } => {
                check.not_negative("largest rate of the setpoint", limit)?;
            }
            ActivationDynamics::ErrorIntegral { .. } => {}
        }
        self.range.map_or(Ok(()), |range| check.range("activation range", range))
    }
}

/// `a + (1 − e⁻ᶻ) (u − a)`.
fn decayed(activation: f64, excess: f64, z: f64) -> f64 {
    activation - excess * (-z).exp_m1()
}

impl Model {
    /// Number of activations.
    pub fn na(&self) -> usize {
        self.compiled.activations
    }

    /// Whether an activation integrates a position error, so that lengths of actuators are needed to advance it.
    pub fn integrates_errors(&self) -> bool {
        self.compiled.integrates_errors
    }

    /// Calls `visit(spec, control, index)` for every activation, with the control that its dynamics have (that of
    /// its actuator within its range, or the position error for an integral of it) and its index among the activations.
    pub fn for_each_activation(
        &self,
        start: &ActivationStart,
        mut visit: impl FnMut(&ActivationSpec, f64, usize),
    ) {
        if self.na() == 0 {
            return;
        }
        let number = |of: &[f64], index: usize| of.get(index).copied().unwrap_or(0.0);
        for (place, actuator) in self.actuators().iter().enumerate() {
            let Some(controls) = start.control.get(actuator.controls.clone()) else { continue };
            let (spec, at) = (&actuator.spec, actuator.activations.clone());
            if let Some(pid) = &spec.pid {
                let [desired, _, _] = pid.inputs(spec.control_range, controls);
                let length = number(start.length, place);
                let motion = ServoMotion {
                    length: length + start.length_time * number(start.rate, place),
                    setpoint_time: start.setpoint_time,
                    time: start.time,
                };
                pid.for_each_activation(desired, &motion, (start.activation, at), &mut visit);
            } else if let (Some(activation), Some(control)) = (&spec.activation, controls.first()) {
                visit(activation, spec.clamp_control(*control), at.start);
            }
        }
    }
}

/// The state at the start of a time in which activations advance with constant controls.
#[derive(Clone, Copy, Debug)]
pub struct ActivationStart<'a> {
    control: &'a [f64],
    activation: &'a [f64],
    /// Length and rate of each actuator, multiplied by the gear; none if no position error is integrated.
    length: &'a [f64],
    rate: &'a [f64],
    /// Time [s].
    time: f64,
    /// Times after the start at which setpoint and length of a position error are taken [s].
    setpoint_time: f64,
    length_time: f64,
}

impl<'a> ActivationStart<'a> {
    /// The start of a step of `time_step` [s] by MuJoCo's rules: position errors are those of the setpoint at the end
    /// of the step and the length at its start. `motion` holds lengths and rates of the actuators.
    pub fn direct(
        (control, activation): (&'a [f64], &'a [f64]),
        (length, rate): (&'a [f64], &'a [f64]),
        (time, time_step): (f64, f64),
    ) -> Self {
        let (setpoint_time, length_time) = (time_step, 0.0);
        Self { control, activation, length, rate, time, setpoint_time, length_time }
    }

    /// The start of a time of `duration` [s]: position errors are those in its middle, with second order.
    pub fn middle(
        states: (&'a [f64], &'a [f64]),
        motion: (&'a [f64], &'a [f64]),
        (time, duration): (f64, f64),
    ) -> Self {
        let middle = 0.5 * duration;
        let start = Self::direct(states, motion, (time, duration));
        Self { setpoint_time: middle, length_time: middle, ..start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_decays_exactly_at_any_step() {
        let exact = |h: f64| 2.0 + (0.3 - 2.0) * (-h / 0.1_f64).exp();
        for is_exact in [false, true] {
            let dynamics = ActivationDynamics::Filter { time_constant: 0.1, exact: is_exact };
            let spec = ActivationSpec::new(dynamics);
            for h in [1e-6, 0.05, 3.0] {
                // A handful of roundings.
                assert!((spec.advance(2.0, 0.3, h) - exact(h)).abs() <= 1e-14);
                if is_exact {
                    assert!((spec.advance_directly(2.0, 0.3, h) - exact(h)).abs() <= 1e-14);
                } else {
                    let euler = 0.3 + h * (2.0 - 0.3) / 0.1;
                    assert!(
                        (spec.advance_directly(2.0, 0.3, h) - euler).abs() <= 1e-13 * (1.0 + euler)
                    );
                }
            }
        }
    }

    #[test]
    fn the_integral_of_an_error_stops_or_is_clamped_at_its_bound() {
        let integral =
            |bound| ActivationSpec::new(ActivationDynamics::ErrorIntegral { bound: Some(bound) });
        let stop = integral(IntegralBound::Stop(1.0));
        // Beyond the bound it does not grow, but it returns.
        assert_eq!(stop.advance_directly(2.0, 0.75, 0.5), 1.75);
        assert_eq!(stop.advance_directly(2.0, 1.75, 0.5), 1.75);
        assert_eq!(stop.advance_directly(-2.0, 1.75, 0.5), 0.75);
        assert_eq!(stop.rate(-2.0, -1.75, 0.5), 0.0);
        let clamp = integral(IntegralBound::Clamp(1.0));
        assert_eq!(clamp.advance_directly(2.0, 0.75, 0.5), 1.0);
        assert_eq!(clamp.rate(2.0, 0.75, 0.5), 0.5);
    }

    #[test]
    fn an_integrator_stays_in_its_range() {
        let mut spec = ActivationSpec::new(ActivationDynamics::Integrator);
        spec.range = Some((-1.0, 0.5));
        assert_eq!(spec.advance(2.0, 0.0, 0.1), 0.2);
        assert_eq!(spec.advance(2.0, 0.4, 0.1), 0.5);
        assert_eq!(spec.advance_directly(-20.0, 0.4, 0.1), -1.0);
    }

    #[test]
    fn the_activation_of_a_muscle_converges_with_order_two() {
        let muscle = MuscleActivation { rise: 0.02, fall: 0.05, smoothing: 0.3 };
        let spec = ActivationSpec::new(ActivationDynamics::Muscle(muscle));
        let after =
            |steps: u32| (0..steps).fold(0.1, |a, _| spec.advance(0.8, a, 0.05 / f64::from(steps)));
        let exact = after(1 << 14);
        let errors = [16, 32, 64].map(|steps| (after(steps) - exact).abs());
        for pair in errors.windows(2) {
            // 2^1.8 allows for terms of the next order.
            assert!(pair[0] / pair[1] > 3.5, "{errors:?}");
        }
        // Stable and without overshoot at any step.
        let far = spec.advance(0.8, 0.1, 100.0);
        assert!((far - 0.8).abs() <= 1e-15);
    }
}
