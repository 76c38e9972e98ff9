//! The arguments of `stiction run` as a list of words that a checkpoint stores, and back.
//!
//! The first word is the working directory of the run; relative paths refer to it. A checkpoint may
//! come from an untrusted source: outputs that it names are written only inside its own folder.

use std::path::{Path, PathBuf};

use clap::Parser;
use stiction_study::SCENARIOS;

use crate::args::{Command, Options, RunArgs};
use crate::error::CommandError;
use crate::files;

/// The words of a call that runs for `steps` steps. Paths must be UTF-8.
pub fn to_words(args: &RunArgs, steps: usize) -> Result<Vec<String>, CommandError> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| CommandError::UnexpectedFile {
            path: path.to_owned(),
            found: "a name that is not UTF-8".to_owned(),
            expected: "a UTF-8 name, which a checkpoint can store".to_owned(),
        })
    };
    let folder = std::env::current_dir().unwrap_or_default();
    let mut words = vec![text(&folder)?];
    let mut option = |name: &str, value: &str| words.push(format!("--{name}={value}"));
    let (scene, import) = (&args.scene, &args.scene.import);
    if let Some(solver) = &scene.solver {
        option("solver", solver);
    }
    if let Some(keyframe) = &scene.keyframe {
        option("keyframe", keyframe);
    }
    // Numbers are printed such that they are read back with the same bits.
    let numbers = [("time-step", scene.time_step), ("fps", args.fps), ("every", args.every)];
    for (name, number) in numbers {
        if let Some(number) = number {
            option(name, &number.to_string());
        }
    }
    if let Some(shot) = &args.picture {
        option("picture", &shot.to_string());
    }
    scene.set.iter().for_each(|(key, value)| option("set", &format!("{key}={value}")));
    option("steps", &steps.to_string());
    let paths = [
        ("package-path", &import.package_path[..]),
        ("record", &args.record[..]),
        ("checkpoint", args.checkpoint.as_slice()),
        ("chart", args.chart.as_slice()),
    ];
    for (name, paths) in paths {
        for path in paths {
            option(name, &text(path)?);
        }
    }
    for (name, given) in [
        ("floating-base", import.floating_base),
        ("merge-fixed", import.merge_fixed),
        ("rigid-contact", import.rigid_contact),
        ("soft-defaults", import.soft_defaults),
        ("no-record", args.no_record),
    ] {
        if given {
            words.push(format!("--{name}"));
        }
    }
    words.extend(["--".to_owned(), scene.target.clone()]);
    Ok(words)
}

/// The arguments of a resumed run: the stored ones, overridden by those of `call`. Checkpoints go to
/// the file that the run was resumed from.
pub fn from_words(words: &[String], call: &RunArgs, from: &Path) -> Result<RunArgs, CommandError> {
    let invalid = |found: String| CommandError::UnexpectedFile {
        path: from.to_owned(),
        found,
        expected: "the arguments of `stiction run`".to_owned(),
    };
    let (folder, words) = words.split_first().ok_or_else(|| invalid("nothing".to_owned()))?;
    let line = ["stiction", "run"].into_iter().chain(words.iter().map(String::as_str));
    let options = Options::try_parse_from(line)
        .map_err(|error| invalid(error.to_string().lines().next().unwrap_or_default().into()))?;
    let Command::Run(mut args) = options.command else {
        return Err(invalid("another command".to_owned()));
    };
    let folder = Path::new(folder);
    if std::env::current_dir().is_ok_and(|here| here != folder) {
        let move_to = |path: &mut PathBuf| *path = folder.join(&*path);
        args.record.iter_mut().chain(&mut args.scene.import.package_path).for_each(move_to);
        args.chart.iter_mut().for_each(move_to);
        if SCENARIOS.iter().all(|entry| entry.name != args.scene.target) {
            args.scene.target = folder.join(&args.scene.target).display().to_string();
        }
    }
    args.checkpoint = call.checkpoint.clone().or_else(|| Some(from.to_owned()));
    args.every = call.every.or(args.every);
    args.fps = call.fps.or(args.fps);
    args.chart = call.chart.clone().or(args.chart);
    args.scene.threads = call.scene.threads;
    args.json = call.json;
    args.picture = call.picture.or(args.picture);
    if call.no_record || !call.record.is_empty() {
        args.record.clone_from(&call.record);
        args.no_record = call.no_record;
    }
    let own_folder = from.parent().unwrap_or(Path::new(""));
    let stored_records = args.record.iter().filter(|_| call.record.is_empty() && !call.no_record);
    let stored_chart = args.chart.iter().filter(|_| call.chart.is_none());
    stored_records
        .chain(stored_chart)
        .try_for_each(|path| files::check_inside(own_folder, path))?;
    if call.steps.is_some() || call.time.is_some() {
        (args.steps, args.time) = (call.steps, call.time);
    }
    Ok(*args)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn parsed(line: &str) -> RunArgs {
        let options = Options::try_parse_from(line.split_whitespace()).unwrap();
        let Command::Run(args) = options.command else { panic!("{line}") };
        *args
    }

    #[test]
    fn a_call_comes_back_from_its_words_with_the_same_bits() {
        let line = "stiction run --solver alm --time-step 0.1234567890123456789e-2 --set bodies=-3 \
                    --set walls=0 --record a.html --record -b.glb --fps 24 --checkpoint c --every 0.3 \
                    --chart d.svg --picture view=top,zoom=2 --keyframe -1 --package-path e --merge-fixed --threads 2 x.xml"
            .replace("--record -b.glb", "--record=-b.glb")
            .replace("--keyframe -1", "--keyframe=-1");
        let args = parsed(&line);
        let words = to_words(&args, 77).unwrap();
        let again = from_words(&words, &parsed("stiction run --resume k"), Path::new("k")).unwrap();
        let expected = RunArgs { steps: Some(77), checkpoint: Some("k".into()), ..parsed(&line) };
        let mut expected = expected;
        expected.scene.threads = None;
        assert_eq!(format!("{again:?}"), format!("{expected:?}"));
        assert_eq!(
            again.scene.time_step.unwrap().to_bits(),
            args.scene.time_step.unwrap().to_bits()
        );
    }

    #[test]
    fn the_call_that_resumes_may_ask_for_more_steps_and_other_recordings() {
        let words = to_words(&parsed("stiction run clutter --record a.html"), 10).unwrap();
        let call = parsed("stiction run --resume k --steps 20 --record b.html --json");
        let args = from_words(&words, &call, Path::new("k")).unwrap();
        assert_eq!((args.steps, args.json), (Some(20), true));
        assert_eq!(args.record, [PathBuf::from("b.html")]);
    }

    #[test]
    fn a_resumed_run_takes_its_target_from_the_checkpoint() {
        let refused = |line: &str| Options::try_parse_from(line.split_whitespace()).is_err();
        assert!(refused("stiction run"));
        assert!(refused("stiction run clutter --resume k"));
        assert!(refused("stiction run --resume k --set bodies=3"));
        assert!(refused("stiction run clutter --every 1"));
    }
}
