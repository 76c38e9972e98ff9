//! Every entry builds, matches its description, and has the solutions derived by hand.

use super::assembly::GRAVITY;
use super::{CATALOGUE, Variation, VariationRanges, find, random_variation, stack};
use crate::contact::{ContactVec, DIM};
use crate::law::{FrictionModel, Law};
use crate::monitor::{Goal, Status};
use crate::problem::Problem;
use crate::solution::{Report, Solution};
use crate::solver::Session;

fn build(name: &str, variation: &Variation) -> Problem {
    (find(name).unwrap().build)(variation).unwrap()
}

fn solve(problem: &Problem, model: FrictionModel, tolerance: f64) -> (Solution, Report) {
    let mut solution = Solution::cold(problem);
    let goal = Goal { tolerance, friction_model: Some(model), ..Goal::default() };
    let report = Session::new("alm").unwrap().solve(problem, &goal, &mut solution).unwrap();
    (solution, report)
}

#[test]
fn names_are_in_order_and_every_entry_says_what_it_is() {
    assert!(CATALOGUE.is_sorted_by(|a, b| a.name < b.name));
    for entry in CATALOGUE {
        assert!(!entry.about.is_empty() && !entry.size.is_empty(), "{}", entry.name);
        assert_eq!((entry.build)(&Variation::default()).unwrap().name(), entry.name);
    }
}

#[test]
fn every_entry_builds_for_any_seed_friction_mass_ratio_and_wrench() {
    for entry in CATALOGUE {
        for seed in 0..5 {
            let variation = Variation {
                seed,
                friction: Some(0.3 * seed as f64),
                mass_ratio: Some(10f64.powi(seed as i32)),
                wrench: seed as f64,
                size: 0,
            };
            let problem = (entry.build)(&variation).unwrap();
            assert!(problem.contacts() > 0, "{}", entry.name);
            let again = (entry.build)(&variation).unwrap();
            assert_eq!(problem.to_raw(), again.to_raw(), "{}", entry.name);
        }
    }
}

#[test]
fn impossible_variations_are_refused() {
    for entry in CATALOGUE {
        for wrong in [
            Variation { friction: Some(-0.1), ..Variation::default() },
            Variation { friction: Some(f64::NAN), ..Variation::default() },
            Variation { mass_ratio: Some(0.0), ..Variation::default() },
            Variation { wrench: f64::INFINITY, ..Variation::default() },
            Variation { size: usize::MAX, ..Variation::default() },
        ] {
            assert!((entry.build)(&wrong).is_err(), "{} takes {wrong:?}", entry.name);
        }
    }
}

#[test]
fn the_accurate_solver_converges_on_every_entry() {
    for entry in CATALOGUE {
        let problem = (entry.build)(&Variation::default()).unwrap();
        let (_, report) = solve(&problem, FrictionModel::Coulomb, 1e-10);
        assert_eq!(report.status, Status::Converged, "{}: {report:?}", entry.name);
    }
}

#[test]
fn a_sliding_cube_loses_mu_g_dt_of_its_speed() {
    let dt = 0.01;
    for mu in [0.0, 0.2, 0.3] {
        let variation = Variation { friction: Some(mu), ..Variation::default() };
        let problem = build("box-slide", &variation);
        let speed = f64::hypot(1.0, 0.5);
        // The tolerance of the solve, relative to a reference velocity of order one.
        let (tolerance, bound) = (1e-12, 1e-11);
        let (exact, _) = solve(&problem, FrictionModel::Coulomb, tolerance);
        let left = 1.0 - mu * GRAVITY * dt / speed;
        for (found, expected) in exact.velocity.iter().zip([left, 0.5 * left, 0.0, 0.0, 0.0, 0.0]) {
            assert!((found - expected).abs() <= bound, "μ = {mu}: {:?}", exact.velocity);
        }
        // The convex relaxation lifts the cube by μ times its speed.
        let (convex, _) = solve(&problem, FrictionModel::Convex, tolerance);
        let after = speed - mu * (mu * speed + GRAVITY * dt) / (1.0 + mu * mu);
        let expected = [after / speed, 0.5 * after / speed, mu * after, 0.0, 0.0, 0.0];
        for (found, expected) in convex.velocity.iter().zip(expected) {
            assert!((found - expected).abs() <= bound, "μ = {mu}: {:?}", convex.velocity);
        }
    }
}

