//! Every setting of the table is set and read back on the command line and in a scene, is listed, and
//! stands in the documentation. `python/tests/test_settings.py` does the same from Python.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // each file of tests calls its own part
mod common;

use std::path::Path;

use common::{json, run, scratch};
use serde_json::{Value, json as value};
use stiction_sim::{SCHEMES, SOLVER_PREFIX, Settings};
use stiction_solve::setting::{SettingKind, SettingSpec, SettingValue};
use stiction_solve::solver::SOLVERS;

/// A value in range that is not the default, as JSON.
fn other_value(spec: &SettingSpec) -> Value {
    match &spec.kind {
        SettingKind::Flag => value!(spec.default != SettingValue::Flag(true)),
        SettingKind::Count => value!(7),
        SettingKind::Number => value!(0.0009765625),
        SettingKind::Choice(names) => {
            let default = spec.default.to_string();
            value!(names.iter().find(|name| **name != default).unwrap())
        }
        SettingKind::Text => value!("other"),
    }
}

/// A value as the command line takes it.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

const BALL: &str = "[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\n";

#[test]
fn every_setting_is_read_back_as_it_was_set_on_the_command_line() {
    for spec in Settings::specs() {
        let other = other_value(&spec);
        let set = format!("{}={}", spec.name, as_text(&other));
        let call = ["run", "clutter", "--set", "bodies=1", "--steps", "1", "--set", &set, "--json"];
        let (_, document) = json(&call);
        assert_eq!(document["settings"][spec.name], other, "{set}");
    }
}

#[test]
fn every_setting_is_read_back_as_it_was_set_in_a_scene() {
    for spec in Settings::specs() {
        let other = other_value(&spec);
        // JSON and TOML write numbers, strings and truth values alike; a dot makes an inner table.
        let text = format!("{BALL}[step]\n{} = {other}\n", spec.name);
        let file = scratch("settings", &format!("{}.toml", spec.name));
        std::fs::write(&file, text).unwrap();
        let (_, document) = json(&["run", file.to_str().unwrap(), "--steps", "1", "--json"]);
        assert_eq!(document["settings"][spec.name], other, "{}", spec.name);
    }
}

#[test]
fn settings_of_a_scene_do_not_depend_on_their_order() {
    for step in [
        "sleep = false\nsolver = 'alm'\n",
        "solver = { growth = 3, name = 'alm' }\nsleep.speed = 0.5\n",
        "sleep.speed = 0.5\nsolver = { name = 'alm', growth = 3 }\n",
    ] {
        let file = scratch("settings", "order.toml");
        std::fs::write(&file, format!("{BALL}[step]\n{step}")).unwrap();
        let (_, document) = json(&["run", file.to_str().unwrap(), "--steps", "1", "--json"]);
        let settings = &document["settings"];
        assert_eq!(settings["solver"], "alm");
        let sleeps = step.contains("speed");
        assert_eq!((&settings["sleep"], &settings["sleep.speed"] == 0.5), (&sleeps.into(), sleeps));
        assert_eq!(as_text(&settings["solver.growth"]).parse() == Ok(3.0), sleeps, "{settings}");
    }
}

/// `python/tests/test_settings.py` checks the same from Python.
#[test]
fn solver_settings_of_a_scene_apply_only_to_the_solver_of_the_scene() {
    let file = scratch("settings", "own.toml");
    let step = "[step]\nsolver = { name = 'alm', growth = 3 }\n";
    std::fs::write(&file, format!("{BALL}{step}")).unwrap();
    let growth = |options: &[&str]| {
        let call = [&["run", file.to_str().unwrap(), "--steps", "1", "--json"][..], options];
        let (_, document) = json(&call.concat());
        as_text(&document["settings"]["solver.growth"]).parse::<f64>().unwrap()
    };
    let canal = Settings { solver: "canal".to_owned(), ..Settings::default() };
    let values = canal.solver_values().unwrap();
    let default = values.iter().find(|(name, _)| *name == "growth").unwrap().1.to_string();
    assert_eq!(growth(&[]), 3.0);
    assert_eq!(growth(&["--solver", "alm"]), 3.0);
    assert_eq!(growth(&["--set", "solver=alm"]), 3.0);
    assert_eq!(growth(&["--solver", "canal"]).to_string(), default);
    assert_eq!(growth(&["--set", "solver=canal"]).to_string(), default);
    for options in [
        ["--solver", "canal", "--set", "solver.growth=5"],
        ["--set", "solver.growth=5", "--set", "solver=canal"],
    ] {
        assert_eq!(growth(&options), 5.0, "{options:?}");
    }
}

