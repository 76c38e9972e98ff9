//! Compares solvers on a scenario of the gallery: `report NAME FILE SOLVER,… STEPS [KEY=VALUE …]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use stiction_study::StudyError;
use stiction_study::compare::{Plan, compare};
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
    let time_limit = Duration::from_secs(10);
    let plan = Plan { target, solvers: &solvers, steps, time_limit, visuals: &[] };
    let start = |solver: &str| {
        let mut scene = stiction_study::scenario(target, &set)?;
        scene.settings.solver = solver.to_owned();
        Ok(scene.start()?)
    };
    let found = compare::<StudyError>(&plan, start, |_| ControlFlow::Continue(())).unwrap();
    write(&found, &ReportProvenance { command: arguments.join(" "), threads: 1 }, path).unwrap();
}
