//! Worlds made of models and initial states that are not part of the project; see CONTRIBUTING.md,
//! Data sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clutter;
#[path = "../common/clutter_checks.rs"]
mod clutter_checks;
#[path = "../common/mod.rs"]
mod common;
mod robots;

use std::process::ExitCode;

use stiction_testkit::data::{group, run};

fn main() -> ExitCode {
    run(vec![group("clutter", "bench", clutter::TRIALS), group("robots", "models", robots::TRIALS)])
}
