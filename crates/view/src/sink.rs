//! Sinks: what writes a recording into a file. The ending of the file's name chooses.
//!
//! A file appears whole or not at all: it is written beside its place, synced and then moved there,
//! so that a full disk or a crash destroys nothing that was there before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stiction_sim::record::Recording;

use crate::ViewError;

/// One line of [`SINKS`].
pub struct Sink {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub endings: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// Writes a recording to a file.
    pub write: fn(&Recording, &Path) -> Result<(), ViewError>,
}

/// Every sink of the house, in alphabetical order.
/// To add one: write a file with its `write`, then add one line here.
pub static SINKS: &[Sink] = &[
    Sink {
        name: "html",
        endings: &["html", "htm"],
        about: "a page that shows the run in any browser, offline, in one file",
        write: crate::html::write,
    },
    Sink {
        name: "stiction",
        endings: &["stiction"],
        about: "all numbers to the bit, from which the others can be made later",
        write: crate::native::write,
    },
];

/// The sink that a file's name asks for, once it is known that the file can be written: a long run
/// must not end with that news. Nothing that exists is touched.
pub fn sink_of(path: &Path) -> Result<&'static Sink, ViewError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let sink = SINKS.iter().find(|sink| sink.endings.contains(&ending.as_str()));
    let sink = sink.ok_or_else(|| {
        let all: Vec<_> = SINKS.iter().flat_map(|s| s.endings).map(|e| format!(".{e}")).collect();
        let path = path.display().to_string();
        ViewError::Ending { path, found: ending.clone(), known: all.join(", ") }
    })?;
    let beside = beside(path);
    File::create(&beside)
        .and_then(|_| fs::remove_file(&beside))
        .and_then(|()| if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) })
        .map_err(|source| ViewError::Write { path: path.display().to_string(), source })?;
    Ok(sink)
}

/// Writes a recording; the ending of the name chooses the sink.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    (sink_of(path)?.write)(recording, path)
}

/// Puts bytes into a file, whole or not at all.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    let beside = beside(path);
    let done = File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    done.map_err(|source| {
        // What is left of a failed attempt is of no use to anyone; that it cannot be removed
        // either changes nothing about the error.
        let _ = fs::remove_file(&beside);
        ViewError::Write { path: path.display().to_string(), source }
    })
}

/// A name in the same folder, so that moving is a matter of names.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stiction-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn sinks_stand_in_order_and_share_no_ending() {
        assert!(SINKS.is_sorted_by(|a, b| a.name < b.name));
        let mut endings: Vec<_> = SINKS.iter().flat_map(|s| s.endings).collect();
        endings.sort();
        assert!(endings.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(SINKS.iter().all(|sink| !sink.about.is_empty()));
    }

    #[test]
    fn an_unknown_ending_and_an_unwritable_place_are_refused_before_the_run() {
        let message = sink_of(Path::new("run.docx")).err().unwrap().to_string();
        assert!(message.contains("run.docx") && message.contains(".html"), "{message}");
        let nowhere = folder("sink").join("no/such/folder/run.html");
        let message = sink_of(&nowhere).err().unwrap().to_string();
        assert!(message.contains("cannot be written"), "{message}");
    }

    #[test]
    fn looking_for_a_sink_leaves_the_file_alone() {
        let path = folder("kept").join("run.html");
        put(&path, b"before").unwrap();
        assert_eq!(sink_of(&path).unwrap().name, "html");
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
