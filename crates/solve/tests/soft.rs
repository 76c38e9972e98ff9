//! Problems with meshes and rods, mixed with rigid things: every solver gives the same answer, and
//! pays only for what it needs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{MESHES, bits, build, distance, goal, models, solve};
use stiction_solve::catalogue::Variation;
use stiction_solve::problem::SubsystemId;
use stiction_solve::solver::{ProblemFamily, Reduce, Requirement, SOLVERS, SolverEntry};
use stiction_solve::{FrictionModel, Problem, Session, Solution, Status};

fn family() -> impl Iterator<Item = Problem> {
    MESHES
        .iter()
        .map(|(name, size)| build(name, &Variation { size: *size, ..Variation::default() }))
}

/// What the registration of a solver requires of it on meshes.
fn required(entry: &SolverEntry, model: FrictionModel) -> &'static Requirement {
    let on_meshes = |r: &&Requirement| r.family == ProblemFamily::Meshes && r.model == model;
    entry.must_solve.iter().find(on_meshes).expect("every solver is held to meshes")
}

#[test]
fn every_solver_finds_the_answer_of_its_friction_model_on_soft_problems() {
    let mut failed = Vec::new();
    for problem in family() {
        for model in [FrictionModel::Coulomb, FrictionModel::Convex] {
            let (report, exact) = solve("alm", &problem, &goal(model, 1e-11));
            assert_eq!(report.status, Status::Converged, "{} {model:?}", problem.name());
            for entry in SOLVERS.iter().filter(|e| models(e.name).contains(&model)) {
                let requirement = required(entry, model);
                if !requirement.problems.contains(problem.name()) {
                    continue;
                }
                let wanted = requirement.tolerance;
                let (report, found) = solve(entry.name, &problem, &goal(model, wanted));
                let violation = report.residuals.of(model) / problem.reference_velocity();
                let apart = distance(&found.velocity, &exact.velocity);
                // An error of momentum moves the softest mode most: its inverse, relative to the
                // mean one, is some hundreds for these meshes.
                let near = apart <= 1e3 * wanted * problem.reference_velocity().max(0.1);
                if report.status != Status::Converged || !near {
                    failed.push(format!(
                        "{} on {} ({}): {:?}, violation {violation:.1e}, apart {apart:.1e}, {} iterations",
                        entry.name,
                        problem.name(),
                        model.name(),
                        report.status,
                        report.iterations,
                    ));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_reduction_changes_no_answer() {
    for problem in family() {
        // Sweeps and gradients gain digits at a constant rate and stop earlier.
        for (solver, wanted) in
            [("sap", 1e-10), ("canal", 1e-10), ("alm", 1e-10), ("pgs", 1e-6), ("apgd", 1e-6)]
        {
            let model = models(solver)[0];
            let answer = |reduce: Reduce| {
                let mut session = Session::new(solver).unwrap();
                session.reduce(reduce);
                let mut solution = Solution::cold(&problem);
                let report = session.solve(&problem, &goal(model, wanted), &mut solution).unwrap();
                (report.status, solution)
            };
            let ((status, whole), (same, reduced)) =
                (answer(Reduce::Never), answer(Reduce::Always));
            assert_eq!(status, same, "{solver} on {}", problem.name());
            let apart = distance(&whole.velocity, &reduced.velocity);
            let bound = 1e3 * wanted * problem.reference_velocity().max(0.1);
            assert!(apart <= bound, "{solver} on {}: {apart:e}", problem.name());
        }
    }
}

#[test]
fn only_those_who_ask_pay_for_a_factorization_of_a_large_mesh() {
    for (name, size) in [("soft-mat", 12), ("soft-plate", 12)] {
        let family = Variation { size, ..Variation::default() };
        for (solver, factors) in [("cond", false), ("sap", false), ("apgd", true)] {
            let problem = build(name, &family);
            assert!(!problem.mass().is_factored(SubsystemId(0)), "{name} is factored when built");
            let mut session = Session::new(solver).unwrap();
            session.reduce(Reduce::Never);
            let mut solution = Solution::default();
            let goal = goal(models(solver)[0], 1e-3);
            let report = session.solve(&problem, &goal, &mut solution).unwrap();
            assert_eq!(report.status, Status::Converged, "{solver} on {name}: {report:?}");
            let found = problem.mass().is_factored(SubsystemId(0));
            assert_eq!(found, factors, "{solver} on {name}");
        }
    }
}

#[test]
fn the_bits_of_an_answer_depend_neither_on_threads_nor_on_the_past() {
    let problems = [("soft-mat", 12), ("soft-plate", 12), ("gripped-block", 3)]
        .map(|(name, size)| build(name, &Variation { size, ..Variation::default() }));
    for solver in ["auto", "sap", "alm", "cond", "subadmm"] {
        let goal = goal(models(solver)[0], 1e-4);
        let alone: Vec<_> = problems.iter().map(|p| bits(&solve(solver, p, &goal).1)).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                // One session for all: whatever it remembers must not show.
                let mut session = Session::new(solver).unwrap();
                for (problem, alone) in problems.iter().zip(&alone) {
                    let mut solution = Solution::cold(problem);
                    let _ = session.solve(problem, &goal, &mut solution).unwrap();
                    assert!(&bits(&solution) == alone, "{solver} on {}", problem.name());
                }
            });
        }
    }
}

#[test]
fn the_rule_of_the_paper_stops_by_the_change_alone() {
    let problem = build("soft-mat", &Variation { size: 6, ..Variation::default() });
    let mut session = Session::new("cond").unwrap();
    session.set("stop", "paper").unwrap();
    let goal = goal(FrictionModel::Coulomb, 1e-12);
    let mut counts = Vec::new();
    for theta in ["1e-2", "1e-4", "1e-6"] {
        session.set("theta", theta).unwrap();
        let mut solution = Solution::cold(&problem);
        counts.push(session.solve(&problem, &goal, &mut solution).unwrap().iterations);
    }
    assert!(counts.is_sorted() && counts[0] < counts[2], "{counts:?}");
    assert!(session.set("stop", "never").is_err());
}
