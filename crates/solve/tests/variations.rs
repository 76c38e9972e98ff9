//! ALM never fails: random loads, friction and masses on problems with a known geometry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{SMALL, build, files_in, goal, load_problem, shared};
use rayon::prelude::*;
use stiction_solve::catalogue::{Spread, Variation, random_variation};
use stiction_solve::file::RawProblem;
use stiction_solve::{FrictionModel, Problem, Session, Solution};

/// Relative violation that counts as solved.
const TOLERANCE: f64 = 1e-10;

/// Solves a relative by ALM; what to say if it fails.
fn complaint(raw: &RawProblem, seed: u64) -> Option<String> {
    let relative = random_variation(raw, seed, &Spread::default()).unwrap();
    let problem = Problem::from_raw(&relative).unwrap().problem;
    let mut session = Session::new("alm").unwrap();
    let mut solution = Solution::cold(&problem);
    let goal = goal(FrictionModel::Coulomb, TOLERANCE);
    let report = session.solve(&problem, &goal, &mut solution).unwrap();
    let violation = report.residuals.coulomb / problem.reference_velocity();
    (violation.is_nan() || violation > TOLERANCE).then(|| {
        format!(
            "{} seed {seed}: {violation:.1e}, {} after {} ({:?})",
            raw.name,
            report.status.name(),
            report.iterations,
            session.notes(),
        )
    })
}

/// Solves `count` relatives of some problems in turn.
fn check(origins: &[RawProblem], count: u64) {
    let failed: Vec<String> = (0..count)
        .into_par_iter()
        .filter_map(|seed| complaint(&origins[seed as usize % origins.len()], seed))
        .collect();
    assert!(failed.is_empty(), "{} of {count}: {failed:#?}", failed.len());
}

#[test]
fn alm_solves_every_relative_of_the_catalogue() {
    let origins: Vec<_> = SMALL
        .iter()
        .map(|(name, size)| {
            build(name, &Variation { size: *size, ..Variation::default() }).to_raw()
        })
        .collect();
    check(&origins, 200);
}

#[test]
fn alm_solves_every_relative_of_the_golden_problems() {
    let Some(folder) = shared("golden") else { return };
    let origins: Vec<_> =
        files_in(&folder, "npz").iter().map(|path| load_problem(path).0).collect();
    check(&origins, 1000);
}
