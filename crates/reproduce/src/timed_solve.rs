//! One run of one solver on one problem, with its CPU time.

use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Report, Session, Solution};

use crate::clock::Stopwatch;

/// A report with the CPU time that goes with it.
pub struct TimedSolve {
    /// Report of the solver.
    pub report: Report,
    /// CPU time of the solver \[s\], without measuring residuals.
    pub seconds: f64,
    /// CPU time over wall time [-].
    pub share: f64,
}

/// Solves. The report's time is wall time without measuring; it is multiplied by the call's share
/// of the CPU.
pub fn solve(
    session: &mut Session,
    problem: &Problem,
    goal: &Goal,
    solution: &mut Solution,
) -> Result<TimedSolve, SolverError> {
    let stopwatch = Stopwatch::start();
    let report = session.solve(problem, goal, solution)?;
    let share = stopwatch.share();
    let seconds = report.seconds * share;
    Ok(TimedSolve { report, seconds, share })
}

/// A session with settings.
pub fn session(name: &str, settings: &[(&str, &str)]) -> Result<Session, SolverError> {
    let mut session = Session::new(name)?;
    for (key, value) in settings {
        session.set(key, value)?;
    }
    Ok(session)
}

/// The violation relative to the reference velocity [-], in the model that was solved for.
pub fn relative_violation(report: &Report) -> f64 {
    let violation = report.residuals.of(report.friction_model);
    let reference = report.residuals.reference_velocity;
    if reference > 0.0 { violation / reference } else { violation }
}
