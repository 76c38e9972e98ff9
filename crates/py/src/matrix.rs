//! Matrices between NumPy or SciPy and compressed rows.

use numpy::{AllowTypeChange, PyArray1, PyArrayLike1, PyArrayLike2, PyArrayMethods};
use pyo3::prelude::*;
use stiction_solve::file::Csr;

use crate::{error, memory};

/// A matrix from a dense array, or from anything that has a method `tocsr`.
pub fn read(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Csr> {
    if given.hasattr("tocsr")? { sparse(what, given) } else { dense(what, given) }
}

fn sparse(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Csr> {
    let matrix = given.call_method0("tocsr")?;
    let (rows, cols): (usize, usize) = matrix.getattr("shape")?.extract()?;
    let indices = |name: &str| -> PyResult<Vec<usize>> {
        let array = matrix.getattr(name)?;
        let array: PyArrayLike1<'_, i64, AllowTypeChange> = array.extract()?;
        let found = array.as_array().iter().map(|x| usize::try_from(*x)).collect::<Result<_, _>>();
        found.map_err(|_| error::problem(format!("{what}.{name} holds a negative number")))
    };
    let data = matrix.getattr("data")?;
    let data: PyArrayLike1<'_, f64, AllowTypeChange> = data.extract()?;
    let (indptr, columns) = (indices("indptr")?, indices("indices")?);
    Csr::from_parts(rows, cols, indptr, columns, data.as_array().to_vec()).map_err(|wrong| {
        let (found, expected) = (wrong.found, wrong.expected);
        error::problem(format!("{what}: found {found}; expected {expected}"))
    })
}

fn dense(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Csr> {
    memory::check_given(what, given)?;
    let array: PyArrayLike2<'_, f64, AllowTypeChange> = given.extract().map_err(|refused| {
        error::problem(format!("{what}: expected a matrix, dense or sparse; {refused}"))
    })?;
    let array = array.as_array();
    let (rows, cols) = array.dim();
    let mut out = Csr { rows, cols, indptr: vec![0], indices: Vec::new(), data: Vec::new() };
    for row in array.rows() {
        for (column, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            out.indices.push(column);
            out.data.push(*x);
        }
        out.indptr.push(out.data.len());
    }
    Ok(out)
}

/// As a sparse array of SciPy, or as a dense one where there is no SciPy.
pub fn write<'py>(py: Python<'py>, matrix: &Csr) -> PyResult<Bound<'py, PyAny>> {
    let shape = (matrix.rows, matrix.cols);
    if let Ok(scipy) = py.import("scipy.sparse") {
        let index = |x: &[usize]| PyArray1::from_iter(py, x.iter().map(|x| *x as i64));
        let data = PyArray1::from_slice(py, &matrix.data);
        let parts = (data, index(&matrix.indices), index(&matrix.indptr));
        return scipy.getattr("csr_array")?.call1((parts, shape));
    }
    memory::check("a dense matrix", &[matrix.rows, matrix.cols], 1)?;
    let mut dense = vec![0.0; matrix.rows * matrix.cols];
    for row in 0..matrix.rows {
        for (column, x) in matrix.row(row) {
            dense[row * matrix.cols + column] = x;
        }
    }
    Ok(PyArray1::from_vec(py, dense).reshape([matrix.rows, matrix.cols])?.into_any())
}
