//! Errors of experiments.

use stiction_scene::SceneError;
use stiction_solve::ProblemError;
use stiction_solve::solver::SolverError;
use stiction_study::StudyError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
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
    /// An experiment that does not exist.
    #[error("{found}: found no experiment of that name; expected one of {known}")]
    UnknownExperiment {
        /// The requested name.
        found: String,
        /// The existing experiments.
        known: String,
    },
}
