//! `scenes`: CPU time per step and its parts, for scenes that other engines were measured on.
//!
//! Scenes that sleep are measured with and without; the granular benchmark is defined without.

mod granular;
pub mod measure;

use std::time::Duration;

use serde_json::{Value, json};
use stiction_scene::gallery::clutter;
use stiction_scene::{Act, GALLERY, SceneError, Stage, scenario};
use stiction_sim::{PHASES, Sleep};

use crate::args::positive;
use crate::error::BenchError;
use crate::finding::Finding;
use crate::progress;
use crate::table::{Table, number};
use granular::Measures;
use measure::{Figures, Measured, Window, measure};

/// Arguments of `scenes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench scenes
  stiction-bench scenes clutter arm --json
  stiction-bench scenes granular --time-limit 60")]
pub struct Args {
    /// Scenarios to measure; all of them if absent
    #[arg(value_name = "SCENARIO")]
    only: Vec<String>,
    /// Wall time that a scene may take; the figures then cover the steps so far
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = positive)]
    time_limit: f64,
}

/// A scene to be measured.
struct Case {
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

const CASES: &[Case] = &[
    Case {
        scenario: "clutter",
        size: Some(("bodies", &[8, 20, 40, 80, 160])),
        windows: &[],
        sleeps: true,
    },
    Case { scenario: "arm", size: None, windows: &[], sleeps: false },
    Case {
        scenario: "quadruped-heap",
        size: Some(("robots", &[8, 27])),
        windows: &[],
        sleeps: true,
    },
    Case {
        scenario: "granular",
        size: Some(("bodies", &[1000, 9000])),
        windows: GRANULAR_WINDOWS,
        sleeps: false,
    },
];

/// One run of one scene.
struct Row {
    scenario: &'static str,
    size: Option<usize>,
    sleep: bool,
    measured: Measured,
    /// Measures that only this scene has.
    own: Option<Value>,
}

/// Runs `scenes`.
pub fn run(args: &Args) -> Result<Finding, BenchError> {
    let known: Vec<&str> = CASES.iter().map(|case| case.scenario).collect();
    if let Some(found) = args.only.iter().find(|name| !known.contains(&name.as_str())) {
        let (found, known) = (found.clone(), known.join(", "));
        return Err(SceneError::UnknownScenario { found, known }.into());
    }
    let wanted =
        |case: &&Case| args.only.is_empty() || args.only.iter().any(|n| n == case.scenario);
    let limit = Duration::try_from_secs_f64(args.time_limit).unwrap_or(Duration::MAX);
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for case in CASES.iter().filter(wanted) {
        if GALLERY.iter().any(|entry| entry.name == case.scenario) {
            rows.extend(measure_case(case, limit)?);
        } else {
            missing.push(case.scenario);
        }
    }
    let json = json!({
        "time": "CPU time per step",
        "scenes": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "missing": missing,
    });
    Ok(Finding { text: text(&rows, &missing), json, figures: Vec::new() })
}

fn measure_case(case: &Case, limit: Duration) -> Result<Vec<Row>, SceneError> {
    let sizes: Vec<Option<usize>> =
        case.size.map_or(vec![None], |(_, sizes)| sizes.iter().copied().map(Some).collect());
    let mut rows = Vec::new();
    for size in sizes {
        for sleep in [false, true] {
            if sleep && !case.sleeps {
                continue;
            }
            let mut stage = stage(case, size)?;
            stage.settings.sleep = sleep.then(Sleep::default);
            // Inside the pool of threads, parallel loops start at once.
            rows.push(rayon::scope(|_| row(case, size, sleep, stage, limit))?);
        }
    }
    Ok(rows)
}

fn stage(case: &Case, size: Option<usize>) -> Result<Stage, SceneError> {
    match (case.scenario, case.size, size) {
        ("clutter", _, Some(bodies)) => clutter_stage(bodies),
        (name, Some((key, _)), Some(size)) => scenario(name, &[(key.into(), size.to_string())]),
        (name, _, _) => scenario(name, &[]),
    }
}

/// Clutter in a bin, in its columns.
pub fn clutter_stage(bodies: usize) -> Result<Stage, SceneError> {
    let (walls, friction) = (true, 1.0);
    clutter::stage(&clutter::columns(bodies, 1), walls, friction)
}

fn row(
    case: &Case,
    size: Option<usize>,
    sleep: bool,
    stage: Stage,
    limit: Duration,
) -> Result<Row, SceneError> {
    let mut act: Act = stage.start()?;
    let steps = act.steps();
    let bar = progress::bar(steps);
    bar.set_message(label(case.scenario, size, sleep));
    let whole = [Window { name: "run", first: 1, last: steps }];
    let windows = if case.windows.is_empty() { &whole } else { case.windows };
    let mut measures = (case.scenario == "granular").then(|| Measures::new(size.unwrap_or(0)));
    let measured = measure(&mut act, steps, windows, limit, |simulation, step| {
        if let Some(measures) = &mut measures {
            measures.watch(simulation, step);
        }
        bar.set_position(step as u64);
    });
    bar.finish_and_clear();
    let own = measures.map(|measures| measures.json(&act.simulation));
    Ok(Row { scenario: case.scenario, size, sleep, measured, own })
}

fn label(scenario: &str, size: Option<usize>, sleep: bool) -> String {
    let size = size.map(|size| format!(" {size}")).unwrap_or_default();
    format!("{scenario}{size}{}", if sleep { ", sleeping" } else { "" })
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "scenario": self.scenario,
            "size": self.size,
            "sleep": self.sleep,
            "steps": self.measured.steps,
            "stopped": self.measured.stopped,
            "windows": self.measured.windows.iter().map(Figures::json).collect::<Vec<_>>(),
            "check": {
                "passed": self.measured.check.passed,
                "detail": self.measured.check.detail,
            },
            "measures": self.own,
        })
    }
}

fn text(rows: &[Row], missing: &[&str]) -> String {
    let mut heading = vec!["CPU time per step [µs]", "window", "contacts", "median", "mean"];
    heading.extend(PHASES);
    heading.extend(["iterations", "coulomb [m/s]", "depth [mm]", "missed", "check"]);
    let mut table = Table::new(&heading);
    for row in rows {
        for figures in &row.measured.windows {
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
        let mut act = clutter_stage(2).unwrap().start().unwrap();
        let windows = [
            Window { name: "early", first: 1, last: 10 },
            Window { name: "late", first: 21, last: 30 },
            Window { name: "never", first: 31, last: 40 },
        ];
        let mut seen = 0;
        let measured = measure(&mut act, 25, &windows, Duration::MAX, |_, step| seen = step);
        assert_eq!((seen, measured.steps, measured.stopped.is_none()), (25, 25, true));
        let steps: Vec<usize> = measured.windows.iter().map(|w| w.steps).collect();
        assert_eq!(steps, [10, 5]);
        for figures in &measured.windows {
            let sum: f64 = figures.phases.iter().sum();
            // The parts of each step are scaled to its CPU time; only round-off is left.
            assert!((sum - figures.mean).abs() <= 1e-9 * figures.mean.max(1.0));
        }
    }
}
