//! MJCF models of the MuJoCo Menagerie, whole and damaged; see CONTRIBUTING.md, Data sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::damage::broken;
use common::mutation::{OBJ, mutated, read};
use stiction_math::random::SplitMix64;
use stiction_scene::{Files, load_with};
use stiction_testkit::data::{group, run};
use stiction_testkit::trials;

/// MJCF files in the folders of `models`, sorted.
fn robots(models: &Path) -> Vec<PathBuf> {
    let mut robots = Vec::new();
    for folder in std::fs::read_dir(models).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
            robots.extend(files.filter(|file| file.extension().is_some_and(|e| e == "xml")));
        }
    }
    robots.sort();
    assert!(!robots.is_empty(), "{}: no folder with *.xml", models.display());
    robots
}

fn every_robot_loads_and_what_it_was_made_of_suffices_to_load_it_again(models: &Path) {
    for robot in robots(models) {
        let found = stiction_scene::load(&robot).unwrap_or_else(|error| panic!("{error}"));
        let again = load_with(found.files.packed(), &robot, &Default::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let [a, b] = [&found, &again].map(|imported| imported.world.model());
        assert_eq!((a.nq(), a.nv(), a.nu()), (b.nq(), b.nv(), b.nu()), "{}", robot.display());
        assert_eq!(a.mass().to_bits(), b.mass().to_bits(), "{}", robot.display());
    }
}

fn broken_robots_are_errors_or_other_models_but_never_accidents_of_the_reader(models: &Path) {
    let mut rng = SplitMix64::new(0x2545_f491_4f6c_dd1d);
    for robot in robots(models) {
        let text = std::fs::read_to_string(&robot).unwrap();
        for _ in 0..2 {
            let mut files = Files::on_disk();
            files.insert(&robot, broken(&text, &mut rng).into_bytes());
            let _ = load_with(files, &robot, &Default::default());
        }
    }
}

/// The files of a folder, with a tetrahedron in place of each mesh.
fn collect(folder: &Path, files: &mut Files, models: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
        match extension.as_str() {
            _ if path.is_dir() => collect(&path, files, models),
            "obj" => files.insert(&path, OBJ.as_bytes()),
            "stl" => files.insert(&path, stl()),
            "xml" => {
                files.insert(&path, std::fs::read(&path).unwrap());
                models.push(path);
            }
            _ => {}
        }
    }
}

/// The tetrahedron as a binary STL.
fn stl() -> Vec<u8> {
    let corners = [[0.0_f32, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let mut bytes = vec![0; 80];
    bytes.extend(4_u32.to_le_bytes());
    for triangle in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        bytes.extend([0; 12]);
        for corner in triangle {
            corners[corner].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn mutations_of_real_robots_are_read_or_refused(folder: &Path) {
    let (mut files, mut models) = (Files::in_memory(), Vec::new());
    collect(folder, &mut files, &mut models);
    assert!(!models.is_empty(), "{}: no *.xml", folder.display());
    let mut rng = SplitMix64::new(0x2545_F491_4F6C_DD1D);
    for path in &models {
        let text = String::from_utf8(files.read(path).unwrap().to_vec()).unwrap();
        for _ in 0..40 {
            read(&files, path, &mutated(&text, &mut rng));
        }
    }
}

fn main() -> ExitCode {
    let tests = trials![
        every_robot_loads_and_what_it_was_made_of_suffices_to_load_it_again,
        broken_robots_are_errors_or_other_models_but_never_accidents_of_the_reader,
        mutations_of_real_robots_are_read_or_refused,
    ];
    run(vec![group("mjcf", "models", tests)])
}
