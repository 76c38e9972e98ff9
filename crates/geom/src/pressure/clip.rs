//! Convex polygons: a tetrahedron cut by a plane, and what is left of a polygon behind planes.
//!
//! A corner on a plane counts as behind it, so that the cells of a mesh share a polygon without gaps. A polygon that lies in
//! a common face belongs to one of the two cells: the one in front of it, as seen along the polygon's normal.

use super::element::{FacePlane, PressureElement};
use nalgebra::Vector3;

/// Enough for the cut of a tetrahedron, four corners, and one more for each of eight planes.
const MOST_CORNERS: usize = 14;

/// Edges of a tetrahedron cut by a plane, by the corners in front of it (bits), in order around the polygon.
type CutEdge = [usize; 2];

/// A convex polygon of a few corners.
#[derive(Clone, Copy, Debug)]
pub struct Polygon {
    corners: [Vector3<f64>; MOST_CORNERS],
    len: usize,
}

impl Polygon {
    /// A polygon without corners.
    pub const EMPTY: Self = Self { corners: [Vector3::new(0.0, 0.0, 0.0); MOST_CORNERS], len: 0 };

    /// A triangle [m].
    pub fn triangle(corners: &[Vector3<f64>; 3]) -> Self {
        let mut polygon = Self::EMPTY;
        corners.iter().for_each(|x| polygon.push(*x));
        polygon
    }

    /// Its corners [m].
    pub fn corners(&self) -> &[Vector3<f64>] {
        &self.corners[..self.len]
    }

    fn push(&mut self, x: Vector3<f64>) {
        if self.len < MOST_CORNERS {
            self.corners[self.len] = x;
            self.len += 1;
        }
    }

    /// The polygon in which a function, linear in the element with these values at its corners, vanishes. Empty if no corner
    /// has a positive value. Its corners are in either order.
    pub fn level_set(corners: &[Vector3<f64>; 4], values: &[f64; 4]) -> Self {
        let mut polygon = Self::EMPTY;
        let is_front = values.map(|value| value > 0.0);
        let edges: &[CutEdge] = match is_front {
            [true, false, false, false] | [false, true, true, true] => &[[0, 1], [0, 2], [0, 3]],
            [false, true, false, false] | [true, false, true, true] => &[[1, 0], [1, 2], [1, 3]],
            [false, false, true, false] | [true, true, false, true] => &[[2, 0], [2, 1], [2, 3]],
            [false, false, false, true] | [true, true, true, false] => &[[3, 0], [3, 1], [3, 2]],
            [true, true, false, false] | [false, false, true, true] => {
                &[[0, 2], [0, 3], [1, 3], [1, 2]]
            }
            [true, false, true, false] | [false, true, false, true] => {
                &[[0, 1], [0, 3], [2, 3], [2, 1]]
            }
            [true, false, false, true] | [false, true, true, false] => {
                &[[0, 1], [0, 2], [3, 2], [3, 1]]
            }
            [true, true, true, true] | [false, false, false, false] => &[],
        };
        for &[i, j] in edges {
            polygon.push(crossing(&corners[i], values[i], &corners[j], values[j]));
        }
        polygon
    }

    /// Keeps what is behind a plane given by distances in front of it.
    pub fn clip(&mut self, distance: impl Fn(&Vector3<f64>) -> f64) {
        let mut kept = Self::EMPTY;
        let Some(mut last) = self.corners().last().copied() else { return };
        let mut before = distance(&last);
        let mut any_in_front = false;
        for &x in self.corners() {
            let d = distance(&x);
            if (d <= 0.0) != (before <= 0.0) {
                kept.push(crossing(&last, before, &x, d));
            }
            if d <= 0.0 {
                kept.push(x);
            } else {
                any_in_front = true;
            }
            (last, before) = (x, d);
        }
        if any_in_front {
            *self = if kept.len >= 3 { kept } else { Self::EMPTY };
        }
    }

    /// Keeps what lies in a tetrahedron. `normal` is that of the polygon.
    pub fn clip_to(&mut self, element: &PressureElement, normal: &Vector3<f64>) {
        for face in &element.faces {
            if self.lies_in(face, element.tolerance) {
                if face.normal.dot(normal) > 0.0 {
                    *self = Self::EMPTY;
                }
            } else {
                self.clip(|x| face.distance(x));
            }
            if self.len == 0 {
                return;
            }
        }
        if element.crosses_surface {
            self.clip(|x| -element.field.at(x));
        }
    }

    fn lies_in(&self, face: &FacePlane, tolerance: f64) -> bool {
        self.corners().iter().all(|x| face.distance(x).abs() <= tolerance)
    }
}

/// The point between two at which a linear function vanishes; the same bits for both orders.
fn crossing(a: &Vector3<f64>, at_a: f64, b: &Vector3<f64>, at_b: f64) -> Vector3<f64> {
    let (a, at_a, b, at_b) = if at_a <= at_b { (a, at_a, b, at_b) } else { (b, at_b, a, at_a) };
    if !(at_b > at_a) {
        return *a;
    }
    let t = (-at_a / (at_b - at_a)).clamp(0.0, 1.0);
    a + (b - a) * t
}
