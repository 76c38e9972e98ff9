//! The commands on model files as a script meets them: standard output, standard error, status.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::{json, keys, run, run_for_nobody, scratch};
use serde_json::Value;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenes");
    folder.join(name).to_str().unwrap().to_owned()
}

/// A file of this test's own.
fn written(test: &str, name: &str, bytes: &[u8]) -> String {
    let path = scratch(test, name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_scene_runs_for_its_own_time_and_is_judged_by_its_own_claims() {
    let slope = example("slope.toml");
    let (status, document) = json(&["run", &slope, "--json"]);
    assert_eq!((status, &document["check"]["passed"]), (0, &Value::Bool(true)), "{document:#}");
    assert_eq!((&document["target"], &document["steps"]), (&slope.as_str().into(), &500.into()));
    // Half of the time is not enough for the block that slides.
    let (status, document) = json(&["run", &slope, "--time", "0.5", "--json"]);
    assert_eq!((status, &document["check"]["passed"]), (1, &Value::Bool(false)));
    // Settings of the call go over those of the file.
    let call =
        ["run", &slope, "--steps", "3", "--set", "time-step=0.125", "--solver", "alm", "--json"];
    let (_, document) = json(&call);
    assert_eq!((&document["time_step"], &document["solver"]), (&0.125.into(), &"alm".into()));
}

#[test]
fn a_model_without_claims_runs_ten_seconds_and_says_that_nothing_is_claimed() {
    let gripper = example("models/gripper.xml");
    let (status, document) = json(&["run", &gripper, "--json"]);
    assert_eq!(status, 0);
    let time = document["simulated_seconds"].as_f64().unwrap();
    assert!((time - 10.0).abs() <= 1e-9, "{time}");
    assert!(document["check"]["detail"].as_str().unwrap().contains("all that is claimed"));
}

#[test]
fn a_keyframe_is_where_a_run_begins() {
    let gripper = example("models/gripper.xml");
    let energy = |more: &[&str]| {
        let call = [&["run", &gripper, "--steps", "1", "--json"], more].concat();
        json(&call).1["state_hash"].as_str().unwrap().to_owned()
    };
    assert_eq!(energy(&["--keyframe", "open"]), energy(&["--keyframe", "0"]));
    assert_ne!(energy(&["--keyframe", "open"]), energy(&[]));
}

#[test]
fn an_inspection_has_the_agreed_keys() {
    let (status, document) = json(&["inspect", &example("models/gripper.xml"), "--json"]);
    assert_eq!(status, 0);
    for (key, expected) in [
        ("format", Value::from("mjcf")),
        ("nq", 2.into()),
        ("nv", 2.into()),
        ("nu", 2.into()),
        ("bodies", 3.into()),
        ("joints", 2.into()),
        ("geoms", 3.into()),
        ("unsupported", Value::Array(Vec::new())),
        ("keyframes", Value::from(vec!["open"])),
    ] {
        assert_eq!(document[key], expected, "{key}");
    }
    let agreed =
        ["file", "format", "nq", "nv", "nu", "bodies", "joints", "geoms", "mass", "unsupported"];
    assert!(agreed.iter().all(|key| keys(&document).contains(key)), "{document:#}");
    assert!(document["file"].as_str().unwrap().ends_with("gripper.xml"));
    // Boxes of 30 × 100 × 20 mm and twice 20 × 12 × 60 mm at 800 kg/m³.
    let mass = 800.0 * (0.03 * 0.1 * 0.02 + 2.0 * 0.02 * 0.012 * 0.06);
    assert!((document["mass"].as_f64().unwrap() - mass).abs() <= 1e-12);
    let (status, text, _) = run(&["inspect", &example("models/gripper.xml")]);
    assert_eq!(status, 0);
    for expected in ["palm", "left (slide) 0 to 0.0300 m", "position", "open", "nothing"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}

#[test]
fn unsupported_features_are_listed_with_their_line() {
    let text =
        b"<mujoco>\n<worldbody>\n<body>\n<geom size='1' nonsense='2'/></body></worldbody></mujoco>";
    let file = written("unsupported", "odd.xml", text);
    let (status, stdout, stderr) = run(&["inspect", &file, "--json"]);
    // Either the reader refuses the word or it lists it; it does not pass over it.
    match status {
        0 => {
            let document: Value = serde_json::from_str(&stdout).unwrap();
            let list = document["unsupported"].as_array().unwrap();
            let counts = |one: &Value| {
                one["where"].as_str().unwrap().contains("odd.xml:4")
                    && one["what"].as_str().unwrap().contains("nonsense")
                    && one["physical"].is_boolean()
            };
            assert!(list.iter().any(counts), "{document:#}");
        }
        _ => assert!(stderr.contains("odd.xml:4") && stderr.contains("nonsense"), "{stderr}"),
    }
}

#[test]
fn files_that_cannot_be_read_are_status_two_with_one_message_and_no_output() {
    let folder = scratch("bad_files", "x").parent().map(Path::to_path_buf).unwrap();
    let folder_named_like_a_model: PathBuf = folder.join("folder.xml");
    std::fs::create_dir_all(&folder_named_like_a_model).unwrap();
    let garbage: Vec<u8> = (0..4096u32).map(|k| (k * k % 251) as u8).collect();
    let gripper = std::fs::read(example("models/gripper.xml")).unwrap();
    let pile = std::fs::read(example("pile.toml")).unwrap();
    let cases = [
        ("absent.xml".to_owned(), "absent.xml"),
        ("absent.toml".to_owned(), "absent.toml"),
        ("absent.urdf".to_owned(), "absent.urdf"),
        (folder_named_like_a_model.to_str().unwrap().to_owned(), "expected a file"),
        (folder.to_str().unwrap().to_owned(), ".xml"),
        (written("bad_files", "robot.docx", b"x"), ".urdf"),
        (written("bad_files", "garbage.xml", &garbage), "garbage.xml"),
        (written("bad_files", "garbage.urdf", &garbage), "garbage.urdf"),
        (written("bad_files", "garbage.toml", &garbage), "garbage.toml"),
        (written("bad_files", "empty.xml", b""), "empty.xml:1"),
        (written("bad_files", "empty.urdf", b""), "empty.urdf:1"),
        (written("bad_files", "cut.xml", &gripper[..gripper.len() / 2]), "cut.xml:"),
        (written("bad_files", "cut.toml", &pile[..pile.len() / 2 + 3]), "cut.toml:"),
        (written("bad_files", "wrong.xml", b"<html/>"), "wrong.xml:1"),
        (written("bad_files", "wrong.toml", b"\n\n[[bodie]]"), "wrong.toml:3"),
    ];
    for (file, expected) in &cases {
        for command in ["run", "inspect"] {
            let (status, stdout, stderr) = run(&[command, file]);
            assert_eq!((status, stdout.as_str()), (2, ""), "{command} {file}: {stderr}");
            assert!(stderr.contains(expected), "{command} {file} says {stderr}");
            assert_eq!(stderr.matches("error:").count(), 1, "{command} {file} says {stderr}");
        }
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let gripper = example("models/gripper.xml");
    let problem = written("options", "p.npz", b"x");
    for (call, expected) in [
        (vec!["run", "clutter", "--keyframe", "home"], "--keyframe"),
        (vec!["run", "clutter", "--floating-base"], "--floating-base"),
        (vec!["run", &gripper, "--keyframe", "shut"], "open"),
        (vec!["run", &gripper, "--set", "bodies=3"], "time-step"),
        (vec!["run", &gripper, "--set", "time-step=0"], "time-step"),
        (vec!["run", &gripper, "--solver", "magic"], "magic"),
        (vec!["run", &problem], "stiction solve"),
        (vec!["inspect"], "FILE"),
        (vec!["inspect", "clutter"], "clutter"),
    ] {
        let (status, stdout, stderr) = run(&call);
        assert_eq!((status, stdout.as_str()), (2, ""), "{call:?}: {stderr}");
        assert!(stderr.contains(expected), "{call:?} says {stderr}");
    }
}

#[test]
fn a_step_of_a_file_can_be_captured_and_solved() {
    let out = scratch("capture_file", "step.npz");
    let out = out.to_str().unwrap();
    let slope = example("slope.toml");
    let (status, stdout, stderr) = run(&["capture", &slope, "--at", "3", "--out", out]);
    assert_eq!(status, 0, "{stderr}");
    // Two blocks on four corners each.
    assert!(stdout.contains("8 contacts"), "{stdout}");
    assert_eq!(json(&["solve", out, "--json"]).0, 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let call = ["inspect", &example("models/gripper.xml")];
    assert_eq!(run_for_nobody(&call), (Some(0), Vec::new()));
}

#[test]
fn a_run_says_that_a_soft_body_moved_faster_than_its_steps_resolve() {
    let text = "[step]\ntime-step = 0.01\n[[body]]\nshape = 'plane'\nfixed = true\n\
                [[soft]]\nname = 'cube'\nmesh = 'box'\nedges = [0.1, 0.1, 0.1]\ncells = 2\n\
                young = 1e5\npoisson = 0.3\nposition = [0, 0, 0.2]\nvelocity = [0, 0, -SPEED]\n";
    let counts = |speed: &str| {
        let scene = text.replace("SPEED", speed);
        let scene = written("thrown", &format!("thrown-{speed}.toml"), scene.as_bytes());
        let (_, document) = json(&["run", &scene, "--steps", "10", "--json"]);
        let (_, stdout, _) = run(&["run", &scene, "--steps", "10"]);
        let steps = document["unresolved_steps"].as_u64().unwrap();
        assert_eq!(steps > 0, stdout.contains("unresolved"), "{stdout}");
        let inverted = document["inverted_elements"].as_u64().unwrap();
        assert_eq!(inverted > 0, stdout.contains("inside out"), "{stdout}");
        (steps, inverted)
    };
    assert_eq!(counts("1.0"), (0, 0));
    let (steps, inverted) = counts("300.0");
    assert!(steps > 0 && inverted > 0, "{steps}, {inverted}");
}
