//! A linear spring-damper, `λ = −κ c` [Lee25, Eq. (4)].
//!
//! The spring's pre-load enters through the bias of the row: for a spring `k` [N/m] with
//! elongation `g` [m] and a damper `d` [N·s/m], integrated implicitly over `h` [s],
//! `κ = h (h k + d)` and the bias is `k g / (h k + d)`.

use super::{FrictionModel, Relation};

/// One row of a spring-damper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soft {
    compliance: f64,
}

impl Soft {
    /// A law with impulse `gain` [kg] per unit of velocity. `None` unless finite and positive.
    pub fn new(gain: f64) -> Option<Self> {
        (gain > 0.0 && gain.is_finite() && (1.0 / gain).is_finite())
            .then(|| Self { compliance: 1.0 / gain })
    }

    /// The law and the bias [m/s] of a spring-damper with `stiffness` [N/m], `damping` [N·s/m]
    /// and `elongation` [m], implicit over `time_step` [s].
    pub fn spring_damper(
        stiffness: f64,
        damping: f64,
        elongation: f64,
        time_step: f64,
    ) -> Option<(Self, f64)> {
        let rate = time_step * stiffness + damping;
        let bias = stiffness * elongation / rate;
        (stiffness >= 0.0 && damping >= 0.0 && bias.is_finite())
            .then(|| Self::new(time_step * rate))
            .flatten()
            .map(|law| (law, bias))
    }

    /// Velocity per unit of impulse [1/kg].
    pub fn compliance(&self) -> f64 {
        self.compliance
    }
}

impl Relation for Soft {
    fn dim(&self) -> usize {
        1
    }

    #[inline]
    fn respond(&self, _: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        lambda[0] = -c0[0] / (r[0] + self.compliance);
    }

    #[inline]
    fn slope(&self, _: FrictionModel, _: &[f64], r: &[f64], slope: &mut [f64]) {
        slope[0] = 1.0 / (r[0] + self.compliance);
    }

    #[inline]
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        0.5 * c0[0] * c0[0] / (r[0] + self.compliance)
    }
}
