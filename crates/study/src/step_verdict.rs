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
        self.failures().map(|(_, steps)| steps).sum()
    }

    /// The kinds of failures with their steps, the worst first.
    fn failures(&self) -> impl Iterator<Item = (StepStatus, usize)> + '_ {
        let counts = |status: &StepStatus| {
            status.is_failure()
                && !(self.check_measures_solver && *status == StepStatus::ProblemNotSolved)
        };
        let kinds = STEP_STATUSES.into_iter().rev().filter(counts);
        kinds.map(|status| (status, self.steps_of(status)))
    }

    /// Lets the check of the run fail if more than [`MAX_FAILED_SHARE`] of its steps failed.
    pub fn judge_steps(&mut self) {
        let failed = self.failed_steps();
        if failed as f64 <= MAX_FAILED_SHARE * self.steps as f64 {
            return;
        }
        let counts: Vec<String> = self
            .failures()
            .filter(|(_, steps)| *steps > 0)
            .map(|(status, steps)| format!("{steps} {}", status.name().replace('_', " ")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;

    /// A run of a stack, with so many of its thousand steps of each status.
    fn summary(counts: &[(StepStatus, usize)]) -> Summary {
        let mut scene_run = crate::scenario("stack", &[]).unwrap().start().unwrap();
        let mut summary = run("stack", &mut scene_run, 1, |_, _| ()).unwrap();
        summary.check = Verdict { passed: true, detail: "stands".to_owned() };
        summary.steps = 1000;
        summary.step_status = [0; STEP_STATUSES.len()];
        for (status, steps) in counts {
            summary.step_status[*status as usize] = *steps;
        }
        summary.step_status[0] = 1000 - counts.iter().map(|(_, steps)| steps).sum::<usize>();
        summary.judge_steps();
        summary
    }

    #[test]
    fn a_run_fails_if_more_than_one_step_in_a_thousand_cannot_be_relied_upon() {
        use StepStatus::{CorrectionNotDone, MotionNotResolved, ProblemNotSolved};
        for status in [CorrectionNotDone, MotionNotResolved, ProblemNotSolved] {
            assert!(summary(&[(status, 1)]).check.passed);
            let failed = summary(&[(status, 2)]).check;
            assert!(!failed.passed && failed.detail.contains("2 of 1000 steps"), "{failed:?}");
            assert!(failed.detail.contains(&status.name().replace('_', " ")));
            assert!(failed.detail.ends_with("stands"));
        }
        assert!(!summary(&[(CorrectionNotDone, 1), (ProblemNotSolved, 1)]).check.passed);
        let mild = [(StepStatus::Softened, 500), (StepStatus::GeometryUncertain, 500)];
        assert!(summary(&mild).check.passed);
    }

    #[test]
    fn the_counts_of_the_document_add_up_to_the_steps() {
        let found = summary(&[(StepStatus::Softened, 3), (StepStatus::ProblemNotSolved, 7)]);
        let document = found.json();
        let counts = document["step_status"].as_object().unwrap();
        assert_eq!(counts.len(), STEP_STATUSES.len());
        assert_eq!(counts.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 1000);
        assert_eq!((&counts["ok"], &counts["softened"]), (&Value::from(990), &Value::from(3)));
    }
}
