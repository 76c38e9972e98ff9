//! Trees whose corrections failed.

use super::MIN_SPEED;
use super::errors::TreeErrors;
use super::lasting::{OPEN, REQUIRED_REMOVAL};
use crate::settings::Stabilisation;

/// Largest number of steps without a correction after failures, as a power of two.
const MAX_DOUBLINGS: u8 = 6;
/// Growth of an error at which a correction is tried again at once [-].
const GROWTH: f64 = 1.5;

/// Corrections of a tree in the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TreeCorrection {
    /// Largest error when the last correction failed [m, rad].
    failed_at: f64,
    /// Corrections that failed in sequence.
    failures: u8,
    /// Steps until the next attempt.
    wait: u8,
}

impl TreeCorrection {
    /// Its numbers, for a snapshot: error, failures and steps to wait.
    pub fn parts(&self) -> (f64, [u8; 2]) {
        (self.failed_at, [self.failures, self.wait])
    }

    /// From the numbers of a snapshot.
    pub fn from_parts(failed_at: f64, [failures, wait]: [u8; 2]) -> Self {
        Self { failed_at, failures: failures.min(MAX_DOUBLINGS), wait }
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

    /// Ends a step, and returns whether the correction did not close open equalities: where they contradict one
    /// another, a displacement reduces one error by as much as it adds to another, and is one more failure than there were
    /// before the step, `failures`; `None` if there was no correction. `open_before` is
    /// the sum of the errors of equalities ahead of the correction [m, rad].
    pub fn end_step(
        &mut self,
        errors: &TreeErrors,
        (open_before, failures): (f64, Option<u8>),
        settings: &Stabilisation,
        h: f64,
    ) -> bool {
        self.wait = self.wait.saturating_sub(1);
        let closable = (settings.max_speed.max(MIN_SPEED) * h).min(errors.equality);
        let closes = errors.equality_sum <= open_before - REQUIRED_REMOVAL * closable;
        let fails = errors.equality > OPEN * settings.closure && !closes;
        if fails && let Some(failures) = failures {
            self.failures = failures;
            self.fail(errors.largest(settings));
        }
        fails
    }

    /// Corrections that failed in sequence.
    pub fn failures(&self) -> u8 {
        self.failures
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
            tree.end_step(&TreeErrors::default(), (0.0, None), &settings, 1e-3);
        }
        // 1, 2, 4, … 32 steps apart, and then one in 32.
        assert!((30..=40).contains(&attempts), "{attempts}");
        assert!(tree.is_due(2e-3), "an error that grows is corrected at once");
        tree.succeed();
        assert!(tree.is_due(1e-3));
    }

    #[test]
    fn an_open_equality_is_a_failure_unless_the_correction_closes_it() {
        let (settings, h) = (Stabilisation::default(), 1e-3);
        let open =
            |equality, equality_sum| TreeErrors { equality, equality_sum, ..TreeErrors::NONE };
        let mut tree = TreeCorrection::default();
        // A gap of 0.25 m that closes at the largest speed, and one that another equality takes over.
        assert!(!tree.end_step(&open(0.249, 0.249), (0.25, None), &settings, h));
        assert!(tree.end_step(&open(0.249, 0.25), (0.25, None), &settings, h));
        assert!(tree.end_step(&open(0.125, 0.25), (0.25, None), &settings, h));
        assert!(!tree.end_step(
            &open(settings.closure, settings.closure),
            (0.0, None),
            &settings,
            h
        ));
        // Attempts that move an error from one equality to another become rare, as others that fail.
        for (failures, wait) in [(0, 1), (1, 2), (2, 4)] {
            tree.succeed();
            assert!(tree.end_step(&open(0.125, 0.25), (0.25, Some(failures)), &settings, h));
            assert_eq!((tree.failures(), tree.wait), (failures + 1, wait));
        }
    }
}
