//! Signed distance from a point to a convex shape, in the shape's frame.
//!
//! Smooth shapes have closed forms; boxes and polyhedra are searched face by face, O(faces), because inside
//! them several exits are possible: the caller provides which directions are admissible.

use crate::Shape;
use crate::shape::{Convex, triangle};
use nalgebra::Vector3;

/// Distance [m] of the point `p` [m] from the shape (negative inside) and the unit direction in which it
/// grows. Inside boxes and polyhedra, the nearest face whose outward normal `open` accepts is taken; `None`
/// if there is none, or for a shape that is not convex and bounded.
pub fn signed_distance(
    shape: &Shape,
    p: &Vector3<f64>,
    open: impl Fn(&Vector3<f64>) -> bool,
) -> Option<(f64, Vector3<f64>)> {
    match shape {
        Shape::Box(half) => cuboid(half, p, open),
        Shape::Convex(convex) => polyhedron(convex, p, open),
        _ => shape.nearest(p).map(|found| (found.distance, found.normal)),
    }
}

fn cuboid(
    half: &Vector3<f64>,
    p: &Vector3<f64>,
    open: impl Fn(&Vector3<f64>) -> bool,
) -> Option<(f64, Vector3<f64>)> {
    let outside = p - p.sup(&-half).inf(half);
    let distance = outside.norm();
    if distance > 0.0 {
        return Some((distance, outside / distance));
    }
    let mut best: Option<(f64, Vector3<f64>)> = None;
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut n = Vector3::zeros();
            n[axis] = sign;
            let height = sign * p[axis] - half[axis];
            if best.is_none_or(|b| height > b.0) && open(&n) {
                best = Some((height, n));
            }
        }
    }
    best
}

fn polyhedron(
    convex: &Convex,
    p: &Vector3<f64>,
    open: impl Fn(&Vector3<f64>) -> bool,
) -> Option<(f64, Vector3<f64>)> {
    let vertices = convex.vertices();
    let (mut inside, mut best): (bool, Option<(f64, Vector3<f64>)>) = (true, None);
    for k in 0..convex.faces() {
        let n = convex.face_normal(k);
        let height = n.dot(&(p - vertices[convex.face_corners(k)[0] as usize]));
        inside &= height <= 0.0;
        if inside && best.is_none_or(|b| height > b.0) && open(&n) {
            best = Some((height, n));
        }
    }
    if inside {
        return best;
    }
    let (mut nearest, mut away) = (f64::INFINITY, Vector3::z());
    for k in 0..convex.faces() {
        let corners = convex.face_corners(k);
        let n = convex.face_normal(k);
        if n.dot(&(p - vertices[corners[0] as usize])) <= 0.0 {
            continue; // the nearest point lies on a face visible from p
        }
        for pair in corners[1..].windows(2) {
            let [a, b, c] = [corners[0], pair[0], pair[1]].map(|v| &vertices[v as usize]);
            let (on, feature) = triangle::nearest(p, a, b, c);
            let distance = (p - on).norm();
            if distance < nearest {
                nearest = distance;
                away = if feature == triangle::Feature::Face { n } else { (p - on) / distance };
            }
        }
    }
    Some((nearest, away))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_grow_at_unit_rate_along_their_direction_and_vanish_on_the_surface() {
        let shapes = [
            Shape::Sphere { radius: 0.4 },
            Shape::Capsule { radius: 0.2, half_length: 0.5 },
            Shape::Box(Vector3::new(0.3, 0.5, 0.2)),
            Shape::Cylinder { radius: 0.3, half_length: 0.4 },
            Shape::Ellipsoid { radii: Vector3::new(0.5, 0.2, 0.3) },
        ];
        for shape in &shapes {
            for k in 0..200 {
                let t = k as f64 + 0.5;
                let f = |a: f64| 2.0 * (a * t).fract() - 1.0;
                let p = Vector3::new(f(0.819172513), f(0.671043606), f(0.549700477));
                let (d, g) = signed_distance(shape, &p, |_| true).unwrap();
                assert!((g.norm() - 1.0).abs() < 1e-12);
                // The foot of the perpendicular lies on the surface: the distance there is zero, and
                // the support plane there touches the shape (first-order exactness of both).
                let foot = p - g * d;
                let support = shape.support(&g).unwrap();
                assert!((g.dot(&(support - foot))).abs() < 1e-10, "{} {p}", shape.name());
                let (zero, _) = signed_distance(shape, &foot, |_| true).unwrap();
                assert!(zero.abs() < 1e-10, "{} {p} {zero}", shape.name());
            }
        }
    }
}
