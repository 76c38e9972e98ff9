//! Scenarios with robots: checks of their scenarios, by the physics that each of them knows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::Isometry3;
use stiction_mech::JointKind;
use stiction_scene::SceneRun;
use stiction_sim::{Surface, WorldBuilder};
use stiction_study::scenario;
use stiction_study::scenarios::robots::{arm, bar::NO_COLLISION, quadruped};

fn scene_run(name: &str, set: &[(&str, &str)]) -> SceneRun {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario(name, &set).unwrap().start().unwrap()
}

/// Runs for some steps, all of which must converge.
fn run(scene_run: &mut SceneRun, steps: usize) {
    for _ in 0..steps {
        let report = scene_run.step().unwrap();
        assert!(report.converged() && !report.unresolved, "{report:?}");
    }
    let verdict = scene_run.check.verdict();
    assert!(verdict.passed, "{}", verdict.detail);
}

#[test]
fn a_quadruped_has_eighteen_velocities_and_twelve_servos() {
    let mut builder = WorldBuilder::new();
    let pose = Isometry3::translation(0.0, 0.0, 1.0);
    quadruped::add(&mut builder, "robot", pose, Surface::default()).unwrap();
    let world = builder.build().unwrap();
    let model = world.model();
    assert_eq!((model.nv(), model.nu(), model.trees().len()), (18, 12, 1));
    let hinges = model.joints().iter();
    let hinges = hinges.filter(|j| matches!(j.spec.kind, JointKind::Hinge { .. })).count();
    assert_eq!(hinges, quadruped::HINGES);
}

#[test]
fn an_arm_has_seven_hinges() {
    let mut builder = WorldBuilder::new();
    let angles = [0.1; arm::JOINTS];
    let joints =
        arm::add(&mut builder, "arm", Isometry3::identity(), angles, NO_COLLISION).unwrap();
    let world = builder.build().unwrap();
    assert_eq!((joints.len(), world.model().nv()), (7, 7));
}

#[test]
fn a_free_arm_conserves_energy_to_first_order() {
    let change = |h: &str, steps: usize| {
        let mut scene_run = scene_run("arm", &[("time-step", h)]);
        let start = scene_run.simulation.energy();
        let mut change = 0.0_f64;
        for _ in 0..steps {
            let report = scene_run.step().unwrap();
            assert!(report.converged());
            change = change.max((scene_run.simulation.energy() - start).abs());
        }
        change
    };
    // Over half a second, before the motion becomes chaotic, a quarter of the step leaves a
    // quarter of the error up to terms of second order.
    let (coarse, fine) = (change("0.002", 250), change("0.0005", 1000));
    assert!(coarse / fine > 3.0, "{coarse} J, {fine} J");
    run(&mut scene_run("arm", &[]), 1000);
}

#[test]
fn the_spider_walks_with_closed_linkages_and_without() {
    // One cycle of the gait after the ramp.
    for tree in ["0", "1"] {
        run(&mut scene_run("spider", &[("tree", tree)]), 150);
    }
    let spider = scene_run("spider", &[]);
    let world = spider.simulation.world();
    // The torso and six parts per leg; six velocities and 36 revolutes; two closures per leg.
    assert_eq!(world.model().links().len(), 37);
    assert_eq!(world.model().nv(), 6 + 36);
    assert_eq!(world.equalities().len(), 12);
    assert_eq!(scene_run("spider", &[("tree", "1")]).simulation.world().model().nv(), 6 + 12);
}

#[test]
fn standing_quadrupeds_carry_their_weight_and_do_not_slip() {
    let mut scene_run = scene_run("quadruped-heap", &[("robots", "2"), ("standing", "1")]);
    run(&mut scene_run, 8 * 240);
    let simulation = &scene_run.simulation;
    let weight = 9.81 * simulation.world().model().mass();
    let carried: f64 = simulation.contacts().iter().map(|c| c.force.z.abs()).sum();
    // The trunk still sways on its servos, by a factor of four less in every second.
    assert!((carried - weight).abs() <= 4.0_f64.powi(-8) * weight, "{carried} N of {weight} N");
    for contact in simulation.contacts() {
        let slip = contact.velocity.xy().norm();
        assert!(slip <= 1e-6, "{slip} m/s");
    }
}

#[test]
fn quadrupeds_in_a_heap_fall_through_nothing() {
    let mut scene_run = scene_run("quadruped-heap", &[("robots", "4")]);
    run(&mut scene_run, 360);
    // Every robot lies on the ground or on another one, by two points at least.
    let touching = scene_run.simulation.contacts().iter().filter(|c| c.force.norm() > 0.0).count();
    assert!(touching >= 2 * 4, "{touching}");
}
