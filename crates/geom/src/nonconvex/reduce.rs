//! Reduces many contact candidates to few that can transmit the same forces.
//!
//! Points with the same normal form a group; of each group only the corners of its convex hull (projected
//! along the normal) remain, because forces at inner points are equivalent to forces at the corners. The
//! nearest points have hulls of their own, so that speculative points farther out do not replace those
//! that touch. If there are still too many points, farthest-point selection [Gonzalez85] starting from the
//! deepest chooses among them. O(n log n + n · kept).

use super::candidate::{ContactCandidate, NonconvexScratch};
use crate::Aabb;
use nalgebra::Vector3;

/// Most points of one pair.
pub const MOST: usize = 32;
/// Most corners of one group.
const MOST_OF_GROUP: usize = 8;
/// Most groups: points beyond them are kept for the farthest-point selection.
const GROUPS: usize = 48;
/// Cosine above which two normals count as one: they differ by less than a thousandth [-].
const SAME_NORMAL: f64 = 1.0 - 0.5e-6;
/// Shares of the reach above the least gap within which points count as the nearest of their group [-]: of a body that slides fast over
/// a plane, those that touch must not give way to those of a rounded edge farther out.
const NEAREST: [f64; 2] = [0.01, 0.1];

/// Replaces the candidates by few that can transmit the same forces.
pub fn reduce(scratch: &mut NonconvexScratch, reach: f64) {
    corners_of_faces(scratch, reach);
    let NonconvexScratch { candidates, kept, scores, .. } = scratch;
    if candidates.len() > MOST {
        thin(candidates, kept, scores);
    }
}

/// Removes the points inside the area of others with the same normal.
pub fn corners_of_faces(scratch: &mut NonconvexScratch, reach: f64) {
    let NonconvexScratch { candidates, kept, groups, plane, hull, marks, .. } = scratch;
    if candidates.len() <= 4 {
        return;
    }
    // Sort the points into groups of one normal each.
    groups.clear();
    marks.clear();
    for f in candidates.iter() {
        let group = groups.iter().position(|(n, _)| n.dot(&f.normal) > SAME_NORMAL);
        let group = group.unwrap_or_else(|| {
            if groups.len() < GROUPS {
                groups.push((f.normal, 0));
                groups.len() - 1
            } else {
                GROUPS
            }
        });
        if group < GROUPS {
            groups[group].1 += 1;
        }
        marks.push(group as u32);
    }
    // Keep the corners of each group's hulls.
    kept.clear();
    kept.extend(
        candidates
            .iter()
            .zip(marks.iter())
            .filter(|(_, m)| **m as usize == GROUPS)
            .map(|(f, _)| *f),
    );
    for (g, (normal, count)) in groups.iter().enumerate() {
        let members = || (0..candidates.len()).filter(|&i| marks[i] as usize == g);
        if *count <= 4 {
            kept.extend(members().map(|i| candidates[i]));
            continue;
        }
        let first = kept.len();
        let least = members().map(|i| candidates[i].gap).fold(f64::INFINITY, f64::min);
        let [touching, near] = NEAREST.map(|share| least + share * reach);
        for limit in [touching, near, f64::INFINITY] {
            let chosen = members().filter(|&i| candidates[i].gap <= limit);
            corners(candidates, chosen, normal, plane, hull);
            for &(_, _, i) in hull.iter() {
                if !kept[first..]
                    .iter()
                    .any(|k| k.feature == candidates[i].feature && k.on_B == candidates[i].on_B)
                {
                    kept.push(candidates[i]);
                }
            }
        }
    }
    std::mem::swap(candidates, kept);
}

