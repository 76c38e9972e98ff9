//! Comparison of solvers on the same scene: one run per solver, and the convergence of each solver on
//! the same few steps.
//!
//! Every solver runs the whole scene from the same start with the same settings. The first run that
//! finishes is the reference. Since whole runs drift apart, the contact problems of some steps of the
//! reference, see [`representative_steps`], are captured and solved by every solver from a cold start.
//! Residuals are measured on the problem, never by the solver itself. A solver that cannot run is
//! reported with the reason. Costs one run per solver, a second run of the reference, and the solves
//! of the captured steps.

mod json;
mod plan;
pub mod representative_steps;

use std::ops::ControlFlow;
use std::time::Duration;

use stiction_scene::{Scene, SceneError, SceneRun};
use stiction_sim::record::{Recorder, Recording};
use stiction_sim::{Settings, Tally};
use stiction_solve::solver::{SOLVERS, SolverError};
use stiction_solve::{FrictionModel, Goal, Problem, Report, Session, Solution};

use crate::run::{Summary, run_observed};
pub use json::residuals_json;
pub use plan::{ComparisonPlan, PlanError, TIME_LIMIT, settings_per_solver};
use representative_steps::{REASONS, SelectionReason, StepSummary, representative_steps};

/// Number of frames of a recording, if the run has as many steps.
const FRAMES: f64 = 240.0;
/// Least number of frames per simulated second.
const LEAST_RATE: f64 = 30.0;
/// A solve is repeated until this time has been spent, so that page faults of the first try are not
/// part of its time.
const REPEAT_BELOW: Duration = Duration::from_millis(100);
/// Largest number of tries of a solve.
const REPEATS: usize = 5;

/// Progress of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonProgress<'a> {
    /// The solver at work.
    pub solver: &'a str,
    /// Its present task, a verb.
    pub task: &'static str,
    /// Units of work done, of `all`.
    pub done: usize,
    /// Units of work.
    pub all: usize,
}

/// Result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Name of the scene.
    pub target: String,
    /// Number of steps of a complete run.
    pub steps: usize,
    /// Settings of the step that all runs share, without settings of solvers.
    pub settings: Settings,
    /// The solvers, in the order of the plan.
    pub compared_solvers: Vec<ComparedSolver>,
    /// Index of the reference; `None` if no run finished.
    pub reference: Option<usize>,
    /// Time limit of a solver on a captured step [s].
    pub time_limit: f64,
    /// Steps that every solver solved.
    pub captured: Vec<CapturedStep>,
    /// Whether the comparison was stopped before its end.
    pub stopped: bool,
}

/// One solver of a comparison.
#[derive(Clone, Debug)]
pub struct ComparedSolver {
    /// Name of the solver.
    pub solver: String,
    /// Description in one line.
    pub about: &'static str,
    /// Its source, a key of the references.
    pub cite: &'static str,
    /// The friction model that it solved for.
    pub friction_model: FrictionModel,
    /// Settings of the solver.
    pub settings: Vec<(String, String)>,
    /// Its run, or the reason why it could not run.
    pub run: Result<ComparedRun, String>,
}

/// The run of one solver.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Results of the run.
    pub summary: Summary,
    /// Motion of the run.
    pub recording: Recording,
    /// Notes of the solver on the last step.
    pub notes: Vec<String>,
    /// Mean distance [m], at the end, of the bodies and of the surface vertices of soft bodies from
    /// their positions in the run of the reference; `None` without anything to compare.
    pub apart: Option<f64>,
}

impl ComparedSolver {
    /// Whether its run has all steps.
    pub fn finished(&self, steps: usize) -> bool {
        self.run.as_ref().is_ok_and(|run| run.summary.steps == steps)
    }

    /// Its run, if it could run.
    pub fn run(&self) -> Option<&ComparedRun> {
        self.run.as_ref().ok()
    }

    /// Residual of the laws in its own friction model [m/s].
    pub fn own_residual(&self) -> Option<&Tally> {
        let summary = &self.run()?.summary;
        Some(match self.friction_model {
            FrictionModel::Coulomb => &summary.coulomb,
            FrictionModel::Convex => &summary.convex,
        })
    }
}

