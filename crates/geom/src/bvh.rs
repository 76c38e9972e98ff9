//! Bounding volume hierarchy over numbered items, static or refitted to each motion.
//!
//! Built top-down: the items of a node are split at the median of the key coordinate with the largest
//! extent. Each item has one key vector (the centre of its box) or several (centre and scaled normal). The
//! tree is balanced, hence queries run on a small fixed stack and never allocate. Flat array in depth-first
//! order: the left child follows its parent, and refitting runs through the array backwards. Construction
//! O(n log n), refit O(n), overlap O(log n + items visited), nearest O(log n) as a rule.

use crate::Aabb;
use nalgebra::Vector3;

/// Most items of a leaf.
const LEAF: usize = 4;
/// Enough for a balanced tree over 2³² items.
const STACK: usize = 64;

/// Volume that bounds the items of a node: a box, possibly with further bounded quantities.
pub trait BoundingVolume: Copy {
    /// Volume of no items.
    const EMPTY: Self;
    /// Smallest volume that contains both.
    fn union(&self, other: &Self) -> Self;
    /// Box around the items [m].
    fn bounds(&self) -> &Aabb;
}

impl BoundingVolume for Aabb {
    const EMPTY: Self = Self::NONE;

    fn union(&self, other: &Self) -> Self {
        Self::union(self, other)
    }

    fn bounds(&self) -> &Aabb {
        self
    }
}

/// A node: a leaf holds the items `first..first + count`, an inner node the index of its right child.
#[derive(Clone, Copy, Debug)]
struct BvhNode<V> {
    volume: V,
    /// First item of a leaf, index of the right child otherwise.
    first: u32,
    /// Number of items of a leaf, zero otherwise.
    count: u32,
}

/// An item in the order of the leaves.
#[derive(Clone, Copy, Debug)]
struct BvhItem<V> {
    index: u32,
    volume: V,
}

/// Bounding volume hierarchy.
#[derive(Clone, Debug)]
pub struct Bvh<V = Aabb> {
    nodes: Vec<BvhNode<V>>,
    items: Vec<BvhItem<V>>,
}

impl Bvh<Aabb> {
    /// Builds the tree over boxes [m], split by their centres.
    pub fn of_boxes(boxes: &[Aabb]) -> Self {
        let centres: Vec<_> = boxes.iter().map(|bounds| [bounds.centre()]).collect();
        Self::build(boxes, &centres)
    }
}

impl<V: BoundingVolume> Bvh<V> {
    /// Builds the tree over items with these volumes, split by these keys: vectors in one unit.
    pub fn build<const D: usize>(volumes: &[V], keys: &[[Vector3<f64>; D]]) -> Self {
        let mut tree = Self { nodes: Vec::new(), items: Vec::new() };
        let mut order: Vec<u32> = (0..volumes.len() as u32).collect();
        if !volumes.is_empty() {
            tree.split(volumes, keys, &mut order, 0);
        }
        let item = |index: u32| BvhItem { index, volume: volumes[index as usize] };
        tree.items = order.into_iter().map(item).collect();
        tree
    }

    fn split<const D: usize>(
        &mut self,
        volumes: &[V],
        keys: &[[Vector3<f64>; D]],
        items: &mut [u32],
        first: usize,
    ) {
        let volume = items.iter().fold(V::EMPTY, |sum, &i| sum.union(&volumes[i as usize]));
        let node = self.nodes.len();
        self.nodes.push(BvhNode { volume, first: first as u32, count: items.len() as u32 });
        if items.len() <= LEAF {
            return;
        }
        let extents: [Vector3<f64>; D] = std::array::from_fn(|vector| {
            Aabb::of_points(items.iter().map(|&i| keys[i as usize][vector])).size()
        });
        let mut widest = 0;
        for vector in 1..D {
            if !(extents[widest].max() >= extents[vector].max()) {
                widest = vector;
            }
        }
        let axis = extents[widest].imax();
        let key = |i: u32| keys[i as usize][widest][axis];
        let half = items.len() / 2;
        // Ties are broken by index, so that the tree does not depend on the sorting algorithm.
        items.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        let (left, right) = items.split_at_mut(half);
        self.split(volumes, keys, left, first);
        let child = self.nodes.len() as u32;
        self.split(volumes, keys, right, first + half);
        self.nodes[node].first = child;
        self.nodes[node].count = 0;
    }

    /// A tree with the same nodes and items, whose volumes are empty until [`Bvh::refit`].
    pub fn with_empty_volumes<U: BoundingVolume>(&self) -> Bvh<U> {
        let node = |n: &BvhNode<V>| BvhNode { volume: U::EMPTY, first: n.first, count: n.count };
        let item = |i: &BvhItem<V>| BvhItem { index: i.index, volume: U::EMPTY };
        Bvh {
            nodes: self.nodes.iter().map(node).collect(),
            items: self.items.iter().map(item).collect(),
        }
    }

