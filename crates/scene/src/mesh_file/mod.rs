//! Files of triangle meshes, and of tetrahedral ones (`tetrahedra`).
//!
//! One file per format, each from bytes to [`Triangles`]; [`MESH_FORMATS`] lists them. Nothing is
//! repaired, scaled or dropped here: vertices and triangles are those of the file. Memory stays in
//! proportion to the length of the file: counts that it states are checked against that first.

mod dae;
mod gmsh;
pub mod mass;
mod msh;
mod obj;
mod polygon;
mod stl;
mod tetrahedra;
mod vtk;

pub use tetrahedra::{TET_FORMATS, TetFormat, tetrahedra};

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;

use crate::error::SceneError;
use crate::files::Files;
use crate::xml::SourceLocation;

/// Triangles of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Vertices [m, unless a scale follows].
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of triangles, anticlockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Number of triangles of the first object, where a file has several; MuJoCo reads only these.
    pub first_object: Option<usize>,
}

/// One line of [`MESH_FORMATS`].
pub struct MeshFormat {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Description in one line.
    pub about: &'static str,
    /// Reads bytes; the path only names them in messages.
    pub parse: fn(&[u8], &Path) -> Result<Triangles, SceneError>,
}

/// Every format of meshes, in alphabetical order.
/// To add one: write `mesh_file/<name>.rs`, then add one line here.
pub static MESH_FORMATS: &[MeshFormat] = &[
    MeshFormat {
        name: "dae",
        extensions: &["dae"],
        about: "COLLADA: geometry of the visual scene",
        parse: dae::parse,
    },
    MeshFormat {
        name: "msh",
        extensions: &["msh"],
        about: "binary meshes of MuJoCo",
        parse: msh::parse,
    },
    MeshFormat {
        name: "obj",
        extensions: &["obj"],
        about: "Wavefront: vertices and faces",
        parse: obj::parse,
    },
    MeshFormat {
        name: "stl",
        extensions: &["stl", "stla", "stlb"],
        about: "stereolithography, binary or text",
        parse: stl::parse,
    },
];

/// The format of a file name extension, if any.
pub fn format_of(path: &Path) -> Option<&'static MeshFormat> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    MESH_FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
}

/// Reads a mesh; the format follows from the ending of the name.
pub fn read(files: &mut Files, path: &Path) -> Result<Triangles, SceneError> {
    let Some(format) = format_of(path) else {
        let endings: Vec<_> =
            MESH_FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        let what = format!("expected a mesh whose name ends in one of: {}", endings.join(", "));
        return Err(wrong(path, what));
    };
    let bytes = files.read(path)?;
    (format.parse)(&bytes, path)
}

/// An error that concerns a whole file.
fn wrong(path: &Path, what: impl Into<String>) -> SceneError {
    SceneError::File { path: path.display().to_string(), what: what.into() }
}

/// An error in a line, counted from one.
fn wrong_line(path: &Path, line: usize, what: impl Into<String>) -> SceneError {
    let place = SourceLocation { file: Arc::new(path.to_path_buf()), line: line as u32 };
    SceneError::Model { place, what: what.into() }
}

/// The first characters of a line, for messages.
fn excerpt(line: &str) -> String {
    const LONGEST: usize = 80;
    let mut text: String = line.chars().take(LONGEST).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}

/// Three finite numbers.
fn vector<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Vector3<f64>> {
    let mut number = || words.next()?.parse().ok().filter(|x: &f64| x.is_finite());
    Some(Vector3::new(number()?, number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesh_formats_stand_in_order_and_share_no_ending() {
        assert!(MESH_FORMATS.is_sorted_by(|a, b| a.name < b.name));
        let mut endings: Vec<_> = MESH_FORMATS.iter().flat_map(|f| f.extensions).collect();
        endings.sort();
        assert!(endings.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_ending_counts_in_any_case_and_unknown_ones_are_told() {
        let mut files = Files::in_memory();
        files.insert("a/B.OBJ", *b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        assert_eq!(read(&mut files, Path::new("a/B.OBJ")).unwrap().triangles, [[0, 1, 2]]);
        let message = read(&mut files, Path::new("a/b.ply")).unwrap_err().to_string();
        assert!(message.contains("a/b.ply") && message.contains(".stl"), "{message}");
    }
}
