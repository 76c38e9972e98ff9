//! Pairs of elements of two solids near their patch.
//!
//! Elements reach from the surface to the medial axis, so that their boxes overlap those of many others. What matters of them is
//! the part that lies in the boxes of both bodies and below the largest pressure that both have there: the common pressure of
//! a patch is at most that. Pairs of the boxes of these parts are found by sorting along x.
//! Cost: linear in the elements, and in the pairs whose boxes overlap along x.

use super::element::{MOST_CORNERS, PressureElement};
use crate::Aabb;
use nalgebra::Vector3;

/// The part of an element near a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NearElement {
    /// Index of the element.
    pub index: u32,
    /// Box around the part [m].
    pub bounds: Aabb,
    /// Once sorted: the largest x of this part and those before it [m].
    reach: f64,
}

impl NearElement {
    /// The part of an element in a region, and its largest pressure there [Pa]; `None` if it is empty.
    pub fn new(index: u32, element: &PressureElement, region: &Aabb) -> Option<(Self, f64)> {
        let bounds = intersection(&element.bounds(), region);
        let near = Self { index, bounds, reach: f64::INFINITY };
        (!is_empty(&bounds)).then(|| (near, largest_pressure(element, &bounds)))
    }
}

/// The largest pressure of an element in a box [Pa].
fn largest_pressure(element: &PressureElement, bounds: &Aabb) -> f64 {
    let field = &element.field;
    let in_box = field.at(&bounds.centre()) + 0.5 * field.gradient.abs().dot(&bounds.size());
    let in_element = element.corners().iter().map(|x| field.at(x)).fold(0.0, f64::max);
    in_box.min(in_element)
}

/// Box around the part of an element up to a pressure [Pa] within a region; `None` if there is none.
pub(super) fn bounds_below(
    element: &PressureElement,
    pressure: f64,
    region: &Aabb,
) -> Option<Aabb> {
    let corners = element.corners();
    let mut above = [0.0; MOST_CORNERS];
    for (above, x) in above.iter_mut().zip(corners) {
        *above = element.field.at(x) - pressure;
    }
    let mut bounds = Aabb::NONE;
    let mut add = |x: Vector3<f64>| bounds = bounds.union(&Aabb { min: x, max: x });
    for i in 0..corners.len() {
        if above[i] <= 0.0 {
            add(corners[i]);
        }
        for j in 0..i {
            if (above[i] <= 0.0) != (above[j] <= 0.0) {
                let t = above[i] / (above[i] - above[j]);
                add(corners[i] + (corners[j] - corners[i]) * t);
            }
        }
    }
    // Round-off of the crossings.
    let bounds = intersection(&bounds.inflated(element.tolerance), region);
    (!is_empty(&bounds)).then_some(bounds)
}

/// The box that two boxes share.
pub(super) fn intersection(a: &Aabb, b: &Aabb) -> Aabb {
    Aabb { min: a.min.sup(&b.min), max: a.max.inf(&b.max) }
}

fn is_empty(bounds: &Aabb) -> bool {
    (0..3).any(|axis| bounds.min[axis] > bounds.max[axis])
}

/// Visits the pairs of elements whose boxes overlap. Sorts the first list along x.
pub(super) fn visit_pairs(
    first: &mut [NearElement],
    second: &[NearElement],
    mut visit: impl FnMut(u32, u32),
) {
    let key = |near: &NearElement| near.bounds.min.x;
    first.sort_unstable_by(|a, b| key(a).total_cmp(&key(b)).then(a.index.cmp(&b.index)));
    let mut reach = f64::NEG_INFINITY;
    for near in &mut *first {
        reach = reach.max(near.bounds.max.x);
        near.reach = reach;
    }
    for other in second {
        let start = first.partition_point(|near| near.reach < other.bounds.min.x);
        let until = |near: &&NearElement| near.bounds.min.x <= other.bounds.max.x;
        for near in first[start..].iter().take_while(until) {
            if near.bounds.overlaps(&other.bounds) {
                visit(near.index, other.index);
            }
        }
    }
}
