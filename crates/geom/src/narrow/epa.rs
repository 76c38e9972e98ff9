//! Depth of penetration of two convex cores by the expanding polytope algorithm [Bergen03, Sec. 4.3.8].
//!
//! Starts from the simplex of [`super::gjk`], which contains the origin, and expands the face nearest to
//! the origin until it lies on the surface of A − B. The result is the direction with the least overlap
//! among all that were evaluated, so that the reported overlap is exact along it: an upper bound of the
//! depth. The polytope lies in A − B, so that its nearest face is a lower bound; where the number of steps
//! or round-off ends the search, the result has the difference of both.
//! A heap orders the faces that are nearer than the upper bound, and those that a vertex replaces are found
//! from neighbour to neighbour: O(log faces) per step besides them. Memory is reused from call to call.

use super::gjk::{MinkowskiDifference, Simplex, SupportPoint};
use nalgebra::Vector3;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Most support points evaluated.
pub const MOST_STEPS: usize = 128;

/// Part of the polytope's size by which it may stay away from the surface [-].
const TOLERANCE: f64 = 1e-12;

/// Part of the polytope's size within which a face counts as visible from a vertex [-]. If such faces
/// stayed, a vertex on the line through one of their edges would make a face without area.
const COPLANAR: f64 = 1e-13;

/// Scratch memory of the algorithm.
#[derive(Clone, Debug, Default)]
pub struct Polytope {
    vertices: Vec<SupportPoint>,
    faces: Vec<Facet>,
    /// Faces by their distance from the origin, replaced ones included.
    nearest: BinaryHeap<Reverse<FacetDistance>>,
    /// Sides of the remaining faces around those that a vertex replaces, in their order around it.
    rim: Vec<Side>,
}

#[derive(Clone, Copy, Debug)]
struct Facet {
    corners: [u32; 3],
    is_replaced: bool,
    /// Sides of the faces across the edges from each corner to the next.
    across: [Side; 3],
    normal: Vector3<f64>,
    distance: f64,
}

/// The edge of a face from one of its corners to the next.
#[derive(Clone, Copy, Debug)]
struct Side {
    face: u32,
    corner: u32,
}

/// The side of face `face` that starts at its corner `corner`.
fn side(face: u32, corner: u32) -> Side {
    Side { face, corner }
}

/// Distance of a face from the origin [m], and its index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FacetDistance(f64, u32);

impl Eq for FacetDistance {}

impl PartialOrd for FacetDistance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FacetDistance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// The direction of least overlap.
#[derive(Clone, Copy, Debug)]
pub struct PenetrationDepth {
    /// Unit normal from A into B, in A's frame.
    pub normal: Vector3<f64>,
    /// Overlap along it [m].
    pub overlap: f64,
    /// Lower bound of the overlap along any direction [m].
    pub least: f64,
    /// Largest coordinate of A − B among the points evaluated first [m].
    pub scale: f64,
    /// Number of support points evaluated.
    pub steps: usize,
    /// Deepest point of A, in A's frame [m].
    pub a: Vector3<f64>,
    /// Deepest point of B, in A's frame [m].
    pub b: Vector3<f64>,
    /// The face of A − B that the normal belongs to.
    pub facet: [SupportPoint; 3],
}

impl Polytope {
    /// Least overlap of two cores that touch or overlap.
    pub fn depth(&mut self, pair: &MinkowskiDifference, simplex: &Simplex) -> PenetrationDepth {
        self.vertices.clear();
        self.faces.clear();
        self.nearest.clear();
        self.vertices.extend_from_slice(&simplex.vertices[..simplex.len]);
        let mut best = PenetrationDepth {
            normal: Vector3::z(),
            overlap: f64::INFINITY,
            least: 0.0,
            scale: 0.0,
            steps: 0,
            a: Vector3::zeros(),
            b: Vector3::zeros(),
            facet: [SupportPoint::default(); 3],
        };
        if !self.start(pair) {
            return self.flat(pair, best);
        }
        let scale = self.vertices.iter().fold(0.0, |most: f64, vertex| most.max(vertex.w.amax()));
        best.scale = scale;
        let mut best_face = None;
        loop {
            let Some(nearest) = self.nearest_face() else {
                best.least = best.overlap; // all faces lie beyond
                break;
            };
            let Facet { normal, distance, .. } = self.faces[nearest as usize];
            best.least = distance;
            if best.steps == MOST_STEPS {
                break;
            }
            best.steps += 1;
            let vertex = pair.support(&normal);
            let overlap = vertex.w.dot(&normal);
            if overlap < best.overlap {
                (best.normal, best.overlap) = (normal, overlap);
                best_face = Some(nearest);
            }
            let done = overlap - distance <= TOLERANCE * scale;
            let farthest = best.overlap + TOLERANCE * scale;
            if done || !self.expand(nearest, vertex, COPLANAR * scale, farthest) {
                break;
            }
        }
        if let Some(face) = best_face {
            let facet = &self.faces[face as usize];
            (best.a, best.b) = self.witness(facet);
            best.facet = facet.corners.map(|k| self.vertices[k as usize]);
        }
        best
    }

