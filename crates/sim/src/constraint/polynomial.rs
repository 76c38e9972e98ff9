//! The polynomial between two scalar quantities: mimic joints, screws, coupled tendons.

use super::not_finite;
use crate::error::WorldError;

/// `p(x) = c₀ + c₁ x + c₂ x² + c₃ x³ + c₄ x⁴`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Polynomial(pub [f64; 5]);

impl Polynomial {
    /// Value and slope.
    pub fn at(&self, x: f64) -> (f64, f64) {
        self.0.iter().rev().fold((0.0, 0.0), |(value, slope), c| (value * x + c, slope * x + value))
    }

    pub(super) fn check(&self, name: &str) -> Result<(), WorldError> {
        match self.0.iter().find(|c| !c.is_finite()) {
            Some(found) => Err(not_finite(name, "coefficient", *found)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_and_slope_are_those_of_the_sum_of_powers() {
        let p = Polynomial([1.0, -2.0, 0.5, 3.0, -0.25]);
        let x = 1.5_f64;
        let value: f64 = p.0.iter().enumerate().map(|(k, c)| c * x.powi(k as i32)).sum();
        let slope: f64 =
            p.0.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c * x.powi(k as i32 - 1)).sum();
        // A handful of operations on numbers of order ten.
        assert!((p.at(x).0 - value).abs() <= 1e-14 && (p.at(x).1 - slope).abs() <= 1e-14);
    }
}
