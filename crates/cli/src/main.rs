//! The command `stiction`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(stiction_cli::run(std::env::args_os()))
}
