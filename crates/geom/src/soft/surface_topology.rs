//! Topology and rest configuration of a soft surface, which do not change.
//!
//! The rest configuration gives the thickness of the solid below each triangle (to distinguish a
//! penetrating point from one on the opposite side), creases (across which normals are not blended) and
//! which vertices and faces are neighbours that do not touch. O(n log n), once.

use super::SoftSurface;
use crate::bvh::Bvh;
use crate::{Aabb, SoftSurfaceError};
use nalgebra::Vector3;
use stiction_math::sets::DisjointSets;

/// Cosine of the angle between two faces at rest beyond which their edge is a crease [-].
const CREASE: f64 = 0.64;

/// Multiple of the solid's thickness within which a face behind a vertex is its opposite side [-].
const OTHER_SIDE: f64 = 1.5;

/// Radius of a vertex's neighbourhood as a multiple of its longest edge [-].
const NEIGHBOURHOOD: f64 = 2.0;

/// Cosine of the angle to a face's normal from which a point at rest lies in front of the face [-].
const IN_FRONT: f64 = 0.3;

/// An edge between two faces.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its ends, in the order of its first face.
    pub ends: [u32; 2],
    /// Its faces.
    pub faces: [u32; 2],
}

/// A face at rest.
#[derive(Clone, Copy, Debug)]
struct FaceAtRest {
    centre: Vector3<f64>,
    normal: Vector3<f64>,
    /// Radius of the face about its centre [m].
    radius: f64,
}

/// Topology and rest configuration of a soft surface. Vertices and faces have local indices.
#[derive(Clone, Debug)]
pub struct SurfaceTopology {
    /// Nodes of the vertices, ascending.
    pub vertices: Vec<u32>,
    /// Vertices of the faces, counter-clockwise seen from outside.
    pub faces: Vec<[u32; 3]>,
    /// Edges of the faces: `k` runs from corner k to the next.
    pub sides: Vec<[u32; 3]>,
    pub edges: Vec<Edge>,
    /// Indices of the blended normals at the corners of the faces: faces around a vertex share one unless a
    /// crease separates them.
    pub blends: Vec<[u32; 3]>,
    pub blend_count: usize,
    /// Thickness of the solid below each face and each vertex at rest [m].
    pub thickness: Vec<f64>,
    pub vertex_thickness: Vec<f64>,
    /// Greatest thickness [m].
    pub deepest: f64,
    /// Length of the longest edge at each vertex at rest [m].
    pub ring: Vec<f64>,
    /// Tree over the faces at rest; its boxes bound the centres of the faces [m].
    pub tree: Bvh,
    /// Faces around the vertices, one vertex after the other, and the start of each vertex.
    around: Vec<u32>,
    around_starts: Vec<u32>,
    rest: Vec<Vector3<f64>>,
    faces_at_rest: Vec<FaceAtRest>,
}

impl SurfaceTopology {
    /// Validates and analyses a surface.
    pub fn build(surface: u32, given: &SoftSurface) -> Result<Self, SoftSurfaceError> {
        check(surface, given)?;
        let mut vertices: Vec<u32> = given.triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut local = vec![u32::MAX; given.nodes.len()];
        for (k, &node) in vertices.iter().enumerate() {
            local[node as usize - given.nodes.start] = k as u32;
        }
        let faces: Vec<[u32; 3]> = given
            .triangles
            .iter()
            .map(|t| t.map(|node| local[node as usize - given.nodes.start]))
            .collect();
        let rest: Vec<_> =
            vertices.iter().map(|&node| given.rest[node as usize - given.nodes.start]).collect();
        let (sides, edges) = join(surface, &faces, &vertices)?;
        let corners = |t: &[u32; 3]| t.map(|v| rest[v as usize]);
        let faces_at_rest: Vec<_> = faces.iter().map(|t| FaceAtRest::new(corners(t))).collect();
        let (blends, blend_count) = blends(&faces, &edges, &faces_at_rest);
        let mut ring = vec![0.0_f64; vertices.len()];
        for edge in &edges {
            let [a, b] = edge.ends.map(|v| v as usize);
            let length = (rest[a] - rest[b]).norm();
            (ring[a], ring[b]) = (ring[a].max(length), ring[b].max(length));
        }
        let bounds: Vec<_> = faces.iter().map(|t| Aabb::of_points(corners(t))).collect();
        let normals: Vec<_> = faces_at_rest.iter().map(|face| face.normal).collect();
        let thickness = thickness(&faces, &rest, &faces_at_rest, &bounds);
        let mut vertex_thickness = vec![f64::INFINITY; vertices.len()];
        for (t, &thick) in faces.iter().zip(&thickness) {
            for &v in t {
                vertex_thickness[v as usize] = vertex_thickness[v as usize].min(thick);
            }
        }
        let (around, around_starts) = around(vertices.len(), &faces);
        Ok(Self {
            deepest: thickness.iter().copied().fold(0.0, f64::max),
            tree: rest_tree(&bounds, &normals),
            vertices,
            faces,
            sides,
            edges,
            blends,
            blend_count,
            thickness,
            vertex_thickness,
            ring,
            around,
            around_starts,
            rest,
            faces_at_rest,
        })
    }

