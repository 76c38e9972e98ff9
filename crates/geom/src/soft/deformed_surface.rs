//! The present form of a soft surface: bounds, normals and the fitted tree, from the positions of its nodes.
//!
//! Memory only: filled anew in each detection, and only as far as somebody comes near. A triangle that has
//! collapsed or is not finite has no normal and takes no part.

use super::surface_topology::SurfaceTopology;
use super::tree::Region;
use crate::Aabb;
use crate::shape::triangle::Feature;
use nalgebra::Vector3;

/// The present form of a soft surface.
#[derive(Clone, Debug)]
pub struct DeformedSurface {
    /// Positions of the vertices [m].
    pub points: Vec<Vector3<f64>>,
    /// How far the vertices may get in a step [m].
    pub reach: Vec<f64>,
    /// The greatest of them [m].
    pub farthest: f64,
    /// Box around all vertices [m].
    pub hull: Aabb,
    /// Outward unit normals of the faces; zero if there is none.
    pub normals: Vec<Vector3<f64>>,
    /// Outward unit normals of the vertices; zero if there is none.
    pub outward: Vec<Vector3<f64>>,
    /// Blended normals, by the names of [`SurfaceTopology::blends`].
    blended: Vec<Vector3<f64>>,
    /// Boxes of the faces [m] and of the nodes of the tree.
    pub bounds: Vec<Aabb>,
    pub regions: Vec<Region>,
    fitted: bool,
}

impl DeformedSurface {
    /// Memory without a form.
    pub fn new() -> Self {
        Self {
            points: Vec::new(),
            reach: Vec::new(),
            farthest: 0.0,
            hull: Aabb::NONE,
            normals: Vec::new(),
            outward: Vec::new(),
            blended: Vec::new(),
            bounds: Vec::new(),
            regions: Vec::new(),
            fitted: false,
        }
    }

    /// Takes up the positions and reaches [m] of the nodes.
    pub fn measure(&mut self, topology: &SurfaceTopology, nodes: &[Vector3<f64>], reach: &[f64]) {
        self.points.clear();
        self.reach.clear();
        let at = |node: u32| nodes.get(node as usize).copied().unwrap_or_else(Vector3::zeros);
        let far = |node: u32| reach.get(node as usize).copied().unwrap_or(0.0).max(0.0);
        self.points.extend(topology.vertices.iter().map(|&node| at(node)));
        self.reach.extend(topology.vertices.iter().map(|&node| far(node)));
        self.farthest = self.reach.iter().copied().fold(0.0, f64::max);
        self.hull = Aabb::of_points(self.points.iter().copied());
        self.fitted = false;
    }

    /// Finds normals and boxes, once per motion.
    pub fn fit(&mut self, topology: &SurfaceTopology) {
        if std::mem::replace(&mut self.fitted, true) {
            return;
        }
        let Self { points, normals, outward, blended, bounds, regions, .. } = self;
        let zero = Vector3::zeros();
        normals.resize(topology.faces.len(), zero);
        bounds.resize(topology.faces.len(), Aabb::NONE);
        outward.clear();
        outward.resize(points.len(), zero);
        blended.clear();
        blended.resize(topology.blend_count, zero);
        for (f, t) in topology.faces.iter().enumerate() {
            let p = t.map(|v| points[v as usize]);
            bounds[f] = Aabb::of_points(p);
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
        topology.tree.fit(bounds, normals, regions);
    }

    /// Corners of a face [m].
    pub fn corners(&self, topology: &SurfaceTopology, face: u32) -> [Vector3<f64>; 3] {
        topology.faces[face as usize].map(|v| self.points[v as usize])
    }

    /// The outward normal at the point of a face with these weights: blended over the faces around, but not
    /// across a crease, so that it turns evenly where the surface is meant to be round.
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

    /// A vector along which the outside lies of the feature of a face: its normal, the sum of both at an
    /// edge, the sum by angles at a corner [Baerentzen05, Sec. 3].
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

/// Weights of the corners of a triangle at the foot of the perpendicular from `q` on its plane, and not
/// clamped to it; `None` for a triangle without area.
pub fn weights(q: &Vector3<f64>, [a, b, c]: &[Vector3<f64>; 3]) -> Option<[f64; 3]> {
    let n = (b - a).cross(&(c - a));
    let square = n.norm_squared();
    let (to_a, to_b, to_c) = (a - q, b - q, c - q);
    let w = [to_b.cross(&to_c), to_c.cross(&to_a), to_a.cross(&to_b)].map(|x| x.dot(&n) / square);
    (square > 0.0 && w.iter().all(|x| x.is_finite())).then_some(w)
}
