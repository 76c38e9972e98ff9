//! The regularisation δ of Newton steps on the natural map, chosen as in the method of Levenberg and Marquardt.

use crate::law::Law;

/// δ at least after a step failed, at most, and at the start [-]: the square root of round-off makes a step unique where
/// contacts are redundant.
const CAREFUL: f64 = 1e-2;
const LARGEST: f64 = 0.1;
const SMALLEST: f64 = 1e-8;
/// Factors by which δ grows and shrinks [-].
const GROWTH: f64 = 4.0;
const DECAY: f64 = 0.1;
/// A part of a step this short makes δ grow [-].
const SHORT: f64 = 0.3;

/// The regularisation of the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping {
    /// δ [-].
    pub value: f64,
}

impl Default for Damping {
    fn default() -> Self {
        Self { value: SMALLEST }
    }
}

impl Damping {
    /// δ of a constraint. A linear law is solved by one step whatever the others do, and a large δ would only slow it down.
    #[inline]
    pub fn of(&self, law: &Law) -> f64 {
        match law {
            Law::Bilateral(_) | Law::Soft(_) => SMALLEST,
            _ => self.value,
        }
    }

    /// Whether it does not grow any more.
    pub fn is_largest(&self) -> bool {
        self.value >= LARGEST
    }

    /// Adapts to the part of the last step that was taken; zero if none was.
    pub fn update(&mut self, part: f64) {
        if part >= 1.0 {
            self.value = (DECAY * self.value).max(SMALLEST);
        } else if part < SHORT {
            self.value = (GROWTH * self.value).clamp(CAREFUL, LARGEST);
        }
    }
}
