//! Runs a scene for a number of steps and summarizes it: time, contacts, residuals,
//! penetration, energy, and the verdict of the scene's own check.
//!
//! Times are wall times of the step itself, without the check and without the observer. Costs
//! one number of memory per step, for the percentiles.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use stiction_scene::{SceneError, SceneRun, Verdict};
use stiction_sim::{
    PHASES, STEP_STATUSES, Simulation, StartErrors, StepError, StepReport, StepStatistics, Tally,
    state_hash,
};

use crate::clock::cpu_time;
use crate::error::StudyError;

/// Mean and largest as a JSON object.
fn json_of(tally: &Tally) -> Value {
    json!({"mean": tally.mean(), "max": tally.max()})
}

/// The same for counts.
fn json_of_count(tally: &Tally) -> Value {
    json!({"mean": tally.mean(), "max": tally.max() as u64})
}

/// Durations of steps \[µs\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepTimes {
    /// The mean.
    pub mean: f64,
    /// Half of the steps took no longer.
    pub p50: f64,
    /// 99 % of the steps took no longer.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
    /// Means of the parts, in the order of [`PHASES`].
    pub phases: [f64; PHASES.len()],
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Name of the scene.
    pub target: String,
    /// Name of the solver.
    pub solver: String,
    /// Steps done.
    pub steps: usize,
    /// Time step [s].
    pub time_step: f64,
    /// Simulated time [s].
    pub simulated_seconds: f64,
    /// Wall time [s], checks included.
    pub wall_seconds: f64,
    /// CPU time of all threads [s], where the system provides it.
    pub cpu_seconds: Option<f64>,
    /// Time per step \[µs\].
    pub step_times: StepTimes,
    /// Number of contact points per step, including those with a positive gap.
    pub contacts: Tally,
    /// Iterations of the solver per step.
    pub iterations: Tally,
    /// Relative error of momentum per step [-].
    pub momentum: Tally,
    /// Residual of the laws with exact friction per step [m/s].
    pub coulomb: Tally,
    /// Residual of the laws with relaxed friction per step [m/s].
    pub convex: Tally,
    /// Number of steps of each status, in the order of [`STEP_STATUSES`]; they add up to `steps`.
    pub step_status: [usize; STEP_STATUSES.len()],
    /// Constraints that were violated at the start.
    pub start_errors: StartErrors,
    /// Largest energy without cause in a step, relative to what the scheme explains [-].
    pub energy_imbalance: f64,
    /// Number of steps whose solution missed the tolerance, or was softened.
    pub unconverged_steps: usize,
    /// Number of steps in which a body moved faster than the time step resolves.
    pub unresolved_steps: usize,
    /// Largest number of inverted elements of soft bodies after a step.
    pub inverted_elements: usize,
    /// Deepest penetration after any step [m].
    pub penetration_max: f64,
    /// Deepest penetration after the last step [m].
    pub penetration_final: f64,
    /// Energy before the first step [J].
    pub energy_initial: f64,
    /// Energy after the last step [J].
    pub energy_final: f64,
    /// Result of the check; a run that ended early does not pass.
    pub check: Verdict,
    /// Whether the check measures the error of the solver, so that problems that are not solved are no failures.
    pub check_measures_solver: bool,
    /// Whether the check was skipped because it needs the start of the run.
    pub check_skipped: bool,
    /// Hash of the last state, the same for every number of threads if the run is reproducible.
    pub state_hash: u64,
    /// Whether another run has the same bits: not if solves have a time budget.
    pub reproducible: bool,
}

impl Summary {
    /// Simulated over real time [-].
    pub fn realtime_factor(&self) -> f64 {
        self.simulated_seconds / self.wall_seconds
    }

