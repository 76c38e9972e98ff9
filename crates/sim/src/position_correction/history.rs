//! Position errors of the last step, and trees whose corrections failed.

use super::MIN_SPEED;
use super::errors::TreeErrors;
use crate::settings::Stabilisation;

/// Largest number of steps without a correction after failures, as a power of two.
const MAX_DOUBLINGS: u8 = 6;
/// Growth of an error at which a correction is tried again at once [-].
const GROWTH: f64 = 1.5;
/// Error of an equality above which the correction counts as failed unless it falls, in multiples of the
/// closure [-].
const OPEN: f64 = 1e3;
/// Depth above which the correction counts as failed unless it falls, in multiples of the slop [-].
const DEEP: f64 = 10.0;
/// Fraction of the removal that `max-speed` allows by which an error must fall in a step [-].
const REQUIRED_REMOVAL: f64 = 0.1;

/// Position errors of a tree after the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TreeCorrection {
    /// Depth after the last step [m, rad]; infinite if the state was set from outside.
    depth: f64,
    /// Largest error when the last correction failed [m, rad].
    failed_at: f64,
    /// Corrections that failed in sequence.
    failures: u8,
    /// Steps until the next attempt.
    wait: u8,
}

impl Default for TreeCorrection {
    fn default() -> Self {
        Self { depth: f64::INFINITY, failed_at: 0.0, failures: 0, wait: 0 }
    }
}

impl TreeCorrection {
    /// Its numbers, for a snapshot: depth and error, failures and steps to wait.
    pub fn parts(&self) -> ([f64; 2], [u8; 2]) {
        ([self.depth, self.failed_at], [self.failures, self.wait])
    }

    /// From the numbers of a snapshot.
    pub fn from_parts([depth, failed_at]: [f64; 2], [failures, wait]: [u8; 2]) -> Self {
        Self { depth, failed_at, failures: failures.min(MAX_DOUBLINGS), wait }
    }

    /// Whether a correction of this error is to be tried.
    pub fn is_due(&self, error: f64) -> bool {
        self.wait == 0 || error > GROWTH * self.failed_at
    }

    /// Notes that a correction did not reduce an error, and puts off the next attempt: by one step after the
    /// first failure, by twice as many after each further one.
    pub fn fail(&mut self, error: f64) {
        self.failed_at = error;
        self.failures = (self.failures + 1).min(MAX_DOUBLINGS);
        self.wait = 1 << (self.failures - 1);
    }

    /// Notes that a correction reduced an error.
    pub fn succeed(&mut self) {
        (self.failures, self.wait) = (0, 0);
    }

    /// Stores the errors with which the step ends, and returns whether the correction failed: an equality is
    /// open and was not closed further, or bodies penetrate deeply and no less than before. `open_before` is the
    /// sum of the errors of equalities ahead of the correction [m, rad].
    pub fn end_step(
        &mut self,
        errors: &TreeErrors,
        open_before: f64,
        settings: &Stabilisation,
        h: f64,
    ) -> bool {
        self.wait = self.wait.saturating_sub(1);
        let closable = (settings.max_speed.max(MIN_SPEED) * h).min(errors.equality);
        let closes = errors.equality_sum <= open_before - REQUIRED_REMOVAL * closable;
        let open = errors.equality > OPEN * settings.closure && !closes;
        let removable = (settings.max_speed * h).min(errors.depth);
        let falls = errors.depth <= self.depth - REQUIRED_REMOVAL * removable;
        let deep = errors.depth > DEEP * settings.slop && !falls;
        self.depth = errors.depth;
        deep || open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rare_while_corrections_fail() {
        let mut tree = TreeCorrection::default();
        let settings = Stabilisation::default();
        let mut attempts = 0;
        for _ in 0..1000 {
            if tree.is_due(1e-3) {
                attempts += 1;
                tree.fail(1e-3);
            }
            tree.end_step(&TreeErrors::default(), 0.0, &settings, 1e-3);
        }
        // 1, 2, 4, … 32 steps apart, and then one in 32.
        assert!((30..=40).contains(&attempts), "{attempts}");
        assert!(tree.is_due(2e-3), "an error that grows is corrected at once");
        tree.succeed();
        assert!(tree.is_due(1e-3));
    }

    #[test]
    fn a_depth_that_falls_is_no_failure_and_one_that_stays_is() {
        let (settings, h) = (Stabilisation::default(), 1e-3);
        let mut tree = TreeCorrection::default();
        let deep = |depth| TreeErrors { depth, ..TreeErrors::default() };
        assert!(!tree.end_step(&deep(0.05), 0.0, &settings, h), "a state set from outside");
        assert!(!tree.end_step(&deep(0.049), 0.0, &settings, h));
        assert!(tree.end_step(&deep(0.049), 0.0, &settings, h));
        assert!(tree.end_step(&deep(0.050), 0.0, &settings, h));
    }
    #[test]
    fn an_open_equality_is_a_failure_unless_the_correction_closes_it() {
        let (settings, h) = (Stabilisation::default(), 1e-3);
        let open =
            |equality, equality_sum| TreeErrors { equality, equality_sum, ..TreeErrors::NONE };
        let mut tree = TreeCorrection::default();
        // A gap of 0.25 m that closes at the largest speed, and one that another equality takes over.
        assert!(!tree.end_step(&open(0.249, 0.249), 0.25, &settings, h));
        assert!(tree.end_step(&open(0.249, 0.25), 0.25, &settings, h));
        assert!(tree.end_step(&open(0.125, 0.25), 0.25, &settings, h));
        assert!(!tree.end_step(&open(settings.closure, settings.closure), 0.0, &settings, h));
    }
}
