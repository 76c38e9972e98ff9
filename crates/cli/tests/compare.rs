//! `stiction compare` as a script meets it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{json, keys, run, run_for_nobody, scratch};
use stiction_solve::solver::SOLVERS;

const SMALL: [&str; 6] = ["compare", "clutter", "--set", "bodies=6", "--steps", "50"];

fn call<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&SMALL, rest].concat()
}

#[test]
fn a_comparison_prints_one_document_with_runs_and_traces() {
    let (status, document) = json(&call(&["--solvers", "sap,canal", "--json"]));
    assert_eq!(status, 0);
    let agreed = [
        "captured",
        "command",
        "reference",
        "solvers",
        "steps",
        "stopped",
        "target",
        "threads",
        "time_step",
        "tolerance",
    ];
    assert_eq!(keys(&document), agreed);
    assert_eq!((&document["target"], &document["steps"]), (&"clutter".into(), &50.into()));
    let solvers = document["solvers"].as_array().unwrap();
    let names: Vec<_> = solvers.iter().map(|run| run["solver"].as_str().unwrap()).collect();
    assert_eq!(names, ["sap", "canal"]);
    let (_, alone) = json(&[
        "run", "clutter", "--set", "bodies=6", "--steps", "50", "--solver", "sap", "--json",
    ]);
    // Output files and settings are those of a call, not of its run.
    for key in keys(&alone).into_iter().filter(|key| !["recordings", "settings"].contains(key)) {
        assert!(!solvers[0][key].is_null(), "{key}");
    }
    // Being compared changes nothing about a run.
    assert_eq!(solvers[0]["state_hash"], alone["state_hash"]);
    assert_eq!(solvers[0]["residual"]["own"], alone["residual"]["convex"]);
    let captured = document["captured"].as_array().unwrap();
    assert!(!captured.is_empty());
    for step in captured {
        assert!((1..=50).contains(&step["step"].as_u64().unwrap()));
        let answers = step["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 2);
        for answer in answers {
            let trace = &answer["trace"];
            let columns = [
                "complementarity",
                "cost",
                "iteration",
                "momentum",
                "residual",
                "seconds",
                "slack",
            ];
            assert_eq!(keys(trace), columns);
            let lengths =
                keys(trace).into_iter().map(|column| trace[column].as_array().unwrap().len());
            let lengths: Vec<usize> = lengths.collect();
            assert!(lengths[0] > 0 && lengths.iter().all(|n| *n == lengths[0]));
            let seconds: Vec<f64> =
                trace["seconds"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
            assert!(seconds.is_sorted());
        }
    }
}

#[test]
fn a_report_is_one_file_that_names_every_solver_and_nothing_outside() {
    let path = scratch("compare", "report.html");
    let file = path.to_str().unwrap();
    let (status, stdout, stderr) = run(&call(&["--solvers", "canal,pgs", "--report", file]));
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.contains("canal") && stdout.contains("pgs") && stdout.contains(file));
    let page = std::fs::read_to_string(&path).unwrap();
    for outside in ["http:", "https:", "src=\"", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    for solver in ["canal", "pgs"] {
        assert!(page.contains(&format!("aria-label=\"Motion with {solver}\"")));
        assert!(page.contains(&format!("<title>{solver}</title>")), "a curve of {solver}");
    }
    assert!(page.contains("--solvers canal,pgs --steps 50"), "the command that made it");
    assert!(page.matches("<svg").count() >= 5 && page.contains("exact friction"));
}

#[test]
fn an_unknown_solver_is_refused_with_the_known_ones() {
    let (status, stdout, stderr) = run(&call(&["--solvers", "canal,magic"]));
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.contains("magic"), "{stderr}");
    assert!(SOLVERS.iter().all(|entry| stderr.contains(entry.name)), "{stderr}");
}

#[test]
fn wrong_calls_are_refused_before_anything_runs() {
    let docx = scratch("compare", "report.docx");
    let nowhere = scratch("compare", "report.html").with_file_name("no/such/folder/report.html");
    for (rest, words) in [
        (&["--solvers", "canal,canal"][..], "twice"),
        (&["--solvers", "canal", "--set", "pgs.omega=1"], "pgs"),
        (&["--solvers", "canal", "--set", "solver.warp=1"], "warp"),
        (&["--solvers", "canal", "--set", "canal.warp=1"], "warp"),
        (&["--solvers", "canal", "--set", "warp=1"], "warp"),
        (&["--solvers", "canal", "--report", docx.to_str().unwrap()], ".html"),
        (&["--solvers", "canal", "--report", nowhere.to_str().unwrap()], "cannot be written"),
        (&["--solvers", "canal", "--time", "1e-9"], "time step"),
        (&[], "--solvers"),
    ] {
        let call = if words == "time step" {
            [&["compare", "clutter"], rest].concat()
        } else {
            call(rest)
        };
        let (status, stdout, stderr) = run(&call);
        assert_eq!((status, stdout.as_str()), (2, ""), "{rest:?}");
        assert!(stderr.contains(words), "{rest:?}: {stderr}");
    }
    let (status, _, stderr) = run(&["compare", "nothing", "--solvers", "canal"]);
    assert!(status == 2 && stderr.contains("clutter"), "{stderr}");
}

#[test]
fn a_solver_that_cannot_run_is_told_of_and_the_others_go_on() {
    let set = ["--set", "friction-model=coulomb", "--solvers", "sap,canal"];
    let (status, stdout, _) = run(&call(&set));
    assert_eq!(status, 1);
    assert!(stdout.contains("sap did not run"), "{stdout}");
    let (status, document) = json(&call(&[&set[..], &["--json"]].concat()));
    assert_eq!((status, &document["reference"]), (1, &"canal".into()));
    assert!(document["solvers"][0]["error"].as_str().unwrap().contains("coulomb"));
    assert_eq!(document["solvers"][1]["finished"], true);
}

#[test]
fn a_setting_reaches_the_solver_that_it_names_and_no_other() {
    // One sweep is not enough for anything that touches.
    let set = ["--set", "pgs.max-sweeps=1", "--set", "divisions=0"];
    let set = [&set[..], &["--solvers", "pgs,psor", "--json"]].concat();
    let (_, document) = json(&call(&set));
    let most = |k: usize| document["solvers"][k]["iterations"]["max"].as_u64().unwrap();
    // A step with missed contacts is solved up to three times more.
    assert!(most(0) <= 4 && most(1) > 4, "{} and {}", most(0), most(1));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (status, stderr) = run_for_nobody(&call(&["--solvers", "canal"]));
    assert_eq!((status, stderr.as_slice()), (Some(0), &b""[..]));
}
