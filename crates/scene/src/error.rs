//! Errors of scenes: where, what was found, what was expected.

use crate::xml::SourceLocation;
use stiction_geom::{ShapeError, TetMeshError};
use stiction_mech::{InertiaError, InverseKinematicsError};
use stiction_sim::{SettingsError, StepError, WorldError};

/// A scene that cannot be built or run.
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
        /// The known names.
        expected: String,
    },
    /// A file could not be read.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: String,
        /// The error, with what was expected.
        what: String,
    },
    /// A model file has an invalid value or element.
    #[error("{place}: {what}")]
    Model {
        /// File and line.
        place: SourceLocation,
        /// Element, what was found and what was expected.
        what: String,
    },
    /// Invalid shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Invalid tetrahedral mesh.
    #[error(transparent)]
    TetMesh(#[from] TetMeshError),
    /// Invalid mass properties.
    #[error(transparent)]
    Inertia(#[from] InertiaError),
    /// Invalid chain of an inverse kinematics.
    #[error(transparent)]
    InverseKinematics(#[from] InverseKinematicsError),
    /// Invalid world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Invalid setting.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}
