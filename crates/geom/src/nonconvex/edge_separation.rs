//! Separation of a convex shape A from an edge of a surface B, over the normals that the edge allows, and the
//! points at which the edge passes under A.

use super::convex_in_surface::ConvexInSurfaceFrame;
use super::triangle_surface::{SurfaceInterior, TriangleSurface};
use crate::shape::mesh::EdgeConvexity;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, PI};

/// Normals of a wedge that are sampled when A penetrates.
const SAMPLES: u32 = 8;

/// An edge of B with its wedge of normals: from that of one face, rotating about the edge, to that of the
/// other.
#[derive(Clone, Copy, Debug)]
pub struct EdgeWedge {
    /// First end [m].
    pub from: Vector3<f64>,
    /// Unit vector along the edge.
    pub along: Vector3<f64>,
    /// Length [m].
    pub length: f64,
    /// Normal of the first face.
    n: Vector3<f64>,
    /// Unit vector across the edge and the normal, away from the first face.
    over: Vector3<f64>,
    /// Angle between the normals of both faces [rad].
    opening: f64,
}

impl EdgeWedge {
    /// The edge from corner `k` of triangle `t` to the next, on the side `sign` (1 front, −1 back).
    pub fn new<S: TriangleSurface>(surface: &S, t: u32, k: usize, sign: f64) -> Self {
        let corners = surface.corners(t);
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        let length = (q - p).norm();
        let along = (q - p) / length;
        let n = surface.normal(t) * sign;
        let over = along.cross(&n) * sign;
        let opening = match surface.side(t, k).across {
            Some(other) if surface.side(t, k).convexity != EdgeConvexity::Border => {
                let m = surface.normal(other) * sign;
                m.dot(&over).atan2(m.dot(&n))
            }
            _ if surface.interior() == SurfaceInterior::Ground => FRAC_PI_2,
            _ => PI,
        };
        Self { from: p, along, length, n, over, opening }
    }

    /// Both ends [m].
    pub fn ends(&self) -> [Vector3<f64>; 2] {
        [self.from, self.from + self.along * self.length]
    }
}

/// The normal in the wedge `cos θ n + sin θ over`, 0 ≤ θ ≤ opening, along which A is farthest from the edge
/// through p: s(θ) = m·(x − p) with x the lowest point of A, s'(θ) = m'·(x − p).
pub fn best_normal(convex: &ConvexInSurfaceFrame, edge: &EdgeWedge) -> Option<Vector3<f64>> {
    let EdgeWedge { from: p, n, over, opening, .. } = *edge;
    let at = |theta: f64| {
        let (sin, cos) = theta.sin_cos();
        (n * cos + over * sin, over * cos - n * sin)
    };
    let lowest = |theta: f64| convex.lowest(&at(theta).0) - p;
    let slope = |theta: f64| at(theta).1.dot(&lowest(theta));
    let clear = |theta: f64| at(theta).0.dot(&lowest(theta));
    // One-sided slopes at the ends: a face of A parallel to the triangle there has no unique lowest point.
    let inset = 1e-9 * opening;
    let (first, last) = (slope(inset), slope(opening - inset));
    let end = if clear(0.0) >= clear(opening) { 0.0 } else { opening };
    let bisect = |low: f64, high: f64| summit(low, high, &n, &over, &lowest);
    let mut theta = match (first > 0.0, last < 0.0) {
        (false, true) => 0.0,
        (true, false) => opening,
        (false, false) => end,
        (true, true) => bisect(0.0, opening),
    };
    // If the shapes are apart, that is the only maximum. If they penetrate, there may be several: sample
    // for the best.
    if clear(theta) < convex.radius {
        let step = opening / f64::from(SAMPLES);
        let mut best = (theta, clear(theta));
        for k in 1..SAMPLES {
            let value = clear(step * f64::from(k));
            if value > best.1 {
                best = (step * f64::from(k), value);
            }
        }
        if best.0 != theta {
            theta = bisect(best.0 - step, best.0 + step);
        }
    }
    at(theta).0.try_normalize(0.5)
}

