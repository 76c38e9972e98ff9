//! A taut string around a circle, a sphere or a cylinder: tangent points and wrapped length.
//!
//! Computes the tangent points and the length between them from the two free ends, in closed form.
//! From a point at distance d, the tangent to the circle of radius r touches at the central angle
//! acos(r/d); the angle between the ends minus the two tangent angles is the wrapped arc. On a sphere
//! the string lies in the plane of the ends and the centre; on a cylinder it is a helix, straight
//! when unrolled. If an end is inside the surface, or the arc would be negative, the string does not touch. With a
//! given side, the string takes the longer path when the straight line passes behind the centre, that is, crosses the
//! half-line from the centre away from that side.
//!
//! A side inside the surface means that the surface is a ring from whose inside the string is held: a string that
//! would pass outside is drawn to the point of the circle at which the path is shortest, where both straight parts make
//! the same angle with the radius; it touches in this one point. A string that crosses the circle is straight.
//!
//! Because the string is tangent to the surface, the derivative of its length is that with the
//! tangent points fixed on the surface: the gradient needs the free segments only.

use nalgebra::{Vector2, Vector3};

/// A string that lies on a surface between two tangent points, in the frame of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrap {
    /// Where the string from the first end meets the surface [m].
    pub first: Vector3<f64>,
    /// Where the string leaves the surface towards the second end [m].
    pub last: Vector3<f64>,
    /// Length on the surface between the two [m].
    pub on_surface: f64,
}

/// A string that lies on a circle: tangent points [m] and the length of the arc [m].
struct Arc {
    first: Vector2<f64>,
    last: Vector2<f64>,
    length: f64,
}

/// The string from `a` to `b` [m] around a sphere of `radius` [m] at the origin.
///
/// It takes the shorter path, unless that passes behind the centre relative to `side`. Returns `None`
/// if the string does not touch the sphere.
pub fn sphere(
    a: Vector3<f64>,
    b: Vector3<f64>,
    radius: f64,
    side: Option<Vector3<f64>>,
) -> Option<Wrap> {
    // Axes of the plane of a, b and the centre; b has a positive component along `across`.
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
    let arc = match side {
        Some(side) if side.norm() < radius => ring(in_plane(a), in_plane(b), radius)?,
        _ => circle(in_plane(a), in_plane(b), radius, side.map(in_plane))?,
    };
    let in_space = |p: Vector2<f64>| along * p.x + across * p.y;
    Some(Wrap { first: in_space(arc.first), last: in_space(arc.last), on_surface: arc.length })
}

/// The string from `a` to `b` [m] around an infinite cylinder of `radius` [m] about the z axis.
///
/// It takes the shorter path, unless that passes behind the axis relative to `side`. Returns `None` if
/// the string does not touch the cylinder.
pub fn cylinder(
    a: Vector3<f64>,
    b: Vector3<f64>,
    radius: f64,
    side: Option<Vector3<f64>>,
) -> Option<Wrap> {
    let arc = match side {
        Some(side) if side.norm() < radius => ring(a.xy(), b.xy(), radius)?,
        _ => circle(a.xy(), b.xy(), radius, side.map(|s| s.xy()))?,
    };
    // Unrolled, the whole string is straight: z increases in proportion to the length in the plane.
    let (before, after) = ((arc.first - a.xy()).norm(), (b.xy() - arc.last).norm());
    let slope = (b.z - a.z) / (before + arc.length + after);
    let (z_first, z_last) = (a.z + slope * before, b.z - slope * after);
    Some(Wrap {
        first: Vector3::new(arc.first.x, arc.first.y, z_first),
        last: Vector3::new(arc.last.x, arc.last.y, z_last),
        on_surface: arc.length.hypot(z_last - z_first),
    })
}

/// A unit vector perpendicular to the unit vector `axis`, towards `side` unless that is missing or
/// parallel to the axis.
fn perpendicular(axis: Vector3<f64>, side: Option<Vector3<f64>>) -> Vector3<f64> {
    let towards = side.and_then(|s| (s - axis * s.dot(&axis)).try_normalize(0.0));
    towards.unwrap_or_else(|| {
        let least = Vector3::ith(axis.iamin(), 1.0);
        axis.cross(&least).normalize()
    })
}

/// The string from `a` to `b` [m] around the circle of `radius` [m] at the origin.
fn circle(
    a: Vector2<f64>,
    b: Vector2<f64>,
    radius: f64,
    side: Option<Vector2<f64>>,
) -> Option<Arc> {
    // Central angle [rad] between the end and its tangent point.
    let tangent = |p: Vector2<f64>| {
        let square = p.norm_squared() - radius * radius;
        (square > 0.0).then(|| square.sqrt().atan2(radius))
    };
    let (tangent_a, tangent_b) = (tangent(a)?, tangent(b)?);
    // The point of the circle in the direction of `p` rotated by `angle`.
    let on_circle = |p: Vector2<f64>, angle: f64| {
        let (sin, cos) = angle.sin_cos();
        Vector2::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y) * (radius / p.norm())
    };

    // Direction of rotation, arc angle and midpoint of the path in the given direction.
    let angle_ab = a.perp(&b).atan2(a.dot(&b));
    let path = |direction: f64| {
        let signed = direction * angle_ab;
        let angle = if signed < 0.0 { signed + std::f64::consts::TAU } else { signed };
        let arc = angle - tangent_a - tangent_b;
        (direction, arc, on_circle(a, direction * (tangent_a + 0.5 * arc)))
    };
    let short = if angle_ab < 0.0 { -1.0 } else { 1.0 };
    let (direction, arc, _) = match side {
        None => path(short),
        Some(s) => {
            let (shorter, longer) = (path(short), path(-short));
            let takes_longer = match crossing(a, b, s) {
                Some(0.0) => longer.2.dot(&s) > shorter.2.dot(&s),
                Some(along) => along < 0.0,
                None => false,
            };
            if takes_longer { longer } else { shorter }
        }
    };
    (arc > 0.0).then(|| Arc {
        first: on_circle(a, direction * tangent_a),
        last: on_circle(b, -direction * tangent_b),
        length: radius * arc,
    })
}

