//! ALM on random variations of problems: loads, friction and masses differ, the geometry does not.

use rayon::prelude::*;
use stiction_solve::catalogue::{VariationRanges, random_variation};
use stiction_solve::file::RawProblem;
use stiction_solve::{FrictionModel, Problem, Session, Solution};

use super::goal;

/// Relative violation that counts as solved.
const TOLERANCE: f64 = 1e-10;

/// Solves a random variation by ALM; returns a complaint if that fails.
fn complaint(raw: &RawProblem, seed: u64) -> Option<String> {
    let varied = random_variation(raw, seed, &VariationRanges::default()).unwrap();
    let problem = Problem::from_raw(&varied).unwrap().problem;
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

/// Solves `count` random variations of some problems in turn.
pub fn check(origins: &[RawProblem], count: u64) {
    let failed: Vec<String> = (0..count)
        .into_par_iter()
        .filter_map(|seed| complaint(&origins[seed as usize % origins.len()], seed))
        .collect();
    assert!(failed.is_empty(), "{} of {count}: {failed:#?}", failed.len());
}
