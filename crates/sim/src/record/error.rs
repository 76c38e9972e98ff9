//! Errors of recordings: what was found, what was expected.

/// A recording that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Frames cannot be kept at such a rate.
    #[error("{found} frames per second; expected a number > 0 (infinity keeps every step)")]
    Rate {
        /// The rate found [1/s].
        found: f64,
    },
    /// The columns of a recording do not fit together.
    #[error("recording, column {column}: found {found} values; expected {expected}")]
    Length {
        /// The column.
        column: &'static str,
        /// Values found.
        found: usize,
        /// Values expected.
        expected: usize,
    },
    /// An index is out of range.
    #[error("recording, column {column}: found index {found}; expected one below {count}")]
    Index {
        /// The column.
        column: &'static str,
        /// The index found.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// The bytes do not begin with the signature of a recording.
    #[error("the bytes are not a recording; expected a file that a Stiction recorder wrote")]
    Foreign,
    /// The recording has another layout.
    #[error("found a recording of version {found}; expected version {expected}")]
    Version {
        /// Its version.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// The recording is truncated before its first frame.
    #[error("found {bytes} bytes, cut off before the first frame; expected a recording")]
    NoFrames {
        /// How many bytes there are.
        bytes: usize,
    },
    /// Bytes were changed.
    #[error(
        "found {bytes} bytes, damaged in the chunk at byte {place}, although others follow it; \
         expected chunks with the right checksums"
    )]
    Damaged {
        /// Where the chunk begins.
        place: usize,
        /// How many bytes there are.
        bytes: usize,
    },
    /// A recording cannot be continued by another scene.
    #[error("found a recording of {found} moving bodies; expected {expected}, as in this scene")]
    OtherScene {
        /// Moving bodies of the recording.
        found: usize,
        /// Moving bodies of the scene.
        expected: usize,
    },
}