    /// Faces around a vertex.
    pub fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.around_starts[v] as usize..self.around_starts[v + 1] as usize]
    }

    /// Nodes of a face.
    pub fn nodes(&self, face: u32) -> [u32; 3] {
        self.faces[face as usize].map(|v| self.vertices[v as usize])
    }

    /// Whether the faces at an edge meet without a crease.
    pub fn is_smooth(&self, edge: u32) -> bool {
        let [a, b] =
            self.edges[edge as usize].faces.map(|f| &self.faces_at_rest[f as usize].normal);
        a.dot(b) > CREASE
    }

    /// Whether all faces around a vertex share one blended normal.
    pub fn is_smooth_at(&self, vertex: u32) -> bool {
        let name = |&face: &u32| {
            let k = self.faces[face as usize].iter().position(|&v| v == vertex);
            self.blends[face as usize][k.unwrap_or(0)]
        };
        let faces = self.around(vertex);
        faces.iter().all(|face| name(face) == name(&faces[0]))
    }

    /// Whether all faces with centres in a box at rest are in the neighbourhood of a vertex.
    pub fn all_belong_together(&self, vertex: u32, centres: &Aabb) -> bool {
        let v = vertex as usize;
        let farthest = (self.rest[v] - centres.centre()).abs() + 0.5 * centres.size();
        let beside = NEIGHBOURHOOD * self.ring[v];
        farthest.norm_squared() < beside * beside
    }

    /// Whether a vertex and a face are neighbours at rest, along the surface or through the solid, so that
    /// they make no contact when they are near. A face across a gap at rest is no neighbour.
    pub fn belong_together(&self, vertex: u32, face: u32) -> bool {
        let v = vertex as usize;
        let at_rest = &self.faces_at_rest[face as usize];
        let away = self.rest[v] - at_rest.centre;
        let squared = away.norm_squared();
        let within = |distance: f64| squared < distance * distance;
        let beside = NEIGHBOURHOOD * self.ring[v] + at_rest.radius;
        let through = OTHER_SIDE * self.vertex_thickness[v] + at_rest.radius;
        within(beside) || (within(through) && away.dot(&at_rest.normal) < IN_FRONT * squared.sqrt())
    }
}

impl FaceAtRest {
    fn new([a, b, c]: [Vector3<f64>; 3]) -> Self {
        let centre = (a + b + c) / 3.0;
        let radius = [a, b, c].iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vector3::zeros);
        Self { centre, normal, radius }
    }
}

fn check(surface: u32, given: &SoftSurface) -> Result<(), SoftSurfaceError> {
    if given.triangles.is_empty() {
        return Err(SoftSurfaceError::Empty { surface });
    }
    if !(given.margin >= 0.0 && given.margin.is_finite()) {
        return Err(SoftSurfaceError::Margin { surface, found: given.margin });
    }
    let (found, expected) = (given.rest.len(), given.nodes.len());
    if found != expected {
        return Err(SoftSurfaceError::Rest { surface, found, expected });
    }
    for (k, p) in given.rest.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            let node = given.nodes.start + k;
            return Err(SoftSurfaceError::Position { surface, node, found: (*p).into() });
        }
    }
    for (triangle, t) in given.triangles.iter().enumerate() {
        if let Some(&found) = t.iter().find(|&&node| !given.nodes.contains(&(node as usize))) {
            let nodes = given.nodes.clone();
            return Err(SoftSurfaceError::Node { surface, triangle, found, nodes });
        }
    }
    Ok(())
}

/// Edges of all faces, and those of each face; an error unless each joins two consistently oriented faces.
fn join(
    surface: u32,
    faces: &[[u32; 3]],
    vertices: &[u32],
) -> Result<(Vec<[u32; 3]>, Vec<Edge>), SoftSurfaceError> {
    // Ends in ascending order, whether the face has them in that order, face, side.
    let mut all: Vec<([u32; 2], bool, u32, usize)> = Vec::with_capacity(3 * faces.len());
    for (f, t) in faces.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            all.push(([a.min(b), a.max(b)], a < b, f as u32, k));
        }
    }
    all.sort_unstable();
    let (mut sides, mut edges) = (vec![[0; 3]; faces.len()], Vec::new());
    for shared in all.chunk_by(|one, two| one.0 == two.0) {
        let [(ends, false, f, i), (_, true, g, j)] = shared else {
            let ends = shared[0].0.map(|v| vertices[v as usize]);
            return Err(SoftSurfaceError::Edge { surface, ends, triangles: shared.len() });
        };
        sides[*f as usize][*i] = edges.len() as u32;
        sides[*g as usize][*j] = edges.len() as u32;
        edges.push(Edge { ends: *ends, faces: [*g, *f] });
    }
    Ok((sides, edges))
}

