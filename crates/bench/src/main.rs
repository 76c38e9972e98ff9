//! The program `stiction-bench`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stiction_bench::command()
}
