//! Reduces many contacts of a field to few: the deepest, those at the ends of the area, and an even choice between.
//!
//! Farthest-point selection [Gonzalez85] over positions and normals: the first is the deepest, each further one is the farthest from
//! those chosen, so that the corners of the area, which decide about support and moment, come early. Gaps
//! count only beyond a share of the size, so that the choice does not change with round-off. O(n · kept).

use crate::Aabb;
use crate::nonconvex::candidate::{ContactCandidate, NonconvexScratch};

/// Share of the size below which gaps count as equal [-].
const EQUAL: f64 = 1e-6;

/// Keeps at most `most` candidates; `size` is that of the shapes [m].
pub fn thin(scratch: &mut NonconvexScratch, most: usize, size: f64) {
    let NonconvexScratch { candidates, kept, scores, weights, places, .. } = scratch;
    if candidates.len() <= most {
        return;
    }
    let area = Aabb::of_points(candidates.iter().map(|c| c.on_B));
    let extent = area.size().max();
    let level = |c: &ContactCandidate| (c.gap / (EQUAL * size)).floor();
    let key = |c: &ContactCandidate| (level(c), c.feature);
    let low = candidates.iter().map(level).fold(f64::INFINITY, f64::min);
    let high = candidates.iter().map(level).fold(f64::NEG_INFINITY, f64::max);
    let range = (high - low).max(1e-3 / EQUAL);
    let weight = |c: &ContactCandidate| 1.0 - 0.9 * (level(c) - low) / range;
    let mut next = (1..candidates.len())
        .fold(0, |best, i| if key(&candidates[i]) < key(&candidates[best]) { i } else { best });
    weights.clear();
    weights.extend(candidates.iter().map(weight));
    places.clear();
    places.extend(candidates.iter().map(|c| (c.on_B, c.normal)));
    scores.clear();
    scores.resize(candidates.len(), f64::INFINITY);
    kept.clear();
    while kept.len() < most.min(candidates.len()) {
        let pick = candidates[next];
        kept.push(pick);
        next = 0;
        let mut best = f64::NEG_INFINITY;
        let each = scores.iter_mut().zip(&*weights).zip(&*places).enumerate();
        for (i, ((nearest, weight), (on_B, normal))) in each {
            let turned = (normal - pick.normal).norm_squared() * extent * extent;
            *nearest = nearest.min((on_B - pick.on_B).norm_squared() + turned);
            let score = *nearest * weight;
            if score > best {
                (next, best) = (i, score);
            }
        }
    }
    std::mem::swap(candidates, kept);
}
