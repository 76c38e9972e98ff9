//! Errors of exporters: which file, what was found, what was expected.

use stiction_sim::record::RecordError;

/// A recording that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No exporter writes files with this ending.
    #[error("{path}: found the ending \"{found}\"; expected one of: {known}")]
    Ending {
        /// The file.
        path: String,
        /// Its ending.
        found: String,
        /// The endings there are.
        known: String,
    },
    /// The file cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// An option for pictures that cannot be fulfilled.
    #[error("picture{}: found {found}; expected {expected}", of(key))]
    PictureOption {
        /// Key of the option; may be empty.
        key: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A required program is missing or fails.
    #[error("program {program}: {reason}")]
    Program {
        /// The program.
        program: String,
        /// What went wrong.
        reason: String,
    },
    /// The recording is inconsistent.
    #[error(transparent)]
    Recording(#[from] RecordError),
}

/// A key within a message.
fn of(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(", {key}") }
}
