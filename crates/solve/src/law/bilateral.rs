//! No relative motion, with any impulse: `c = 0` [Tasora, Eq. (3)].

use super::{FrictionModel, Relation};

/// One row of a joint, a weld or a rigid loop closure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bilateral;

impl Relation for Bilateral {
    fn dim(&self) -> usize {
        1
    }

    #[inline]
    fn respond(&self, _: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        lambda[0] = -c0[0] / r[0];
    }

    #[inline]
    fn slope(&self, _: FrictionModel, _: &[f64], r: &[f64], slope: &mut [f64]) {
        slope[0] = 1.0 / r[0];
    }

    #[inline]
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64 {
        0.5 * c0[0] * c0[0] / r[0]
    }
}
