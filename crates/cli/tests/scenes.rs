//! The commands on scenes as a script meets them: standard output, standard error, exit status.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{json, keys, run, run_for_nobody, scratch};
use serde_json::Value;
use stiction_geom::SHAPES;
use stiction_mech::JOINTS;
use stiction_scene::FORMATS;
use stiction_scene::mesh_file::{MESH_FORMATS, TET_FORMATS};
use stiction_sim::SENSORS;
use stiction_sim::constraint::CONSTRAINTS;
use stiction_solve::file::NpzFile;
use stiction_study::SCENARIOS;
use stiction_view::EXPORTERS;

#[test]
fn a_run_prints_one_document_with_the_agreed_keys_and_no_others() {
    let call = ["run", "clutter", "--set", "bodies=8", "--time", "0.4", "--json"];
    let (_, document) = json(&call);
    let agreed = [
        "check",
        "contacts",
        "cpu_seconds",
        "energy",
        "inverted_elements",
        "iterations",
        "microseconds_per_step",
        "penetration",
        "realtime_factor",
        "recordings",
        "reproducible",
        "residual",
        "settings",
        "simulated_seconds",
        "solver",
        "start_errors",
        "state_hash",
        "step_status",
        "steps",
        "target",
        "time_step",
        "unconverged_steps",
        "unresolved_steps",
        "wall_seconds",
    ];
    assert_eq!(keys(&document), agreed);
    let phases = ["assembly", "collision", "dynamics", "integrate", "kinematics"];
    let times = [&phases[..], &["max", "mean", "p50", "p99", "solve"]].concat();
    for (key, inner) in [
        ("check", &["detail", "passed", "skipped"][..]),
        ("contacts", &["max", "mean"]),
        ("energy", &["final", "imbalance", "initial"]),
        ("iterations", &["max", "mean"]),
        ("microseconds_per_step", &times),
        ("penetration", &["final", "max"]),
        ("residual", &["convex", "coulomb", "momentum"]),
        ("start_errors", &["beyond", "depth", "equalities", "limits", "open", "overlaps"]),
        (
            "step_status",
            &[
                "correction_not_done",
                "geometry_uncertain",
                "motion_not_resolved",
                "ok",
                "problem_not_solved",
                "softened",
            ],
        ),
    ] {
        assert_eq!(keys(&document[key]), inner, "{key}");
    }
    for residual in ["convex", "coulomb", "momentum"] {
        let residual = &document["residual"][residual];
        assert_eq!(keys(residual), ["max", "mean"]);
        assert!(residual["mean"].as_f64() <= residual["max"].as_f64());
    }
    for (key, expected) in [
        ("target", Value::from("clutter")),
        ("solver", Value::from("auto")),
        ("steps", Value::from(40)),
        ("time_step", Value::from(0.01)),
    ] {
        assert_eq!(document[key], expected, "{key}");
    }
    let time = document["simulated_seconds"].as_f64().unwrap();
    assert!((time - 0.4).abs() <= 40.0 * f64::EPSILON);
    // Objects start 5 cm above the ground, or a little less if turned: they fall through that in a
    // tenth of a second and must have touched.
    assert!(document["contacts"]["max"].as_u64().unwrap() > 0);
    let hash = document["state_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
    assert!(document["check"]["passed"].is_boolean() && document["check"]["detail"].is_string());
}

#[test]
fn the_status_is_the_verdict_of_the_check() {
    // One step of free fall from rest: nothing is deep in anything, nothing gains energy.
    let (status, document) = json(&["run", "clutter", "--steps", "1", "--json"]);
    assert_eq!((status, &document["check"]["passed"]), (0, &Value::Bool(true)));
    let (status, stdout, _) = run(&["run", "clutter", "--steps", "1"]);
    assert!(status == 0 && stdout.contains("check passed"), "{stdout}");
    for solver in ["alm", "psor"] {
        let set = ["--set", "bodies=12", "--set", "max-iterations=1", "--solver", solver];
        let call = [&["run", "clutter", "--time", "1"][..], &set].concat();
        let (status, document) = json(&[&call[..], &["--json"]].concat());
        let passed = document["check"]["passed"].as_bool().unwrap();
        assert_eq!((status, document["solver"].as_str()), (i32::from(!passed), Some(solver)));
        // One iteration does not solve the impacts of columns of three.
        assert!(document["unconverged_steps"].as_u64().unwrap() > 0, "{solver}");
        let (status, stdout, _) = run(&call);
        let word = if passed { "check passed" } else { "check failed" };
        assert!(status == i32::from(!passed) && stdout.contains(word), "{stdout}");
    }
}

#[test]
fn the_number_of_threads_does_not_show_in_the_state() {
    let hash = |threads: &str| {
        let call = ["run", "clutter", "--set", "bodies=20", "--time", "0.5", "--threads", threads];
        let (_, document) = json(&[&call[..], &["--json"]].concat());
        document["state_hash"].as_str().unwrap().to_owned()
    };
    let [one, two, eight] = ["1", "2", "8"].map(hash);
    assert_eq!((&one, &one), (&two, &eight));
}

#[test]
fn parameters_of_the_scenario_and_settings_of_the_step_are_set_by_name() {
    let steps = |call: &[&str]| {
        let common = ["run", "clutter", "--set", "bodies=2", "--json", "--time", "0.1"];
        json(&[&common[..], call].concat()).1
    };
    assert_eq!(steps(&["--time-step", "0.005"])["steps"], 20);
    assert_eq!(steps(&["--set", "time-step=0.005"])["steps"], 20);
    let hash = |call: &[&str]| steps(call)["state_hash"].clone();
    assert_eq!(hash(&[]), hash(&["--set", "walls=1"]));
    assert_ne!(hash(&[]), hash(&["--set", "seed=2"]));
    assert_ne!(hash(&[]), hash(&["--set", "scheme=midpoint"]));
}

#[test]
fn a_wrong_call_is_status_two_with_one_message_and_no_output() {
    let nowhere = scratch("wrong_scene", "no-folder").join("x.npz");
    let nowhere = nowhere.to_str().unwrap();
    let out = scratch("wrong_scene", "out.npz");
    let out = out.to_str().unwrap();
    for (call, expected) in [
        (vec!["run"], "TARGET"),
        (vec!["run", "no-such-scene"], "clutter"),
        (vec!["run", "absent.urdf"], "absent.urdf"),
        (vec!["run", "clutter", "--solver", "magic"], "magic"),
        (vec!["run", "clutter", "--time", "-1"], "-1"),
        (vec!["run", "clutter", "--time", "nan"], "nan"),
        (vec!["run", "clutter", "--time", "1e-9"], "one time step"),
        (vec!["run", "clutter", "--steps", "0"], "0"),
        (vec!["run", "clutter", "--steps", "2", "--time", "1"], "--time"),
        (vec!["run", "clutter", "--time-step", "0"], "0"),
        (vec!["run", "clutter", "--time-step", "inf"], "inf"),
        (vec!["run", "clutter", "--threads", "0"], "0"),
        (vec!["run", "clutter", "--set", "bodies"], "KEY=VALUE"),
        (vec!["run", "clutter", "--set", "bodies=many"], "many"),
        (vec!["run", "clutter", "--set", "bodies=-3"], "-3"),
        (vec!["run", "clutter", "--set", "boddies=3"], "bodies"),
        (vec!["run", "clutter", "--set", "boddies=3"], "scheme"),
        (vec!["run", "clutter", "--set", "tolerance=0"], "tolerance"),
        (vec!["run", "clutter", "--set", "solver.nonsense=1"], "nonsense"),
        (vec!["run", "clutter", "--record", "film"], ".html"),
        (
            vec!["run", "clutter", "--solver", "sap", "--set", "friction-model=coulomb"],
            "does not solve for coulomb",
        ),
        (vec!["capture", "clutter", "--out", out], "--at"),
        (vec!["capture", "clutter", "--at", "1"], "--out"),
        (vec!["capture", "clutter", "--at", "0", "--out", out], "0"),
        (vec!["capture", "clutter", "--at", "60", "--out", nowhere], nowhere),
        (vec!["capture", "no-such-scene", "--at", "1", "--out", out], "clutter"),
    ] {
        let (status, stdout, stderr) = run(&call);
        assert_eq!((status, stdout.as_str()), (2, ""), "{call:?}: {stderr}");
        assert!(stderr.contains(expected), "{call:?} says {stderr}");
        assert_eq!(stderr.matches("error:").count(), 1, "{call:?} says {stderr}");
    }
}

#[test]
fn every_material_is_listed_with_its_parameters() {
    let (status, stdout, _) = run(&["list", "materials", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let names: Vec<_> = listed["materials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    let known: Vec<_> = stiction_mech::MATERIALS.iter().map(|entry| entry.name).collect();
    assert_eq!((status, names), (0, known));
    assert_eq!(listed["materials"][0]["parameters"], serde_json::json!(["young", "poisson"]));
    let (status, stdout, _) = run(&["list", "materials"]);
    assert!(status == 0 && stdout.contains("c1, c2, bulk"), "{stdout}");
}

#[test]
fn a_captured_step_has_the_velocities_that_the_run_has_after_it() {
    const STEP: usize = 100;
    let [problem, solution] = ["step.npz", "solution.npz"].map(|file| scratch("captured", file));
    let [problem, solution] = [&problem, &solution].map(|path| path.to_str().unwrap());
    let set = [("bodies", "8"), ("seed", "3"), ("tolerance", "1e-10")];
    let settings = set.map(|(key, value)| format!("{key}={value}"));
    let step = STEP.to_string();
    let mut call = vec!["capture", "clutter", "--at", &step, "--out", problem];
    call.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let (status, stdout, stderr) = run(&call);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains(problem), "{stdout}");
    let call = ["solve", problem, "--tolerance", "1e-10", "--solution", solution, "--json"];
    assert_eq!(json(&call).0, 0);
    assert_eq!(NpzFile::open(problem).unwrap().get("dt").unwrap().to_f64(), [0.01]);

    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut scene_run = stiction_study::scenario("clutter", &set).unwrap().start().unwrap();
    let _ = stiction_study::run("clutter", &mut scene_run, STEP, |_, _| ()).unwrap();
    let expected = &scene_run.simulation.state().v;
    let found = NpzFile::open(solution).unwrap().get("v").unwrap().to_f64();
    // Every body touches something by then, and with it takes part in the problem.
    assert_eq!(found.len(), expected.len());
    // Both are answers to a relative tolerance of 1e-10 at speeds of a few metres per second; the
    // condition of the contacts, some thousands, passes it on to the velocities.
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= 1e-6, "{worst:e}");
}

#[test]
fn a_step_without_contacts_has_no_problem_to_capture() {
    let path = scratch("captured_nothing", "step.npz");
    // Alone and a sphere: its lowest point starts 5 cm above the ground.
    let scene = ["clutter", "--set", "bodies=1", "--set", "spheres-only=1"];
    let end = ["--at", "2", "--out", path.to_str().unwrap()];
    let (status, stdout, stderr) = run(&[&["capture"][..], &scene, &end].concat());
    assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("step 2") && !path.exists(), "{stderr}");
}

#[test]
fn every_shape_joint_constraint_and_sensor_is_listed() {
    let (status, all) = json(&["list", "--json"]);
    assert_eq!(status, 0);
    let names = |category: &str| -> Vec<String> {
        let entries = all[category].as_array().unwrap().iter();
        entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("scenarios"), SCENARIOS.iter().map(|e| e.name).collect::<Vec<_>>());
    assert_eq!(names("shapes"), SHAPES.iter().map(|e| e.name).collect::<Vec<_>>());
    assert_eq!(names("joints"), JOINTS.iter().map(|e| e.name).collect::<Vec<_>>());
    assert_eq!(names("sensors"), SENSORS.iter().map(|e| e.name).collect::<Vec<_>>());
    let formats = FORMATS.iter().map(|e| e.name).chain(MESH_FORMATS.iter().map(|e| e.name));
    let formats = formats.chain(TET_FORMATS.iter().map(|e| e.name));
    let formats = formats.chain(["fclib", "npz"]).chain(EXPORTERS.iter().map(|e| e.name));
    assert_eq!(names("formats"), formats.collect::<Vec<_>>());
    assert_eq!(names("constraints"), CONSTRAINTS.iter().map(|e| e.name).collect::<Vec<_>>());
    let (status, text, _) = run(&["list", "scenarios"]);
    assert_eq!(status, 0);
    for entry in SCENARIOS {
        assert!(text.contains(entry.about), "{}", entry.name);
        assert!(entry.parameters.iter().all(|p| text.contains(p.name)), "{}", entry.name);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let call = ["run", "clutter", "--steps", "1", "--json"];
    assert_eq!(run_for_nobody(&call), (Some(0), Vec::new()));
}
