//! Worlds put into worlds: the same world to the last bit if nothing else is there, the same motion
//! beside others, the same motion seen from elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{empty, mass};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use stiction_mech::{JointKind, State};
use stiction_sim::{Base, Settings, Simulation, World, WorldBuilder, state_hash};
use stiction_study::{SCENARIOS, scenario};

/// The small edition of a scenario.
fn scene(name: &str) -> stiction_scene::Scene {
    let entry = SCENARIOS.iter().find(|entry| entry.name == name).unwrap();
    scenario(name, &entry.small()).unwrap()
}

#[test]
fn a_world_put_into_nothing_is_the_same_to_the_last_bit() {
    for entry in SCENARIOS {
        let (first, mut second) = (scene(entry.name), scene(entry.name));
        let mut builder = empty(&first.world);
        let pose = Isometry3::identity();
        builder.add_world(&first.world, "", pose, Base::Declared).unwrap();
        second.world = builder.build().unwrap().into();
        assert_eq!(mass(&first.world), mass(&second.world), "{}", entry.name);
        let [mut first, mut second] = [first, second].map(|scene| scene.start().unwrap());
        for step in 0..10 {
            let _ = first.step().unwrap();
            let _ = second.step().unwrap();
            let hashes =
                [&first, &second].map(|scene_run| state_hash(scene_run.simulation.state()));
            assert_eq!(hashes[0], hashes[1], "{}, step {step}", entry.name);
        }
    }
}

#[test]
fn names_of_two_copies_differ_by_their_prefix() {
    let world = scene("arm").world;
    let mut builder = empty(&world);
    for (prefix, x) in [("left/", -5.0), ("right/", 5.0)] {
        let pose = Isometry3::translation(x, 0.0, 0.0);
        builder.add_world(&world, prefix, pose, Base::Declared).unwrap();
    }
    let both = builder.build().unwrap();
    let (one, two) = (world.model(), both.model());
    assert_eq!((two.nq(), two.nv(), two.nu()), (2 * one.nq(), 2 * one.nv(), 2 * one.nu()));
    for joint in one.joints().iter().filter(|joint| !joint.spec.name.is_empty()) {
        for prefix in ["left/", "right/"] {
            assert!(two.joint(&format!("{prefix}{}", joint.spec.name)).is_some());
        }
    }
}

#[test]
fn a_mechanism_moves_alike_wherever_it_stands() {
    // Turned about the vertical and moved: gravity looks the same, so do the joints' coordinates.
    let world = scene("four-bar").world;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.8);
    let pose = Isometry3::from_parts(Vector3::new(1.0, -2.0, 0.5).into(), turn);
    let mut builder = empty(&world);
    builder.add_world(&world, "", pose, Base::Declared).unwrap();
    let moved = builder.build().unwrap();
    let settings = Settings { time_step: 0.001, ..Settings::default() };
    let mut first = Simulation::new(world, settings.clone()).unwrap();
    let mut second = Simulation::new(moved, settings).unwrap();
    for _ in 0..100 {
        let _ = first.step().unwrap();
        let _ = second.step().unwrap();
    }
    let scalar = first.world().model().joints().iter().all(|joint| joint.spec.kind.nv() == 1);
    assert!(scalar, "coordinates that do not depend on the place");
    // Errors of the solver's tolerance, relative to speeds of metres per second, over 0.1 s.
    for (a, b) in first.state().q.iter().zip(&second.state().q) {
        assert!((a - b).abs() <= 1e-6, "{a} and {b}");
    }
}

#[test]
fn a_free_body_starts_at_the_pose_of_its_world() {
    let world = scene("bouncing-ball").world;
    let pose = Isometry3::translation(3.0, 2.0, 1.0);
    let mut builder = empty(&world);
    let placed = builder.add_world(&world, "", pose, Base::Declared).unwrap();
    let moved = builder.build().unwrap();
    let free = |world: &World| {
        let joints = world.model().joints().iter();
        let joint = joints.clone().find(|joint| joint.spec.kind == JointKind::Free).unwrap();
        let q = State::new(world.model()).q[joint.q.clone()].to_vec();
        let turn = Quaternion::new(q[3], q[4], q[5], q[6]);
        (Point3::new(q[0], q[1], q[2]), UnitQuaternion::new_normalize(turn))
    };
    let ((p, turn), (p_moved, turn_moved)) = (free(&world), free(&moved));
    assert!((pose * p - p_moved).norm() <= 1e-15 && turn.angle_to(&turn_moved) <= 1e-15);
    assert_eq!(placed.bodies.len(), world.model().bodies().len());
}

#[test]
fn a_base_that_is_held_has_no_free_joint_and_one_that_floats_has() {
    let world = scene("bouncing-ball").world;
    let free = |builder: WorldBuilder| {
        let world = builder.build().unwrap();
        let kinds = world.model().joints().iter();
        kinds.filter(|joint| joint.spec.kind == JointKind::Free).count()
    };
    let mut builder = empty(&world);
    builder.add_world(&world, "", Isometry3::identity(), Base::Fixed).unwrap();
    let held = builder.clone().build().unwrap();
    assert_eq!(free(builder), 0);
    let mut builder = empty(&world);
    builder.add_world(&held, "", Isometry3::identity(), Base::Floating).unwrap();
    assert_eq!(free(builder), 1);
    // Nothing, and two things, are no base.
    let nothing = WorldBuilder::new().build().unwrap();
    let two = {
        let mut builder = empty(&world);
        for prefix in ["a/", "b/"] {
            builder.add_world(&held, prefix, Isometry3::identity(), Base::Fixed).unwrap();
        }
        builder.build().unwrap()
    };
    for world in [nothing, two] {
        let found = empty(&world).add_world(&world, "", Isometry3::identity(), Base::Floating);
        assert!(found.unwrap_err().to_string().contains("one body"));
    }
}
