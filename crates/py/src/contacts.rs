//! The contacts of a step as arrays.

use std::sync::Arc;

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction_sim::ContactPoint;

use crate::model::Model;
use crate::recipe::Content;

/// The contacts of the last step, n of them, with the forces that the solver used. It is a copy: the
/// next step does not change it.
#[pyclass(frozen, module = "stiction._native")]
pub struct Contacts {
    points: Vec<ContactPoint>,
    content: Arc<Content>,
}

impl Contacts {
    /// A copy of these.
    pub fn new(points: &[ContactPoint], content: &Arc<Content>) -> Self {
        Self { points: points.to_vec(), content: content.clone() }
    }

    fn vectors<'py>(
        &self,
        py: Python<'py>,
        pick: impl Fn(&ContactPoint) -> &Vector3<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let numbers = self.points.iter().flat_map(|point| pick(point).iter().copied());
        PyArray1::from_iter(py, numbers).reshape([self.points.len(), 3])
    }

    fn pairs<'py>(
        &self,
        py: Python<'py>,
        pick: impl Fn(&ContactPoint) -> [usize; 2],
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let numbers = self.points.iter().flat_map(|point| pick(point).map(|index| index as i64));
        PyArray1::from_iter(py, numbers).reshape([self.points.len(), 2])
    }
}

#[pymethods]
impl Contacts {
    /// Positions in the world [m], shape (n, 3).
    #[getter]
    fn point<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |point| &point.point)
    }

    /// Unit normals from A into B, world axes, shape (n, 3).
    #[getter]
    fn normal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |point| &point.normal)
    }

    /// Distances along the normals [m], negative in penetration, shape (n,).
    #[getter]
    fn gap<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.points.iter().map(|point| point.gap))
    }

    /// Forces on B, their opposites on A, mean over the step, world axes [N], shape (n, 3).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |point| &point.force)
    }

    /// Torques on B of spinning and rolling friction, their opposites on A, world axes [N·m], shape
    /// (n, 3).
    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |point| &point.torque)
    }

    /// Velocities of B relative to A after the step, world axes [m/s], shape (n, 3).
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |point| &point.velocity)
    }

    /// Numbers of the bodies A and B, shape (n, 2).
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.pairs(py, |point| point.bodies)
    }

    /// Numbers of the shapes A and B, shape (n, 2).
    #[getter]
    fn geoms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.pairs(py, |point| point.geoms)
    }

    /// Names of the bodies A and B of each contact.
    #[getter]
    fn body_names(&self) -> Vec<(String, String)> {
        let model = Model { content: self.content.clone() };
        let name = |index| model.name_of_body(index).to_owned();
        self.points.iter().map(|p| (name(p.bodies[0]), name(p.bodies[1]))).collect()
    }

    /// Names of the shapes A and B of each contact.
    #[getter]
    fn geom_names(&self) -> Vec<(&str, &str)> {
        let geoms = self.content.world.geoms();
        let name = |index: usize| geoms[index].name.as_str();
        self.points.iter().map(|p| (name(p.geoms[0]), name(p.geoms[1]))).collect()
    }

    fn __len__(&self) -> usize {
        self.points.len()
    }

    fn __repr__(&self) -> String {
        format!("Contacts({})", self.points.len())
    }
}
