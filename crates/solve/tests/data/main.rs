//! Solvers and readers on collections of problems that are not part of the project; see
//! CONTRIBUTING.md, Data sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod admm;
#[path = "../common/mod.rs"]
mod common;
mod cond;
mod fclib;
mod files;
mod golden;
mod sweep;
mod variations;

use std::process::ExitCode;

use stiction_testkit::data::{group, run};

fn main() -> ExitCode {
    let (golden, fclib) = ("problems/golden", "problems/fclib");
    run(vec![
        group("admm", golden, admm::TRIALS),
        group("cond", golden, cond::TRIALS),
        group("fclib", fclib, fclib::TRIALS),
        group("files", golden, files::GOLDEN),
        group("files", fclib, files::FCLIB),
        group("golden", golden, golden::TRIALS),
        group("sweep", golden, sweep::TRIALS),
        group("variations", golden, variations::TRIALS),
    ])
}
