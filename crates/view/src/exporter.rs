//! The registry of exporters, each of which writes a recording to one file format. The file's ending
//! selects the exporter.
//!
//! Files are replaced atomically, see [`output_file`].

use std::path::Path;

use stiction_sim::record::Recording;

use crate::{PictureOptions, ViewError, output_file};

/// Default frames per second of simulated time.
pub const FRAMES_PER_SECOND: f64 = 60.0;

/// One line of [`EXPORTERS`].
pub struct Exporter {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub endings: &'static [&'static str],
    /// Description in one line.
    pub about: &'static str,
    /// Which part of a recording the file contains.
    pub content: ExportContent,
    /// Checks that everything needed for writing is available, such as another program.
    pub ready: fn() -> Result<(), ViewError>,
    /// Writes a recording to a file; the options apply to pictures and videos.
    pub write: fn(&Recording, &Path, &PictureOptions) -> Result<(), ViewError>,
}

/// Which part of a recording a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportContent {
    /// All numbers, or a scene for any camera.
    Everything,
    /// A picture of one time.
    Picture,
    /// Pictures of the whole run.
    Video,
}

/// All exporters, in alphabetical order.
/// To add one: write a file with its `write`, then add one line here.
pub static EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "gif",
        endings: &["gif"],
        about: "a small video that plays in every browser, document and chat",
        content: ExportContent::Video,
        ready: || Ok(()),
        write: crate::gif::write,
    },
    Exporter {
        name: "glb",
        endings: &["glb"],
        about: "glTF 2.0 with one animation, for Blender and every viewer of that format",
        content: ExportContent::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::glb::write(recording, path),
    },
    Exporter {
        name: "html",
        endings: &["html", "htm"],
        about: "a page that shows the run in any browser, offline, in one file",
        content: ExportContent::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::html::write(recording, path),
    },
    Exporter {
        name: "mp4",
        endings: &["mp4"],
        about: "a video; needs the program ffmpeg",
        content: ExportContent::Video,
        ready: crate::mp4::ready,
        write: crate::mp4::write,
    },
    Exporter {
        name: "npz",
        endings: &["npz"],
        about: "every column as an array, for NumPy",
        content: ExportContent::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::npz::write(recording, path),
    },
    Exporter {
        name: "parquet",
        endings: &["parquet"],
        about: "every column in a table with a row per frame, for data frames and databases",
        content: ExportContent::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::parquet::write(recording, path),
    },
    Exporter {
        name: "png",
        endings: &["png"],
        about: "a picture of the last frame",
        content: ExportContent::Picture,
        ready: || Ok(()),
        write: crate::png::write,
    },
    Exporter {
        name: "stiction",
        endings: &["stiction"],
        about: "all numbers, bit for bit; every other format can be made from it later",
        content: ExportContent::Everything,
        ready: || Ok(()),
        write: |recording, path, _| crate::native::write(recording, path),
    },
];

/// The exporter for a file's ending. Also checks, before a long run, that the file can be written;
/// existing files stay as they are.
pub fn exporter_for(path: &Path) -> Result<&'static Exporter, ViewError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let exporter = EXPORTERS.iter().find(|exporter| exporter.endings.contains(&ending.as_str()));
    let exporter = exporter.ok_or_else(|| {
        let all: Vec<_> =
            EXPORTERS.iter().flat_map(|s| s.endings).map(|e| format!(".{e}")).collect();
        let path = path.display().to_string();
        ViewError::Ending { path, found: ending.clone(), known: all.join(", ") }
    })?;
    (exporter.ready)()?;
    output_file::check_writable(path).map_err(|source| unwritten(path, source))?;
    Ok(exporter)
}

/// Writes a recording with the exporter for the file's ending.
pub fn write(
    recording: &Recording,
    path: &Path,
    options: &PictureOptions,
) -> Result<(), ViewError> {
    (exporter_for(path)?.write)(recording, path, options)
}

/// Writes a file atomically.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    output_file::write_atomically(path, bytes).map_err(|source| unwritten(path, source))
}

/// The error for a file that could not be written.
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
    fn exporters_are_sorted_and_share_no_ending() {
        assert!(EXPORTERS.is_sorted_by(|a, b| a.name < b.name));
        let mut endings: Vec<_> = EXPORTERS.iter().flat_map(|s| s.endings).collect();
        endings.sort();
        assert!(endings.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(EXPORTERS.iter().all(|exporter| !exporter.about.is_empty()));
    }

    #[test]
    fn an_unknown_ending_and_an_unwritable_place_are_refused_before_the_run() {
        let message = exporter_for(Path::new("run.docx")).err().unwrap().to_string();
        assert!(message.contains("run.docx") && message.contains(".html"), "{message}");
        let nowhere = folder("exporter").join("no/such/folder/run.html");
        let message = exporter_for(&nowhere).err().unwrap().to_string();
        assert!(message.contains("cannot be written"), "{message}");
    }

    #[test]
    fn finding_an_exporter_leaves_the_file_alone() {
        let path = folder("kept").join("run.html");
        put(&path, b"before").unwrap();
        assert_eq!(exporter_for(&path).unwrap().name, "html");
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
