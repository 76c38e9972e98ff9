//! Stiction's own recording format: every number bit for bit, in chunks with checksums. Every other
//! format can be made from it later.

use std::path::Path;

use stiction_sim::record::{RecordError, Recording, container};

use crate::ViewError;
use crate::exporter::put;

/// Writes a recording.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    put(path, &container::to_bytes(recording, 0))
}

/// Reads a recording from the bytes of a file; also returns a note if it is incomplete.
pub fn open(bytes: &[u8]) -> Result<(Recording, Option<String>), RecordError> {
    let opened = container::read(bytes)?;
    let (found, left) = (&opened.recording, bytes.len() - opened.sound);
    let end = found.frames.time.last().copied().unwrap_or_default();
    let note = (!opened.whole).then(|| {
        let frames = found.len();
        format!(
            "not at its end: {frames} frames up to {end:.3} s, {left} bytes after them left out"
        )
    });
    Ok((opened.recording, note))
}
