//! The contacts of a step as arrays.

use std::sync::Arc;

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction_sim::ContactPoint;

use crate::model::Model;
use crate::model_source::ModelContent;

/// Index of a side that has no such part.
const NONE: i64 = -1;

/// The shape of a side, unless the side is soft.
fn rigid(point: &ContactPoint, side: usize) -> Option<usize> {
    point.soft[side].is_none().then_some(point.geoms[side])
}

/// The contacts of the last step, n of them, with the forces that the solver used. It is a copy: the
/// next step does not change it.
#[pyclass(frozen, module = "stiction._native")]
pub struct Contacts {
    points: Vec<ContactPoint>,
    content: Arc<ModelContent>,
}

impl Contacts {
    /// A copy of these.
    pub fn new(points: &[ContactPoint], content: &Arc<ModelContent>) -> Self {
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
        pick: impl Fn(&ContactPoint, usize) -> Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let number = |point, side| pick(point, side).map_or(NONE, |index| index as i64);
        let numbers = self.points.iter().flat_map(|point| [number(point, 0), number(point, 1)]);
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

    /// Numbers of the bodies A and B, shape (n, 2); -1 for a side that is soft.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.pairs(py, |point, side| rigid(point, side).map(|_| point.bodies[side]))
    }

    /// Numbers of the shapes A and B, shape (n, 2); -1 for a side that is soft.
    #[getter]
    fn geoms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.pairs(py, rigid)
    }

    /// Numbers of the soft bodies A and B, shape (n, 2); -1 for a side that is rigid.
    #[getter]
    fn softs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        self.pairs(py, |point, side| point.soft[side].map(|soft| soft.0))
    }

    /// Names of the bodies A and B of each contact, soft or not.
    #[getter]
    fn body_names(&self) -> Vec<(String, String)> {
        let model = Model { content: self.content.clone() };
        let softs = self.content.world.softs();
        let name = |point: &ContactPoint, side: usize| match point.soft[side] {
            Some(soft) => softs[soft.0].spec.name.clone(),
            None => model.name_of_body(point.bodies[side]).to_owned(),
        };
        self.points.iter().map(|point| (name(point, 0), name(point, 1))).collect()
    }

    /// Names of the shapes A and B of each contact; empty for a side that is soft.
    #[getter]
    fn geom_names(&self) -> Vec<(&str, &str)> {
        let geoms = self.content.world.geoms();
        let name = |point: &ContactPoint, side: usize| {
            rigid(point, side).map_or("", |geom| geoms[geom].name.as_str())
        };
        self.points.iter().map(|point| (name(point, 0), name(point, 1))).collect()
    }

    fn __len__(&self) -> usize {
        self.points.len()
    }

    fn __repr__(&self) -> String {
        format!("Contacts({})", self.points.len())
    }
}
