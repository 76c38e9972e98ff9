//! Recordings and checkpoints of runs that are killed or interrupted: recordings open, resumed runs are
//! bit-identical to uninterrupted ones, and no file of another run is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // each file of tests calls its own part
mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{json, run};
use serde_json::Value;
use stiction_math::random::SplitMix64;
use stiction_sim::record::{Recording, container};
use stiction_study::SCENARIOS;

/// An empty folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("keep-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A call with names of files in a folder in place of `@`.
fn words(folder: &Path, line: &str) -> Vec<String> {
    let name = |word: &str| match word.strip_prefix('@') {
        Some(name) => folder.join(name).to_str().unwrap().to_owned(),
        None => word.to_owned(),
    };
    line.split_whitespace().map(name).collect()
}

fn call(folder: &Path, line: &str) -> (i32, String, String) {
    let words = words(folder, line);
    run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn call_json(folder: &Path, line: &str) -> Value {
    let words = words(folder, line);
    json(&words.iter().map(String::as_str).collect::<Vec<_>>()).1
}

fn start(folder: &Path, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stiction"));
    command.args(words(folder, line)).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn recording(path: &Path) -> Recording {
    container::read(&std::fs::read(path).unwrap()).unwrap().recording
}

/// What two recordings of the same run have in common, apart from the time that steps took.
fn same_motion(a: &Recording, b: &Recording) -> bool {
    let of = |r: &Recording| {
        let f = r.frames.clone();
        (f.time, f.position, f.rotation, f.contacts, f.statistics.kinetic, f.statistics.potential)
    };
    of(a) == of(b)
}

/// Small, and with enough frames and checkpoints to be hit in each part of its life.
const PILE: &str = "run clutter --set bodies=6 --time 6 --every 0.1";
const KILLS: usize = 12;

#[test]
fn a_run_that_is_killed_anywhere_leaves_a_recording_and_goes_on_to_the_same_end() {
    let whole = folder("whole");
    let line =
        format!("{PILE} --record @run.stiction --record @run.html --checkpoint @state --json");
    let clock = std::time::Instant::now();
    let undisturbed = call_json(&whole, &line);
    let life = clock.elapsed().as_secs_f64();
    let expected = recording(&whole.join("run.stiction"));
    let kills = std::env::var("STICTION_KILLS").ok().and_then(|text| text.parse().ok());
    let (kills, mut rng, mut in_the_middle) = (kills.unwrap_or(KILLS), SplitMix64::new(5), 0);
    let mut life = life;
    for kill in 0..kills {
        let place = folder(&format!("kill-{kill}"));
        let mut child = start(&place, &line);
        std::thread::sleep(Duration::from_secs_f64(life * rng.unit()));
        // The next runs are killed earlier if this one had ended already.
        life *= if child.try_wait().unwrap().is_some() { 0.8 } else { 1.0 };
        let _ = child.kill();
        child.wait().unwrap();
        let (part, state) = (place.join("run.stiction.part"), place.join("state"));
        if !state.exists() {
            assert!(!part.exists(), "kill {kill}: a recording before the first checkpoint");
            continue;
        }
        if part.exists() {
            let found = recording(&part);
            assert!(!found.is_empty(), "kill {kill}");
            let (status, _, output) = call(&place, "view @run.stiction.part --out @part.html");
            assert_eq!(status, 0, "kill {kill}: {output}");
            in_the_middle += usize::from(found.len() > 1);
        }
        let resumed = call_json(&place, "run --resume @state --json");
        assert_eq!(resumed["state_hash"], undisturbed["state_hash"], "kill {kill}: {resumed:#}");
        assert!(same_motion(&recording(&place.join("run.stiction")), &expected), "kill {kill}");
        assert!(place.join("run.html").exists() && !part.exists(), "kill {kill}");
        std::fs::remove_dir_all(place).unwrap();
    }
    println!("{in_the_middle} of {kills} kills hit a run that had recorded more than its start");
    assert!(in_the_middle > 0);
}

#[test]
fn every_scenario_goes_on_from_a_checkpoint_as_if_it_had_never_stopped() {
    let place = folder("scenarios");
    for scenario in SCENARIOS {
        let small =
            scenario.small().iter().map(|(k, v)| format!(" --set {k}={v}")).collect::<String>();
        for more in ["", "--set sleep=true"] {
            let line = format!("run {}{small} {more} --json", scenario.name);
            let whole = call_json(&place, &format!("{line} --steps 30"));
            let state = place.join("state");
            let _ = std::fs::remove_file(&state);
            call_json(&place, &format!("{line} --steps 11 --checkpoint @state"));
            let resumed = call_json(&place, "run --resume @state --steps 30 --json");
            let name = scenario.name;
            assert_eq!(resumed["state_hash"], whole["state_hash"], "{name} {more}");
            assert_eq!(resumed["resumed"]["step"], 11);
            assert_eq!(resumed["steps"], 19);
            let detail = resumed["check"]["detail"].as_str().unwrap();
            assert!(detail.starts_with("of the steps after 11: "), "{detail}");
            let skipped = resumed["check"]["skipped"].as_bool().unwrap();
            assert_eq!(skipped, detail.contains("nothing was checked"), "{name}: {detail}");
            let (status, output, _) = call(&place, "run --resume @state --steps 31");
            assert!(
                !skipped || (status == 0 && output.contains("check skipped")),
                "{name}: {output}"
            );
        }
    }
}

#[test]
fn a_recorded_run_has_the_hash_of_one_that_nobody_watches_and_tells_of_its_files() {
    let place = folder("watched");
    let line = "run clutter --set bodies=4 --time 0.5 --json";
    let alone = call_json(&place, line);
    assert_eq!(alone["recordings"], Value::Array(Vec::new()));
    let watched =
        call_json(&place, &format!("{line} --record @a.html --record @b.stiction --fps 20"));
    assert_eq!(watched["state_hash"], alone["state_hash"]);
    let output = &watched["recordings"];
    assert_eq!((&output[0]["sink"], &output[1]["sink"]), (&"html".into(), &"stiction".into()));
    assert_eq!((&output[0]["frames"], &output[0]["begin"]), (&11.into(), &0.0.into()));
    let page = std::fs::read_to_string(place.join("a.html")).unwrap();
    assert_eq!(output[0]["bytes"], page.len());
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2, "nothing else is left");
    // The page can be made later, byte for byte.
    let (status, _, output) = call(&place, "view @b.stiction --out @c.html");
    assert_eq!((status, output.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(place.join("c.html")).unwrap(), page);
    let (status, name, _) = call(&place, "view @a.html --no-open");
    assert_eq!((status, name.trim()), (0, place.join("a.html").to_str().unwrap()));
    let (status, name, _) = call(&place, "view @b.stiction --no-open");
    assert_eq!((status, std::fs::read_to_string(name.trim()).unwrap()), (0, page));
    std::fs::remove_dir_all(Path::new(name.trim()).parent().unwrap()).unwrap();
}

#[test]
fn a_scene_says_what_its_run_leaves_behind_and_the_call_goes_before_it() {
    let place = folder("wishes");
    let ball = "[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\n[record]\n";
    let wishes = "files = ['a.stiction', 'a.png']\nfps = 20\npicture = 'size=40x30,view=top'\n";
    std::fs::write(place.join("ball.toml"), format!("{ball}{wishes}")).unwrap();
    let here = |line: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(line.split_whitespace())
            .current_dir(&place)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let files = || {
        let mut names: Vec<String> = std::fs::read_dir(&place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let line = "run ball.toml --time 1 --set time-step=0.01";
    assert_eq!(here(&format!("{line} --no-record")).0, 0);
    assert_eq!(files(), ["ball.toml"]);
    // Nothing but a run records.
    assert_eq!(here("inspect ball.toml").0, 0);
    assert_eq!(here("compare ball.toml --solvers sap --steps 2").0, 0);
    assert_eq!(files(), ["ball.toml"]);
    assert_eq!(here(&format!("{line} --checkpoint state")).0, 0);
    assert_eq!(files(), ["a.png", "a.stiction", "ball.toml", "state"]);
    assert_eq!(recording(&place.join("a.stiction")).len(), 21);
    let picture = std::fs::read(place.join("a.png")).unwrap();
    assert_eq!((&picture[16..20], &picture[20..24]), (&[0, 0, 0, 40][..], &[0, 0, 0, 30][..]));
    // The call goes before the table, also in what it does not name.
    assert_eq!(here(&format!("{line} --record b.stiction --fps 10")).0, 0);
    assert_eq!(files(), ["a.png", "a.stiction", "b.stiction", "ball.toml", "state"]);
    assert_eq!(recording(&place.join("b.stiction")).len(), 11);
    for (wishes, expected) in [
        ("files = 'a.docx'", ".html"),
        ("files = 'no/a.html'", "there is no folder"),
        ("files = 'a.png'\npicture = 'view=nowhere'", "corner"),
    ] {
        std::fs::write(place.join("bad.toml"), format!("{ball}{wishes}")).unwrap();
        let (status, stdout, stderr) = here("run bad.toml --steps 2");
        assert_eq!((status, stdout.as_str()), (2, ""), "{wishes}");
        let output = stderr.contains("bad.toml:5") && stderr.contains("[record]");
        assert!(output && stderr.contains(expected), "{wishes}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_as_they_stand_and_links_stay() {
    let place = folder("devices");
    std::os::unix::fs::symlink("/dev/full", place.join("full.html")).unwrap();
    std::os::unix::fs::symlink("real.html", place.join("link.html")).unwrap();
    let line = "run clutter --set bodies=2 --steps 10";
    let (status, _, output) = call(&place, &format!("{line} --record @full.html"));
    assert_eq!(status, 2);
    assert!(output.contains("space") && output.contains("full.html.part"), "{output}");
    assert!(recording(&place.join("full.html.part")).len() > 1);
    assert_eq!(call(&place, &format!("{line} --record @link.html")).0, 0);
    assert_eq!(std::fs::read_link(place.join("link.html")).unwrap(), Path::new("real.html"));
    assert!(std::fs::read_to_string(place.join("real.html")).unwrap().contains("<html"));
}

#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_stop_keeps_what_it_has_and_can_go_on() {
    let place = folder("stopped");
    // Long enough to be met by the signal.
    let line = "run clutter --set bodies=6 --time 100000 --every 0.5 --fps 10";
    let line = format!("{line} --record @run.html --checkpoint @state");
    let child = start(&place, &line);
    let part = place.join("run.html.part");
    let length = || std::fs::metadata(&part).map_or(0, |about| about.len());
    let mut begun = 0;
    // It listens before its first step; the file grows after some of them.
    while begun == 0 || length() == begun {
        begun = if begun == 0 { length() } else { begun };
        std::thread::sleep(Duration::from_millis(20));
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signalled.unwrap().success());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    assert_eq!((status.code(), stderr.len()), (Some(130), 0), "{stdout}");
    assert!(stdout.contains("a stop was requested") && stdout.contains("--resume"), "{stdout}");
    assert!(place.join("run.html").exists() && part.exists());
    // It goes on for a few steps more, and the page then holds all of it.
    let step = {
        let found =
            stiction_sim::Checkpoint::from_bytes(&std::fs::read(place.join("state")).unwrap());
        found.unwrap().step
    };
    let end = step + 20;
    let resumed = call_json(&place, &format!("run --resume @state --steps {end} --json"));
    assert_eq!((&resumed["steps"], &resumed["recordings"][0]["begin"]), (&20.into(), &0.0.into()));
    assert!(!part.exists());
    let whole = call_json(&place, &format!("run clutter --set bodies=6 --steps {end} --json"));
    assert_eq!(resumed["state_hash"], whole["state_hash"]);
}

#[test]
fn an_unwritable_file_is_refused_before_the_run() {
    let place = folder("refused");
    std::fs::write(place.join("notes.txt"), "mine").unwrap();
    std::fs::create_dir(place.join("folder.html")).unwrap();
    for (line, expected) in [
        ("--record @run.docx", ".html"),
        ("--record @no/such/folder/run.html", "cannot be written"),
        ("--record @folder.html", "folder.html"),
        ("--record @run.html --fps 0", "--fps"),
        ("--record @no/run.html", "there is no folder"),
        ("--chart @no/chart.svg", "there is no folder"),
        ("--record @run.html --picture view=top", "no picture to write"),
        ("--record @run.gif --picture time=1", "a .png"),
        ("--record @run.png --picture size=big", "WIDTHxHEIGHT"),
        ("--record @run.png --picture colour=red", "one of: size"),
        ("--record @run.html --no-record", "--no-record"),
        ("--checkpoint @no/such/folder/state", "No such file"),
        ("--checkpoint @notes.txt", "something else than a checkpoint"),
        ("--checkpoint @folder.html", "folder.html"),
    ] {
        let (status, stdout, stderr) = call(&place, &format!("run clutter --steps 5 {line}"));
        assert_eq!((status, stdout.as_str()), (2, ""), "{line}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
    assert_eq!(std::fs::read_to_string(place.join("notes.txt")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2);
    if Path::new("/dev/full").exists() {
        let (status, _, stderr) = call(&place, "run clutter --steps 5 --checkpoint /dev/full");
        assert_eq!(status, 2);
        assert!(stderr.contains("/dev/full") && stderr.contains("space"), "{stderr}");
        assert!(!std::fs::metadata("/dev/full").unwrap().is_file());
    }
}

#[test]
fn unfinished_outputs_of_another_run_are_not_overwritten() {
    let place = folder("left");
    let line = "run clutter --set bodies=2 --steps 20 --record @run.html --checkpoint @state";
    call(&place, line);
    let finished = std::fs::read(place.join("state")).unwrap();
    // A run at its end may be run again; one that is not may be continued, and is left alone.
    assert_eq!(call(&place, line).0, 0);
    let mut other = stiction_sim::Checkpoint::from_bytes(&finished).unwrap();
    other.step = 10;
    std::fs::write(place.join("state"), other.to_bytes()).unwrap();
    let (status, _, output) = call(&place, line);
    assert_eq!(status, 2);
    assert!(output.contains("state") && output.contains("--resume"), "{output}");
    assert_eq!(std::fs::read(place.join("state")).unwrap(), other.to_bytes());
    std::fs::remove_file(place.join("state")).unwrap();
    std::fs::write(place.join("run.html.part"), "precious").unwrap();
    let (status, _, output) = call(&place, line);
    assert_eq!(status, 2);
    assert!(output.contains("run.html.part") && output.contains("stiction view"), "{output}");
    assert_eq!(std::fs::read(place.join("run.html.part")).unwrap(), b"precious");
    assert!(!place.join("state").exists());
    // Nor does a run that is continued touch a recording that it did not make.
    std::fs::write(place.join("state"), &finished).unwrap();
    let (status, _, _) = call(&place, "run --resume @state --steps 30");
    assert_eq!(status, 2);
    assert_eq!(std::fs::read(place.join("run.html.part")).unwrap(), b"precious");
}

#[test]
fn a_checkpoint_that_is_cut_changed_or_of_something_else_is_refused_and_kept() {
    let place = folder("bad-checkpoint");
    let state = place.join("state");
    call(&place, "run clutter --set bodies=3 --steps 20 --checkpoint @state");
    let sound = std::fs::read(&state).unwrap();
    let mut newer = sound.clone();
    newer[8] = 99;
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    let other = {
        let mut other = stiction_sim::Checkpoint::from_bytes(&sound).unwrap();
        for word in &mut other.recipe {
            *word = word.replace("bodies=3", "bodies=4");
        }
        other.to_bytes()
    };
    for (bytes, expected) in [
        (sound[..sound.len() - 9].to_vec(), "truncated"),
        (sound[..40].to_vec(), "truncated"),
        (flipped, "damaged"),
        (newer, "version 99"),
        (other, "another model"),
        (b"solid ball".to_vec(), "something else"),
        (Vec::new(), "something else"),
    ] {
        std::fs::write(&state, &bytes).unwrap();
        let (status, stdout, stderr) = call(&place, "run --resume @state --steps 40");
        assert_eq!((status, stdout.as_str()), (2, ""), "{expected}");
        assert!(stderr.contains(expected) && stderr.contains("state"), "{expected}: {stderr}");
        assert_eq!(std::fs::read(&state).unwrap(), bytes, "{expected}");
    }
    assert_eq!(call(&place, "run --resume @no-such-file").0, 2);
    std::fs::write(&state, &sound).unwrap();
    assert_eq!(call(&place, "run --resume @state --steps 40 --json").0, 0);
}

#[test]
fn a_model_file_that_changed_is_another_model() {
    let place = folder("changed");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenes/slope.toml");
    let text = std::fs::read_to_string(example).unwrap();
    let scene = place.join("slope.toml");
    std::fs::write(&scene, &text).unwrap();
    call(&place, "run @slope.toml --steps 20 --checkpoint @state");
    let (status, ..) = call(&place, "run --resume @state --steps 21 --json");
    assert!(status < 2);
    std::fs::write(&scene, text.replacen("friction = 0.", "friction = 0.1", 1)).unwrap();
    let (status, _, stderr) = call(&place, "run --resume @state --steps 40");
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("another model"), "{stderr}");
}

#[test]
fn a_recording_that_is_cut_or_changed_opens_as_far_as_it_is_sound_or_says_why_not() {
    let place = folder("bad-recording");
    call(&place, "run clutter --set bodies=3 --time 0.5 --record @a.stiction");
    let sound = std::fs::read(place.join("a.stiction")).unwrap();
    let view = |bytes: &[u8]| {
        std::fs::write(place.join("b.stiction"), bytes).unwrap();
        call(&place, "view @b.stiction --out @b.html")
    };
    let (status, _, output) = view(&sound[..sound.len() - 1]);
    assert_eq!(status, 0);
    assert!(output.contains("31 frames") && output.contains("left out"), "{output}");
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    let mut newer = sound.clone();
    newer[8] = 99;
    std::fs::write(place.join("b.html"), "before").unwrap();
    for (bytes, expected) in [
        (&flipped[..], "damaged"),
        (&newer, "version 99"),
        (&sound[..30], "cut off"),
        (b"<html>", "no Stiction recording"),
    ] {
        let (status, stdout, output) = view(bytes);
        assert_eq!((status, stdout.as_str()), (2, ""), "{expected}");
        assert!(output.contains(expected) && output.contains("b.stiction"), "{output}");
        assert_eq!(std::fs::read(place.join("b.html")).unwrap(), b"before");
    }
}

/// Runs with files limited to so many blocks of 512 bytes, as a full disk would. The signal that the
/// system sends at the limit has its default action when the command starts.
#[cfg(target_os = "linux")]
fn with_little_space(folder: &Path, blocks: usize, line: &str) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_stiction");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, program])
        .args(words(folder, line))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_told_at_once_and_nothing_is_lost() {
    let place = folder("full");
    let line = "run clutter --set bodies=6 --time 6 --every 0.25 --checkpoint @state";
    let expected = call_json(&place, &format!("{line} --json"));
    let _ = std::fs::remove_file(place.join("state"));
    let line = format!("{line} --record @run.stiction");
    let (status, stdout, output) = with_little_space(&place, 200, &line);
    assert_eq!(status, 2, "{output}");
    // The news on the way, and the error at the end.
    assert_eq!(output.matches("the run continues and will try again").count(), 1, "{output}");
    assert!(output.contains("run.stiction: cannot be written"), "{output}");
    assert!(stdout.contains(expected["state_hash"].as_str().unwrap()), "{stdout}");
    assert!(!place.join("run.stiction").exists());
    // All complete chunks are there, and the checkpoint of the end.
    let part = recording(&place.join("run.stiction.part"));
    assert!(part.len() > 10 && part.len() < 361, "{}", part.len());
    let (status, printed, output) = call(&place, "run --resume @state --json");
    assert_eq!(status, 0, "{output}");
    // Frames that could not be written are reported.
    assert!(output.contains("no frames from"), "{output}");
    let resumed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(resumed["state_hash"], expected["state_hash"]);
}
