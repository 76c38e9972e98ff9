//! Errors of scenes: where, what was found, what was expected.

use crate::xml::Place;
use stiction_geom::{ShapeError, TetMeshError};
use stiction_mech::InertiaError;
use stiction_sim::{SettingsError, StepError, WorldError};

/// A scene that cannot be made or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// There is no such keyframe.
    #[error("model {model}: no keyframe is called \"{found}\"; expected {expected}")]
    UnknownKeyframe {
        /// The model.
        model: String,
        /// The name found.
        found: String,
        /// The names there are.
        expected: String,
    },
    /// A file could not be read.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// A model file says something that cannot be.
    #[error("{place}: {what}")]
    Model {
        /// File and line.
        place: Place,
        /// Element, what was found and what was expected.
        what: String,
    },
    /// A shape cannot exist.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A mesh of tetrahedra cannot exist.
    #[error(transparent)]
    TetMesh(#[from] TetMeshError),
    /// Mass properties cannot exist.
    #[error(transparent)]
    Inertia(#[from] InertiaError),
    /// The world cannot be.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A setting cannot be.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}
