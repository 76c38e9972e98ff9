//! No relative motion as long as the impulse stays within limits: `λ ∈ [lower, upper]`, `c ≤ 0`
//! only at the upper and `c ≥ 0` only at the lower limit.
//!
//! Dry joint friction has symmetric limits, a motor its largest torque times the step.

use super::{FrictionModel, Relation};

/// One row with limits on its impulse [N·s].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    lower: f64,
    upper: f64,
}

impl Bounded {
    /// `None` unless `lower ≤ upper` and neither is NaN.
    pub fn new(lower: f64, upper: f64) -> Option<Self> {
        (lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY)
            .then_some(Self { lower, upper })
    }

    /// The limits [N·s].
    pub fn limits(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// Whether an impulse is at neither limit, up to rounding.
    pub fn is_inside(&self, impulse: f64) -> bool {
        let slack = f64::EPSILON.sqrt() * impulse.abs();
        self.lower + slack < impulse && impulse < self.upper - slack
    }
}

impl Relation for Bounded {
    fn dim(&self) -> usize {
        1
    }

    #[inline]
    fn respond(&self, _: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        lambda[0] = (-c0[0] / r[0]).clamp(self.lower, self.upper);
    }

    #[inline]
    fn slope(&self, _: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]) {
        let trial = -c0[0] / r[0];
        slope[0] = if self.lower < trial && trial < self.upper { 1.0 / r[0] } else { 0.0 };
    }

    #[inline]
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        let lambda = (-c0[0] / r[0]).clamp(self.lower, self.upper);
        -lambda * (c0[0] + 0.5 * r[0] * lambda)
    }
}
