//! Atomic replacement of files.
//!
//! Bytes are written to a temporary file in the same folder, synced and renamed, so that a full disk or
//! a crash destroys no existing file. A symbolic link stays, and its target is replaced. Devices and
//! pipes are written directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Largest number of symbolic links that are followed.
const LINKS: usize = 40;
/// File system of open files rather than stored ones.
const SHOWN: &str = "/proc/";

/// Writes bytes to a file, which appears complete or not at all.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically_with(path, |place| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(place)?;
        file.write_all(bytes)
    })
}

/// Lets `write` write a temporary file and renames it to `path` on success. A device or pipe is passed
/// to `write` directly.
pub fn write_atomically_with(
    path: &Path,
    write: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let Some(place) = file_of(path) else { return write(path) };
    let beside = beside(&place);
    let done = write(&beside)
        .and_then(|()| File::open(&beside)?.sync_all())
        .and_then(|()| fs::rename(&beside, &place));
    if done.is_err() {
        // Removes the rest of a failed attempt.
        let _ = fs::remove_file(&beside);
    } else if let Some(folder) = place.parent().filter(|_| cfg!(unix)) {
        // Syncs the folder, so that the rename survives a crash; some file systems do not support this.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    done
}

/// Checks, before a long run, that a file can be written; changes nothing that exists.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let Some(place) = file_of(path) else {
        if fs::metadata(path)?.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        return Ok(());
    };
    if place.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.exists()) {
        let told = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, told));
    }
    let beside = beside(&place);
    File::create(&beside).and_then(|_| fs::remove_file(&beside))
}

/// The existing or future regular file of a path, with links resolved; `None` for devices and pipes.
fn file_of(path: &Path) -> Option<PathBuf> {
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return None;
    }
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(target);
        if place.starts_with(SHOWN) {
            return None;
        }
    }
    Some(place)
}

/// A temporary name in the same folder, so that the rename stays in one file system.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stiction-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = folder("put");
        let path = folder.join("a");
        for text in ["first", "second"] {
            check_writable(&path).unwrap();
            write_atomically(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_unwritable_file_is_found_before_the_run() {
        let folder = folder("unwritable");
        let told = check_writable(&folder.join("no/such/a")).unwrap_err().to_string();
        assert!(told.contains("no folder") && told.contains("no/such"), "{told}");
        assert_eq!(check_writable(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_what_it_points_to_is_replaced() {
        let folder = folder("link");
        fs::create_dir(folder.join("far")).unwrap();
        fs::write(folder.join("far/a"), "before").unwrap();
        for (link, target) in [("to-file", "far/a"), ("to-nothing", "far/b"), ("twice", "to-file")]
        {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
            check_writable(&folder.join(link)).unwrap();
            write_atomically(&folder.join(link), link.as_bytes()).unwrap();
            assert_eq!(fs::read_link(folder.join(link)).unwrap(), Path::new(target));
            assert_eq!(fs::read_to_string(folder.join(link)).unwrap(), link);
        }
        assert_eq!(fs::read_to_string(folder.join("far/a")).unwrap(), "twice");
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_as_it_stands() {
        let folder = folder("device");
        let link = folder.join("full");
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        for path in [Path::new("/dev/full"), &link] {
            check_writable(path).unwrap();
            let told = write_atomically(path, b"too much").unwrap_err();
            assert_eq!(told.kind(), io::ErrorKind::StorageFull);
            assert!(!fs::metadata(path).unwrap().is_file());
        }
        write_atomically(Path::new("/dev/null"), b"gone").unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
