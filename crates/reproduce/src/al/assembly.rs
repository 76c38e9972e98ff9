//! The assembly of Sec. VII-A: an arm screws a nut onto a bolt with a limited number of iterations per step.
//!
//! The check of the scenario `nut-assembly` decides: the nut sinks by the pitch in each of three turns, without jamming.

use stiction_scene::SceneError;
use stiction_sim::Phase;
use stiction_study::scenario;

use super::digits;
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

const SCENARIO: &str = "nut-assembly";
/// Solvers, what the paper says of them, and the largest number of iterations per step: of the order of what 0.5 ms allow. The table
/// has the times that they took.
const SOLVERS: [(&str, &str, usize); 4] = [
    ("canal", "succeeds", 20),
    ("subadmm", "succeeds", 300),
    ("pgs", "fails", 100),
    ("auto", "", 20),
];
/// Random starts of a full run, and steps of a quick one.
const SEEDS: usize = 10;
const QUICK_STEPS: usize = 60;

/// One run.
struct Assembly {
    /// Verdict of the check; `None` for a run that ended before.
    passed: Option<bool>,
    detail: String,
    /// Means over steps: time of the solver [ms], iterations, digits of the relative residual. Deepest penetration [µm].
    time: f64,
    iterations: f64,
    digits: f64,
    depth: f64,
}

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let heading = [
        "solver",
        "iterations at most",
        "assembled",
        "solver time [ms]",
        "iterations",
        "digits of the relative residual",
        "largest depth [µm]",
    ];
    let title = "Assembly with a limited number of iterations per step";
    let mut sheet = Sheet::new(title, &heading);
    for (solver, outcome, _) in SOLVERS.iter().filter(|(_, outcome, _)| !outcome.is_empty()) {
        let cells: [SheetCell; 3] = [(*solver).into(), "0.5 ms".into(), (*outcome).into()];
        sheet.row(RowSource::Paper, cells.into_iter().chain([f64::NAN; 4].map(SheetCell::from)));
    }
    let seeds = if options.quick { 1 } else { SEEDS };
    let mut remarks = Vec::new();
    for (k, (solver, _, limit)) in SOLVERS.into_iter().enumerate() {
        let mut found = Vec::new();
        for seed in 1..=seeds {
            if (options.stop_requested)() {
                break;
            }
            let done = (k * seeds + seed - 1) as f64 / (SOLVERS.len() * seeds) as f64;
            (options.report_progress)(done, &format!("{solver}, start {seed}"));
            found.push(assemble(options, solver, limit, seed)?);
        }
        let judged: Vec<bool> = found.iter().filter_map(|run| run.passed).collect();
        let passed = judged.iter().filter(|passed| **passed).count();
        let of = |pick: fn(&Assembly) -> f64| mean(found.iter().map(pick));
        let assembled = match judged.len() {
            0 => "not run to the end".to_owned(),
            n => format!("{passed} of {n}"),
        };
        let row: [SheetCell; 7] = [
            solver.into(),
            limit.to_string().into(),
            assembled.into(),
            of(|run| run.time).into(),
            of(|run| run.iterations).into(),
            of(|run| run.digits).into(),
            found.iter().map(|run| run.depth).fold(0.0, f64::max).into(),
        ];
        sheet.row(RowSource::Ours, row);
        if let Some(run) = found.iter().find(|run| run.passed == Some(false)) {
            remarks.push(format!("{solver}, a start that fails: {}.", run.detail));
        }
    }
    let outcome = ExperimentResult { sheets: vec![sheet], figures: Vec::new(), remarks };
    Ok(outcome
        .remark(
            "An arm of seven hinges of our own in place of the Franka Panda, with the nut fixed to its hand; joint impedance \
             control, h = 1/240 s. Iterations in place of time as the budget give the same bits on every machine; wall times are \
             measured with other programs on it.",
        )
        .remark(
            "Where a step does not converge within its budget, penetration is still removed beside the velocities: what fails in \
             the paper by penetration shows here as load and lag, if at all.",
        ))
}

/// One start with one solver.
fn assemble(
    options: &ExperimentOptions<'_>,
    solver: &str,
    limit: usize,
    seed: usize,
) -> Result<Assembly, ReproduceError> {
    let (seed, limit) = (seed.to_string(), limit.to_string());
    let set = [("seed", seed.as_str()), ("solver", solver), ("iterations", &limit)];
    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut run = scenario(SCENARIO, &set)?.start()?;
    let quick = if options.quick { QUICK_STEPS } else { usize::MAX };
    let steps = options.steps.unwrap_or(quick).min(run.steps());
    let (mut times, mut iterations, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let (mut depth, mut made, begin) = (0.0, 0, cpu_seconds());
    let mut stopped = None;
    for _ in 0..steps {
        if options.is_over(begin) {
            break;
        }
        let report = match run.step() {
            Ok(report) => report,
            Err(SceneError::Step(error)) => {
                stopped = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        made += 1;
        depth = f64::max(depth, 1e6 * report.penetration);
        if report.rows > 0 {
            let reference = report.residuals.reference_velocity;
            times.push(1e3 * report.phases.of(Phase::Solve).as_secs_f64());
            iterations.push(report.iterations as f64);
            let violation = report.residuals.coulomb;
            left.push(digits(if reference > 0.0 { violation / reference } else { violation }));
        }
    }
    let verdict = run.check.verdict();
    let (passed, detail) = match stopped {
        Some(error) => (Some(false), error),
        None => ((made == run.steps()).then_some(verdict.passed), verdict.detail),
    };
    let (time, iterations, digits) = (mean(times), mean(iterations), mean(left));
    Ok(Assembly { passed, detail, time, iterations, digits, depth })
}