    /// The figures as a JSON object; numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let (times, start) = (&self.step_times, &self.start_errors);
        let mut microseconds: Map<String, Value> =
            PHASES.iter().zip(times.phases).map(|(name, t)| ((*name).into(), t.into())).collect();
        let whole =
            [("mean", times.mean), ("p50", times.p50), ("p99", times.p99), ("max", times.max)];
        microseconds.extend(whole.map(|(name, t)| (name.into(), t.into())));
        json!({
            "target": self.target,
            "solver": self.solver,
            "steps": self.steps,
            "time_step": self.time_step,
            "simulated_seconds": self.simulated_seconds,
            "wall_seconds": self.wall_seconds,
            "cpu_seconds": self.cpu_seconds,
            "realtime_factor": self.realtime_factor(),
            "microseconds_per_step": microseconds,
            "contacts": json_of_count(&self.contacts),
            "iterations": json_of_count(&self.iterations),
            "residual": {
                "momentum": json_of(&self.momentum),
                "coulomb": json_of(&self.coulomb),
                "convex": json_of(&self.convex),
            },
            "step_status": self.step_status_json(),
            "start_errors": {
                "overlaps": start.overlaps,
                "depth": start.depth,
                "limits": start.limits,
                "beyond": start.beyond,
                "equalities": start.equalities,
                "open": start.open,
            },
            "unconverged_steps": self.unconverged_steps,
            "unresolved_steps": self.unresolved_steps,
            "inverted_elements": self.inverted_elements,
            "penetration": {"max": self.penetration_max, "final": self.penetration_final},
            "energy": {
                "initial": self.energy_initial,
                "final": self.energy_final,
                "imbalance": self.energy_imbalance,
            },
            "check": {
                "passed": self.check.passed,
                "skipped": self.check_skipped,
                "detail": self.check.detail,
            },
            "state_hash": format!("{:016x}", self.state_hash),
            "reproducible": self.reproducible,
        })
    }
}

/// Runs `scene_run` for `steps` steps and calls `observe` after each with its number, from one, and its
/// report.
///
/// A step that cannot be made, such as one into infinity, ends the run: the summary covers the
/// steps before it, and its check has failed with the reason. An error is returned only for what
/// does not depend on the state: settings that the solver refuses.
pub fn run(
    target: &str,
    scene_run: &mut SceneRun,
    steps: usize,
    mut observe: impl FnMut(usize, &StepReport),
) -> Result<Summary, StudyError> {
    run_observed(target, scene_run, 0..steps, |step, _, report| {
        observe(step, report);
        ControlFlow::Continue(())
    })
}

/// [`run`] for a range of steps, with an observer that has access to the simulation and may end the run
/// with a reason, with which the check then fails.
///
/// If the first steps were made elsewhere, the check has not observed them: it evaluates the others, or
/// nothing if it needs the start, and the verdict states this.
pub fn run_observed(
    target: &str,
    scene_run: &mut SceneRun,
    steps: Range<usize>,
    mut observe: impl FnMut(usize, &Simulation, &StepReport) -> ControlFlow<String>,
) -> Result<Summary, StudyError> {
    let mut record = RunAccumulator::begin(scene_run);
    let mut stopped = None;
    for step in steps.start + 1..=steps.end {
        let detail = match scene_run.step() {
            Ok(report) => {
                record.add(&report);
                match observe(step, &scene_run.simulation, &report) {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(reason) => {
                        format!("ended after step {step} of {}: {reason}", steps.end)
                    }
                }
            }
            Err(error @ SceneError::Step(StepError::Solver(_))) => return Err(error.into()),
            Err(error) => format!("step {step} of {} could not be made: {error}", steps.end),
        };
        stopped = Some(Verdict { passed: false, detail });
        break;
    }
    let skipped = steps.start > 0 && stopped.is_none() && scene_run.check.needs_start();
    if skipped {
        let detail = "nothing was checked, since the check depends on the start, which this \
                      process did not run";
        stopped = Some(Verdict { passed: true, detail: detail.to_owned() });
    }
    let mut summary = record.end(target, scene_run, stopped);
    summary.check_skipped = skipped;
    if steps.start > 0 {
        let detail = &summary.check.detail;
        summary.check.detail = format!("of the steps after {}: {detail}", steps.start);
    }
    Ok(summary)
}

