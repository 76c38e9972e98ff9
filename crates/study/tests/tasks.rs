//! Tasks of robots with hands: grasps by friction alone, with contacts of signed distance fields.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stiction_scene::SceneRun;
use stiction_study::scenario;

fn scene_run(name: &str, set: &[(&str, &str)]) -> SceneRun {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario(name, &set).unwrap().start().unwrap()
}

/// Runs to the end; the check must pass, and one step in a thousand may be unresolved, as for a run on the command line.
fn succeeds(name: &str, set: &[(&str, &str)]) {
    let mut run = scene_run(name, set);
    let (steps, mut unresolved) = (run.steps(), 0);
    for _ in 0..steps {
        let report = run.step().unwrap();
        unresolved += usize::from(report.unresolved);
    }
    let verdict = run.check.verdict();
    assert!(verdict.passed, "{name} {set:?}: {}", verdict.detail);
    assert!(1000 * unresolved <= steps, "{name} {set:?}: {unresolved} steps");
}

fn fails(name: &str, set: &[(&str, &str)]) {
    let verdict = scene_run(name, set).run().unwrap();
    assert!(!verdict.passed, "{name} {set:?}: {}", verdict.detail);
}

#[test]
fn an_arm_a_hand_and_four_dishes_have_47_velocities() {
    let run = scene_run("arm-piling", &[]);
    let model = run.simulation.world().model();
    assert_eq!((model.nv(), model.nu()), (7 + 16 + 4 * 6, 7 + 16));
}

#[test]
fn two_arms_with_hands_have_28_hinges() {
    let run = scene_run("pouring", &[("spheres", "9")]);
    let model = run.simulation.world().model();
    assert_eq!((model.nv(), model.nu()), (28 + 6 * (2 + 9), 28));
}

#[test]
fn an_arm_piles_dishes_that_stand_apart() {
    succeeds("arm-piling", &[]);
}

#[test]
fn an_arm_piles_dishes_with_few_newton_iterations_per_step() {
    succeeds("arm-piling", &[("solver", "canal"), ("iterations", "20"), ("seed", "2")]);
    succeeds("arm-piling", &[("iterations", "20"), ("seed", "3")]);
}

#[test]
fn a_hand_without_grip_carries_no_pot() {
    // Four digits hold at most 4 μ F = 12 N of the 49 N of the pot.
    fails("arm-piling", &[("grip", "0.1")]);
}

#[test]
fn two_arms_pour_from_bottle_to_bottle() {
    succeeds("pouring", &[("spheres", "9")]);
}

#[test]
fn hands_without_grip_do_not_pour() {
    fails("pouring", &[("spheres", "2"), ("grip", "0.0")]);
}
