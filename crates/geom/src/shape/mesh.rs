//! A triangle mesh: solid if it is closed, a thin sheet with two sides if it is open. It is never replaced
//! by its convex hull.
//!
//! Building welds equal vertices, drops triangles without area (and counts them), finds adjacent triangles,
//! orients them outwards and finds coplanar patches; the result needs no further checks. An edge is flat,
//! convex or concave by the angle between its faces; only convex edges and their ends can touch from
//! outside, so that edges inside a flat face produce no contacts.
//! MeshDistance distances are in [`crate::sdf`].

use super::moments::Moments;
use super::ray::Ray;
use super::triangle::{self, Feature};
use crate::bvh::Bvh;
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::HashMap;
use stiction_math::sets::DisjointSets;

/// Sine of the angle between two faces below which their common edge counts as flat [-].
const FLAT: f64 = 1e-7;
/// Ratio of height to longest edge below which a triangle is degenerate [-].
const NEEDLE: f64 = 1e-12;

/// Angle between two faces below which a surface counts as smooth there [rad].
pub const SMOOTH: f64 = 0.5;

/// How two faces meet at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeConvexity {
    /// Only one face has this edge.
    Border,
    /// The solid angle is less than a half space: a ridge seen from outside.
    Convex,
    /// The solid angle is more than a half space: a valley seen from outside.
    Concave,
    /// Both faces lie in one plane.
    Flat,
}

/// An edge and the faces that meet there.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its ends, in the order of its first face.
    pub ends: [u32; 2],
    /// Its faces: the first always exists.
    pub faces: [Option<u32>; 2],
    /// How the faces meet.
    pub convexity: EdgeConvexity,
}

/// The point of a mesh nearest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestMeshPoint {
    /// The point on the mesh [m].
    pub point: Vector3<f64>,
    /// Distance [m], not negative.
    pub distance: f64,
    /// The triangle.
    pub triangle: u32,
    /// The part of the triangle on which the point lies.
    pub feature: Feature,
}

/// A triangle mesh.
#[derive(Clone, Debug)]
pub struct Mesh {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    /// Unit normals of the triangles.
    normals: Vec<Vector3<f64>>,
    /// Edges of the triangles: `k` runs from corner k to the next.
    sides: Vec<[u32; 3]>,
    edges: Vec<Edge>,
    /// Patch of each triangle: connected coplanar triangles share one.
    patches: Vec<u32>,
    /// Angle-weighted pseudo-normals of the vertices.
    pseudo: Vec<Vector3<f64>>,
    /// Neighbours of the vertices, one vertex after the other, and the start of each vertex.
    ring: Vec<u32>,
    ring_starts: Vec<u32>,
    /// Whether an edge at the vertex is convex or a border.
    exposed: Vec<bool>,
    /// Whether a side of the triangle is convex or a border, and whether all its sides are smooth.
    ridged: Vec<(bool, bool)>,
    tree: Bvh,
    bounds: Aabb,
    radius: f64,
    dropped: usize,
    closed: bool,
    moments: Moments,
    /// Mean length of the edges [m].
    width: f64,
}

