//! A robot's task with a limited number of iterations per step, from several random starts with several solvers. The check of its
//! scenario decides whether a start succeeds.

use stiction_scene::SceneError;
use stiction_sim::Phase;
use stiction_study::scenario;

use super::digits;
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::{mean, median};
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// A task.
pub(super) struct RobotTask {
    /// Its scenario, with the parameters `seed` and `iterations`.
    pub(super) scenario: &'static str,
    pub(super) title: &'static str,
    /// Heading of the column that counts the starts that succeed.
    pub(super) success: &'static str,
    /// The paper's limit of time per step.
    pub(super) budget: &'static str,
    /// Solvers, what the paper says of them, and the largest number of iterations per step.
    pub(super) solvers: [(&'static str, &'static str, usize); 4],
    /// Random starts of a full run, and steps of a quick one.
    pub(super) seeds: usize,
    pub(super) quick_steps: usize,
}

/// One run.
struct Attempt {
    /// Verdict of the check; `None` for a run that ended before.
    passed: Option<bool>,
    detail: String,
    /// Median over steps of the time of the solver [ms], means of its iterations and of the digits of the relative residual. Deepest
    /// penetration [µm].
    time: f64,
    iterations: f64,
    digits: f64,
    depth: f64,
}

impl RobotTask {
    /// Runs all starts with all solvers.
    pub(super) fn run(
        &self,
        options: &ExperimentOptions<'_>,
    ) -> Result<ExperimentResult, ReproduceError> {
        let heading = [
            "solver",
            "iterations at most",
            self.success,
            "solver time, median [ms]",
            "iterations",
            "digits of the relative residual",
            "largest depth [µm]",
        ];
        let mut sheet = Sheet::new(self.title, &heading);
        for (solver, outcome, _) in self.solvers.iter().filter(|(_, found, _)| !found.is_empty()) {
            let cells: [SheetCell; 3] = [(*solver).into(), self.budget.into(), (*outcome).into()];
            sheet
                .row(RowSource::Paper, cells.into_iter().chain([f64::NAN; 4].map(SheetCell::from)));
        }
        let seeds = if options.quick { 1 } else { self.seeds };
        let mut remarks = Vec::new();
        for (k, (solver, _, limit)) in self.solvers.into_iter().enumerate() {
            let mut found = Vec::new();
            for seed in 1..=seeds {
                if (options.stop_requested)() {
                    break;
                }
                let done = (k * seeds + seed - 1) as f64 / (self.solvers.len() * seeds) as f64;
                (options.report_progress)(done, &format!("{solver}, start {seed}"));
                found.push(self.attempt(options, solver, limit, seed)?);
            }
            let judged: Vec<bool> = found.iter().filter_map(|run| run.passed).collect();
            let passed = judged.iter().filter(|passed| **passed).count();
            let of = |pick: fn(&Attempt) -> f64| mean(found.iter().map(pick));
            let success = match judged.len() {
                0 => "not run to the end".to_owned(),
                n => format!("{passed} of {n}"),
            };
            let row: [SheetCell; 7] = [
                solver.into(),
                limit.to_string().into(),
                success.into(),
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
        Ok(ExperimentResult { sheets: vec![sheet], figures: Vec::new(), remarks })
    }

    /// One start with one solver.
    fn attempt(
        &self,
        options: &ExperimentOptions<'_>,
        solver: &str,
        limit: usize,
        seed: usize,
    ) -> Result<Attempt, ReproduceError> {
        let (seed, limit) = (seed.to_string(), limit.to_string());
        let set = [("seed", seed.as_str()), ("solver", solver), ("iterations", &limit)];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut run = scenario(self.scenario, &set)?.start()?;
        let quick = if options.quick { self.quick_steps } else { usize::MAX };
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
        let (time, iterations, digits) = (median(times), mean(iterations), mean(left));
        Ok(Attempt { passed, detail, time, iterations, digits, depth })
    }
}
