//! `alm-variations`: failures of the accurate solver on random variations of problems.
//!
//! A variation keeps the geometry and changes loads, friction and masses. Problems for which the solver
//! proves that no solution exists are counted separately.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use stiction_solve::catalogue::{CATALOGUE, Variation, VariationRanges, random_variation};
use stiction_solve::file::RawProblem;
use stiction_solve::{Goal, Problem, Solution, Status};

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::problems;
use crate::progress;
use stiction_reproduce::statistics::mean;
use stiction_reproduce::table::{Table, number};
use stiction_reproduce::timed_solve as run;

/// Arguments of `alm-variations`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench alm-variations
  stiction-bench alm-variations --count 100 --tolerance 1e-8 --json")]
pub struct AlmVariationsArgs {
    /// Random variations, in turn of each problem
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Largest violation relative to the reference velocity
    #[arg(long, default_value = "1e-10", value_parser = positive)]
    tolerance: f64,
    /// Time for one problem, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = positive)]
    time_limit: f64,
    /// Solver
    #[arg(long, value_name = "NAME", default_value = "alm")]
    solver: String,
}

/// Start of the solver's note on a problem without solution.
const NO_SOLUTION: &str = "no solution";
/// Upper ends of the histogram's bins [Newton steps].
const BINS: [usize; 8] = [10, 20, 30, 50, 100, 200, 500, usize::MAX];
/// Width of the histogram's longest bar, in characters.
const BAR: usize = 40;

/// Result on one variation.
struct VariationOutcome {
    origin: String,
    name: String,
    status: Status,
    without_solution: bool,
    steps: usize,
    residual: f64,
}

impl VariationOutcome {
    fn failed(&self) -> bool {
        self.status != Status::Converged && !self.without_solution
    }
}

/// Runs `alm-variations`.
pub fn run(args: &AlmVariationsArgs) -> Result<BenchReport, BenchError> {
    let origins = origins()?;
    let spread = VariationRanges::default();
    let goal = Goal {
        tolerance: args.tolerance,
        time_limit: Some(Duration::from_secs_f64(args.time_limit)),
        ..Goal::default()
    };
    let mut session = run::session(&args.solver, &[])?;
    let bar = progress::bar(args.count as usize);
    let mut outcomes = Vec::new();
    for (seed, origin) in (0..args.count).zip(origins.iter().cycle()) {
        let failed = |source| BenchError::Problem { target: origin.name.clone(), source };
        let variation = random_variation(origin, seed, &spread).map_err(failed)?;
        let problem = Problem::from_raw(&variation).map_err(failed)?.problem;
        bar.set_message(variation.name.clone());
        let run = run::solve(&mut session, &problem, &goal, &mut Solution::cold(&problem))?;
        let notes = session.solver().notes();
        let proven = notes.iter().any(|note| note.starts_with(NO_SOLUTION));
        outcomes.push(VariationOutcome {
            origin: origin.name.clone(),
            name: variation.name,
            status: run.report.status,
            without_solution: run.report.status == Status::Failed && proven,
            steps: run.report.iterations,
            residual: run::relative_violation(&run.report),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(BenchReport {
        text: text(args, &outcomes),
        json: document(args, &outcomes),
        figures: Vec::new(),
    })
}

/// The problems to vary: the golden ones if available, otherwise the catalogue.
fn origins() -> Result<Vec<RawProblem>, BenchError> {
    if let Some(folder) = problems::shared_folder("golden") {
        return problems::raw_files(&folder);
    }
    CATALOGUE
        .iter()
        .map(|entry| {
            let problem = (entry.build)(&Variation::default())
                .map_err(|source| BenchError::Problem { target: entry.name.to_owned(), source })?;
            Ok(problem.to_raw())
        })
        .collect()
}

/// Counts per origin: variations, failures, without solution, mean and most Newton steps.
fn summary<'a>(
    outcomes: impl Iterator<Item = &'a VariationOutcome>,
) -> (usize, usize, usize, f64, usize) {
    let outcomes: Vec<&VariationOutcome> = outcomes.collect();
    let failures = outcomes.iter().filter(|o| o.failed()).count();
    let without_solution = outcomes.iter().filter(|o| o.without_solution).count();
    let steps = || outcomes.iter().map(|o| o.steps);
    let most = steps().max().unwrap_or(0);
    (outcomes.len(), failures, without_solution, mean(steps().map(|n| n as f64)), most)
}

fn by_origin(outcomes: &[VariationOutcome]) -> BTreeMap<&str, Vec<&VariationOutcome>> {
    let mut groups = BTreeMap::<&str, Vec<&VariationOutcome>>::new();
    for outcome in outcomes {
        groups.entry(&outcome.origin).or_default().push(outcome);
    }
    groups
}

fn text(args: &AlmVariationsArgs, outcomes: &[VariationOutcome]) -> String {
    let mut out = format!(
        "{}: {} random variations, relative tolerance {:.0e}\n",
        args.solver,
        outcomes.len(),
        args.tolerance
    );
    let mut table = Table::new(&[
        "problem",
        "variations",
        "failures",
        "no solution",
        "mean steps",
        "most steps",
    ]);
    let groups = by_origin(outcomes);
    let rows = groups.iter().map(|(name, group)| (*name, summary(group.iter().copied())));
    for (name, (count, failures, none, steps, most)) in
        rows.chain([("all", summary(outcomes.iter()))])
    {
        table.row([
            name.to_owned(),
            count.to_string(),
            failures.to_string(),
            none.to_string(),
            number(steps),
            most.to_string(),
        ]);
    }
    out += &table.render();
    out += "  Newton steps:\n";
    out += &histogram(outcomes);
    for o in outcomes.iter().filter(|o| o.failed()) {
        out += &format!(
            "  failed: {}: {} at {:.1e} after {} steps\n",
            o.name,
            o.status.name(),
            o.residual,
            o.steps
        );
    }
    out
}

fn histogram(outcomes: &[VariationOutcome]) -> String {
    let bin = |steps: usize| BINS.partition_point(|end| *end < steps);
    let mut counts = [0; BINS.len()];
    outcomes.iter().for_each(|o| counts[bin(o.steps)] += 1);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut out = String::new();
    for (k, count) in counts.iter().enumerate() {
        let from = if k == 0 { 0 } else { BINS[k - 1] + 1 };
        let to = if BINS[k] == usize::MAX { "…".to_owned() } else { BINS[k].to_string() };
        let length = (count * BAR).div_ceil(most);
        out += &format!("  {from:>5}–{to:<4} {count:>6} {}\n", "█".repeat(length));
    }
    out
}

fn document(args: &AlmVariationsArgs, outcomes: &[VariationOutcome]) -> Value {
    let part = |(count, failures, none, steps, most): (usize, usize, usize, f64, usize)| {
        json!({"variations": count, "failures": failures, "without_solution": none,
               "mean_newton_steps": steps, "most_newton_steps": most})
    };
    let groups: BTreeMap<&str, Value> = by_origin(outcomes)
        .into_iter()
        .map(|(name, group)| (name, part(summary(group.into_iter()))))
        .collect();
    let failures: Vec<Value> = outcomes
        .iter()
        .filter(|o| o.failed())
        .map(|o| {
            json!({"problem": o.name, "status": o.status.name(), "residual": o.residual,
                   "newton_steps": o.steps})
        })
        .collect();
    json!({"solver": args.solver, "tolerance": args.tolerance, "all": part(summary(outcomes.iter())),
           "problems": groups, "failures": failures})
}
