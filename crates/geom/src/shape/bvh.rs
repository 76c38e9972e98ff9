//! A static tree of boxes over numbered items: which items may lie here, which is nearest.
//!
//! Built top-down by the median of the longest axis of the items' centres: balanced, hence queries run
//! on a small fixed stack and never allocate. Flat array in depth-first order: the left child follows its
//! parent. Construction O(n log n), overlap O(log n + found), nearest O(log n) as a rule.

use crate::Aabb;
use nalgebra::Vector3;

/// Items in a leaf.
const LEAF: usize = 4;
/// Enough for a balanced tree over 2³² items.
const STACK: usize = 64;

/// A node: a leaf holds the items `first..first + count` of the order, an inner node its right child.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    /// First item of a leaf, index of the right child otherwise.
    first: u32,
    /// Number of items of a leaf, zero otherwise.
    count: u32,
}

/// A static tree of boxes.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    /// Items with their bounds, in the order of the leaves.
    order: Vec<(u32, Aabb)>,
}

impl Bvh {
    /// Builds the tree over items with these bounds.
    pub fn build(bounds: &[Aabb]) -> Self {
        let mut tree = Self::default();
        let mut order: Vec<u32> = (0..bounds.len() as u32).collect();
        if !bounds.is_empty() {
            tree.split(bounds, &mut order, 0);
        }
        tree.order = order.into_iter().map(|i| (i, bounds[i as usize])).collect();
        tree
    }

    fn split(&mut self, bounds: &[Aabb], items: &mut [u32], first: usize) {
        let hull = items.iter().fold(Aabb::NONE, |sum, &i| sum.union(&bounds[i as usize]));
        let index = self.nodes.len();
        self.nodes.push(Node { bounds: hull, first: first as u32, count: items.len() as u32 });
        if items.len() <= LEAF {
            return;
        }
        let centres = Aabb::of_points(items.iter().map(|&i| bounds[i as usize].centre()));
        let axis = centres.size().imax();
        let key = |i: u32| bounds[i as usize].centre()[axis];
        let half = items.len() / 2;
        // Ties are broken by number, so that the tree does not depend on the sort's inner workings.
        items.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        let (left, right) = items.split_at_mut(half);
        self.split(bounds, left, first);
        let child = self.nodes.len() as u32;
        self.split(bounds, right, first + half);
        self.nodes[index].first = child;
        self.nodes[index].count = 0;
    }

    /// Bounds of all items [m].
    pub fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::NONE, |root| root.bounds)
    }

    /// Visits every item whose box touches `region` [m].
    pub fn visit(&self, region: &Aabb, visit: impl FnMut(u32)) {
        self.visit_where(|bounds| bounds.overlaps(region), visit);
    }

    /// Visits every item of whose box, and of the boxes around it, `touches` holds.
    pub fn visit_where(&self, touches: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(u32)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes[index as usize];
            if !touches(&node.bounds) {
                continue;
            }
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for (item, bounds) in &self.order[range] {
                    if touches(bounds) {
                        visit(*item);
                    }
                }
            } else {
                stack[top] = node.first;
                stack[top + 1] = index + 1;
                top += 2;
            }
        }
    }

    /// Visits items in the order in which they may be nearest to `point`, as long as their box lies
    /// nearer than the square root of the bound; `visit` returns the bound from then on [m²].
    pub fn visit_nearest(
        &self,
        point: &Vector3<f64>,
        mut bound: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [(0_u32, 0.0_f64); STACK];
        stack[0].1 = distance_squared(&self.nodes[0].bounds, point);
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, near) = stack[top];
            // Boxes at exactly the bound are visited: ties are for the visitor to break.
            if !(near <= bound) {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                for k in node.first..node.first + node.count {
                    bound = visit(self.order[k as usize].0);
                }
                continue;
            }
            let (left, right) = (index + 1, node.first);
            let to_left = distance_squared(&self.nodes[left as usize].bounds, point);
            let to_right = distance_squared(&self.nodes[right as usize].bounds, point);
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

/// Squared distance of a point from a box [m²].
fn distance_squared(bounds: &Aabb, p: &Vector3<f64>) -> f64 {
    (bounds.min - p).sup(&(p - bounds.max)).sup(&Vector3::zeros()).norm_squared()
}
