//! Rays and distances at the present state.

use nalgebra::Vector3;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_geom::Ray;
use stiction_geom::narrow::Manifold;
use stiction_sim::SensedShapes;

use crate::arrays::rows_of_three;
use crate::core::SimulationCore;
use crate::error;
use crate::model::Model;

impl Model {
    /// A shape by name, else a body by name or number.
    pub fn sensed(&self, given: &Bound<'_, PyAny>) -> PyResult<SensedShapes> {
        if let Ok(name) = given.extract::<String>()
            && let Some(geom) = self.content.world.geom(&name)
        {
            return Ok(SensedShapes::Geom(geom));
        }
        Ok(SensedShapes::Body(stiction_mech::BodyId(self.body_index(given)?)))
    }
}

impl SimulationCore {
    /// Where rays first meet a shape.
    pub fn raycast<'py>(
        &mut self,
        (origins, directions): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        exclude: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let py = origins.py();
        let (origins, directions) =
            (rows_of_three("origins", origins)?, rows_of_three("directions", directions)?);
        let n = origins.len().max(directions.len());
        for (what, found) in [("origins", origins.len()), ("directions", directions.len())] {
            if found != n && found != 1 {
                return Err(error::state(format!("{what} has {found} rows; expected {n}, or one")));
            }
        }
        self.update_positions();
        let (world, data) = (self.engine.world(), &self.data);
        let (mut distance, mut geom) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut point, mut normal) = (Vec::with_capacity(3 * n), Vec::with_capacity(3 * n));
        for k in 0..n {
            let pick = |rows: &[Vector3<f64>]| rows[if rows.len() == 1 { 0 } else { k }];
            let direction = pick(&directions).try_normalize(0.0).ok_or_else(|| {
                error::state(format!("directions[{k}] has length 0; expected a direction"))
            })?;
            let ray = Ray { origin: pick(&origins), direction };
            let hit = world.cast_ray(data, &ray, |body| Some(body.0) != exclude);
            distance.push(hit.map_or(f64::INFINITY, |(hit, _)| hit.distance));
            geom.push(hit.and_then(|(_, geom)| geom).map_or(-1, |geom| geom as i64));
            let nowhere = Vector3::repeat(f64::NAN);
            point
                .extend_from_slice(hit.map_or(nowhere, |(hit, _)| ray.at(hit.distance)).as_slice());
            normal.extend_from_slice(hit.map_or(nowhere, |(hit, _)| hit.normal).as_slice());
        }
        CLASS.import(py, "stiction.types", "RayHits")?.call1((
            PyArray1::from_vec(py, distance),
            PyArray1::from_vec(py, point).reshape([n, 3])?,
            PyArray1::from_vec(py, normal).reshape([n, 3])?,
            PyArray1::from_vec(py, geom),
        ))
    }

    /// The shortest segment between two sides.
    pub fn distance<'py>(
        &mut self,
        py: Python<'py>,
        sides: &[SensedShapes; 2],
        cutoff: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if !(cutoff >= 0.0 && cutoff.is_finite()) {
            let expected = "a finite number of metres that is not negative";
            return Err(error::state(format!("cutoff = {cutoff}; expected {expected}")));
        }
        self.update_positions();
        let mut manifold = Manifold::default();
        let found = self.engine.world().separation(&self.data, sides, cutoff, &mut manifold);
        let vector = |x: Vector3<f64>| PyArray1::from_slice(py, x.as_slice());
        let nowhere = Vector3::repeat(f64::NAN);
        let (gap, ends, normal) = match found {
            None => (cutoff, [nowhere; 2], nowhere),
            Some(found) => {
                let half = 0.5 * found.gap * found.normal;
                (found.gap, [found.point - half, found.point + half], found.normal)
            }
        };
        let class = CLASS.import(py, "stiction.types", "ShapeDistance")?;
        class.call1((gap, vector(ends[0]), vector(ends[1]), vector(normal)))
    }
}
