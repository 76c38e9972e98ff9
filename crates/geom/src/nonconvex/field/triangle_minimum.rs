//! The least value of a field over a triangle, by the method of Frank and Wolfe [Jaggi13] [Lee25, Sec. VII].
//!
//! The linear minimiser over a triangle is a vertex; the step towards it is found by a line search on the slope.
//! Deviation: as long as the steepest descent within the plane stays in the triangle, the step goes along it: over a curved
//! field the steps between vertices would zigzag. The value is certified by the slope: no vertex is lower by more than that.

use super::distance_field::DistanceField;
use crate::field::FieldSample;
use nalgebra::Vector3;

const MOST_STEPS: usize = 12;
const MOST_LINE_STEPS: usize = 6;
/// Slope at which a point is the lowest [-].
const LEVEL: f64 = 1e-5;
/// Slope at the lowest corner up to which that is taken: two surfaces are nearly parallel, and no point of the triangle is lower
/// by more than this share of its edges [-].
const PARALLEL: f64 = 2e-3;
/// Part of the slope at the start at which a line search ends [-].
const LINE: f64 = 1e-3;
/// Share of the triangle that a step inside it must have left [-].
const ROOM: f64 = 1e-6;

/// A point of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMinimum {
    /// The point, in the frame of the field [m].
    pub point: Vector3<f64>,
    /// Weights of the corners.
    pub weights: [f64; 3],
    pub sample: FieldSample,
}

/// Whether the corner `low` with the least value is the lowest point of a triangle, by the slopes towards the others.
pub fn is_lowest(low: usize, corners: &[Vector3<f64>; 3], samples: &[FieldSample; 3]) -> bool {
    let g = samples[low].gradient;
    (0..3).filter(|&k| k != low).all(|k| {
        let to = corners[k] - corners[low];
        let fall = -g.dot(&to);
        fall <= 0.0 || fall * fall < PARALLEL * PARALLEL * to.norm_squared()
    })
}

/// The lowest point of a triangle whose corners have these samples; `None` if a corner is the lowest.
pub fn of(
    corners: &[Vector3<f64>; 3],
    samples: &[FieldSample; 3],
    field: &impl DistanceField,
) -> Option<TriangleMinimum> {
    let start =
        (1..3).fold(0, |low, k| if samples[k].value < samples[low].value { k } else { low });
    let mut weights = [0.0; 3];
    weights[start] = 1.0;
    let mut now = TriangleMinimum { point: corners[start], weights, sample: samples[start] };
    let (e1, e2) = (corners[1] - corners[0], corners[2] - corners[0]);
    let n = e1.cross(&e2);
    let area = n.norm_squared();
    // Gradients of the weights of the second and third corner within the plane.
    let (dual1, dual2) = (e2.cross(&n) / area, n.cross(&e1) / area);
    let mut moved = false;
    for _ in 0..MOST_STEPS {
        let g = now.sample.gradient;
        // The vertex to which the value falls fastest.
        let slopes: [f64; 3] = std::array::from_fn(|k| {
            let to = corners[k] - now.point;
            let way = to.norm();
            if way > 0.0 { g.dot(&to) / way } else { 0.0 }
        });
        let vertex = (1..3).fold(0, |low, k| if slopes[k] < slopes[low] { k } else { low });
        if slopes[vertex] > if moved { -LEVEL } else { -PARALLEL } {
            break;
        }
        let descent = n * (g.dot(&n) / area) - g;
        let rates = [-(dual1 + dual2).dot(&descent), dual1.dot(&descent), dual2.dot(&descent)];
        let room = (0..3)
            .filter(|&k| rates[k] < 0.0)
            .map(|k| now.weights[k] / -rates[k])
            .fold(f64::INFINITY, f64::min);
        let inside = room.is_finite() && room * descent.norm() > ROOM * e1.norm();
        let target = if inside {
            std::array::from_fn(|k| now.weights[k] + room * rates[k])
        } else {
            std::array::from_fn(|k| f64::from(k == vertex))
        };
        let Some(next) = search(&now, target, corners, field) else { break };
        now = next;
        moved = true;
    }
    moved.then_some(now)
}

/// The lowest point on the way to the point with the weights `target`, by the slope; `None` if there is none lower.
fn search(
    now: &TriangleMinimum,
    target: [f64; 3],
    corners: &[Vector3<f64>; 3],
    field: &impl DistanceField,
) -> Option<TriangleMinimum> {
    let at = |t: f64| {
        let weights: [f64; 3] =
            std::array::from_fn(|k| (1.0 - t) * now.weights[k] + t * target[k].max(0.0));
        let point = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
        TriangleMinimum { point, weights, sample: field.sample(&point) }
    };
    let mut best = at(1.0);
    let way = best.point - now.point;
    let slope = |found: &TriangleMinimum| found.sample.gradient.dot(&way);
    let (first, last) = (slope(now), slope(&best));
    if last > 0.0 {
        let (mut low, mut high, mut s_low, mut s_high) = (0.0, 1.0, first, last);
        for _ in 0..MOST_LINE_STEPS {
            let t = low + (high - low) * (s_low / (s_low - s_high)).clamp(0.05, 0.95);
            let found = at(t);
            let s = slope(&found);
            if found.sample.value < best.sample.value {
                best = found;
            }
            if s.abs() <= LINE * first.abs() {
                break;
            }
            if s < 0.0 { (low, s_low) = (t, s) } else { (high, s_high) = (t, s) }
        }
    }
    (best.sample.value < now.sample.value).then_some(best)
}
