//! The status of steps in `stiction run`: counts, text, exit status, recordings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // this test uses a part
mod common;

use common::{json, run, scratch};
use stiction_sim::record::container;
use stiction_sim::{StepFlags, StepStatus};

/// A body that two welds hold at two places.
const CONTRADICTION: &str = r#"<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="box"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
  <equality>
    <weld body1="box" relpose="0 0 0 1 0 0 0"/>
    <weld body1="box" relpose="0.25 0 0 1 0 0 0"/>
  </equality>
</mujoco>"#;

/// A pendulum of hinged bars.
fn pendulum(bars: usize, angle: f64) -> String {
    let mut inner = String::new();
    for k in (0..bars).rev() {
        let at = if k == 0 { "0 0 0" } else { "0 0 -.2" };
        inner = format!(
            r#"<body pos="{at}"><joint type="hinge" axis="0 1 0" ref="0"/>
            <geom type="capsule" size=".01" fromto="0 0 0 0 0 -.2" mass="1" contype="0" conaffinity="0"/>{inner}</body>"#
        );
    }
    let q = vec![angle.to_string(); bars].join(" ");
    format!(
        r#"<mujoco><worldbody>{inner}</worldbody><keyframe><key name="up" qpos="{q}"/></keyframe></mujoco>"#
    )
}

fn written(test: &str, file: &str, text: &str) -> String {
    let path = scratch(test, file);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn welds_that_contradict_one_another_fail_the_run_and_a_line_says_so() {
    let file = written("contradiction", "welds.xml", CONTRADICTION);
    let (status, document) = json(&["run", &file, "--steps", "50", "--json"]);
    assert_eq!(status, 1);
    assert_eq!(document["step_status"]["ok"], 0);
    assert_eq!(document["check"]["passed"], false);
    let (status, text, _) = run(&["run", &file, "--steps", "50"]);
    assert_eq!(status, 1);
    assert!(text.contains("0 of 50 ok"), "{text}");
    assert!(text.contains("cannot be relied upon, more than 0.1 %"), "{text}");
}

#[test]
fn a_chain_at_a_step_that_is_far_too_large_fails_the_run() {
    let file = written("chain", "chain.xml", &pendulum(5, 1.0));
    let call = ["run", &file, "--keyframe", "up", "--time-step", "0.1", "--steps", "200", "--json"];
    let (status, document) = json(&call);
    assert_eq!(status, 1, "{document:#}");
    assert!(document["step_status"]["motion_not_resolved"].as_u64().unwrap() > 0);
}

#[test]
fn a_pendulum_at_a_small_step_passes_with_every_step_ok() {
    let file = written("pendulum", "pendulum.xml", &pendulum(1, 1.0));
    let call = ["run", &file, "--keyframe", "up", "--time-step", "0.001", "--steps", "1000"];
    let (status, text, _) = run(&call);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("all 1000 ok"), "{text}");
}

#[test]
fn a_recording_has_the_faults_of_its_steps() {
    let file = written("recorded", "welds.xml", CONTRADICTION);
    let path = scratch("recorded", "welds.stiction");
    let out = path.to_str().unwrap();
    let (status, _, _) = run(&["run", &file, "--steps", "20", "--record", out]);
    assert_eq!(status, 1);
    let recording = container::read(&std::fs::read(&path).unwrap()).unwrap().recording;
    let figures = &recording.frames.statistics;
    assert!(figures.steps.iter().any(|steps| *steps > 0));
    for (bits, steps) in figures.flags.iter().zip(&figures.steps) {
        let flags = StepFlags::from_bits(*bits);
        assert_eq!(flags.contains(StepStatus::CorrectionNotDone), *steps > 0);
    }
}
