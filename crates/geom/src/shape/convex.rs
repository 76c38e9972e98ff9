//! The convex hull of points: vertices, polygonal faces, and integrals over its volume.
//!
//! Coplanar triangles of the hull are merged to polygons, so that flat faces are flat for the narrow phase
//! too. Support in O(log vertices), see `support_quadtree`.

use super::hull::{self, Lists};
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
        let (volume, com, inertia) = hull.integrals;
        let normals = hull.faces.iter().map(|face| face_normal(&hull.vertices, face)).collect();
        let (around, around_starts) = faces_around(hull.vertices.len(), &hull.faces);
        Ok(Self {
            quadtree: SupportQuadtree::new(&hull.vertices),
            bounds: Aabb::of_points(hull.vertices.iter().copied()),
            radius: hull.vertices.iter().fold(0.0, |most: f64, vertex| most.max(vertex.norm())),
            around,
            around_starts,
            corners: hull.faces.entries,
            vertices: hull.vertices,
            starts: hull.faces.starts,
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

    /// Distance of the nearest face from the centre of mass [m].
    pub fn least_half_extent(&self) -> f64 {
        let height = |k: usize| {
            let corner = self.vertices[self.face_corners(k)[0] as usize];
            self.normals[k].dot(&(corner - self.com))
        };
        (0..self.faces()).map(height).fold(f64::INFINITY, f64::min)
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

    /// Index of the farthest vertex along `dir`, which need not be a unit vector.
    pub fn support_vertex(&self, dir: &Vector3<f64>) -> usize {
        self.quadtree.farthest(dir)
    }

    /// Outward unit normal of the face at `vertex` that is closest to the direction `dir`.
    pub fn nearest_normal(&self, vertex: usize, dir: &Vector3<f64>) -> Vector3<f64> {
        let around = self.around_starts[vertex] as usize..self.around_starts[vertex + 1] as usize;
        let normals = self.around[around].iter().map(|&k| self.normals[k as usize]);
        // Every vertex of a hull has faces.
        normals.max_by(|a, b| a.dot(dir).total_cmp(&b.dot(dir))).unwrap_or(*dir)
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

/// Faces around each of `n` vertices in ascending order, one vertex after the other, and where each starts.
fn faces_around(n: usize, faces: &Lists) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; n + 1];
    faces.entries.iter().for_each(|corner| starts[*corner as usize + 1] += 1);
    for k in 0..n {
        starts[k + 1] += starts[k];
    }
    let (mut around, mut ends) = (vec![0; faces.entries.len()], starts.clone());
    for (k, face) in (0..).zip(faces.iter()) {
        for &corner in face {
            let end = &mut ends[corner as usize];
            around[*end as usize] = k;
            *end += 1;
        }
    }
    (around, starts)
}
