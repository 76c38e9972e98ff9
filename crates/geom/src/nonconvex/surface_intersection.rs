//! Intersection of two surfaces of triangles where no vertex is inside: an edge of one pierces a triangle of
//! the other.

use super::candidate::{ContactCandidate, FeatureKind, feature_id};
use super::surface_surface::overlap;
use super::triangle_surface::{SurfaceInterior, TriangleSurface};
use crate::Aabb;
use nalgebra::{Isometry3, Vector3};

/// Whether the segment from `p` to `q` [m] intersects the triangle with these corners [m]; not if it lies in
/// its plane.
pub fn pierces(p: &Vector3<f64>, q: &Vector3<f64>, corners: &[Vector3<f64>; 3]) -> bool {
    // Cramer's rule for p + s d = a + u (b−a) + v (c−a) [MoellerTrumbore97].
    let [a, b, c] = corners;
    let (d, ab, ac, ap) = (q - p, b - a, c - a, p - a);
    let across = d.cross(&ac);
    let determinant = ab.dot(&across);
    let (u, turned) = (ap.dot(&across) / determinant, ap.cross(&ab));
    let (v, s) = (d.dot(&turned) / determinant, ac.dot(&turned) / determinant);
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&s)
}

/// Whether the segment between `ends` [m] intersects the surface.
pub fn is_pierced<S: TriangleSurface>(surface: &S, ends: &[Vector3<f64>; 2]) -> bool {
    let mut found = false;
    surface.visit_near(&Aabb::of_points(*ends), |t| {
        found = found || pierces(&ends[0], &ends[1], &surface.corners(t));
    });
    found
}

/// Whether a triangle of `a` among `near`, at `X_BA`, intersects `b`.
fn is_cut<A: TriangleSurface, B: TriangleSurface>(
    (a, X_BA): (&A, &Isometry3<f64>),
    b: &B,
    near: &[u32],
) -> bool {
    near.iter().any(|&t| {
        let corners = a.corners(t).map(|p| X_BA.rotation * p + X_BA.translation.vector);
        let normal = X_BA.rotation * a.normal(t);
        let mut found = false;
        b.visit_near(&Aabb::of_points(corners), |face| {
            let other = b.corners(face);
            found = found
                || !is_aside(&corners, &b.normal(face), &other[0])
                    && !is_aside(&other, &normal, &corners[0])
                    && (0..3).any(|k| {
                        let next = (k + 1) % 3;
                        pierces(&corners[k], &corners[next], &other)
                            || pierces(&other[k], &other[next], &corners)
                    });
        });
        found
    })
}

/// If triangles of surface `a` at `X_BA` and surface `b` intersect: the contact of the edge and the triangle
/// that must move farthest to come apart, by the shortest way for these two. Memory: `near`, `other`.
pub fn find<A: TriangleSurface, B: TriangleSurface>(
    (a, X_BA): (&A, &Isometry3<f64>),
    (b, X_AB): (&B, &Isometry3<f64>),
    near: &mut Vec<u32>,
    other: &mut Vec<u32>,
) -> Option<ContactCandidate> {
    near.clear();
    other.clear();
    a.near(&overlap(b, X_AB, 0.0), near);
    b.near(&overlap(a, X_BA, 0.0), other);
    // From the side with fewer triangles within the bounds of the other.
    let cut = if near.len() <= other.len() {
        is_cut((a, X_BA), b, near)
    } else {
        is_cut((b, X_AB), a, other)
    };
    if !cut {
        return None;
    }
    near.sort_unstable();
    let place = |p: Vector3<f64>| X_BA.rotation * p + X_BA.translation.vector;
    let (centre_A, centre_B) = (place(a.bounds().centre()), b.bounds().centre());
    let mut deepest: Option<ContactCandidate> = None;
    for &t in near.iter() {
        let corners_a = a.corners(t).map(place);
        let normal_a = X_BA.rotation * a.normal(t);
        b.visit_near(&Aabb::of_points(corners_a), |face| {
            let (corners_b, normal_b) = (b.corners(face), b.normal(face));
            if is_aside(&corners_a, &normal_b, &corners_b[0])
                || is_aside(&corners_b, &normal_a, &corners_a[0])
            {
                return;
            }
            let feature = feature_id(FeatureKind::Exit, t, face);
            let mut include = |on_B, normal, gap: f64| {
                // Of equal ones the first feature, so that the result does not depend on the tree.
                let (clear, over, at) = (gap, None, face);
                let new = ContactCandidate { feature, on_B, normal, gap, clear, over, at };
                if deepest.is_none_or(|old| (gap, feature) < (old.gap, old.feature)) {
                    deepest = Some(new);
                }
            };
            for k in 0..3 {
                let next = (k + 1) % 3;
                let (p, q) = (corners_a[k], corners_a[next]);
                if pierces(&p, &q, &corners_b) {
                    let way = facing(b, &normal_b, &(centre_A - corners_b[0]));
                    let (on_A, normal, gap) = shortest_way([p, q], &corners_b, &way);
                    include(on_A - normal * gap, normal, gap);
                }
                let (p, q) = (corners_b[k], corners_b[next]);
                if pierces(&p, &q, &corners_a) {
                    let way = facing(a, &normal_a, &(centre_B - corners_a[0]));
                    let (on_B, normal, gap) = shortest_way([p, q], &corners_a, &way);
                    include(on_B, -normal, gap);
                }
            }
        });
    }
    deepest
}

/// The normal of a triangle, of a sheet on the side of the offset `to_centre` [m] of the other shape.
fn facing<S: TriangleSurface>(
    surface: &S,
    normal: &Vector3<f64>,
    to_centre: &Vector3<f64>,
) -> Vector3<f64> {
    let back = surface.interior() == SurfaceInterior::Sheet && normal.dot(to_centre) < 0.0;
    if back { -normal } else { *normal }
}

/// Whether all `points` [m] lie on one side of the plane across `n` through `origin` [m].
fn is_aside(points: &[Vector3<f64>; 3], n: &Vector3<f64>, origin: &Vector3<f64>) -> bool {
    let heights = points.map(|p| n.dot(&(p - origin)));
    heights.iter().all(|&h| h > 0.0) || heights.iter().all(|&h| h < 0.0)
}

/// The shortest motion that takes a segment out of a triangle which it pierces: along `normal`, or across
/// the segment and a side of the triangle. Returns the point of the segment that comes out last [m], the unit
/// direction and the depth as a negative gap [m].
fn shortest_way(
    [p, q]: [Vector3<f64>; 2],
    corners: &[Vector3<f64>; 3],
    normal: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>, f64) {
    let (high, low) = (normal.dot(&(p - corners[0])), normal.dot(&(q - corners[0])));
    let (p, q, high, low) = if high >= low { (p, q, high, low) } else { (q, p, low, high) };
    let through = p + (q - p) * (high / (high - low));
    let mut best = (q, *normal, low.min(0.0));
    for k in 0..3 {
        let (from, to, apex) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
        let Some(m) = (q - p).cross(&(to - from)).try_normalize(0.0) else { continue };
        let m = if m.dot(&(apex - from)) > 0.0 { -m } else { m };
        let gap = m.dot(&(p - from)).min(0.0);
        if gap > best.2 {
            best = (through, m, gap);
        }
    }
    best
}
