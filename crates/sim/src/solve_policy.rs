//! How many iterations the contact problem of a step is worth, and when it is solved again with
//! softened constraints.
//!
//! The default solver first gets a few Newton iterations for the full tolerance, which suffice
//! unless a pile collides with itself. Otherwise a second pass accepts a larger error, relative to
//! the speed of the motion. A problem whose solution is still far off, or that has none, is
//! solved with softened constraints. A solver that the user selects has no such limit: its own
//! behaviour is of interest.

use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Report, Session, Solution, Status};

/// Newton iterations of the first pass, at the full tolerance, and of the second, at the reduced one.
const FIRST_PASS_ITERATIONS: usize = 12;
const SECOND_PASS_ITERATIONS: usize = 100;
/// Tolerance of the second pass at rest, relative to the requested one [-].
const REST_TOLERANCE_FACTOR: f64 = 10.0;
/// Tolerance of the second pass in motion, relative to the requested one, and its bound [-].
const MOTION_TOLERANCE_FACTOR: f64 = 1e3;
const MAX_MOTION_TOLERANCE: f64 = 1e-3;
/// Violation, relative to the reference velocity, above which softened constraints are better [-].
const FAR: f64 = 1e-2;
/// The solver whose iterations are limited, unless their number was set.
const LIMITED_SOLVER: &str = "auto";

/// Whether a problem is to be solved again with softened constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// No: the solution is accepted.
    None,
    /// Yes, starting from the solution.
    Softened,
    /// Yes, from a cold start: the solution is unusable.
    SoftenedColdStart,
}

/// Sets up the default solver for steps, which have their own fallback and their own tolerance.
pub(crate) fn prepare(session: &mut Session) -> Result<(), SolverError> {
    if session.name() == LIMITED_SOLVER {
        session.set("fallback", "false")?;
        session.set("natural-map", "false")?;
    }
    Ok(())
}

/// Solves a problem from the guess in `solution`.
pub(crate) fn solve(
    session: &mut Session,
    problem: &Problem,
    goal: &Goal,
    solution: &mut Solution,
) -> Result<(Report, Retry), SolverError> {
    let limited = session.name() == LIMITED_SOLVER && goal.max_iterations.is_none();
    let max_iterations = goal.max_iterations.or(limited.then_some(FIRST_PASS_ITERATIONS));
    let first = Goal { max_iterations, ..*goal };
    let mut report = session.solve(problem, &first, solution)?;
    if limited && !matches!(report.status, Status::Converged | Status::Failed) {
        let motion_tolerance = (MOTION_TOLERANCE_FACTOR * goal.tolerance).min(MAX_MOTION_TOLERANCE);
        let tolerance = REST_TOLERANCE_FACTOR * goal.tolerance;
        let max_iterations = Some(SECOND_PASS_ITERATIONS);
        let second = Goal { tolerance, motion_tolerance, max_iterations, ..*goal };
        let done = report.iterations;
        report = session.solve(problem, &second, solution)?;
        report.iterations += done;
    }
    let finite = solution.velocity.iter().all(|v| v.is_finite());
    let error = report.residuals.of(report.friction_model);
    let near = error <= FAR * report.residuals.reference_velocity;
    let retry = match report.status {
        Status::Failed => Retry::SoftenedColdStart,
        _ if !finite => Retry::SoftenedColdStart,
        Status::IterationLimit | Status::Stalled if limited && !near => Retry::Softened,
        _ => Retry::None,
    };
    Ok((report, retry))
}
