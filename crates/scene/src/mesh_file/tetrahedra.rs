//! Files of tetrahedral meshes: from bytes to a checked [`TetMesh`].
//!
//! One file per format; [`TET_FORMATS`] lists them. Vertices that belong to no tetrahedron (centres of arcs,
//! corners of what was meshed) are dropped and the others keep their order; lines and triangles are passed
//! over, they bound what the tetrahedra fill. Every other element is an error: it would leave a hole.

use std::path::Path;

use nalgebra::Vector3;
use stiction_geom::{TetMesh, TetMeshError};

use super::{gmsh, vtk, wrong, wrong_line};
use crate::error::SceneError;
use crate::files::Files;

/// One line of [`TET_FORMATS`].
pub struct TetFormat {
    /// Name.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Description in one line.
    pub about: &'static str,
    /// Reads bytes; the path only names them in messages.
    pub parse: fn(&[u8], &Path) -> Result<TetMesh, SceneError>,
}

/// Every format of tetrahedral meshes, in alphabetical order.
/// To add one: write `mesh_file/<name>.rs`, then add one line here.
pub static TET_FORMATS: &[TetFormat] = &[
    TetFormat {
        name: "gmsh",
        extensions: &["msh"],
        about: "Gmsh 2.2 and 4.1, text or binary: tetrahedra of four nodes",
        parse: gmsh::parse,
    },
    TetFormat {
        name: "vtk",
        extensions: &["vtk"],
        about: "VTK unstructured grids, text or binary: tetrahedra",
        parse: vtk::parse,
    },
];

/// Reads a tetrahedral mesh; the format follows from the ending of the name.
pub fn tetrahedra(files: &mut Files, path: &Path) -> Result<TetMesh, SceneError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    let format = extension
        .and_then(|e| TET_FORMATS.iter().find(|format| format.extensions.contains(&e.as_str())));
    let Some(format) = format else {
        let endings: Vec<_> =
            TET_FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!(".{e}")).collect();
        let what = format!(
            "expected a tetrahedral mesh whose name ends in one of: {}",
            endings.join(", ")
        );
        return Err(wrong(path, what));
    };
    let bytes = files.read(path)?;
    (format.parse)(&bytes, path)
}

/// Content of a file, before it is checked.
#[derive(Debug, Default)]
pub(super) struct TetFileContent {
    /// Vertices [m, unless a scale follows].
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of the tetrahedra, as indices of `vertices`.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Lines of the tetrahedra, counted from one; zero in a binary file.
    pub lines: Vec<u32>,
}

impl TetFileContent {
    /// Drops unused vertices and checks the mesh.
    pub fn finish(self, path: &Path) -> Result<TetMesh, SceneError> {
        if self.tetrahedra.is_empty() {
            return Err(wrong(path, "found no tetrahedra; expected at least one"));
        }
        let mut number = vec![u32::MAX; self.vertices.len()];
        self.tetrahedra.iter().flatten().for_each(|&v| number[v as usize] = 0);
        let mut vertices = Vec::new();
        for (number, vertex) in number.iter_mut().zip(&self.vertices) {
            if *number == 0 {
                *number = vertices.len() as u32;
                vertices.push(*vertex);
            }
        }
        let tetrahedra = self.tetrahedra.iter().map(|t| t.map(|v| number[v as usize])).collect();
        TetMesh::new(vertices, tetrahedra).map_err(|error| {
            let element = match &error {
                TetMeshError::Flat { element, .. } => Some(*element),
                TetMeshError::Face { elements, .. } => elements.last().copied(),
                _ => None,
            };
            match element.and_then(|element| self.lines.get(element)) {
                Some(&line) if line > 0 => wrong_line(path, line as usize, error.to_string()),
                _ => wrong(path, error.to_string()),
            }
        })
    }
}

/// A place in a file of text with stretches of binary numbers.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Line of the last word read, counted from one; binary stretches count as no lines.
    pub line: usize,
    next_line: usize,
    path: &'a Path,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberEncoding {
    Text,
    BigEndian,
    LittleEndian,
}

/// Kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    F32,
    F64,
    I32,
    I64,
    /// Data of other sizes, that is only passed over [bytes].
    Other(usize),
}