    /// Replaces the volumes of all items by `volume` of their indices, and those of the nodes accordingly.
    pub fn refit(&mut self, volume: impl Fn(u32) -> V) {
        for item in &mut self.items {
            item.volume = volume(item.index);
        }
        for at in (0..self.nodes.len()).rev() {
            let BvhNode { first, count, .. } = self.nodes[at];
            self.nodes[at].volume = if count > 0 {
                let leaf = &self.items[first as usize..(first + count) as usize];
                leaf.iter().fold(V::EMPTY, |sum, item| sum.union(&item.volume))
            } else {
                self.nodes[at + 1].volume.union(&self.nodes[first as usize].volume)
            };
        }
    }

    /// Box around all items [m].
    pub fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::NONE, |root| *root.volume.bounds())
    }

    /// Volume of a node, by the number that [`Bvh::visit_nearest`] gives it.
    pub fn node_volume(&self, node: usize) -> &V {
        &self.nodes[node].volume
    }

    /// Visits every item whose box overlaps `region` [m].
    pub fn visit(&self, region: &Aabb, visit: impl FnMut(u32)) {
        self.visit_where(|volume| volume.bounds().overlaps(region), visit);
    }

    /// Visits all items of the leaves for whose volume, and for the volumes of the nodes above them, `accept` is true.
    pub fn visit_leaves(&self, accept: impl Fn(&V) -> bool, mut visit: impl FnMut(u32)) {
        self.each_leaf(accept, |items| items.iter().for_each(|item| visit(item.index)));
    }

    /// Visits every item for whose volume, and for the volumes of the nodes above it, `accept` is true.
    pub fn visit_where(&self, accept: impl Fn(&V) -> bool, mut visit: impl FnMut(u32)) {
        self.each_leaf(&accept, |items| {
            items.iter().filter(|item| accept(&item.volume)).for_each(|item| visit(item.index));
        });
    }

    /// Hands over the items of every leaf for whose volume, and for the volumes of the nodes above it, `accept` is true.
    fn each_leaf(&self, accept: impl Fn(&V) -> bool, mut visit: impl FnMut(&[BvhItem<V>])) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            if !accept(&node.volume) {
                continue;
            }
            if node.count > 0 {
                visit(&self.items[node.first as usize..(node.first + node.count) as usize]);
            } else {
                stack[top] = node.first;
                stack[top + 1] = index + 1;
                top += 2;
            }
        }
    }

    /// Visits items nearest node first, as long as the box of their node lies within the square root of
    /// `bound` [m²] of `point` [m]; `visit` returns the bound from then on. Nodes for whose number and
    /// volume `skip` is true are left out.
    pub fn visit_nearest(
        &self,
        point: &Vector3<f64>,
        mut bound: f64,
        skip: impl Fn(usize, &V) -> bool,
        mut visit: impl FnMut(u32, &V) -> f64,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let distance =
            |node: u32| self.nodes[node as usize].volume.bounds().distance_squared(point);
        let mut stack = [(0_u32, 0.0_f64); STACK];
        stack[0].1 = distance(0);
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, near) = stack[top];
            let node = &self.nodes[index as usize];
            // Boxes at exactly the bound are visited: the visitor breaks ties.
            if !(near <= bound) || skip(index as usize, &node.volume) {
                continue;
            }
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for item in &self.items[range] {
                    bound = visit(item.index, &item.volume);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes around points of a low-discrepancy sequence, shifted by `phase`.
    fn boxes(n: usize, phase: f64) -> Vec<Aabb> {
        let at = |k: usize, rate: f64| (rate * k as f64 + phase).fract();
        let centre =
            |k: usize| Vector3::new(at(k, 0.819172513), at(k, 0.671043606), at(k, 0.549700477));
        (0..n).map(|k| Aabb::around(centre(k), Vector3::repeat(0.02))).collect()
    }

    fn assert_queries_equal_brute_force(tree: &Bvh, boxes: &[Aabb]) {
        for k in 0..50 {
            let p = Vector3::new(0.02 * k as f64, 0.5, 1.0 - 0.02 * k as f64);
            let region = Aabb::around(p, Vector3::repeat(0.2));
            let mut visited = Vec::new();
            tree.visit(&region, |i| visited.push(i as usize));
            visited.sort_unstable();
            let expected: Vec<_> =
                (0..boxes.len()).filter(|&i| boxes[i].overlaps(&region)).collect();
            assert_eq!(visited, expected);
            let mut nearest = f64::INFINITY;
            tree.visit_nearest(
                &p,
                nearest,
                |_, _| false,
                |i, volume| {
                    assert_eq!(*volume, boxes[i as usize]);
                    nearest = nearest.min(volume.distance_squared(&p));
                    nearest
                },
            );
            let least = boxes.iter().map(|b| b.distance_squared(&p)).fold(f64::INFINITY, f64::min);
            assert_eq!(nearest, least);
        }
    }

    #[test]
    fn queries_of_a_built_and_of_a_refitted_tree_equal_a_search_through_all_boxes() {
        for n in [0, 1, 4, 5, 300] {
            let (before, after) = (boxes(n, 0.0), boxes(n, 0.37));
            let mut tree = Bvh::of_boxes(&before);
            assert_queries_equal_brute_force(&tree, &before);
            tree.refit(|i| after[i as usize]);
            assert_queries_equal_brute_force(&tree, &after);
            let mut empty = tree.with_empty_volumes::<Aabb>();
            empty.refit(|i| before[i as usize]);
            assert_queries_equal_brute_force(&empty, &before);
        }
    }
}
