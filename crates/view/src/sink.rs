//! Sinks: what writes a recording into a file. The ending of the file's name chooses.
//!
//! A file appears whole or not at all, see [`place`].

use std::path::Path;

use stiction_sim::record::Recording;

use crate::{Shot, ViewError, place};

/// One line of [`SINKS`].
pub struct Sink {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub endings: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// What such a file holds.
    pub holds: Holds,
    /// Says whether all that writing needs is there, such as another program.
    pub ready: fn() -> Result<(), ViewError>,
    /// Writes a recording to a file; what is asked of pictures is for those that hold some.
    pub write: fn(&Recording, &Path, &Shot) -> Result<(), ViewError>,
}

/// What a file holds of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Its numbers, or all that is seen from everywhere.
    Everything,
    /// A picture of one moment.
    Picture,
    /// Pictures of all of it.
    Film,
}

/// Every sink of the house, in alphabetical order.
/// To add one: write a file with its `write`, then add one line here.
pub static SINKS: &[Sink] = &[
    Sink {
        name: "gif",
        endings: &["gif"],
        about: "a small film that plays in every browser, document and chat",
        holds: Holds::Film,
        ready: || Ok(()),
        write: crate::gif::write,
    },
    Sink {
        name: "glb",
        endings: &["glb"],
        about: "glTF 2.0 with one animation, for Blender and every viewer of that format",
        holds: Holds::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::glb::write(recording, path),
    },
    Sink {
        name: "html",
        endings: &["html", "htm"],
        about: "a page that shows the run in any browser, offline, in one file",
        holds: Holds::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::html::write(recording, path),
    },
    Sink {
        name: "mp4",
        endings: &["mp4"],
        about: "a film; needs the program ffmpeg",
        holds: Holds::Film,
        ready: crate::mp4::ready,
        write: crate::mp4::write,
    },
    Sink {
        name: "npz",
        endings: &["npz"],
        about: "every column as an array, for NumPy",
        holds: Holds::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::npz::write(recording, path),
    },
    Sink {
        name: "parquet",
        endings: &["parquet"],
        about: "every column in a table with a row per frame, for data frames and databases",
        holds: Holds::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::parquet::write(recording, path),
    },
    Sink {
        name: "png",
        endings: &["png"],
        about: "a picture of the last frame",
        holds: Holds::Picture,
        ready: || Ok(()),
        write: crate::png::write,
    },
    Sink {
        name: "stiction",
        endings: &["stiction"],
        about: "all numbers to the bit, from which the others can be made later",
        holds: Holds::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::native::write(recording, path),
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
    (sink.ready)()?;
    place::check(path).map_err(|source| unwritten(path, source))?;
    Ok(sink)
}

/// Writes a recording; the ending of the name chooses the sink.
pub fn write(recording: &Recording, path: &Path, shot: &Shot) -> Result<(), ViewError> {
    (sink_of(path)?.write)(recording, path, shot)
}

/// Puts bytes into a file, whole or not at all.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    place::put(path, bytes).map_err(|source| unwritten(path, source))
}

/// Why a file was not written.
pub(crate) fn unwritten(path: &Path, source: std::io::Error) -> ViewError {
    ViewError::Write { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

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
