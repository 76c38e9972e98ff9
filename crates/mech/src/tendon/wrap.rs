//! The taut string around a circle, a sphere or a cylinder: where it touches, how long it lies on.
//!
//! From the two free ends to the touching points and the length between them, in closed form.
//! A point at distance d sees the circle of radius r under the half angle whose cosine is r/d at
//! the centre; what the two tangents leave of the angle between the ends is the arc. On a sphere
//! the string lies in the plane of the ends and the centre; on a cylinder it is a helix, straight
//! when unrolled. Strings lie on the outside only. An end inside the surface, or an arc that would be
//! negative: the string is free. With a side to lie on, it takes the longer way when the straight
//! line would pass behind the centre: across the half-line from it away from that side.
//!
//! Because the string is tangent where it touches, its length changes with the touching points
//! held fixed on the surface: its gradient needs the free parts only.

use nalgebra::{Vector2, Vector3};

/// A string that lies on a surface between two touching points, in the frame of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrap {
    /// Where the string from the first end meets the surface [m].
    pub first: Vector3<f64>,
    /// Where the string leaves the surface towards the second end [m].
    pub last: Vector3<f64>,
    /// Length on the surface between the two [m].
    pub on_surface: f64,
}

/// A string that lies on a circle: touching points [m] and the length of the arc [m].
struct Arc {
    first: Vector2<f64>,
    last: Vector2<f64>,
    length: f64,
}

/// The string from `a` to `b` [m] around a sphere of `radius` [m] at the origin.
///
/// It takes the shorter way, unless that passes behind the centre as seen from `side`. `None`: it
/// is free.
pub fn sphere(
    a: Vector3<f64>,
    b: Vector3<f64>,
    radius: f64,
    side: Option<Vector3<f64>>,
) -> Option<Wrap> {
    // Axes of the plane of a, b and the centre; `across` points to the side of b.
    let along = a.try_normalize(0.0)?;
    let off = b - along * b.dot(&along);
    let across = if off.norm() > f64::EPSILON * b.norm() {
        off.normalize()
    } else if b.dot(&along) > 0.0 {
        return None; // both ends on one ray
    } else {
        perpendicular(along, side)
    };
    let in_plane = |p: Vector3<f64>| Vector2::new(p.dot(&along), p.dot(&across));
    let arc = circle(in_plane(a), in_plane(b), radius, side.map(in_plane))?;
    let in_space = |p: Vector2<f64>| along * p.x + across * p.y;
    Some(Wrap { first: in_space(arc.first), last: in_space(arc.last), on_surface: arc.length })
}

/// The string from `a` to `b` [m] around an endless cylinder of `radius` [m] about the z axis.
///
/// It takes the shorter way, unless that passes behind the centre as seen from `side`. `None`: it
/// is free.
pub fn cylinder(
    a: Vector3<f64>,
    b: Vector3<f64>,
    radius: f64,
    side: Option<Vector3<f64>>,
) -> Option<Wrap> {
    let arc = circle(a.xy(), b.xy(), radius, side.map(|s| s.xy()))?;
    // Unrolled, the whole string is straight: it climbs in proportion to its length in the plane.
    let (before, after) = ((arc.first - a.xy()).norm(), (b.xy() - arc.last).norm());
    let slope = (b.z - a.z) / (before + arc.length + after);
    let (z_first, z_last) = (a.z + slope * before, b.z - slope * after);
    Some(Wrap {
        first: Vector3::new(arc.first.x, arc.first.y, z_first),
        last: Vector3::new(arc.last.x, arc.last.y, z_last),
        on_surface: arc.length.hypot(z_last - z_first),
    })
}

/// A unit vector perpendicular to the unit vector `axis`, towards `side` if that says anything.
fn perpendicular(axis: Vector3<f64>, side: Option<Vector3<f64>>) -> Vector3<f64> {
    let towards = side.and_then(|s| (s - axis * s.dot(&axis)).try_normalize(0.0));
    towards.unwrap_or_else(|| {
        let least = Vector3::ith(axis.iamin(), 1.0);
        axis.cross(&least).normalize()
    })
}

/// The string from `a` to `b` around the circle of `radius` at the origin.
fn circle(
    a: Vector2<f64>,
    b: Vector2<f64>,
    radius: f64,
    side: Option<Vector2<f64>>,
) -> Option<Arc> {
    let tangent = |p: Vector2<f64>| {
        let square = p.norm_squared() - radius * radius;
        (square > 0.0).then(|| square.sqrt().atan2(radius))
    };
    let (tangent_a, tangent_b) = (tangent(a)?, tangent(b)?);
    let towards = |p: Vector2<f64>, angle: f64| {
        let (sin, cos) = angle.sin_cos();
        Vector2::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y) * (radius / p.norm())
    };

    // The way round with the given sense, by the angle it takes from a to b.
    let apart = a.perp(&b).atan2(a.dot(&b));
    let way = |sense: f64| {
        let turned = sense * apart;
        let angle = if turned < 0.0 { turned + std::f64::consts::TAU } else { turned };
        let arc = angle - tangent_a - tangent_b;
        (sense, arc, towards(a, sense * (tangent_a + 0.5 * arc)))
    };
    let short = if apart < 0.0 { -1.0 } else { 1.0 };
    let (sense, arc, _) = match side {
        None => way(short),
        Some(s) => {
            let (one, other) = (way(short), way(-short));
            let round = match crossing(a, b, s) {
                Some(0.0) => other.2.dot(&s) > one.2.dot(&s),
                Some(along) => along < 0.0,
                None => false,
            };
            if round { other } else { one }
        }
    };
    (arc > 0.0).then(|| Arc {
        first: towards(a, sense * tangent_a),
        last: towards(b, -sense * tangent_b),
        length: radius * arc,
    })
}

