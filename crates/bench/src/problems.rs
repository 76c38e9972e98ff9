//! Collections of problems: all files of folders, or the catalogue.

use std::path::{Path, PathBuf};

use stiction_solve::Problem;
use stiction_solve::catalogue::{CATALOGUE, Variation};
use stiction_solve::file::{self, FileError, LoadOptions, RawProblem};

use crate::error::BenchError;

/// A problem of a collection.
pub struct NamedProblem {
    /// Its name.
    pub name: String,
    /// The problem.
    pub problem: Problem,
    /// Whether an asymmetric matrix of the file was replaced by its symmetric part.
    pub symmetrised: bool,
}

/// Problems, and files that were left out with the reason.
#[derive(Default)]
pub struct Collection {
    /// The problems.
    pub problems: Vec<NamedProblem>,
    /// Files left out: name and reason.
    pub left_out: Vec<(String, String)>,
}

/// Suffix of a file that holds the symmetric part of the file without it.
const SYMMETRIC_TWIN: &str = "__sym";

/// A folder of the data that STICTION_SHARED points to.
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(&std::env::var_os("STICTION_SHARED")?).join("problems").join(name);
    folder.is_dir().then_some(folder)
}

/// The files in folders; without any, those of the shared data; without those, the catalogue.
pub fn collect(folders: &[PathBuf]) -> Result<Collection, BenchError> {
    let mut folders = folders.to_vec();
    if folders.is_empty() {
        folders.extend(["fclib", "golden"].iter().filter_map(|name| shared_folder(name)));
    }
    if folders.is_empty() {
        return catalogue(CATALOGUE.iter().map(|entry| entry.name));
    }
    let mut collection = Collection::default();
    for folder in &folders {
        for path in files(folder)? {
            match load(&path) {
                Ok(given) => collection.problems.push(given),
                Err(error) => collection.left_out.push((name_of(&path), error.to_string())),
            }
        }
    }
    if collection.problems.is_empty() {
        let names: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        return Err(BenchError::NoProblems { place: names.join(", ") });
    }
    Ok(collection)
}

/// Problems of the catalogue, each as it is by default.
pub fn catalogue<'a>(names: impl Iterator<Item = &'a str>) -> Result<Collection, BenchError> {
    let mut collection = Collection::default();
    for entry in names.filter_map(stiction_solve::catalogue::find) {
        let problem = (entry.build)(&Variation::default())
            .map_err(|source| BenchError::Problem { target: entry.name.to_owned(), source })?;
        let name = entry.name.to_owned();
        collection.problems.push(NamedProblem { name, problem, symmetrised: false });
    }
    Ok(collection)
}

/// Arrays of the problem files in a folder.
pub fn raw_files(folder: &Path) -> Result<Vec<RawProblem>, BenchError> {
    files(folder)?.iter().map(|path| Ok(read(path)?.0)).collect()
}

/// Problem files of a folder in alphabetical order. Where a folder has a file and its
/// symmetric part, only the first is listed: loading symmetrises it, so both are one problem.
fn files(folder: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let failed = |source| BenchError::Folder { path: folder.to_path_buf(), wanted: "read", source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let known = ["npz", "h5", "hdf5"];
        if path.extension().is_some_and(|e| known.iter().any(|k| e.eq_ignore_ascii_case(k))) {
            paths.push(path);
        }
    }
    paths.sort();
    let names: Vec<String> = paths.iter().map(|path| name_of(path)).collect();
    let twin = |path: &PathBuf| {
        name_of(path).strip_suffix(SYMMETRIC_TWIN).is_some_and(|n| names.iter().any(|m| m == n))
    };
    paths.retain(|path| !twin(path));
    Ok(paths)
}

fn load(path: &Path) -> Result<NamedProblem, BenchError> {
    let (raw, symmetrised) = read(path)?;
    let built = Problem::from_raw(&raw)
        .map_err(|source| BenchError::Problem { target: path.display().to_string(), source })?;
    Ok(NamedProblem { name: name_of(path), problem: built.problem, symmetrised })
}

/// Reads a file; replaces an asymmetric matrix by its symmetric part.
fn read(path: &Path) -> Result<(RawProblem, bool), FileError> {
    match file::load(path, LoadOptions { symmetrise: false }) {
        Err(FileError::Asymmetric { .. }) => {
            Ok((file::load(path, LoadOptions { symmetrise: true })?, true))
        }
        other => Ok((other?, false)),
    }
}

fn name_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
