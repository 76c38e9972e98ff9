//! The command `stiction`, as a function: the program and the Python package call it.
//!
//! Results go to standard output, messages to standard error. Exit status: 0 done, 1 the work ran
//! and did not converge or its check failed, 2 the input or the call was wrong, 130 it was stopped.

#![forbid(unsafe_code)]

mod args;
mod capture;
mod chart;
mod compare;
mod error;
mod inspect;
mod interrupt;
mod keeper;
mod list;
mod numbers;
mod place;
mod problem;
mod recipe;
mod report;
mod reproduce;
mod run;
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

/// How work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It is done, and its check passed.
    Good,
    /// It ran, and did not converge or failed its check.
    Bad,
    /// Someone asked to stop.
    Stopped,
}

impl From<bool> for Ending {
    fn from(good: bool) -> Self {
        if good { Self::Good } else { Self::Bad }
    }
}

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
        Command::Capture(args) => capture::run(&args).map(Ending::from),
        Command::Compare(args) => compare::run(&args),
        Command::Inspect(args) => inspect::run(&args).map(Ending::from),
        Command::List(args) => list::run(&args).map(Ending::from),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Solve(args) => solve::run(&args).map(Ending::from),
        Command::View(args) => view::run(&args).map(Ending::from),
    };
    match done {
        Ok(Ending::Good) => 0,
        Ok(Ending::Bad) => 1,
        Ok(Ending::Stopped) => interrupt::STATUS,
        Err(error) => {
            terminal::complain(&error);
            2
        }
    }
}
