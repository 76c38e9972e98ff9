//! Contacts between a half space and a surface of triangles: its vertices near the plane.

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::triangle_surface::TriangleSurface;
use crate::shape::Mesh;
use nalgebra::{Isometry3, Vector3};

/// Finds the contacts within `reach` [m] between the half space z ≤ 0 of the frame P at `X_PM` and `mesh`;
/// the points are written in P, in the role of B.
pub fn find(mesh: &Mesh, X_PM: &Isometry3<f64>, reach: f64, scratch: &mut NonconvexScratch) {
    // In the frame of the mesh, the height over the plane is n·x + d.
    let n = X_PM.rotation.inverse_transform_vector(&Vector3::z());
    let d = X_PM.translation.vector.z;
    scratch.vertices.clear();
    let vertices = &mut scratch.vertices;
    let low = |bounds: &crate::Aabb| {
        let corner =
            Vector3::from_fn(|i, _| if n[i] > 0.0 { bounds.min[i] } else { bounds.max[i] });
        n.dot(&corner) + d <= reach
    };
    mesh.tree().visit_where(low, |t| vertices.extend(mesh.triangles()[t as usize]));
    scratch.vertices.sort_unstable();
    scratch.vertices.dedup();
    for &v in &scratch.vertices {
        let p_P = X_PM.rotation * mesh.vertex(v) + X_PM.translation.vector;
        if p_P.z <= reach && mesh.is_exposed(v) {
            scratch.candidates.push(ContactCandidate {
                feature: feature_id(FeatureKind::Vertex, v, 1),
                on_B: Vector3::new(p_P.x, p_P.y, 0.0),
                normal: Vector3::z(),
                gap: p_P.z,
                clear: p_P.z,
                over: None,
                at: 0,
            });
        }
    }
}
