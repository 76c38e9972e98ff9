//! The Python class `Joint`: properties of one joint of a model.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PySlice;

/// A joint of a model.
#[pyclass(frozen, module = "stiction._native")]
pub struct Joint {
    /// Its name, may be empty.
    #[pyo3(get)]
    pub name: String,
    /// Its kind: `hinge`, `slide`, `ball`, `free`, `screw`, `universal` or `planar`.
    #[pyo3(get)]
    pub r#type: &'static str,
    /// Name of the body that it moves.
    #[pyo3(get)]
    pub body: String,
    /// Lower and upper end of its coordinates [rad, m]; None without limits.
    #[pyo3(get)]
    pub range: Option<(f64, f64)>,
    /// Its coordinates.
    pub q: Range<usize>,
    /// Its velocities.
    pub v: Range<usize>,
}

#[pymethods]
impl Joint {
    /// Its place in qpos.
    #[getter]
    fn qpos_range<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, &self.q)
    }

    /// Its place in qvel.
    #[getter]
    fn qvel_range<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, &self.v)
    }

    fn __repr__(&self) -> String {
        format!("Joint(\"{}\", {}, body \"{}\")", self.name, self.r#type, self.body)
    }
}

fn slice<'py>(py: Python<'py>, range: &Range<usize>) -> Bound<'py, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}
