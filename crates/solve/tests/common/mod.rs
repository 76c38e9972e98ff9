//! Shared by the tests of solvers: catalogue problems, solves from the cold start, distances.

#![allow(dead_code)] // each test file uses a part

pub mod raw;
pub mod variation;

use std::path::Path;

use stiction_solve::catalogue::{self, Variation};
use stiction_solve::file::{LoadOptions, RawProblem, load};
use stiction_solve::problem::FromFile;
use stiction_solve::{FrictionModel, Goal, Problem, Report, Session, Solution};

/// Catalogue problems that every solver can be run on in little time: name and size.
pub const SMALL: [(&str, usize); 14] = [
    ("arch", 5),
    ("bolt-nut", 20),
    ("box-slide", 0),
    ("box-wall", 2),
    ("chain", 4),
    ("dishes", 2),
    ("fem-block", 2),
    ("gripped-block", 2),
    ("quadrupeds", 1),
    ("rod", 6),
    ("soft-mat", 2),
    ("soft-plate", 2),
    ("sphere-pile", 14),
    ("stack", 3),
];

/// Problems with meshes and rods at larger sizes: an elastic block, the same with a plate on top, a
/// rod of forty segments, a gripped block.
pub const MESHES: [(&str, usize); 4] =
    [("fem-block", 4), ("soft-plate", 3), ("rod", 40), ("gripped-block", 3)];

/// Problem files of the shared collection that have two independent reference solutions each.
pub const GOLDEN_FILES: [&str; 6] = [
    "g01_box_slide",
    "g02_stack_heavy_on_light",
    "g03_chain_mixed",
    "g04_fem_block",
    "g05_clutter20",
    "g06_boltnut60",
];

/// A catalogue problem.
pub fn build(name: &str, variation: &Variation) -> Problem {
    (catalogue::find(name).unwrap().build)(variation).unwrap()
}

/// A goal in one friction model.
pub fn goal(model: FrictionModel, tolerance: f64) -> Goal {
    Goal { tolerance, friction_model: Some(model), ..Goal::default() }
}

/// Solves from the cold start in a session of its own.
pub fn solve(name: &str, problem: &Problem, goal: &Goal) -> (Report, Solution) {
    let mut solution = Solution::cold(problem);
    let report = Session::new(name).unwrap().solve(problem, goal, &mut solution).unwrap();
    (report, solution)
}

/// Solves from the cold start with settings `key=value`.
pub fn solve_with(
    name: &str,
    settings: &[&str],
    problem: &Problem,
    goal: &Goal,
) -> (Report, Solution) {
    let mut session = Session::new(name).unwrap();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap();
        session.set(key, value).unwrap();
    }
    let mut solution = Solution::cold(problem);
    let report = session.solve(problem, goal, &mut solution).unwrap();
    (report, solution)
}

/// The friction models that a solver supports.
pub fn models(name: &str) -> &'static [FrictionModel] {
    Session::new(name).unwrap().solver().models()
}

/// The largest difference.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The largest entry.
pub fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Bits of a solution, to tell equal from close.
pub fn bits(solution: &Solution) -> Vec<u64> {
    solution.velocity.iter().chain(&solution.impulse).map(|x| x.to_bits()).collect()
}

/// Jᵀ λ [N·s], which is unique where λ is not.
pub fn momentum_change(problem: &Problem, lambda: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; problem.dofs()];
    problem.jacobian().mul_transposed_add(lambda, &mut out);
    out
}

/// A file with an asymmetric matrix replaced by its symmetric part, and the problem in it.
pub fn load_problem(path: &Path) -> (RawProblem, FromFile) {
    let raw = load(path, LoadOptions { symmetrise: true }).unwrap();
    let found = Problem::from_raw(&raw).unwrap();
    (raw, found)
}