    /// Completes the simplex to a tetrahedron around the origin; false if A − B is flat.
    fn start(&mut self, pair: &MinkowskiDifference) -> bool {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        if self.vertices.is_empty() {
            self.vertices.push(pair.support(&Vector3::x()));
        }
        let scale = self
            .vertices
            .iter()
            .fold(0.0, |most: f64, vertex| most.max(vertex.a.amax()).max(vertex.b.amax()));
        let least = 1e-10 * scale.max(f64::MIN_POSITIVE);
        while self.vertices.len() < 4 {
            let w: Vec3s = [0, 1, 2].map(|k| self.vertices[k.min(self.vertices.len() - 1)].w);
            let mut found: Option<(f64, SupportPoint)> = None;
            for axis in axes {
                for sense in [1.0, -1.0] {
                    // Directions across the simplex so far.
                    let dir = match self.vertices.len() {
                        1 => sense * axis,
                        2 => sense * (w[1] - w[0]).cross(&axis),
                        _ => sense * (w[1] - w[0]).cross(&(w[2] - w[0])),
                    };
                    if !(dir.norm_squared() > 0.0) {
                        continue;
                    }
                    let vertex = pair.support(&dir);
                    let off = match self.vertices.len() {
                        1 => (vertex.w - w[0]).norm(),
                        2 => {
                            let edge = w[1] - w[0];
                            edge.cross(&(vertex.w - w[0])).norm() / edge.norm()
                        }
                        _ => ((vertex.w - w[0]).dot(&dir) / dir.norm()).abs(),
                    };
                    if off > least && found.as_ref().is_none_or(|(most, _)| off > *most) {
                        found = Some((off, vertex));
                    }
                }
            }
            match found {
                Some((_, vertex)) => self.vertices.push(vertex),
                None => return false,
            }
        }
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| self.vertices[k].w);
        let turned = (q - p).cross(&(r - p)).dot(&(s - p)) > 0.0;
        let [i, j] = if turned { [2, 1] } else { [1, 2] };
        // The base, and a face at each of its edges.
        self.add([0, i, j], [side(1, 0), side(2, 0), side(3, 0)], f64::INFINITY)
            && self.add([i, 0, 3], [side(0, 0), side(3, 2), side(2, 1)], f64::INFINITY)
            && self.add([j, i, 3], [side(0, 1), side(1, 2), side(3, 1)], f64::INFINITY)
            && self.add([0, j, 3], [side(0, 2), side(2, 2), side(1, 1)], f64::INFINITY)
    }

    /// Adds a face, to the heap only if it is no farther than `farthest` [m]; false if its corners lie on a
    /// line.
    fn add(&mut self, corners: [u32; 3], across: [Side; 3], farthest: f64) -> bool {
        let [p, q, r] = corners.map(|k| self.vertices[k as usize].w);
        let normal = (q - p).cross(&(r - p));
        let length = normal.norm();
        if !(length > 0.0) {
            return false;
        }
        let normal = normal / length;
        let distance = normal.dot(&(p + q + r)) / 3.0;
        if distance <= farthest {
            self.nearest.push(Reverse(FacetDistance(distance, self.faces.len() as u32)));
        }
        self.faces.push(Facet { corners, is_replaced: false, across, normal, distance });
        true
    }

    /// The face nearest to the origin.
    fn nearest_face(&mut self) -> Option<u32> {
        while let Some(Reverse(FacetDistance(_, k))) = self.nearest.peek().copied() {
            if !self.faces[k as usize].is_replaced {
                return Some(k);
            }
            self.nearest.pop();
        }
        None
    }

    /// Replaces the faces around `from` that are visible from the vertex, or no farther than `slack` [m]
    /// beyond it, by a fan from their rim; false if none can be built.
    fn expand(&mut self, from: u32, vertex: SupportPoint, slack: f64, farthest: f64) -> bool {
        self.rim.clear();
        self.faces[from as usize].is_replaced = true;
        for beyond in self.faces[from as usize].across {
            self.find_rim(beyond, &vertex.w, slack);
        }
        let apex = self.vertices.len() as u32;
        self.vertices.push(vertex);
        let (base, n) = (self.faces.len() as u32, self.rim.len() as u32);
        let mut expected = None;
        for k in 0..n {
            let outer = self.rim[k as usize];
            let Facet { corners, across, .. } = &mut self.faces[outer.face as usize];
            across[outer.corner as usize] = side(base + k, 0);
            let from = corners[(outer.corner as usize + 1) % 3];
            let to = corners[outer.corner as usize];
            let (before, after) = ((k + n - 1) % n, (k + 1) % n);
            let across = [outer, side(base + after, 2), side(base + before, 1)];
            // Round-off can fold the surface; then the rim is not one cycle.
            let is_cycle = expected.is_none_or(|corner| corner == from);
            if !is_cycle || !self.add([from, to, apex], across, farthest) {
                return false;
            }
            expected = Some(to);
        }
        n >= 3 && expected == self.faces.get(base as usize).map(|facet| facet.corners[0])
    }

    /// Marks the visible faces from the one that is entered by a side on, and lists the sides at which
    /// others are met, counter-clockwise.
    fn find_rim(&mut self, entry: Side, w: &Vector3<f64>, slack: f64) {
        let facet = &mut self.faces[entry.face as usize];
        if facet.is_replaced {
            return;
        }
        let through = self.vertices[facet.corners[0] as usize].w;
        if !(facet.normal.dot(&(w - through)) > -slack) {
            self.rim.push(entry);
            return;
        }
        facet.is_replaced = true;
        let across = facet.across;
        for turn in 1..3 {
            self.find_rim(across[(entry.corner as usize + turn) % 3], w, slack);
        }
    }

    /// Points of A and B under the origin's projection onto a face.
    fn witness(&self, facet: &Facet) -> (Vector3<f64>, Vector3<f64>) {
        let [p, q, r] = facet.corners.map(|k| self.vertices[k as usize]);
        let foot = facet.distance * facet.normal;
        let area = |a: &Vector3<f64>, b: &Vector3<f64>| {
            facet.normal.dot(&(a - foot).cross(&(b - foot))).max(0.0)
        };
        let (u, v, w) = (area(&q.w, &r.w), area(&r.w, &p.w), area(&p.w, &q.w));
        let sum = u + v + w;
        if !(sum > 0.0) {
            return (p.a, p.b);
        }
        ((u * p.a + v * q.a + w * r.a) / sum, (u * p.b + v * q.b + w * r.b) / sum)
    }

    /// A − B has no volume (two segments, a segment and a coplanar triangle, two points): the least
    /// overlap is across it.
    fn flat(&mut self, pair: &MinkowskiDifference, mut best: PenetrationDepth) -> PenetrationDepth {
        let w: Vec3s = [0, 1, 2].map(|k| self.vertices[k.min(self.vertices.len() - 1)].w);
        let along = w[1] - w[0];
        let across = along.cross(&(w[2] - w[0]));
        let normal = across.try_normalize(0.0).unwrap_or_else(|| {
            let axis = if along.x.abs() < 0.7 * along.norm() { Vector3::x() } else { Vector3::y() };
            along.cross(&axis).try_normalize(0.0).unwrap_or_else(Vector3::z)
        });
        let vertex = pair.support(&normal);
        best.normal = normal;
        best.overlap = vertex.w.dot(&normal);
        best.least = best.overlap;
        best.scale = vertex.w.amax();
        (best.a, best.b) = (vertex.a, vertex.b);
        best.facet = [vertex; 3];
        best
    }
}

