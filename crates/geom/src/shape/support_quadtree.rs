//! Support function of a hull: the farthest vertex along a direction, by a quadtree over directions.
//!
//! A direction intersects one face of a cube around the origin. Directions and hull are first scaled so
//! that the hull has the same extent along all axes, which changes no dot product. Each face is a square,
//! subdivided into quarters until a square has few candidates: vertices that can be farthest along some
//! direction through it. The dot product of a vertex with a direction of a square lies between those at its
//! four corners, so that a vertex lower than another at all four corners, by more than round-off, is no
//! candidate. The result depends on the direction alone and equals that of a search through all vertices
//! bit for bit, however flat or thin the hull; hill climbing over edges would stop early at coplanar
//! vertices.
//! O(log vertices) per direction, O(vertices) memory, built in O(vertices · log vertices).

use crate::Aabb;
use nalgebra::Vector3;
use std::collections::VecDeque;

/// Vertices compared together.
const LANES: usize = 4;

/// Candidates of a square that is not subdivided further.
const FEW: usize = 16;

/// Hulls with no more vertices than this are searched exhaustively.
const SMALL: usize = 32;

/// Most subdivisions of a face of the cube. Subdivision does not separate the vertices of a flat face along
/// its normal.
const MOST_CUTS: u32 = 9;

/// Candidates of all squares per vertex at which the subdivision ends.
const MOST_CANDIDATES: usize = 12;

/// Part of the size below which differences of heights are round-off: several times the round-off of a sum
/// of three products and of the intersection of a direction with the cube.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;

/// Marks a node that is a leaf.
const LEAF: u32 = 1 << 31;

/// Vertices in structure-of-arrays order; the last is repeated where there are fewer.
#[derive(Clone, Copy, Debug)]
struct Group {
    x: [f64; LANES],
    y: [f64; LANES],
    z: [f64; LANES],
    name: [u32; LANES],
}

/// Quadtree over directions with the vertices that can be farthest along them.
#[derive(Clone, Debug)]
pub struct SupportQuadtree {
    /// Extents of the hull along the axes [m]; directions are scaled by them.
    widths: Vector3<f64>,
    /// The six faces of the cube, then the quarters of squares, four each: the index of the first quarter,
    /// or a leaf. Empty for small hulls, which are one leaf.
    nodes: Vec<u32>,
    /// Where each leaf starts in `groups`, and the end of the last.
    starts: Vec<u32>,
    groups: Vec<Group>,
}

/// A square on a face of the cube with its candidates, in ascending order.
struct Square {
    node: usize,
    face: usize,
    /// Corner with the lowest coordinates, both from −1 to 1.
    low: [f64; 2],
    edge: f64,
    cuts: u32,
    candidates: Vec<u32>,
}

impl SupportQuadtree {
    /// Builds the quadtree of a hull's vertices [m].
    pub fn new(vertices: &[Vector3<f64>]) -> Self {
        let widths = Aabb::of_points(vertices.iter().copied()).size();
        let widths = widths.map(|width| if width > 0.0 { width } else { 1.0 });
        let mut quadtree = Self { widths, nodes: Vec::new(), starts: vec![0], groups: Vec::new() };
        let all: Vec<u32> = (0..vertices.len() as u32).collect();
        if vertices.len() <= SMALL {
            quadtree.leaf(vertices, &all);
            return quadtree;
        }
        let even: Vec<_> = vertices.iter().map(|vertex| vertex.component_div(&widths)).collect();
        let slack = ROUND_OFF * even.iter().fold(0.0, |most: f64, vertex| most.max(vertex.norm()));
        quadtree.nodes = vec![0; 6];
        let mut squares: VecDeque<Square> = VecDeque::new();
        for face in 0..6 {
            let mut square = Square {
                node: face,
                face,
                low: [-1.0; 2],
                edge: 2.0,
                cuts: 0,
                candidates: Vec::new(),
            };
            square.candidates = square.farthest(&even, &all, slack);
            squares.push_back(square);
        }
        let mut total: usize = squares.iter().map(|square| square.candidates.len()).sum();
        // Breadth first, so that the squares are of similar size when the candidate limit is reached.
        while let Some(square) = squares.pop_front() {
            let enough = total > MOST_CANDIDATES * vertices.len();
            if square.candidates.len() <= FEW || square.cuts == MOST_CUTS || enough {
                quadtree.nodes[square.node] = LEAF | (quadtree.starts.len() - 1) as u32;
                quadtree.leaf(vertices, &square.candidates);
                continue;
            }
            let first = quadtree.nodes.len();
            quadtree.nodes[square.node] = first as u32;
            quadtree.nodes.extend([0; 4]);
            total -= square.candidates.len();
            for k in 0..4 {
                let quarter = square.quarter(k, first + k, &even, slack);
                total += quarter.candidates.len();
                squares.push_back(quarter);
            }
        }
        quadtree
    }

