//! The command as a script meets it: standard output, standard error, exit status.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{json, keys, run, run_for_nobody, scratch};
use serde_json::Value;
use stiction_solve::catalogue::CATALOGUE;
use stiction_solve::file::NpzFile;
use stiction_solve::law::LAWS;
use stiction_solve::solver::SOLVERS;

#[test]
fn a_solve_prints_one_document_with_the_agreed_keys() {
    let (status, document) = json(&["solve", "box-slide", "--solver", "alm", "--json"]);
    assert_eq!(status, 0);
    for (key, expected) in [
        ("problem", Value::from("box-slide")),
        ("contacts", Value::from(4)),
        ("rows", Value::from(12)),
        ("dofs", Value::from(6)),
        ("friction_model", Value::from("coulomb")),
        ("solver", Value::from("alm")),
        ("status", Value::from("converged")),
    ] {
        assert_eq!(document[key], expected, "{key}");
    }
    assert!(document["iterations"].is_u64() && document["wall_seconds"].is_f64());
    let residual = ["convex", "coulomb", "momentum", "natural_map", "reference_velocity"];
    assert_eq!(keys(&document["residual"]), residual);
    assert!(residual.iter().all(|key| document["residual"][key].is_number()));
}

#[test]
fn the_default_solver_says_what_ran() {
    let (status, document) = json(&["solve", "stack", "--json"]);
    assert_eq!(status, 0);
    assert!(SOLVERS.iter().any(|entry| document["solver"] == entry.name));
}

#[test]
fn every_problem_of_the_catalogue_can_be_solved_by_name() {
    for entry in CATALOGUE {
        let (status, document) = json(&["solve", entry.name, "--solver", "alm", "--json"]);
        assert_eq!((status, &document["problem"]), (0, &Value::from(entry.name)));
    }
}

#[test]
fn several_solvers_print_an_array_in_their_order() {
    let names: Vec<&str> = SOLVERS.iter().map(|entry| entry.name).rev().collect();
    let list = names.join(",");
    let (_, document) = json(&["solve", "box-slide", "--solver", &list, "--json"]);
    let solved: Vec<&Value> = match &document {
        Value::Array(runs) => runs.iter().map(|run| &run["solver"]).collect(),
        one => vec![&one["solver"]],
    };
    assert_eq!(solved, names);
}

#[test]
fn running_out_of_iterations_is_status_one_and_still_a_report() {
    let call = ["solve", "dishes", "--solver", "alm", "--max-iterations", "1", "--json"];
    let (status, document) = json(&call);
    assert_eq!((status, &document["status"]), (1, &Value::from("iteration_limit")));
    let (status, stdout, _) = run(&call[..6]);
    assert_eq!(status, 1);
    assert!(stdout.contains("iteration limit"), "{stdout}");
}

#[test]
fn a_wrong_call_is_status_two_with_one_message_and_no_output() {
    let garbage = scratch("wrong_call", "garbage.npz");
    std::fs::write(&garbage, b"PK\x03\x04 and then nothing that unzips").unwrap();
    let text = scratch("wrong_call", "text.npz");
    std::fs::write(&text, "these are words").unwrap();
    let empty = scratch("wrong_call", "empty.h5");
    std::fs::write(&empty, "").unwrap();
    let nowhere = scratch("wrong_call", "no-folder").join("x");
    let nowhere = nowhere.to_str().unwrap();
    let [garbage, text, empty] = [&garbage, &text, &empty].map(|path| path.to_str().unwrap());
    for (call, expected) in [
        (vec!["solve", "no-such-thing.npz"], "no-such-thing.npz"),
        (vec!["solve", "no-such-name"], "box-slide"),
        (vec!["solve", garbage], garbage),
        (vec!["solve", text], text),
        (vec!["solve", empty], "empty"),
        (vec!["solve", env!("CARGO_TARGET_TMPDIR")], "regular file"),
        (vec!["solve", "stack", "--solver", "magic"], "magic"),
        (vec!["solve", "stack", "--solver", "alm,"], "unknown solver ''"),
        (vec!["solve", "stack", "--solver", "alm,alm"], "twice"),
        (vec!["solve", "stack", "--tolerance", "-1e-6"], "-1e-6"),
        (vec!["solve", "stack", "--tolerance", "nan"], "nan"),
        (vec!["solve", "stack", "--tolerance", "0"], "> 0"),
        (vec!["solve", "stack", "--max-iterations", "-3"], "-3"),
        (vec!["solve", "stack", "--threads", "0"], "0"),
        (vec!["solve", "stack", "--solver", "alm", "--set", "nonsense=1"], "nonsense"),
        (vec!["solve", "stack", "--solver", "alm", "--set", "growth=fast"], "fast"),
        (vec!["solve", "stack", "--solver", "alm", "--set", "growth"], "KEY=VALUE"),
        (vec!["solve", "stack", "--solver", "alm", "--set", "other.growth=2"], "other"),
        (vec!["solve", "stack", "--friction", "sticky"], "sticky"),
        (vec!["solve", "stack", "--size", "999999999999"], "999999999999"),
        (vec!["solve", "stack", "--mass-ratio", "0"], "mass ratio"),
        (vec!["solve", "stack", "--trace", nowhere], nowhere),
        (vec!["solve", "stack", "--solution", nowhere], nowhere),
        (vec!["solve", "stack", "--save", nowhere], nowhere),
        (vec!["list", "wishes"], "wishes"),
        (vec!["dance"], "dance"),
    ] {
        let (status, stdout, stderr) = run(&call);
        assert_eq!((status, stdout.as_str()), (2, ""), "{call:?}: {stderr}");
        assert!(stderr.contains(expected), "{call:?} says {stderr}");
        assert_eq!(stderr.matches("error:").count(), 1, "{call:?} says {stderr}");
    }
}

