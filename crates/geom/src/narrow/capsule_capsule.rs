//! Two capsules: the nearest points of their segments, or two points where the segments are parallel.

use super::Manifold;
use nalgebra::{Isometry3, Vector3};

/// Sine of the angle below which two segments are parallel [-].
const PARALLEL: f64 = 0.02;

/// Writes the contacts of capsules A and B, each given by its radius, half length [m] and pose.
pub fn contacts(
    (r_A, h_A, X_WA): (f64, f64, &Isometry3<f64>),
    (r_B, h_B, X_WB): (f64, f64, &Isometry3<f64>),
    reach: f64,
    manifold: &mut Manifold,
) {
    let (u, v) = (X_WA.rotation * Vector3::z(), X_WB.rotation * Vector3::z());
    let (p_WA, p_WB) = (X_WA.translation.vector, X_WB.translation.vector);
    let between = p_WB - p_WA;
    let (s, t) = nearest_parameters(&between, (&u, h_A), (&v, h_B));
    let crossing = u.cross(&v);
    let normal = normal_between(&(between + t * v - s * u), &u, &crossing);
    let mut push = |id: u32, s: f64, t: f64| {
        let (p, q) = (p_WA + s * u, p_WB + t * v);
        let gap = normal.dot(&(q - p)) - r_A - r_B;
        if gap <= reach {
            manifold.push(id, 0.5 * (p + q + (r_A - r_B) * normal), normal, gap);
        }
    };
    if crossing.norm() < PARALLEL {
        // The part of A's segment beside B's.
        let (along, sense) = (u.dot(&between), u.dot(&v));
        let reach_B = h_B * sense.abs();
        let (low, high) = ((along - reach_B).max(-h_A), (along + reach_B).min(h_A));
        if high > low {
            let beside = |s: f64| ((s - along) * sense).clamp(-h_B, h_B);
            push(0, low, beside(low));
            push(1, high, beside(high));
            return;
        }
    }
    push(2, s, t);
}

/// Parameters [m] of the nearest points of two segments, c + s u with |s| ≤ h [Ericson05, Sec. 5.1.9].
fn nearest_parameters(
    between: &Vector3<f64>,
    (u, h_A): (&Vector3<f64>, f64),
    (v, h_B): (&Vector3<f64>, f64),
) -> (f64, f64) {
    let (b, d, e) = (u.dot(v), u.dot(between), v.dot(between));
    let determinant = 1.0 - b * b;
    let s = if determinant > 1e-14 { (d - b * e) / determinant } else { d.clamp(-h_A, h_A) };
    let s = s.clamp(-h_A, h_A);
    let t = b * s - e;
    let clamped = t.clamp(-h_B, h_B);
    if clamped == t { (s, t) } else { ((b * clamped + d).clamp(-h_A, h_A), clamped) }
}

/// Unit normal from A into B; across both segments where they meet.
fn normal_between(apart: &Vector3<f64>, u: &Vector3<f64>, crossing: &Vector3<f64>) -> Vector3<f64> {
    // Relative to vectors of unit length, lengths below this are round-off.
    const ROUND_OFF: f64 = 1e-14;
    if let Some(normal) = apart.try_normalize(ROUND_OFF) {
        return normal;
    }
    crossing.try_normalize(ROUND_OFF).unwrap_or_else(|| {
        let axis = if u.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
        u.cross(&axis).normalize()
    })
}
