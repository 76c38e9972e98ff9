//! The contacts of a step as arrays.

use std::sync::Arc;

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyList, PyType};
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

/// A part that contacts can be with.
struct Part {
    bodies: Vec<usize>,
    geom: Option<usize>,
    soft: Option<usize>,
}

impl Part {
    fn is(&self, point: &ContactPoint, side: usize) -> bool {
        match point.soft[side] {
            Some(soft) => self.soft == Some(soft.0),
            None => {
                self.bodies.contains(&point.bodies[side]) || self.geom == Some(point.geoms[side])
            }
        }
    }
}

impl Contacts {
    /// Name of the body or soft body on a side.
    fn body_name(&self, point: &ContactPoint, side: usize) -> String {
        match point.soft[side] {
            Some(soft) => self.content.world.softs()[soft.0].spec.name.clone(),
            None => {
                let model = Model { content: self.content.clone() };
                model.name_of_body(point.bodies[side]).to_owned()
            }
        }
    }

    /// Name of the shape on a side; empty for a soft one.
    fn geom_name(&self, point: &ContactPoint, side: usize) -> &str {
        let geoms = self.content.world.geoms();
        rigid(point, side).map_or("", |geom| geoms[geom].name.as_str())
    }

    /// The part of a name, or the body of a number.
    fn part(&self, given: &Bound<'_, PyAny>) -> PyResult<Part> {
        let model = Model { content: self.content.clone() };
        let mut part = Part { bodies: Vec::new(), geom: None, soft: None };
        if let Ok(name) = given.extract::<String>() {
            let named = |other: &str| other == name && !name.is_empty();
            part.bodies.extend(model.names_of_bodies().position(named));
            part.geom = self.content.world.geom(&name);
            part.soft = self.content.world.soft(&name).map(|soft| soft.0);
            if part.geom.is_some() || part.soft.is_some() || !part.bodies.is_empty() {
                return Ok(part);
            }
        }
        part.bodies.push(model.body_index(given)?);
        Ok(part)
    }

    /// One contact.
    fn one<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let point = &self.points[index];
        let vector = |x: &Vector3<f64>| PyArray1::from_slice(py, x.as_slice());
        let number = |of: Option<usize>| of.map_or(NONE, |index| index as i64);
        let sides = |pick: &dyn Fn(usize) -> Option<usize>| (number(pick(0)), number(pick(1)));
        let (body, geom) = (|side| self.body_name(point, side), |side| self.geom_name(point, side));
        let (bodies, geoms) = ((body(0), body(1)), (geom(0), geom(1)));
        CLASS.import(py, "stiction.types", "Contact")?.call1((
            vector(&point.point),
            vector(&point.normal),
            point.gap,
            vector(&point.force),
            vector(&point.torque),
            vector(&point.velocity),
            sides(&|side| rigid(point, side).map(|_| point.bodies[side])),
            sides(&|side| rigid(point, side)),
            bodies,
            geoms,
        ))
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
        let name = |point: &ContactPoint, side: usize| self.body_name(point, side);
        self.points.iter().map(|point| (name(point, 0), name(point, 1))).collect()
    }

    /// Names of the shapes A and B of each contact; empty for a side that is soft.
    #[getter]
    fn geom_names(&self) -> Vec<(&str, &str)> {
        let name = |point: &ContactPoint, side: usize| self.geom_name(point, side);
        self.points.iter().map(|point| (name(point, 0), name(point, 1))).collect()
    }

    /// The contacts between two parts, or with one: bodies, shapes or soft bodies by name, or bodies by number.
    #[pyo3(signature = (a, b=None))]
    fn filter(&self, a: &Bound<'_, PyAny>, b: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let a = self.part(a)?;
        let b = b.map(|b| self.part(b)).transpose()?;
        let meets = |point: &&ContactPoint| match &b {
            None => a.is(point, 0) || a.is(point, 1),
            Some(b) => a.is(point, 0) && b.is(point, 1) || b.is(point, 0) && a.is(point, 1),
        };
        let points: Vec<ContactPoint> = self.points.iter().filter(meets).copied().collect();
        Ok(Self { points, content: self.content.clone() })
    }

    /// The sum of the forces that a exerts on b through their contacts, world axes [N], shape (3,): bodies, shapes or soft
    /// bodies by name, or bodies by number.
    fn force_between<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (first, second) = (self.part(a)?, self.part(b)?);
        let mut sum = Vector3::zeros();
        for point in &self.points {
            if first.is(point, 0) && second.is(point, 1) {
                sum += point.force;
            } else if first.is(point, 1) && second.is(point, 0) {
                sum -= point.force;
            }
        }
        Ok(PyArray1::from_slice(a.py(), sum.as_slice()))
    }

    /// A contact by its number, or several by a slice, a mask or numbers.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        which: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, contacts) = (slf.py(), slf.get());
        let count = contacts.points.len();
        if let Ok(index) = which.extract::<isize>() {
            let from_start = if index < 0 { index + count as isize } else { index };
            let found = usize::try_from(from_start).ok().filter(|index| *index < count);
            return match found {
                Some(index) => contacts.one(py, index),
                None => Err(PyIndexError::new_err(format!("contact {index}: there are {count}"))),
            };
        }
        // NumPy knows how to read slices, masks and lists.
        let numbers = PyArray1::from_iter(py, 0..count as i64);
        let picked: Vec<i64> = numbers.get_item(which)?.extract()?;
        let points = picked.iter().map(|index| contacts.points[*index as usize]).collect();
        Ok(Bound::new(py, Self { points, content: contacts.content.clone() })?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let (py, contacts) = (slf.py(), slf.get());
        let all: PyResult<Vec<_>> =
            (0..contacts.points.len()).map(|index| contacts.one(py, index)).collect();
        PyList::new(py, all?)?.try_iter()
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
