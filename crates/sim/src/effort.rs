//! How much work a step's contact problem is worth.
//!
//! The default solver is asked for the full tolerance first, which it reaches in a few Newton
//! iterations unless a pile collides with itself. Where it does not, motion may be less exact than
//! rest, relative to its own speed. What is still far from an answer then, or has none, is better
//! solved with constraints that yield. Any other solver gets all the work it asks for: who names
//! one wants to see what it does.

use stiction_solve::law::FrictionModel;
use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Report, Residuals, Session, Solution, Status};

/// Newton iterations for the full tolerance, and for the reduced one.
const SHORT_RATION: usize = 12;
const RATION: usize = 100;
/// How much less exact rest may be than asked for where exactness is dear [-].
const REST: f64 = 10.0;
/// How much less exact motion may be than was asked of rest, and how inexact at most [-].
const MOTION: f64 = 1e3;
const LOOSEST_MOTION: f64 = 1e-3;
/// Violation, relative to the reference velocity, from which on yielding constraints are better [-].
const FAR: f64 = 1e-2;
/// The solver whose work is rationed, unless iterations were asked for.
const RATIONED: &str = "auto";

/// How a contact problem ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub status: Status,
    pub friction_model: FrictionModel,
    pub iterations: usize,
    pub residuals: Residuals,
    pub softened: bool,
}

impl Outcome {
    /// There was no problem.
    pub fn nothing(model: Option<FrictionModel>) -> Self {
        Self {
            status: Status::Converged,
            friction_model: model.unwrap_or(FrictionModel::Coulomb),
            iterations: 0,
            residuals: Residuals::default(),
            softened: false,
        }
    }

    fn of(report: &Report) -> Self {
        Self {
            status: report.status,
            friction_model: report.friction_model,
            iterations: report.iterations,
            residuals: report.residuals,
            softened: false,
        }
    }

    /// Takes over what the same constraints led to when they were solved again.
    pub fn repeat(&mut self, again: &Self) {
        self.iterations += again.iterations;
        (self.status, self.residuals) = (again.status, again.residuals);
    }

    /// Takes over what yielding constraints led to.
    pub fn soften(&mut self, report: &Report) {
        self.iterations += report.iterations;
        (self.status, self.residuals, self.softened) = (report.status, report.residuals, true);
    }
}

/// Whether yielding constraints are called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// No: the answer stands.
    Stands,
    /// Yes, from what was found.
    Yield,
    /// Yes, from the cold start: what was found is worth nothing.
    YieldFromCold,
}

/// Sets up the default solver for steps, which have their own way out and their own measure of what
/// is good enough.
pub(crate) fn prepare(session: &mut Session) -> Result<(), SolverError> {
    if session.name() == RATIONED {
        session.set("fallback", "false")?;
        session.set("natural-map", "false")?;
    }
    Ok(())
}

/// Solves a problem as it stands.
pub(crate) fn solve(
    session: &mut Session,
    problem: &Problem,
    goal: &Goal,
    solution: &mut Solution,
) -> Result<(Outcome, Next), SolverError> {
    let rationed = session.name() == RATIONED && goal.max_iterations.is_none();
    let max_iterations = goal.max_iterations.or(rationed.then_some(SHORT_RATION));
    let first = Goal { max_iterations, ..*goal };
    let mut report = session.solve(problem, &first, solution)?;
    if rationed && !matches!(report.status, Status::Converged | Status::Failed) {
        let motion_tolerance = (MOTION * goal.tolerance).min(LOOSEST_MOTION);
        let (tolerance, max_iterations) = (REST * goal.tolerance, Some(RATION));
        let second = Goal { tolerance, motion_tolerance, max_iterations, ..*goal };
        let done = report.iterations;
        report = session.solve(problem, &second, solution)?;
        report.iterations += done;
    }
    let finite = solution.velocity.iter().all(|v| v.is_finite());
    let error = report.residuals.of(report.friction_model);
    let near = error <= FAR * report.residuals.reference_velocity;
    let next = match report.status {
        Status::Failed => Next::YieldFromCold,
        _ if !finite => Next::YieldFromCold,
        Status::IterationLimit | Status::Stalled if rationed && !near => Next::Yield,
        _ => Next::Stands,
    };
    Ok((Outcome::of(&report), next))
}
