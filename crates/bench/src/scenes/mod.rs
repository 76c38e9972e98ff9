//! `scenes`: CPU time per step and its parts, for scenes that other engines were measured on.
//!
//! Scenes that sleep are measured with and without; the granular benchmark is defined without.

mod granular;
pub mod measure;

use std::time::Duration;

use serde_json::{Value, json};
use stiction_scene::{Scene, SceneRun};
use stiction_sim::{PHASES, Sleep};
use stiction_study::scenarios::clutter;
use stiction_study::{SCENARIOS, StudyError, scenario};

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::progress;
use granular::GranularMeasures;
use measure::{SceneMeasurement, Window, WindowFigures, measure};
use stiction_reproduce::table::{Table, number};

/// Arguments of `scenes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench scenes
  stiction-bench scenes clutter arm --json
  stiction-bench scenes granular --time-limit 60")]
pub struct ScenesArgs {
    /// Scenarios to measure; all of them if absent
    #[arg(value_name = "SCENARIO")]
    only: Vec<String>,
    /// Wall time that a scene may take; the figures then cover the steps so far
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = positive)]
    time_limit: f64,
    /// Runs of each scene; each step counts with its least time
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    repetitions: u16,
}

/// A scene to be measured.
struct SceneCase {
    scenario: &'static str,
    /// The parameter that gives its size, and the sizes.
    size: Option<(&'static str, &'static [usize])>,
    /// Windows; the whole run if there are none.
    windows: &'static [Window],
    /// Whether to measure it also with sleeping.
    sleeps: bool,
}

/// Windows of the granular benchmark.
const GRANULAR_WINDOWS: &[Window] = &[
    Window { name: "fill", first: 101, last: 300 },
    Window { name: "settled", first: 901, last: 1000 },
];

const CASES: &[SceneCase] = &[
    SceneCase {
        scenario: "clutter",
        size: Some(("bodies", &[8, 20, 40, 80, 160])),
        windows: &[],
        sleeps: true,
    },
    SceneCase { scenario: "arm", size: None, windows: &[], sleeps: false },
    SceneCase {
        scenario: "quadruped-heap",
        size: Some(("robots", &[8, 27])),
        windows: &[],
        sleeps: true,
    },
    SceneCase {
        scenario: "granular",
        size: Some(("bodies", &[1000, 9000])),
        windows: GRANULAR_WINDOWS,
        sleeps: false,
    },
];

/// One run of one scene.
struct SceneRow {
    scenario: &'static str,
    size: Option<usize>,
    sleep: bool,
    measured: SceneMeasurement,
    windows: Vec<WindowFigures>,
    /// Figures specific to this scene.
    own: Option<Value>,
}

/// Runs `scenes`.
pub fn run(args: &ScenesArgs) -> Result<BenchReport, BenchError> {
    let known: Vec<&str> = CASES.iter().map(|case| case.scenario).collect();
    if let Some(found) = args.only.iter().find(|name| !known.contains(&name.as_str())) {
        let (found, known) = (found.clone(), known.join(", "));
        return Err(StudyError::UnknownScenario { found, known }.into());
    }
    let wanted =
        |case: &&SceneCase| args.only.is_empty() || args.only.iter().any(|n| n == case.scenario);
    let limit = Duration::try_from_secs_f64(args.time_limit).unwrap_or(Duration::MAX);
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for case in CASES.iter().filter(wanted) {
        if SCENARIOS.iter().any(|entry| entry.name == case.scenario) {
            rows.extend(measure_case(case, limit, args.repetitions)?);
        } else {
            missing.push(case.scenario);
        }
    }
    let json = json!({
        "time": "CPU time per step",
        "scenes": rows.iter().map(SceneRow::json).collect::<Vec<_>>(),
        "missing": missing,
    });
    Ok(BenchReport { text: text(&rows, &missing), json, figures: Vec::new() })
}

fn measure_case(
    case: &SceneCase,
    limit: Duration,
    repetitions: u16,
) -> Result<Vec<SceneRow>, StudyError> {
    let sizes: Vec<Option<usize>> =
        case.size.map_or(vec![None], |(_, sizes)| sizes.iter().copied().map(Some).collect());
    let mut rows = Vec::new();
    for size in sizes {
        for sleep in [false, true] {
            if sleep && !case.sleeps {
                continue;
            }
            // Inside the thread pool, parallel loops start without delay.
            rows.push(rayon::scope(|_| row(case, size, sleep, limit, repetitions))?);
        }
    }
    Ok(rows)
}

fn scene(case: &SceneCase, size: Option<usize>) -> Result<Scene, StudyError> {
    match (case.scenario, case.size, size) {
        ("clutter", _, Some(bodies)) => clutter_scene(bodies),
        (name, Some((key, _)), Some(size)) => scenario(name, &[(key.into(), size.to_string())]),
        (name, _, _) => scenario(name, &[]),
    }
}

/// Clutter in a bin: from the initial states that other engines are measured with, if the folder
/// `STICTION_SHARED` has them, otherwise in columns by the same rule.
pub fn clutter_scene(bodies: usize) -> Result<Scene, StudyError> {
    let (walls, friction) = (true, 1.0);
    let shared = std::env::var_os("STICTION_SHARED").map(|folder| {
        std::path::Path::new(&folder).join(format!("bench/clutter_ic_{bodies}.json"))
    });
    let items = match shared.filter(|path| path.exists()) {
        Some(path) => clutter::read_items(path)?,
        None => clutter::columns(bodies, 1),
    };
    clutter::scene(&items, walls, friction)
}

