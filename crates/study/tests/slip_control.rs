//! The spatula in the gripper [Castro22, Sec. VI-D]: held while the grip is firm, turned while it is loose, and not otherwise.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stiction_study::scenario;

/// Iterations per step below which warm starts are as good as published [Castro22, Sec. VI-D: 0.62].
const MOST_ITERATIONS: f64 = 1.0;

fn run(set: &[(&str, &str)]) -> (bool, String, f64) {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut run = scenario("slip-control", &set).unwrap().start().unwrap();
    let steps = run.steps();
    let mut iterations = 0;
    for _ in 0..steps {
        iterations += run.step().unwrap().iterations;
    }
    let verdict = run.check.verdict();
    (verdict.passed, verdict.detail, f64::from(iterations as u32) / steps as f64)
}

#[test]
fn the_spatula_holds_at_a_firm_grip_and_turns_at_a_loose_one() {
    let (passed, detail, iterations) = run(&[("cycles", "2")]);
    assert!(passed, "{detail}");
    assert!(iterations < MOST_ITERATIONS, "{iterations}");
    // The moment of inertia of a real spatula instead of the published one.
    let (passed, detail, _) = run(&[("cycles", "1"), ("inertia", "2.1e-4")]);
    assert!(passed, "{detail}");
}

#[test]
fn it_turns_with_exact_friction_as_well() {
    let (passed, detail, _) = run(&[("cycles", "1"), ("solver", "alm")]);
    assert!(passed, "{detail}");
}

#[test]
fn it_does_not_turn_at_a_grip_that_stays_firm_and_falls_without_enough_friction() {
    for set in [("loose", "16"), ("friction", "0.02"), ("firm", "1")] {
        let (passed, detail, _) = run(&[("cycles", "1"), set]);
        assert!(!passed, "{set:?}: {detail}");
    }
}