/// A step of the reference run, solved by every solver.
#[derive(Clone, Debug)]
pub struct CapturedStep {
    /// Number of the step, from one.
    pub step: usize,
    /// Reason for which it was selected.
    pub reason: SelectionReason,
    /// Number of contacts with friction.
    pub contacts: usize,
    /// Number of rows of the problem.
    pub rows: usize,
    /// Number of degrees of freedom.
    pub dofs: usize,
    /// Velocity that residuals are relative to [m/s].
    pub reference_velocity: f64,
    /// Reports of the solvers in their order, or the reason why one could not solve it.
    pub answers: Vec<Result<Report, String>>,
}

/// Runs a comparison. `build` builds the scene at its start, whose settings are replaced by those of
/// each run; its errors are returned. `watch` is called with the progress and may stop the comparison,
/// which then returns what is complete.
pub fn compare<E: From<SceneError>>(
    plan: &ComparisonPlan<'_>,
    mut build: impl FnMut() -> Result<Scene, E>,
    mut watch: impl FnMut(ComparisonProgress<'_>) -> ControlFlow<()>,
) -> Result<Comparison, E> {
    let mut start = |settings: &Settings| -> Result<SceneRun, E> {
        let mut scene = build()?;
        scene.settings.clone_from(settings);
        Ok(scene.start()?)
    };
    // One run per solver, a second one of the reference, and one unit per solve of a captured step.
    let runs = plan.runs.len() + 1;
    let all = runs * plan.steps + REASONS.len() * plan.runs.len();
    let mut compared_solvers = Vec::with_capacity(plan.runs.len());
    let (mut reference, mut shared, mut chosen_steps) = (None, None, Vec::new());
    let mut stopped = false;
    for (k, settings) in plan.runs.iter().enumerate() {
        let mut scene_run = start(settings)?;
        let settings = scene_run.simulation.settings().clone();
        let solver = &settings.solver;
        let mut steps = Vec::with_capacity(plan.steps);
        let run = if stopped {
            Err("the comparison was stopped before its run".to_owned())
        } else {
            record_run(plan, &mut scene_run, &mut steps, |step| {
                let done = k * plan.steps + step;
                let flow = watch(ComparisonProgress { solver, task: "runs", done, all });
                stopped = flow.is_break();
                flow
            })
        };
        let compared = compared_solver(&settings, run);
        if reference.is_none() && compared.finished(plan.steps) {
            reference = Some(k);
            chosen_steps = representative_steps(&steps);
        }
        compared_solvers.push(compared);
        shared.get_or_insert(settings);
    }
    let mut settings = shared.unwrap_or_default();
    let mut captured = Vec::new();
    measure_distance(&mut compared_solvers, reference);
    if let Some(run) = reference.map(|k| &plan.runs[k]).filter(|_| !stopped) {
        let before = plan.runs.len() * plan.steps;
        let problems = capture(&mut start(run)?, &chosen_steps, |step| {
            let (solver, done) = (run.solver.as_str(), before + step);
            let flow = watch(ComparisonProgress { solver, task: "repeats", done, all });
            stopped = flow.is_break();
            flow
        });
        let mut done = runs * plan.steps;
        'steps: for (&(step, reason), problem) in chosen_steps.iter().zip(problems) {
            let mut answers = Vec::with_capacity(compared_solvers.len());
            for compared in &compared_solvers {
                let solver = &compared.solver;
                // A step is compared only if every solver has solved it.
                if watch(ComparisonProgress { solver, task: "solves", done, all }).is_break() {
                    stopped = true;
                    break 'steps;
                }
                answers.push(solve(compared, &settings, &problem, plan.time_limit));
                done += 1;
            }
            captured.push(CapturedStep::new(step, reason, &problem, answers));
        }
    }
    settings.solver_settings.clear();
    Ok(Comparison {
        target: plan.target.to_owned(),
        steps: plan.steps,
        settings,
        compared_solvers,
        reference,
        time_limit: plan.time_limit.as_secs_f64(),
        captured,
        stopped,
    })
}

impl CapturedStep {
    fn new(
        step: usize,
        reason: SelectionReason,
        problem: &Problem,
        answers: Vec<Result<Report, String>>,
    ) -> Self {
        Self {
            step,
            reason,
            contacts: problem.contacts(),
            rows: problem.rows(),
            dofs: problem.dofs(),
            reference_velocity: problem.reference_velocity(),
            answers,
        }
    }
}

