//! `newton`: where the time of a Newton iteration goes, over the size of a rigid pile.
//!
//! SAP in the letter of its paper (one pass on the problem softened to the near-rigid limit) and
//! CANAL, which runs the same kernel in a loop. Per iteration: assembly of gradient and Hessian,
//! factorization with its solve, line search. Medians over repetitions, in CPU time.

use std::time::Duration;

use serde_json::{Value, json};
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::catalogue::{self, Variation};
use stiction_solve::solver::newton::Phases;
use stiction_solve::solver::{Canal, Sap, SettingError};
use stiction_solve::{FrictionModel, Goal, Monitor, Problem, Solution, Solver};

use crate::clock::Stopwatch;
use crate::error::BenchError;
use crate::finding::Finding;
use crate::progress;
use crate::statistics::median;
use crate::table::{Table, number};

/// Arguments of `newton`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench newton
  stiction-bench newton --sizes 40,100,300 --json")]
pub struct Args {
    /// Numbers of spheres, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "40,100,300,1000",
          value_parser = clap::value_parser!(u16).range(1..))]
    sizes: Vec<u16>,
}

/// Repetitions, fewer if they take longer than this.
const REPETITIONS: usize = 7;
const PATIENCE: Duration = Duration::from_secs(4);
const TIME_LIMIT: Duration = Duration::from_secs(4);
const TOLERANCE: f64 = 1e-8;
/// Newton iterations of CANAL; enough for the mean of an iteration.
const MAX_ITERATIONS: usize = 100;
const PHASES: [&str; 3] = ["assembly", "factorization", "line search"];

/// Mean times of one Newton iteration [µs], in the order of [`PHASES`].
struct Point {
    spheres: u16,
    contacts: usize,
    iterations: usize,
    microseconds: [f64; 3],
}

/// Runs `newton`.
pub fn run(args: &Args) -> Result<Finding, BenchError> {
    let failed = |source| BenchError::Problem { target: "sphere-pile".to_owned(), source };
    let Some(entry) = catalogue::find("sphere-pile") else {
        return Err(BenchError::NoProblems { place: "catalogue entry sphere-pile".to_owned() });
    };
    let (mut sap, mut canal) = (Vec::new(), Vec::new());
    let bar = progress::bar(2 * args.sizes.len());
    for &size in &args.sizes {
        let variation = Variation { size: usize::from(size), ..Variation::default() };
        let problem = (entry.build)(&variation).map_err(failed)?;
        bar.set_message(format!("sap, {size} spheres"));
        let mut solver = Sap::default();
        set(&mut solver, "refine", "false")?;
        let point = measure(&mut solver, Sap::take_phases, FrictionModel::Convex, &problem);
        sap.push(Point { spheres: size, ..point });
        bar.inc(1);
        bar.set_message(format!("canal, {size} spheres"));
        let mut solver = Canal::default();
        let point = measure(&mut solver, Canal::take_phases, FrictionModel::Coulomb, &problem);
        canal.push(Point { spheres: size, ..point });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let solvers = [("sap", sap), ("canal", canal)];
    Ok(Finding {
        text: text(&solvers),
        json: document(&solvers),
        figures: vec![("newton".to_owned(), figure(&solvers))],
    })
}

/// Sets a parameter of a solver that is not in a session.
fn set(solver: &mut dyn Solver, key: &'static str, value: &str) -> Result<(), SettingError> {
    for setting in solver.settings() {
        if setting.name == key {
            return setting.value.set(value).map_err(|expected| SettingError::Value {
                solver: "sap",
                key,
                found: value.to_owned(),
                expected,
            });
        }
    }
    Ok(())
}

fn measure<S: Solver>(
    solver: &mut S,
    take_phases: fn(&mut S) -> Phases,
    model: FrictionModel,
    problem: &Problem,
) -> Point {
    let goal = Goal {
        tolerance: TOLERANCE,
        max_iterations: Some(MAX_ITERATIONS),
        time_limit: Some(TIME_LIMIT),
        ..Goal::default()
    };
    let mut monitor = Monitor::default();
    let (mut samples, mut iterations, mut spent) = (Vec::new(), 0, Duration::ZERO);
    while samples.len() < REPETITIONS && (samples.is_empty() || spent < PATIENCE) {
        let mut solution = Solution::cold(problem);
        monitor.start(problem, &goal, model);
        let stopwatch = Stopwatch::start();
        let _ = solver.improve(problem, &mut monitor, &mut solution);
        let share = stopwatch.share();
        spent += monitor.elapsed();
        let phases = take_phases(solver);
        iterations = phases.iterations;
        let per_iteration = |d: Duration| 1e6 * d.as_secs_f64() * share / iterations.max(1) as f64;
        samples
            .push([phases.assembly, phases.factorization, phases.line_search].map(per_iteration));
    }
    let microseconds = [0, 1, 2].map(|k| median(samples.iter().map(|sample| sample[k])));
    Point { spheres: 0, contacts: problem.contacts(), iterations, microseconds }
}

type Measured = (&'static str, Vec<Point>);

fn text(solvers: &[Measured]) -> String {
    let mut out = format!(
        "rigid sphere piles: CPU time of one Newton iteration [µs], at most {MAX_ITERATIONS} \
         iterations of canal\n"
    );
    let mut table = Table::new(&[
        "solver",
        "spheres",
        "contacts",
        "iterations",
        PHASES[0],
        PHASES[1],
        PHASES[2],
        "sum",
    ]);
    for (solver, points) in solvers {
        for p in points {
            let counts = [usize::from(p.spheres), p.contacts, p.iterations].map(|n| n.to_string());
            let sum = p.microseconds.iter().sum::<f64>();
            let times = p.microseconds.iter().copied().chain([sum]).map(number);
            table.row(std::iter::once((*solver).to_owned()).chain(counts).chain(times));
        }
    }
    out += &table.render();
    out
}

fn document(solvers: &[Measured]) -> Value {
    let point = |p: &Point| {
        json!({"spheres": p.spheres, "contacts": p.contacts, "newton_iterations": p.iterations,
               "microseconds_per_iteration": {"assembly": p.microseconds[0],
                   "factorization": p.microseconds[1], "line_search": p.microseconds[2]}})
    };
    let solver = |(name, points): &Measured| json!({"solver": name, "piles": points.iter().map(point).collect::<Vec<Value>>()});
    json!({"solvers": solvers.iter().map(solver).collect::<Vec<Value>>()})
}

fn figure(solvers: &[Measured]) -> Figure {
    let mut figure = Figure::new("One Newton iteration on rigid sphere piles")
        .subtitle("median over repetitions");
    for (solver, points) in solvers {
        let mut panel =
            Panel::new(Axis::log("spheres [-]"), Axis::log("CPU time [µs]")).title(*solver);
        for (k, phase) in PHASES.iter().enumerate() {
            let curve = points.iter().map(|p| (f64::from(p.spheres), p.microseconds[k])).collect();
            panel = panel.series(Series::line_and_markers(*phase, curve));
        }
        figure = figure.panel(panel);
    }
    figure
}
