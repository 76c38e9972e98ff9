//! The command `stiction`.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 done, 1 the work ran
//! and did not converge or its check failed, 2 the input or the call was wrong.

#![forbid(unsafe_code)]

mod args;
mod capture;
mod chart;
mod error;
mod list;
mod numbers;
mod problem;
mod report;
mod run;
mod scene;
mod solve;
mod summary;
mod table;
mod terminal;
mod threads;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Options};

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Command::Capture(args) => capture::run(&args),
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Solve(args) => solve::run(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            terminal::complain(&error);
            ExitCode::from(2)
        }
    }
}