/// Largest number of Newton steps for the point of contact with a ring; they converge quadratically.
const RING_STEPS: usize = 50;

/// The string from `a` to `b` [m], outside of a ring of `radius` [m] at the origin through which it is led: it
/// touches the inside of the ring in one point. `None` if the straight line crosses the ring, or an end is inside.
///
/// With the angle ψ between the radius of the point and either part of the string, the triangles of the centre, the
/// point and an end have the angles asin(z r/|a|) and asin(z r/|b|) at the ends, z = sin ψ; those at the centre add
/// up to the angle G between the ends: `asin(A z) + asin(B z) − 2 asin z + G = 0` with A = r/|a|, B = r/|b|.
fn ring(a: Vector2<f64>, b: Vector2<f64>, radius: f64) -> Option<Arc> {
    let (len_a, len_b) = (a.norm(), b.norm());
    if !(len_a > radius && len_b > radius) {
        return None;
    }
    let way = b - a;
    let at = -way.dot(&a) / way.norm_squared();
    if at > 0.0 && at < 1.0 && (a + way * at).norm() <= radius {
        return None;
    }
    let touch = |point: Vector2<f64>| Some(Arc { first: point, last: point, length: 0.0 });
    let middle = (a + b).try_normalize(0.0)? * radius;
    let (A, B) = (radius / len_a, radius / len_b);
    let G = a.perp(&b).atan2(a.dot(&b)).abs();
    let f = |z: f64| (A * z).asin() + (B * z).asin() - 2.0 * z.asin() + G;
    let mut z: f64 = 1.0 - 1e-7;
    if f(z) > 0.0 {
        return touch(middle); // The ends are in almost the same direction.
    }
    for _ in 0..RING_STEPS {
        let root = |c: f64| (1.0 - c * c * z * z).max(f64::MIN_POSITIVE).sqrt();
        let slope = A / root(A) + B / root(B) - 2.0 / root(1.0);
        let next = z - f(z) / slope;
        if !(slope < 0.0 && next < z && next >= 0.0) {
            break; // f is concave, and the iteration comes from one side: it has converged to round-off.
        }
        z = next;
    }
    let (from, angle) = if a.perp(&b) > 0.0 {
        (a / len_a, z.asin() - (A * z).asin())
    } else {
        (b / len_b, z.asin() - (B * z).asin())
    };
    let (sin, cos) = angle.sin_cos();
    touch(Vector2::new(cos * from.x - sin * from.y, sin * from.x + cos * from.y) * radius)
}

/// Position at which the straight line from `a` to `b` crosses the line through the origin and
/// `side`: a number with the sign of the distance towards `side`, or `None` if it does not cross.
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
        for wrap_around in [sphere, cylinder] {
            let below = 1e-6;
            let (a, b) = (Vector3::new(-1.0, radius - below, 0.0), Vector3::new(1.0, radius, 0.0));
            let wrap = wrap_around(a, b, radius, None).unwrap();
            let excess = length(a, b, &wrap) - (b - a).norm();
            // A string that is lifted by ε over a length of order one is longer by O(ε²).
            assert!((0.0..below).contains(&excess), "{excess}");
        }
    }

    #[test]
    fn the_longer_path_is_taken_for_a_side_behind_the_centre() {
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
        for wrap_around in [sphere, cylinder] {
            assert_eq!(wrap_around(a, b, 0.4, Some(here)), None);
            let wrap = wrap_around(a, b, 0.4, Some(there)).unwrap();
            assert!(wrap.first.y < 0.0 && wrap.last.y < 0.0);
        }
    }

    #[test]
    fn a_string_inside_a_ring_touches_it_where_the_path_is_shortest() {
        let (radius, inside) = (0.3, Some(Vector3::new(0.01, 0.02, 0.0)));
        let (a, b) = (Vector3::new(0.9, 0.4, 0.0), Vector3::new(0.5, 1.1, 0.0));
        let by_way_of = |angle: f64| {
            let p = radius * Vector3::new(angle.cos(), angle.sin(), 0.0);
            (p - a).norm() + (b - p).norm()
        };
        // The least of a fine grid is above the minimum by no more than ½ f'' δ², δ = 1e-4 and f'' of order one.
        let grid = (0..62832).map(|k| by_way_of(1e-4 * f64::from(k)));
        let least = grid.fold(f64::INFINITY, f64::min);
        for wrap_around in [sphere, cylinder] {
            for (a, b) in [(a, b), (b, a)] {
                let wrap = wrap_around(a, b, radius, inside).unwrap();
                let found = length(a, b, &wrap);
                assert!(found <= least + ROUNDING && found >= least - 1e-8, "{found} {least}");
                assert_eq!(wrap.on_surface, 0.0);
                assert!((wrap.first.norm() - radius).abs() <= ROUNDING);
            }
            // A string through the ring is straight.
            let opposite = Vector3::new(-0.8, -0.5, 0.0);
            assert_eq!(wrap_around(a, opposite, radius, inside), None);
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
