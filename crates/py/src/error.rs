//! Rust errors as Python exceptions that carry the same message. The classes stand in
//! `stiction/errors.py`, since they inherit from `ValueError` and others besides `StictionError`.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_scene::SceneError;
use stiction_sim::{SettingsError, StepError};
use stiction_study::StudyError;
use stiction_view::ViewError;

use crate::settings::SOLVER_KEYWORD_PREFIX;

const MODULE: &str = "stiction.errors";

macro_rules! exception {
    ($(#[$about:meta])* $function:ident, $class:literal) => {
        $(#[$about])*
        pub fn $function(message: impl Display) -> PyErr {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            let message = message.to_string();
            Python::attach(|py| match CLASS.import(py, MODULE, $class) {
                Ok(class) => PyErr::from_type(class.clone(), message),
                Err(error) => error,
            })
        }
    };
}

exception!(
    /// A model cannot be built, or has no part of that name.
    model, "ModelError");
exception!(
    /// A model file does not exist.
    not_found, "ModelNotFoundError");
exception!(
    /// A contact problem is invalid.
    problem, "ProblemError");
exception!(
    /// A recording cannot be made or written.
    recording, "RecordingError");
exception!(
    /// A recording does not exist.
    recording_not_found, "RecordingNotFoundError");
exception!(
    /// A recording cannot be written to this path.
    not_written, "RecordingNotWrittenError");
exception!(
    /// A setting has a wrong name or value, or an array has the wrong shape.
    setting, "SettingError");
exception!(
    /// A solver is unknown, or returned an invalid solution.
    solver, "SolverError");
exception!(
    /// A state or an input is invalid for the model.
    state, "StateError");
exception!(
    /// A step failed.
    step_failed, "StepError");

/// The exception of a failed step.
pub fn step(error: StepError) -> PyErr {
    match error {
        StepError::State { .. } | StepError::Force { .. } => state(error),
        StepError::Solver(error) => solver(error),
        other => step_failed(other),
    }
}

/// The exception of a scene that cannot be built.
pub fn scene(error: SceneError) -> PyErr {
    match error {
        SceneError::Step(error) => step(error),
        SceneError::Settings(error) => settings(error),
        other => model(other),
    }
}

/// The exception of a scenario that cannot be built or run.
pub fn study(error: StudyError) -> PyErr {
    match error {
        StudyError::Scene(error) => scene(error),
        other => model(other),
    }
}

/// The exception of wrong settings.
pub fn settings(error: SettingsError) -> PyErr {
    match error {
        SettingsError::Setting(error) => setting(crate::settings::message(&error)),
        SettingsError::Solver(error) => {
            solver(crate::settings::solver_message(&error, SOLVER_KEYWORD_PREFIX))
        }
        other => setting(other),
    }
}

/// The exception of a recording that was not written.
pub fn view(error: ViewError) -> PyErr {
    match error {
        ViewError::Write { .. } => not_written(error),
        other => recording(crate::record::message_of(&other)),
    }
}
