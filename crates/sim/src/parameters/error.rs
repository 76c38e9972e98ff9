//! Errors of parameters: where, what was found, and what was expected.

use stiction_mech::InertiaError;

use super::registry::PARAMETERS;
use crate::error::WorldError;

/// A value that a parameter cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A number is out of its range.
    #[error("{owner}: {what} = {found}; expected {expected}")]
    Value {
        /// The body, joint, shape or actuator.
        owner: String,
        /// The parameter.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What is expected.
        expected: &'static str,
    },
    /// Mass properties are not physical.
    #[error("{owner}: {source}")]
    Mass {
        /// The body.
        owner: String,
        /// The error.
        source: InertiaError,
    },
    /// The wrong number of values.
    #[error("{name}: found {found} numbers; expected {expected}")]
    Length {
        /// Name of the parameter.
        name: &'static str,
        /// How many values there are.
        found: usize,
        /// How many are expected.
        expected: usize,
    },
    /// No such body, joint, shape or actuator.
    #[error("{name}[{index}]: there are {count}")]
    Index {
        /// Name of the parameter.
        name: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// No such parameter.
    #[error("parameter \"{found}\"; expected one of: {}", names())]
    Unknown {
        /// The name.
        found: String,
    },
}

fn names() -> String {
    PARAMETERS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

impl ParameterError {
    /// The error of a surface.
    pub(super) fn of_surface(error: WorldError) -> Self {
        match error {
            WorldError::Surface { shape, what, found, expected } => {
                Self::Value { owner: format!("shape \"{shape}\""), what, found, expected }
            }
            other => Self::Value {
                owner: other.to_string(),
                what: "surface",
                found: f64::NAN,
                expected: "a valid surface",
            },
        }
    }
}

/// Name of a part in messages: its own, or its number.
pub(super) fn owner(kind: &str, name: &str, index: usize) -> String {
    if name.is_empty() { format!("{kind} {index}") } else { format!("{kind} \"{name}\"") }
}

pub(super) const FINITE: &str = "a finite number";
pub(super) const NOT_NEGATIVE: &str = "a finite number that is not negative";

/// Checks that numbers are finite.
pub(super) fn check_finite(
    owner: impl FnOnce() -> String,
    what: &'static str,
    values: &[f64],
) -> Result<(), ParameterError> {
    match values.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&found) => {
            Err(ParameterError::Value { owner: owner(), what, found, expected: FINITE })
        }
    }
}