    fn leaf(&mut self, vertices: &[Vector3<f64>], candidates: &[u32]) {
        for chunk in candidates.chunks(LANES) {
            let name: [u32; LANES] = std::array::from_fn(|lane| chunk[lane.min(chunk.len() - 1)]);
            let coordinate = |axis: usize| name.map(|k| vertices[k as usize][axis]);
            let [x, y, z] = [0, 1, 2].map(coordinate);
            self.groups.push(Group { x, y, z, name });
        }
        self.starts.push(self.groups.len() as u32);
    }

    /// Index of the vertex farthest along `dir`; the first of several.
    pub fn farthest(&self, dir: &Vector3<f64>) -> usize {
        let leaf = self.leaf_of(dir);
        let (start, end) = (self.starts[leaf] as usize, self.starts[leaf + 1] as usize);
        let groups = &self.groups[start..end];
        // Lane by lane and without branches, for vector instructions.
        let (mut most, mut place) = ([f64::NEG_INFINITY; LANES], [0_u64; LANES]);
        for (k, Group { x, y, z, .. }) in (0..).zip(groups) {
            let heights: [f64; LANES] =
                std::array::from_fn(|lane| x[lane] * dir.x + y[lane] * dir.y + z[lane] * dir.z);
            for lane in 0..LANES {
                let higher = heights[lane] > most[lane];
                most[lane] = if higher { heights[lane] } else { most[lane] };
                place[lane] = if higher { k } else { place[lane] };
            }
        }
        let name = |lane: usize| groups[place[lane] as usize].name[lane];
        let (mut height, mut best) = (most[0], name(0));
        for lane in 1..LANES {
            if most[lane] > height || (most[lane] == height && name(lane) < best) {
                (height, best) = (most[lane], name(lane));
            }
        }
        best as usize
    }

    fn leaf_of(&self, dir: &Vector3<f64>) -> usize {
        if self.nodes.is_empty() {
            return 0;
        }
        let dir = dir.component_mul(&self.widths);
        let size = dir.abs();
        let axis = match (size.x >= size.y, size.x >= size.z, size.y >= size.z) {
            (true, true, _) => 0,
            (_, _, true) => 1,
            _ => 2,
        };
        let place = |other: usize| 0.5 * (dir[other % 3] / size[axis] + 1.0);
        let (mut u, mut v) = (place(axis + 1), place(axis + 2));
        let mut node = self.nodes[face(axis, dir[axis])];
        while node & LEAF == 0 {
            (u, v) = (2.0 * u, 2.0 * v);
            let upper = [u >= 1.0, v >= 1.0];
            if upper[0] {
                u -= 1.0;
            }
            if upper[1] {
                v -= 1.0;
            }
            node = self.nodes[node as usize + usize::from(upper[0]) + 2 * usize::from(upper[1])];
        }
        (node & !LEAF) as usize
    }
}