impl Mesh {
    /// Builds a mesh from vertices [m] and triangles.
    ///
    /// Equal vertices are merged; triangles without area are dropped. If all triangles can be oriented
    /// consistently, they are; a closed mesh then faces outwards. A mesh with an edge of one or of more
    /// than two triangles, or one that cannot be oriented, is open.
    pub fn build(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        check(vertices, triangles)?;
        let (vertices, mut triangles, dropped) = weld(vertices, triangles);
        if triangles.is_empty() {
            return Err(ShapeError::TooFew {
                shape: "mesh",
                element: "triangles with an area",
                found: 0,
                expected: 1,
            });
        }
        let closed = orient(&vertices, &mut triangles);
        let (sides, mut edges) = join(&triangles);
        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        let normals: Vec<_> =
            triangles.iter().map(|t| area_vector(corners(t)).normalize()).collect();
        let mut planes = DisjointSets::new(triangles.len());
        for edge in &mut edges {
            edge.convexity = convexity(edge, &vertices, &triangles, &normals);
            if let (EdgeConvexity::Flat, [Some(a), Some(b)]) = (edge.convexity, edge.faces) {
                planes.union(a as usize, b as usize);
            }
        }
        let patches = (0..triangles.len()).map(|t| planes.find(t) as u32).collect();
        let mut pseudo = vec![Vector3::zeros(); vertices.len()];
        for (t, n) in triangles.iter().zip(&normals) {
            let p = corners(t);
            for k in 0..3 {
                let (to_next, to_last) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                pseudo[t[k] as usize] += n * to_next.angle(&to_last);
            }
        }
        let (ring, ring_starts) = rings(vertices.len(), &edges);
        let mut exposed = vec![false; vertices.len()];
        for edge in edges
            .iter()
            .filter(|e| matches!(e.convexity, EdgeConvexity::Convex | EdgeConvexity::Border))
        {
            edge.ends.iter().for_each(|&v| exposed[v as usize] = true);
        }
        let cos_smooth = SMOOTH.cos();
        let turns = |e: &Edge| match e.faces {
            [Some(a), Some(b)] => normals[a as usize].dot(&normals[b as usize]) < cos_smooth,
            _ => true,
        };
        let ridged = sides.iter().map(|side: &[u32; 3]| {
            let meets = side.map(|e| &edges[e as usize]);
            let ridge = meets
                .iter()
                .any(|e| matches!(e.convexity, EdgeConvexity::Convex | EdgeConvexity::Border));
            (ridge, !meets.iter().any(|e| turns(e)))
        });
        let ridged = ridged.collect();
        let boxes: Vec<_> = triangles.iter().map(|t| Aabb::of_points(corners(t))).collect();
        let tree = Bvh::of_boxes(&boxes);
        let bounds = tree.bounds();
        let moments = Moments::of(triangles.iter().map(corners), bounds.centre());
        let length =
            |e: &Edge| (vertices[e.ends[0] as usize] - vertices[e.ends[1] as usize]).norm();
        let width = edges.iter().map(length).sum::<f64>() / edges.len() as f64;
        let radius = vertices.iter().map(Vector3::norm).fold(0.0, f64::max);
        Ok(Self {
            vertices,
            triangles,
            normals,
            sides,
            edges,
            patches,
            pseudo,
            ring,
            ring_starts,
            exposed,
            ridged,
            tree,
            bounds,
            radius,
            dropped,
            closed,
            moments,
            width,
        })
    }

    /// Vertices after welding [m].
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Corners of a triangle [m].
    pub fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// Unit normal of a triangle.
    pub fn normal(&self, triangle: u32) -> Vector3<f64> {
        self.normals[triangle as usize]
    }

    /// All edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Edges of a triangle: `k` runs from corner k to the next.
    pub fn sides(&self, triangle: u32) -> [u32; 3] {
        self.sides[triangle as usize]
    }

    /// Coplanar patch to which a triangle belongs.
    pub fn patch(&self, triangle: u32) -> u32 {
        self.patches[triangle as usize]
    }

    /// Vertices that share an edge with `vertex`.
    pub fn ring(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.ring[self.ring_starts[v] as usize..self.ring_starts[v + 1] as usize]
    }

    /// Whether an edge at the vertex is convex or a border: only such a vertex can touch from outside.
    pub fn is_exposed(&self, vertex: u32) -> bool {
        self.exposed[vertex as usize]
    }

    /// Whether a side of the triangle is convex or a border.
    pub fn is_ridged(&self, triangle: u32) -> bool {
        self.ridged[triangle as usize].0
    }

    /// Whether the surface turns by less than [`SMOOTH`] at all sides of the triangle.
    pub fn is_smooth(&self, triangle: u32) -> bool {
        self.ridged[triangle as usize].1
    }

    /// Sum of the normals around a vertex, weighted by their angles there [Baerentzen05, Sec. 3].
    pub fn pseudo_normal(&self, vertex: u32) -> Vector3<f64> {
        self.pseudo[vertex as usize]
    }

    /// Bounding volume hierarchy over the triangles.
    pub fn tree(&self) -> &Bvh {
        &self.tree
    }

    /// Mean length of the edges [m].
    pub fn mesh_width(&self) -> f64 {
        self.width
    }

    /// Number of triangles that were dropped because they had no area.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Whether the mesh bounds a solid.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Number of edges that do not join exactly two triangles.
    pub fn border_edges(&self) -> usize {
        self.edges.iter().filter(|e| e.convexity == EdgeConvexity::Border).count()
    }

    /// Volume, centroid and second moments of the solid; an error if the mesh is open.
    pub fn moments(&self) -> Result<Moments, ShapeError> {
        if self.closed {
            return Ok(self.moments);
        }
        Err(ShapeError::Open { shape: "mesh", borders: self.border_edges() })
    }

    /// The point of the mesh nearest to `point`, if it lies within `limit` [m].
    pub fn nearest(&self, point: &Vector3<f64>, limit: f64) -> Option<NearestMeshPoint> {
        self.nearest_if(point, limit, |_| true)
    }

