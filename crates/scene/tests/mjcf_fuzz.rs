//! Mutated MJCF: whatever a file says, reading it ends with a model or with an error that names a
//! file; it never panics and never grows without bounds.
//!
//! The corpus is a text that uses every section; the target `data` mutates models of real robots.
//! Mutations follow from a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::mutation::{OBJ, mutated, read};
use stiction_math::random::SplitMix64;
use stiction_scene::Files;

/// A text that uses every section.
const EVERYTHING: &str = r#"<mujoco model="everything">
  <compiler angle="degree" autolimits="true" eulerseq="xyz" meshdir="assets" inertiafromgeom="auto"/>
  <option timestep="0.001" gravity="0 0 -9.81" integrator="implicitfast" cone="elliptic" impratio="10" magnetic="0 0.1 0.2" density="1.2" viscosity="0.01" wind="0 1 0">
    <flag eulerdamp="disable" warmstart="enable" frictionloss="enable"/>
  </option>
  <size memory="10M"/>
  <statistic extent="1"/>
  <visual><global azimuth="120"/></visual>
  <custom><numeric name="n" data="1 2 3"/></custom>
  <default>
    <geom friction="0.8 0.01 0.001" solref="0.01 1" solimp="0.9 0.99 0.001" condim="4"/>
    <joint damping="0.1" armature="0.01"/>
    <general ctrlrange="-1 1"/>
    <tendon stiffness="2" damping="0.1"/>
    <equality solref="0.01 1"/>
    <default class="servo"><position kp="100" dampratio="1" inheritrange="1"/>
      <default class="inner"><position kv="3"/><geom rgba="1 0 0 1" contype="0" conaffinity="0" group="2"/></default>
    </default>
  </default>
  <asset>
    <mesh name="tetra" file="tetra.obj" scale="1 -1 2" refpos="0.1 0 0"/>
    <mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hills" nrow="2" ncol="3" size="1 1 0.2 0.1" elevation="0 1 0 1 0 1"/>
    <material name="red" rgba="1 0 0 1"/>
    <texture name="sky" type="skybox" builtin="gradient" width="8" height="8"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <geom name="hills" type="hfield" hfield="hills" pos="3 0 0"/>
    <site name="w" pos="1 0 2"/>
    <body name="a" pos="0 0 2" childclass="servo">
      <joint name="j1" axis="0 1 0.2" range="-100 80" stiffness="1.5" springref="10" frictionloss="0.1" actuatorfrcrange="-50 50"/>
      <geom name="ga" type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <geom name="drum" type="cylinder" size=".06 .2" pos=".25 0 0.1" euler="90 0 0" class="inner" mass="0.01"/>
      <site name="sa" pos=".2 .1 .05" xyaxes="1 0 0 0 0 1"/><site name="side" pos=".25 0 .3"/>
      <camera name="cam" pos=".1 0 0" zaxis="0 1 0"/>
      <frame pos="0 0 0.1" axisangle="1 0 0 30">
        <body name="b" pos=".5 0 0" quat="1 0.1 0 0" gravcomp="0.5">
          <inertial pos="0.1 0 0" mass="1" fullinertia="0.02 0.03 0.04 0.001 0 0"/>
          <joint name="j2" type="slide" axis="1 0 0" range="-.3 .2" ref="0.05" limited="true" margin="0.01"/>
          <geom name="gb" type="box" size=".1 .08 .12" priority="1" margin="0.001"/>
          <geom name="ball" size="0.05" pos=".1 0 .12" class="inner"/>
          <site name="sb" pos=".3 0 .1" type="box" size=".2 .2 .2"/>
          <body name="c" pos=".4 0 0"><joint name="j3" type="ball" range="0 100"/><geom type="ellipsoid" size=".1 .05 .2" density="500"/><site name="sc" pos=".05 .02 .1"/></body>
        </body>
      </frame>
    </body>
    <body name="f" pos="0.3 0.4 3" euler="30 20 10"><freejoint name="fj"/><geom name="gf" type="mesh" mesh="tetra"/><geom type="mesh" mesh="inline" mass="1"/><site name="sf"/></body>
    <replicate count="3" offset="0 0.3 0" euler="0 0 20"><body name="r" pos="2 0 1"><joint axis="0 0 1"/><geom name="gr" size="0.1"/></body></replicate>
  </worldbody>
  <contact><exclude body1="a" body2="c"/><pair geom1="gb" geom2="gf" condim="6" friction="0.7 0.7 0.01 0.001 0.001" solref="0.02 1" margin="0.01" gap="0.001"/></contact>
  <tendon>
    <fixed name="t1" range="-1 1" springlength="0.1 0.2" frictionloss="0.3"><joint joint="j1" coef="0.7"/><joint joint="j2" coef="-2"/></fixed>
    <spatial name="t2" limited="true" range="0 5"><site site="w"/><geom geom="drum" sidesite="side"/><site site="sb"/><pulley divisor="2"/><site site="sa"/><geom geom="ball"/><site site="sc"/></spatial>
  </tendon>
  <equality>
    <connect name="e1" body1="b" body2="f" anchor=".1 .2 .3"/><weld name="e2" body1="c" body2="f" relpose="1 2 3 0.8 0.6 0 0" anchor="1 2 3"/>
    <joint joint1="j1" joint2="j2" polycoef="0.1 2 3"/><tendon tendon1="t1" tendon2="t2"/><connect site1="sa" site2="sf" active="false"/>
  </equality>
  <actuator>
    <motor name="m1" joint="j1" gear="3" forcerange="-2 2"/><motor site="sf" gear="1 2 3 0.1 0.2 0.3"/>
    <position class="servo" joint="j1"/><position class="inner" joint="j2" gear="2"/><velocity tendon="t1" kv="9"/>
    <general name="g1" joint="j1" biastype="affine" gainprm="3" biasprm="0.3 -2 -0.1"/><muscle joint="j2"/><intvelocity joint="j2" kp="3" actrange="-1 1"/>
    <adhesion body="b" ctrlrange="0 1" gain="2"/>
  </actuator>
  <sensor>
    <accelerometer name="acc" site="sf" noise="0.1"/><gyro site="sf"/><touch site="sb"/><force site="sb"/><magnetometer site="sc"/><rangefinder site="sc"/>
    <framepos objtype="body" objname="c" reftype="camera" refname="cam"/><framequat objtype="xbody" objname="c"/><framezaxis objtype="geom" objname="gf"/>
    <jointpos joint="j1" cutoff="1"/><ballquat joint="j3"/><actuatorfrc actuator="m1"/><tendonpos tendon="t2"/><subtreecom body="a"/>
  </sensor>
  <keyframe><key name="home" time="1" qpos="0 0 1 0 0 0 0 0 1 1 0 0 0 0 0 0"/><key/></keyframe>
</mujoco>
"#;

#[test]
fn mutations_of_a_text_that_uses_everything_are_read_or_refused() {
    let mut files = Files::in_memory();
    files.insert("assets/tetra.obj", OBJ.as_bytes());
    let path = Path::new("everything.xml");
    assert!(read(&files, path, EVERYTHING), "the text itself is fine");
    let mut rng = SplitMix64::new(0x9E37_79B9_7F4A_7C15);
    let mut fine = 0;
    for _ in 0..4000 {
        let mut text = mutated(EVERYTHING, &mut rng);
        if rng.below(4) == 0 {
            text = mutated(&text, &mut rng);
        }
        fine += usize::from(read(&files, path, &text));
    }
    // Both outcomes occur: many values may change without harm.
    assert!(fine > 200 && fine < 3800, "{fine}");
}
