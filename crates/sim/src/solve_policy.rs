//! How many iterations the contact problem of a step is worth, and when it is solved again with
//! softened constraints.
//!
//! The default solver first gets a few Newton iterations for the full tolerance, which suffice
//! unless a pile collides with itself. Otherwise a second pass accepts a larger error, relative to
//! the speed of the motion. The few problems that need more iterations than that get them in a third pass: in a heap
//! because one collision is hard, on a large mesh because an iteration is no Newton step but a product with A. A
//! problem whose solution is still far off, or that has none, is solved with softened constraints. Where step after step
//! has none, such as limits that hold two bodies inside one another, the later passes are tried now and then only. A solver that
//! the user selects has no such limits: its own behaviour is of interest.

use std::time::{Duration, Instant};

use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Report, Session, Solution, Status};

/// Iterations of the first pass, at the full tolerance, and of the two others, at the reduced one.
const FIRST_PASS_ITERATIONS: usize = 12;
const LATER_PASSES_ITERATIONS: [usize; 2] = [100, 1000];
/// Tolerance of the later passes at rest, relative to the requested one [-].
const REST_TOLERANCE_FACTOR: f64 = 10.0;
/// Tolerance of the later passes in motion, relative to the requested one, and its bound [-].
const MOTION_TOLERANCE_FACTOR: f64 = 1e3;
const MAX_MOTION_TOLERANCE: f64 = 1e-3;
/// Steps in a row whose problem no pass solved, after which the later passes are left out, and the steps after which they are tried
/// again.
const PATIENCE: u32 = 3;
const NEW_TRIAL: u32 = 32;
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

/// Whether a problem is worth the later passes after a number of steps in a row that they did not solve.
pub(crate) fn is_worth_later_passes(unsolved: u32) -> bool {
    unsolved < PATIENCE || unsolved.is_multiple_of(NEW_TRIAL)
}

/// Whether iterations are limited: those of the default solver, unless their number was set.
pub(crate) fn is_limited(session: &Session, goal: &Goal) -> bool {
    session.name() == LIMITED_SOLVER && goal.max_iterations.is_none()
}

/// Solves a problem from the guess in `solution`. `unsolved` is the number of steps in a row whose problem no pass solved.
pub(crate) fn solve(
    session: &mut Session,
    problem: &Problem,
    (goal, unsolved): (&Goal, u32),
    solution: &mut Solution,
) -> Result<(Report, Retry), SolverError> {
    let limited = is_limited(session, goal);
    let max_iterations = goal.max_iterations.or(limited.then_some(FIRST_PASS_ITERATIONS));
    let first = Goal { max_iterations, ..*goal };
    let begin = Instant::now();
    let time_left = || goal.time_limit.map(|limit| limit.saturating_sub(begin.elapsed()));
    let mut report = session.solve(problem, &first, solution)?;
    let motion_tolerance = (MOTION_TOLERANCE_FACTOR * goal.tolerance).min(MAX_MOTION_TOLERANCE);
    let reduced =
        Goal { tolerance: REST_TOLERANCE_FACTOR * goal.tolerance, motion_tolerance, ..*goal };
    let is_worth_more = is_worth_later_passes(unsolved);
    for (pass, iterations) in LATER_PASSES_ITERATIONS.into_iter().enumerate() {
        // What stalled at the reduced tolerance stalls again.
        let stalled = pass == 0 && report.status == Status::Stalled;
        let time_limit = time_left();
        let unfinished = stalled || report.status == Status::IterationLimit;
        if limited && is_worth_more && unfinished && time_limit != Some(Duration::ZERO) {
            let done = report.iterations;
            let later = Goal { max_iterations: Some(iterations), time_limit, ..reduced };
            report = session.solve(problem, &later, solution)?;
            report.iterations += done;
        }
    }
    let finite = solution.velocity.iter().all(|v| v.is_finite());
    let error = report.residuals.of(report.friction_model);
    let near = error <= FAR * report.residuals.reference_velocity;
    let retry = match report.status {
        Status::Failed => Retry::SoftenedColdStart,
        _ if !finite => Retry::SoftenedColdStart,
        _ if time_left() == Some(Duration::ZERO) => Retry::None,
        Status::IterationLimit | Status::Stalled if limited && !near => Retry::Softened,
        _ => Retry::None,
    };
    Ok((report, retry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_without_a_solution_are_tried_at_first_and_then_once_in_thirty_two_steps() {
        let tried: Vec<u32> =
            (0..100).filter(|unsolved| is_worth_later_passes(*unsolved)).collect();
        assert_eq!(tried, [0, 1, 2, 32, 64, 96]);
    }
}
