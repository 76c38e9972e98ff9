//! Statistics over several steps: one accumulator for Python reports, run summaries, recordings and
//! benchmarks.

use std::time::Duration;

use stiction_solve::Status;
use stiction_solve::law::FrictionModel;

use crate::report::{PHASES, StepReport};
use crate::start_errors::StartErrors;
use crate::status::{STEP_STATUSES, StepFlags, StepStatus};

/// Mean, largest and last of a quantity that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    sum: f64,
    count: usize,
    max: f64,
    last: f64,
}

impl Tally {
    /// Adds a value. NaN stays.
    pub fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1;
        self.last = x;
        if x.is_nan() || x > self.max {
            self.max = x;
        }
    }

    /// The mean; NaN if there is no value.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The largest; zero if there is no value.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The last; zero if there is no value.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// The sum.
    pub fn sum(&self) -> f64 {
        self.sum
    }
}

/// Statistics of steps, from their reports.
#[derive(Clone, Debug, PartialEq)]
pub struct StepStatistics {
    /// Number of steps.
    pub steps: usize,
    /// Faults of all steps together.
    pub flags: StepFlags,
    /// Number of steps of each status, in the order of [`STEP_STATUSES`].
    pub status_counts: [usize; STEP_STATUSES.len()],
    /// Worst status of a solve.
    pub solver_status: Status,
    /// Friction model of the last step.
    pub friction_model: FrictionModel,
    /// Solver iterations.
    pub iterations: Tally,
    /// Relative momentum error [-].
    pub momentum: Tally,
    /// Violation of the laws with exact friction [m/s].
    pub coulomb: Tally,
    /// Violation of the laws with relaxed friction [m/s].
    pub convex: Tally,
    /// Natural map of the FCLIB collection [-].
    pub natural_map: Tally,
    /// Velocity with which residuals are compared [m/s].
    pub reference_velocity: Tally,
    /// Contacts that were detected.
    pub contacts: Tally,
    /// Rows of the contact problem.
    pub rows: Tally,
    /// Deepest penetration [m].
    pub penetration: Tally,
    /// Largest distance of a coordinate or a tendon beyond its range [m, rad].
    pub limit_error: Tally,
    /// Largest position error of an equality [m, rad].
    pub equality_error: Tally,
    /// Constraints that were violated at the first start at which some were.
    pub start_errors: StartErrors,
    /// Steps whose solution missed the tolerance, or needed softened constraints.
    pub unconverged: usize,
    /// Steps that needed softened constraints.
    pub softened: usize,
    /// Steps for whose motion the time step was too large.
    pub unresolved: usize,
    /// Largest energy or momentum without cause of a tree relative to what its scheme explains [-], see
    /// [`EnergyBalance::largest_error`](crate::EnergyBalance::largest_error).
    pub energy_imbalance: Tally,
    /// Steps that were computed in parts.
    pub divided: usize,
    /// Largest number of parts of a step.
    pub parts: usize,
    /// Steps whose position errors could not be removed.
    pub correction_failed: usize,
    /// Largest number of contacts in a step whose depth is not known to its tolerance.
    pub uncertain_contacts: usize,
    /// Largest number of inverted elements after a step.
    pub inverted: usize,
    /// Trees asleep.
    pub asleep: Tally,
    /// Whether another run has the same bits: not if solves have a time budget.
    pub reproducible: bool,
    /// Time per phase, in the order of [`PHASES`].
    pub phases: [Duration; PHASES.len()],
}

impl Default for StepStatistics {
    fn default() -> Self {
        Self {
            steps: 0,
            flags: StepFlags::default(),
            status_counts: [0; STEP_STATUSES.len()],
            solver_status: Status::Converged,
            friction_model: FrictionModel::Coulomb,
            iterations: Tally::default(),
            momentum: Tally::default(),
            coulomb: Tally::default(),
            convex: Tally::default(),
            natural_map: Tally::default(),
            reference_velocity: Tally::default(),
            contacts: Tally::default(),
            rows: Tally::default(),
            penetration: Tally::default(),
            limit_error: Tally::default(),
            equality_error: Tally::default(),
            start_errors: StartErrors::default(),
            unconverged: 0,
            softened: 0,
            unresolved: 0,
            energy_imbalance: Tally::default(),
            divided: 0,
            parts: 0,
            correction_failed: 0,
            uncertain_contacts: 0,
            inverted: 0,
            asleep: Tally::default(),
            reproducible: true,
            phases: [Duration::ZERO; PHASES.len()],
        }
    }
}

