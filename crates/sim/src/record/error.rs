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
    /// An index points to nothing.
    #[error("recording, column {column}: found index {found}; expected one below {count}")]
    Index {
        /// The column.
        column: &'static str,
        /// The index found.
        found: usize,
        /// How many there are.
        count: usize,
    },
}
