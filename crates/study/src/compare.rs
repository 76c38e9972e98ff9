//! The same scene under several solvers: what each run was, and how each solver converges on the
//! same few steps.
//!
//! Every solver runs the whole scene from the same start, with the same settings. The first that
//! gets to the end is the reference: some telling steps of its run, see [`telling`], are posed again
//! and solved by every solver from the cold start, so that all of them answer the same questions,
//! which whole runs do not: they drift apart. Residuals are those of the residual measure, never a solver's
//! own. A solver that cannot run is part of the outcome. Costs one run per solver, one more of the
//! reference, and the solves.

mod json;
pub mod telling;

use std::ops::ControlFlow;
use std::time::Duration;

use stiction_scene::SceneRun;
use stiction_sim::Settings;
use stiction_sim::record::{Recorder, Recording, Seen};
use stiction_solve::solver::{SOLVERS, SettingError};
use stiction_solve::{FrictionModel, Goal, Problem, Report, Session, Solution};

use crate::run::{Summary, Tally, run_watched};
pub use json::residuals_json;
use telling::{Glance, Reason, telling};

/// Frames that a run is shown with, if it has as many steps.
const FRAMES: f64 = 240.0;
/// Least frames per simulated second.
const LEAST_RATE: f64 = 30.0;
/// A solve that takes less in sum than this is repeated, so that its time is not that of touching
/// memory for the first time.
const REPEAT_BELOW: Duration = Duration::from_millis(100);
/// How often at most.
const REPEATS: usize = 5;

/// Time that a solver may take for a captured step, if nobody says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// What is run, by name.
    pub target: &'a str,
    /// Names of the solvers; the first that gets to the end is the reference.
    pub solvers: &'a [String],
    /// Steps of each run.
    pub steps: usize,
    /// Time that a solver may take for a captured step.
    pub time_limit: Duration,
    /// Shapes that are only seen.
    pub visuals: &'a [Seen],
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The solver at work.
    pub solver: &'a str,
    /// What it does.
    pub task: &'static str,
    /// Units of work done, of `all`.
    pub done: usize,
    /// Units of work.
    pub all: usize,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was run.
    pub target: String,
    /// Steps that each run was to have.
    pub steps: usize,
    /// Settings of the step that all runs share; those of solvers are with them.
    pub settings: Settings,
    /// The solvers in the order asked for.
    pub contenders: Vec<Contender>,
    /// Which of them is the reference; `None` if none got to the end.
    pub reference: Option<usize>,
    /// Time that a solver was given for a captured step [s].
    pub time_limit: f64,
    /// Steps that were solved by all.
    pub captured: Vec<Captured>,
    /// Whether someone asked to stop before all was done.
    pub stopped: bool,
}

/// One solver.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name.
    pub solver: String,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from: a key of the references.
    pub cite: &'static str,
    /// The friction model it solved for.
    pub friction_model: FrictionModel,
    /// Its settings.
    pub settings: Vec<(String, String)>,
    /// Its run, or why there is none.
    pub run: Result<Run, String>,
}

/// The run of one solver.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its figures.
    pub summary: Summary,
    /// What was seen.
    pub recording: Recording,
    /// What the solver had to say about the last step.
    pub notes: Vec<String>,
    /// Mean distance of the bodies, and of the vertices on the surfaces of soft ones, from where they are
    /// in the run of the reference, at the end [m]; `None` without anything to compare.
    pub apart: Option<f64>,
}

impl Contender {
    /// Whether its run got to the end.
    pub fn finished(&self, steps: usize) -> bool {
        self.run.as_ref().is_ok_and(|run| run.summary.steps == steps)
    }

    /// Its run, if there is one.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref().ok()
    }

    /// Violation of the laws in its own friction model [m/s].
    pub fn own_residual(&self) -> Option<&Tally> {
        let summary = &self.run()?.summary;
        Some(match self.friction_model {
            FrictionModel::Coulomb => &summary.coulomb,
            FrictionModel::Convex => &summary.convex,
        })
    }
}

/// A step of the reference, posed to every solver.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Its number, from one.
    pub step: usize,
    /// Why it was chosen.
    pub reason: Reason,
    /// Contacts with friction.
    pub contacts: usize,
    /// Rows of the problem.
    pub rows: usize,
    /// Degrees of freedom.
    pub dofs: usize,
    /// The velocity to compare violations with [m/s].
    pub reference_velocity: f64,
    /// What the solvers answered, in their order; an error is why one could not.
    pub answers: Vec<Result<Report, String>>,
}