/// Where the straight line from `a` to `b` crosses the line from the origin to `side`: a number of
/// the sign of the distance towards `side`, or `None` if it does not.
fn crossing(a: Vector2<f64>, b: Vector2<f64>, side: Vector2<f64>) -> Option<f64> {
    let (off_a, off_b) = (a.perp(&side), b.perp(&side));
    (off_a * off_b < 0.0).then(|| (a * off_b.abs() + b * off_a.abs()).dot(&side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Lengths are of order one, and each is a sum of a few rounded terms.
    const ROUNDING: f64 = 1e-14;

    fn length(a: Vector3<f64>, b: Vector3<f64>, wrap: &Wrap) -> f64 {
        (wrap.first - a).norm() + wrap.on_surface + (b - wrap.last).norm()
    }

    #[test]
    fn a_string_over_a_sphere_is_two_tangents_and_an_arc() {
        let (radius, distance) = (0.3_f64, 0.8_f64);
        let (a, b) = (Vector3::new(-distance, 0.0, 0.0), Vector3::new(distance, 0.0, 0.0));
        let side = Vector3::new(0.1, 0.0, 1.0);
        let wrap = sphere(a, b, radius, Some(side)).unwrap();
        let exact = 2.0 * (distance * distance - radius * radius).sqrt()
            + radius * (PI - 2.0 * (radius / distance).acos());
        assert!((length(a, b, &wrap) - exact).abs() <= ROUNDING);
        assert!(wrap.first.z > 0.0 && wrap.last.z > 0.0, "the string lies on the given side");
        assert!((wrap.first.norm() - radius).abs() <= ROUNDING);
        // Tangent: the free part is perpendicular to the radius.
        assert!(wrap.first.dot(&(wrap.first - a)).abs() <= ROUNDING);
        assert!(wrap.last.dot(&(wrap.last - b)).abs() <= ROUNDING);
    }

    #[test]
    fn a_string_is_free_when_it_misses_the_surface_or_ends_inside() {
        let (a, b) = (Vector3::new(-1.0, 0.5, 0.1), Vector3::new(1.0, 0.5, -0.2));
        assert_eq!(sphere(a, b, 0.4, None), None);
        assert_eq!(cylinder(a, b, 0.4, None), None);
        assert_eq!(sphere(a * 0.1, b, 0.4, None), None);
        assert_eq!(sphere(a, a * 2.0, 0.4, None), None);
    }

    #[test]
    fn the_length_is_continuous_where_the_string_begins_to_touch() {
        let radius = 0.4;
        for turn in [sphere, cylinder] {
            let below = 1e-6;
            let (a, b) = (Vector3::new(-1.0, radius - below, 0.0), Vector3::new(1.0, radius, 0.0));
            let wrap = turn(a, b, radius, None).unwrap();
            let excess = length(a, b, &wrap) - (b - a).norm();
            // A string that is lifted by ε over a length of order one is longer by O(ε²).
            assert!((0.0..below).contains(&excess), "{excess}");
        }
    }

    #[test]
    fn the_longer_way_is_taken_for_a_side_behind() {
        let (a, b) = (Vector3::new(1.0, 0.2, 0.0), Vector3::new(0.9, -0.3, 0.0));
        let wrap = cylinder(a, b, 0.3, Some(Vector3::new(-1.0, 0.0, 0.0))).unwrap();
        let middle = 2.0 * PI - (b.y.atan2(b.x) - a.y.atan2(a.x)).abs();
        let half = |p: Vector3<f64>| (0.3 / p.norm()).acos();
        let exact = 0.3 * (middle - half(a) - half(b));
        assert!((wrap.on_surface - exact).abs() <= ROUNDING);
    }

    #[test]
    fn a_string_that_passes_on_the_given_side_is_free() {
        let (a, b) = (Vector3::new(-1.0, 0.5, 0.1), Vector3::new(1.0, 0.5, -0.2));
        let (here, there) = (Vector3::new(0.2, 1.0, 0.0), Vector3::new(0.2, -1.0, 0.0));
        for turn in [sphere, cylinder] {
            assert_eq!(turn(a, b, 0.4, Some(here)), None);
            let wrap = turn(a, b, 0.4, Some(there)).unwrap();
            assert!(wrap.first.y < 0.0 && wrap.last.y < 0.0);
        }
    }

    #[test]
    fn a_string_on_a_cylinder_is_a_helix_of_constant_slope() {
        let (a, b) = (Vector3::new(-1.0, 0.1, -0.5), Vector3::new(0.7, 0.05, 0.9));
        let wrap = cylinder(a, b, 0.4, None).unwrap();
        let flat = |p: Vector3<f64>, q: Vector3<f64>| (p.xy() - q.xy()).norm();
        let slope_before = (wrap.first.z - a.z) / flat(wrap.first, a);
        let slope_after = (b.z - wrap.last.z) / flat(wrap.last, b);
        let rise = wrap.last.z - wrap.first.z;
        let slope_on = rise / (wrap.on_surface * wrap.on_surface - rise * rise).sqrt();
        assert!((slope_before - slope_after).abs() <= 10.0 * ROUNDING);
        assert!((slope_before - slope_on).abs() <= 10.0 * ROUNDING);
    }
}
