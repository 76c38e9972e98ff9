//! The boundary of a tetrahedral mesh: faces of one element only, and whether they form a manifold.
//!
//! Faces and edges are matched by sorting, O(n log n), in an order that depends on the elements alone.

use super::FACES;
use crate::TetMeshError;

/// Triangles of the boundary, outward, in the order of the elements (all of positive volume).
pub fn extract(tetrahedra: &[[u32; 4]]) -> Result<Vec<[u32; 3]>, TetMeshError> {
    // A face by its sorted corners, its element, and its corners with outward orientation.
    let mut faces: Vec<([u32; 3], u32, [u32; 3])> = Vec::with_capacity(4 * tetrahedra.len());
    for (element, corners) in tetrahedra.iter().enumerate() {
        for face in FACES {
            let seen = face.map(|k| corners[k]);
            let mut key = seen;
            key.sort_unstable();
            faces.push((key, element as u32, seen));
        }
    }
    faces.sort_unstable();
    let mut boundary: Vec<(u32, [u32; 3])> = Vec::new();
    for shared in faces.chunk_by(|one, two| one.0 == two.0) {
        match shared {
            [(_, element, seen)] => boundary.push((*element, *seen)),
            // Two elements on the two sides of a face give it opposite orientations.
            [one, two] if is_odd(one.2) != is_odd(two.2) => {}
            _ => {
                let elements = shared.iter().map(|face| face.1 as usize).collect();
                return Err(TetMeshError::Face { corners: shared[0].0, elements });
            }
        }
    }
    boundary.sort_unstable_by_key(|&(element, seen)| (element, seen));
    Ok(boundary.into_iter().map(|(_, seen)| seen).collect())
}

/// Whether the corners are an odd permutation of their sorted order.
fn is_odd([a, b, c]: [u32; 3]) -> bool {
    (a > b) ^ (b > c) ^ (a > c)
}

/// Checks that each edge joins two triangles and that each vertex has one fan of them.
pub fn check_manifold(triangles: &[[u32; 3]], vertices: usize) -> Result<(), TetMeshError> {
    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(3 * triangles.len());
    for t in triangles {
        edges.extend([0, 1, 2].map(|k| [t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3])]));
    }
    edges.sort_unstable();
    for shared in edges.chunk_by(|one, two| one == two) {
        if shared.len() != 2 {
            return Err(TetMeshError::Edge { ends: shared[0], triangles: shared.len() });
        }
    }
    // Around a vertex, each triangle connects one neighbour to the next: following them from any one must
    // return after as many steps as there are triangles.
    let mut starts = vec![0_u32; vertices + 1];
    triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut place = starts.clone();
    let mut steps = vec![[0_u32; 2]; 3 * triangles.len()];
    for t in triangles {
        for k in 0..3 {
            let at = &mut place[t[k] as usize];
            steps[*at as usize] = [t[(k + 1) % 3], t[(k + 2) % 3]];
            *at += 1;
        }
    }
    for vertex in 0..vertices {
        let fan = &steps[starts[vertex] as usize..starts[vertex + 1] as usize];
        let Some(&[first, mut at]) = fan.first() else { continue };
        let mut length = 1;
        while at != first && length <= fan.len() {
            let Some(&[_, next]) = fan.iter().find(|step| step[0] == at) else { break };
            (at, length) = (next, length + 1);
        }
        if length != fan.len() {
            return Err(TetMeshError::Pinched { vertex });
        }
    }
    Ok(())
}