/// Compares. `start` gives the scene at its start, with a solver of the plan; what it refuses is
/// returned. `watch` is told how far the work is, and may ask to stop: what is there by then is what
/// came of it.
pub fn compare<E>(
    plan: &Plan<'_>,
    mut start: impl FnMut(&str) -> Result<SceneRun, E>,
    mut watch: impl FnMut(Progress<'_>) -> ControlFlow<()>,
) -> Result<Comparison, E> {
    // One more run for the reference, and about as much again for the captured steps.
    let runs = plan.solvers.len() + 1;
    let all = runs * plan.steps + telling::REASONS.len() * plan.solvers.len();
    let mut contenders = Vec::with_capacity(plan.solvers.len());
    let (mut reference, mut shared, mut telling_steps) = (None, None, Vec::new());
    let mut stopped = false;
    for (k, solver) in plan.solvers.iter().enumerate() {
        let mut scene_run = start(solver)?;
        let settings = scene_run.simulation.settings().clone();
        let mut glances = Vec::with_capacity(plan.steps);
        let run = if stopped {
            Err("someone asked to stop before it began".to_owned())
        } else {
            one(plan, &mut scene_run, &mut glances, |step| {
                let done = k * plan.steps + step;
                let go_on = watch(Progress { solver, task: "runs", done, all });
                stopped = go_on.is_break();
                go_on
            })
        };
        let contender = contender(solver, &settings, run);
        if reference.is_none() && contender.finished(plan.steps) {
            reference = Some(k);
            telling_steps = telling(&glances);
        }
        contenders.push(contender);
        shared.get_or_insert(settings);
    }
    let mut captured = Vec::new();
    measure_distance(&mut contenders, reference);
    if let Some(solver) = reference.map(|k| &plan.solvers[k]).filter(|_| !stopped) {
        let before = plan.solvers.len() * plan.steps;
        let problems = capture(&mut start(solver)?, &telling_steps, |step| {
            let go_on = watch(Progress { solver, task: "repeats", done: before + step, all });
            stopped = go_on.is_break();
            go_on
        });
        let mut done = runs * plan.steps;
        'steps: for ((step, reason), problem) in telling_steps.iter().zip(problems) {
            let mut answers = Vec::with_capacity(contenders.len());
            for contender in &contenders {
                let solver = &contender.solver;
                // A step that not all have solved compares nothing.
                if watch(Progress { solver, task: "solves", done, all }).is_break() {
                    stopped = true;
                    break 'steps;
                }
                let shared = shared.as_ref();
                answers.push(solve(contender, shared, &problem, plan.time_limit));
                done += 1;
            }
            captured.push(Captured {
                step: *step,
                reason: *reason,
                contacts: problem.contacts(),
                rows: problem.rows(),
                dofs: problem.dofs(),
                reference_velocity: problem.reference_velocity(),
                answers,
            });
        }
    }
    let mut settings = shared.unwrap_or_default();
    settings.solver_settings.clear();
    Ok(Comparison {
        target: plan.target.to_owned(),
        steps: plan.steps,
        settings,
        contenders,
        reference,
        time_limit: plan.time_limit.as_secs_f64(),
        captured,
        stopped,
    })
}