#[test]
fn each_interface_of_a_stack_carries_the_weight_above_it() {
    let problem = build("stack", &Variation::default());
    let (solution, _) = solve(&problem, FrictionModel::Coulomb, 1e-12);
    let weights = [5.3, 5.2, 5.1, 5.0].map(|mass| mass * GRAVITY * stack::TIME_STEP);
    let ring = DIM * stack::POINTS;
    for (interface, expected) in solution.impulse.chunks(ring).zip(weights) {
        let carried: f64 = interface.chunks(DIM).map(|l| ContactVec::load(l).n).sum();
        // A violation of 1e-12 g δt in velocity is balanced by that much momentum of 5 kg.
        assert!((carried - expected).abs() <= 1e-10, "{carried} against {expected}");
    }
    assert!(solution.velocity.iter().all(|v| v.abs() <= 1e-10));
}

#[test]
fn an_arch_stands_with_friction_and_falls_without() {
    let still = |variation: &Variation| {
        let problem = build("arch", variation);
        let (solution, report) = solve(&problem, FrictionModel::Coulomb, 1e-10);
        assert_eq!(report.status, Status::Converged);
        solution.velocity.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
    };
    let fall = GRAVITY * 0.01;
    // Blocks are a few decimetres in size: violations of 1e-10 g δt become tenfold rotations.
    assert!(still(&Variation::default()) <= 1e-8 * fall);
    let slippery = Variation { friction: Some(0.0), ..Variation::default() };
    assert!(still(&slippery) >= 1e-2 * fall);
}

#[test]
fn the_chain_has_four_laws() {
    let problem = build("chain", &Variation::default());
    let count = |f: fn(&Law) -> bool| problem.constraints().iter().filter(|c| f(&c.law)).count();
    assert_eq!(count(|l| matches!(l, Law::Bilateral(_))), 15);
    assert_eq!(count(|l| matches!(l, Law::Unilateral(_))), 5);
    assert_eq!(count(|l| matches!(l, Law::Soft(_))), 5);
    assert_eq!(count(|l| matches!(l, Law::Coulomb(_))), 12);
}

#[test]
fn a_pile_has_as_many_spheres_as_asked_for_and_touches_its_neighbours() {
    for size in [1, 29, 40, 100, 1000] {
        let problem = build("sphere-pile", &Variation { size, ..Variation::default() });
        assert_eq!(problem.dofs(), 6 * size);
        assert_eq!(problem.islands().count() == size, size == 1);
        // No overlap: no bias pushes apart.
        assert!(problem.bias().iter().all(|e| *e >= 0.0));
    }
    // 16 on the ground; 24 + 12 + 4 within layers; (9 + 4) times four between them.
    assert_eq!(build("sphere-pile", &Variation::default()).contacts(), 108);
}

#[test]
fn robots_arrive_with_the_momentum_of_their_whole_mass() {
    // Servos act between links only, so that the linear momentum comes from landing and gravity alone.
    let problem = build("quadrupeds", &Variation::default());
    let raw = problem.to_raw();
    assert_eq!(problem.dofs(), 54);
    for robot in 0..3 {
        let row = 18 * robot;
        let mass = raw.a.row(row).find(|(c, _)| *c == row).map(|(_, m)| m).unwrap();
        assert!((mass - 22.0).abs() <= 1e-12, "{mass}");
        assert!((raw.b[row + 2] / mass + 0.3 + GRAVITY * 0.01).abs() <= 1e-14);
    }
}

#[test]
fn variations_build_differ_and_are_reproducible() {
    for entry in CATALOGUE {
        let raw = (entry.build)(&Variation::default()).unwrap().to_raw();
        for seed in 0..5 {
            let varied = random_variation(&raw, seed, &VariationRanges::default()).unwrap();
            assert_eq!(varied, random_variation(&raw, seed, &VariationRanges::default()).unwrap());
            assert_ne!(varied.b, raw.b);
            let problem = Problem::from_raw(&varied).unwrap().problem;
            assert_eq!(problem.rows(), raw.m, "{}", entry.name);
        }
    }
}