    /// The point nearest to `point` [m] on the triangles that `accept` admits, if it lies within
    /// `limit` [m].
    pub fn nearest_if(
        &self,
        point: &Vector3<f64>,
        limit: f64,
        accept: impl Fn(u32) -> bool,
    ) -> Option<NearestMeshPoint> {
        let mut best: Option<NearestMeshPoint> = None;
        let mut bound = limit * limit;
        self.tree.visit_nearest(
            point,
            bound,
            |_, _| false,
            |t, _| {
                if accept(t) {
                    let [a, b, c] = self.corners(t);
                    let (on, feature) = triangle::nearest(point, &a, &b, &c);
                    let squared = (point - on).norm_squared();
                    // Of several triangles at one distance, the one with the lowest index is chosen.
                    let wins = best.is_none_or(|old| squared < bound || t < old.triangle);
                    if squared <= bound && wins {
                        bound = squared;
                        best = Some(NearestMeshPoint {
                            point: on,
                            distance: squared.sqrt(),
                            triangle: t,
                            feature,
                        });
                    }
                }
                bound
            },
        );
        best
    }

    /// Distance along the unit `direction` from `origin` [m] to the first triangle within `limit` [m],
    /// and that triangle.
    pub fn cast(
        &self,
        origin: &Vector3<f64>,
        direction: &Vector3<f64>,
        limit: f64,
    ) -> Option<(f64, u32)> {
        let ray = Ray { origin: *origin, direction: *direction };
        let mut best: Option<(f64, u32)> = None;
        self.tree.visit_where(
            |bounds| ray.meets(bounds, limit),
            |t| {
                let Some(s) = triangle::cast(origin, direction, &self.corners(t)) else { return };
                if s <= limit && best.is_none_or(|old| (s, t) < old) {
                    best = Some((s, t));
                }
            },
        );
        best
    }

    /// Bounds in S [m].
    pub fn local_bounds(&self) -> Aabb {
        self.bounds
    }

    /// Bounds in the world [m].
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        Aabb::of_box(X_WS, self.bounds.centre(), 0.5 * self.bounds.size())
    }

    /// Bounding radius about the shape's origin [m].
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Mass [kg], centre of mass [m] and central inertia [kg·m²] at `density` [kg/m³]: all zero if the
    /// mesh is open.
    pub fn mass_properties(&self, density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        match self.moments() {
            Ok(m) => (density * m.volume, m.centroid, density * m.inertia()),
            Err(_) => (0.0, Vector3::zeros(), Matrix3::zeros()),
        }
    }

    /// Always succeeds: building validated the shape.
    pub fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }
}

fn check(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    for (index, p) in vertices.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            return Err(ShapeError::Vertex { shape: "mesh", index, found: [p.x, p.y, p.z] });
        }
    }
    for (face, triangle) in triangles.iter().enumerate() {
        if let Some(&found) = triangle.iter().find(|&&v| v as usize >= vertices.len()) {
            let (found, vertices) = (found as usize, vertices.len());
            return Err(ShapeError::Index { shape: "mesh", face, found, vertices });
        }
    }
    Ok(())
}

/// Twice the area of a triangle, along its normal [m²].
fn area_vector([a, b, c]: [Vector3<f64>; 3]) -> Vector3<f64> {
    (b - a).cross(&(c - a))
}

