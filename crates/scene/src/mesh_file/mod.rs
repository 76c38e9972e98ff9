//! Files of triangle meshes.

use std::path::Path;

use nalgebra::Vector3;

use crate::error::SceneError;
use crate::files::Files;

/// Triangles of a file, as they stand in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Vertices [m, unless a scale follows].
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of triangles, anticlockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Reads a mesh; the format follows from the ending of the name.
pub fn read(_files: &mut Files, path: &Path) -> Result<Triangles, SceneError> {
    Err(SceneError::File { path: path.display().to_string(), what: "cannot be read yet".into() })
}
