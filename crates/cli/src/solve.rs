//! `stiction solve`: solves one contact problem with one or several solvers and measures the residuals
//! of each solution on the problem.

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use stiction_solve::file::{Array, npz, write_arrays};
use stiction_solve::setting::SettingError;
use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Report, Session, Solution, Status};

use crate::args::SolveArgs;
use crate::error::CommandError;
use crate::problem::{LoadedProblem, load_target};
use crate::{files, report, terminal, threads, trace};

/// The solver that runs if none is named.
pub const DEFAULT_SOLVER: &str = "auto";

/// Result of one solver.
pub struct SolverRun {
    /// Its report.
    pub report: Report,
    /// Notes of the solver.
    pub notes: Vec<String>,
    /// Velocities and impulses, in the order of the problem.
    pub solution: Solution,
    /// Largest difference from the reference velocities of the file [m/s].
    pub velocity_error: Option<f64>,
}

/// Runs the command; true if all solvers converged.
pub fn run(args: &SolveArgs) -> Result<bool, CommandError> {
    for path in [&args.save, &args.trace, &args.solution].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let mut sessions = sessions(args)?;
    let loaded = load_target(args)?;
    if let Some(path) = &args.save {
        npz::write(path, &loaded.raw)?;
    }
    let goal = goal(args);
    let runs = threads::run_in_pool(args.threads, || run_all(&mut sessions, &loaded, &goal))??;
    if let Some(path) = &args.trace {
        let figure = trace::figure(&loaded, &goal, &runs);
        figure.write(path).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    }
    if let (Some(path), [run]) = (&args.solution, runs.as_slice()) {
        write_solution(path, &loaded, run)?;
    }
    let text = if args.json {
        report::json(&loaded, &runs)
    } else {
        report::text(&loaded, &goal, &runs, terminal::colours())
    };
    terminal::print(&text)?;
    Ok(runs.iter().all(|run| run.report.status == Status::Converged))
}

fn goal(args: &SolveArgs) -> Goal {
    Goal {
        tolerance: args.tolerance.0,
        max_iterations: args.max_iterations,
        // A limit that overflows `Duration` means no limit.
        time_limit: args.time_limit.and_then(|s| Duration::try_from_secs_f64(s).ok()),
        friction_model: args.friction.map(Into::into),
        trace: args.trace.is_some(),
        ..Goal::default()
    }
}

/// One session per solver with its settings. Refuses settings that no solver has.
fn sessions(args: &SolveArgs) -> Result<Vec<Session>, CommandError> {
    let mut sessions: Vec<(&str, Session)> = Vec::with_capacity(args.solver.len());
    for name in &args.solver {
        if sessions.iter().any(|(other, _)| other == name) {
            let found = format!("{name} twice");
            return Err(option("--solver", found, "each solver once"));
        }
        sessions.push((name, Session::new(name)?));
    }
    if args.solution.is_some() && sessions.len() != 1 {
        let found = format!("{} solvers", sessions.len());
        return Err(option("--solution", found, "one solver, whose solution to write"));
    }
    for setting in &args.set {
        let mut accepted = false;
        let mut refusal = None;
        for (name, session) in &mut sessions {
            if setting.solver.as_deref().is_some_and(|solver| solver != *name) {
                continue;
            }
            match session.set(&setting.key, &setting.value) {
                Ok(()) => accepted = true,
                Err(error @ SolverError::Setting(SettingError::UnknownKey { .. })) => {
                    refusal = Some(error)
                }
                Err(error) => return Err(error.into()),
            }
        }
        match (accepted, refusal) {
            (true, _) => {}
            (false, Some(error)) => return Err(error.into()),
            (false, None) => {
                let found = format!("solver '{}'", setting.solver.as_deref().unwrap_or_default());
                return Err(option("--set", found, "one of the solvers in --solver"));
            }
        }
    }
    if let Some(model) = args.friction.map(Into::into) {
        for (name, session) in &mut sessions {
            if !session.solver().models().contains(&model) {
                let found = format!("{} with solver '{name}'", model.name());
                return Err(option("--friction", found, "a model that the solver solves for"));
            }
        }
    }
    Ok(sessions.into_iter().map(|(_, session)| session).collect())
}

fn option(option: &str, found: String, expected: &str) -> CommandError {
    CommandError::Option { option: option.to_owned(), found, expected: expected.to_owned() }
}

/// Runs the solvers one after the other, each from the cold start.
fn run_all(
    sessions: &mut [Session],
    loaded: &LoadedProblem,
    goal: &Goal,
) -> Result<Vec<SolverRun>, CommandError> {
    let bar = progress(sessions.len());
    let mut runs = Vec::with_capacity(sessions.len());
    for session in sessions {
        bar.set_message(session.name());
        runs.push(run_one(session, loaded, goal)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(runs)
}

fn run_one(
    session: &mut Session,
    loaded: &LoadedProblem,
    goal: &Goal,
) -> Result<SolverRun, CommandError> {
    let problem = &loaded.built.problem;
    let mut solution = Solution::cold(problem);
    let report = session.solve(problem, goal, &mut solution)?;
    let velocity_error = loaded.reference(report.friction_model).map(|reference| {
        let found = loaded.built.velocities_to_file(&solution.velocity);
        let differences = found.iter().zip(&reference).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    });
    Ok(SolverRun { report, notes: session.notes(), solution, velocity_error })
}

/// A progress bar over several solvers, hidden when standard error is no terminal.
fn progress(count: usize) -> ProgressBar {
    if count < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn write_solution(
    path: &Path,
    loaded: &LoadedProblem,
    run: &SolverRun,
) -> Result<(), CommandError> {
    let (built, residuals) = (&loaded.built, &run.report.residuals);
    let arrays = [
        ("v", Array::from_f64(&built.velocities_to_file(&run.solution.velocity))),
        ("lam", Array::from_f64(&built.rows_to_file(&run.solution.impulse))),
        ("momentum", Array::scalar_f64(residuals.momentum)),
        ("coulomb", Array::scalar_f64(residuals.coulomb)),
        ("convex", Array::scalar_f64(residuals.convex)),
        ("natural_map", Array::scalar_f64(residuals.natural_map)),
        ("reference_velocity", Array::scalar_f64(residuals.reference_velocity)),
        ("iterations", Array::scalar_i64(run.report.iterations as i64)),
        ("wall_seconds", Array::scalar_f64(run.report.seconds)),
    ];
    Ok(write_arrays(path, &arrays)?)
}