/// Accumulates the results of a run.
struct RunAccumulator {
    wall: Instant,
    cpu: Option<Duration>,
    begin: f64,
    energy: f64,
    /// Time of each step, for percentiles [µs].
    times: Vec<f64>,
    statistics: StepStatistics,
}

impl RunAccumulator {
    fn begin(scene_run: &mut SceneRun) -> Self {
        Self {
            energy: scene_run.simulation.energy(),
            begin: scene_run.simulation.state().time,
            times: Vec::new(),
            statistics: StepStatistics::default(),
            cpu: cpu_time(),
            wall: Instant::now(),
        }
    }

    fn add(&mut self, report: &StepReport) {
        self.times.push(microseconds(report.phases.total()));
        self.statistics.add(report);
    }

    fn end(mut self, target: &str, scene_run: &mut SceneRun, judged: Option<Verdict>) -> Summary {
        let wall = self.wall.elapsed();
        let cpu = cpu_time().zip(self.cpu).map(|(now, then)| now.saturating_sub(then));
        let (steps, statistics) = (self.times.len(), &self.statistics);
        let per_step = |sum: f64| sum / steps as f64;
        let mean = per_step(self.times.iter().sum());
        self.times.sort_by(f64::total_cmp);
        let step_times = StepTimes {
            mean,
            p50: percentile(&self.times, 50),
            p99: percentile(&self.times, 99),
            max: percentile(&self.times, 100),
            phases: statistics.phases.map(|sum| per_step(microseconds(sum))),
        };
        let simulation = &mut scene_run.simulation;
        Summary {
            target: target.to_owned(),
            solver: simulation.settings().solver.clone(),
            steps,
            time_step: simulation.settings().time_step,
            simulated_seconds: simulation.state().time - self.begin,
            wall_seconds: wall.as_secs_f64(),
            cpu_seconds: cpu.map(|time| time.as_secs_f64()),
            step_times,
            contacts: statistics.contacts,
            iterations: statistics.iterations,
            momentum: statistics.momentum,
            coulomb: statistics.coulomb,
            convex: statistics.convex,
            step_status: statistics.status_counts,
            start_errors: statistics.start_errors,
            energy_imbalance: statistics.energy_imbalance.max(),
            unconverged_steps: statistics.unconverged,
            unresolved_steps: statistics.unresolved,
            inverted_elements: statistics.inverted,
            penetration_max: statistics.penetration.max(),
            penetration_final: statistics.penetration.last(),
            energy_initial: self.energy,
            energy_final: simulation.energy(),
            state_hash: state_hash(simulation.state()),
            reproducible: statistics.reproducible,
            check_measures_solver: scene_run.check.measures_the_solver(),
            check: judged.unwrap_or_else(|| scene_run.check.verdict()),
            check_skipped: false,
        }
    }
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

/// The least of sorted values that `percent` % of them do not exceed; NaN without values.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios::parts;
    use nalgebra::Isometry3;
    use stiction_geom::Shape;
    use stiction_scene::{Check, Scene};
    use stiction_sim::{Settings, Surface, WorldBuilder};

    /// A check that passes everything.
    struct PassingCheck;

    impl Check for PassingCheck {
        fn observe(&mut self, _: &mut Simulation, _: &StepReport) {}

        fn verdict(&self) -> Verdict {
            Verdict { passed: true, detail: String::new() }
        }
    }

    const HEIGHT: f64 = 10.0;