/// Face of the cube across `axis`, on the side of `sign`.
fn face(axis: usize, sign: f64) -> usize {
    2 * axis + usize::from(sign < 0.0)
}

impl Square {
    fn direction(&self, u: f64, v: f64) -> Vector3<f64> {
        let axis = self.face / 2;
        let mut dir = Vector3::zeros();
        dir[axis] = if self.face & 1 == 0 { 1.0 } else { -1.0 };
        dir[(axis + 1) % 3] = self.low[0] + u * self.edge;
        dir[(axis + 2) % 3] = self.low[1] + v * self.edge;
        dir
    }

    fn quarter(&self, k: usize, node: usize, vertices: &[Vector3<f64>], slack: f64) -> Self {
        let edge = 0.5 * self.edge;
        let low = [self.low[0] + (k % 2) as f64 * edge, self.low[1] + (k / 2) as f64 * edge];
        let cuts = self.cuts + 1;
        let mut quarter =
            Self { node, face: self.face, low, edge, cuts, candidates: Vec::with_capacity(FEW) };
        quarter.candidates = quarter.farthest(vertices, &self.candidates, slack);
        quarter
    }

    /// Those of `among` that are not lower everywhere in the square than a vertex farthest at a corner or
    /// in the middle.
    fn farthest(&self, vertices: &[Vector3<f64>], among: &[u32], slack: f64) -> Vec<u32> {
        let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
        let dirs = corners.map(|(u, v)| self.direction(u, v));
        let heights: Vec<[f64; 4]> =
            among.iter().map(|&k| dirs.map(|dir| vertices[k as usize].dot(&dir))).collect();
        let mut high = [(f64::NEG_INFINITY, [0.0; 4]); 5];
        for at in &heights {
            // The middle's height is the mean of the corners'.
            let measures = [at[0], at[1], at[2], at[3], at.iter().sum()];
            for (best, measure) in high.iter_mut().zip(measures) {
                if measure > best.0 {
                    *best = (measure, *at);
                }
            }
        }
        let hidden = |at: &[f64; 4]| {
            high.iter().any(|(_, other)| (0..4).all(|corner| other[corner] > at[corner] + slack))
        };
        among.iter().zip(&heights).filter(|(_, at)| !hidden(at)).map(|(&k, _)| k).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Convex;
    use stiction_math::random::SplitMix64;

    fn first_farthest(vertices: &[Vector3<f64>], dir: &Vector3<f64>) -> usize {
        let heights = vertices.iter().map(|vertex| vertex.dot(dir));
        heights.enumerate().fold((0, f64::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a }).0
    }

    /// Points on a unit sphere, evenly in height and turned by the golden angle.
    fn sphere(n: usize) -> Vec<Vector3<f64>> {
        let point = |k: usize| {
            let z = 1.0 - (2 * k + 1) as f64 / n as f64;
            let (angle, r) = (2.399_963_229_728_653 * k as f64, (1.0 - z * z).sqrt());
            Vector3::new(r * angle.cos(), r * angle.sin(), z)
        };
        (0..n).map(point).collect()
    }

    fn ring(n: usize, z: f64) -> impl Iterator<Item = Vector3<f64>> {
        let angle = move |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        (0..n).map(move |k| Vector3::new(angle(k).cos(), angle(k).sin(), z))
    }

    fn scaled(points: &[Vector3<f64>], by: [f64; 3]) -> Vec<Vector3<f64>> {
        points.iter().map(|p| p.component_mul(&Vector3::from(by))).collect()
    }

    /// A cube with a grid of points on each face, off the faces by `noise`.
    fn studded_cube(n: usize, noise: f64, random: &mut SplitMix64) -> Vec<Vector3<f64>> {
        let mut points = Vec::new();
        let at = |k: usize| 2.0 * k as f64 / n as f64 - 1.0;
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
                    let mut p = Vector3::zeros();
                    p[axis] = side + noise * random.signed_unit();
                    (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (at(i), at(j));
                    points.push(p);
                }
            }
        }
        points
    }

    fn clouds() -> Vec<(&'static str, Vec<Vector3<f64>>)> {
        let mut random = SplitMix64::new(7);
        let ball = sphere(2000);
        let cylinder: Vec<_> = ring(300, -0.5).chain(ring(300, 0.5)).collect();
        vec![
            ("random", (0..3000).map(|_| random.vector3()).collect()),
            ("few", (0..20).map(|_| random.vector3()).collect()),
            ("large sphere", sphere(10_000)),
            ("sphere far away", ball.iter().map(|p| p + Vector3::new(50.0, -3.0, 20.0)).collect()),
            ("flat", scaled(&ball, [1.0, 1.0, 1e-6])),
            ("needle", scaled(&ball, [1e-4, 1e-4, 1.0])),
            ("blade", scaled(&ball, [1.0, 1e-3, 1e-5])),
            ("drum", cylinder.clone()),
            ("coin", scaled(&cylinder, [1.0, 1.0, 1e-5])),
            ("studded cube", studded_cube(12, 1e-8, &mut random)),
            ("grainy cube", studded_cube(12, 1e-14, &mut random)),
        ]
    }

    #[test]
    fn the_farthest_vertex_is_that_of_a_search_through_all() {
        for (name, points) in clouds() {
            let quadtree = SupportQuadtree::new(&points);
            let mut random = SplitMix64::new(11);
            let check = |dir: Vector3<f64>| {
                let (found, expected) = (quadtree.farthest(&dir), first_farthest(&points, &dir));
                assert_eq!(found, expected, "{name}: {dir:?}");
            };
            for _ in 0..1000 {
                check(random.vector3());
                // Through the edges of the cube and close to its axes.
                check(random.vector3().map(|x| if x < 0.0 { -1.0 } else { 1.0 }));
                let axis = Vector3::from_fn(|k, _| if k == 1 { 1.0 } else { 0.0 });
                check(axis + 1e-9 * random.vector3());
                check(-axis.zxy() + 1e-3 * random.vector3());
            }
            // Along normals, where the vertices of a face lie equally far, and beside them.
            if let Ok(hull) = Convex::hull(&points) {
                for k in 0..hull.faces().min(1000) {
                    let normal = hull.face_normal(k);
                    for off in [0.0, 1e-16, 1e-12, 1e-7] {
                        check(normal + off * random.vector3());
                    }
                }
            }
        }
    }

    #[test]
    fn the_quadtree_has_linear_size_and_searches_few_vertices() {
        for (name, points) in clouds() {
            let (n, quadtree) = (points.len(), SupportQuadtree::new(&points));
            // The last cut may add a few, and each leaf at most fills a group.
            let leaves = quadtree.starts.len() - 1;
            let stored = quadtree.groups.len() * LANES;
            assert!(stored <= (MOST_CANDIDATES + 4) * n + LANES * leaves, "{name}: {stored}");
            let mut random = SplitMix64::new(13);
            let compared: usize = (0..1000)
                .map(|_| {
                    let leaf = quadtree.leaf_of(&random.vector3());
                    LANES * (quadtree.starts[leaf + 1] - quadtree.starts[leaf]) as usize
                })
                .sum();
            // Few candidates, four more where a group is not full, and an allowance for squares left
            // undivided at the candidate limit.
            assert!(compared / 1000 <= SMALL.min(2 * FEW), "{name}: {}", compared / 1000);
        }
    }

    #[test]
    fn directions_that_are_zero_or_not_finite_give_a_valid_index() {
        let quadtree = SupportQuadtree::new(&sphere(500));
        for dir in [Vector3::zeros(), Vector3::repeat(f64::NAN), Vector3::repeat(f64::INFINITY)] {
            assert!(quadtree.farthest(&dir) < 500);
        }
    }
}