/// Joins the corners of the faces around each vertex across edges that are no creases.
fn blends(faces: &[[u32; 3]], edges: &[Edge], at_rest: &[FaceAtRest]) -> (Vec<[u32; 3]>, usize) {
    let mut sets = DisjointSets::new(3 * faces.len());
    for edge in edges {
        let [f, g] = edge.faces;
        if !(at_rest[f as usize].normal.dot(&at_rest[g as usize].normal) > CREASE) {
            continue;
        }
        for v in edge.ends {
            let corner = |f: u32| faces[f as usize].iter().position(|&u| u == v);
            if let (Some(i), Some(j)) = (corner(f), corner(g)) {
                sets.union(3 * f as usize + i, 3 * g as usize + j);
            }
        }
    }
    let mut names = vec![u32::MAX; 3 * faces.len()];
    let mut count = 0;
    let mut name = |corner: usize| {
        let root = sets.find(corner);
        if names[root] == u32::MAX {
            names[root] = count;
            count += 1;
        }
        names[root]
    };
    let blends =
        (0..faces.len()).map(|f| [name(3 * f), name(3 * f + 1), name(3 * f + 2)]).collect();
    (blends, count as usize)
}

/// Tree over faces with these boxes [m] and unit normals, split by both: a search for faces with certain
/// normals then skips whole nodes. Faces near one another at rest mostly stay so, hence the tree is
/// refitted, not rebuilt.
fn rest_tree(bounds: &[Aabb], normals: &[Vector3<f64>]) -> Bvh {
    let size = bounds.iter().fold(Aabb::NONE, |sum, one| sum.union(one)).size().norm();
    // Opposite normals count as far apart as opposite ends of the surface.
    let key = |k: usize| [bounds[k].centre(), normals[k] * (0.5 * size)];
    let keys: Vec<_> = (0..bounds.len()).map(key).collect();
    let centres: Vec<_> = keys.iter().map(|&[p, _]| Aabb { min: p, max: p }).collect();
    Bvh::build(&centres, &keys)
}

/// Thickness of the solid below the centre of each face [m]: the first intersection of a ray along the
/// inward normal. Without one (round-off at an edge), the size of the surface.
fn thickness(
    faces: &[[u32; 3]],
    rest: &[Vector3<f64>],
    at_rest: &[FaceAtRest],
    bounds: &[Aabb],
) -> Vec<f64> {
    let tree = Bvh::of_boxes(bounds);
    let size = tree.bounds().size().norm();
    let below = |(f, face): (usize, &FaceAtRest)| {
        let (origin, direction) = (face.centre, -face.normal);
        let mut nearest = size;
        let hits = |b: &Aabb| {
            let (mut enter, mut leave) = (0.0_f64, size);
            for k in 0..3 {
                if direction[k] != 0.0 {
                    let (s, t) = (
                        (b.min[k] - origin[k]) / direction[k],
                        (b.max[k] - origin[k]) / direction[k],
                    );
                    (enter, leave) = (enter.max(s.min(t)), leave.min(s.max(t)));
                } else if !(b.min[k] <= origin[k] && origin[k] <= b.max[k]) {
                    return false;
                }
            }
            enter <= leave
        };
        tree.visit_where(hits, |g| {
            let [a, b, c] = faces[g as usize].map(|v| rest[v as usize]);
            // Cramer's rule for origin + s d = a + u (b−a) + v (c−a) [MoellerTrumbore97].
            let (ab, ac, ao) = (b - a, c - a, origin - a);
            let across = direction.cross(&ac);
            let determinant = ab.dot(&across);
            let (u, turned) = (ao.dot(&across) / determinant, ao.cross(&ab));
            let (v, s) = (direction.dot(&turned) / determinant, ac.dot(&turned) / determinant);
            let within = u >= -1e-9 && v >= -1e-9 && u + v <= 1.0 + 1e-9;
            if g as usize != f && within && s > 0.0 && s < nearest {
                nearest = s;
            }
        });
        nearest
    };
    at_rest.iter().enumerate().map(below).collect()
}

/// Faces around all vertices, one vertex after the other, and the start of each vertex.
fn around(vertices: usize, faces: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; vertices + 1];
    faces.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let (mut fill, mut around) = (starts.clone(), vec![0; 3 * faces.len()]);
    for (f, t) in faces.iter().enumerate() {
        for &v in t {
            around[fill[v as usize] as usize] = f as u32;
            fill[v as usize] += 1;
        }
    }
    (around, starts)
}
