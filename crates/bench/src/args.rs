//! Command-line arguments of the benchmarks.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use stiction_solve::FrictionModel;

use crate::{
    alm_variations, elements, failures, newton, profile, scaling, scenes, solvers, steady, worlds,
};

/// Measures Stiction: its solvers against one another and against published figures, its scenes in
/// time per step.
#[derive(Debug, Parser)]
#[command(
    name = "stiction-bench",
    version,
    max_term_width = 100,
    after_help = "Problem files are read from the folder named by STICTION_SHARED; without it, \
                  the built-in catalogue is used.

Examples:
  cargo run --release -p stiction-bench -- profile --friction coulomb
  cargo run --release -p stiction-bench -- failures --cases 20
  cargo run --release -p stiction-bench -- cond-scaling cube
  cargo run --release -p stiction-bench -- elements --over 1,2,4
  cargo run --release -p stiction-bench -- newton --sizes 40,100 --json
  cargo run --release -p stiction-bench -- steady --sizes 40,80
  cargo run --release -p stiction-bench -- alm-variations --count 200
  cargo run --release -p stiction-bench -- scenes clutter arm
  cargo run --release -p stiction-bench -- solvers --bodies 40
  cargo run --release -p stiction-bench -- worlds --seed 1 --count 200"
)]
pub struct Options {
    /// The benchmark.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Threads of the solvers; CPU times add up over them
    #[arg(long, global = true, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Folder for figures
    #[arg(long, global = true, value_name = "DIR", default_value = "target/bench")]
    pub out: PathBuf,
}

/// The measurements.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Robustness of the accurate solver over random variations of problems
    AlmVariations(alm_variations::AlmVariationsArgs),
    /// Time of one iteration over the size of a soft body
    CondScaling(scaling::CondScalingArgs),
    /// Loops over the elements of a soft body, over numbers of threads
    Elements(elements::ElementsArgs),
    /// Time of the parts of a Newton iteration, over the size of a pile
    Newton(newton::NewtonArgs),
    /// Performance profile of all solvers over a collection of problems
    Profile(profile::ProfileArgs),
    /// CPU time per step and its parts of whole scenes
    Scenes(scenes::ScenesArgs),
    /// One scene under every solver: time, iterations, residuals, penetration
    Solvers(solvers::SolversArgs),
    /// Similar problems in sequence, as in a simulator's step
    Steady(steady::SteadyArgs),
    /// Failures of the accurate solvers over random wrenches, on generated problems
    Failures(failures::FailuresArgs),
    /// Random worlds, judged in every step by independent oracles
    Worlds(worlds::WorldsArgs),
}

/// Friction models to measure in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Friction {
    /// Exact dry friction
    Coulomb,
    /// Its convex relaxation
    Convex,
    /// One after the other
    Both,
}

impl Friction {
    /// The selected models.
    pub fn models(self) -> &'static [FrictionModel] {
        match self {
            Self::Coulomb => &[FrictionModel::Coulomb],
            Self::Convex => &[FrictionModel::Convex],
            Self::Both => &[FrictionModel::Coulomb, FrictionModel::Convex],
        }
    }
}

/// A finite number above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "expected a finite number above zero".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_contradict_nothing() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }
}
