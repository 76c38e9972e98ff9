//! The command with mutated files and with mutated arguments: it ends by itself with a status of its own, never
//! with a panic or a signal, within five seconds of the processor and two gigabytes of memory.
//!
//! `STICTION_MUTANTS` sets the number of calls of each campaign. The message has the call, and the folder in which the
//! files of the call are left.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stiction_testkit::mutation::{Sequence, WORDS, count, mutated};

/// Calls of a campaign in the tests: each starts a process.
const FEW: usize = 60;
/// What a call may take: seconds of the processor, kilobytes of data.
const LIMITS: &str = "ulimit -t 5; ulimit -d 2097152; exec \"$0\" \"$@\"";
/// Exit statuses that are explained in the help.
const STATUSES: [i32; 3] = [0, 1, 2];

/// An empty folder of this campaign's own.
fn folder(campaign: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutants-{campaign}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the command under the limits; panics if it does not end as it should.
fn call(folder: &Path, arguments: &[String]) -> i32 {
    let output = Command::new("sh")
        .args(["-c", LIMITS, env!("CARGO_BIN_EXE_stiction")])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    let ended = status.is_some_and(|status| STATUSES.contains(&status));
    assert!(ended, "{:?} in {}: {}\n{told}", arguments, folder.display(), output.status);
    assert!(status != Some(2) || !told.is_empty(), "{arguments:?}: refused without a reason");
    status.unwrap()
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn calls() -> usize {
    if std::env::var_os("STICTION_MUTANTS").is_some() { count() } else { FEW }
}

/// A file of the project.
fn file(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read(root.join(path)).unwrap()
}

#[test]
fn mutated_files() {
    let place = folder("files");
    for line in [
        "run bouncing-ball --steps 40 --record run.stiction --fps 500",
        "run bouncing-ball --steps 20 --checkpoint state",
    ] {
        assert_ne!(call(&place, &words(line)), 2, "{line}");
    }
    // The file that is mutated, its contents, and calls that read it.
    let read = |name: &str| std::fs::read(place.join(name)).unwrap();
    let model = ["run arm.xml --steps 3", "inspect arm.xml", "capture arm.xml --at 2 --out p.npz"];
    let corpus: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("arm.xml", file("examples/models/arm.xml"), &model),
        ("pile.toml", file("examples/scenes/pile.toml"), &["run pile.toml --steps 3 --no-record"]),
        (
            "cable.toml",
            file("examples/scenes/draped-cable.toml"),
            &["run cable.toml --steps 3 --no-record"],
        ),
        (
            "jelly.toml",
            file("examples/scenes/jelly.toml"),
            &["run jelly.toml --steps 3 --no-record"],
        ),
        (
            "stack.npz",
            file("data/problems/stack.npz"),
            &["solve stack.npz", "solve stack.npz --solver sap,pgs --max-iterations 50"],
        ),
        (
            "run.stiction",
            read("run.stiction"),
            &[
                "view run.stiction --out a.html",
                "view run.stiction --out a.png --picture size=64x48",
            ],
        ),
        ("state", read("state"), &["run --resume state --steps 25"]),
    ];
    let mut sequence = Sequence::new(0x00c0_33a2);
    for k in 0..calls() {
        let (name, contents, lines) = &corpus[k % corpus.len()];
        std::fs::write(place.join(name), mutated(contents, &mut sequence)).unwrap();
        call(&place, &words(lines[sequence.below(lines.len())]));
    }
}

/// Calls whose arguments are mutated. What says how long a run is stays: it may be as long as the user likes.
const LINES: [&str; 7] = [
    "run clutter --steps 3 --set bodies=8 --set friction=0.5 --time-step 0.01 --threads 1 --solver auto",
    "run pile.toml --steps 3 --set tolerance=1e-6 --set stabilisation.slop=1e-5 --fps 60 --record a.html",
    "run arm.xml --steps 3 --keyframe 0 --set sleep=true --solver alm --set solver.growth=5 --chart a.svg",
    "run bouncing-ball --steps 3 --record a.png --picture size=64x48,time=0.001,view=front",
    "compare incline --solvers pgs,sap --steps 3 --set angle=10 --time-limit 1",
    "solve stack --size 3 --seed 7 --mu 0.5 --tolerance 1e-6 --max-iterations 50 --solver pgs --json",
    "capture incline --at 3 --out p.npz --set angle=10",
];

/// The line with some arguments wrong.
fn mutated_line(line: &str, sequence: &mut Sequence) -> Vec<String> {
    let mut arguments = words(line);
    for _ in 0..1 + sequence.below(3) {
        // The name of the command stays, so that the others get somewhere.
        let at = 1 + sequence.below(arguments.len() - 1);
        let length = ["--steps", "--at"].contains(&arguments[at - 1].as_str());
        let word = WORDS[sequence.below(WORDS.len())].replace('\0', "");
        match sequence.below(6) {
            _ if length => {}
            0 => drop(arguments.remove(at)),
            1 => arguments.insert(at, word),
            2 => {
                let other = 1 + sequence.below(arguments.len() - 1);
                arguments.swap(at, other);
            }
            3 => {
                let bytes = mutated(arguments[at].as_bytes(), sequence);
                arguments[at] = String::from_utf8_lossy(&bytes).replace('\0', "");
            }
            _ => {
                let kept = arguments[at].split_once('=').map(|(key, _)| format!("{key}="));
                arguments[at] = kept.unwrap_or_default() + &word;
            }
        }
        if arguments.len() < 3 {
            break;
        }
    }
    arguments
}

#[test]
fn mutated_arguments() {
    let place = folder("arguments");
    std::fs::write(place.join("arm.xml"), file("examples/models/arm.xml")).unwrap();
    std::fs::write(place.join("pile.toml"), file("examples/scenes/pile.toml")).unwrap();
    for line in LINES {
        assert_ne!(call(&place, &words(line)), 2, "{line}");
    }
    let mut sequence = Sequence::new(0x00a3_6035);
    for k in 0..calls() {
        let arguments = mutated_line(LINES[k % LINES.len()], &mut sequence);
        // Without a number of steps a run has the length of its scene.
        let long = ["run", "compare"].contains(&arguments[0].as_str())
            && !arguments.windows(2).any(|pair| pair == ["--steps", "3"]);
        if !long {
            call(&place, &arguments);
        }
    }
}
