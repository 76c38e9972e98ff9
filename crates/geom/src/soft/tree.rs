//! A tree of boxes over the triangles of a soft surface: built once at rest, fitted to each motion.
//!
//! What is near at rest stays near in a deformed body as a rule, so that the tree need not be rebuilt.
//! Nodes carry the box of the normals below them too, and are split by these as well as by place: a search for
//! what faces a direction passes over everything that looks the other way. Flat array in depth-first order, the left child after its parent;
//! fitting runs through it backwards. Nothing is allocated after construction.

use crate::Aabb;
use nalgebra::Vector3;

/// Triangles in a leaf.
const LEAF: usize = 4;
/// Enough for a balanced tree over 2³² triangles.
const STACK: usize = 64;

/// A node: a leaf holds the triangles `first..first + count` of the order, an inner node its right child.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// First triangle of a leaf, index of the right child otherwise.
    first: u32,
    /// Number of triangles of a leaf, zero otherwise.
    count: u32,
}

/// The unchanging part of the tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Boxes around the centres of the triangles of each node at rest [m].
    rest: Vec<Aabb>,
    /// Triangles in the order of the leaves.
    order: Vec<u32>,
}

/// What a node holds in the present motion.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Box around the triangles [m].
    pub bounds: Aabb,
    /// Box around their unit normals [-].
    pub normals: Aabb,
}

impl Region {
    const NONE: Self = Self { bounds: Aabb::NONE, normals: Aabb::NONE };

    fn union(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.union(&other.bounds),
            normals: self.normals.union(&other.normals),
        }
    }

    /// Least product of `direction` with a vector of the box of normals.
    pub fn least_along(&self, direction: &Vector3<f64>) -> f64 {
        let Aabb { min, max } = &self.normals;
        (0..3).map(|k| (direction[k] * min[k]).min(direction[k] * max[k])).sum()
    }
}

/// Centre [m] of a triangle, and its unit normal made as long as it shall count [m].
type Place = (Vector3<f64>, Vector3<f64>);

impl Tree {
    /// Builds the tree over triangles with these bounds [m] and unit normals.
    pub fn build(bounds: &[Aabb], normals: &[Vector3<f64>]) -> Self {
        let size = bounds.iter().fold(Aabb::NONE, |sum, one| sum.union(one)).size().norm();
        // What looks the other way is as far as what lies at the other end.
        let place = |k: usize| (bounds[k].centre(), normals[k] * (0.5 * size));
        let places: Vec<_> = (0..bounds.len()).map(place).collect();
        let mut tree = Self::default();
        let mut order: Vec<u32> = (0..bounds.len() as u32).collect();
        if !bounds.is_empty() {
            tree.split(&places, &mut order, 0);
        }
        tree.order = order;
        tree
    }

    fn split(&mut self, places: &[Place], items: &mut [u32], first: usize) {
        let index = self.nodes.len();
        self.nodes.push(Node { first: first as u32, count: items.len() as u32 });
        let box_of = items.iter().map(|&i| places[i as usize].0);
        self.rest.push(Aabb::of_points(box_of));
        if items.len() <= LEAF {
            return;
        }
        let extent = |of: fn(&Place) -> Vector3<f64>| {
            Aabb::of_points(items.iter().map(|&i| of(&places[i as usize]))).size()
        };
        let (centres, normals) = (extent(|place| place.0), extent(|place| place.1));
        let by_place = centres.max() >= normals.max();
        let axis = if by_place { centres.imax() } else { normals.imax() };
        let key = |i: u32| {
            let (centre, normal) = &places[i as usize];
            if by_place { centre[axis] } else { normal[axis] }
        };
        let half = items.len() / 2;
        // Ties are broken by number, so that the tree does not depend on the sort's inner workings.
        items.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        let (left, right) = items.split_at_mut(half);
        self.split(places, left, first);
        let child = self.nodes.len() as u32;
        self.split(places, right, first + half);
        self.nodes[index] = Node { first: child, count: 0 };
    }

    /// Fits the regions to the bounds [m] and unit normals of the triangles.
    pub fn fit(&self, bounds: &[Aabb], normals: &[Vector3<f64>], regions: &mut Vec<Region>) {
        regions.resize(self.nodes.len(), Region::NONE);
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            regions[index] = if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                self.order[range].iter().fold(Region::NONE, |sum, &t| {
                    let n = normals[t as usize];
                    let one =
                        Region { bounds: bounds[t as usize], normals: Aabb { min: n, max: n } };
                    sum.union(&one)
                })
            } else {
                regions[index + 1].union(&regions[node.first as usize])
            };
        }
    }

    /// Visits every triangle whose bounds touch `region` [m].
    pub fn visit(
        &self,
        regions: &[Region],
        bounds: &[Aabb],
        region: &Aabb,
        mut visit: impl FnMut(u32),
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            if !regions[index as usize].bounds.overlaps(region) {
                continue;
            }
            let node = self.nodes[index as usize];
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for &t in &self.order[range] {
                    if bounds[t as usize].overlaps(region) {
                        visit(t);
                    }
                }
            } else {
                stack[top] = node.first;
                stack[top + 1] = index + 1;
                top += 2;
            }
        }
    }

    /// Visits triangles in the order in which they may be nearest to `point` [m], as long as their box lies
    /// within the square root of `bound` [m²]; `visit` returns the bound from then on. Nodes of which `skip`
    /// holds, by what they hold now and by the box of their centres at rest, are passed over.
    pub fn visit_nearest(
        &self,
        regions: &[Region],
        point: &Vector3<f64>,
        skip: impl Fn(&Region, &Aabb) -> bool,
        mut bound: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let distance = |index: u32| regions[index as usize].bounds.distance_squared(point);
        let mut stack = [(0_u32, 0.0_f64); STACK];
        stack[0].1 = distance(0);
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, near) = stack[top];
            // Boxes at exactly the bound are visited: ties are for the visitor to break.
            let at = index as usize;
            if !(near <= bound) || skip(&regions[at], &self.rest[at]) {
                continue;
            }
            let node = self.nodes[index as usize];
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for &t in &self.order[range] {
                    bound = visit(t);
                }
                continue;
            }
            let (left, right) = (index + 1, node.first);
            let (to_left, to_right) = (distance(left), distance(right));
            let (far, close) = if to_left <= to_right {
                ((right, to_right), (left, to_left))
            } else {
                ((left, to_left), (right, to_right))
            };
            stack[top] = far;
            stack[top + 1] = close;
            top += 2;
        }
    }
}
