//! The experiments of the paper on CANAL and SubADMM [Lee25, Sec. VII], with contacts from signed distance fields.
//!
//! Residuals are the paper's, `‖J v − z‖` over the number of contacts, of the velocities that the impulses cause. Times are
//! wall times of the solver on one thread, without measuring, the least of a few repetitions.

pub mod assembly;
mod cases;
pub mod convergence;
pub mod newton;
pub mod piling;
pub mod pouring;
mod robot_task;
pub mod sliding;
pub mod splitting;

use stiction_solve::monitor::TracePoint;
use stiction_solve::{Goal, Problem, Report, Session, Solution};

use crate::error::ReproduceError;

/// `−log₁₀` of a residual, as the paper prints it; an exact zero counts as one round-off.
fn digits(residual: f64) -> f64 {
    -residual.max(f64::EPSILON).log10()
}

/// The paper's residual at the last measured iterate of a solve [N·s].
fn slack(report: &Report) -> f64 {
    report.trace.last().map_or(f64::NAN, |point: &TracePoint| point.slack)
}

/// A goal that is never reached, with a trace: limits alone end the solve.
fn endless(max_iterations: Option<usize>, options: &crate::ExperimentOptions<'_>) -> Goal {
    let time_limit = Some(options.time_limit.min(LONGEST_SOLVE));
    Goal { tolerance: 0.0, max_iterations, time_limit, trace: true, ..Goal::default() }
}

/// Longest solve of one step.
const LONGEST_SOLVE: std::time::Duration = std::time::Duration::from_secs(2);

/// Repetitions of a solve whose time counts, or one in a quick run.
const REPEATED: usize = 3;

/// Solves from the free motion without impulses, several times: all iterates are the same, their times the least, which are those
/// without another program on the processor.
fn solve_cold(
    session: &mut Session,
    problem: &Problem,
    goal: &Goal,
    options: &crate::ExperimentOptions<'_>,
) -> Result<Report, ReproduceError> {
    let mut least = session.solve(problem, goal, &mut Solution::cold(problem))?;
    for _ in 1..if options.quick { 1 } else { REPEATED } {
        let again = session.solve(problem, goal, &mut Solution::cold(problem))?;
        least.seconds = least.seconds.min(again.seconds);
        for (point, other) in least.trace.iter_mut().zip(&again.trace) {
            point.seconds = point.seconds.min(other.seconds);
        }
    }
    Ok(least)
}
