//! Solvers against problems with two independent solutions of high accuracy each.
//!
//! Velocities and Jᵀλ are compared, never λ, which is not unique where the rank of J is below its
//! number of rows.

use std::path::Path;

use stiction_solve::problem::FromFile;
use stiction_solve::solver::{ProblemFamily, Requirement, SOLVERS};
use stiction_solve::{FrictionModel, Goal, Report, Status};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::common::{GOLDEN_FILES, distance, goal, largest, load_problem, momentum_change, solve};

/// Tests of this module.
pub const TRIALS: &[NamedTest] = trials![
    alm_reaches_every_golden_motion_with_exact_friction,
    every_solver_reaches_the_golden_motions_that_its_registration_requires,
];

const BOX: &str = "g01_box_slide";
const STACK: &str = "g02_stack_heavy_on_light";
const CHAIN: &str = "g03_chain_mixed";
const FEM: &str = "g04_fem_block";
const CLUTTER: &str = "g05_clutter20";
const NUT: &str = "g06_boltnut60";

/// A golden problem and its reference velocity and impulse in one friction model, in the order of
/// the problem.
struct Golden {
    found: FromFile,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
}

fn golden(folder: &Path, file: &str, model: FrictionModel) -> Golden {
    let (raw, found) = load_problem(&folder.join(format!("{file}.npz")));
    let suffix = match model {
        FrictionModel::Coulomb => "ncp",
        FrictionModel::Convex => "ccp",
    };
    let read = |key: &str, order: &[usize]| {
        let values = raw.extra[&format!("{key}_{suffix}")].to_f64();
        order.iter().map(|k| values[*k]).collect::<Vec<_>>()
    };
    let velocity = read("v", &found.velocity_order);
    let impulse = read("lam", &found.row_order);
    Golden { found, velocity, impulse }
}

/// Errors of v and of A⁻¹Jᵀλ [m/s], relative to the largest velocity if that exceeds one.
fn errors(golden: &Golden, solver: &str, goal: &Goal) -> (Report, f64, f64) {
    let problem = &golden.found.problem;
    let (report, solution) = solve(solver, problem, goal);
    let scale = largest(&golden.velocity).max(1.0);
    let velocity = distance(&solution.velocity, &golden.velocity) / scale;
    let push = |lambda: &[f64]| {
        let mut change = momentum_change(problem, lambda);
        problem.mass().solve(&mut change);
        change
    };
    let impulse = distance(&push(&solution.impulse), &push(&golden.impulse)) / scale;
    (report, velocity, impulse)
}

/// Bound on the error of the velocity per unit of violation [-, lengths in metres], rounded up to a
/// power of ten. A sliding velocity u at radius r changes the angular velocity by u/r; a light body
/// between heavy ones multiplies it by their mass ratio, a motion that two surfaces nearly allow by
/// the inverse of the angle between them.
fn condition(file: &str) -> f64 {
    match file {
        BOX | STACK => 1e2, // corners at a decimetre from the centre; spins of both signs
        CHAIN => 1e3,       // bars of a centimetre in radius, six in a row
        FEM => 1e1,         // nodes have no rotation
        CLUTTER => 1e3,     // wedged spheres, whose convex model is nearly without interior
        NUT => 1e3,         // radius of two centimetres, flanks that face each other
        other => panic!("{other} is no golden problem"),
    }
}

fn alm_reaches_every_golden_motion_with_exact_friction(folder: &Path) {
    for file in GOLDEN_FILES {
        let golden = golden(folder, file, FrictionModel::Coulomb);
        let tolerance = 1e-10;
        let (report, velocity, impulse) =
            errors(&golden, "alm", &goal(FrictionModel::Coulomb, tolerance));
        assert_eq!(report.status, Status::Converged);
        // The chain amplifies what is left of its violations beyond what the others do.
        let allowed = if file == CHAIN { condition(file) * tolerance } else { 1e-8 };
        assert!(velocity <= allowed && impulse <= allowed, "{file}: {velocity:e}, {impulse:e}");
    }
}

fn every_solver_reaches_the_golden_motions_that_its_registration_requires(folder: &Path) {
    for file in GOLDEN_FILES {
        for model in [FrictionModel::Coulomb, FrictionModel::Convex] {
            let golden = golden(folder, file, model);
            for entry in SOLVERS {
                let required = |r: &&Requirement| {
                    r.family == ProblemFamily::Golden
                        && r.model == model
                        && r.problems.contains(file)
                };
                for requirement in entry.must_solve.iter().filter(required) {
                    let (solver, goal) = (entry.name, goal(model, requirement.tolerance));
                    let (report, velocity, impulse) = errors(&golden, solver, &goal);
                    assert_eq!(report.status, Status::Converged, "{solver} on {file}");
                    let allowed = condition(file) * requirement.tolerance;
                    assert!(velocity <= allowed, "{solver} on {file}: {velocity:e}");
                    assert!(impulse <= allowed, "{solver} on {file}: {impulse:e}");
                }
            }
        }
    }
}
