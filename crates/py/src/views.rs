//! The arrays of a simulation: one block of memory that NumPy owns, and views of its parts.
//!
//! The engine never accesses this memory while other threads may: a step copies it in, releases the
//! GIL, and copies the result back. Views are ordinary arrays with their own lifetime.

use std::ops::Range;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use stiction_mech::Model;

/// Numbers per wrench.
const WRENCH: usize = 6;

/// Ranges of the arrays in the block.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Coordinates.
    pub q: Range<usize>,
    /// Velocities.
    pub v: Range<usize>,
    /// Activations.
    pub activation: Range<usize>,
    /// Controls.
    pub control: Range<usize>,
    /// Wrenches, body by body.
    pub wrench: Range<usize>,
    /// Generalized forces.
    pub force: Range<usize>,
    /// Positions of the vertices of soft bodies.
    pub x: Range<usize>,
    /// Velocities of the vertices of soft bodies.
    pub x_dot: Range<usize>,
}

impl Layout {
    fn new(model: &Model) -> Self {
        let mut end = 0;
        let mut next = |length: usize| {
            let start = end;
            end += length;
            start..end
        };
        Self {
            q: next(model.nq()),
            v: next(model.nv()),
            activation: next(model.na()),
            control: next(model.nu()),
            wrench: next(WRENCH * model.bodies().len()),
            force: next(model.nv()),
            x: next(3 * model.nodes()),
            x_dot: next(3 * model.nodes()),
        }
    }
}

/// The block and its views.
pub struct Views {
    /// Ranges in the block.
    pub layout: Layout,
    block: Py<PyArray1<f64>>,
    /// Coordinates.
    pub qpos: Py<PyArray1<f64>>,
    /// Velocities.
    pub qvel: Py<PyArray1<f64>>,
    /// Activations.
    pub act: Py<PyArray1<f64>>,
    /// Controls.
    pub ctrl: Py<PyArray1<f64>>,
    /// Wrenches, a row per body.
    pub wrench: Py<PyArray2<f64>>,
    /// Generalized forces.
    pub force: Py<PyArray1<f64>>,
    /// Positions of the vertices of soft bodies, a row each.
    pub x: Py<PyArray2<f64>>,
    /// Velocities of the vertices of soft bodies, a row each.
    pub x_dot: Py<PyArray2<f64>>,
}

impl Views {
    /// Zeros for a model.
    pub fn new(py: Python<'_>, model: &Model) -> PyResult<Self> {
        let layout = Layout::new(model);
        let block = PyArray1::zeros(py, [layout.x_dot.end], false);
        Ok(Self {
            qpos: part(&block, &layout.q)?.unbind(),
            qvel: part(&block, &layout.v)?.unbind(),
            act: part(&block, &layout.activation)?.unbind(),
            ctrl: part(&block, &layout.control)?.unbind(),
            wrench: table(&block, &layout.wrench, WRENCH)?.unbind(),
            force: part(&block, &layout.force)?.unbind(),
            x: table(&block, &layout.x, 3)?.unbind(),
            x_dot: table(&block, &layout.x_dot, 3)?.unbind(),
            block: block.unbind(),
            layout,
        })
    }

    /// The block, for as long as the interpreter is held.
    pub fn borrow<'py>(&self, py: Python<'py>) -> PyResult<PyReadwriteArray1<'py, f64>> {
        Ok(self.block.bind(py).try_readwrite()?)
    }

    /// A view of some of the coordinates.
    pub fn some_q<'py>(
        &self,
        py: Python<'py>,
        range: &Range<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        part(self.qpos.bind(py), range)
    }

    /// A view of some of the velocities.
    pub fn some_v<'py>(
        &self,
        py: Python<'py>,
        range: &Range<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        part(self.qvel.bind(py), range)
    }

    /// A view of the positions of some vertices.
    pub fn some_x<'py>(
        &self,
        py: Python<'py>,
        range: &Range<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows(self.x.bind(py), range)
    }

    /// A view of the velocities of some vertices.
    pub fn some_x_dot<'py>(
        &self,
        py: Python<'py>,
        range: &Range<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows(self.x_dot.bind(py), range)
    }

    /// A view of one wrench.
    pub fn one_wrench<'py>(
        &self,
        py: Python<'py>,
        body: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.wrench.bind(py).get_item(body)?.cast_into()?)
    }
}

/// A view of some rows.
fn rows<'py>(
    array: &Bound<'py, PyArray2<f64>>,
    range: &Range<usize>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let slice = PySlice::new(array.py(), range.start as isize, range.end as isize, 1);
    Ok(array.get_item(slice)?.cast_into()?)
}

/// A view of a part of an array as rows of some length.
fn table<'py>(
    array: &Bound<'py, PyArray1<f64>>,
    range: &Range<usize>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = (range.len() / width, width);
    Ok(part(array, range)?.call_method1("reshape", (shape,))?.cast_into()?)
}

/// A view of a part of an array.
fn part<'py>(
    array: &Bound<'py, PyArray1<f64>>,
    range: &Range<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let slice = PySlice::new(array.py(), range.start as isize, range.end as isize, 1);
    Ok(array.get_item(slice)?.cast_into()?)
}
