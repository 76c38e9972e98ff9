//! The command `stiction` for the console script.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with its arguments, the program's name first, and returns the exit status.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| stiction_cli::run(arguments))
}
