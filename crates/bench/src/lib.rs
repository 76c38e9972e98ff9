//! Benchmarks of Stiction: the program `stiction-bench`.
//!
//! One subcommand is one file; each returns a `BenchReport` (text, a JSON document and figures). Neither
//! the command `stiction` nor the Python package depends on this crate. The papers' experiments and
//! their baselines are in the crate `stiction-reproduce`.
//! Exit status of the program: 0 done, 1 a random world went wrong in silence, 2 the input or the call was
//! wrong.

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod alm_variations;
mod args;
mod bench_report;
mod cond_scaling;
mod dolan_more;
mod elements;
mod error;
mod failures;
mod newton;
mod problems;
mod profile;
mod progress;
mod scaling;
mod scenes;
mod siconos;
mod solvers;
mod steady;
pub mod worlds;

pub use error::BenchError;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Options};

/// The program `stiction-bench`.
pub fn command() -> ExitCode {
    let options = Options::parse();
    end(threads(options.threads).and_then(|()| measure(&options)))
}

/// Sets the number of threads before any solver uses them.
fn threads(count: u16) -> Result<(), BenchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(count));
    let failed = |error: rayon::ThreadPoolBuildError| error.to_string();
    pool.build_global().map_err(failed).map_err(|reason| BenchError::Threads { count, reason })
}

fn measure(options: &Options) -> Result<(), BenchError> {
    let found = match &options.command {
        Command::AlmVariations(args) => alm_variations::run(args),
        Command::CondScaling(args) => return args.run(options.json, &options.out),
        Command::Elements(args) => elements::run(args),
        Command::Newton(args) => newton::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Scenes(args) => scenes::run(args),
        Command::Solvers(args) => solvers::run(args),
        Command::Steady(args) => steady::run(args),
        Command::Failures(args) => failures::run(args),
        Command::Worlds(args) => return args.run(options.json, &options.out),
    };
    found?.show(options.json, &options.out)
}

fn end(done: Result<(), BenchError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, BenchError::SilentViolations { .. }) { 1 } else { 2 })
        }
    }
}
