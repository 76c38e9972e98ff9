//! Places that files are written to: a file appears whole or not at all.
//!
//! Bytes are written beside their place, synced and then moved there, so that a full disk or a crash
//! destroys nothing that was there before. A link stays, and what it points to is replaced; what is
//! no file, such as a device or a pipe, is written as it stands.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Links that are followed one after the other.
const LINKS: usize = 40;
/// Where the system shows what is open rather than what is stored.
const SHOWN: &str = "/proc/";

/// Puts bytes into a file.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_with(path, |place| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(place)?;
        file.write_all(bytes)
    })
}

/// Lets something write a file by its name, and puts it into its place once it is whole. A device is
/// given by its own name.
pub fn put_with(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let Some(place) = file_of(path) else { return write(path) };
    let beside = beside(&place);
    let done = write(&beside)
        .and_then(|()| File::open(&beside)?.sync_all())
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

/// Says whether a file could be written, and touches nothing that exists: a long run must not end
/// with that news.
pub fn check(path: &Path) -> io::Result<()> {
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

/// The file, perhaps yet to come, that a name stands for; `None` for what is no file.
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

/// A name in the same folder, so that moving is a matter of names.
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
            check(&path).unwrap();
            put(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = folder("unwritable");
        let told = check(&folder.join("no/such/a")).unwrap_err().to_string();
        assert!(told.contains("no folder") && told.contains("no/such"), "{told}");
        assert_eq!(check(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
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
            check(&folder.join(link)).unwrap();
            put(&folder.join(link), link.as_bytes()).unwrap();
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
            check(path).unwrap();
            let told = put(path, b"too much").unwrap_err();
            assert_eq!(told.kind(), io::ErrorKind::StorageFull);
            assert!(!fs::metadata(path).unwrap().is_file());
        }
        put(Path::new("/dev/null"), b"gone").unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
