//! `tables`: the measurements of [Lee25, Sec. VII] on generated problems, the published figures
//! beside ours.
//!
//! Residuals are the largest violation of a law in its own scale, relative to the reference
//! velocity; the paper's residual mixes units and shrinks with the number of contacts.

mod ablation;
mod convergence;
mod robustness;
mod subsystems;

use serde_json::json;
use stiction_solve::Problem;
use stiction_solve::catalogue::{self, Variation};
use stiction_solve::solver::SOLVERS;

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;

/// Arguments of `tables`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench tables
  stiction-bench tables --cases 10 --out target/bench
  stiction-bench tables --cases 20 --wrench 20 --json")]
pub struct TablesArgs {
    /// Random cases of each problem
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// Standard deviation of the random force on each body, in newtons
    #[arg(long, value_name = "FORCE", default_value = "5", value_parser = positive)]
    wrench: f64,
}

/// Runs `tables`.
pub fn run(args: &TablesArgs) -> Result<BenchReport, BenchError> {
    let (convergence, figures) = convergence::measure(args)?;
    let ablation = ablation::measure(args)?;
    let subsystems = subsystems::measure(args)?;
    let robustness = robustness::measure(args)?;
    let parts = [&convergence, &ablation, &subsystems, &robustness];
    Ok(BenchReport {
        text: parts.map(|part| part.text.as_str()).join("\n"),
        json: json!({
            "cases": args.cases,
            "wrench": args.wrench,
            "convergence": convergence.json,
            "newton_ablation": ablation.json,
            "subsystem_ablation": subsystems.json,
            "robustness": robustness.json,
        }),
        figures,
    })
}

/// One of the tables, as text and JSON.
struct TableSection {
    text: String,
    json: serde_json::Value,
}

/// Problems of one catalogue entry that differ in their seeds, `first..first + count`.
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

/// Splits names into registered solvers and others.
fn registered<'a>(names: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    names.iter().partition(|name| SOLVERS.iter().any(|entry| entry.name == **name))
}

/// A line that lists missing solvers.
fn absent(names: &[&str]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!("  not registered: {}\n", names.join(", "))
    }
}

/// `−log₁₀` of a residual, as the paper prints it; an exact zero counts as one round-off.
fn digits(residual: f64) -> f64 {
    -residual.max(f64::EPSILON * f64::EPSILON).log10()
}
