//! Handles to soft bodies and cables of a simulation: `sim.soft("jelly").vertices`.

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_mech::{SoftBody, SoftId};
use stiction_sim::Cable;

use crate::simulation::{Simulation, assign};

/// A soft body of a simulation.
#[pyclass(frozen, module = "stiction._native")]
pub struct SoftHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

impl SoftHandle {
    fn body(&self) -> &SoftBody {
        &self.simulation.get().model_ref().mechanism().softs()[self.index]
    }
}

#[pymethods]
impl SoftHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.body().spec.name
    }

    /// Its number.
    #[getter]
    fn id(&self) -> usize {
        self.index
    }

    /// Name of its material.
    #[getter]
    fn material(&self) -> &'static str {
        self.body().spec.material.entry().name
    }

    /// Its mass [kg].
    #[getter]
    fn mass(&self) -> f64 {
        self.body().total_mass()
    }

    /// Red, green, blue and opacity, each from 0 to 1, shape (4,).
    #[getter]
    fn colour<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let world = &self.simulation.get().model_ref().content.world;
        PyArray1::from_slice(py, &world.softs()[self.index].colour)
    }

    /// Positions of its vertices in the world [m], shape (n, 3): a view, to be read and written.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.simulation.get().views().some_x(py, &self.body().nodes)
    }

    #[setter(vertices)]
    fn set_vertices(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.vertices(py)?.as_any(), value)
    }

    /// Velocities of its vertices [m/s], world axes, shape (n, 3): a view, to be read and written.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.simulation.get().views().some_x_dot(py, &self.body().nodes)
    }

    #[setter(velocities)]
    fn set_velocities(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(self.velocities(py)?.as_any(), value)
    }

    /// Positions of its vertices without stress [m], where it was built, shape (n, 3).
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        vectors(py, &self.body().spec.vertices)
    }

    /// Triangles of its surface: three of its vertices each, counter-clockwise seen from outside,
    /// shape (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let world = &self.simulation.get().model_ref().content.world;
        let (vertices, triangles) = world.surface_mesh(SoftId(self.index));
        let corners = triangles.iter().flatten().map(|corner| vertices[*corner as usize]);
        PyArray1::from_iter(py, corners).reshape([triangles.len(), 3])
    }

    /// Its tetrahedra: four of its vertices each, shape (k, 4).
    #[getter]
    fn tetrahedra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let tetrahedra = &self.body().spec.tetrahedra;
        PyArray1::from_slice(py, tetrahedra.as_flattened()).reshape([tetrahedra.len(), 4])
    }

    /// Numbers of its vertices that never move, shape (f,).
    #[getter]
    fn fixed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.body().spec.fixed)
    }

    /// Its centre of mass [m], shape (3,).
    #[getter]
    fn centre_of_mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let body = self.body();
        let centre = self
            .simulation
            .get()
            .with_state(py, |state| body.centre_of_mass(&state.x[body.nodes.clone()]))?;
        Ok(PyArray1::from_slice(py, centre.as_slice()))
    }

    /// Its kinetic energy, and its elastic energy with that of its weight [J].
    #[getter]
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let simulation = self.simulation.get();
        let (body, gravity) = (self.body(), simulation.model_ref().mechanism().gravity());
        let (kinetic, potential) = simulation.with_state(py, |state| {
            let x = &state.x[body.nodes.clone()];
            let kinetic = body.kinetic_energy(&state.x_dot[body.nodes.clone()]);
            (kinetic, body.energy(x) + body.gravity_energy(x, gravity))
        })?;
        CLASS.import(py, "stiction.types", "Energy")?.call1((kinetic, potential))
    }

    /// The energy of its deformation [J].
    #[getter]
    fn elastic_energy(&self, py: Python<'_>) -> PyResult<f64> {
        let body = self.body();
        self.simulation.get().with_state(py, |state| body.energy(&state.x[body.nodes.clone()]))
    }

    fn __repr__(&self) -> String {
        let body = self.body();
        let (name, n, k) = (self.name(), body.nodes.len(), body.spec.tetrahedra.len());
        format!("SoftHandle(\"{name}\", {n} vertices, {k} tetrahedra)")
    }
}

/// A cable of a simulation. Its segments are bodies.
#[pyclass(frozen, module = "stiction._native")]
pub struct CableHandle {
    pub simulation: Py<Simulation>,
    pub index: usize,
}

impl CableHandle {
    fn cable(&self) -> &Cable {
        &self.simulation.get().model_ref().content.world.cables()[self.index]
    }

    /// Points on the axes of segments, as (segment, distance from its middle in segment lengths).
    fn points<'py>(
        &self,
        py: Python<'py>,
        along: &[(usize, f64)],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let cable = self.cable();
        let points = self.simulation.get().with_poses(py, |poses| {
            let place = |(segment, part): &(usize, f64)| {
                let pose = &poses[cable.bodies[*segment].0];
                let along = Vector3::z() * (part * cable.segment_length);
                pose.translation.vector + pose.rotation * along
            };
            along.iter().map(place).collect::<Vec<_>>()
        })?;
        vectors(py, &points)
    }
}

#[pymethods]
impl CableHandle {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.cable().spec.name
    }

    /// Its number.
    #[getter]
    fn id(&self) -> usize {
        self.index
    }

    /// Numbers of the bodies that are its segments, from the first end to the last.
    #[getter]
    fn bodies(&self) -> Vec<usize> {
        self.cable().bodies.iter().map(|body| body.0).collect()
    }

    /// Names of the bodies that are its segments.
    #[getter]
    fn body_names(&self) -> Vec<&str> {
        let model = self.simulation.get().model_ref();
        self.cable().bodies.iter().map(|body| model.name_of_body(body.0)).collect()
    }

    /// Radius [m].
    #[getter]
    fn radius(&self) -> f64 {
        self.cable().spec.radius
    }

    /// Length of a segment [m].
    #[getter]
    fn segment_length(&self) -> f64 {
        self.cable().segment_length
    }

    /// Middles of its segments in the world [m], shape (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let middles: Vec<_> = (0..self.cable().bodies.len()).map(|k| (k, 0.0)).collect();
        self.points(py, &middles)
    }

    /// Its two ends in the world [m], shape (2, 3).
    #[getter]
    fn ends<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let last = self.cable().bodies.len() - 1;
        self.points(py, &[(0, -0.5), (last, 0.5)])
    }

    fn __repr__(&self) -> String {
        format!("CableHandle(\"{}\", {} segments)", self.name(), self.cable().bodies.len())
    }
}

/// A row per vector.
pub fn vectors<'py>(
    py: Python<'py>,
    vectors: &[Vector3<f64>],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let numbers = vectors.iter().flat_map(|vector| vector.iter().copied());
    PyArray1::from_iter(py, numbers).reshape([vectors.len(), 3])
}
