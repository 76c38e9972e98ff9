//! An MJCF model with elements of every section, whole and damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::damage::broken;
use stiction_math::random::SplitMix64;
use stiction_scene::{Files, load_with};

/// A model with a bit of everything.
const MODEL: &str = r#"<mujoco model="everything">
  <compiler angle="degree" eulerseq="zyx" meshdir="m" autolimits="true" boundmass="1e-6"/>
  <option timestep="0.004" gravity="0 0 -9" integrator="implicitfast"/>
  <include file="classes.xml"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 0" scale="0.1 -0.1 0.1"/>
    <hfield name="hills" nrow="2" ncol="3" elevation="0 1 2 3 4 5" size="1 2 0.5 0.1"/>
    <material name="red" rgba="1 0 0 1"/>
    <model name="leg" file="leg.xml"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" condim="4" friction="0.8 0.01 0.001"/>
    <geom type="hfield" hfield="hills" pos="5 0 0"/>
    <light pos="0 0 3"/>
    <body name="trunk" pos="0 0 1" childclass="soft">
      <freejoint name="root"/>
      <geom type="mesh" mesh="wedge" material="red"/>
      <site name="imu" pos="0.1 0 0" euler="10 20 30"/>
      <camera name="eye" xyaxes="1 0 0 0 1 0"/>
      <frame pos="0.2 0 0" zaxis="0 1 1">
        <body name="arm" axisangle="1 0 0 30">
          <inertial pos="0 0 0.1" mass="0.5" fullinertia="0.01 0.01 0.01 0 0 0.001"/>
          <joint name="shoulder" axis="0 1 0" range="-90 90" springdamper="0.1 1"/>
          <joint name="slide" type="slide" actuatorfrcrange="-5 5"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.3"/>
          <body name="wrist" pos="0 0 0.3"><joint name="ball" type="ball" range="0 60"/>
            <geom name="hand" type="ellipsoid" size="0.05 0.04 0.03" priority="1"/></body>
        </body>
      </frame>
      <attach model="leg" body="thigh" prefix="left_"/>
    </body>
    <replicate count="3" offset="0.3 0 0" euler="0 0 30" sep="_">
      <body name="stone" pos="2 0 1"><joint name="s" type="free"/>
        <geom name="g" type="box" size="0.1 0.1 0.05" euler="0 0 10"/></body>
    </replicate>
  </worldbody>
  <contact><pair geom1="floor" geom2="hand" condim="3"/><exclude body1="trunk" body2="arm"/></contact>
  <tendon><fixed name="t"><joint joint="shoulder" coef="1"/><joint joint="slide" coef="-2"/></fixed></tendon>
  <equality><joint joint1="shoulder" joint2="slide" polycoef="0 1 0 0 0"/></equality>
  <actuator><motor joint="shoulder" gear="2"/><position tendon="t" kp="10" ctrlrange="-1 1"/></actuator>
  <keyframe><key name="home"/></keyframe>
</mujoco>"#;

const CLASSES: &str = r#"<mujoco><default><geom density="500"/><default class="soft">
  <geom size="0.05" solref="0.01 1" rgba="0 1 0 1"/><joint damping="0.1" armature="0.01"/>
</default></default></mujoco>"#;

const LEG: &str = r#"<mujoco><compiler angle="radian"/><worldbody><body name="thigh" pos="0 0.2 0">
  <joint name="hip" range="-1 1"/><geom type="cylinder" size="0.05 0.2"/></body></worldbody>
  <actuator><motor name="hip" joint="hip"/></actuator></mujoco>"#;

fn texts() -> Vec<(PathBuf, String)> {
    let files = [("main.xml", MODEL), ("classes.xml", CLASSES), ("leg.xml", LEG)];
    files.map(|(path, text)| (PathBuf::from(path), text.to_owned())).into()
}

#[test]
fn the_model_of_this_file_loads() {
    let mut files = Files::in_memory();
    texts().into_iter().for_each(|(path, text)| files.insert(path, text.into_bytes()));
    let found = load_with(files, Path::new("main.xml"), &Default::default());
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let model = found.world.model();
    // A free trunk, an arm of a hinge, a slide and a ball, a leg, and three free stones.
    assert_eq!((model.nv(), model.nu()), (6 + 1 + 1 + 3 + 1 + 3 * 6, 3));
    assert!(found.unsupported.iter().all(|entry| !entry.physical), "{:?}", found.unsupported);
}

#[test]
fn broken_files_are_errors_or_other_models_but_never_accidents_of_the_reader() {
    let mut rng = SplitMix64::new(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut silent) = (0, Vec::new());
    for round in 0..1000 {
        let mut files = Files::in_memory();
        for (path, text) in texts() {
            files.insert(path, text.into_bytes());
        }
        let (path, mut text) = texts().swap_remove(rng.below(3));
        for _ in 0..=rng.below(3) {
            text = broken(&text, &mut rng);
        }
        files.insert(path, text.into_bytes());
        if let Err(error) = load_with(files, Path::new("main.xml"), &Default::default()) {
            refused += 1;
            let message = error.to_string();
            if !message.contains(".xml") {
                silent.push(format!("round {round}: {message}"));
            }
        }
    }
    assert!(refused > 300, "{refused} of the broken files were refused");
    assert!(silent.is_empty(), "errors without a file:\n{}", silent.join("\n"));
}
