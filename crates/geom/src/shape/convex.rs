//! The convex hull of points: vertices, polygonal faces, and integrals over its volume.
//!
//! Coplanar triangles of the hull are merged to polygons, so that flat faces are flat for the narrow phase
//! too. Support in O(log vertices), see `support_quadtree`.

use super::hull;
use super::support_quadtree::SupportQuadtree;
use crate::narrow::{FAR_OUT, SupportFeature};
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A convex polyhedron.
#[derive(Clone, Debug)]
pub struct Convex {
    vertices: Vec<Vector3<f64>>,
    /// Vertices of the faces, one face after the other, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Start of each face in `corners`, and the end of the last.
    starts: Vec<u32>,
    /// Outward unit normals of the faces.
    normals: Vec<Vector3<f64>>,
    /// Faces around each vertex, one vertex after the other, and where each vertex starts.
    around: Vec<u32>,
    around_starts: Vec<u32>,
    quadtree: SupportQuadtree,
    bounds: Aabb,
    radius: f64,
    volume: f64,
    com: Vector3<f64>,
    /// Central inertia per unit of density \[m⁵\].
    inertia: Matrix3<f64>,
}

impl Convex {
    /// The hull of `points` [m].
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, ShapeError> {
        let hull = hull::of_points(points)?;
        let (volume, com, inertia) = integrals(&hull);
        let normals = hull.faces.iter().map(|face| face_normal(&hull.vertices, face)).collect();
        let mut starts = vec![0];
        let mut faces_at = vec![Vec::new(); hull.vertices.len()];
        for (k, face) in hull.faces.iter().enumerate() {
            starts.push(starts[k] + face.len() as u32);
            face.iter().for_each(|&corner| faces_at[corner as usize].push(k as u32));
        }
        let mut around_starts = vec![0];
        for (k, faces) in faces_at.iter().enumerate() {
            around_starts.push(around_starts[k] + faces.len() as u32);
        }
        Ok(Self {
            quadtree: SupportQuadtree::new(&hull.vertices),
            bounds: Aabb::of_points(hull.vertices.iter().copied()),
            radius: hull.vertices.iter().fold(0.0, |most: f64, vertex| most.max(vertex.norm())),
            around: faces_at.concat(),
            around_starts,
            corners: hull.faces.concat(),
            vertices: hull.vertices,
            starts,
            normals,
            volume,
            com,
            inertia,
        })
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

    /// Bounding radius about the shape's origin [m].
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
        self.vertices[self.quadtree.farthest(dir)]
    }

    /// The face that contains most of the vertices farthest along `dir`, as a polygon; of several, the one
    /// whose normal is closest to it.
    pub fn face(&self, dir: &Vector3<f64>, face: &mut SupportFeature) {
        let vertex = self.quadtree.farthest(dir);
        let around = self.around_starts[vertex] as usize..self.around_starts[vertex + 1] as usize;
        let least = self.vertices[vertex].dot(dir) - FAR_OUT * self.bounds.size().max();
        let mut best = (0, 0, f64::NEG_INFINITY);
        for &k in &self.around[around] {
            let k = k as usize;
            let height = |&corner: &u32| self.vertices[corner as usize].dot(dir);
            // A face or an edge of it: more than two vertices do not distinguish faces.
            let far = self.face_corners(k).iter().filter(|corner| height(corner) >= least).count();
            let (far, facing) = (far.min(2), self.normals[k].dot(dir));
            if far > best.1 || (far == best.1 && facing > best.2) {
                best = (k, far, facing);
            }
        }
        for &corner in self.face_corners(best.0) {
            face.push(corner, self.vertices[corner as usize]);
        }
    }
}

/// Unit normal of a polygon by the sum of its triangles, which averages round-off over them.
fn face_normal(vertices: &[Vector3<f64>], face: &[u32]) -> Vector3<f64> {
    let origin = vertices[face[0] as usize];
    let spoke = |k: usize| vertices[face[k] as usize] - origin;
    (1..face.len() - 1).map(|k| spoke(k).cross(&spoke(k + 1))).sum::<Vector3<f64>>().normalize()
}

/// Volume \[m³\], centre of mass [m] and central inertia per density \[m⁵\], by tetrahedra from one
/// vertex: ∫ x xᵀ over one with corners 0, a, b, c is det/120 (Σ p pᵀ + (Σ p)(Σ p)ᵀ).
fn integrals(hull: &hull::Hull) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let origin = hull.vertices[0];
    let (mut six_volume, mut moment, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for face in &hull.faces {
        let corner = |k: usize| hull.vertices[face[k] as usize] - origin;
        for k in 1..face.len() - 1 {
            let (a, b, c) = (corner(0), corner(k), corner(k + 1));
            let determinant = a.dot(&b.cross(&c));
            let sum = a + b + c;
            six_volume += determinant;
            moment += determinant / 4.0 * sum;
            second += determinant / 20.0
                * (a * a.transpose()
                    + b * b.transpose()
                    + c * c.transpose()
                    + sum * sum.transpose());
        }
    }
    let offset = moment / six_volume;
    let central = (second - six_volume * offset * offset.transpose()) / 6.0;
    let inertia = Matrix3::from_diagonal_element(central.trace()) - central;
    (six_volume / 6.0, origin + offset, inertia)
}
