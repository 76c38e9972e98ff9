//! The manipulation scenes of [Lee23, Sec. V-C] on coarse meshes: their checks pass with every solver of the
//! paper's comparison, and fail when the physics is against them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_scene::{Scene, SceneRun};
use stiction_study::scenarios::cable_winding;
use stiction_study::{Parameters, scenario};

/// Fewer cells along the mat are too stiff to be folded.
const MAT: &[(&str, &str)] = &[("cells-x", "18"), ("cells-y", "4")];
const BALL: &[(&str, &str)] = &[("cells", "2")];
const CABLE: &[(&str, &str)] = &[("links", "40")];
const GRIPPER: &[(&str, &str)] = &[("cells", "2")];

/// COND, what [Lee23] compares it with, and the two solvers that factor.
const SOLVERS: [&str; 5] = ["cond", "pgs", "apgd", "sap", "alm"];

fn scene(name: &str, sets: &[&[(&str, &str)]], solver: &str) -> Scene {
    let all = sets.iter().flat_map(|set| set.iter());
    let set: Vec<_> = all.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut scene = scenario(name, &set).unwrap();
    scene.settings.solver = solver.to_owned();
    scene
}

fn scene_run(name: &str, sets: &[&[(&str, &str)]], solver: &str) -> SceneRun {
    scene(name, sets, solver).start().unwrap()
}

#[track_caller]
fn judged(name: &str, sets: &[&[(&str, &str)]], expected: bool) {
    let verdict = scene_run(name, sets, "auto").run().unwrap();
    assert_eq!(verdict.passed, expected, "{name}: {}", verdict.detail);
}

/// Every solver runs a scene to its end, and its check passes.
#[track_caller]
fn judged_with_every_solver(name: &str, set: &[(&str, &str)], limits: &[(&str, usize)]) {
    for solver in SOLVERS {
        let mut scene = scene(name, &[set], solver);
        let limit = limits.iter().find(|(of, _)| *of == solver).map(|(_, limit)| *limit);
        scene.settings.max_iterations = limit;
        let verdict = scene.start().unwrap().run().unwrap();
        assert!(verdict.passed, "{name} with {solver}: {}", verdict.detail);
    }
}

#[test]
fn an_arm_folds_a_mat_with_every_solver() {
    judged("soft-mat", &[MAT], true);
    judged_with_every_solver("soft-mat", MAT, &[]);
}

#[test]
fn a_ball_is_lifted_by_friction_with_every_solver() {
    judged("soft-ball", &[BALL], true);
    judged_with_every_solver("soft-ball", BALL, &[]);
}

#[test]
fn a_ball_is_not_lifted_without_friction() {
    // Two fingers hold no more than 2 μ F.
    judged("soft-ball", &[BALL, &[("friction", "0.05")]], false);
}

#[test]
fn soft_fingers_hold_a_part_with_every_solver() {
    judged("soft-gripper", &[GRIPPER], true);
    // Sweeps and fixed points are slow where two soft fingers press on one part: what is left after so
    // many is far below what the check can see.
    judged_with_every_solver("soft-gripper", GRIPPER, &[("cond", 1000), ("pgs", 200)]);
}

#[test]
fn smooth_fingers_hold_no_part() {
    judged("soft-gripper", &[GRIPPER, &[("friction", "0.02")]], false);
}

#[test]
fn a_cable_is_wound_around_a_cylinder_with_every_solver() {
    judged("cable-winding", &[CABLE], true);
    judged_with_every_solver("cable-winding", CABLE, &[]);
}

#[test]
fn drawn_materials_differ_by_their_seed_and_repeat_with_it() {
    let young = |seed: &str| {
        let scene_run = scene_run("soft-mat", &[MAT, &[("seed", seed)]], "auto");
        scene_run.simulation.world().softs()[0].spec.material
    };
    assert_eq!(young("1"), young("1"));
    assert_ne!(young("1"), young("2"));
}

#[test]
fn the_default_mat_has_the_size_of_the_paper() {
    let scene_run = scene_run("soft-mat", &[], "auto");
    let world = scene_run.simulation.world();
    assert_eq!((world.model().nodes(), world.model().nv()), (1480, 7));
    assert_eq!(world.softs()[0].spec.tetrahedra.len(), 4104);
}

#[test]
fn the_hand_follows_a_trajectory_that_is_given() {
    let mut parameters = Parameters::new("cable-winding", cable_winding::SCENARIO.parameters);
    parameters.set("links", "40").unwrap();
    let down = UnitQuaternion::from_scaled_axis(Vector3::x() * std::f64::consts::PI);
    let place =
        |k: usize| Vector3::new(0.514, 0.197304 - 4e-4 * k as f64, 0.100524 + 2e-4 * k as f64);
    let poses =
        (0..50).map(|k| Isometry3::from_parts(Translation3::from(place(k)), down)).collect();
    let mut scene_run =
        cable_winding::scene_with_trajectory(&parameters, poses).unwrap().start().unwrap();
    for _ in 0..40 {
        let _ = scene_run.step().unwrap();
    }
    let hand = scene_run.simulation.world().model().body("arm-hand").unwrap();
    let found = scene_run.simulation.body_pose(hand.0).translation.vector;
    // A millimetre: the cable weighs 6 grams, and the servos yield to it by far less.
    assert!((found - place(40)).norm() < 1e-3, "{found} {}", place(40));
    assert!(cable_winding::hand_force(&mut scene_run.simulation).norm() < 10.0);
}
