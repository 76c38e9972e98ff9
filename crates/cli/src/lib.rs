//! The command `stiction`, as a function: the program and the Python package call it.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 success, 1 the work ran
//! and did not converge or its check failed, 2 wrong input or arguments, 130 interrupted.

#![forbid(unsafe_code)]

mod args;
mod capture;
mod chart;
mod compare;
mod error;
mod files;
mod inspect;
mod interrupt;
mod list;
mod model_files;
mod numbers;
mod problem;
mod report;
mod reproduce;
mod run;
mod run_outputs;
mod saved_call;
mod scene;
mod solve;
mod summary;
mod table;
mod terminal;
mod threads;
mod trace;
mod view;
mod writer;

use std::ffi::OsString;

use clap::Parser;

use args::{Command, Options};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandOutcome {
    /// The work is done, and its check passed.
    Success,
    /// The work ran, and did not converge or failed its check.
    Failure,
    /// The user or the system requested a stop.
    Interrupted,
}

impl From<bool> for CommandOutcome {
    fn from(success: bool) -> Self {
        if success { Self::Success } else { Self::Failure }
    }
}

/// Runs the command with its arguments, the program's name first, and returns the exit status.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => {
            // Help and version are reported as errors too. A closed pipe is ignored.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    interrupt::report_file_limits();
    let done = match options.command {
        Command::Capture(args) => capture::run(&args).map(CommandOutcome::from),
        Command::Compare(args) => compare::run(&args),
        Command::Inspect(args) => inspect::run(&args).map(CommandOutcome::from),
        Command::List(args) => list::run(&args).map(CommandOutcome::from),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Solve(args) => solve::run(&args).map(CommandOutcome::from),
        Command::View(args) => view::run(&args).map(CommandOutcome::from),
    };
    match done {
        Ok(CommandOutcome::Success) => 0,
        Ok(CommandOutcome::Failure) => 1,
        Ok(CommandOutcome::Interrupted) => interrupt::STATUS,
        Err(error) => {
            terminal::print_error(&error);
            2
        }
    }
}
