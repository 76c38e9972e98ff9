//! Whether so many steps of a run are not ok that its result cannot be relied upon.

use serde_json::{Map, Value};
use stiction_scene::Verdict;
use stiction_sim::{STEP_STATUSES, StepStatus};

use crate::run::Summary;

/// Share of the steps of a run that may fail [-]: to be not solved, not corrected or not resolved.
pub const MAX_FAILED_SHARE: f64 = 1e-3;

impl Summary {
    /// Number of steps of a status.
    pub fn steps_of(&self, status: StepStatus) -> usize {
        self.step_status[status as usize]
    }

    /// Number of steps whose result cannot be relied upon.
    pub fn failed_steps(&self) -> usize {
        STEP_STATUSES.iter().filter(|s| s.is_failure()).map(|s| self.steps_of(*s)).sum()
    }

    /// Lets the check of the run fail if more than [`MAX_FAILED_SHARE`] of its steps failed.
    pub fn judge_steps(&mut self) {
        let failed = self.failed_steps();
        if failed as f64 <= MAX_FAILED_SHARE * self.steps as f64 {
            return;
        }
        let kinds = STEP_STATUSES.iter().rev().filter(|s| s.is_failure() && self.steps_of(**s) > 0);
        let counts: Vec<String> = kinds
            .map(|s| format!("{} {}", self.steps_of(*s), s.name().replace('_', " ")))
            .collect();
        let share = 100.0 * failed as f64 / self.steps as f64;
        let limit = 100.0 * MAX_FAILED_SHARE;
        let steps = format!(
            "{failed} of {} steps ({share:.1} %) cannot be relied upon, more than {limit} %: {}",
            self.steps,
            counts.join(", "),
        );
        let own = &self.check.detail;
        let own = if own.is_empty() { String::new() } else { format!("; the scene's own: {own}") };
        self.check = Verdict { passed: false, detail: format!("{steps}{own}") };
        self.check_skipped = false;
    }

    /// Number of steps of every status, by name.
    pub(crate) fn step_status_json(&self) -> Map<String, Value> {
        let count = |status: &StepStatus| (status.name().to_owned(), self.steps_of(*status).into());
        STEP_STATUSES.iter().map(count).collect()
    }
}
