//! Arrays between NumPy and plain numbers.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use numpy::{AllowTypeChange, PyArray1, PyArrayLike1, PyArrayLikeDyn, PyArrayMethods};
use pyo3::prelude::*;
use stiction_solve::file::{Array, Values};

use crate::{error, memory};

/// Three finite numbers from Python.
pub fn vector(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vector3<f64>> {
    let numbers = numbers(what, given)?;
    let [x, y, z] = numbers[..] else {
        let found = numbers.len();
        return Err(error::state(format!("{what} has {found} entries; expected 3")));
    };
    Ok(Vector3::new(x, y, z))
}

/// Rows of three finite numbers from Python, or a single one.
pub fn rows_of_three(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vector3<f64>>> {
    memory::check_given(what, given)?;
    let array: PyArrayLikeDyn<'_, f64, AllowTypeChange> = given
        .extract()
        .map_err(|refused| error::state(format!("{what}: expected numbers; {refused}")))?;
    let view = array.as_array();
    if !matches!(view.shape(), [3] | [_, 3]) {
        let found = view.shape();
        return Err(error::state(format!("{what} has shape {found:?}; expected (n, 3) or (3,)")));
    }
    let numbers: Vec<f64> = view.iter().copied().collect();
    if let Some(found) = numbers.iter().find(|x| !x.is_finite()) {
        return Err(error::state(format!("{what} has {found}; expected finite numbers")));
    }
    Ok(numbers.chunks_exact(3).map(Vector3::from_column_slice).collect())
}

/// A pose from Python: a position [m] and a quaternion (w, x, y, z), which gets unit length.
pub fn pose(given: &Bound<'_, PyAny>) -> PyResult<Isometry3<f64>> {
    let parts: PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = given.extract();
    let (position, quaternion) = parts.map_err(|refused| {
        error::state(format!("pose: expected a pair of position and quaternion; {refused}"))
    })?;
    let position = vector("position", &position)?;
    let turn = rotation(&quaternion)?;
    Ok(Isometry3::from_parts(position.into(), turn))
}

/// A rotation from Python: a quaternion (w, x, y, z), which gets unit length.
pub fn rotation(given: &Bound<'_, PyAny>) -> PyResult<UnitQuaternion<f64>> {
    let quaternion = numbers("quaternion", given)?;
    let [w, x, y, z] = quaternion[..] else {
        let found = quaternion.len();
        return Err(error::state(format!("quaternion has {found} entries; expected 4")));
    };
    let turn = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 0.0);
    turn.ok_or_else(|| error::state("quaternion of length 0; expected 1"))
}

/// A flat list of finite numbers from Python.
pub fn numbers(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    memory::check_given(what, given)?;
    let array = given.extract::<numpy::PyArrayLike1<'_, f64, numpy::AllowTypeChange>>();
    let array = array.map_err(|refused| {
        error::state(format!("{what}: expected a flat array of numbers; {refused}"))
    })?;
    let numbers = array.as_array().to_vec();
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => {
            let found = numbers[index];
            Err(error::state(format!("{what}[{index}] = {found}; expected a finite number")))
        }
        None => Ok(numbers),
    }
}

/// A flat list of numbers from Python, infinite ones among them.
pub fn numbers_or_infinite(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    memory::check_given(what, given)?;
    let array: PyArrayLike1<'_, f64, AllowTypeChange> = given.extract().map_err(|refused| {
        error::problem(format!("{what}: expected a flat array of numbers; {refused}"))
    })?;
    Ok(array.as_array().to_vec())
}

/// An array of a file as NumPy has it.
pub fn write_array<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let shape = array.shape.clone();
    Ok(match &array.values {
        Values::F64(values) => PyArray1::from_slice(py, values).reshape(shape)?.into_any(),
        Values::I64(values) => PyArray1::from_slice(py, values).reshape(shape)?.into_any(),
    })
}

/// An array of NumPy as files have it.
pub fn read_array(given: &Bound<'_, PyAny>) -> PyResult<Array> {
    memory::check_given("an array", given)?;
    let kind: String = given.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind == "i" {
        let array: PyArrayLikeDyn<'_, i64, AllowTypeChange> = given.extract()?;
        let view = array.as_array();
        let values = Values::I64(view.iter().copied().collect());
        return Ok(Array { shape: view.shape().to_vec(), values });
    }
    let array: PyArrayLikeDyn<'_, f64, AllowTypeChange> = given.extract()?;
    let view = array.as_array();
    let values = Values::F64(view.iter().copied().collect());
    Ok(Array { shape: view.shape().to_vec(), values })
}