    /// A ball that falls and, within this test, meets nothing.
    fn falling() -> Scene {
        let mut builder = WorldBuilder::new();
        let (shape, at) = (Shape::sphere(0.1).unwrap(), Isometry3::translation(0.0, 0.0, HEIGHT));
        parts::free_body(&mut builder, "ball", shape, 2.0, at, Surface::default()).unwrap();
        let scheme = stiction_sim::Scheme::Symplectic;
        let settings = Settings { time_step: 0.01, scheme, ..Settings::default() };
        Scene::new(builder.build().unwrap(), settings, 1.0, PassingCheck)
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = [50, 99, 100].map(|percent| percentile(&hundred, percent));
        assert_eq!(found, [50.0, 99.0, 100.0]);
        assert_eq!([50, 99].map(|percent| percentile(&[7.0], percent)), [7.0, 7.0]);
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn a_tally_does_not_lose_a_nan() {
        let mut tally = Tally::default();
        for x in [1.0, 4.0, 1.0] {
            tally.add(x);
        }
        assert_eq!((tally.mean(), tally.max()), (2.0, 4.0));
        for x in [f64::NAN, 9.0] {
            tally.add(x);
        }
        assert!(tally.mean().is_nan() && tally.max().is_nan());
    }

    #[test]
    fn free_fall_loses_the_energy_that_the_scheme_loses_and_touches_nothing() {
        let mut scene_run = falling().start().unwrap();
        let mut seen = Vec::new();
        let summary = run("fall", &mut scene_run, 50, |step, _| seen.push(step)).unwrap();
        assert_eq!(seen, (1..=50).collect::<Vec<_>>());
        assert_eq!((summary.steps, summary.unconverged_steps), (50, 0));
        assert_eq!((summary.contacts.max(), summary.iterations.max()), (0.0, 0.0));
        // Symplectic Euler: v = −n g h and z = z₀ − ½ n (n + 1) g h², hence E falls by ½ m g² h² n.
        let (m, g, h, n) = (2.0, 9.81, 0.01, 50.0);
        let loss = 0.5 * m * g * g * h * h * n;
        let found = summary.energy_initial - summary.energy_final;
        // Sums of numbers of the size of m g z₀ in double precision, a few per step.
        assert!((found - loss).abs() <= 4.0 * n * f64::EPSILON * m * g * HEIGHT, "{found}, {loss}");
        assert!((summary.simulated_seconds - n * h).abs() <= n * f64::EPSILON);
        assert!(summary.check.passed && summary.step_times.p50 <= summary.step_times.max);
    }

    #[test]
    fn the_parts_of_a_step_add_up_to_it() {
        let mut scene_run = falling().start().unwrap();
        let times = run("fall", &mut scene_run, 20, |_, _| ()).unwrap().step_times;
        let sum: f64 = times.phases.iter().sum();
        // Forty additions of round numbers of nanoseconds, in another order.
        assert!((sum - times.mean).abs() <= 1e-12 * sum.max(1.0), "{sum} against {}", times.mean);
    }

    #[test]
    fn a_step_into_infinity_ends_the_run_and_fails_the_check() {
        let scene = falling().controlled(|simulation: &mut Simulation| {
            if simulation.state().time > 0.025 {
                simulation.state_mut().v[2] = f64::INFINITY;
            }
        });
        let mut scene_run = scene.start().unwrap();
        let summary = run("fall", &mut scene_run, 10, |_, _| ()).unwrap();
        assert_eq!((summary.steps, summary.check.passed), (3, false));
        assert!(summary.check.detail.contains("step 4 of 10"), "{}", summary.check.detail);
    }

    #[test]
    fn an_observer_may_end_a_run_and_steps_done_elsewhere_count() {
        let mut scene_run = falling().start().unwrap();
        let summary = run_observed("fall", &mut scene_run, 5..20, |step, _, _| match step {
            8 => ControlFlow::Break("enough".to_owned()),
            _ => ControlFlow::Continue(()),
        });
        let summary = summary.unwrap();
        assert_eq!((summary.steps, summary.check.passed), (3, false));
        let expected = "of the steps after 5: ended after step 8 of 20: enough";
        assert_eq!(summary.check.detail, expected);
    }

    #[test]
    fn numbers_that_are_not_finite_become_null() {
        let mut scene_run = falling().start().unwrap();
        let document = run("fall", &mut scene_run, 0, |_, _| ()).unwrap().json();
        assert!(document["microseconds_per_step"]["mean"].is_null());
        assert_eq!(document["steps"], 0);
    }
}
