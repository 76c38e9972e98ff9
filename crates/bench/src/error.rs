//! Errors of benchmarks: where, what was found, what was expected.

use std::path::PathBuf;

use stiction_scene::SceneError;
use stiction_solve::ProblemError;
use stiction_solve::file::FileError;
use stiction_solve::solver::SolverError;
use stiction_study::StudyError;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A problem file that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A solver or setting that does not exist.
    #[error(transparent)]
    Setting(#[from] SolverError),
    /// A scene that cannot be built or run.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A scenario that cannot be built or run.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A problem that cannot be built.
    #[error("{target}: {source}")]
    Problem {
        /// The problem.
        target: String,
        /// The reason.
        source: ProblemError,
    },
    /// A folder that cannot be read or written.
    #[error("{}: {source}; expected a folder that can be {wanted}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The intended use.
        wanted: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Threads that cannot be started.
    #[error("--threads {count}: {reason}; expected fewer threads")]
    Threads {
        /// The requested number.
        count: u16,
        /// The reason of the thread pool.
        reason: String,
    },
    /// Nothing to measure.
    #[error("{place}: found no problem files; expected some (.npz, .h5, .hdf5)")]
    NoProblems {
        /// Where problems were searched.
        place: String,
    },
    /// The loops over elements could not be measured.
    #[error("elements: {what}; expected a body of finite size and the same bits for all threads")]
    Elements {
        /// What was found.
        what: String,
    },
    /// A measurement of soft bodies that went wrong.
    #[error("cond-scaling: {0}")]
    Scaling(Box<dyn std::error::Error + Send + Sync>),
    /// A measurement that has no JSON form.
    #[error(
        "{command} --json: found no JSON form of this measurement; expected a call without --json"
    )]
    NoJson {
        /// The subcommand.
        command: &'static str,
    },
    /// A file that is no recipe of a world.
    #[error("{}: {what}; expected a recipe written by `stiction-bench worlds`", path.display())]
    Recipe {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Random worlds that went wrong in steps whose status is ok.
    #[error("worlds: found {count} silent violations; expected none")]
    SilentViolations {
        /// Their number.
        count: usize,
    },
    /// Standard output that cannot be written.
    #[error("standard output: {0}")]
    Output(std::io::Error),
}
