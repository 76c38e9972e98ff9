//! Activations of actuators over a step: those that force laws read, and those at its end.
//!
//! MuJoCo's schemes read activations at the start of the step, or at its end for actuators that read them
//! early, and advance them with their rate at the start. The other schemes read them in the middle of the step
//! (of a substep), and advance them by a rule that is exact for filters and of second order for muscles.

use stiction_mech::{Input, Model, State};

use super::{FreeMotion, StepStart};
use crate::scheme::Scheme;

impl FreeMotion {
    /// Sets the activations that force laws read in the step.
    pub(super) fn set_activations(&mut self, start: &StepStart) {
        let StepStart { model, scheme, time_step: h, state, input, .. } = *start;
        if !scheme.is_direct() {
            set_at(model, input, state, 0.5 * h, &mut self.activation);
            return;
        }
        let out = &mut self.activation;
        model.for_each_activation(&input.control, |spec, control, index| {
            let present = state.activation[index];
            out[index] =
                if spec.early { spec.advance_directly(control, present, h) } else { present };
        });
    }

    /// The activations that force laws read in the step.
    pub fn activations(&self) -> &[f64] {
        &self.activation
    }
}

/// Activations some time after the start of a step, which has constant controls.
pub(super) fn set_at(model: &Model, input: &Input, start: &State, time: f64, out: &mut [f64]) {
    model.for_each_activation(&input.control, |spec, control, index| {
        out[index] = spec.advance(control, start.activation[index], time);
    });
}

/// Writes the activations at the end of a step.
pub(crate) fn advance(
    (model, scheme, h): (&Model, Scheme, f64),
    input: &Input,
    state: &State,
    next: &mut State,
) {
    model.for_each_activation(&input.control, |spec, control, index| {
        let present = state.activation[index];
        next.activation[index] = match scheme {
            Scheme::Rk4 => spec.advance_in_stages(control, present, h),
            _ if scheme.is_direct() => spec.advance_directly(control, present, h),
            _ => spec.advance(control, present, h),
        };
    });
}
