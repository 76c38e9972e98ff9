//! Errors of studies: where, what was found, what was expected.

use stiction_geom::{ShapeError, TetMeshError};
use stiction_mech::{InertiaError, InverseKinematicsError};
use stiction_scene::SceneError;
use stiction_sim::{SettingsError, StepError, WorldError};

/// A scenario that cannot be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// There is no such scenario.
    #[error("no scenario is called \"{found}\"; expected one of: {known}")]
    UnknownScenario {
        /// The name found.
        found: String,
        /// The known names.
        known: String,
    },
    /// There is no such parameter.
    #[error("scenario {scenario}: no parameter is called \"{found}\"; expected one of: {known}")]
    UnknownParameter {
        /// The scenario.
        scenario: &'static str,
        /// The name found.
        found: String,
        /// The known names.
        known: String,
    },
    /// A parameter has an invalid value.
    #[error("scenario {scenario}: {name} = {found}; expected a number from {least} to {most}")]
    Parameter {
        /// The scenario.
        scenario: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value found.
        found: String,
        /// Smallest value.
        least: f64,
        /// Largest value.
        most: f64,
    },
    /// A scene cannot be built or run.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// Errors of the parts of a scene, as [`SceneError`] classifies them.
macro_rules! through_scene_error {
    ($($part:ty),*) => {$(
        impl From<$part> for StudyError {
            fn from(error: $part) -> Self {
                Self::Scene(error.into())
            }
        }
    )*};
}
through_scene_error!(
    ShapeError,
    TetMeshError,
    InertiaError,
    InverseKinematicsError,
    WorldError,
    SettingsError,
    StepError
);
