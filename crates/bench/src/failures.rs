//! `failures`: failures over random wrenches: the accurate default solver against CANAL and plain damped Newton.
//!
//! A case fails if its relative residual stays above the tolerance. All have the same number of
//! outer iterations.

use std::time::Duration;

use serde_json::json;
use stiction_solve::catalogue::{self, Variation};
use stiction_solve::{Goal, Problem, Solution};

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::progress;
use stiction_reproduce::statistics::mean;
use stiction_reproduce::table::{Table, number};
use stiction_reproduce::timed_solve as run;

/// Arguments of `failures`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench failures
  stiction-bench failures --cases 10 --out target/bench
  stiction-bench failures --cases 20 --wrench 20 --json")]
pub struct FailuresArgs {
    /// Random cases of each problem
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// Standard deviation of the random force on each body, in newtons
    #[arg(long, value_name = "FORCE", default_value = "5", value_parser = positive)]
    wrench: f64,
}

const SOLVERS: [&str; 3] = ["alm", "canal", "newton-damped"];
const OUTER_LOOPS: &str = "60";
const TOLERANCE: f64 = 1e-6;
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// Seeds that were not looked at when solvers were tuned start here.
const FIRST_SEED: u64 = 1000;

/// Name, catalogue entry, and overrides of its friction, mass ratio and size.
type RobustnessSet = (&'static str, &'static str, Option<f64>, Option<f64>, usize);
const SETS: [RobustnessSet; 8] = [
    ("dishes", "dishes", None, None, 0),
    ("bolt-nut", "bolt-nut", None, None, 60),
    ("stack 1:50", "stack", None, Some(50.0), 0),
    ("sphere-pile 13", "sphere-pile", None, None, 13),
    ("box-wall", "box-wall", None, None, 0),
    ("bolt-nut, friction 1", "bolt-nut", Some(1.0), None, 60),
    ("sphere-pile 13, friction 1", "sphere-pile", Some(1.0), None, 13),
    ("stack 1:5000", "stack", None, Some(5000.0), 0),
];

/// Runs `failures`.
pub fn run(args: &FailuresArgs) -> Result<BenchReport, BenchError> {
    let count = args.cases;
    let mut text = format!(
        "failures of {count} (mean Newton steps): relative residual above {TOLERANCE:.0e} after \
         {OUTER_LOOPS} outer loops\n"
    );
    let heading: Vec<&str> = std::iter::once("set").chain(SOLVERS).collect();
    let mut table = Table::new(&heading);
    let goal = Goal { tolerance: TOLERANCE, time_limit: Some(TIME_LIMIT), ..Goal::default() };
    let (mut document, mut totals) = (Vec::new(), [0; SOLVERS.len()]);
    let bar = progress::bar(SETS.len() * SOLVERS.len());
    for (name, entry, friction, mass_ratio, size) in SETS {
        let variation =
            Variation { friction, mass_ratio, size, wrench: args.wrench, ..Variation::default() };
        let problems = cases(entry, variation, FIRST_SEED..FIRST_SEED + count)?;
        let mut cells = vec![name.to_owned()];
        for (solver, total) in SOLVERS.into_iter().zip(&mut totals) {
            bar.set_message(format!("{solver} on {name}"));
            let mut session = run::session(solver, &[("max-outer", OUTER_LOOPS)])?;
            let (mut failures, mut steps) = (0, Vec::new());
            for problem in &problems {
                let run = run::solve(&mut session, problem, &goal, &mut Solution::cold(problem))?;
                let solved = run::relative_violation(&run.report) <= TOLERANCE;
                failures += usize::from(!solved);
                steps.push(run.report.iterations as f64);
            }
            let steps = mean(steps);
            *total += failures;
            cells.push(format!("{failures} ({})", number(steps)));
            document.push(json!({"set": name, "solver": solver, "failures": failures,
                                 "of": problems.len(), "mean_newton_steps": steps}));
            bar.inc(1);
        }
        table.row(cells);
    }
    bar.finish_and_clear();
    let of = count as usize * SETS.len();
    table.row(std::iter::once(format!("total of {of}")).chain(totals.map(|t| t.to_string())));
    text += &table.render();
    let json = json!({"cases": args.cases, "wrench": args.wrench, "robustness": document});
    Ok(BenchReport { text, json, figures: Vec::new() })
}

/// Problems of one catalogue entry that differ in their seeds.
fn cases(
    name: &str,
    variation: Variation,
    seeds: std::ops::Range<u64>,
) -> Result<Vec<Problem>, BenchError> {
    let Some(entry) = catalogue::find(name) else {
        return Err(BenchError::NoProblems { place: format!("catalogue entry {name}") });
    };
    seeds
        .map(|seed| {
            (entry.build)(&Variation { seed, ..variation })
                .map_err(|source| BenchError::Problem { target: name.to_owned(), source })
        })
        .collect()
}
