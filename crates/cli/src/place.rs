//! Files that appear whole or not at all, and files that are read whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// Puts bytes into a file: writes beside it, syncs, renames. What is no file, such as a device, is
/// written as it stands.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&place).is_ok_and(|about| !about.is_file()) {
        return OpenOptions::new().write(true).open(&place)?.write_all(bytes);
    }
    let beside = beside(&place);
    let done = File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, &place));
    if done.is_err() {
        // What is left of a failed attempt is of no use to anyone.
        let _ = fs::remove_file(&beside);
    } else if let Some(folder) = place.parent().filter(|_| cfg!(unix)) {
        // The name, too, must outlive the machine. Some file systems cannot promise that.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    done
}

/// A name in the same folder, so that moving is a matter of names.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
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
