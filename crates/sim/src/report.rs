//! Measured results of one step.

use std::fmt;
use std::time::{Duration, Instant};

use stiction_solve::law::FrictionModel;
use stiction_solve::{Report, Residuals, Status};

use crate::energy_balance::EnergyBalance;
use crate::start_errors::StartErrors;
use crate::status::{StepFlags, StepStatus};

/// The phases of a step, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Poses and velocities of bodies.
    Kinematics,
    /// Contacts.
    Collision,
    /// Mass matrices and forces.
    Dynamics,
    /// Ports, rows, laws, bias.
    Assembly,
    /// Solution of the contact problem.
    Solve,
    /// Positions, stabilisation, acceptance.
    Integrate,
}

/// Names of the phases, in their order.
pub const PHASES: [&str; 6] =
    ["kinematics", "collision", "dynamics", "assembly", "solve", "integrate"];

/// Time of each phase of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases([Duration; PHASES.len()]);

impl Phases {
    /// Time of one phase.
    pub fn of(&self, phase: Phase) -> Duration {
        self.0[phase as usize]
    }

    /// All of them, in their order.
    pub fn all(&self) -> &[Duration; PHASES.len()] {
        &self.0
    }

    /// The whole step.
    pub fn total(&self) -> Duration {
        self.0.iter().sum()
    }
}

/// Measures the time of phases.
#[derive(Debug)]
pub(crate) struct PhaseClock {
    last: Instant,
    pub phases: Phases,
}

impl PhaseClock {
    pub fn start() -> Self {
        Self { last: Instant::now(), phases: Phases::default() }
    }

    /// Ends a phase.
    pub fn lap(&mut self, phase: Phase) {
        let now = Instant::now();
        self.phases.0[phase as usize] += now - self.last;
        self.last = now;
    }
}

/// Results of one step. Residuals are measured on the problem, not by the solver.
#[must_use = "a step that did not converge must not pass for one that did"]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// How the contact problem ended; `Converged` if there was none.
    pub solver_status: Status,
    /// The friction model that was solved for.
    pub friction_model: FrictionModel,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Residuals of the solution; zero if there was no problem.
    pub residuals: Residuals,
    /// Contacts that were detected, including those still apart.
    pub contacts: usize,
    /// Rows of the contact problem.
    pub rows: usize,
    /// Deepest penetration after the step [m].
    pub penetration: f64,
    /// Largest distance of a coordinate or a tendon beyond its range after the step [m, rad].
    pub limit_error: f64,
    /// Largest position error of an equality after the step [m, rad].
    pub equality_error: f64,
    /// Constraints that the state violates, if it was set from outside before the step.
    pub start_errors: StartErrors,
    /// Whether the problem could not be solved as posed, and was solved with softened constraints.
    pub softened: bool,
    /// Whether position errors could not be removed: an equality is open, or bodies penetrate deeply and no
    /// less than before the step.
    pub correction_failed: bool,
    /// Whether the time step is too large for the motion: a link or a segment of a cable turned by more
    /// than half a radian, a free body by more than a quarter turn, velocity-dependent forces changed
    /// the velocity of a mechanism by more than the scheme allows, vertices of an element moved relative to one another by more than half its
    /// size, an element of a soft body is inverted, a soft body penetrates by more than half its
    /// shortest edge, the equations of free motion, of an implicit scheme or of a nonlinear material
    /// were not solved, or a tree gained or lost energy without a cause. Use a smaller step.
    pub unresolved: bool,
    /// Balance of energy of the step.
    pub energy: EnergyBalance,
    /// Contacts whose depth is not known to its tolerance.
    pub uncertain_contacts: usize,
    /// Inverted elements of soft bodies after the step.
    pub inverted: usize,
    /// Trees that are asleep.
    pub asleep: usize,
    /// Parts in which the step was computed; one unless its motion was not resolved at once.
    pub parts: usize,
    /// Whether another run has the same bits: not if solves have a time budget.
    pub reproducible: bool,
    /// Time of each phase.
    pub phases: Phases,
}

