//! `newton`: time of the parts of a Newton iteration, over the size of a rigid pile.
//!
//! SAP exactly as in its paper (one pass on the problem softened to the near-rigid limit) and
//! CANAL, which runs the same kernel in a loop. Per iteration: assembly of gradient and Hessian,
//! factorization with its solve, line search. Medians over repetitions, in CPU time.

use std::time::Duration;

use serde_json::{Value, json};
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_solve::catalogue::{self, Variation};
use stiction_solve::solver::newton::Phases;
use stiction_solve::solver::{Canal, Sap, SolverError};
use stiction_solve::{FrictionModel, Goal, Monitor, Problem, Solution, Solver};

use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::progress;
use stiction_reproduce::clock::Stopwatch;
use stiction_reproduce::statistics::median;
use stiction_reproduce::table::{Table, number};

/// Arguments of `newton`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench newton
  stiction-bench newton --sizes 40,100,300 --json")]
pub struct NewtonArgs {
    /// Numbers of spheres, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "40,100,300,1000",
          value_parser = clap::value_parser!(u16).range(1..))]
    sizes: Vec<u16>,
}

/// Rounds over all piles; a pile is left out of further rounds after this time.
const ROUNDS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(6);
/// Solves are repeated within a round up to this time, so that the scheduler's resolution is negligible.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(50);
const TIME_LIMIT: Duration = Duration::from_secs(4);
const TOLERANCE: f64 = 1e-8;
/// Newton iterations of CANAL; enough for the mean of an iteration.
const MAX_ITERATIONS: usize = 100;
const PHASES: [&str; 3] = ["assembly", "factorization", "line search"];

/// One solver on one pile.
struct PileBenchmark {
    solver: NewtonSolver,
    spheres: u16,
    problem: Problem,
    monitor: Monitor,
    spent: Duration,
    iterations: usize,
    /// Mean times of one Newton iteration \[µs\], in the order of [`PHASES`], per round.
    samples: Vec<[f64; 3]>,
}

/// The solvers that report their phases.
enum NewtonSolver {
    Sap(Box<Sap>),
    Canal(Box<Canal>),
}

/// Mean times of one Newton iteration \[µs\], in the order of [`PHASES`].
struct PileTimes {
    spheres: u16,
    contacts: usize,
    iterations: usize,
    microseconds: [f64; 3],
    /// The least sum of the three over all rounds \[µs\], close to that of an idle machine.
    least: f64,
}

