//! Reading input files, and checking and naming output files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Checks that a file can be written, before any work is done.
pub fn check_writable(path: &Path) -> Result<(), CommandError> {
    stiction_view::output_file::check_writable(path)
        .map_err(|source| CommandError::Write { path: path.to_owned(), source })
}

/// Reads all bytes of a regular file. Devices are refused, since reading them may never end.
pub fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let read_error = |source| CommandError::Read { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(read_error)?;
    if !metadata.is_file() {
        let found = if metadata.is_dir() { "a folder" } else { "a device or another special file" };
        return Err(CommandError::UnexpectedFile {
            path: path.to_owned(),
            found: found.to_owned(),
            expected: "a file".to_owned(),
        });
    }
    fs::read(path).map_err(read_error)
}

/// The path with a suffix appended to its file name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
