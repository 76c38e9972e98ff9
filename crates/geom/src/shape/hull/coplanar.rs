//! Merges coplanar triangles of a convex surface to polygons.
//!
//! The largest triangle of a face defines its plane; the face grows over edges to triangles all of whose
//! corners lie within a tolerance of it. A triangle narrower than the tolerance has no direction of its own
//! and joins a face beside it: its corners are as close to that plane as the ends of its longest edge, apart
//! from its width. Vertices inside a face disappear, and so do those on a straight
//! edge between two faces, on both sides of it.

use super::Lists;
use super::quickhull::Triangulation;
use nalgebra::Vector3;

const NONE: u32 = u32::MAX;

/// The faces, as lists of corners; `None` if a face is not bounded by one simple outline.
///
/// Each face lies within `tolerance` [m] of a plane, narrow triangles within twice that, each vertex left
/// out within the same distance of a face. If it is zero, the triangles are returned as they are.
pub fn merge(points: &[Vector3<f64>], surface: &Triangulation, tolerance: f64) -> Option<Lists> {
    if !(tolerance > 0.0) {
        let entries = surface.triangles.concat();
        let starts = (0..=surface.triangles.len() as u32).map(|k| 3 * k).collect();
        return Some(Lists { entries, starts });
    }
    let regions = regions(points, surface, tolerance);
    let outlines = outlines(points.len(), surface, &regions)?;
    without_straight_vertices(points, outlines, tolerance)
}

/// Triangles of each face.
fn regions(points: &[Vector3<f64>], surface: &Triangulation, tolerance: f64) -> Lists {
    let at = |k: u32| points[k as usize];
    let areas: Vec<Vector3<f64>> = surface
        .triangles
        .iter()
        .map(|triangle| {
            let [p, q, r] = triangle.map(at);
            (q - p).cross(&(r - p))
        })
        .collect();
    let size = |t: u32| areas[t as usize].norm_squared();
    let mut order: Vec<(f64, u32)> =
        (0..areas.len() as u32).map(|triangle| (size(triangle), triangle)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let allowed = |t: u32| {
        let [p, q, r] = surface.triangles[t as usize].map(at);
        let longest =
            (q - p).norm_squared().max((r - q).norm_squared()).max((p - r).norm_squared());
        let is_narrow = size(t) <= tolerance * tolerance * longest;
        if is_narrow { 2.0 * tolerance } else { tolerance }
    };
    let mut is_taken = vec![false; areas.len()];
    let mut regions = Lists { entries: Vec::with_capacity(areas.len()), starts: vec![0] };
    for (_, seed) in order {
        if is_taken[seed as usize] {
            continue;
        }
        let normal = areas[seed as usize].try_normalize(0.0).unwrap_or_default();
        let offset = normal.dot(&at(surface.triangles[seed as usize][0]));
        let is_within = |t: u32| {
            let off = |corner: u32| (normal.dot(&at(corner)) - offset).abs();
            let most = surface.triangles[t as usize].map(off).into_iter().fold(0.0, f64::max);
            most <= tolerance || most <= allowed(t)
        };
        let mut next = regions.entries.len();
        regions.entries.push(seed);
        is_taken[seed as usize] = true;
        while next < regions.entries.len() {
            for other in surface.across[regions.entries[next] as usize] {
                if !is_taken[other as usize] && is_within(other) {
                    is_taken[other as usize] = true;
                    regions.entries.push(other);
                }
            }
            next += 1;
        }
        regions.starts.push(regions.entries.len() as u32);
    }
    regions
}

/// Boundary vertices of each face, counter-clockwise seen from outside.
fn outlines(n_points: usize, surface: &Triangulation, regions: &Lists) -> Option<Lists> {
    let mut region_of = vec![NONE; surface.triangles.len()];
    for (k, region) in (0..).zip(regions.iter()) {
        region.iter().for_each(|triangle| region_of[*triangle as usize] = k);
    }
    // The vertex after each along the outline of the present face.
    let mut after = vec![NONE; n_points];
    let mut outlines = Lists { entries: Vec::new(), starts: vec![0] };
    for (k, region) in (0..).zip(regions.iter()) {
        let (mut first, mut edges) = (NONE, 0);
        for &triangle in region {
            let corners = surface.triangles[triangle as usize];
            for edge in 0..3 {
                if region_of[surface.across[triangle as usize][edge] as usize] != k {
                    let (from, to) = (corners[edge], corners[(edge + 1) % 3]);
                    if after[from as usize] != NONE {
                        return None;
                    }
                    after[from as usize] = to;
                    (first, edges) = (first.min(from), edges + 1);
                }
            }
        }
        if edges < 3 {
            return None;
        }
        let mut at = first;
        for _ in 0..edges {
            outlines.entries.push(at);
            at = std::mem::replace(&mut after[at as usize], NONE);
            if at == NONE {
                return None;
            }
        }
        // More than one cycle returns early or leaves edges that are never visited.
        if at != first {
            return None;
        }
        outlines.starts.push(outlines.entries.len() as u32);
    }
    Some(outlines)
}

/// Leaves out the vertices on straight edges that only two faces share.
fn without_straight_vertices(
    points: &[Vector3<f64>],
    outlines: Lists,
    tolerance: f64,
) -> Option<Lists> {
    let mut faces_at = vec![0_u32; points.len()];
    outlines.entries.iter().for_each(|corner| faces_at[*corner as usize] += 1);
    let is_shared = |corner: u32| faces_at[corner as usize] > 2;
    let mut is_decided = vec![false; points.len()];
    let mut is_left_out = vec![false; points.len()];
    let mut path = Vec::new();
    for outline in outlines.iter() {
        let n = outline.len();
        let start = outline.iter().position(|&corner| is_shared(corner))?;
        path.clear();
        for k in 0..=n {
            let corner = outline[(start + k) % n];
            path.push(corner);
            if k > 0 && is_shared(corner) {
                if path.len() > 2 && !is_decided[path[1] as usize] {
                    path[1..path.len() - 1].iter().for_each(|k| is_decided[*k as usize] = true);
                    mark_straight(points, &path, tolerance, &mut is_left_out);
                }
                path.clear();
                path.push(corner);
            }
        }
    }
    // A face keeps three corners.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for outline in outlines.iter() {
            let kept = outline.iter().filter(|corner| !is_left_out[**corner as usize]).count();
            if kept < 3 {
                changed |= outline.iter().any(|corner| is_left_out[*corner as usize]);
                outline.iter().for_each(|corner| is_left_out[*corner as usize] = false);
            }
        }
    }
    let mut faces = Lists { entries: Vec::new(), starts: vec![0] };
    for outline in outlines.iter() {
        let kept = outline.iter().copied().filter(|corner| !is_left_out[*corner as usize]);
        faces.entries.extend(kept);
        faces.starts.push(faces.entries.len() as u32);
    }
    Some(faces)
}

/// Marks the inner vertices of a path that lie within the tolerance of the chords between the others.
fn mark_straight(points: &[Vector3<f64>], path: &[u32], tolerance: f64, is_left_out: &mut [bool]) {
    let at = |k: usize| points[path[k] as usize];
    let off = |k: usize, from: usize, to: usize| {
        let chord = at(to) - at(from);
        chord.cross(&(at(k) - at(from))).norm() / chord.norm()
    };
    let mut from = 0;
    for to in 2..path.len() {
        if (from + 1..to).all(|k| off(k, from, to) <= tolerance) {
            is_left_out[path[to - 1] as usize] = true;
        } else {
            from = to - 1;
        }
    }
}