impl StepStatistics {
    /// Adds a step.
    pub fn add(&mut self, report: &StepReport) {
        let residuals = &report.residuals;
        self.steps += 1;
        self.flags = self.flags.union(report.flags());
        self.status_counts[report.status() as usize] += 1;
        if report.solver_status as u8 > self.solver_status as u8 {
            self.solver_status = report.solver_status;
        }
        self.friction_model = report.friction_model;
        self.iterations.add(report.iterations as f64);
        self.momentum.add(residuals.momentum);
        self.coulomb.add(residuals.coulomb);
        self.convex.add(residuals.convex);
        self.natural_map.add(residuals.natural_map);
        self.reference_velocity.add(residuals.reference_velocity);
        self.contacts.add(report.contacts as f64);
        self.rows.add(report.rows as f64);
        self.penetration.add(report.penetration);
        self.limit_error.add(report.limit_error);
        self.equality_error.add(report.equality_error);
        if self.start_errors.is_empty() {
            self.start_errors = report.start_errors;
        }
        self.unconverged += usize::from(!report.converged());
        self.softened += usize::from(report.softened);
        self.unresolved += usize::from(report.unresolved);
        self.energy_imbalance.add(report.energy.largest_error());
        self.divided += usize::from(report.parts > 1);
        self.parts = self.parts.max(report.parts);
        self.correction_failed += usize::from(report.correction_failed);
        self.uncertain_contacts = self.uncertain_contacts.max(report.uncertain_contacts);
        self.inverted = self.inverted.max(report.inverted);
        self.asleep.add(report.asleep as f64);
        self.reproducible &= report.reproducible;
        for (sum, time) in self.phases.iter_mut().zip(report.phases.all()) {
            *sum += *time;
        }
    }

    /// Worst status of a step; [`StepStatus::Ok`] if there was none.
    pub fn status(&self) -> StepStatus {
        self.flags.worst()
    }

    /// Number of steps whose worst fault is this one, or that have none for [`StepStatus::Ok`].
    pub fn count(&self, status: StepStatus) -> usize {
        self.status_counts[status as usize]
    }

    /// Number of steps whose result cannot be relied upon.
    pub fn failures(&self) -> usize {
        STEP_STATUSES.iter().filter(|s| s.is_failure()).map(|s| self.count(*s)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_keeps_mean_largest_and_last_and_never_hides_nan() {
        let mut tally = Tally::default();
        assert!(tally.mean().is_nan() && tally.max() == 0.0);
        [1.0, 5.0, 3.0].iter().for_each(|x| tally.add(*x));
        assert_eq!((tally.mean(), tally.max(), tally.last()), (3.0, 5.0, 3.0));
        tally.add(f64::NAN);
        tally.add(1.0);
        assert!(tally.max().is_nan() && tally.mean().is_nan());
    }

    #[test]
    fn the_status_of_several_steps_is_the_worst_of_them_and_each_step_counts_once() {
        let mut statistics = StepStatistics::default();
        let report = StepReport::without_problem(FrictionModel::Coulomb);
        for solver_status in [Status::Stalled, Status::Converged, Status::IterationLimit] {
            statistics.add(&StepReport { solver_status, unresolved: true, ..report });
        }
        statistics.add(&StepReport { softened: true, ..report });
        statistics.add(&StepReport { uncertain_contacts: 2, correction_failed: true, ..report });
        statistics.add(&report);
        assert_eq!((statistics.steps, statistics.solver_status), (6, Status::Stalled));
        assert_eq!((statistics.unconverged, statistics.unresolved), (3, 3));
        assert_eq!(statistics.status(), StepStatus::ProblemNotSolved);
        assert_eq!(statistics.status_counts, [1, 1, 0, 1, 1, 2]);
        assert_eq!(statistics.failures(), 4);
        assert_eq!(statistics.flags.iter().count(), STEP_STATUSES.len() - 1);
    }
}