fn row(
    case: &SceneCase,
    size: Option<usize>,
    sleep: bool,
    limit: Duration,
    repetitions: u16,
) -> Result<SceneRow, StudyError> {
    let start = || -> Result<SceneRun, StudyError> {
        let mut scene = scene(case, size)?;
        scene.settings.sleep = sleep.then(Sleep::default);
        Ok(scene.start()?)
    };
    let mut scene_run = start()?;
    let steps = scene_run.steps();
    let bar = progress::bar(steps * usize::from(repetitions));
    bar.set_message(label(case.scenario, size, sleep));
    let mut measures =
        (case.scenario == "granular").then(|| GranularMeasures::new(size.unwrap_or(0)));
    let mut measured = measure(&mut scene_run, steps, limit, |simulation, step| {
        if let Some(measures) = &mut measures {
            measures.watch(simulation, step);
        }
        bar.inc(1);
    });
    let own = measures.map(|measures| measures.json(&scene_run.simulation));
    for _ in 1..repetitions {
        if measured.stopped.is_none() {
            measured.improve(measure(&mut start()?, steps, limit, |_, _| bar.inc(1)));
        }
    }
    bar.finish_and_clear();
    let windows = if case.windows.is_empty() {
        measured.whole().into_iter().collect()
    } else {
        measured.windows(case.windows)
    };
    Ok(SceneRow { scenario: case.scenario, size, sleep, measured, windows, own })
}

fn label(scenario: &str, size: Option<usize>, sleep: bool) -> String {
    let size = size.map(|size| format!(" {size}")).unwrap_or_default();
    format!("{scenario}{size}{}", if sleep { ", sleeping" } else { "" })
}

impl SceneRow {
    fn json(&self) -> Value {
        json!({
            "scenario": self.scenario,
            "size": self.size,
            "sleep": self.sleep,
            "steps": self.measured.steps(),
            "stopped": self.measured.stopped,
            "windows": self.windows.iter().map(WindowFigures::json).collect::<Vec<_>>(),
            "check": {
                "passed": self.measured.check.passed,
                "detail": self.measured.check.detail,
            },
            "measures": self.own,
            "state_hash": format!("{:016x}", self.measured.state_hash),
        })
    }
}

fn text(rows: &[SceneRow], missing: &[&str]) -> String {
    let mut heading = vec!["CPU time per step [µs]", "window", "contacts", "median", "mean"];
    heading.extend(PHASES);
    heading.extend(["iterations", "coulomb [m/s]", "depth [mm]", "unconverged", "check"]);
    let mut table = Table::new(&heading);
    for row in rows {
        for figures in &row.windows {
            let mut cells =
                vec![label(row.scenario, row.size, row.sleep), figures.window.to_owned()];
            cells.extend([figures.contacts, figures.median, figures.mean].map(number));
            cells.extend(figures.phases.map(number));
            cells.extend([figures.iterations, figures.coulomb].map(number));
            cells.push(number(1e3 * figures.penetration));
            cells.push(format!("{}/{}", figures.unconverged, figures.steps));
            cells.push(if row.measured.check.passed { "passed" } else { "failed" }.to_owned());
            table.row(cells);
        }
    }
    let mut out = table.render();
    for row in rows {
        let name = label(row.scenario, row.size, row.sleep);
        if let Some(reason) = &row.measured.stopped {
            out += &format!("{name}: {reason}\n");
        }
        if !row.measured.check.passed {
            out += &format!("{name}: {}\n", row.measured.check.detail);
        }
        if let Some(Value::Object(own)) = &row.own {
            let cells: Vec<String> = own
                .iter()
                .map(|(key, value)| format!("{key} {}", value.as_f64().map_or("–".into(), number)))
                .collect();
            out += &format!("{name}: {}\n", cells.join(", "));
        }
    }
    for name in missing {
        out += &format!("{name}: left out, the gallery has no such scenario\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_small_clutter_cover_its_steps_and_add_up() {
        let mut scene_run = clutter_scene(2).unwrap().start().unwrap();
        let windows = [
            Window { name: "early", first: 1, last: 10 },
            Window { name: "late", first: 21, last: 30 },
            Window { name: "never", first: 31, last: 40 },
        ];
        let mut seen = 0;
        let measured = measure(&mut scene_run, 25, Duration::MAX, |_, step| seen = step);
        assert_eq!((seen, measured.steps(), measured.stopped.is_none()), (25, 25, true));
        let windows = measured.windows(&windows);
        assert_eq!(windows.iter().map(|w| w.steps).collect::<Vec<_>>(), [10, 5]);
        for figures in &windows {
            let sum: f64 = figures.phases.iter().sum();
            // The phases of each step are scaled to its CPU time; the sums differ by round-off.
            assert!((sum - figures.mean).abs() <= 1e-9 * figures.mean.max(1.0));
        }
    }

    #[test]
    fn of_two_runs_each_step_counts_with_its_least_time_and_other_states_are_noticed() {
        let run = |bodies: usize| {
            let mut scene_run = clutter_scene(bodies).unwrap().start().unwrap();
            measure(&mut scene_run, 20, Duration::MAX, |_, _| ())
        };
        let (mut first, second) = (run(3), run(3));
        let [before, other] = [&first, &second].map(|m| m.whole().unwrap().mean);
        first.improve(second);
        assert!(first.whole().unwrap().mean <= before.min(other) && first.stopped.is_none());
        first.improve(run(2));
        assert!(first.stopped.is_some());
    }
}
