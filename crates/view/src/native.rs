//! Recordings of the house: every number to the bit, in chunks with checksums. All other sinks can be
//! made from them later.

use std::path::Path;

use stiction_sim::record::{Recording, container};

use crate::ViewError;
use crate::sink::put;

/// Writes a recording.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    put(path, &container::to_bytes(recording, 0))
}
