//! The Python class `State`: a snapshot of a simulation.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use stiction_sim::{Snapshot, state_hash};

use crate::soft::vectors;
use crate::{error, parameters};

/// All of a simulation that later steps depend on, to the bit: time, coordinates, velocities, activations, inputs,
/// contacts and warm starts. Made by Simulation.get_state. It never changes.
#[pyclass(frozen, module = "stiction._native")]
pub struct State {
    pub snapshot: Snapshot,
}

#[pymethods]
impl State {
    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.snapshot.state.time
    }

    /// A copy of the coordinates [m, rad, -], shape (nq,).
    #[getter]
    fn qpos<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.snapshot.state.q)
    }

    /// A copy of the velocities [m/s, rad/s], shape (nv,).
    #[getter]
    fn qvel<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.snapshot.state.v)
    }

    /// A copy of the activations of actuators, shape (na,).
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.snapshot.state.activation)
    }

    /// A copy of the positions of the vertices of all soft bodies [m], shape (nvertex, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        vectors(py, &self.snapshot.state.x)
    }

    /// A copy of the velocities of the vertices of all soft bodies [m/s], shape (nvertex, 3).
    #[getter]
    fn vertex_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        vectors(py, &self.snapshot.state.x_dot)
    }

    /// A copy of the controls, shape (nu,).
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.snapshot.input.control)
    }

    /// A copy of the wrenches [N·m, N], shape (nbody, 6).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let wrenches = &self.snapshot.input.wrench;
        let numbers = wrenches.iter().flat_map(|wrench| wrench.iter().copied());
        PyArray1::from_iter(py, numbers).reshape([wrenches.len(), 6])
    }

    /// A copy of the generalized forces [N, N·m], shape (nv,).
    #[getter]
    fn qfrc_applied<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.snapshot.input.force)
    }

    /// The parameters that were changed since the model was loaded, by name, with all their values; the arrays cannot be
    /// written.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        parameters::changed(py, &self.snapshot)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.snapshot == other.snapshot
    }

    fn __hash__(&self) -> u64 {
        state_hash(&self.snapshot.state)
    }

    fn __repr__(&self) -> String {
        let state = &self.snapshot.state;
        let vertices = match state.x.len() {
            0 => String::new(),
            n => format!(", nvertex={n}"),
        };
        format!("State(t={} s, nq={}, nv={}{vertices})", state.time, state.q.len(), state.v.len())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.import("stiction._native")?.getattr("_make_state")?;
        Ok((make, (PyBytes::new(py, &self.snapshot.to_bytes()),)))
    }
}

/// A state from its bytes, for pickle.
#[pyfunction]
pub fn _make_state(bytes: &[u8]) -> PyResult<State> {
    Ok(State { snapshot: Snapshot::from_bytes(bytes).map_err(error::state)? })
}