/// Runs `newton`.
pub fn run(args: &NewtonArgs) -> Result<BenchReport, BenchError> {
    let mut benches = benches(args)?;
    // Rounds, so that load by other programs affects all piles equally.
    let bar = progress::bar(ROUNDS * benches.len());
    for _ in 0..ROUNDS {
        for bench in &mut benches {
            if bench.spent < PATIENCE {
                bench.sample();
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let solvers = ["sap", "canal"].map(|name| {
        let points = benches.iter().filter(|b| b.solver.name() == name).map(PileBenchmark::point);
        (name, points.collect())
    });
    Ok(BenchReport {
        text: text(&solvers),
        json: document(&solvers),
        figures: vec![("newton".to_owned(), figure(&solvers))],
    })
}

fn benches(args: &NewtonArgs) -> Result<Vec<PileBenchmark>, BenchError> {
    let failed = |source| BenchError::Problem { target: "sphere-pile".to_owned(), source };
    let Some(entry) = catalogue::find("sphere-pile") else {
        return Err(BenchError::NoProblems { place: "catalogue entry sphere-pile".to_owned() });
    };
    let mut benches = Vec::new();
    for &spheres in &args.sizes {
        let variation = Variation { size: usize::from(spheres), ..Variation::default() };
        let problem = (entry.build)(&variation).map_err(failed)?;
        let mut sap = Sap::default();
        set(&mut sap, "refine", "false")?;
        for solver in [NewtonSolver::Sap(Box::new(sap)), NewtonSolver::Canal(Box::default())] {
            let (problem, monitor) = (problem.clone(), Monitor::default());
            let (spent, iterations, samples) = (Duration::ZERO, 0, Vec::new());
            benches.push(PileBenchmark {
                solver,
                spheres,
                problem,
                monitor,
                spent,
                iterations,
                samples,
            });
        }
    }
    Ok(benches)
}

impl NewtonSolver {
    fn name(&self) -> &'static str {
        match self {
            Self::Sap(_) => "sap",
            Self::Canal(_) => "canal",
        }
    }

    fn solver(&mut self) -> (&mut dyn Solver, FrictionModel) {
        match self {
            Self::Sap(sap) => (&mut **sap, FrictionModel::Convex),
            Self::Canal(canal) => (&mut **canal, FrictionModel::Coulomb),
        }
    }

    fn take_phases(&mut self) -> Phases {
        match self {
            Self::Sap(sap) => sap.take_phases(),
            Self::Canal(canal) => canal.take_phases(),
        }
    }
}

impl PileBenchmark {
    /// Solves from the cold start, short ones several times.
    fn sample(&mut self) {
        let goal = Goal {
            tolerance: TOLERANCE,
            max_iterations: Some(MAX_ITERATIONS),
            time_limit: Some(TIME_LIMIT),
            ..Goal::default()
        };
        let stopwatch = Stopwatch::start();
        let (mut solves, mut taken) = (0, Duration::ZERO);
        while taken < SHORTEST_SAMPLE {
            let (solver, model) = self.solver.solver();
            let mut solution = Solution::cold(&self.problem);
            self.monitor.start(&self.problem, &goal, model, &solution.velocity);
            let _ = solver.improve(&self.problem, &mut self.monitor, &mut solution);
            taken += self.monitor.elapsed();
            solves += 1;
        }
        let share = stopwatch.share();
        self.spent += taken;
        let phases = self.solver.take_phases();
        let count = phases.iterations.max(1) as f64;
        let per_iteration = |d: Duration| 1e6 * d.as_secs_f64() * share / count;
        let times = [phases.assembly, phases.factorization, phases.line_search];
        self.iterations = phases.iterations / solves;
        self.samples.push(times.map(per_iteration));
    }

    fn point(&self) -> PileTimes {
        PileTimes {
            spheres: self.spheres,
            contacts: self.problem.contacts(),
            iterations: self.iterations,
            microseconds: [0, 1, 2].map(|k| median(self.samples.iter().map(|s| s[k]))),
            least: self.samples.iter().map(|s| s.iter().sum()).fold(f64::INFINITY, f64::min),
        }
    }
}

/// Sets a setting of a solver that is not in a session.
fn set(solver: &mut dyn Solver, key: &str, value: &str) -> Result<(), SolverError> {
    match solver.settings_mut() {
        Some(settings) => Ok(settings.set_text(key, value)?),
        None => Ok(()),
    }
}

type SolverTimes = (&'static str, Vec<PileTimes>);

fn text(solvers: &[SolverTimes]) -> String {
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
        "least sum",
    ]);
    for (solver, points) in solvers {
        for p in points {
            let counts = [usize::from(p.spheres), p.contacts, p.iterations].map(|n| n.to_string());
            let sum = p.microseconds.iter().sum::<f64>();
            let times = p.microseconds.iter().copied().chain([sum, p.least]).map(number);
            table.row(std::iter::once((*solver).to_owned()).chain(counts).chain(times));
        }
    }
    out += &table.render();
    out
}

fn document(solvers: &[SolverTimes]) -> Value {
    let point = |p: &PileTimes| {
        json!({"spheres": p.spheres, "contacts": p.contacts, "newton_iterations": p.iterations,
               "microseconds_per_iteration": {"assembly": p.microseconds[0],
                   "factorization": p.microseconds[1], "line_search": p.microseconds[2], "least_sum": p.least}})
    };
    let solver = |(name, points): &SolverTimes| json!({"solver": name, "piles": points.iter().map(point).collect::<Vec<Value>>()});
    json!({"solvers": solvers.iter().map(solver).collect::<Vec<Value>>()})
}

fn figure(solvers: &[SolverTimes]) -> Figure {
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
