//! The command on problem files that are not part of the project; see CONTRIBUTING.md, Data sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // this file uses a part
mod common;

use std::path::Path;
use std::process::ExitCode;

use common::json;
use stiction_testkit::{data, trials};

fn golden_files_are_solved_to_their_reference_velocities(folder: &Path) {
    for file in ["g01_box_slide", "g02_stack_heavy_on_light", "g04_fem_block", "g05_clutter20"] {
        let path = folder.join(format!("{file}.npz"));
        let path = path.to_str().unwrap();
        for model in ["coulomb", "convex"] {
            let call = ["solve", path, "--solver", "alm", "--tolerance", "1e-11", "--json"];
            let (status, document) = json(&[&call[..], &["--friction", model]].concat());
            assert_eq!(status, 0, "{file}, {model}: {document}");
            assert_eq!(document["friction_model"], model);
            // Velocities are of order one [m/s]. The condition of the contacts, below a thousand in
            // these files, bounds the error of the velocity per unit of violation.
            let error = document["velocity_error"].as_f64().unwrap();
            assert!(error <= 1e-8, "{file}, {model}: {error:e}");
        }
    }
}

fn main() -> ExitCode {
    let golden = trials![golden_files_are_solved_to_their_reference_velocities];
    data::run(vec![data::group("solve", "problems/golden", golden)])
}
