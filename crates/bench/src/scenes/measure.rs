//! Measures the CPU time of the steps of a scene and of their phases, per window of steps.
//!
//! CPU time is read directly before and after each step; control, check, observers and reading the clock
//! do not count. The phases of a step are wall times, multiplied by the step's share of the CPU. Runs of a
//! scene are bitwise equal, so each step counts with its least time over several runs, which removes
//! delays by other programs.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use stiction_scene::{SceneError, SceneRun, Verdict};
use stiction_sim::{PHASES, Simulation, StepReport, StepStatistics, state_hash};
use stiction_study::clock::cpu_time;

use stiction_reproduce::statistics::{mean, median};

/// A range of steps that is evaluated together, counted from one, including the last.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its name.
    pub name: &'static str,
    /// First step.
    pub first: usize,
    /// Last step.
    pub last: usize,
}

/// The figures of a window.
#[derive(Clone, Debug)]
pub struct WindowFigures {
    /// Name of the window.
    pub window: &'static str,
    /// Steps in it.
    pub steps: usize,
    /// Mean CPU time of a step [µs].
    pub mean: f64,
    /// Median CPU time of a step [µs].
    pub median: f64,
    /// Mean CPU time of the parts of a step [µs], in the order of [`PHASES`].
    pub phases: [f64; PHASES.len()],
    /// Mean number of contacts.
    pub contacts: f64,
    /// Mean number of iterations.
    pub iterations: f64,
    /// Largest relative error of momentum [-].
    pub momentum: f64,
    /// Largest violation with exact friction [m/s].
    pub coulomb: f64,
    /// Largest violation with relaxed friction [m/s].
    pub convex: f64,
    /// Deepest penetration [m].
    pub penetration: f64,
    /// Number of unconverged steps.
    pub unconverged: usize,
    /// Mean number of bodies asleep.
    pub asleep: f64,
}

impl WindowFigures {
    fn of(window: Window, samples: &[Sample]) -> Self {
        let part = |k: usize| {
            mean(samples.iter().map(|s| s.share() * s.report.phases.all()[k].as_secs_f64()))
        };
        let mut statistics = StepStatistics::default();
        samples.iter().for_each(|sample| statistics.add(&sample.report));
        Self {
            window: window.name,
            steps: samples.len(),
            mean: 1e6 * mean(samples.iter().map(|s| s.cpu)),
            median: 1e6 * median(samples.iter().map(|s| s.cpu)),
            phases: std::array::from_fn(|k| 1e6 * part(k)),
            contacts: statistics.contacts.mean(),
            iterations: statistics.iterations.mean(),
            momentum: statistics.momentum.max(),
            coulomb: statistics.coulomb.max(),
            convex: statistics.convex.max(),
            penetration: statistics.penetration.max(),
            unconverged: statistics.unconverged,
            asleep: statistics.asleep.mean(),
        }
    }

    /// As a JSON object; times are CPU times.
    pub fn json(&self) -> Value {
        let mut times: Map<String, Value> =
            PHASES.iter().zip(self.phases).map(|(name, t)| ((*name).into(), t.into())).collect();
        times.extend(
            [("mean", self.mean), ("median", self.median)].map(|(k, t)| (k.into(), t.into())),
        );
        json!({
            "window": self.window,
            "steps": self.steps,
            "cpu_microseconds_per_step": times,
            "contacts": self.contacts,
            "iterations": self.iterations,
            "residual": {"momentum": self.momentum, "coulomb": self.coulomb, "convex": self.convex},
            "penetration": self.penetration,
            "unconverged_steps": self.unconverged,
            "asleep": self.asleep,
        })
    }
}

/// Measurements of one or several equal runs.
pub struct SceneMeasurement {
    samples: Vec<Sample>,
    /// Result of the scene's physical check.
    pub check: Verdict,
    /// Why the run ended early, or cannot be trusted.
    pub stopped: Option<String>,
    /// Hash of the last state.
    pub state_hash: u64,
}

impl SceneMeasurement {
    /// Steps done.
    pub fn steps(&self) -> usize {
        self.samples.len()
    }

    /// Figures of those windows that have steps.
    pub fn windows(&self, windows: &[Window]) -> Vec<WindowFigures> {
        let within = |window: &Window| {
            let last = window.last.min(self.samples.len());
            let first = window.first - 1;
            (first < last).then(|| WindowFigures::of(*window, &self.samples[first..last]))
        };
        windows.iter().filter_map(within).collect()
    }

    /// Figures of all steps; `None` if there are none.
    pub fn whole(&self) -> Option<WindowFigures> {
        self.windows(&[Window { name: "run", first: 1, last: usize::MAX }]).pop()
    }

    /// Takes the smaller step times from another run of the same scene.
    pub fn improve(&mut self, other: Self) {
        if other.stopped.is_none() && other.state_hash != self.state_hash {
            self.stopped = Some("two runs of the scene ended in different states".to_owned());
        }
        for (mine, other) in self.samples.iter_mut().zip(other.samples) {
            if other.cpu < mine.cpu {
                *mine = other;
            }
        }
    }
}

/// One step.
struct Sample {
    /// CPU time [s].
    cpu: f64,
    report: StepReport,
}

impl Sample {
    /// CPU time over wall time [-].
    fn share(&self) -> f64 {
        let wall = self.report.phases.total().as_secs_f64();
        if wall > 0.0 { self.cpu / wall } else { 1.0 }
    }
}

/// Runs `steps` steps, or as many as begin within the limit of wall time, and calls `watch`
/// after each. A failing step ends the run.
pub fn measure(
    scene_run: &mut SceneRun,
    steps: usize,
    limit: Duration,
    mut watch: impl FnMut(&Simulation, usize),
) -> SceneMeasurement {
    let (begin, reading) = (Instant::now(), reading_time());
    let mut samples: Vec<Sample> = Vec::new();
    let mut stopped = None;
    for step in 1..=steps {
        if begin.elapsed() > limit {
            stopped = Some(format!("stopped after {} s at step {step}", limit.as_secs_f64()));
            break;
        }
        match timed_step(scene_run, reading) {
            Ok(sample) => samples.push(sample),
            Err(error) => {
                stopped = Some(error.to_string());
                break;
            }
        }
        watch(&scene_run.simulation, step);
    }
    let state_hash = state_hash(scene_run.simulation.state());
    SceneMeasurement { samples, check: scene_run.check.verdict(), stopped, state_hash }
}

/// Makes one step and measures its CPU time, or wall time where CPU time is not available.
fn timed_step(scene_run: &mut SceneRun, reading: Duration) -> Result<Sample, SceneError> {
    if let Some(controller) = &mut scene_run.controller {
        controller.control(&mut scene_run.simulation);
    }
    let before = cpu_time();
    let report = scene_run.simulation.step();
    let after = cpu_time();
    let report = report?;
    scene_run.check.observe(&mut scene_run.simulation, &report);
    let cpu = match (before, after) {
        (Some(before), Some(after)) => after.saturating_sub(before).saturating_sub(reading),
        _ => report.phases.total(),
    };
    Ok(Sample { cpu: cpu.as_secs_f64(), report })
}

/// CPU time that passes between two readings of the clock: the median of many.
fn reading_time() -> Duration {
    let pair = || Some((cpu_time()?, cpu_time()?));
    let seconds = (0..1001).filter_map(|_| pair()).map(|(a, b)| b.saturating_sub(a).as_secs_f64());
    Duration::try_from_secs_f64(median(seconds)).unwrap_or_default()
}
