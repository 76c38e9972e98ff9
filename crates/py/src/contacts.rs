//! The contacts of a step as arrays.

use std::sync::Arc;

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction_sim::{ContactPatch as PatchSum, ContactPoint};

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

    /// Areas of the polygons of patches for which the contacts stand [m²]; zero for contacts at points, shape (n,).
    #[getter]
    fn area<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.points.iter().map(|point| point.area))
    }

    /// The patches of compliant shapes: the contacts with an area, summed up per pair of shapes.
    #[getter]
    fn patches(&self) -> Vec<ContactPatch> {
        let geoms = self.content.world.geoms();
        let model = Model { content: self.content.clone() };
        let with_names = |sum: PatchSum| ContactPatch {
            names: sum.geoms.map(|geom| geoms[geom].name.clone()).into(),
            bodies: sum.bodies.map(|body| model.name_of_body(body).to_owned()).into(),
            sum,
        };
        PatchSum::all_of(&self.points).into_iter().map(with_names).collect()
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

/// A patch over which two shapes touch, of which at least one is compliant, in the last step.
#[pyclass(frozen, module = "stiction._native")]
pub struct ContactPatch {
    sum: PatchSum,
    names: (String, String),
    bodies: (String, String),
}

#[pymethods]
impl ContactPatch {
    /// Numbers of the shapes A and B.
    #[getter]
    fn geoms(&self) -> (usize, usize) {
        self.sum.geoms.into()
    }

    /// Names of the shapes A and B.
    #[getter]
    fn geom_names(&self) -> (String, String) {
        self.names.clone()
    }

    /// Names of the bodies A and B.
    #[getter]
    fn body_names(&self) -> (String, String) {
        self.bodies.clone()
    }

    /// Numbers of the bodies A and B.
    #[getter]
    fn bodies(&self) -> (usize, usize) {
        self.sum.bodies.into()
    }

    /// Area [m²].
    #[getter]
    fn area(&self) -> f64 {
        self.sum.area
    }

    /// Centre of pressure in the world [m], shape (3,).
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.sum.centre.as_slice())
    }

    /// Force on B, its opposite on A, mean over the step, world axes [N], shape (3,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.sum.force.as_slice())
    }

    /// Moment of the forces on B about the centre of pressure, world axes [N·m], shape (3,).
    #[getter]
    fn moment<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.sum.moment.as_slice())
    }

    /// Largest mean pressure of a polygon [Pa].
    #[getter]
    fn pressure(&self) -> f64 {
        self.sum.pressure
    }

    /// Number of polygons.
    #[getter]
    fn polygons(&self) -> usize {
        self.sum.polygons
    }

    fn __repr__(&self) -> String {
        let PatchSum { area, polygons, .. } = self.sum;
        format!("ContactPatch({:?}, area={area:.3e}, polygons={polygons})", self.bodies)
    }
}
