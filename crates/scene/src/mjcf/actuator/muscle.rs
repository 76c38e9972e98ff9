//! Muscles: the parameters of MuJoCo as those of a [`Muscle`].

use stiction_mech::{ActuatorBias, ActuatorGain, ActuatorLaw, Muscle};

use super::law::LawTerm;

/// Least divisor of MuJoCo.
const LEAST: f64 = 1e-15;

/// Gain and bias of a muscle before its range of lengths and its force are known.
pub(super) struct MuscleDraft {
    gain: LawTerm,
    bias: LawTerm,
    /// The range of the length, gear included, as the file gives it.
    pub length_range: Option<(f64, f64)>,
}

impl MuscleDraft {
    pub fn new((gain, bias): (LawTerm, LawTerm), length_range: Option<(f64, f64)>) -> Self {
        let length_range = length_range.filter(|(lower, upper)| lower < upper);
        Self { gain, bias, length_range }
    }

    /// Whether the file gives no range of lengths.
    pub fn needs_range(&self) -> bool {
        self.length_range.is_none()
    }

    /// The law for a range of lengths. `acceleration` is that of a unit force.
    pub fn law(&self, (lower, upper): (f64, f64), acceleration: f64) -> ActuatorLaw {
        let muscle = |prm: &[f64; 10]| {
            let [r_0, r_1, force, scale, shortest, longest, fastest, passive, lengthening, _] =
                *prm;
            let peak_force = if force < 0.0 { scale / acceleration.max(LEAST) } else { force };
            Muscle {
                length_range: [lower, upper],
                range: [r_0, r_1],
                peak_force,
                shortest,
                longest,
                fastest,
                passive,
                lengthening,
            }
        };
        let gain = match &self.gain {
            LawTerm::Affine(gain) => ActuatorGain::Affine(*gain),
            LawTerm::Muscle(prm) => ActuatorGain::Muscle(muscle(prm)),
        };
        let bias = match &self.bias {
            LawTerm::Affine(bias) => ActuatorBias::Affine(*bias),
            LawTerm::Muscle(prm) => ActuatorBias::Muscle(muscle(prm)),
        };
        ActuatorLaw::General { gain, bias }
    }
}
