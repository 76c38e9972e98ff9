//! Errors of the command: where, what was found, what was expected.

use std::path::PathBuf;

use stiction_scene::SceneError;
use stiction_sim::CheckpointError;
use stiction_sim::record::RecordError;
use stiction_solve::ProblemError;
use stiction_solve::file::FileError;
use stiction_solve::solver::SolverError;
use stiction_study::StudyError;
use stiction_view::ViewError;

/// Why the command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A problem file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A solver or setting that does not exist or does not fit.
    #[error(transparent)]
    Setting(#[from] SolverError),
    /// A problem that cannot be built.
    #[error("{target}: {source}")]
    Problem { target: String, source: ProblemError },
    /// Neither a file nor a problem of the catalogue.
    #[error(
        "{target}: found neither a file nor a problem of that name; expected a problem file (.npz, \
         FCLIB .h5/.hdf5) or one of {known}"
    )]
    NoSuchProblem { target: String, known: String },
    /// A scene that cannot be built, or cannot be run with these options.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A scenario that does not exist, cannot be built, or cannot be run with these options.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Neither a file nor a scenario.
    #[error(
        "{target}: found neither a file nor a scenario of that name; expected a model file \
         ({endings}) or one of {known}"
    )]
    NoSuchScene { target: String, endings: String, known: String },
    /// A contact problem where a scene was expected.
    #[error(
        "{target}: found a contact problem, which `stiction solve` takes; expected a scenario or a \
         model file ({endings})"
    )]
    ProblemAsScene { target: String, endings: String },
    /// A step without a contact problem.
    #[error(
        "{target}, step {step}: found no contact and no other constraint; expected a step \
         with a contact problem"
    )]
    NothingToCapture { target: String, step: u64 },
    /// An option whose value or use is wrong.
    #[error("{option}: found {found}; expected {expected}")]
    Option { option: String, found: String, expected: String },
    /// A file that cannot be written.
    #[error("{}: {source}; expected a writable path", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    /// Standard output that cannot be written.
    #[error("standard output: {0}")]
    Output(std::io::Error),
    /// Threads that the system cannot create.
    #[error("{count} threads: {reason}; use fewer threads with --threads")]
    Threads { count: String, reason: String },
    /// An experiment that cannot be run.
    #[error(transparent)]
    Experiment(#[from] stiction_reproduce::ReproduceError),
    /// A recording that cannot be made or written.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A recording that could not be written, while its partial file is complete.
    #[error("{source}; all recorded frames are in {}", part.display())]
    Unfinished { source: ViewError, part: PathBuf },
    /// A recording that cannot be read.
    #[error("{}: {source}", path.display())]
    Recording { path: PathBuf, source: RecordError },
    /// A checkpoint that cannot be resumed from.
    #[error("{}: {source}", path.display())]
    Checkpoint { path: PathBuf, source: CheckpointError },
    /// A file that cannot be read.
    #[error("{}: {source}; expected a readable file", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// A file that is not what was expected; it is not changed.
    #[error("{}: found {found}; expected {expected}", path.display())]
    UnexpectedFile { path: PathBuf, found: String, expected: String },
    /// No program could open the page.
    #[error("{opener}: {reason}; expected a program that opens {}", path.display())]
    Open { path: PathBuf, opener: String, reason: String },
}
