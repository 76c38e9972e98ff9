//! Mocap bodies of model files: what is welded to them follows, and they begin where keys say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_scene::import::{Imported, Options, load_with};
use stiction_scene::{Files, SceneError};

/// An arm of six hinges whose hand is welded to a target.
const ARM: &str = r#"<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body name="upper" pos="0 0 .3"><joint name="pan" axis="0 0 1"/><joint name="lift" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0" conaffinity="0"/>
    <body name="lower" pos=".4 0 0"><joint name="elbow" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" contype="0" conaffinity="0"/>
      <body name="hand" pos="0 0 -.3"><joint axis="0 1 0"/><joint axis="1 0 0"/><joint axis="0 0 1"/>
        <geom type="box" size=".03 .05 .02" contype="0" conaffinity="0"/></body></body></body>
  <body name="target" mocap="true" pos=".4 0 0"/>
</worldbody>
<equality><weld body1="target" body2="hand"/></equality>
<keyframe><key name="apart" mpos=".38 .02 .01"/></keyframe></mujoco>"#;

fn read(name: &str, files: &[(&str, &str)]) -> Result<Imported, SceneError> {
    let mut held = Files::in_memory();
    for (path, text) in files {
        held.insert(path, text.as_bytes());
    }
    load_with(held, Path::new(name), &Options::default())
}

fn arm() -> Imported {
    let arm = read("arm.xml", &[("arm.xml", ARM)]).unwrap();
    assert!(arm.unsupported.is_empty(), "{:?}", arm.unsupported);
    arm
}

#[test]
fn a_hand_that_is_welded_to_a_target_goes_where_the_target_goes() {
    let mut scene_run = arm().scene().unwrap().start().unwrap();
    let h = scene_run.simulation.settings().time_step;
    for k in 1..=500 {
        let t = h * f64::from(k);
        let place = Vector3::new(0.4 - 0.1 * t.sin(), 0.2 * (2.0 * t).sin(), 0.1 * t);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.2, -0.3, 0.5) * t);
        let pose = Isometry3::from_parts(place.into(), turn);
        scene_run.simulation.input_mut().driven_pose[0] = pose;
        let report = scene_run.step().unwrap();
        assert!(report.converged(), "{report:?}");
        let hand = scene_run.simulation.body_pose(3);
        // The weld is soft, with a time constant of 0.02 s and about critical damping: the hand lags behind the
        // target, which moves at 0.45 m/s and 0.62 rad/s at most, by about two time constants.
        let (apart, turned) =
            ((hand.translation.vector - place).norm(), hand.rotation.angle_to(&turn));
        assert!(apart <= 0.04 * 0.45 && turned <= 0.04 * 0.62, "step {k}: {apart}, {turned}");
    }
    let pose = scene_run.simulation.input().driven_pose[0];
    for _ in 0..500 {
        let _ = scene_run.step().unwrap();
    }
    // Without a load it closes: fifty time constants.
    let hand = scene_run.simulation.body_pose(3);
    assert!((hand.translation.vector - pose.translation.vector).norm() <= 1e-9);
    assert!(hand.rotation.angle_to(&pose.rotation) <= 1e-7);
}

#[test]
fn a_hand_that_begins_away_from_its_target_is_pulled_to_it() {
    let arm = arm();
    let mut scene_run = arm.scene_from("apart").unwrap().start().unwrap();
    let target = arm.keyframes[0].driven[0];
    assert_eq!(scene_run.simulation.body_pose(4), target);
    for _ in 0..500 {
        let _ = scene_run.step().unwrap();
    }
    let hand = scene_run.simulation.body_pose(3);
    let apart = (hand.translation.vector - target.translation.vector).norm();
    assert!(apart <= 1e-9 && scene_run.simulation.state().v.iter().all(|v| v.abs() <= 1e-3));
}

#[test]
fn targets_go_into_scenes_with_their_models() {
    let scene =
        "[[model]]\nfile = 'arm.xml'\nname = 'arm'\nposition = [0, 0, 1]\nkeyframe = 'apart'";
    let scene = read("scene.toml", &[("scene.toml", scene), ("arm.xml", ARM)]).unwrap();
    let mut scene_run = scene.scene().unwrap().start().unwrap();
    let place = scene_run.simulation.body_pose(4).translation.vector;
    assert!((place - Vector3::new(0.38, 0.02, 1.01)).norm() <= 1e-15, "{place}");
}

#[test]
fn a_driven_body_of_a_scene_pushes_what_is_in_its_way() {
    let text = "[[body]]\nname = 'ground'\nshape = 'plane'\nfixed = true\n\
        [[body]]\nname = 'paddle'\nshape = 'box'\nedges = [0.1, 0.4, 0.4]\nposition = [0, 0, 0.2]\n\
        driven = true\n\
        [[body]]\nname = 'cube'\nshape = 'box'\nedges = [0.1, 0.1, 0.1]\nposition = [0.1, 0, 0.05]";
    let scene = read("scene.toml", &[("scene.toml", text)]).unwrap();
    let mut scene_run = scene.scene().unwrap().start().unwrap();
    let (h, speed) = (scene_run.simulation.settings().time_step, 0.5);
    for _ in 0..200 {
        scene_run.simulation.input_mut().driven_pose[0].translation.x += speed * h;
        assert!(scene_run.step().unwrap().converged());
    }
    // Friction holds the cube against the paddle, to the tolerance of the solver.
    assert!(
        (scene_run.simulation.state().v[0] - speed).abs() <= 1e-4,
        "{:?}",
        scene_run.simulation.state().v
    );
    let plane = text.replace("shape = 'box'\nedges = [0.1, 0.4, 0.4]", "shape = 'plane'");
    let refused = read("scene.toml", &[("scene.toml", &plane)]).unwrap_err().to_string();
    assert!(refused.contains("paddle") && refused.contains("plane"), "{refused}");
}
