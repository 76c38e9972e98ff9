//! Whether a mesh bounds a solid: closed, and no triangle crosses another.
//!
//! Pairs of triangles whose boxes overlap are tested edge against face; triangles that share a vertex are not.
//! O(n log n) for surfaces that do not fold.

use crate::ShapeError;
use crate::shape::Mesh;
use crate::shape::mesh::EdgeConvexity;
use nalgebra::Vector3;

/// An error that says where, if the mesh is open or crosses itself.
pub fn check(mesh: &Mesh) -> Result<(), ShapeError> {
    if !mesh.is_closed() {
        let border = mesh.edges().iter().find(|edge| edge.convexity == EdgeConvexity::Border);
        let at = border.map_or(Vector3::zeros(), |edge| {
            edge.ends.iter().map(|&v| mesh.vertices()[v as usize]).sum::<Vector3<f64>>() * 0.5
        });
        let borders = mesh.border_edges();
        return Err(ShapeError::OpenAt { borders, found: [at.x, at.y, at.z] });
    }
    for t in 0..mesh.triangles().len() as u32 {
        let corners = mesh.corners(t);
        let own = mesh.triangles()[t as usize];
        let mut crossing = None;
        mesh.tree().visit(&crate::Aabb::of_points(corners), |other| {
            let shares = mesh.triangles()[other as usize].iter().any(|v| own.contains(v));
            if crossing.is_none() && other != t && !shares {
                crossing = crosses(&corners, &mesh.corners(other)).map(|at| (other, at));
            }
        });
        if let Some((other, at)) = crossing {
            return Err(ShapeError::Crossing { triangles: [t, other], found: [at.x, at.y, at.z] });
        }
    }
    Ok(())
}

/// A point at which an edge of the first triangle passes through the second.
fn crosses(a: &[Vector3<f64>; 3], b: &[Vector3<f64>; 3]) -> Option<Vector3<f64>> {
    let (ab, ac) = (b[1] - b[0], b[2] - b[0]);
    let n = ab.cross(&ac);
    (0..3).find_map(|k| {
        let (from, to) = (a[k], a[(k + 1) % 3]);
        let (h0, h1) = (n.dot(&(from - b[0])), n.dot(&(to - b[0])));
        if !(h0 * h1 < 0.0) {
            return None;
        }
        let at = from + (to - from) * (h0 / (h0 - h1));
        let side = |p: Vector3<f64>, q: Vector3<f64>| n.dot(&(q - p).cross(&(at - p))) > 0.0;
        (side(b[0], b[1]) && side(b[1], b[2]) && side(b[2], b[0])).then_some(at)
    })
}
