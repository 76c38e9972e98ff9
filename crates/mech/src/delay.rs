//! Delays of controls and sensors: how samples of the past are kept and read.
//!
//! A sample is taken at the start of every step, or once per period, and read a fixed time later. The simulation keeps the
//! samples; this is the declaration.

/// How values between two samples are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleInterpolation {
    /// The earlier of the two.
    #[default]
    Hold,
    /// A straight line.
    Linear,
    /// A cubic with the slopes of the chords over the neighbours, zero at the first and the last sample (Catmull–Rom).
    Cubic,
}

/// Samples of a control or a sensor, and when they are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySpec {
    /// Number of samples, at least one. With a delay of more than as many steps the oldest is read.
    pub samples: usize,
    /// Time between a sample and its reading [s], not negative. The newest sample is that of the start of the last step.
    pub delay: f64,
    /// How values between samples are read.
    pub interpolation: SampleInterpolation,
    /// Time between samples [s]; zero for one per step. Only sensors have it.
    pub period: f64,
    /// Time of the last sample before the start [s], between minus the period and zero; zero stands for minus the period.
    pub phase: f64,
}

impl DelaySpec {
    /// Largest number of samples.
    pub const MOST_SAMPLES: usize = 1_000_000;

    /// The first number that is not allowed, with what is expected.
    pub fn wrong(&self) -> Option<(String, &'static str)> {
        let Self { samples, delay, period, phase, .. } = *self;
        if !(1..=Self::MOST_SAMPLES).contains(&samples) {
            return Some((format!("{samples} samples"), "1 to 1,000,000 samples"));
        }
        if !(delay >= 0.0 && delay.is_finite()) {
            return Some((format!("delay = {delay}"), "a finite number, not negative"));
        }
        if !(period >= 0.0 && period.is_finite()) {
            return Some((format!("period = {period}"), "a finite number, not negative"));
        }
        if !(phase <= 0.0 && (phase > -period || phase == 0.0)) {
            return Some((
                format!("phase = {phase}"),
                "a number between minus the period and zero",
            ));
        }
        None
    }
}
