//! Which steps of a run tell most about a solver: an impact, an ordinary step, one at rest.

use stiction_sim::{Simulation, StepReport};

/// Part of the largest number of rows that a step at rest must have: the moment before anything
/// touches is quiet too, and tells nothing.
const CROWDED: f64 = 0.5;

/// Why a step was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The largest sum of contact forces of all steps.
    Impact,
    /// The median number of rows of all steps with any.
    Median,
    /// The least velocity at contacts of all steps with many rows.
    Rest,
}

/// All reasons, each for at most one step.
pub const REASONS: [Reason; 3] = [Reason::Impact, Reason::Median, Reason::Rest];

impl Reason {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Median => "median",
            Self::Rest => "rest",
        }
    }
}

/// What a step looked like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glance {
    /// Rows of its contact problem.
    pub rows: usize,
    /// Sum of the sizes of its contact forces [N].
    pub force: f64,
    /// Largest relative velocity at a contact after it [m/s].
    pub velocity: f64,
}

impl Glance {
    /// Of the step that a simulation did last.
    pub fn of(simulation: &Simulation, report: &StepReport) -> Self {
        let contacts = simulation.contacts();
        Self {
            rows: report.rows,
            force: contacts.iter().map(|contact| contact.force.norm()).sum(),
            velocity: contacts.iter().map(|contact| contact.velocity.norm()).fold(0.0, f64::max),
        }
    }
}

/// Telling steps, numbered from one and in their order, each once.
pub fn telling(run: &[Glance]) -> Vec<(usize, Reason)> {
    let posed: Vec<usize> = (0..run.len()).filter(|&k| run[k].rows > 0).collect();
    let most = posed.iter().map(|&k| run[k].rows).max().unwrap_or(0) as f64;
    let impact = posed.iter().max_by(|&&a, &&b| run[a].force.total_cmp(&run[b].force));
    let crowded = posed.iter().filter(|&&k| run[k].rows as f64 >= CROWDED * most);
    let rest = crowded.min_by(|&&a, &&b| run[a].velocity.total_cmp(&run[b].velocity));
    let mut by_rows = posed.clone();
    by_rows.sort_by_key(|&k| (run[k].rows, k));
    let median = by_rows.get(by_rows.len() / 2);
    let found = [(impact, Reason::Impact), (rest, Reason::Rest), (median, Reason::Median)];
    let mut steps: Vec<(usize, Reason)> = Vec::with_capacity(found.len());
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

    fn glance((rows, force, velocity): (usize, f64, f64)) -> Glance {
        Glance { rows, force, velocity }
    }

    #[test]
    fn free_flight_impact_and_rest_are_told_apart() {
        let run = [(0, 0.0, 0.0), (3, 5.0, 0.001), (9, 80.0, 2.0), (6, 10.0, 0.5), (9, 12.0, 0.01)];
        let found = telling(&run.map(glance));
        // Step 2 is the quietest, but of few rows; rows in order are 3, 6, 9, 9: the third is step 3,
        // which is the impact already.
        assert_eq!(found, [(3, Reason::Impact), (5, Reason::Rest)]);
    }

    #[test]
    fn a_run_without_constraints_tells_nothing() {
        assert!(telling(&[(0, 0.0, 0.0); 4].map(glance)).is_empty());
        assert!(telling(&[]).is_empty());
    }

    #[test]
    fn a_single_step_is_taken_once() {
        assert_eq!(telling(&[glance((3, 1.0, 1.0))]), [(1, Reason::Impact)]);
    }
}
