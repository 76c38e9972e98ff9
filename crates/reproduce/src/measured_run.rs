//! One run of a scene by one solver, with some steps compared with a reference solution.
//!
//! The run follows the solver's own trajectory. At regular intervals a reference simulation starts from
//! the same state and makes the same step with a tolerance far below all others: the difference is the
//! error of this one step, without the accumulated error of the trajectory. Times are CPU times without
//! those of the reference.

use stiction_scene::SceneError;
use stiction_sim::{Phase, Simulation, StepReport};
use stiction_solve::Status;

use crate::ExperimentOptions;
use crate::baselines::PreparationTime;
use crate::clock::{Stopwatch, cpu_seconds};
use crate::error::ReproduceError;
use crate::manipulation_scene::ManipulationScene;
use crate::solver_config::{SolverConfig, StoppingRule};
use crate::statistics::mean;

/// Solver of the reference, and its tolerance.
const REFERENCE: &str = "alm";
const REFERENCE_TOLERANCE: f64 = 1e-9;
/// Steps from one comparison with the reference to the next.
const EVERY: usize = 10;

/// Means over the steps of a run that had constraints.
#[derive(Clone, Debug, Default)]
pub struct RunFigures {
    /// Deepest penetration of a step [m].
    pub penetration: f64,
    /// Error of the scene's force [N]; NaN if it was never compared.
    pub error: f64,
    /// Time of kinematics, collision, dynamics and assembly [s].
    pub dynamics: f64,
    /// Time of the solver [s], with its preparation.
    pub solve: f64,
    /// Time of its preparation [s]: assembling or factoring; NaN if the solver does not report it.
    pub preparation: f64,
    /// Time of the whole step [s].
    pub total: f64,
    /// Iterations.
    pub iterations: f64,
    /// Violation of the laws in the solver's friction model, or error of momentum, whichever is larger,
    /// relative [-].
    pub residual: f64,
    /// Contacts.
    pub contacts: f64,
    /// Steps done.
    pub steps: usize,
    /// Of them, those whose error was at most the number that the paper sets for θ.
    pub met: usize,
    /// Of them, those in which the iterations ran out before the rule was met.
    pub exhausted: usize,
    /// Steps compared with the reference, and those in which the reference itself did not converge.
    pub compared: [usize; 2],
    /// Why the run ended early.
    pub stopped: Option<String>,
    /// Results of each step.
    pub curve: Vec<CurvePoint>,
}

/// Results of a step.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint {
    /// Time at its end [s].
    pub time: f64,
    /// Deepest penetration [m].
    pub penetration: f64,
    /// The scene's force [N].
    pub force: f64,
}

impl RunFigures {
    /// Means over several runs; the curve is that of the first.
    pub fn over(runs: &[Self]) -> Self {
        let of = |f: fn(&Self) -> f64| mean(runs.iter().map(f).filter(|x| x.is_finite()));
        Self {
            penetration: of(|r| r.penetration),
            error: of(|r| r.error),
            dynamics: of(|r| r.dynamics),
            solve: of(|r| r.solve),
            preparation: of(|r| r.preparation),
            total: of(|r| r.total),
            iterations: of(|r| r.iterations),
            residual: of(|r| r.residual),
            contacts: of(|r| r.contacts),
            steps: runs.iter().map(|r| r.steps).sum(),
            met: runs.iter().map(|r| r.met).sum(),
            exhausted: runs.iter().map(|r| r.exhausted).sum(),
            compared: [0, 1].map(|k| runs.iter().map(|r| r.compared[k]).sum()),
            stopped: runs.iter().find_map(|r| r.stopped.clone()),
            curve: runs.first().map(|r| r.curve.clone()).unwrap_or_default(),
        }
    }

    /// Number of steps that met the error, out of all.
    pub fn share_met(&self) -> String {
        format!("{}/{}", self.met, self.steps)
    }

    /// Warnings that limit the meaning of the run's figures.
    pub fn cautions(&self, label: &str) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(why) = &self.stopped {
            out.push(format!("{label}: {why}."));
        }
        if self.exhausted > 0 {
            let (n, of) = (self.exhausted, self.steps);
            out.push(format!("{label}: iterations ran out in {n} of {of} steps."));
        }
        if self.compared[1] > 0 {
            let [found, lost] = self.compared;
            let of = found + lost;
            out.push(format!(
                "{label}: the reference did not converge in {lost} of {of} steps, which do not count."
            ));
        }
        out
    }
}

/// Report and cost of one step.
struct StepSample {
    report: StepReport,
    /// CPU time over wall time [-].
    share: f64,
    preparation: f64,
}

