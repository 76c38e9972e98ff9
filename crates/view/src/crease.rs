//! Creases of a deforming surface. Edges that are sharp in the first frame stay sharp: a vertex on one is
//! drawn as several corners, one for each smooth part of the surface around it.
//!
//! Cost: linear in the number of triangles.

use std::collections::HashMap;

use nalgebra::Vector3;

use crate::mesh::CREASE;

/// A surface over corners; several corners may share one vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreasedSurface {
    /// The vertex of each corner.
    pub vertices: Vec<u32>,
    /// Triangles over the corners.
    pub triangles: Vec<[u32; 3]>,
}

/// Splits vertices [m] between faces that meet at a crease. Triangles without vertices are left out.
pub fn split(vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> CreasedSurface {
    let in_range = |t: &&[u32; 3]| t.iter().all(|&v| (v as usize) < vertices.len());
    let triangles: Vec<[u32; 3]> = triangles.iter().filter(in_range).copied().collect();
    let normal = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| Vector3::from(vertices[v as usize].map(f64::from)));
        (b - a).cross(&(c - a)).try_normalize(0.0)
    };
    let normals: Vec<_> = triangles.iter().map(normal).collect();
    // Union-find over triangle corners 3 t + k, joined across edges that are not creases.
    let mut parent: Vec<usize> = (0..3 * triangles.len()).collect();
    let mut beside: HashMap<[u32; 2], usize> = HashMap::new();
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            let Some(other) = beside.insert([from.min(to), from.max(to)], t) else { continue };
            let is_crease = match (&normals[t], &normals[other]) {
                (Some(own), Some(across)) => own.dot(across) < CREASE.cos(),
                _ => false,
            };
            if is_crease {
                continue;
            }
            for (vertex, place) in [(from, 3 * t + k), (to, 3 * t + (k + 1) % 3)] {
                let Some(there) = triangles[other].iter().position(|v| *v == vertex) else {
                    continue;
                };
                let (a, b) = (root(&mut parent, place), root(&mut parent, 3 * other + there));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut creased = CreasedSurface::default();
    let mut corner_of = vec![u32::MAX; parent.len()];
    for (t, corners) in triangles.iter().enumerate() {
        creased.triangles.push([0, 1, 2].map(|k| {
            let corner = &mut corner_of[root(&mut parent, 3 * t + k)];
            if *corner == u32::MAX {
                *corner = creased.vertices.len() as u32;
                creased.vertices.push(corners[k]);
            }
            *corner
        }));
    }
    creased
}

/// Representative of a corner's set.
fn root(parent: &mut [usize], mut place: usize) -> usize {
    while parent[place] != place {
        parent[place] = parent[parent[place]];
        place = parent[place];
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron, and a fan of gentle slopes.
    const CORNERS: [[f32; 3]; 4] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn every_face_of_a_tetrahedron_has_corners_of_its_own() {
        let creased = split(&CORNERS, &FACES);
        assert_eq!(creased.vertices.len(), 12);
        for (drawn, face) in creased.triangles.iter().zip(&FACES) {
            assert_eq!(drawn.map(|corner| creased.vertices[corner as usize]), *face);
        }
    }

    #[test]
    fn faces_that_meet_gently_share_their_corners() {
        let mut flat = CORNERS;
        flat[3] = [0.3, 0.3, 0.05];
        let roof = [[0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let creased = split(&flat, &roof);
        assert_eq!(creased.vertices.len(), 4);
        assert_eq!(creased.triangles.len(), 3);
    }

    #[test]
    fn vertices_that_are_not_there_make_no_corner() {
        assert_eq!(split(&CORNERS, &[[0, 1, 9]]), CreasedSurface::default());
    }
}
