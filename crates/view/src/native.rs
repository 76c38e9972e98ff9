//! Recordings of the house: every number to the bit, in chunks with checksums. All other sinks can be
//! made from them later.

use std::path::Path;

use stiction_sim::record::{RecordError, Recording, container};

use crate::ViewError;
use crate::sink::put;

/// Writes a recording.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    put(path, &container::to_bytes(recording, 0))
}

/// What there is of a recording in the bytes of a file, and what to know about it if that is not
/// all.
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