/// Corners of the convex hull of the chosen points, seen along `normal`; coinciding points count once.
fn corners(
    candidates: &[ContactCandidate],
    chosen: impl Iterator<Item = usize>,
    normal: &Vector3<f64>,
    plane: &mut Vec<(f64, f64, usize)>,
    hull: &mut Vec<(f64, f64, usize)>,
) {
    let mut e = Vector3::zeros();
    e[normal.iamin()] = 1.0;
    let u = normal.cross(&e).normalize();
    let v = normal.cross(&u);
    plane.clear();
    plane.extend(chosen.map(|i| (u.dot(&candidates[i].on_B), v.dot(&candidates[i].on_B), i)));
    plane
        .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (Some(first), Some(last)) = (plane.first(), plane.last()) else {
        hull.clear();
        return;
    };
    let tall = plane
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.1), high.max(p.1)));
    let size = (last.0 - first.0).max(tall.1 - tall.0);
    // Monotone chain [Andrew79]; a corner must stand out by more than round-off.
    let proud = 1e-9 * size * size;
    let turn = |o: &(f64, f64, usize), a: &(f64, f64, usize), b: &(f64, f64, usize)| {
        (a.0 - o.0) * (b.1 - o.1) - (a.1 - o.1) * (b.0 - o.0)
    };
    hull.clear();
    let mut half = |points: &mut dyn Iterator<Item = &(f64, f64, usize)>| {
        let start = hull.len();
        for p in points {
            let near =
                |q: &(f64, f64, usize)| (q.0 - p.0).abs().max((q.1 - p.1).abs()) < 1e-7 * size;
            if hull.last().is_some_and(near) {
                continue;
            }
            while hull.len() >= start + 2
                && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], p) <= proud
            {
                hull.pop();
            }
            hull.push(*p);
        }
        hull.pop(); // the other half starts with it
    };
    half(&mut plane.iter());
    half(&mut plane.iter().rev());
    if hull.is_empty() {
        hull.push(*first);
    }
    // Of too many corners, those that contribute the least area are removed.
    while hull.len() > MOST_OF_GROUP {
        let n = hull.len();
        let area = |i: usize| turn(&hull[(i + n - 1) % n], &hull[i], &hull[(i + 1) % n]);
        let least = (0..n).fold((0, f64::INFINITY), |best, i| {
            let a = area(i);
            if a < best.1 { (i, a) } else { best }
        });
        hull.remove(least.0);
    }
    // The deepest point is kept, wherever it lies.
    let deepest = plane.iter().fold(first.2, |best, p| {
        let (old, other) = (&candidates[best], &candidates[p.2]);
        if (other.gap, other.feature) < (old.gap, old.feature) { p.2 } else { best }
    });
    let level = hull.iter().map(|h| candidates[h.2].gap).fold(f64::INFINITY, f64::min);
    if candidates[deepest].gap < level - 1e-12 * size {
        hull.push((0.0, 0.0, deepest));
    }
}

/// Farthest-point selection: keeps the deepest point and then, one by one, the point farthest from all kept
/// ones, weighted towards small gaps.
fn thin(
    candidates: &mut Vec<ContactCandidate>,
    kept: &mut Vec<ContactCandidate>,
    scores: &mut Vec<f64>,
) {
    let key = |f: &ContactCandidate| (f.gap, f.feature);
    let low = candidates.iter().map(|f| f.gap).fold(f64::INFINITY, f64::min);
    let high = candidates.iter().map(|f| f.gap).fold(f64::NEG_INFINITY, f64::max);
    let weight =
        |f: &ContactCandidate| 1.0 - 0.9 * (f.gap - low) / (high - low).max(f64::MIN_POSITIVE);
    let box_of_all = Aabb::of_points(candidates.iter().map(|f| f.on_B));
    let size = box_of_all.size().max();
    let mut next = (1..candidates.len())
        .fold(0, |best, i| if key(&candidates[i]) < key(&candidates[best]) { i } else { best });
    scores.clear();
    scores.resize(candidates.len(), f64::INFINITY);
    kept.clear();
    while kept.len() < MOST {
        let pick = candidates[next];
        kept.push(pick);
        next = 0;
        for (i, f) in candidates.iter().enumerate() {
            // Distances between normals are added: where two faces meet, points of both are needed.
            let apart = (f.on_B - pick.on_B).norm() + size * (f.normal - pick.normal).norm();
            scores[i] = scores[i].min(apart);
            if scores[i] * weight(f) > scores[next] * weight(&candidates[next]) {
                next = i;
            }
        }
    }
    std::mem::swap(candidates, kept);
}
