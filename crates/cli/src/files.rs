//! Reading input files, and checking and naming output files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Largest file that is read [bytes].
const LARGEST: u64 = 1 << 35;
/// Suffix of the partial recording of an unfinished run.
pub const PART_SUFFIX: &str = ".part";

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
    if metadata.len() > LARGEST {
        return Err(CommandError::UnexpectedFile {
            path: path.to_owned(),
            found: format!("{} bytes", metadata.len()),
            expected: format!("at most {LARGEST}"),
        });
    }
    fs::read(path).map_err(read_error)
}

/// Checks that an output which the user did not name stays inside a folder: its own folder is
/// that one or one below it, links resolved, and neither it nor its partial file is a link.
pub fn check_inside(folder: &Path, path: &Path) -> Result<(), CommandError> {
    let outside = |found: String| CommandError::UnexpectedFile {
        path: path.to_owned(),
        found,
        expected: format!("a file below {}, or one named on the command line", folder.display()),
    };
    let resolved = |folder: &Path| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        fs::canonicalize(folder).map_err(|error| {
            outside(format!("the folder {}, which cannot be opened: {error}", folder.display()))
        })
    };
    let within = resolved(path.parent().unwrap_or(Path::new("")))?;
    if !within.starts_with(resolved(folder)?) {
        return Err(outside(format!("an output in the folder {}", within.display())));
    }
    for file in [path.to_owned(), with_suffix(path, PART_SUFFIX)] {
        if fs::symlink_metadata(&file).is_ok_and(|about| about.file_type().is_symlink()) {
            return Err(outside(format!("the symbolic link {}", file.display())));
        }
    }
    Ok(())
}

/// The path with a suffix appended to its file name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
