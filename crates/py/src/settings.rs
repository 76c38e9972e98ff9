//! Settings by keyword: names with underscores, values as text.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use stiction_sim::{KEYS, Settings};

use crate::error;

/// Keyword arguments as pairs of text, the names as they were given.
pub fn pairs(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    given.iter().map(|(key, value)| Ok((key.extract()?, text(&value)?))).collect()
}

/// A value as the engine reads it.
fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyString>() {
        return value.extract();
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.str()?.to_string());
    }
    match value.extract::<f64>() {
        Ok(number) => Ok(number.to_string()),
        Err(_) => {
            let found = value.get_type().name()?.to_string();
            Err(error::setting(format!(
                "found a value of type {found}; expected a number, a text or a truth value"
            )))
        }
    }
}

/// The engine's name of a setting: `sleep_speed` is `sleep.speed`, `time_step` is `time-step`, and
/// `solver_KEY` is parameter KEY of the solver. Unknown names pass, for the engine to refuse.
pub fn key(name: &str) -> String {
    let flat = |key: &str| key.replace(['.', '-'], "_");
    if let Some(known) = KEYS.split(", ").find(|known| flat(known) == name) {
        return known.to_owned();
    }
    match name.strip_prefix("solver_") {
        Some(own) => format!("solver.{}", own.replace('_', "-")),
        None => name.replace('_', "-"),
    }
}

/// Applies keyword arguments to settings.
fn apply(settings: &mut Settings, given: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    for (name, value) in pairs(given)? {
        settings.set(&key(&name), &value).map_err(error::settings)?;
    }
    Ok(())
}

/// Applies the solver's name, the time step and keyword arguments to settings. Parameters of another
/// solver are forgotten.
pub fn choose(
    settings: &mut Settings,
    solver: Option<String>,
    time_step: Option<f64>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    if let Some(solver) = solver {
        if solver != settings.solver {
            settings.solver_settings.clear();
        }
        settings.solver = solver;
    }
    if let Some(time_step) = time_step {
        settings.time_step = time_step;
    }
    apply(settings, given)
}

/// Settings as Python sees them.
pub fn settings<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("time_step", settings.time_step)?;
    found.set_item("scheme", settings.scheme.name())?;
    found.set_item("solver", &settings.solver)?;
    for (key, value) in &settings.solver_settings {
        found.set_item(format!("solver_{}", key.replace('-', "_")), value)?;
    }
    found.set_item("tolerance", settings.tolerance)?;
    found.set_item("max_iterations", settings.max_iterations)?;
    found.set_item("friction_model", settings.friction_model.map(|model| model.name()))?;
    found.set_item("stabilisation_slop", settings.stabilisation.slop)?;
    found.set_item("stabilisation_max_speed", settings.stabilisation.max_speed)?;
    found.set_item("stabilisation_closure", settings.stabilisation.closure)?;
    found.set_item("sleep", settings.sleep.is_some())?;
    Ok(found)
}
