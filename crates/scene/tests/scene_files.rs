//! The scenes that users read first: those of the examples and those on the page that describes the
//! format. Each loads, honours all that it asks for, runs, and finds its own claims true.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use stiction_scene::import::Options;
use stiction_scene::{Files, Imported, load, load_with};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn passes(name: &str, scene: &Imported) {
    assert!(scene.unsupported.is_empty(), "{name}: {:?}", scene.unsupported);
    let mut scene_run = scene.scene().unwrap().start().unwrap();
    let verdict = scene_run.run().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(verdict.passed, "{name}: {}", verdict.detail);
    assert!(verdict.detail.contains("steps converged"), "{name}: {}", verdict.detail);
}

#[test]
fn every_example_passes_its_own_check() {
    let folder = root().join("examples/scenes");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scenes: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(!scenes.is_empty());
    for path in scenes {
        let name = path.display().to_string();
        let scene = load(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!scene.script.claims.is_empty(), "{name} claims nothing");
        passes(&name, &scene);
    }
}

#[test]
fn every_scene_of_the_page_runs() {
    let page = std::fs::read_to_string(root().join("docs/scenes.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 5);
    for block in blocks {
        // As if it stood among the examples, whose models it may name.
        let path = root().join("examples/scenes/page.toml");
        let mut files = Files::on_disk();
        files.insert(&path, block.as_bytes());
        let imported = load_with(files, &path, &Options::default());
        let imported = imported.unwrap_or_else(|error| panic!("{block}\n{error}"));
        assert!(imported.scene().unwrap().duration <= 10.0, "{block}");
        passes(block, &imported);
    }
}