/// The maximum over `low` ≤ θ ≤ `high` of the least m(θ)·x over the points x of A, `lowest` being the one
/// at θ.
///
/// Each point alone gives a sinusoid; where those of the two lowest points at the ends of the bracket
/// intersect, a third point may be lower and narrows the bracket. If none is, the maximum is there, or at the summit
/// of the one that still rises towards the other's side. Exact after a few points of a polyhedron;
/// every second step bisects the bracket, for every shape.
fn summit(
    mut low: f64,
    mut high: f64,
    n: &Vector3<f64>,
    over: &Vector3<f64>,
    lowest: &impl Fn(f64) -> Vector3<f64>,
) -> f64 {
    let (mut x_low, mut x_high) = (lowest(low), lowest(high));
    // m points to the lowest point at the summit of its sinusoid.
    let own_summit = |x: &Vector3<f64>| over.dot(x).atan2(n.dot(x));
    if x_low == x_high {
        // One point is lowest throughout.
        return own_summit(&x_low).clamp(low, high);
    }
    let size = x_low.norm() + x_high.norm();
    for k in 1..=120 {
        // cos θ n·d + sin θ over·d = 0 for d = x_low − x_high.
        let d = x_low - x_high;
        let is_one_point = x_low == x_high;
        let mut theta =
            if is_one_point { own_summit(&x_low) } else { (-n.dot(&d)).atan2(over.dot(&d)) };
        if theta < low {
            theta += PI;
        }
        let halve = k % 2 == 0 || !(theta > low && theta < high);
        if halve {
            theta = 0.5 * (low + high);
        }
        let x = lowest(theta);
        let (sin, cos) = theta.sin_cos();
        let turned = over * cos - n * sin;
        let slope = turned.dot(&x);
        let is_known = !halve && (x == x_low || x == x_high);
        let (rises_low, rises_high) = (turned.dot(&x_low) >= 0.0, turned.dot(&x_high) > 0.0);
        // A corner of a polyhedron: the third point is one of the two. A round shape: the slope vanishes.
        let corner = is_known && (is_one_point || rises_low && !rises_high);
        if corner || slope.abs() <= f64::EPSILON * size {
            return theta;
        }
        if is_known && rises_high {
            (low, x_low) = (theta, x_high);
        } else if is_known {
            (high, x_high) = (theta, x_low);
        } else if slope > 0.0 {
            (low, x_low) = (theta, x);
        } else {
            (high, x_high) = (theta, x);
        }
    }
    0.5 * (low + high)
}

/// Where the edge passes under the feature of A with the vertices `points`, seen along `m`: calls `emit` with
/// the coordinate on the edge [m] and the height of A there.
pub fn crossings(
    points: &[Vector3<f64>],
    edge: &EdgeWedge,
    m: &Vector3<f64>,
    mut emit: impl FnMut(f64, f64),
) {
    let EdgeWedge { from: p, along, length, .. } = *edge;
    let across = m.cross(&along);
    let flat = |x: &Vector3<f64>| (along.dot(&(x - p)), across.dot(&(x - p)), m.dot(&(x - p)));
    let slack = 1e-9 * length;
    let within = |u: f64| u >= -slack && u <= length + slack;
    match points {
        [] => {}
        [x] => {
            let (u, v, height) = flat(x);
            if within(u) && v.abs() <= slack.max(1e-9 * height.abs()) {
                emit(u, height);
            }
        }
        [a, b] => {
            let (a, b) = (flat(a), flat(b));
            let size = (a.0 - b.0).hypot(a.1 - b.1).hypot(a.2 - b.2);
            let thin = 1e-9 * size.max(length);
            if (a.1 - b.1).abs() <= thin {
                if a.1.abs() > thin {
                    return;
                }
                // Parallel: both ends of the common part.
                let (low, high) = if a.0 <= b.0 { (a, b) } else { (b, a) };
                let (start, end) = (low.0.max(0.0), high.0.min(length));
                let rise = if high.0 > low.0 { (high.2 - low.2) / (high.0 - low.0) } else { 0.0 };
                if start <= end {
                    emit(start, low.2 + rise * (start - low.0));
                    if end > start + slack {
                        emit(end, low.2 + rise * (end - low.0));
                    }
                }
                return;
            }
            let share = a.1 / (a.1 - b.1);
            let u = a.0 + share * (b.0 - a.0);
            if (-1e-9..=1.0 + 1e-9).contains(&share) && within(u) {
                emit(u, a.2 + share * (b.2 - a.2));
            }
        }
        _ => {
            // The plane of the polygon, by its area vector.
            let area = (1..points.len() - 1).fold(Vector3::zeros(), |sum: Vector3<f64>, i| {
                sum + (points[i] - points[0]).cross(&(points[i + 1] - points[0]))
            });
            let slant = area.dot(m);
            if slant.abs() <= 1e-9 * area.norm() {
                return;
            }
            // Clip the segment by the sides of the polygon, which turn with the sign of the slant.
            let (mut start, mut end) = (0.0_f64, length);
            for (i, a) in points.iter().enumerate() {
                let (a, b) = (flat(a), flat(&points[(i + 1) % points.len()]));
                // Inside where (b−a) × ((u, 0) − a) has the sign of the slant.
                let sense = slant.signum();
                let rate = -(b.1 - a.1) * sense;
                let value = ((b.0 - a.0) * -a.1 + (b.1 - a.1) * a.0) * sense;
                let scale = (b.0 - a.0).hypot(b.1 - a.1);
                if rate.abs() <= 1e-12 * scale {
                    if value < -1e-9 * scale * scale {
                        return;
                    }
                } else if rate > 0.0 {
                    start = start.max(-value / rate);
                } else {
                    end = end.min(-value / rate);
                }
            }
            let height = |u: f64| area.dot(&(points[0] - p - along * u)) / slant;
            if start <= end + slack {
                emit(start, height(start));
                if end > start + slack {
                    emit(end, height(end));
                }
            }
        }
    }
}