#[test]
fn a_trace_has_one_curve_per_solver_and_panel() {
    let path = scratch("trace", "dishes.svg");
    let list = SOLVERS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(",");
    let call = ["solve", "dishes", "--max-iterations", "200", "--solver", &list, "--trace"];
    let (status, ..) = run(&[&call[..], &[path.to_str().unwrap()]].concat());
    assert!(status <= 1);
    let svg = std::fs::read_to_string(&path).unwrap();
    for entry in SOLVERS {
        let curve = format!("<title>{}</title></path>", entry.name);
        // One in each of the two panels and one in the legend.
        assert_eq!(svg.matches(&curve).count(), 3, "{}", entry.name);
    }
}

#[test]
fn a_saved_problem_solves_to_the_same_velocities() {
    let [problem, first, second] =
        ["problem.npz", "first.npz", "second.npz"].map(|file| scratch("saved", file));
    let [problem, first, second] = [&problem, &first, &second].map(|path| path.to_str().unwrap());
    let common = ["--solver", "alm", "--tolerance", "1e-12", "--solution"];
    let call = ["solve", "quadrupeds", "--seed", "3", "--save", problem];
    assert_eq!(run(&[&call[..], &common, &[first]].concat()).0, 0);
    assert_eq!(run(&[&["solve", problem][..], &common, &[second]].concat()).0, 0);
    let read = |path: &str, key: &str| NpzFile::open(path).unwrap().get(key).unwrap().to_f64();
    let (a, b) = (read(first, "v"), read(second, "v"));
    assert_eq!((a.len(), read(first, "lam").len()), (54, 48));
    // Both are answers to a tolerance of 1e-12, relative to velocities of order one.
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9));
}

#[test]
fn the_number_of_threads_does_not_show_in_the_answer() {
    let answer = |threads: &str| {
        let path = scratch("threads", &format!("{threads}.npz"));
        let call = ["solve", "sphere-pile", "--solver", "alm", "--threads", threads];
        let (status, ..) = run(&[&call[..], &["--solution", path.to_str().unwrap()]].concat());
        assert_eq!(status, 0);
        NpzFile::open(&path).unwrap().get("v").unwrap().to_f64()
    };
    assert_eq!(answer("1"), answer("3"));
}

#[test]
fn options_that_vary_a_problem_are_refused_for_files() {
    let path = scratch("vary", "stack.npz");
    let path = path.to_str().unwrap();
    assert_eq!(run(&["solve", "stack", "--save", path]).0, 0);
    for option in ["--seed", "--size", "--mu", "--mass-ratio", "--wrench"] {
        let (status, stdout, stderr) = run(&["solve", path, option, "1"]);
        assert_eq!((status, stdout.as_str()), (2, ""));
        assert!(stderr.contains(option), "{stderr}");
    }
}

#[test]
fn every_solver_law_and_problem_is_listed() {
    let (status, all) = json(&["list", "--json"]);
    assert_eq!(status, 0);
    let expected = [
        "constraints",
        "formats",
        "joints",
        "laws",
        "materials",
        "mjcf",
        "problems",
        "scenarios",
        "schemes",
        "sensors",
        "settings",
        "shapes",
        "solvers",
    ];
    assert_eq!(keys(&all), expected);
    let names = |category: &str| -> Vec<String> {
        let entries = all[category].as_array().unwrap().iter();
        entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("solvers"), SOLVERS.iter().map(|e| e.name).collect::<Vec<_>>());
    assert_eq!(names("laws"), LAWS.iter().map(|e| e.name).collect::<Vec<_>>());
    assert_eq!(names("problems"), CATALOGUE.iter().map(|e| e.name).collect::<Vec<_>>());
    let (status, one) = json(&["list", "laws", "--json"]);
    assert_eq!((status, keys(&one)), (0, vec!["laws"]));
    let (status, text, _) = run(&["list"]);
    assert_eq!(status, 0);
    assert!(CATALOGUE.iter().all(|e| text.contains(e.name) && text.contains(e.about)));
}

#[test]
fn every_command_explains_itself_with_examples() {
    for command in ["capture", "list", "run", "solve"] {
        let (status, help, _) = run(&[command, "--help"]);
        assert_eq!(status, 0);
        assert!(help.contains("Examples:"), "{help}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let call = ["solve", "stack", "--solver", "alm", "--json"];
    assert_eq!(run_for_nobody(&call), (Some(0), Vec::new()));
}
