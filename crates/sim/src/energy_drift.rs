//! Energy that a tree gains without cause over many steps.
//!
//! A step may gain one to ten per cent of the energies that it exchanges before it is flagged by itself, and a
//! hundred such steps would multiply the energy. Therefore gains are summed up: with r the energy without cause of a
//! step, s what its scheme explains and E the energies that the tree exchanged, in the largest of the last steps,
//!
//! ```text
//! D ← max(0, D + r − s),   D ≤ 0.1 E
//! ```
//!
//! the cumulative sum of [Page54]. Losses reduce D: implicit forces dissipate. A gain beyond the bound
//! is reported once, in the step in which it is reached, and D starts from zero again.

/// Accumulated energy without cause above which a motion is not resolved, relative to the energies
/// exchanged [-].
const RELATIVE: f64 = 0.1;
/// Accumulated gain relative to its bound from which more of it is worth a division of the step [-].
const NEAR_BOUND: f64 = 0.5;
/// Part of the energies exchanged that a step may gain without adding to the sum [-].
pub(crate) const STEP_ALLOWANCE: f64 = 1e-3;
/// Steps after which a larger exchange of energy is forgotten.
const MEMORY: f64 = 1000.0;

/// Energy that a tree or a rod gained without cause over the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EnergyDrift {
    /// D above [J].
    pub gained: f64,
    /// E above [J].
    pub exchanged: f64,
}

impl EnergyDrift {
    /// Adds a `fraction` of a step [-]: energy without cause, what the scheme explains of it, and the energies exchanged
    /// [J]. Returns the accumulated gain relative to its bound, and near the bound the part of what was left up to it
    /// that this step used up [-].
    pub fn add(&mut self, fraction: f64, [residual, explained, exchanged]: [f64; 3]) -> [f64; 2] {
        self.exchanged = exchanged.max(self.exchanged * (1.0 - fraction / MEMORY));
        let before = self.gained;
        let gained = self.gained + residual - explained - fraction * STEP_ALLOWANCE * exchanged;
        self.gained = gained.max(0.0);
        if self.gained == 0.0 {
            return [0.0; 2];
        }
        let bound = RELATIVE * self.exchanged;
        let relative = self.gained / bound;
        let rise =
            if relative > NEAR_BOUND { (self.gained - before) / (bound - before) } else { 0.0 };
        if relative > 1.0 || relative.is_nan() {
            self.gained = 0.0;
        }
        [relative, rise]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_gain_in_every_step_is_reported_when_it_has_become_large() {
        // One per cent in every step: a tenth in eleven, after the allowance.
        let mut drift = EnergyDrift::default();
        let steps: Vec<f64> = (0..30).map(|_| drift.add(1.0, [0.01, 0.0, 1.0])[0]).collect();
        let reported: Vec<usize> = (0..30).filter(|k| steps[*k] > 1.0).collect();
        assert_eq!(reported, [11, 23]);
    }

    #[test]
    fn gains_that_alternate_with_losses_and_gains_that_are_explained_do_not_add_up() {
        let mut drift = EnergyDrift::default();
        for k in 0..10_000 {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            assert!(drift.add(1.0, [0.05 * sign, 0.0, 1.0])[0] <= 0.5 + 1e-12);
            assert!(drift.add(1.0, [0.02, 0.02, 1.0])[0] <= 0.5 + 1e-12);
        }
    }

    #[test]
    fn near_the_bound_a_gain_counts_relative_to_what_is_left() {
        let mut drift = EnergyDrift { gained: 0.06, exchanged: 1.0 };
        // A gain of 0.01 after the allowance, with 0.04 left up to a tenth.
        let [relative, rise] = drift.add(1.0, [0.011, 0.0, 1.0]);
        assert!((relative - 0.7).abs() <= 1e-12 && (rise - 0.25).abs() <= 1e-12, "{rise}");
        // Far from the bound nothing is worth a division, nor is a loss.
        assert_eq!(EnergyDrift::default().add(1.0, [0.011, 0.0, 1.0])[1], 0.0);
        assert!(drift.add(1.0, [-0.01, 0.0, 1.0])[1] < 0.0);
    }
}
