//! The command `stiction`, as a function: the program and the Python package call it.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 done, 1 the work ran
//! and did not converge or its check failed, 2 the input or the call was wrong.

#![forbid(unsafe_code)]

mod args;
mod capture;
mod chart;
mod compare;
mod error;
mod inspect;
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

use std::ffi::OsString;

use clap::Parser;

use args::{Command, Options};

/// Runs the command with its arguments, the program's name first, and returns the exit status.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => {
            // Help and version come this way too. A closed pipe is nobody's loss.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    let done = match options.command {
        Command::Capture(args) => capture::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Solve(args) => solve::run(&args),
    };
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            terminal::complain(&error);
            2
        }
    }
}
