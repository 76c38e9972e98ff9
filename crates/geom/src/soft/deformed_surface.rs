//! Deformed configuration of a soft surface: normals and the refitted tree, from the positions of its nodes.
//!
//! Scratch only: recomputed in each detection, and only for surfaces with a partner nearby. A triangle that
//! has collapsed or is not finite has no normal and is ignored.

use super::surface_topology::SurfaceTopology;
use crate::Aabb;
use crate::bvh::{BoundingVolume, Bvh};
use crate::shape::triangle::Feature;
use nalgebra::Vector3;

/// Deformed configuration of a soft surface.
#[derive(Clone, Debug)]
pub struct DeformedSurface {
    /// Positions of the vertices [m].
    pub points: Vec<Vector3<f64>>,
    /// How far the vertices may move in a step [m].
    pub reach: Vec<f64>,
    /// The greatest of them [m].
    pub farthest: f64,
    /// Box around all vertices [m].
    pub hull: Aabb,
    /// Outward unit normals of the faces; zero if there is none.
    pub normals: Vec<Vector3<f64>>,
    /// Outward unit normals of the vertices; zero if there is none.
    pub outward: Vec<Vector3<f64>>,
    /// Blended normals, by the indices of [`SurfaceTopology::blends`].
    blended: Vec<Vector3<f64>>,
    /// Tree over the faces, with the nodes of [`SurfaceTopology::tree`].
    pub tree: Bvh<FaceVolume>,
    is_fitted: bool,
}

/// Bounds of deformed faces.
#[derive(Clone, Copy, Debug)]
pub struct FaceVolume {
    /// Box around the faces [m].
    pub bounds: Aabb,
    /// Box around their unit normals [-].
    pub normals: Aabb,
}

impl FaceVolume {
    /// Least product of `direction` with a vector of the box of normals.
    pub fn least_along(&self, direction: &Vector3<f64>) -> f64 {
        let Aabb { min, max } = &self.normals;
        (0..3).map(|k| (direction[k] * min[k]).min(direction[k] * max[k])).sum()
    }
}

impl BoundingVolume for FaceVolume {
    const EMPTY: Self = Self { bounds: Aabb::NONE, normals: Aabb::NONE };

    fn union(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            normals: self.normals.union(&other.normals),
        }
    }

    fn bounds(&self) -> &Aabb {
        &self.bounds
    }
}

impl DeformedSurface {
    /// Buffers for a surface, not yet fitted.
    pub fn new(topology: &SurfaceTopology) -> Self {
        Self {
            points: Vec::new(),
            reach: Vec::new(),
            farthest: 0.0,
            hull: Aabb::NONE,
            normals: Vec::new(),
            outward: Vec::new(),
            blended: Vec::new(),
            tree: topology.tree.with_empty_volumes(),
            is_fitted: false,
        }
    }

    /// Copies the positions and reaches [m] of the nodes and bounds them.
    pub fn measure(&mut self, topology: &SurfaceTopology, nodes: &[Vector3<f64>], reach: &[f64]) {
        self.points.clear();
        self.reach.clear();
        let at = |node: u32| nodes.get(node as usize).copied().unwrap_or_else(Vector3::zeros);
        let far = |node: u32| reach.get(node as usize).copied().unwrap_or(0.0).max(0.0);
        self.points.extend(topology.vertices.iter().map(|&node| at(node)));
        self.reach.extend(topology.vertices.iter().map(|&node| far(node)));
        self.farthest = self.reach.iter().copied().fold(0.0, f64::max);
        self.hull = Aabb::of_points(self.points.iter().copied());
        self.is_fitted = false;
    }