#[test]
fn every_setting_is_listed_with_its_type_unit_range_and_default() {
    let (status, document) = json(&["list", "settings", "--json"]);
    assert_eq!(status, 0);
    let listed = document["settings"].as_array().unwrap();
    let (_, text, _) = run(&["list", "settings"]);
    let (_, help, _) = run(&["run", "--help"]);
    for spec in Settings::specs() {
        let entry = listed.iter().find(|entry| entry["name"] == spec.name).unwrap();
        assert_eq!(entry["solver"], Value::Null);
        assert_eq!((&entry["type"], &entry["unit"]), (&spec.kind.name().into(), &spec.unit.into()));
        assert_eq!(entry["keyword"], spec.keyword());
        assert!(entry.get("default").is_some() && entry["about"] == spec.doc);
        // The help wraps lines.
        for text in [&text, &help] {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = words.find(spec.doc);
            let before = place.map(|place| &words[..place]);
            assert!(
                before.is_some_and(|before| before.contains(spec.name)),
                "{} in\n{text}",
                spec.name
            );
        }
    }
    for entry in SOLVERS {
        let own = listed.iter().filter(|one| one["solver"] == entry.name);
        let names: Vec<String> = own.map(|one| as_text(&one["name"])).collect();
        assert!(names.iter().all(|name| name.starts_with(SOLVER_PREFIX)), "{names:?}");
        let settings = Settings { solver: entry.name.to_owned(), ..Settings::default() };
        let known = settings.solver_values().unwrap();
        let known: Vec<_> =
            known.iter().map(|(name, _)| format!("{SOLVER_PREFIX}{name}")).collect();
        assert_eq!(names, known);
    }
}

#[test]
fn every_scheme_is_listed_with_its_description() {
    let (status, document) = json(&["list", "schemes", "--json"]);
    assert_eq!(status, 0);
    let listed = document["schemes"].as_array().unwrap();
    let listed: Vec<_> =
        listed.iter().map(|e| (as_text(&e["name"]), as_text(&e["about"]))).collect();
    let known = SCHEMES.iter().map(|e| (e.name.to_owned(), e.about.to_owned()));
    assert_eq!(listed, known.collect::<Vec<_>>());
}

#[test]
fn a_wrong_setting_is_refused_with_what_is_known() {
    for (set, expected) in [
        ("stabilisation.closure=0", "'stabilisation.closure'"),
        ("stabilisation.closure=0", "> 0 [m, rad]"),
        ("stabilisation.slop=-1", "≥ 0 [m]"),
        ("sleep.speed=fast", "≥ 0 [m/s, rad/s]"),
        ("combine=mean", "geometric, harmonic, maximum or minimum"),
        ("stabilization.slop=0", "stabilisation.slop"),
        ("stabilization.slop=0", "solver.KEY"),
    ] {
        let (status, stdout, stderr) = run(&["run", "clutter", "--set", set]);
        assert_eq!((status, stdout.as_str()), (2, ""));
        assert!(stderr.contains(expected), "{stderr}");
        let (key, value) = set.split_once('=').unwrap();
        let value =
            if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("'{value}'") };
        let file = scratch("settings", "wrong.toml");
        std::fs::write(&file, format!("{BALL}[step]\n{key} = {value}\n")).unwrap();
        let (status, _, stderr) = run(&["run", file.to_str().unwrap()]);
        assert_eq!(status, 2);
        assert!(stderr.contains(expected) && stderr.contains("wrong.toml:6"), "{stderr}");
    }
}

/// The table of settings in docs/scenes.md, from which docs/python.md takes its own.
fn documentation() -> String {
    let mut text =
        "| setting | values | unit | default | meaning |\n|---|---|---|---|---|\n".to_owned();
    for spec in Settings::specs() {
        let mut values = match &spec.kind {
            SettingKind::Choice(names) if spec.name == "solver" => {
                assert!(!names.is_empty());
                "a name of `stiction list solvers`".to_owned()
            }
            SettingKind::Choice(names) => {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
            kind => format!("{} {}", kind.name(), spec.range).trim_end().to_owned(),
        };
        if spec.optional {
            values += ", `none`";
        }
        let unit = if spec.unit == "-" || spec.unit.is_empty() { "–" } else { spec.unit };
        let SettingSpec { name, default, doc, .. } = &spec;
        text += &format!("| `{name}` | {values} | {unit} | `{default}` | {doc} |\n");
    }
    text
}

#[test]
fn the_documentation_has_every_setting() {
    const BEGIN: &str = "<!-- settings -->\n";
    const END: &str = "<!-- end of settings -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table's begin");
    let (table, after) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("STICTION_UPDATE_DOCS").is_some() {
        let updated = format!("{before}{BEGIN}{}{END}{after}", documentation());
        std::fs::write(&path, updated).unwrap();
    } else {
        assert_eq!(table, documentation(), "run this test with STICTION_UPDATE_DOCS=1");
    }
}