type Vec3s = [Vector3<f64>; 3];

#[cfg(test)]
#[path = "epa_tests.rs"]
mod depth_tests;

#[cfg(test)]
mod tests {
    use super::super::gjk::{GjkResult, distance};
    use super::*;
    use crate::Shape;
    use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
    use std::f64::consts::PI;

    /// Two wedges of an arch whose faces coincide to within 1e-12 of their size.
    #[test]
    fn faces_that_lie_on_one_another_overlap_by_round_off() {
        let wedge = |k: usize| {
            let joint = |k: usize| {
                let angle = PI * k as f64 / 7.0;
                Vector3::new(angle.cos(), 0.0, if k == 0 { 0.0 } else { angle.sin() })
            };
            let corners = [joint(k) * 0.9, joint(k) * 1.1, joint(k + 1) * 1.1, joint(k + 1) * 0.9];
            let centre = corners.iter().sum::<Vector3<f64>>() / 4.0;
            let points: Vec<_> = corners
                .iter()
                .flat_map(|p| [-0.1, 0.1].map(|y| p - centre + y * Vector3::y()))
                .collect();
            Shape::convex(&points).unwrap()
        };
        let pose = |p: [f64; 3], q: [f64; 4]| {
            let [w, x, y, z] = q;
            Isometry3::from_parts(
                Translation3::new(p[0], p[1], p[2]),
                UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)),
            )
        };
        let X_WA = pose(
            [0.9504844339563187, -4.399852571149432e-18, 0.21694186955970723],
            [1.0, -3.8144893228552005e-17, 1.0968215189712312e-11, 1.6319284904785739e-16],
        );
        let X_WB = pose(
            [0.7622293348973463, 6.045246499528945e-18, 0.6078576107996327],
            [1.0, -1.8837491187444557e-16, 1.769675824753811e-11, 1.7232012612676268e-16],
        );
        let (a, b) = (wedge(0), wedge(1));
        let X_AB = X_WA.inv_mul(&X_WB);
        let pair = MinkowskiDifference { a: &a, b: &b, X_AB: &X_AB };
        match distance(&pair, f64::INFINITY) {
            GjkResult::Far(clearance) => panic!("{clearance:?}"),
            GjkResult::Apart { distance, .. } => assert!(distance < 1e-11, "{distance}"),
            GjkResult::Overlap(simplex) => {
                let depth = Polytope::default().depth(&pair, &simplex);
                assert!(depth.overlap < 1e-11, "{depth:?} {simplex:?}");
            }
        }
    }
}