    /// Computes normals and refits the tree, once per call of [`DeformedSurface::measure`].
    pub fn fit(&mut self, topology: &SurfaceTopology) {
        if std::mem::replace(&mut self.is_fitted, true) {
            return;
        }
        let Self { points, normals, outward, blended, tree, .. } = self;
        let zero = Vector3::zeros();
        normals.resize(topology.faces.len(), zero);
        outward.clear();
        outward.resize(points.len(), zero);
        blended.clear();
        blended.resize(topology.blend_count, zero);
        for (f, t) in topology.faces.iter().enumerate() {
            let p = t.map(|v| points[v as usize]);
            let sides = [p[1] - p[0], p[2] - p[1], p[0] - p[2]];
            let area = sides[0].cross(&sides[1]);
            normals[f] = unit(&area);
            if normals[f] == zero {
                continue;
            }
            let squares = sides.map(|s| s.norm_squared());
            for k in 0..3 {
                // Weights that are exact for vertices on a sphere [Max99].
                let share = area / (squares[k] * squares[(k + 2) % 3]);
                outward[t[k] as usize] += share;
                blended[topology.blends[f][k] as usize] += share;
            }
        }
        outward.iter_mut().chain(blended.iter_mut()).for_each(|n| *n = unit(n));
        tree.refit(|face| {
            let (t, n) = (topology.faces[face as usize], normals[face as usize]);
            let bounds = Aabb::of_points(t.map(|v| points[v as usize]));
            FaceVolume { bounds, normals: Aabb { min: n, max: n } }
        });
    }

    /// Corners of a face [m].
    pub fn corners(&self, topology: &SurfaceTopology, face: u32) -> [Vector3<f64>; 3] {
        topology.faces[face as usize].map(|v| self.points[v as usize])
    }

    /// The outward normal at the point of a face with these weights: blended over the adjacent faces, but
    /// not across a crease, so that it varies continuously on smooth parts of the surface.
    pub fn normal_at(
        &self,
        topology: &SurfaceTopology,
        face: u32,
        weights: &[f64; 3],
    ) -> Vector3<f64> {
        let blends = topology.blends[face as usize];
        let sum: Vector3<f64> = (0..3).map(|k| self.blended[blends[k] as usize] * weights[k]).sum();
        let n = unit(&sum);
        if n == Vector3::zeros() { self.normals[face as usize] } else { n }
    }

    /// Pseudo-normal of a feature of a face: its normal, the sum of both at an edge, the angle-weighted sum
    /// at a corner [Baerentzen05, Sec. 3].
    pub fn side(&self, topology: &SurfaceTopology, face: u32, feature: Feature) -> Vector3<f64> {
        match feature {
            Feature::Face => self.normals[face as usize],
            Feature::Edge(k) => {
                let edge = topology.sides[face as usize][k];
                topology.edges[edge as usize].faces.iter().map(|&f| self.normals[f as usize]).sum()
            }
            Feature::Corner(k) => {
                let vertex = topology.faces[face as usize][k];
                let by_angle = |&f: &u32| {
                    let t = topology.faces[f as usize];
                    let k = t.iter().position(|&v| v == vertex).unwrap_or(0);
                    let p = t.map(|v| self.points[v as usize]);
                    let angle = (p[(k + 1) % 3] - p[k]).angle(&(p[(k + 2) % 3] - p[k]));
                    self.normals[f as usize] * if angle.is_finite() { angle } else { 0.0 }
                };
                topology.around(vertex).iter().map(by_angle).sum()
            }
        }
    }
}

/// The unit vector along `v`; zero if there is none.
pub fn unit(v: &Vector3<f64>) -> Vector3<f64> {
    let length = v.norm();
    if length > 0.0 && length.is_finite() { v / length } else { Vector3::zeros() }
}

/// Barycentric weights of the projection of `q` onto the plane of a triangle, not clamped to the triangle;
/// `None` for a triangle without area.
pub fn weights(q: &Vector3<f64>, [a, b, c]: &[Vector3<f64>; 3]) -> Option<[f64; 3]> {
    let n = (b - a).cross(&(c - a));
    let square = n.norm_squared();
    let (to_a, to_b, to_c) = (a - q, b - q, c - q);
    let w = [to_b.cross(&to_c), to_c.cross(&to_a), to_a.cross(&to_b)].map(|x| x.dot(&n) / square);
    (square > 0.0 && w.iter().all(|x| x.is_finite())).then_some(w)
}
