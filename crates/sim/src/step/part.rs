//! The part of a time step that is computed at once: all of it, or a fraction where the motion is not resolved.

/// A part of a time step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepPart {
    /// Length relative to the time step [-].
    pub fraction: f64,
    /// Time from its start to the end of the time step [s].
    pub remaining: f64,
    /// Whether the part is given up if it does not resolve the motion, to be computed in two halves.
    pub may_be_divided: bool,
}

impl StepPart {
    /// A whole step of this length [s].
    pub fn whole(time_step: f64, may_be_divided: bool) -> Self {
        Self { fraction: 1.0, remaining: time_step, may_be_divided }
    }

    /// Whether motions of the step that are not resolved are computed in parts.
    pub fn is_divisible(&self) -> bool {
        self.may_be_divided || self.fraction < 1.0
    }
}
