//! Compares solvers on a scenario of the gallery: `report NAME FILE SOLVER,… STEPS [KEY=VALUE …]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;
use std::path::Path;

use stiction_study::StudyError;
use stiction_study::compare::{ComparisonPlan, compare, settings_per_solver};
use stiction_view::compare::{ReportProvenance, write};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (target, path) = (&arguments[1], Path::new(&arguments[2]));
    let solvers: Vec<String> = arguments[3].split(',').map(str::to_owned).collect();
    let steps = arguments[4].parse().unwrap();
    let set: Vec<(String, String)> = arguments
        .iter()
        .filter_map(|a| a.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let scene = || stiction_study::scenario(target, &set);
    let runs = settings_per_solver(&scene().unwrap().settings, &solvers);
    let plan = ComparisonPlan::new(target, runs, steps).unwrap();
    let found = compare::<StudyError>(&plan, scene, |_| ControlFlow::Continue(())).unwrap();
    write(&found, &ReportProvenance { command: arguments.join(" "), threads: 1 }, path).unwrap();
}
