//! Test targets whose trials read data sets that are not part of the project.
//!
//! The environment variable [`VARIABLE`] names the folder with the data sets. A trial whose data are
//! missing is reported as ignored, with the reason, never as passed; with `CI=true` it fails.
//! A target uses these functions with `harness = false`:
//!
//! ```no_run
//! use std::path::Path;
//! use stiction_testkit::{data, trials};
//!
//! fn every_file_loads(folder: &Path) {
//!     assert!(folder.is_dir());
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     data::run(vec![data::group("files", "problems/fclib", trials![every_file_loads])])
//! }
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// Environment variable that names the folder with the data sets.
pub const VARIABLE: &str = "STICTION_SHARED";

/// A test function and its name. The function receives the folder of its data set.
pub type NamedTest = (&'static str, fn(&Path));

/// Lists test functions together with their names, as [`NamedTest`]s.
#[macro_export]
macro_rules! trials {
    ($($test:ident),* $(,)?) => {
        &[$((stringify!($test), $test as fn(&::std::path::Path))),*]
    };
}

/// Tests that read one data set.
pub struct DataGroup {
    module: &'static str,
    folder: &'static str,
    tests: &'static [NamedTest],
}

/// Tests of `module` that read the data set at `folder`, a path relative to the folder that
/// [`VARIABLE`] names.
pub fn group(module: &'static str, folder: &'static str, tests: &'static [NamedTest]) -> DataGroup {
    DataGroup { module, folder, tests }
}

/// The folder of a data set, or the reason why it cannot be read. `root` is the value of
/// [`VARIABLE`].
fn locate(root: Option<&Path>, folder: &str) -> Result<PathBuf, String> {
    let Some(root) = root else {
        return Err(format!(
            "{VARIABLE} is not set: needs {folder}; see CONTRIBUTING.md, Data sets"
        ));
    };
    let path = root.join(folder);
    if path.exists() {
        return Ok(path);
    }
    Err(format!(
        "{VARIABLE} names a folder without {folder}; expected it there, see CONTRIBUTING.md, Data sets"
    ))
}

/// The trials of a group. They are marked as ignored if `located` is an error, unless `required`.
fn trials_of(group: &DataGroup, located: &Result<PathBuf, String>, required: bool) -> Vec<Trial> {
    let trial = |&(name, test): &NamedTest| {
        let located = located.clone();
        let ignored = located.is_err() && !required;
        let body = move || located.map(|folder| test(&folder)).map_err(Failed::from);
        Trial::test(format!("{}::{name}", group.module), body)
            .with_kind(format!("needs {}", group.folder))
            .with_ignored_flag(ignored)
    };
    group.tests.iter().map(trial).collect()
}

/// Runs the groups as a test target: reads the arguments of the command line, prints why trials are
/// ignored, and returns the exit code for `main`.
pub fn run(groups: Vec<DataGroup>) -> ExitCode {
    let arguments = Arguments::from_args();
    let root = std::env::var_os(VARIABLE).map(PathBuf::from);
    let required = std::env::var_os("CI").is_some_and(|value| value == "true");
    let (mut trials, mut reasons) = (Vec::new(), BTreeSet::new());
    for group in groups {
        let located = locate(root.as_deref(), group.folder);
        trials.extend(trials_of(&group, &located, required));
        reasons.extend(located.err());
    }
    if !arguments.list {
        reasons.iter().for_each(|reason| eprintln!("{reason}"));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Paths in `folder` whose names end in `.<extension>`, sorted. Panics if there are none, so that no
/// test passes on an empty data set.
#[allow(clippy::panic)] // called by tests only
pub fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}: no file *.{extension}", folder.display());
    files
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn reads(folder: &Path) {
        assert!(folder.is_dir());
    }

    fn trial(located: &Result<PathBuf, String>, required: bool) -> Trial {
        trials_of(&group("module", "problems/fclib", trials![reads]), located, required).remove(0)
    }

    #[test]
    fn a_trial_without_its_data_is_ignored_and_the_reason_names_the_folder() {
        let unset = locate(None, "problems/fclib");
        let elsewhere = locate(Some(Path::new(env!("CARGO_MANIFEST_DIR"))), "problems/fclib");
        for (located, part) in [(unset, "is not set: needs problems/fclib"), (elsewhere, "without")]
        {
            assert!(trial(&located, false).has_ignored_flag());
            assert!(!trial(&located, true).has_ignored_flag(), "required: runs, and fails");
            let reason = located.unwrap_err();
            assert!(reason.contains(part) && reason.contains("problems/fclib"), "{reason}");
        }
    }

    #[test]
    fn a_trial_with_its_data_runs_under_its_own_name() {
        let located = locate(Some(Path::new(env!("CARGO_MANIFEST_DIR"))), "src");
        let trial = trial(&located, false);
        assert!(!trial.has_ignored_flag());
        assert_eq!((trial.name(), trial.kind()), ("module::reads", "needs problems/fclib"));
        let arguments = Arguments { quiet: true, ..Arguments::default() };
        assert_eq!(libtest_mimic::run(&arguments, vec![trial]).num_passed, 1);
    }
}
