//! Files from elsewhere: a checkpoint, a scene or a recording that someone else made writes nothing that
//! the user did not ask for, and keeps the command busy for no longer than its size explains.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // each file of tests calls its own part
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("untrusted-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Status and standard error of a call in a folder.
fn call(folder: &Path, line: &str) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

const RUN: &str = "run bouncing-ball --steps 20";

#[test]
fn a_checkpoint_writes_no_chart_and_no_recording_outside_its_own_folder() {
    let place = folder("resume");
    for sub in ["theirs", "mine"] {
        std::fs::create_dir(place.join(sub)).unwrap();
    }
    for output in ["--chart ../mine/stolen.svg", "--record ../mine/stolen.html"] {
        let theirs = place.join("theirs");
        let (status, told) = call(&theirs, &format!("{RUN} --checkpoint state {output}"));
        assert_ne!(status, 2, "{told}");
        for name in ["stolen.svg", "stolen.html"] {
            let _ = std::fs::remove_file(place.join("mine").join(name));
        }
        let (status, told) = call(&place.join("mine"), "run --resume ../theirs/state --steps 40");
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("stolen") && told.contains("named on the command line"), "{told}");
        assert_eq!(std::fs::read_dir(place.join("mine")).unwrap().count(), 0);
        // What the user names is written, wherever it is.
        let (name, _) = output.split_once(' ').unwrap();
        let own = if name == "--chart" { "own.svg" } else { "own.html" };
        let line = format!("run --resume ../theirs/state --steps 40 {name} {own}");
        let (status, told) = call(&place.join("mine"), &line);
        assert_ne!(status, 2, "{told}");
        assert!(place.join("mine").join(own).exists());
        std::fs::remove_file(place.join("mine").join(own)).unwrap();
        std::fs::remove_file(theirs.join("state")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_checkpoint_writes_through_no_link() {
    let place = folder("links");
    let victim = place.join("victim");
    let theirs = place.join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    let (status, told) = call(&theirs, &format!("{RUN} --checkpoint state --chart run.svg"));
    assert_ne!(status, 2, "{told}");
    std::fs::remove_file(theirs.join("run.svg")).unwrap();
    std::fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, theirs.join("run.svg")).unwrap();
    let (status, told) = call(&theirs, "run --resume state --steps 40");
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("symbolic link"), "{told}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}

const SCENE: &str =
    "[record]\nfiles = ['@']\n[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\n";

#[cfg(unix)]
#[test]
fn a_scene_records_neither_through_a_linked_folder_nor_over_a_link() {
    let place = folder("scene");
    let (inside, outside) = (place.join("inside"), place.join("outside"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("linked")).unwrap();
    std::fs::write(outside.join("victim"), "precious").unwrap();
    std::os::unix::fs::symlink(outside.join("victim"), inside.join("run.html")).unwrap();
    for name in ["linked/run.html", "run.html"] {
        std::fs::write(inside.join("scene.toml"), SCENE.replace('@', name)).unwrap();
        let (status, told) = call(&inside, "run scene.toml --steps 2");
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("named on the command line"), "{told}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(outside.join("victim")).unwrap(), "precious");
    // A folder below that is none but a folder is fine.
    std::fs::create_dir(inside.join("own")).unwrap();
    std::fs::write(inside.join("scene.toml"), SCENE.replace('@', "own/run.html")).unwrap();
    let (status, told) = call(&inside, "run scene.toml --steps 2");
    assert_ne!(status, 2, "{told}");
    assert!(inside.join("own/run.html").exists());
}

#[test]
fn a_scene_names_no_recording_outside_the_folder_of_the_run() {
    let place = folder("names");
    for name in ["../run.html", "/run.html", "a/../../run.html", ""] {
        std::fs::write(place.join("scene.toml"), SCENE.replace('@', name)).unwrap();
        let (status, told) = call(&place, "run scene.toml --steps 2");
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("below the folder of the run"), "{told}");
    }
}