impl StepReport {
    /// The report of a step that has no contact problem.
    pub(crate) fn without_problem(friction_model: FrictionModel) -> Self {
        Self {
            solver_status: Status::Converged,
            friction_model,
            iterations: 0,
            residuals: Residuals::default(),
            contacts: 0,
            rows: 0,
            penetration: 0.0,
            limit_error: 0.0,
            equality_error: 0.0,
            start_errors: StartErrors::default(),
            softened: false,
            correction_failed: false,
            unresolved: false,
            energy: EnergyBalance::default(),
            uncertain_contacts: 0,
            inverted: 0,
            asleep: 0,
            parts: 1,
            reproducible: true,
            phases: Phases::default(),
        }
    }

    /// Takes over the result of a solve; iterations of all solves of the step add up.
    pub(crate) fn add_solve(&mut self, solve: &Report) {
        self.iterations += solve.iterations;
        (self.solver_status, self.residuals) = (solve.status, solve.residuals);
    }

    /// The report of a step of two parts, of which this is the first. Position errors are those after the last part, and
    /// other quantities the largest or the sum.
    pub(crate) fn followed_by(mut self, last: &Self) -> Self {
        if last.solver_status as u8 > self.solver_status as u8 {
            self.solver_status = last.solver_status;
        }
        self.friction_model = last.friction_model;
        self.iterations += last.iterations;
        self.residuals = self.residuals.largest(&last.residuals);
        self.contacts = self.contacts.max(last.contacts);
        self.rows = self.rows.max(last.rows);
        (self.penetration, self.limit_error) = (last.penetration, last.limit_error);
        self.equality_error = last.equality_error;
        self.softened |= last.softened;
        self.correction_failed |= last.correction_failed;
        self.unresolved |= last.unresolved;
        self.energy = self.energy.followed_by(&last.energy);
        self.uncertain_contacts = self.uncertain_contacts.max(last.uncertain_contacts);
        (self.inverted, self.asleep) = (last.inverted, last.asleep);
        self.parts += last.parts;
        self.reproducible &= last.reproducible;
        for (sum, time) in self.phases.0.iter_mut().zip(&last.phases.0) {
            *sum += *time;
        }
        self
    }

    /// Whether the solution met the tolerance, without softened constraints.
    pub fn converged(&self) -> bool {
        self.solver_status == Status::Converged && !self.softened
    }

    /// The faults of the step.
    pub fn flags(&self) -> StepFlags {
        StepFlags::default()
            .with(StepStatus::Softened, self.softened)
            .with(StepStatus::GeometryUncertain, self.uncertain_contacts > 0)
            .with(StepStatus::MotionNotResolved, self.unresolved)
            .with(StepStatus::CorrectionNotDone, self.correction_failed)
            .with(StepStatus::ProblemNotSolved, self.solver_status != Status::Converged)
    }

    /// Status of the whole step: the worst of its faults.
    pub fn status(&self) -> StepStatus {
        self.flags().worst()
    }
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.status().name())?;
        let others = self.flags().iter().filter(|fault| *fault != self.status());
        others.map(StepStatus::name).try_for_each(|fault| write!(f, ", {fault}"))?;
        let solver = self.solver_status.name();
        write!(f, "; solver {solver} after {} iterations, ", self.iterations)?;
        let residual = self.residuals.of(self.friction_model);
        write!(f, "{} contacts, residual {residual:.1e} m/s, ", self.contacts)?;
        write!(f, "penetration {:.1e} m", self.penetration)?;
        if !self.reproducible {
            f.write_str("; bits are not reproducible: solves have a time budget")?;
        }
        if self.start_errors.is_empty() {
            return Ok(());
        }
        write!(f, "; at the start {}", self.start_errors)
    }
}
