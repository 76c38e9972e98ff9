//! The outline of a profile in the half plane: its line or polygon, enlarged by the rounding.
//!
//! Each side of an edge is moved by the rounding; arcs join the sides at corners that stand out, and at hollow corners the
//! sides end where they meet. Points that lie inside are dropped. O(points · edges).

use super::profile::{Outline, Profile};
use nalgebra::Vector2;
use std::f64::consts::PI;

/// Largest angle between neighbouring points of an arc [rad].
const ARC: f64 = PI / 6.0;
/// Part of the size by which a point may lie inside and still count as on the outline [-].
const ON_OUTLINE: f64 = 1e-9;

/// The outline with pieces of about `width` [m].
pub fn of(profile: &Profile, width: f64) -> Outline {
    let mut corners: Vec<Vector2<f64>> = profile.points().iter().map(|p| (*p).into()).collect();
    if profile.is_closed() && !profile.is_counter_clockwise() {
        corners.reverse();
    }
    let mut size = corners.iter().fold(0.0_f64, |most, p| most.max(p.amax()));
    size = size.max(profile.rounding());
    let on_axis = |p: &Vector2<f64>| p.x <= 1e-12 * size;
    let n = corners.len();
    // The chain of corners whose right-hand side is the outline.
    let mut chain: Vec<Vector2<f64>>;
    let mut closed = true;
    if profile.is_closed() {
        let axis_edge = (0..n).find(|&k| on_axis(&corners[k]) && on_axis(&corners[(k + 1) % n]));
        let start = axis_edge.map_or(0, |k| k + 1);
        chain = (0..n).map(|k| corners[(start + k) % n]).collect();
        closed = axis_edge.is_none();
        if closed {
            chain.push(chain[0]);
        }
    } else {
        // Around the line: there and back.
        chain = corners.clone();
        chain.extend(corners.iter().rev().skip(1));
        if on_axis(&corners[0]) {
            closed = false;
        }
    }
    let r = profile.rounding();
    let mut points: Vec<Vector2<f64>> = Vec::new();
    let pieces = |length: f64| (length / width).ceil().max(1.0) as usize;
    let right = |d: &Vector2<f64>| Vector2::new(d.y, -d.x);
    for k in 0..chain.len() - 1 {
        let (from, to) = (chain[k], chain[k + 1]);
        let along = (to - from).normalize();
        let out = right(&along);
        let count = pieces((to - from).norm());
        for i in 0..=count {
            points.push(from + (to - from) * (i as f64 / count as f64) + r * out);
        }
        let next = if k + 2 < chain.len() {
            chain[k + 2]
        } else if closed {
            chain[1]
        } else {
            continue;
        };
        let out_next = right(&(next - to).normalize());
        let turn = (out.x * out_next.y - out.y * out_next.x).atan2(out.dot(&out_next));
        // A line turns back at its end by half a turn to the left.
        let turn =
            if turn < 0.0 && out.dot(&out_next) < -1.0 + 1e-9 { turn + 2.0 * PI } else { turn };
        if turn > 0.0 && r > 0.0 {
            let count = (turn / ARC).ceil().max((turn * r / width).ceil()) as usize;
            for i in 1..count {
                let (sin, cos) = (turn * i as f64 / count as f64).sin_cos();
                let turned = Vector2::new(cos * out.x - sin * out.y, sin * out.x + cos * out.y);
                points.push(to + r * turned);
            }
        } else if turn < 0.0 && r > 0.0 {
            let middle = (out + out_next).normalize();
            points.push(to + middle * (r / middle.dot(&out)));
        }
    }
    points.retain(|p| p.x >= 0.0 && profile.sample_2d(p.x, p.y).value >= -ON_OUTLINE * size);
    let near = |a: &Vector2<f64>, b: &Vector2<f64>| (a - b).norm() <= 1e-6 * width;
    points.dedup_by(|a, b| near(a, b));
    if closed {
        while points.len() > 1 && near(&points[0], &points[points.len() - 1]) {
            points.pop();
        }
    } else {
        end_on_axis(profile, &mut points, size);
    }
    Outline { points: points.into_iter().map(|p| (p.x, p.y)).collect(), closed }
}

/// Adds the points at which the surface meets the axis at both ends of an open outline.
fn end_on_axis(profile: &Profile, points: &mut Vec<Vector2<f64>>, size: f64) {
    let meets = |from: &Vector2<f64>| {
        let mut z = from.y;
        for _ in 0..50 {
            let found = profile.sample_2d(0.0, z);
            let slope = if found.gradient.y < 0.0 { -1.0 } else { 1.0 };
            z -= slope * found.value;
            if found.value.abs() < 1e-14 * size {
                break;
            }
        }
        Vector2::new(0.0, z)
    };
    let small = 1e-9 * size;
    if let Some(first) = points.first().copied() {
        if first.x > small { points.insert(0, meets(&first)) } else { points[0].x = 0.0 }
    }
    if let Some(last) = points.last_mut() {
        if last.x > small {
            let end = meets(&last.clone());
            points.push(end);
        } else {
            last.x = 0.0;
        }
    }
}
