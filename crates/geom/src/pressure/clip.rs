//! Convex polygons: an element cut by a plane, and what is left of a polygon behind planes.
//!
//! A corner on a plane counts as behind it, so that the cells of a mesh share a polygon without gaps. A polygon that lies in
//! a common face belongs to one of the two cells: the one in front of it, as seen along the polygon's normal.

use super::element::{FacePlane, LinearField, MOST_FACES, PressureElement};
use nalgebra::Vector3;

/// Enough for four corners, and one more for each face of two elements and for the surfaces of both.
const MOST_CORNERS: usize = 4 + 2 * MOST_FACES + 2;

/// Distances of the corners of a polygon from a plane [m].
type Distances = [f64; MOST_CORNERS];

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

    /// The section of an element by the plane on which a linear function vanishes; `normal` is that of its descent. A section that lies
    /// in a face belongs to the element in which the function is positive.
    pub fn section(
        element: &PressureElement,
        function: &LinearField,
        normal: &Vector3<f64>,
    ) -> Self {
        if let ([a, b, c, d], false) = (element.corners(), element.is_cut_by_faces) {
            let corners = [*a, *b, *c, *d];
            return Self::level_set(&corners, &corners.map(|x| function.at(&x)));
        }
        let mut polygon = Self::square(element, function, normal);
        polygon.cut_by(element, &-normal);
        polygon
    }

    /// A square in a plane that cuts an element, around the section.
    fn square(element: &PressureElement, function: &LinearField, normal: &Vector3<f64>) -> Self {
        let corners = element.corners();
        let middle = corners.iter().sum::<Vector3<f64>>() / corners.len() as f64;
        let radius = corners.iter().map(|x| (x - middle).norm_squared()).fold(0.0, f64::max).sqrt();
        let centre = middle + normal * (function.at(&middle) / function.gradient.norm());
        let u = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
        let (u, v) = (u * (2.0 * radius), normal.cross(&u) * (2.0 * radius));
        let mut polygon = Self::EMPTY;
        [u + v, v - u, -u - v, u - v].iter().for_each(|x| polygon.push(centre + x));
        polygon
    }

    /// The polygon in which a function, linear in the element with these values at its corners, vanishes. Empty if no corner
    /// has a positive value. Its corners are in either order.
    fn level_set(corners: &[Vector3<f64>; 4], values: &[f64; 4]) -> Self {
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
        let distances = self.distances(distance);
        self.clip_by(&distances);
    }

    /// Distances of the corners.
    fn distances(&self, distance: impl Fn(&Vector3<f64>) -> f64) -> Distances {
        let mut distances = [0.0; MOST_CORNERS];
        for (d, x) in distances.iter_mut().zip(self.corners()) {
            *d = distance(x);
        }
        distances
    }

    /// Keeps what is behind a plane, given the distances of the corners in front of it.
    fn clip_by(&mut self, distances: &Distances) {
        let len = self.len;
        let is_behind = |k: usize| distances[k] <= 0.0;
        let behind = (0..len).filter(|k| is_behind(*k)).count();
        if behind == len {
            return;
        }
        self.len = 0;
        if behind == 0 {
            return;
        }
        let corners = self.corners;
        let mut last = len - 1;
        for k in 0..len {
            if is_behind(k) != is_behind(last) {
                self.push(crossing(&corners[last], distances[last], &corners[k], distances[k]));
            }
            if is_behind(k) {
                self.push(corners[k]);
            }
            last = k;
        }
        if self.len < 3 {
            self.len = 0;
        }
    }

    /// Keeps what lies in an element. `normal` is that of the polygon.
    pub fn clip_to(&mut self, element: &PressureElement, normal: &Vector3<f64>) {
        self.cut_by(element, normal);
        if element.crosses_surface {
            self.clip(|x| -element.field.at(x));
        }
    }

    /// Keeps what lies behind the faces of an element.
    fn cut_by(&mut self, element: &PressureElement, normal: &Vector3<f64>) {
        let tolerance = element.tolerance;
        // Most polygons that miss the element lie in front of one face.
        let is_apart =
            |face: &FacePlane| self.corners().iter().all(|x| face.distance(x) > tolerance);
        if element.faces().iter().any(is_apart) {
            self.len = 0;
            return;
        }
        for face in element.faces() {
            let distances = self.distances(|x| face.distance(x));
            if distances[..self.len].iter().all(|d| d.abs() <= tolerance) {
                if face.normal.dot(normal) > 0.0 {
                    self.len = 0;
                }
            } else {
                self.clip_by(&distances);
            }
            if self.len == 0 {
                return;
            }
        }
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