/// Runs and records one scene, and summarizes each step.
fn record_run(
    plan: &ComparisonPlan<'_>,
    scene_run: &mut SceneRun,
    steps: &mut Vec<StepSummary>,
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<ComparedRun, String> {
    let time_step = scene_run.simulation.settings().time_step;
    let duration = plan.steps as f64 * time_step;
    let rate = (FRAMES / duration).max(LEAST_RATE);
    let mut recorder =
        Recorder::new(&scene_run.simulation, rate).map_err(|error| error.to_string())?;
    recorder.title(plan.target);
    plan.visuals.iter().for_each(|visual| recorder.visual(visual.clone()));
    let summary =
        run_observed(plan.target, scene_run, 0..plan.steps, |step, simulation, report| {
            steps.push(StepSummary::of(simulation, report));
            recorder.observe(simulation, report);
            match watch(step) {
                ControlFlow::Break(()) if step < plan.steps => {
                    ControlFlow::Break("the comparison was stopped".to_owned())
                }
                _ => ControlFlow::Continue(()),
            }
        })
        .map_err(|error| error.to_string())?;
    recorder.keep(&scene_run.simulation);
    let notes = scene_run.simulation.notes();
    Ok(ComparedRun { summary, recording: recorder.finish(), notes, apart: None })
}

fn compared_solver(settings: &Settings, run: Result<ComparedRun, String>) -> ComparedSolver {
    let entry = SOLVERS.iter().find(|entry| entry.name == settings.solver);
    let own = || entry.map(|entry| (entry.build)().models()[0]);
    let friction_model = settings.friction_model.or_else(own).unwrap_or(FrictionModel::Coulomb);
    ComparedSolver {
        solver: settings.solver.clone(),
        about: entry.map_or("", |entry| entry.about),
        cite: entry.map_or("", |entry| entry.cite),
        friction_model,
        settings: settings.solver_settings.clone(),
        run,
    }
}

/// The contact problems of some steps of a run, in the order of the steps.
fn capture(
    scene_run: &mut SceneRun,
    steps: &[(usize, SelectionReason)],
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Vec<Problem> {
    let mut problems = Vec::with_capacity(steps.len());
    let last = steps.last().map_or(0, |(step, _)| *step);
    for step in 1..=last {
        // A controller may count its calls: it is called once per step, as in the run.
        if let Some(controller) = &mut scene_run.controller {
            controller.control(&mut scene_run.simulation);
        }
        if steps.iter().any(|(chosen, _)| *chosen == step) {
            match scene_run.simulation.problem() {
                Ok(Some(problem)) => problems.push(problem.clone()),
                _ => break, // does not happen: the run itself has this step
            }
        }
        if scene_run.simulation.step().is_err() {
            break;
        }
        if watch(step).is_break() {
            break;
        }
    }
    problems
}

/// Solves a problem from a cold start and returns the fastest of several tries.
fn solve(
    compared: &ComparedSolver,
    settings: &Settings,
    problem: &Problem,
    time_limit: Duration,
) -> Result<Report, String> {
    let goal = Goal {
        tolerance: settings.tolerance,
        max_iterations: settings.max_iterations,
        friction_model: settings.friction_model,
        time_limit: Some(time_limit),
        trace: true,
        ..Goal::default()
    };
    let once = || -> Result<Report, SolverError> {
        let mut session = Session::new(&compared.solver)?;
        for (key, value) in &compared.settings {
            session.set(key, value)?;
        }
        session.solve(problem, &goal, &mut Solution::cold(problem))
    };
    let mut best = once().map_err(|error| error.to_string())?;
    let mut spent = best.seconds;
    for _ in 1..REPEATS {
        if spent > REPEAT_BELOW.as_secs_f64() {
            break;
        }
        let next = once().map_err(|error| error.to_string())?;
        spent += next.seconds;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    Ok(best)
}

/// Measures the distance of the end of each run from that of the reference.
fn measure_distance(compared_solvers: &mut [ComparedSolver], reference: Option<usize>) {
    let last = |recording: &Recording| -> Option<(f64, Vec<[f64; 3]>)> {
        let bodies = recording.moving.len();
        let places = &recording.frames.position;
        let first = places.len().checked_sub(bodies)?;
        let mut found = places[first..].to_vec();
        let soft = &recording.frames.soft;
        let first =
            soft.len().checked_sub(recording.softs.iter().map(|soft| soft.vertices).sum())?;
        found.extend(soft[first..].iter().map(|vertex| vertex.map(f64::from)));
        Some((*recording.frames.time.last()?, found))
    };
    let of = |compared: &ComparedSolver| compared.run().and_then(|run| last(&run.recording));
    let Some((time, places)) = reference.and_then(|k| of(&compared_solvers[k])) else { return };
    for (k, compared) in compared_solvers.iter_mut().enumerate() {
        let Some((end, found)) = of(compared) else { continue };
        let Ok(run) = &mut compared.run else { continue };
        // Runs of the same number of steps end at the same time, bit for bit.
        if Some(k) == reference || end != time || found.is_empty() {
            continue;
        }
        let distance = |(a, b): (&[f64; 3], &[f64; 3])| {
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        run.apart = Some(found.iter().zip(&places).map(distance).sum::<f64>() / found.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StudyError;
    use crate::scenarios::scenario;
    use stiction_scene::Scene;

    fn of(target: &str, sets: &[(&str, &str)], solvers: &[&str], steps: usize) -> Comparison {
        let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let scene = || scenario(target, &sets);
        let runs = settings_per_solver(&scene().unwrap().settings, solvers);
        // Not by `new`, which refuses a solver compared with itself.
        let plan = ComparisonPlan { target, runs, steps, time_limit: TIME_LIMIT, visuals: &[] };
        compare::<StudyError>(&plan, scene, |progress| {
            assert!(progress.done <= progress.all);
            ControlFlow::Continue(())
        })
        .unwrap()
    }

    #[test]
    fn a_solver_compared_with_itself_moves_and_converges_the_same() {
        let found = of("clutter", &[("bodies", "6")], &["canal", "canal"], 60);
        let runs: Vec<&ComparedRun> =
            found.compared_solvers.iter().map(|c| c.run().unwrap()).collect();
        assert_eq!(runs[0].summary.state_hash, runs[1].summary.state_hash);
        assert_eq!(runs[1].apart, Some(0.0));
        assert!(runs[0].apart.is_none());
        assert!(!found.captured.is_empty());
        for captured in &found.captured {
            let [Ok(a), Ok(b)] = &captured.answers[..] else { panic!("both answer") };
            assert_eq!((a.iterations, a.residuals), (b.iterations, b.residuals));
            assert_eq!(a.trace.len(), b.trace.len());
        }
    }

    #[test]
    fn captured_problems_are_those_of_a_run_with_the_reference() {
        let found = of("clutter", &[("bodies", "4")], &["canal", "sap"], 50);
        let captured = found.captured.last().unwrap();
        let scene = scenario("clutter", &[("bodies".into(), "4".into())]).unwrap();
        let mut scene_run =
            Scene { settings: Settings { solver: "canal".into(), ..scene.settings }, ..scene }
                .start()
                .unwrap();
        for _ in 1..captured.step {
            let _ = scene_run.step().unwrap();
        }
        let problem = scene_run.simulation.problem().unwrap().unwrap();
        assert_eq!((problem.rows(), problem.dofs()), (captured.rows, captured.dofs));
        assert_eq!(problem.reference_velocity(), captured.reference_velocity);
    }

    #[test]
    fn a_stopped_comparison_returns_what_is_complete() {
        let scene = || scenario("clutter", &[("bodies".into(), "2".into())]);
        let runs = settings_per_solver(&scene().unwrap().settings, ["canal", "sap", "pgs"]);
        let plan = ComparisonPlan::new("clutter", runs, 30).unwrap();
        let found = compare::<StudyError>(&plan, scene, |progress| match progress.done {
            40.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let found = found.unwrap();
        let steps = found.compared_solvers.iter().map(|c| c.run().map(|run| run.summary.steps));
        assert_eq!(steps.collect::<Vec<_>>(), [Some(30), Some(10), None]);
        assert!(found.stopped && found.captured.is_empty());
    }

    #[test]
    fn a_solver_that_cannot_run_is_reported_beside_those_that_can() {
        // Convex friction by definition: the other model is refused.
        let sets = [("bodies", "2"), ("friction-model", "coulomb")];
        let found = of("clutter", &sets, &["sap", "canal"], 40);
        assert!(found.compared_solvers[0].run.as_ref().is_err_and(|why| why.contains("coulomb")));
        assert_eq!(found.reference, Some(1));
        assert!(found.captured.iter().all(|step| step.answers[0].is_err()));
    }

    #[test]
    fn soft_bodies_alone_have_a_distance_too() {
        let found = of("cantilever", &[("cells", "1")], &["alm", "sap"], 3);
        let apart =
            found.compared_solvers.iter().filter_map(|c| c.run()?.apart).collect::<Vec<_>>();
        // Nothing touches the beam: every solver moves it the same.
        assert_eq!(apart, [0.0]);
    }
}
