//! Activations of actuators over a step: those that force laws read, and those at its end.
//!
//! MuJoCo's schemes read activations at the start of the step, or at its end for actuators that read them
//! early, and advance them with their rate at the start. The other schemes read them in the middle of the step
//! (of a substep), and advance them by a rule that is exact for filters and of second order for muscles. Integrals of
//! position errors need the lengths of actuators at the start of the step.

use stiction_mech::{ActivationStart, Forces, Input, Model, State};

use super::{FreeMotion, StepStart};
use crate::scheme::Scheme;

/// Controls and activations, or lengths and rates of actuators.
type TwoArrays<'a> = (&'a [f64], &'a [f64]);

/// Activations that force laws read, and the motion of the actuators on which their rates depend.
pub(super) struct ActivationStep {
    /// Activations that force laws read in the step.
    pub read: Vec<f64>,
    /// Length and rate of each actuator at the start of the step; set if position errors are integrated.
    length: Vec<f64>,
    rate: Vec<f64>,
    /// Mean rates over the stages of a Runge–Kutta step, if it had any, and the rates of its last stage.
    pub stage_mean: Option<Vec<f64>>,
    pub stage_rate: Vec<f64>,
    /// Memory for the mean rates.
    pub spare: Vec<f64>,
}

impl ActivationStep {
    pub fn new(model: &Model) -> Self {
        let (na, actuators) = (model.na(), model.actuators().len());
        Self {
            read: vec![0.0; na],
            length: vec![0.0; actuators],
            rate: vec![0.0; actuators],
            stage_mean: None,
            stage_rate: vec![0.0; na],
            spare: vec![0.0; na],
        }
    }

    /// Keeps lengths and rates of the actuators at the start of the step.
    pub fn keep_motion(&mut self, forces: &Forces) {
        self.length.copy_from_slice(&forces.actuator_length);
        self.rate.copy_from_slice(&forces.actuator_rate);
    }

    /// Sets activations some time after the start of a step, which has constant controls.
    pub fn set_at(&self, model: &Model, (input, start): (&Input, &State), t: f64, out: &mut [f64]) {
        let [states, motion] = self.start(input, start);
        let from = ActivationStart::middle(states, motion, (start.time, t));
        model.for_each_activation(&from, |spec, control, index| {
            out[index] = spec.advance(control, start.activation[index], t);
        });
    }

    /// Controls and activations, lengths and rates at the start of a step.
    fn start<'a>(&'a self, input: &'a Input, state: &'a State) -> [TwoArrays<'a>; 2] {
        [(&input.control, &state.activation), (&self.length, &self.rate)]
    }
}

impl FreeMotion {
    /// Sets the activations that force laws read in the step.
    pub(super) fn set_activations(&mut self, start: &StepStart) {
        let StepStart { model, scheme, time_step: h, state, input, .. } = *start;
        let mut out = std::mem::take(&mut self.activation.read);
        if scheme.is_direct() {
            let [states, motion] = self.activation.start(input, state);
            let from = ActivationStart::direct(states, motion, (state.time, h));
            model.for_each_activation(&from, |spec, control, index| {
                let present = state.activation[index];
                out[index] =
                    if spec.early { spec.advance_directly(control, present, h) } else { present };
            });
        } else {
            self.activation.set_at(model, (input, state), 0.5 * h, &mut out);
        }
        self.activation.read = out;
        // Of an earlier step.
        if let Some(mean) = self.activation.stage_mean.take() {
            self.activation.spare = mean;
        }
    }

    /// The activations that force laws read in the step.
    pub fn activations(&self) -> &[f64] {
        &self.activation.read
    }

    /// Writes the activations at the end of a step.
    pub fn advance_activations(&self, start: &StepStart, next: &mut State) {
        let StepStart { model, scheme, time_step: h, state, input, .. } = *start;
        let [states, motion] = self.activation.start(input, state);
        let times = (state.time, h);
        let from = if scheme.is_direct() {
            ActivationStart::direct(states, motion, times)
        } else {
            ActivationStart::middle(states, motion, times)
        };
        model.for_each_activation(&from, |spec, control, index| {
            let present = state.activation[index];
            next.activation[index] = match (scheme, &self.activation.stage_mean) {
                (Scheme::Rk4, Some(rates)) => spec.advance_with_rate(rates[index], present, h),
                (Scheme::Rk4, None) => spec.advance_in_stages(control, present, h),
                _ if scheme.is_direct() => spec.advance_directly(control, present, h),
                _ => spec.advance(control, present, h),
            };
        });
    }
}
