//! Wavefront OBJ: lines `v x y z` and `f` with corners `v`, `v/vt`, `v//vn` or `v/vt/vn`.
//!
//! Indices count from one, or from the last vertex backwards if negative; polygons are cut into
//! triangles. A line `o` or `g` after faces ends the first object. Every other statement is ignored: it does not concern
//! the shape. Numbers keep the digits of the text.

use std::path::Path;

use super::{Triangles, excerpt, polygon, vector, wrong, wrong_line};
use crate::error::SceneError;

/// Reads the text of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    // Comments and names of materials may be in any encoding.
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = Triangles::default();
    let mut corners = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        // A backslash at the end continues the line.
        let mut whole = line.trim_end().to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            match lines.next() {
                Some((_, next)) => whole.push_str(next.trim_end()),
                None => break,
            }
        }
        let told = |expected: &str| {
            let what = format!("found \"{}\"; expected {expected}", excerpt(&whole));
            wrong_line(path, number + 1, what)
        };
        let mut words = whole.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let vertex =
                    vector(&mut words).ok_or_else(|| told("v and three finite numbers"))?;
                mesh.vertices.push(vertex);
            }
            Some("f") => {
                corners.clear();
                for word in words {
                    let corner = index(word, mesh.vertices.len())
                        .ok_or_else(|| told("corners that name vertices above this line"))?;
                    corners.push(corner);
                }
                if corners.len() < 3 {
                    return Err(told("f and at least three corners"));
                }
                polygon::cut(&corners, &mesh.vertices, &mut mesh.triangles);
            }
            Some("o" | "g") if mesh.first_object.is_none() && !mesh.triangles.is_empty() => {
                mesh.first_object = Some(mesh.triangles.len());
            }
            _ => {}
        }
    }
    if mesh.vertices.is_empty() {
        return Err(wrong(path, "found no vertices; expected lines \"v x y z\""));
    }
    Ok(mesh)
}

/// The vertex, counted from zero, that the corner of a face names.
fn index(word: &str, vertices: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let place = if number > 0 { number - 1 } else { vertices as i64 + number };
    (number != 0 && (0..vertices as i64).contains(&place)).then(|| u32::try_from(place).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Triangles, SceneError> {
        parse(text.as_bytes(), Path::new("a.obj"))
    }

    #[test]
    fn corners_are_read_in_all_their_forms_and_polygons_are_cut() {
        let square = "# é\no square\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\n";
        let halves = [[0, 1, 3], [1, 2, 3]];
        for face in [
            "f 1 2 3 4",
            "f 1/1 2/1 3/1 4/1",
            "f 1//1 2//1 3//1 4//1",
            "f 1/1/1 2/1/1 3/1/1 4/1/1",
            "f -4 -3 -2 -1",
            "f 1 2 \\\n 3 4",
            "usemtl x\r\nf 1 2 4\r\nf 2 3 4\r\n",
        ] {
            assert_eq!(read(&format!("{square}{face}")).unwrap().triangles, halves, "{face}");
        }
    }

    #[test]
    fn the_first_object_ends_where_a_second_begins() {
        let corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
        let read = |faces: &str| read(&format!("{corners}{faces}")).unwrap();
        assert_eq!(read("o a\nf 1 2 3\n").first_object, None);
        let two = read("g\no a\nf 1 2 3\ng b\nf 3 2 1\no c\nf 1 2 3\n");
        assert_eq!((two.first_object, two.triangles.len()), (Some(1), 3));
    }

    #[test]
    fn digits_beyond_single_precision_are_kept() {
        let mesh = read("v 0.123456789012 1e-3 -2\n").unwrap();
        assert_eq!(mesh.vertices[0].as_slice(), [0.123456789012, 1e-3, -2.0]);
    }

    #[test]
    fn invalid_faces_are_refused_with_their_line() {
        for bad in ["f 1 2 4", "f 1 2 0", "f 1 2", "f 1 2 -9", "f a b c", "v 1 2", "v 1 2 nan"] {
            let text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{bad}\n");
            let message = read(&text).unwrap_err().to_string();
            assert!(message.starts_with("a.obj:4: ") && message.contains(bad), "{message}");
        }
        assert!(read("").is_err());
    }
}
