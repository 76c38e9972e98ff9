//! `solvers`: the same scene under every solver: what a step costs and how exact it is.

use std::time::Duration;

use serde_json::{Value, json};
use stiction_scene::SceneError;
use stiction_solve::solver::SOLVERS;

use crate::args::positive;
use crate::error::BenchError;
use crate::finding::Finding;
use crate::progress;
use crate::scenes::clutter_stage;
use crate::scenes::measure::{Measured, Window, measure};
use crate::table::{Table, number};

/// Arguments of `solvers`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench solvers
  stiction-bench solvers --bodies 40 --only alm,canal,subadmm --time 1 --json")]
pub struct Args {
    /// Numbers of bodies in the clutter, separated by commas
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "40,80",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    bodies: Vec<u32>,
    /// Solvers, separated by commas; all of them if absent
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Time to simulate, in seconds; the scene's own if absent
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    time: Option<f64>,
    /// Wall time that a run may take; its figures then cover the steps so far
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = positive)]
    time_limit: f64,
}

/// One solver on one scene.
struct Row {
    bodies: usize,
    solver: String,
    friction: &'static str,
    measured: Measured,
}

/// Runs `solvers`.
pub fn run(args: &Args) -> Result<Finding, BenchError> {
    let names: Vec<&str> = if args.only.is_empty() {
        SOLVERS.iter().map(|entry| entry.name).collect()
    } else {
        args.only.iter().map(String::as_str).collect()
    };
    let limit = Duration::try_from_secs_f64(args.time_limit).unwrap_or(Duration::MAX);
    let bar = progress::bar(args.bodies.len() * names.len());
    let mut rows = Vec::new();
    for bodies in &args.bodies {
        for name in &names {
            bar.set_message(format!("clutter {bodies}, {name}"));
            // Inside the pool of threads, parallel loops start at once.
            rows.push(rayon::scope(|_| row(*bodies as usize, name, args.time, limit))?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let json = json!({
        "time": "CPU time per step",
        "runs": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    Ok(Finding { text: text(&rows), json, figures: Vec::new() })
}

fn row(bodies: usize, solver: &str, time: Option<f64>, limit: Duration) -> Result<Row, SceneError> {
    let mut stage = clutter_stage(bodies)?;
    stage.settings.solver = solver.to_owned();
    stage.duration = time.unwrap_or(stage.duration);
    let mut act = stage.start()?;
    let steps = act.steps();
    let windows = [Window { name: "run", first: 1, last: steps }];
    let mut friction = "";
    let measured = measure(&mut act, steps, &windows, limit, |simulation, _| {
        friction = simulation.report().map_or("", |report| report.friction_model.name());
    });
    Ok(Row { bodies, solver: solver.to_owned(), friction, measured })
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "bodies": self.bodies,
            "solver": self.solver,
            "friction_model": self.friction,
            "steps": self.measured.steps,
            "stopped": self.measured.stopped,
            "figures": self.measured.windows.first().map(|figures| figures.json()),
            "check": {
                "passed": self.measured.check.passed,
                "detail": self.measured.check.detail,
            },
        })
    }
}

fn text(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "clutter",
        "solver",
        "friction",
        "median [µs]",
        "mean [µs]",
        "solve [µs]",
        "iterations",
        "momentum [-]",
        "coulomb [m/s]",
        "convex [m/s]",
        "depth [mm]",
        "missed",
        "check",
    ]);
    let mut remarks = String::new();
    for row in rows {
        let name = format!("clutter {}", row.bodies);
        if let Some(reason) = &row.measured.stopped {
            remarks += &format!("{name}, {}: {reason}\n", row.solver);
        }
        let Some(figures) = row.measured.windows.first() else { continue };
        let [.., solve, _] = figures.phases;
        let mut cells = vec![name, row.solver.clone(), row.friction.to_owned()];
        cells.extend(
            [
                figures.median,
                figures.mean,
                solve,
                figures.iterations,
                figures.momentum,
                figures.coulomb,
                figures.convex,
                1e3 * figures.penetration,
            ]
            .map(number),
        );
        cells.push(format!("{}/{}", figures.unconverged, figures.steps));
        cells.push(if row.measured.check.passed { "passed" } else { "failed" }.to_owned());
        table.row(cells);
    }
    table.render() + &remarks
}