impl NumberType {
    /// Length of a binary number [bytes].
    pub fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::Other(size) => size,
        }
    }
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], path: &'a Path) -> Self {
        Self { bytes, at: 0, line: 1, next_line: 1, path }
    }

    /// An error at the last word.
    pub fn wrong(&self, what: impl Into<String>) -> SceneError {
        wrong_line(self.path, self.line, what)
    }

    /// The next word; `None` at the end of the file.
    pub fn try_word(&mut self) -> Option<&'a str> {
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.next_line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        self.line = self.next_line;
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
        self.at += length;
        // Invalid UTF-8 becomes an empty word, which is an error wherever a word is expected.
        (length > 0).then(|| std::str::from_utf8(&rest[..length]).unwrap_or(""))
    }

    /// The next word; an error that says what was expected at the end of the file.
    pub fn word(&mut self, expected: &str) -> Result<&'a str, SceneError> {
        match self.try_word() {
            Some(word) => Ok(word),
            None => Err(self.wrong(format!("the file ends; expected {expected}"))),
        }
    }

    /// The rest of the present line, without its end.
    pub fn rest_of_line(&mut self) -> &'a str {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.line = self.next_line;
        self.next_line += usize::from(length < rest.len());
        self.at = (self.at + length + 1).min(self.bytes.len());
        std::str::from_utf8(&rest[..length]).unwrap_or("").trim_end_matches('\r')
    }

    /// A word that is a number.
    pub fn parse<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, SceneError> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| {
            self.wrong(format!("found \"{}\"; expected {expected}", super::excerpt(word)))
        })
    }

    /// A count of things of which each takes at least `least` bytes.
    pub fn count(&mut self, what: &str, least: usize) -> Result<usize, SceneError> {
        let count: u64 = self.parse(&format!("a number of {what}"))?;
        self.fits(count, what, least)
    }

    /// Checks that so many things of at least so many bytes fit what is left of the file.
    pub fn fits(&self, count: u64, what: &str, least: usize) -> Result<usize, SceneError> {
        let left = self.bytes.len() - self.at;
        match usize::try_from(count).ok().filter(|n| n.saturating_mul(least.max(1)) <= left) {
            Some(count) => Ok(count),
            None => Err(self.wrong(format!(
                "{count} {what}; expected no more than the {left} bytes left of the file hold"
            ))),
        }
    }

    /// The next bytes of a binary stretch.
    pub fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], SceneError> {
        let taken = self.at.checked_add(length).and_then(|end| self.bytes.get(self.at..end));
        let Some(taken) = taken else {
            let left = self.bytes.len() - self.at;
            return Err(self.wrong(format!(
                "{left} bytes are left of the file; expected {length} for {what}"
            )));
        };
        self.at += length;
        Ok(taken)
    }

    /// A whole number.
    pub fn integer(
        &mut self,
        written: NumberEncoding,
        kind: NumberType,
        expected: &str,
    ) -> Result<i64, SceneError> {
        if written == NumberEncoding::Text {
            return self.parse(expected);
        }
        let bytes = self.take(kind.size(), expected)?;
        let big = written == NumberEncoding::BigEndian;
        Ok(match *bytes {
            [a, b, c, d] => {
                let bytes = [a, b, c, d];
                i64::from(if big { i32::from_be_bytes(bytes) } else { i32::from_le_bytes(bytes) })
            }
            _ => {
                let bytes = eight(bytes);
                if big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) }
            }
        })
    }

    /// A finite number.
    pub fn real(
        &mut self,
        written: NumberEncoding,
        kind: NumberType,
        expected: &str,
    ) -> Result<f64, SceneError> {
        let found = if written == NumberEncoding::Text {
            self.parse(expected)?
        } else {
            let bytes = self.take(kind.size(), expected)?;
            let big = written == NumberEncoding::BigEndian;
            match *bytes {
                [a, b, c, d] => {
                    let bytes = [a, b, c, d];
                    let x = if big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) };
                    f64::from(x)
                }
                _ => {
                    let bytes = eight(bytes);
                    if big { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) }
                }
            }
        };
        if found.is_finite() {
            return Ok(found);
        }
        Err(self.wrong(format!("found {found}; expected {expected}")))
    }
}

/// The first eight bytes, filled up with zeros.
fn eight(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    eight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_stand_in_order_and_unknown_endings_are_told() {
        assert!(TET_FORMATS.is_sorted_by(|a, b| a.name < b.name));
        let message = tetrahedra(&mut Files::in_memory(), Path::new("a/b.ply")).unwrap_err();
        let message = message.to_string();
        assert!(message.contains("a/b.ply") && message.contains(".vtk"), "{message}");
    }

    #[test]
    fn vertices_without_an_element_are_dropped_and_flat_elements_named_with_their_line() {
        let vertices = [[9.0; 3], [0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let gathered = |last: [f64; 3]| {
            let mut vertices = vertices.map(Vector3::from).to_vec();
            vertices[4] = last.into();
            TetFileContent { vertices, tetrahedra: vec![[1, 2, 3, 4]], lines: vec![17] }
        };
        let mesh = gathered([0.0, 0.0, 1.0]).finish(Path::new("a.vtk")).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.tetrahedra()), (4, &[[0, 1, 2, 3]][..]));
        let flat = gathered([1.0, 1.0, 0.0]).finish(Path::new("a.vtk")).unwrap_err().to_string();
        assert!(flat.starts_with("a.vtk:17: ") && flat.contains("element 0"), "{flat}");
    }
}
