//! STL, binary or text. Corners with exactly the same coordinates become one vertex.
//!
//! Many binary files begin with the word "solid" too, so the length decides: a binary file is as
//! long as its count of triangles implies. The normals of the file are ignored.

use std::collections::HashMap;
use std::path::Path;

use nalgebra::Vector3;

use super::{Triangles, excerpt, vector, wrong, wrong_line};
use crate::error::SceneError;

/// Length of a binary file before its first triangle, and of each triangle [bytes].
const HEAD: usize = 84;
const EACH: usize = 50;

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    let stated = bytes.get(HEAD - 4..HEAD).map(|count| {
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
        HEAD as u64 + EACH as u64 * u64::from(count)
    });
    let length = bytes.len() as u64;
    let begins_as_text = bytes.trim_ascii_start().get(..5).is_some_and(|w| w == b"solid");
    match stated {
        Some(stated) if stated == length => binary(bytes, path),
        _ if begins_as_text => text(bytes, path),
        // Some writers add a trailer.
        Some(stated) if stated < length => binary(&bytes[..stated as usize], path),
        Some(stated) => Err(wrong(
            path,
            format!(
                "{length} bytes; expected {stated} for the {} triangles that the file announces",
                (stated - HEAD as u64) / EACH as u64
            ),
        )),
        None => Err(wrong(
            path,
            format!("{length} bytes; expected text that begins with \"solid\", or at least {HEAD}"),
        )),
    }
}

/// Vertices by their coordinates.
#[derive(Default)]
struct MergedVertices {
    mesh: Triangles,
    known: HashMap<[u64; 3], u32>,
}

impl MergedVertices {
    fn vertex(&mut self, at: Vector3<f64>) -> u32 {
        // Adding zero makes +0 of −0, which is the same place.
        let at = at.add_scalar(0.0);
        let key = [at.x.to_bits(), at.y.to_bits(), at.z.to_bits()];
        let vertices = &mut self.mesh.vertices;
        *self.known.entry(key).or_insert_with(|| {
            vertices.push(at);
            vertices.len() as u32 - 1
        })
    }
}

fn binary(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    let mut merge = MergedVertices::default();
    for (number, record) in bytes[HEAD..].chunks_exact(EACH).enumerate() {
        let float = |k: usize| {
            let at = 12 + 4 * k; // after the normal
            f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let mut corners = [0; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            let at = [float(3 * k), float(3 * k + 1), float(3 * k + 2)];
            if let Some(found) = at.iter().find(|x| !x.is_finite()) {
                let what =
                    format!("triangle {number} has a corner with {found}; expected finite numbers");
                return Err(wrong(path, what));
            }
            *corner = merge.vertex(Vector3::from(at.map(f64::from)));
        }
        merge.mesh.triangles.push(corners);
    }
    Ok(merge.mesh)
}

fn text(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    let text = String::from_utf8_lossy(bytes);
    let mut merge = MergedVertices::default();
    let mut corners = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let told = |expected: &str| {
            let what = format!("found \"{}\"; expected {expected}", excerpt(line.trim()));
            wrong_line(path, number + 1, what)
        };
        let mut words = line.split_ascii_whitespace();
        let Some(word) = words.next() else { continue };
        match word.to_ascii_lowercase().as_str() {
            "vertex" => {
                let at =
                    vector(&mut words).ok_or_else(|| told("vertex and three finite numbers"))?;
                corners.push(merge.vertex(at));
            }
            "endloop" => {
                let triangle = <[u32; 3]>::try_from(&corners[..]).map_err(|_| {
                    told(&format!("three vertices before it, not {}", corners.len()))
                })?;
                merge.mesh.triangles.push(triangle);
                corners.clear();
            }
            "solid" | "facet" | "outer" | "endfacet" | "endsolid" | "color" => {}
            _ => return Err(told("solid, facet, outer loop, vertex, endloop, endfacet, endsolid")),
        }
    }
    if !corners.is_empty() {
        return Err(wrong(path, "ends within a triangle; expected endloop"));
    }
    Ok(merge.mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f32; 3]; 4] =
        [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 1.0]];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];

    fn binary_file(header: &[u8]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((FACES.len() as u32).to_le_bytes());
        for face in FACES {
            bytes.extend([0; 12]);
            for corner in face {
                CORNERS[corner as usize].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn text_file() -> String {
        let mut text = "solid vertex of a tetrahedron\n".to_owned();
        for face in FACES {
            text += "facet normal 0 0 0\n outer loop\n";
            for corner in face {
                let [x, y, z] = CORNERS[corner as usize];
                text += &format!("  vertex {x:e} {y} {z}\n");
            }
            text += " endloop\nendfacet\n";
        }
        text + "endsolid\n"
    }

    fn read(bytes: &[u8]) -> Result<Triangles, SceneError> {
        parse(bytes, Path::new("a.stl"))
    }

    #[test]
    fn text_and_binary_tell_the_same_shape_whatever_the_header_says() {
        let mesh = read(&binary_file(b"made by hand")).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
        assert_eq!(read(&binary_file(b"solid made by hand")).unwrap(), mesh);
        let text = read(text_file().as_bytes()).unwrap();
        assert_eq!(text.triangles, mesh.triangles);
        for (a, b) in text.vertices.iter().zip(&mesh.vertices) {
            // The text has the shortest digits that round to the same single precision number.
            assert!((a - b).amax() <= 0.1 * f64::from(f32::EPSILON));
        }
    }

    #[test]
    fn minus_zero_is_the_same_place_as_zero() {
        let text = "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 -0\nvertex 0 1 0\nendloop\n\
                    outer loop\nvertex -0 0 -0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendsolid\n";
        assert_eq!(read(text.as_bytes()).unwrap().vertices.len(), 3);
    }

    #[test]
    fn truncated_and_foreign_files_are_refused() {
        let whole = binary_file(b"robot");
        for length in [0, 3, 83, 84, 100, whole.len() - 1] {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let mut nan = whole.clone();
        nan[HEAD + 12..HEAD + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read(&nan).is_err());
        let mut huge = whole;
        huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&huge).unwrap_err().to_string().contains("4294967295"));
        assert!(read(b"solid\nfacet\nouter loop\nvertex 0 0 0\nendloop").is_err());
        assert!(read(b"solid\nfacet\nouter loop\nvertex 0 0 0").is_err());
        assert!(read(b"solid\nvertices 1 2 3").is_err());
    }
}
