//! A one-sided stop, `0 ≤ λ ⊥ c ≥ 0` [Lee25, Eq. (3)].

use super::{FrictionModel, Relation};

/// One row that pushes and never pulls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unilateral;

impl Relation for Unilateral {
    fn dim(&self) -> usize {
        1
    }

    #[inline]
    fn respond(&self, _: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        lambda[0] = (-c0[0] / r[0]).max(0.0);
    }

    #[inline]
    fn slope(&self, _: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]) {
        slope[0] = if c0[0] < 0.0 { 1.0 / r[0] } else { 0.0 };
    }

    #[inline]
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        let pressing = c0[0].min(0.0);
        0.5 * pressing * pressing / r[0]
    }
}
