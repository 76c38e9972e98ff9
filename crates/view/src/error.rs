//! Errors of sinks: which file, what was found, what was expected.

use stiction_sim::record::RecordError;

/// A recording that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No sink writes files of this ending.
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
        /// What the system says.
        source: std::io::Error,
    },
    /// A picture that cannot be as it is asked for.
    #[error("picture{}: found {found}; expected {expected}", of(key))]
    Shot {
        /// What is asked for; may be empty.
        key: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A program that is needed is not there or fails.
    #[error("program {program}: {reason}")]
    Program {
        /// The program.
        program: String,
        /// What went wrong.
        reason: String,
    },
    /// The recording does not fit together.
    #[error(transparent)]
    Recording(#[from] RecordError),
}

/// A key within a message.
fn of(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(", {key}") }
}