/// One run, recorded, with a glance at each step.
fn one(
    plan: &Plan<'_>,
    scene_run: &mut SceneRun,
    glances: &mut Vec<Glance>,
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Run, String> {
    let time_step = scene_run.simulation.settings().time_step;
    let duration = plan.steps as f64 * time_step;
    let rate = (FRAMES / duration).max(LEAST_RATE);
    let mut recorder =
        Recorder::new(&scene_run.simulation, rate).map_err(|error| error.to_string())?;
    recorder.title(plan.target);
    plan.visuals.iter().for_each(|visual| recorder.visual(visual.clone()));
    let summary = run_watched(plan.target, scene_run, 0..plan.steps, |step, simulation, report| {
        glances.push(Glance::of(simulation, report));
        recorder.observe(simulation, report);
        match watch(step) {
            ControlFlow::Break(()) if step < plan.steps => {
                ControlFlow::Break("someone asked to stop".to_owned())
            }
            _ => ControlFlow::Continue(()),
        }
    })
    .map_err(|error| error.to_string())?;
    recorder.keep(&scene_run.simulation);
    let notes = scene_run.simulation.notes();
    Ok(Run { summary, recording: recorder.finish(), notes, apart: None })
}

fn contender(solver: &str, settings: &Settings, run: Result<Run, String>) -> Contender {
    let entry = SOLVERS.iter().find(|entry| entry.name == solver);
    let own = || entry.map(|entry| (entry.build)().models()[0]);
    let friction_model = settings.friction_model.or_else(own).unwrap_or(FrictionModel::Coulomb);
    Contender {
        solver: solver.to_owned(),
        about: entry.map_or("", |entry| entry.about),
        cite: entry.map_or("", |entry| entry.cite),
        friction_model,
        settings: settings.solver_settings.clone(),
        run,
    }
}

/// The problems that some steps of a run pose, in the order of the steps.
fn capture(
    scene_run: &mut SceneRun,
    steps: &[(usize, Reason)],
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Vec<Problem> {
    let mut problems = Vec::with_capacity(steps.len());
    let last = steps.last().map_or(0, |(step, _)| *step);
    for step in 1..=last {
        // A controller may count its calls: one per step, as in the run.
        if let Some(controller) = &mut scene_run.controller {
            controller.control(&mut scene_run.simulation);
        }
        if steps.iter().any(|(chosen, _)| *chosen == step) {
            match scene_run.simulation.problem() {
                Ok(Some(problem)) => problems.push(problem.clone()),
                _ => break, // the run itself got this far
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

/// Solves a problem from the cold start; of several tries the fastest counts.
fn solve(
    contender: &Contender,
    settings: Option<&Settings>,
    problem: &Problem,
    time_limit: Duration,
) -> Result<Report, String> {
    let goal = Goal {
        tolerance: settings.map_or(Goal::default().tolerance, |settings| settings.tolerance),
        max_iterations: settings.and_then(|settings| settings.max_iterations),
        friction_model: settings.and_then(|settings| settings.friction_model),
        time_limit: Some(time_limit),
        trace: true,
        ..Goal::default()
    };
    let once = || -> Result<Report, SettingError> {
        let mut session = Session::new(&contender.solver)?;
        for (key, value) in &contender.settings {
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

/// How far apart from the reference each run ended.
fn measure_distance(contenders: &mut [Contender], reference: Option<usize>) {
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
    let of = |contender: &Contender| contender.run().and_then(|run| last(&run.recording));
    let Some((time, places)) = reference.and_then(|k| of(&contenders[k])) else { return };
    for (k, contender) in contenders.iter_mut().enumerate() {
        let Some((end, found)) = of(contender) else { continue };
        let Ok(run) = &mut contender.run else { continue };
        // Times are sums of the same steps: equal or not of the same length.
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
        let solvers: Vec<String> = solvers.iter().map(|s| (*s).to_owned()).collect();
        let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let plan = Plan {
            target,
            solvers: &solvers,
            steps,
            time_limit: Duration::from_secs(10),
            visuals: &[],
        };
        let start = |solver: &str| -> Result<SceneRun, StudyError> {
            let mut scene = scenario(target, &sets)?;
            scene.settings.solver = solver.to_owned();
            Ok(scene.start()?)
        };
        compare::<StudyError>(&plan, start, |progress| {
            assert!(progress.done <= progress.all);
            ControlFlow::Continue(())
        })
        .unwrap()
    }

    #[test]
    fn a_solver_compared_with_itself_moves_and_converges_the_same() {
        let found = of("clutter", &[("bodies", "6")], &["canal", "canal"], 60);
        let runs: Vec<&Run> = found.contenders.iter().map(|c| c.run().unwrap()).collect();
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
    fn captured_steps_are_those_that_a_run_with_the_reference_poses() {
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
    fn whoever_asks_to_stop_gets_what_is_there() {
        let solvers = ["canal".to_owned(), "sap".to_owned(), "pgs".to_owned()];
        let time_limit = Duration::from_secs(10);
        let plan =
            Plan { target: "clutter", solvers: &solvers, steps: 30, time_limit, visuals: &[] };
        let start = |solver: &str| -> Result<SceneRun, StudyError> {
            let mut scene = scenario("clutter", &[("bodies".into(), "2".into())])?;
            scene.settings.solver = solver.to_owned();
            Ok(scene.start()?)
        };
        let found = compare::<StudyError>(&plan, start, |progress| match progress.done {
            40.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let found = found.unwrap();
        let steps = found.contenders.iter().map(|c| c.run().map(|run| run.summary.steps));
        assert_eq!(steps.collect::<Vec<_>>(), [Some(30), Some(10), None]);
        assert!(found.stopped && found.captured.is_empty());
    }

    #[test]
    fn a_solver_that_cannot_run_is_reported_beside_those_that_can() {
        // Convex friction by definition: the other model is refused.
        let sets = [("bodies", "2"), ("friction-model", "coulomb")];
        let found = of("clutter", &sets, &["sap", "canal"], 40);
        assert!(found.contenders[0].run.as_ref().is_err_and(|why| why.contains("coulomb")));
        assert_eq!(found.reference, Some(1));
        assert!(found.captured.iter().all(|step| step.answers[0].is_err()));
    }

    #[test]
    fn soft_bodies_alone_have_a_distance_too() {
        let found = of("cantilever", &[("cells", "1")], &["alm", "sap"], 3);
        let apart = found.contenders.iter().filter_map(|c| c.run()?.apart).collect::<Vec<_>>();
        // Nothing touches the beam: every solver moves it the same.
        assert_eq!(apart, [0.0]);
    }
}
