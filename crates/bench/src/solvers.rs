//! `solvers`: cost and accuracy of a step of the same scene under every solver.

use std::time::Duration;

use serde_json::{Value, json};
use stiction_scene::SceneRun;
use stiction_solve::solver::SOLVERS;
use stiction_study::StudyError;

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::progress;
use crate::scenes::clutter_scene;
use crate::scenes::measure::{SceneMeasurement, WindowFigures, measure};
use stiction_reproduce::table::{Table, number};

/// Arguments of `solvers`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench solvers
  stiction-bench solvers --bodies 40 --only alm,canal,subadmm --time 1 --json")]
pub struct SolversArgs {
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
    /// Runs of each solver; each step counts with its least time
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    repetitions: u16,
}

/// One solver on one scene.
struct SolverRow {
    bodies: usize,
    solver: String,
    friction: &'static str,
    figures: Option<WindowFigures>,
    measured: SceneMeasurement,
}

/// Runs `solvers`.
pub fn run(args: &SolversArgs) -> Result<BenchReport, BenchError> {
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
            // Inside the thread pool, parallel loops start without delay.
            rows.push(rayon::scope(|_| row(*bodies as usize, name, args, limit))?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let json = json!({
        "time": "CPU time per step",
        "runs": rows.iter().map(SolverRow::json).collect::<Vec<_>>(),
    });
    Ok(BenchReport { text: text(&rows), json, figures: Vec::new() })
}

fn row(
    bodies: usize,
    solver: &str,
    args: &SolversArgs,
    limit: Duration,
) -> Result<SolverRow, StudyError> {
    let start = || -> Result<SceneRun, StudyError> {
        let mut scene = clutter_scene(bodies)?;
        scene.settings.solver = solver.to_owned();
        scene.duration = args.time.unwrap_or(scene.duration);
        Ok(scene.start()?)
    };
    let mut scene_run = start()?;
    let steps = scene_run.steps();
    let mut friction = "";
    let mut measured = measure(&mut scene_run, steps, limit, |simulation, _| {
        friction = simulation.report().map_or("", |report| report.friction_model.name());
    });
    for _ in 1..args.repetitions {
        if measured.stopped.is_none() {
            measured.improve(measure(&mut start()?, steps, limit, |_, _| ()));
        }
    }
    Ok(SolverRow {
        bodies,
        solver: solver.to_owned(),
        friction,
        figures: measured.whole(),
        measured,
    })
}

impl SolverRow {
    fn json(&self) -> Value {
        json!({
            "bodies": self.bodies,
            "solver": self.solver,
            "friction_model": self.friction,
            "steps": self.measured.steps(),
            "stopped": self.measured.stopped,
            "figures": self.figures.as_ref().map(WindowFigures::json),
            "check": {
                "passed": self.measured.check.passed,
                "detail": self.measured.check.detail,
            },
            "state_hash": format!("{:016x}", self.measured.state_hash),
        })
    }
}

fn text(rows: &[SolverRow]) -> String {
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
        "unconverged",
        "check",
    ]);
    let mut remarks = String::new();
    for row in rows {
        let name = format!("clutter {}", row.bodies);
        if let Some(reason) = &row.measured.stopped {
            remarks += &format!("{name}, {}: {reason}\n", row.solver);
        }
        let Some(figures) = &row.figures else { continue };
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
