//! MeshDistance distance from a point to a triangle mesh, exact to round-off.
//!
//! The nearest point comes from the bounding volume hierarchy, the sign from the angle-weighted
//! pseudo-normal of the feature it lies on, which is correct for every closed mesh, also at edges and
//! corners [Baerentzen05, Theorem 1]. No grid, no interpolation error; O(log n) per query as a rule.

use crate::shape::mesh::{Mesh, NearestMeshPoint};
use crate::shape::triangle::Feature;
use nalgebra::Vector3;

/// Fraction of the mesh's size below which a point counts as on the surface, and the pseudo-normal replaces
/// the direction to it [-].
const ON_SURFACE: f64 = 1e-12;

/// Signed distance of a point from a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshDistance {
    /// Distance [m]: negative inside a closed mesh, or behind the nearest face of an open one.
    pub distance: f64,
    /// Unit direction in which the distance grows fastest [-].
    pub gradient: Vector3<f64>,
    /// The nearest point of the mesh.
    pub nearest: NearestMeshPoint,
}

impl Mesh {
    /// MeshDistance distance of `point` [m] within `limit` [m] of the surface; `None` farther away.
    pub fn signed_distance(&self, point: &Vector3<f64>, limit: f64) -> Option<MeshDistance> {
        let nearest = self.nearest(point, limit)?;
        let t = nearest.triangle;
        let outward = match nearest.feature {
            Feature::Face => self.normal(t),
            Feature::Edge(k) => {
                let faces = self.edges()[self.sides(t)[k] as usize].faces;
                faces.iter().flatten().map(|&face| self.normal(face)).sum()
            }
            Feature::Corner(k) => self.pseudo_normal(self.triangles()[t as usize][k]),
        };
        let away = point - nearest.point;
        let sign = if away.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let flat = nearest.distance <= ON_SURFACE * self.bounding_radius();
        let gradient = if flat || nearest.feature == Feature::Face {
            // Where the pseudo-normal cancels (a needle's tip), the face normal is used.
            outward.try_normalize(f64::EPSILON).unwrap_or_else(|| self.normal(t))
        } else {
            away * (sign / nearest.distance)
        };
        Some(MeshDistance { distance: sign * nearest.distance, gradient, nearest })
    }

    /// Whether the point lies in the solid; never for an open mesh.
    pub fn contains(&self, point: &Vector3<f64>) -> bool {
        self.is_closed()
            && self.local_bounds().contains_point(point)
            && self.signed_distance(point, f64::INFINITY).is_some_and(|s| s.distance < 0.0)
    }
}
