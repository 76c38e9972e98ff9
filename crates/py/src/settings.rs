//! Settings as Python keywords: `time_step` is the setting `time-step`, `sleep_speed` is `sleep.speed`,
//! and `solver_KEY` is the solver's own setting KEY.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};
use stiction_sim::{SOLVER_PREFIX, Settings};
use stiction_solve::setting::{SettingError, SettingValue};
use stiction_solve::solver::{SOLVERS, SolverError};

use crate::error;

/// Prefix of keywords that are settings of the solver.
pub const SOLVER_KEYWORD_PREFIX: &str = "solver_";

/// A name as a Python keyword.
pub fn keyword(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// The setting of a keyword. Unknown keywords are returned unchanged, to be refused by the table.
pub fn key(given: &str) -> String {
    if let Some(spec) = Settings::specs().iter().find(|spec| spec.keyword() == given) {
        return spec.name.to_owned();
    }
    match given.strip_prefix(SOLVER_KEYWORD_PREFIX) {
        Some(own) => format!("{SOLVER_PREFIX}{}", own.replace('_', "-")),
        None => given.to_owned(),
    }
}

/// Keyword arguments with their values.
fn values(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, SettingValue)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let pair = |(name, found): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let found = value(&name, &found)?;
        Ok((name, found))
    };
    given.iter().map(pair).collect()
}

/// Keyword arguments with their values as text.
pub fn pairs(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    Ok(values(given)?.into_iter().map(|(name, value)| (name, value.to_string())).collect())
}

fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<SettingValue> {
    if given.is_none() {
        return Ok(SettingValue::None);
    }
    if given.is_instance_of::<PyString>() {
        return Ok(SettingValue::Text(given.extract()?));
    }
    if given.is_instance_of::<PyBool>() {
        return Ok(SettingValue::Flag(given.extract()?));
    }
    if !given.is_instance_of::<PyFloat>()
        && let Ok(count) = given.extract()
    {
        return Ok(SettingValue::Count(count));
    }
    if let Ok(number) = given.extract() {
        return Ok(SettingValue::Number(number));
    }
    // NumPy's own truth values.
    if let Ok(flag) = given.extract() {
        return Ok(SettingValue::Flag(flag));
    }
    let found = given.get_type().name()?;
    Err(error::setting(format!(
        "{name}: found a value of type {found}; expected a number, a string, a bool or None"
    )))
}

/// Applies the solver's name, the time step and keyword arguments to settings, in any order. Settings
/// of another solver are dropped, as by [`Settings::set_with_solver`].
pub fn choose(
    settings: &mut Settings,
    solver: Option<String>,
    time_step: Option<f64>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let mut values = values(given)?;
    values.extend(time_step.map(|step| ("time_step".to_owned(), SettingValue::Number(step))));
    let values: Vec<_> = values.iter().map(|(name, value)| (key(name), value)).collect();
    let values = values.iter().map(|(key, value)| (key.as_str(), *value));
    settings.set_with_solver(solver.as_deref(), values).map_err(error::settings)
}

/// All settings by keyword, those of the solver included.
pub fn settings<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in settings.values() {
        dict.set_item(keyword(name), to_python(py, value)?)?;
    }
    // A solver written in Python has no settings here.
    if SOLVERS.iter().any(|entry| entry.name == settings.solver) {
        for (name, value) in settings.solver_values().map_err(error::settings)? {
            let keyword = format!("{SOLVER_KEYWORD_PREFIX}{}", keyword(name));
            dict.set_item(keyword, to_python(py, value)?)?;
        }
    }
    Ok(dict)
}

fn to_python(py: Python<'_>, value: SettingValue) -> PyResult<Bound<'_, PyAny>> {
    match value {
        SettingValue::None => Ok(py.None().into_bound(py)),
        SettingValue::Flag(flag) => flag.into_bound_py_any(py),
        SettingValue::Count(count) => count.into_bound_py_any(py),
        SettingValue::Number(x) => x.into_bound_py_any(py),
        SettingValue::Text(text) => text.into_bound_py_any(py),
    }
}

/// Message of a refused setting, with names as Python keywords.
pub fn message(error: &SettingError) -> String {
    match error {
        SettingError::UnknownKey { owner, found, known } => {
            let (found, known) = (keyword(found), keyword(known));
            format!("{owner} has no setting '{found}'; expected one of {known}")
        }
        SettingError::Value { owner, key, found, expected } => {
            let key = keyword(key);
            format!("setting '{key}' of {owner}: found '{found}', expected {expected}")
        }
        other => other.to_string(),
    }
}

/// Message of a refused solver or solver setting, with names as Python keywords after `prefix`.
pub fn solver_message(error: &SolverError, prefix: &str) -> String {
    let with_prefix = |name: &str| format!("{prefix}{}", keyword(name));
    let SolverError::Setting(error) = error else { return error.to_string() };
    match error {
        SettingError::UnknownKey { owner, found, known } => {
            let known: Vec<String> = known.split(", ").map(with_prefix).collect();
            let (found, known) = (with_prefix(found), known.join(", "));
            format!("{owner} has no setting '{found}'; expected one of {known}")
        }
        SettingError::Value { owner, key, found, expected } => {
            let key = with_prefix(key);
            format!("setting '{key}' of {owner}: found '{found}', expected {expected}")
        }
        other => other.to_string(),
    }
}
