//! The tutorial says what the examples do, and the examples run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

#[path = "../examples/build_world.rs"]
#[allow(dead_code)]
mod build_world;
#[path = "../examples/compare_solvers.rs"]
#[allow(dead_code)]
mod compare_solvers;
#[path = "../examples/load_robot.rs"]
#[allow(dead_code)]
mod load_robot;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_examples_run() {
    build_world::main().unwrap();
    compare_solvers::main().unwrap();
    for file in ["arm-and-gripper.toml", "models/arm.urdf", "models/gripper.xml"] {
        load_robot::show(&root().join("examples/scenes").join(file)).unwrap();
    }
}

/// Lines without what surrounds them.
fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_piece_of_code_in_the_tutorial_stands_in_an_example() {
    let page = std::fs::read_to_string(root().join("docs/tutorial-rust.md")).unwrap();
    let sources = ["build_world", "compare_solvers", "load_robot"].map(|name| {
        let path = root().join(format!("crates/stiction/examples/{name}.rs"));
        std::fs::read_to_string(path).unwrap()
    });
    let blocks: Vec<&str> =
        page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let wanted = trimmed(block);
        let stands = |source: &String| trimmed(source).windows(wanted.len()).any(|w| w == wanted);
        assert!(sources.iter().any(stands), "no example contains\n{block}");
    }
}
