//! Visual meshes as arrays of triangles.

use nalgebra::UnitQuaternion;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_sim::record::VisualShape;
use stiction_view::mesh::{Mesh, Meshes};

/// Meshes of shapes, each with its body and its pose in the body frame. Equal meshes share arrays.
pub fn of_shapes<'py>(py: Python<'py>, shapes: &[VisualShape]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "stiction.types", "Visual")?;
    let (meshes, placed) = py.detach(|| {
        let mut meshes = Meshes::expecting(shapes.len());
        let placed: Vec<_> = shapes.iter().map(|shape| meshes.of(&shape.geometry)).collect();
        (meshes, placed)
    });
    let arrays = |mesh: &Mesh| {
        Ok((rows(py, &mesh.positions)?, rows(py, &mesh.normals)?, rows(py, &mesh.triangles)?))
    };
    let arrays: Vec<_> = meshes.all().iter().map(arrays).collect::<PyResult<_>>()?;
    let none = arrays_of_nothing(py)?;
    let mut visuals = Vec::new();
    for (shape, placed) in shapes.iter().zip(placed) {
        for part in placed {
            let (vertices, normals, triangles) = part.mesh.map_or(&none, |index| &arrays[index]);
            let pose = shape.pose * part.pose;
            visuals.push(class.call1((
                shape.body,
                &shape.name,
                vertices,
                normals,
                triangles,
                PyArray1::from_slice(py, pose.translation.vector.as_slice()),
                PyArray1::from_slice(py, &quaternion(&pose.rotation)),
                PyArray1::from_slice(py, &part.scale),
                PyArray1::from_slice(py, &shape.colour),
                shape.collides,
            ))?);
        }
    }
    Ok(visuals)
}

/// Vertices, normals and triangles.
type Arrays<'py> =
    (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u32>>);

/// The empty mesh of a half space, which is unbounded.
fn arrays_of_nothing(py: Python<'_>) -> PyResult<Arrays<'_>> {
    Ok((rows(py, &[])?, rows(py, &[])?, rows(py, &[])?))
}

fn rows<'py, T: Element + Copy>(
    py: Python<'py>,
    rows: &[[T; 3]],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    PyArray1::from_slice(py, rows.as_flattened()).reshape([rows.len(), 3])
}

/// w, x, y, z.
pub fn quaternion(rotation: &UnitQuaternion<f64>) -> [f64; 4] {
    let q = rotation.quaternion();
    [q.w, q.i, q.j, q.k]
}
