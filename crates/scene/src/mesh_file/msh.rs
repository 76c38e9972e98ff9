//! MuJoCo's own binary meshes, all little endian: four 32-bit counts (vertices, normals, texture
//! coordinates, faces), then the floats of the first three and the corners of the faces.

use std::path::Path;

use nalgebra::Vector3;

use super::{Triangles, gmsh, wrong};
use crate::error::SceneError;

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    let word = |k: usize| {
        let at = 4 * k;
        bytes.get(at..at + 4).map(|w| [w[0], w[1], w[2], w[3]]).unwrap_or_default()
    };
    if bytes.trim_ascii_start().starts_with(gmsh::HEAD) {
        return Err(wrong(path, "found elements of Gmsh; expected a triangle mesh of MuJoCo"));
    }
    if bytes.len() < 16 {
        return Err(wrong(path, format!("{} bytes; expected at least 16", bytes.len())));
    }
    let mut counts = [0_u64; 4];
    for (k, count) in counts.iter_mut().enumerate() {
        let found = i32::from_le_bytes(word(k));
        *count = u64::try_from(found)
            .map_err(|_| wrong(path, format!("a count is {found}; expected none below 0")))?;
    }
    let [vertices, normals, texture, faces] = counts;
    let words = 4 + 3 * vertices + 3 * normals + 2 * texture + 3 * faces;
    if 4 * words != bytes.len() as u64 {
        let (found, expected) = (bytes.len(), 4 * words);
        let what = format!(
            "{found} bytes; expected {expected} for {vertices} vertices, {normals} normals, \
             {texture} texture coordinates and {faces} faces"
        );
        return Err(wrong(path, what));
    }
    // All of them fit the file, whose length is a usize.
    let (vertices, faces) = (vertices as usize, faces as usize);
    let first_face = words as usize - 3 * faces;
    let mut mesh = Triangles::default();
    for k in 0..vertices {
        let at = [0, 1, 2].map(|i| f32::from_le_bytes(word(4 + 3 * k + i)));
        if let Some(found) = at.iter().find(|x| !x.is_finite()) {
            return Err(wrong(path, format!("vertex {k} has {found}; expected finite numbers")));
        }
        mesh.vertices.push(Vector3::from(at.map(f64::from)));
    }
    for k in 0..faces {
        let corners = [0, 1, 2].map(|i| u32::from_le_bytes(word(first_face + 3 * k + i)));
        if let Some(found) = corners.iter().find(|c| **c as usize >= vertices) {
            let what =
                format!("face {k} names vertex {}; expected one of {vertices}", *found as i32);
            return Err(wrong(path, what));
        }
        mesh.triangles.push(corners);
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(counts: [i32; 4], floats: &[f32], faces: &[i32]) -> Vec<u8> {
        let counts = counts.iter().flat_map(|n| n.to_le_bytes());
        let floats = floats.iter().flat_map(|x| x.to_le_bytes());
        counts.chain(floats).chain(faces.iter().flat_map(|n| n.to_le_bytes())).collect()
    }

    #[test]
    fn vertices_and_faces_are_found_between_normals_and_texture() {
        let mut floats = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.0];
        floats.extend([7.0; 3 + 2 * 2]); // one normal, two texture coordinates
        let mesh = parse(&file([3, 1, 2, 1], &floats, &[2, 0, 1]), Path::new("a.msh")).unwrap();
        assert_eq!(mesh.vertices[2], Vector3::new(0.0, 0.25, 0.0));
        assert_eq!(mesh.triangles, [[2, 0, 1]]);
    }

    #[test]
    fn counts_that_do_not_fit_the_file_are_refused() {
        let triangle = [0.0; 9];
        for (counts, faces) in [
            ([3, 0, 0, 2], [0, 1, 2]),
            ([i32::MAX; 4], [0, 1, 2]),
            ([-3, 0, 0, 1], [0, 1, 2]),
            ([3, 0, 0, 1], [0, 1, 3]),
            ([3, 0, 0, 1], [0, 1, -1]),
        ] {
            assert!(parse(&file(counts, &triangle, &faces), Path::new("a.msh")).is_err());
        }
        assert!(parse(&[1, 2, 3], Path::new("a.msh")).is_err());
        let gmsh = parse(b"$MeshFormat\n2.2 0 8\n", Path::new("a.msh")).unwrap_err().to_string();
        assert!(gmsh.contains("Gmsh"), "{gmsh}");
        let nan = [0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(parse(&file([3, 0, 0, 1], &nan, &[0, 1, 2]), Path::new("a.msh")).is_err());
    }
}
