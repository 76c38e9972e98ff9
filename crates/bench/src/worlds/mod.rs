//! `worlds`: random worlds, judged in every step by oracles that do not trust the step.
//!
//! A violation in a step whose status is ok is *silent*. Every silent violation is reduced to a small world,
//! written as a recipe that `--replay` runs again.

pub mod build;
mod causes;
pub mod convex;
pub mod draw;
mod drift;
pub mod field_relation;
mod fields;
pub mod generator;
pub mod look;
pub mod minimise;
pub mod oracles;
pub mod pieces;
pub mod plan;
mod report;
pub mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::args::positive;
use crate::bench_report::BenchReport;
use crate::error::BenchError;
use crate::progress;

use draw::WorldDraw;
use minimise::{Recipe, minimise};
use oracles::Oracle;
pub use report::WorldsReport;
use run::RunLength;

/// Arguments of `worlds`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status 1 if a violation is silent.

Examples:
  stiction-bench worlds --seed 1 --count 1000
  stiction-bench worlds --seed 1 --count 200 --steps 50 --solver alm --json
  stiction-bench worlds --seed 1 --count 1000 --fields
  stiction-bench worlds --replay target/bench/world-1-17-energy.json")]
pub struct WorldsArgs {
    /// Seed of the worlds
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// Number of worlds
    #[arg(long, value_name = "N", default_value = "100")]
    count: u64,
    /// Put signed distance fields in place of some shapes
    #[arg(long)]
    fields: bool,
    /// Index of the first world
    #[arg(long, value_name = "N", default_value = "0")]
    first: u64,
    /// Steps of each world
    #[arg(long, value_name = "N", default_value = "200")]
    steps: usize,
    /// Name of the solver
    #[arg(long, value_name = "NAME", default_value = "auto")]
    solver: String,
    /// Wall time that a world may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = positive)]
    time_limit: f64,
    /// Largest number of violations of one oracle that are reduced and written
    #[arg(long, value_name = "N", default_value = "5")]
    reduce: usize,
    /// Print the report of every step
    #[arg(long)]
    trace: bool,
    /// Run the recipe in a file again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["count", "steps"])]
    replay: Option<PathBuf>,
}

impl WorldsArgs {
    /// Runs `worlds`; an error if a violation is silent.
    pub fn run(&self, as_json: bool, out: &Path) -> Result<(), BenchError> {
        let length = RunLength {
            steps: self.steps,
            time_limit: Duration::try_from_secs_f64(self.time_limit).unwrap_or(Duration::MAX),
            until: None,
            trace: self.trace,
        };
        if let Some(path) = &self.replay {
            return replay(path, &length);
        }
        let report = survey(
            WorldDraw { seed: self.seed, fields: self.fields },
            self.first..self.first + self.count,
            &self.solver,
            &length,
            self.reduce,
        );
        write(&report.recipes, out)?;
        let shown = BenchReport { text: report.text(), json: report.json(), figures: Vec::new() };
        shown.show(as_json, out)?;
        match report.silent() {
            0 => Ok(()),
            count => Err(BenchError::SilentViolations { count }),
        }
    }
}

/// Runs a range of worlds. Of each oracle, at most `reduce` silent violations are minimised.
pub fn survey(
    draw: WorldDraw,
    worlds: std::ops::Range<u64>,
    solver: &str,
    length: &RunLength,
    reduce: usize,
) -> WorldsReport {
    let mut report = WorldsReport::default();
    let bar = progress::bar(usize::try_from(worlds.end - worlds.start).unwrap_or(usize::MAX));
    for index in worlds {
        let plan = draw.world(index);
        let outcome = run::run(&plan, solver, length);
        report.add(index, plan.class, &outcome);
        for violation in outcome.all_silent() {
            let of_oracle = |recipe: &&Recipe| recipe.oracle == violation.oracle;
            if report.recipes.iter().filter(of_oracle).count() < reduce {
                report.recipes.push(minimise((draw, index), solver, violation, length));
            }
        }
        bar.set_message(format!("{} silent violations", report.silent()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    report
}

fn write(recipes: &[Recipe], folder: &Path) -> Result<(), BenchError> {
    let failed =
        |source| BenchError::Folder { path: folder.to_path_buf(), wanted: "written to", source };
    for recipe in recipes {
        std::fs::create_dir_all(folder).map_err(failed)?;
        let text = format!("{:#}\n", recipe.json());
        std::fs::write(folder.join(recipe.file_name()), text).map_err(failed)?;
    }
    Ok(())
}

fn replay(path: &Path, length: &RunLength) -> Result<(), BenchError> {
    let wrong = |what: String| BenchError::Recipe { path: path.to_path_buf(), what };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let recipe = Recipe::from_json(&value).map_err(wrong)?;
    for line in recipe.plan().describe() {
        println!("{line}");
    }
    let oracle = Oracle::name(recipe.oracle);
    match recipe.replay(length) {
        Some(violation) => {
            println!(
                "{oracle} is violated silently in step {}: {}",
                violation.step, violation.detail
            );
            Err(BenchError::SilentViolations { count: 1 })
        }
        None => {
            println!("{oracle} is not violated silently in {} steps", recipe.steps);
            Ok(())
        }
    }
}
