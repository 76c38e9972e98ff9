//! The FCLIB collection: AUTO solves every file that has a reference, and the convex form of ALM every
//! file that has a convex one.
//!
//! Files are judged by the natural map, not by distance to a reference: W is rank deficient in
//! many of them, so that impulses, and in one file velocities too, are not unique.

use std::path::Path;

use rayon::prelude::*;
use stiction_solve::file::fclib::{self, Fclib};
use stiction_solve::file::{LoadOptions, load};
use stiction_solve::{FrictionModel, ResidualMeasure, Session, Solution};
use stiction_testkit::data::{NamedTest, files_in};
use stiction_testkit::trials;

use crate::common::{goal, load_problem, solve};

/// Tests of this module.
pub const TRIALS: &[NamedTest] = trials![
    auto_solves_every_file_that_has_a_reference,
    the_convex_form_of_alm_solves_every_file_that_has_a_convex_reference,
    an_asymmetric_file_is_refused_with_the_option_that_helps,
];

const TOLERANCE: f64 = 1e-8;

/// Whether a file holds a reference with exact friction, and one with convex friction.
fn references(path: &Path) -> (bool, bool) {
    match fclib::read(path).unwrap() {
        Fclib::Local(local) => (local.solution.is_some(), local.solution_ccp.is_some()),
        Fclib::Global(global) => (global.solution.is_some(), global.solution_ccp.is_some()),
    }
}

/// Runs `check` on every file that has a reference in a friction model; returns its complaints.
fn complaints(
    folder: &Path,
    model: FrictionModel,
    check: impl Fn(&Path) -> Option<String> + Sync,
) -> Vec<String> {
    let files = files_in(folder, "h5");
    let checked = files.par_iter().filter(|path| match model {
        FrictionModel::Coulomb => references(path).0,
        FrictionModel::Convex => references(path).1,
    });
    checked.filter_map(|path| check(path)).collect()
}

fn auto_solves_every_file_that_has_a_reference(folder: &Path) {
    let failed = complaints(folder, FrictionModel::Coulomb, |path| {
        let (_, found) = load_problem(path);
        let (report, _) = solve("auto", &found.problem, &goal(FrictionModel::Coulomb, TOLERANCE));
        let natural_map = report.residuals.natural_map;
        (natural_map.is_nan() || natural_map > TOLERANCE)
            .then(|| format!("{}: {report:?}", found.problem.name()))
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

fn the_convex_form_of_alm_solves_every_file_that_has_a_convex_reference(folder: &Path) {
    let failed = complaints(folder, FrictionModel::Convex, |path| {
        let (_, found) = load_problem(path);
        let problem = &found.problem;
        let mut residual_measure = ResidualMeasure::default();
        residual_measure.prepare(problem);
        let (mut session, mut solution) = (Session::new("alm").unwrap(), Solution::cold(problem));
        let mut map = f64::INFINITY;
        // The unit step of the natural map weighs light contacts more than the residual measure does:
        // where it is not there yet, more is asked of the residual measure.
        for tolerance in [1.0, 1e-2, 1e-4].map(|factor| factor * TOLERANCE) {
            let goal = goal(FrictionModel::Convex, tolerance);
            let _ = session.solve(problem, &goal, &mut solution).unwrap();
            map = residual_measure.natural_map(problem, FrictionModel::Convex, &solution.impulse);
            if map <= TOLERANCE {
                return None;
            }
        }
        Some(format!("{}: {map:e}", problem.name()))
    });
    assert!(failed.is_empty(), "{failed:#?}");
}

fn an_asymmetric_file_is_refused_with_the_option_that_helps(folder: &Path) {
    let mut refused = 0;
    for path in files_in(folder, "h5") {
        if let Err(error) = load(&path, LoadOptions::default()) {
            let message = error.to_string();
            assert!(message.contains("--symmetrise"), "{message}");
            assert!(load(&path, LoadOptions { symmetrise: true }).is_ok());
            refused += 1;
        }
    }
    // Each file with a symmetrised twin is asymmetric itself.
    let twins =
        files_in(folder, "h5").iter().filter(|p| p.to_string_lossy().ends_with("__sym.h5")).count();
    assert_eq!(refused, twins);
}