/// Runs a scene with the random draw `seed`.
pub fn measure_run(
    scene: &ManipulationScene,
    options: &ExperimentOptions<'_>,
    seed: usize,
    set: &[(&str, String)],
    config: &SolverConfig,
) -> Result<RunFigures, ReproduceError> {
    let preparation = PreparationTime::default();
    let built = scene.build(options, seed, set)?;
    let (world, mut settings) = (built.world.clone(), built.settings.clone());
    (settings.solver, settings.tolerance) = (REFERENCE.to_owned(), REFERENCE_TOLERANCE);
    settings.solver_settings.clear();
    let mut reference = Simulation::new(world, settings).map_err(SceneError::from)?;
    let mut scene_run = config.start(built, &preparation)?;
    let steps = scene.steps(options, scene_run.steps());
    let begin = cpu_seconds();
    let mut samples: Vec<StepSample> = Vec::new();
    let mut errors = Vec::new();
    let mut lost = 0;
    let (mut curve, mut stopped) = (Vec::new(), None);
    for step in 0..steps {
        if options.is_over(begin) {
            stopped = Some(format!("stopped at step {step} of {steps}"));
            break;
        }
        if step % EVERY == 0 {
            let (scene, solver) = (scene.scenario, config.label());
            (options.report_progress)(
                f64::NAN,
                &format!("{scene}, {solver}: step {step} of {steps}"),
            );
        }
        if let Some(controller) = &mut scene_run.controller {
            controller.control(&mut scene_run.simulation);
        }
        let is_compared = options.compare && step % EVERY == EVERY - 1;
        let before = is_compared.then(|| scene_run.simulation.snapshot());
        let watch = Stopwatch::start();
        let made = scene_run.simulation.step();
        let share = watch.share();
        let report = match made {
            Ok(report) => report,
            Err(error) => {
                stopped = Some(error.to_string());
                break;
            }
        };
        let force = scene.measure.norm(&mut scene_run.simulation);
        let (time, penetration) = (scene_run.simulation.state().time, report.penetration);
        curve.push(CurvePoint { time, penetration, force });
        if let Some(before) = before.filter(|_| report.rows > 0)
            && reference.restore(&before).is_ok()
        {
            if reference.step().is_ok_and(|report| report.converged()) {
                errors.push((force - scene.measure.norm(&mut reference)).abs());
            } else {
                lost += 1;
            }
        }
        samples.push(StepSample { report, share, preparation: preparation.take() });
    }
    let reported = matches!((config.solver, config.rule), ("apgd" | "pgs", StoppingRule::Paper(_)))
        || config.solver == "ccs";
    samples.retain(|sample| sample.report.rows > 0);
    let of = |f: &dyn Fn(&StepSample) -> f64| mean(samples.iter().map(f));
    let phase = |s: &StepSample, phase: Phase| s.share * s.report.phases.of(phase).as_secs_f64();
    let before_solve = [Phase::Kinematics, Phase::Collision, Phase::Dynamics, Phase::Assembly];
    Ok(RunFigures {
        penetration: of(&|s| s.report.penetration),
        error: mean(errors.iter().copied()),
        dynamics: of(&|s| before_solve.iter().map(|p| phase(s, *p)).sum()),
        solve: of(&|s| phase(s, Phase::Solve)),
        preparation: if reported { of(&|s| s.share * s.preparation) } else { f64::NAN },
        total: of(&|s| s.share * s.report.phases.total().as_secs_f64()),
        iterations: of(&|s| s.report.iterations as f64),
        residual: of(&|s| residual(&s.report)),
        contacts: of(&|s| s.report.contacts as f64),
        steps: samples.len(),
        met: samples.iter().filter(|s| residual(&s.report) <= scene.theta).count(),
        exhausted: samples.iter().filter(|s| has_run_out(&s.report, config.rule)).count(),
        compared: [errors.len(), lost],
        stopped,
        curve,
    })
}

/// Whether the iterations ran out before the rule was met.
fn has_run_out(report: &StepReport, rule: StoppingRule) -> bool {
    match rule {
        StoppingRule::Iterations(_) => false,
        StoppingRule::Paper(_) => report.solver_status == Status::IterationLimit,
        StoppingRule::Residual(_) => !report.converged(),
    }
}

/// The measured relative error of a step [-], in the solver's friction model.
pub fn residual(report: &StepReport) -> f64 {
    let found = &report.residuals;
    let violation = found.of(report.friction_model);
    let reference = found.reference_velocity;
    (if reference > 0.0 { violation / reference } else { violation }).max(found.momentum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manipulation_scene::MAT;
    use crate::tests::least;

    #[test]
    fn more_iterations_leave_less_of_the_motion_undone() {
        let options = ExperimentOptions { steps: Some(EVERY), ..least() };
        let set = [("cells-x", "6".to_owned()), ("cells-y", "3".to_owned())];
        for solver in ["cond", "ccs"] {
            let [few, many] = [10, 200].map(|n| {
                let config = SolverConfig::new(solver, StoppingRule::Iterations(n));
                measure_run(&MAT, &options, 0, &set, &config).unwrap()
            });
            assert!(few.stopped.is_none() && few.steps == EVERY, "{:?}", few.stopped);
            assert!(many.residual < few.residual, "{solver}: {} {}", many.residual, few.residual);
            assert!(many.error.is_finite(), "the last step is compared with the reference");
        }
    }

    #[test]
    fn every_rule_ends_every_solver_that_has_it() {
        let options = ExperimentOptions { steps: Some(2), ..least() };
        let set = [("cells-x", "6".to_owned()), ("cells-y", "3".to_owned())];
        let by_change =
            ["apgd", "cond", "pgs"].map(|s| SolverConfig::new(s, StoppingRule::Paper(1e-4)));
        let by_residual =
            ["alm", "sap"].map(|s| SolverConfig::new(s, StoppingRule::Residual(1e-4)));
        for config in by_change.iter().chain(&by_residual) {
            let found = measure_run(&MAT, &options, 1, &set, config).unwrap();
            assert_eq!(found.steps, 2, "{}: {:?}", config.label(), found.stopped);
            assert!(found.iterations >= 1.0 && found.residual.is_finite(), "{}", config.label());
        }
    }
}
