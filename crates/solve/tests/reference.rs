//! Solvers against references that every clone has: problems of the catalogue and their solutions by
//! another program, in `data/problems`; its README has versions and tolerances.
//!
//! Velocities and A⁻¹Jᵀλ are compared, never λ, which is not unique where the rank of J is below its
//! number of rows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{build, distance, goal, largest, load_problem, models, momentum_change, solve};
use stiction_solve::catalogue::Variation;
use stiction_solve::solver::SOLVERS;
use stiction_solve::{FrictionModel, Problem, Status};

/// Residual of the references relative to the largest velocity, as the generator accepts them.
const STORED: f64 = 1e-7;

/// A stored problem: its name, its size in the catalogue, and a bound on the error of the velocity per
/// unit of violation [-, lengths in metres], rounded up to a power of ten. A sliding velocity u at
/// radius r changes the angular velocity by u/r, a light body between heavy ones multiplies it by
/// their mass ratio.
const PROBLEMS: [(&str, usize, f64); 4] = [
    ("box-slide", 0, 1e2),    // corners at a decimetre from the centre
    ("chain", 4, 1e3),        // bars of a centimetre in radius in a row
    ("sphere-pile", 14, 1e3), // spheres of a decimetre, each on four others
    ("stack", 3, 1e3),        // a heavy box on light ones, corners at a decimetre
];

fn load(name: &str) -> (stiction_solve::file::RawProblem, stiction_solve::problem::FromFile) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/problems");
    load_problem(&folder.join(format!("{name}.npz")))
}

/// Errors of v and of A⁻¹Jᵀλ [m/s] of a solver, relative to the largest velocity if that exceeds one;
/// `None` without a reference in the friction model.
fn errors(name: &str, solver: &str, model: FrictionModel, tolerance: f64) -> Option<(f64, f64)> {
    let (raw, found) = load(name);
    let suffix = match model {
        FrictionModel::Coulomb => "ncp",
        FrictionModel::Convex => "ccp",
    };
    let read = |key: &str, order: &[usize]| {
        let values = raw.extra.get(&format!("{key}_{suffix}"))?.to_f64();
        Some(order.iter().map(|k| values[*k]).collect::<Vec<_>>())
    };
    let velocity = read("v", &found.velocity_order)?;
    let impulse = read("lam", &found.row_order)?;
    let problem = &found.problem;
    let (report, solution) = solve(solver, problem, &goal(model, tolerance));
    assert_eq!(report.status, Status::Converged, "{solver} on {name}, {}", model.name());
    let push = |lambda: &[f64]| {
        let mut change = momentum_change(problem, lambda);
        problem.mass().solve(&mut change);
        change
    };
    let scale = largest(&velocity).max(1.0);
    let of_impulse = distance(&push(&solution.impulse), &push(&impulse)) / scale;
    Some((distance(&solution.velocity, &velocity) / scale, of_impulse))
}

#[test]
fn stored_problems_are_those_of_the_catalogue() {
    for (name, size, _) in PROBLEMS {
        let raw = load(name).0;
        let now = build(name, &Variation { size, ..Variation::default() }).to_raw();
        assert_eq!((raw.n, raw.m, &raw.kinds), (now.n, now.m, &now.kinds), "{name}");
        // Round-off of other processors' sines and roots, relative to numbers of order one.
        let parts = [
            (&raw.a.data, &now.a.data),
            (&raw.j.data, &now.j.data),
            (&raw.b, &now.b),
            (&raw.e, &now.e),
            (&raw.r, &now.r),
            (&raw.mu, &now.mu),
        ];
        for (stored, built) in parts {
            let allowed = 1e-12 * largest(stored).max(1.0);
            assert!(distance(stored, built) <= allowed, "{name} has changed: run the generator");
        }
    }
}

#[test]
fn newton_type_solvers_reach_every_stored_motion() {
    let mut compared = 0;
    for (name, _, condition) in PROBLEMS {
        for (solver, model) in [
            ("alm", FrictionModel::Coulomb),
            ("auto", FrictionModel::Coulomb),
            ("alm", FrictionModel::Convex),
            ("sap", FrictionModel::Convex),
        ] {
            let Some((velocity, impulse)) = errors(name, solver, model, 1e-10) else { continue };
            compared += 1;
            let allowed = condition * STORED;
            let detail = format!("{solver} on {name}, {}", model.name());
            assert!(velocity <= allowed, "{detail}: velocity off by {velocity:e}");
            assert!(impulse <= allowed, "{detail}: impulse off by {impulse:e}");
        }
    }
    // All but the two solves of the pile with exact friction, which has no reference.
    assert_eq!(compared, 4 * PROBLEMS.len() - 2);
}

#[test]
fn every_solver_reaches_the_stored_slide_of_a_box_in_each_of_its_friction_models() {
    let (name, _, condition) = PROBLEMS[0];
    for entry in SOLVERS {
        for model in models(entry.name) {
            // An interior-point method stops at the square root of its duality gap.
            let tolerance = if entry.name == "ipm" { 1e-7 } else { 1e-8 };
            let (velocity, impulse) = errors(name, entry.name, *model, tolerance).unwrap();
            let allowed = condition * (STORED + tolerance);
            let detail = format!("{} ({})", entry.name, model.name());
            assert!(velocity <= allowed, "{detail}: velocity off by {velocity:e}");
            assert!(impulse <= allowed, "{detail}: impulse off by {impulse:e}");
        }
    }
}

#[test]
fn the_stored_slide_of_a_box_has_its_closed_form() {
    // Sliding at v0 with μ for one step: the speed falls by μ g h, the direction stays
    // (catalogue, box-slide). The reference must agree with it, not only with the solvers here.
    let (raw, _) = load("box-slide");
    let v = raw.extra["v_ncp"].to_f64();
    let free = Problem::from_raw(&raw).unwrap();
    let v_free = free.velocities_to_file(free.problem.free_velocity());
    let slide = |v: &[f64]| v[0].hypot(v[1]);
    let fall = slide(&v_free) - slide(&v);
    let expected = -raw.mu[0] * v_free[2]; // μ g h: in free flight the box gains −g h along z
    assert!((fall - expected).abs() <= 1e2 * STORED, "slows by {fall} m/s, expected {expected}");
    assert!((v[0] * v_free[1] - v[1] * v_free[0]).abs() <= 1e2 * STORED, "turns off its course");
}
