//! Files that are read whole or not at all, and the names of those that are written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Says whether a file could be written, before there is anything to lose.
pub fn check(path: &Path) -> Result<(), CommandError> {
    stiction_view::output_file::check_writable(path)
        .map_err(|source| CommandError::Write { path: path.to_owned(), source })
}

/// All bytes of a file; nothing else is read, since devices may have no end.
pub fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let refused = |source| CommandError::Read { path: path.to_owned(), source };
    let about = fs::metadata(path).map_err(refused)?;
    if !about.is_file() {
        let found = if about.is_dir() { "a folder" } else { "something else than a file" };
        return Err(CommandError::Found {
            path: path.to_owned(),
            found: found.to_owned(),
            expected: "a file".to_owned(),
        });
    }
    fs::read(path).map_err(refused)
}

/// The name of a file with a word appended.
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