/// Merges equal vertices, drops unused ones, and triangles without area (which are counted).
fn weld(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>, usize) {
    let mut known: HashMap<[u64; 3], u32> = HashMap::new();
    let (mut kept, mut faces) = (Vec::new(), Vec::new());
    for triangle in triangles {
        let p = triangle.map(|v| vertices[v as usize]);
        let longest = (0..3).map(|k| (p[(k + 1) % 3] - p[k]).norm_squared()).fold(0.0, f64::max);
        if !(area_vector(p).norm() > NEEDLE * longest) {
            continue;
        }
        faces.push(p.map(|p| {
            // Adding zero turns −0 into 0.
            let key = [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
            *known.entry(key).or_insert_with(|| {
                kept.push(p);
                kept.len() as u32 - 1
            })
        }));
    }
    let dropped = triangles.len() - faces.len();
    (kept, faces, dropped)
}

/// Edges of all triangles, and those of each triangle.
fn join(triangles: &[[u32; 3]]) -> (Vec<[u32; 3]>, Vec<Edge>) {
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut edges: Vec<Edge> = Vec::new();
    let sides = triangles.iter().enumerate().map(|(t, triangle)| {
        [0, 1, 2].map(|k| {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            let key = (a.min(b), a.max(b));
            // A third triangle at an edge starts another edge.
            if let Some(&e) = known.get(&key) {
                let edge = &mut edges[e as usize];
                if edge.faces[1].is_none() {
                    edge.faces[1] = Some(t as u32);
                    return e;
                }
            }
            let e = edges.len() as u32;
            edges.push(Edge {
                ends: [a, b],
                faces: [Some(t as u32), None],
                convexity: EdgeConvexity::Border,
            });
            known.insert(key, e);
            e
        })
    });
    (sides.collect(), edges)
}

/// Orients the triangles consistently and, if they bound a solid, outwards. Returns whether they bound one.
fn orient(vertices: &[Vector3<f64>], triangles: &mut [[u32; 3]]) -> bool {
    let (sides, edges) = join(triangles);
    let runs = |t: [u32; 3], [a, b]: [u32; 2]| (0..3).any(|k| t[k] == a && t[(k + 1) % 3] == b);
    let alike = |e: &Edge, triangles: &[[u32; 3]]| match e.faces {
        [Some(_), Some(b)] => !runs(triangles[b as usize], e.ends),
        _ => true,
    };
    let volume = |triangles: &[[u32; 3]]| {
        let corners = triangles.iter().map(|t| t.map(|v| vertices[v as usize]));
        Moments::of(corners, vertices[triangles[0][0] as usize]).volume
    };
    let mut orientable = true;
    if !edges.iter().all(|e| alike(e, triangles)) {
        // Traverse each connected part and flip triangles that disagree with their predecessor.
        let mut done = vec![false; triangles.len()];
        for root in 0..triangles.len() {
            if done[root] {
                continue;
            }
            done[root] = true;
            let mut part = vec![root];
            let mut next = 0;
            while next < part.len() {
                let t = part[next];
                next += 1;
                for &side in &sides[t] {
                    let e = &edges[side as usize];
                    let [Some(a), Some(b)] = e.faces else { continue };
                    let other = (if a as usize == t { b } else { a }) as usize;
                    let same_way = runs(triangles[t], e.ends) == runs(triangles[other], e.ends);
                    if done[other] {
                        orientable &= !same_way;
                        continue;
                    }
                    if same_way {
                        triangles[other].swap(1, 2);
                    }
                    done[other] = true;
                    part.push(other);
                }
            }
            let mut faces: Vec<_> = part.iter().map(|&t| triangles[t]).collect();
            if volume(&faces) < 0.0 {
                faces.iter_mut().for_each(|t| t.swap(1, 2));
                part.iter().zip(&faces).for_each(|(&t, &face)| triangles[t] = face);
            }
        }
    }
    let closed = orientable && edges.iter().all(|e| e.faces[1].is_some());
    // Consistently oriented parts keep their orientation, so that a cavity stays a cavity.
    if closed && volume(triangles) < 0.0 {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    closed
}

fn convexity(
    edge: &Edge,
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    normals: &[Vector3<f64>],
) -> EdgeConvexity {
    let [Some(a), Some(b)] = edge.faces else { return EdgeConvexity::Border };
    let other = triangles[b as usize];
    if (0..3).any(|k| [other[k], other[(k + 1) % 3]] == edge.ends) {
        // The orientations of both faces contradict each other: treat the edge as a border, so that both
        // sides can touch.
        return EdgeConvexity::Border;
    }
    let [from, to] = edge.ends.map(|v| vertices[v as usize]);
    edge_convexity(&normals[a as usize], &normals[b as usize], &(to - from))
}

/// How two faces with unit normals `n_a` and `n_b` meet at the edge vector `along`, directed as in face a.
pub(crate) fn edge_convexity(
    n_a: &Vector3<f64>,
    n_b: &Vector3<f64>,
    along: &Vector3<f64>,
) -> EdgeConvexity {
    // Normals turn about the edge by the angle between the faces, positive at a ridge.
    let sine = n_a.cross(n_b).dot(along) / along.norm();
    let folded = n_a.dot(n_b) < 0.0;
    if sine.abs() < FLAT && !folded {
        EdgeConvexity::Flat
    } else if sine > 0.0 || folded && sine > -FLAT {
        EdgeConvexity::Convex
    } else {
        EdgeConvexity::Concave
    }
}

/// Neighbours of all vertices, one vertex after the other, and where they start.
fn rings(vertices: usize, edges: &[Edge]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; vertices + 1];
    for edge in edges {
        edge.ends.iter().for_each(|&v| starts[v as usize + 1] += 1);
    }
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut fill = starts.clone();
    let mut ring = vec![0; 2 * edges.len()];
    for &Edge { ends: [a, b], .. } in edges {
        for (v, other) in [(a, b), (b, a)] {
            ring[fill[v as usize] as usize] = other;
            fill[v as usize] += 1;
        }
    }
    (ring, starts)
}

#[cfg(test)]
#[path = "mesh_tests.rs"]
mod tests;
