//! Representative steps of a run, on which solvers are compared: an impact, an ordinary step, and one
//! at rest.

use stiction_sim::{Simulation, StepReport};

/// Least number of rows of a step at rest, relative to the largest number of rows of the run. Steps
/// before the first contact have low velocities too, but no contact problem to compare on.
const LEAST_ROWS: f64 = 0.5;

/// Reason for which a step was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionReason {
    /// The largest sum of contact forces of all steps.
    Impact,
    /// The median number of rows of all steps with any.
    Median,
    /// The least velocity at contacts of all steps with many rows.
    Rest,
}

/// All reasons; each selects at most one step.
pub const REASONS: [SelectionReason; 3] =
    [SelectionReason::Impact, SelectionReason::Median, SelectionReason::Rest];

impl SelectionReason {
    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Median => "median",
            Self::Rest => "rest",
        }
    }
}

/// Quantities of a step by which steps are selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSummary {
    /// Number of rows of its contact problem.
    pub rows: usize,
    /// Sum of the magnitudes of its contact forces [N].
    pub force: f64,
    /// Largest relative velocity at a contact after it [m/s].
    pub velocity: f64,
}

impl StepSummary {
    /// The summary of the last step of a simulation.
    pub fn of(simulation: &Simulation, report: &StepReport) -> Self {
        let contacts = simulation.contacts();
        Self {
            rows: report.rows,
            force: contacts.iter().map(|contact| contact.force.norm()).sum(),
            velocity: contacts.iter().map(|contact| contact.velocity.norm()).fold(0.0, f64::max),
        }
    }
}

/// Selects representative steps, numbered from one, in ascending order, without repetition.
pub fn representative_steps(run: &[StepSummary]) -> Vec<(usize, SelectionReason)> {
    let constrained: Vec<usize> = (0..run.len()).filter(|&k| run[k].rows > 0).collect();
    let most = constrained.iter().map(|&k| run[k].rows).max().unwrap_or(0) as f64;
    let impact = constrained.iter().max_by(|&&a, &&b| run[a].force.total_cmp(&run[b].force));
    let with_many_rows = constrained.iter().filter(|&&k| run[k].rows as f64 >= LEAST_ROWS * most);
    let rest = with_many_rows.min_by(|&&a, &&b| run[a].velocity.total_cmp(&run[b].velocity));
    let mut by_rows = constrained.clone();
    by_rows.sort_by_key(|&k| (run[k].rows, k));
    let median = by_rows.get(by_rows.len() / 2);
    let found = [
        (impact, SelectionReason::Impact),
        (rest, SelectionReason::Rest),
        (median, SelectionReason::Median),
    ];
    let mut steps: Vec<(usize, SelectionReason)> = Vec::with_capacity(found.len());
    for (k, reason) in found {
        if let Some(step) = k.map(|k| k + 1).filter(|&k| steps.iter().all(|(step, _)| *step != k)) {
            steps.push((step, reason));
        }
    }
    steps.sort_by_key(|(step, _)| *step);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary((rows, force, velocity): (usize, f64, f64)) -> StepSummary {
        StepSummary { rows, force, velocity }
    }

    #[test]
    fn free_flight_impact_and_rest_are_distinguished() {
        let run = [(0, 0.0, 0.0), (3, 5.0, 0.001), (9, 80.0, 2.0), (6, 10.0, 0.5), (9, 12.0, 0.01)];
        let found = representative_steps(&run.map(summary));
        // Step 2 is the quietest, but of few rows; rows in order are 3, 6, 9, 9: the third is step 3,
        // which is the impact already.
        assert_eq!(found, [(3, SelectionReason::Impact), (5, SelectionReason::Rest)]);
    }

    #[test]
    fn a_run_without_constraints_has_no_representative_step() {
        assert!(representative_steps(&[(0, 0.0, 0.0); 4].map(summary)).is_empty());
        assert!(representative_steps(&[]).is_empty());
    }

    #[test]
    fn a_single_step_is_taken_once() {
        assert_eq!(representative_steps(&[summary((3, 1.0, 1.0))]), [(1, SelectionReason::Impact)]);
    }
}
