//! Verifies the contacts of a convex shape A with a surface B by their witnesses, and completes them.
//!
//! The witness of a penetration is a point of B inside A, or a point of A inside the solid B at a triangle
//! that A intersects. A penetration without one is none: A only passes by, behind the feature. Of the
//! triangles that A intersects, each connected part has a contact; where no feature gives one, the shallowest
//! exit along a normal of the part does. If A intersects nothing, the nearest points are a contact.

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::convex_in_surface::{ConvexInSurfaceFrame, TriangleProximity};
use super::convex_surface::side_of_centre;
use super::edge_separation::{EdgeWedge, best_normal, crossings};
use super::triangle_surface::{SurfaceInterior, TriangleSurface};
use crate::narrow::SupportFeature;
use crate::shape::mesh::EdgeConvexity;
use crate::shape::triangle;
use nalgebra::Vector3;

/// Most alternating projections.
const PROJECTIONS: usize = 64;

/// Lists the patches over which a lowest point of A lies, penetrating, with a point of B inside A: no other
/// triangle of the patch can add to their contacts.
pub fn list_explained_patches<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    slack: f64,
    scratch: &mut NonconvexScratch,
) {
    let NonconvexScratch { candidates, patches, .. } = scratch;
    patches.clear();
    for f in candidates.iter().filter(|f| f.gap < 0.0 && f.gap <= f.clear + slack) {
        let patch = surface.patch(f.at);
        if !patches.contains(&patch)
            && lies_in(surface, f.at, &f.on_B, slack)
            && convex.contains(&f.on_B, slack)
        {
            patches.push(patch);
        }
    }
}

/// Whether a point of B lies in triangle `t`, not beyond one of its sides at a valley.
fn lies_in<S: TriangleSurface>(surface: &S, t: u32, on_B: &Vector3<f64>, slack: f64) -> bool {
    let [a, b, c] = surface.corners(t);
    (triangle::nearest(on_B, &a, &b, &c).0 - on_B).norm_squared() <= slack * slack
}

fn intersects<S: TriangleSurface>(convex: &ConvexInSurfaceFrame, surface: &S, t: u32) -> bool {
    matches!(convex.proximity(&surface.corners(t), 0.0), TriangleProximity::Cut)
}

/// Drops penetrations deeper than `slack` [m] without a witness.
pub fn keep_witnessed<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    slack: f64,
    scratch: &mut NonconvexScratch,
) {
    let NonconvexScratch { candidates, cut, patches, .. } = scratch;
    let sheet = surface.interior() == SurfaceInterior::Sheet;
    candidates.retain(|f| {
        if f.gap >= -slack {
            return true;
        }
        // The point on B lies in an edge or a vertex, but possibly beyond the side of a face.
        let inside = convex.contains(&f.on_B, slack);
        if inside && (f.over.is_none() || lies_in(surface, f.at, &f.on_B, slack)) {
            return true;
        }
        let is_cut = cut.binary_search(&f.at).is_ok()
            || patches.contains(&surface.patch(f.at)) && intersects(convex, surface, f.at);
        is_cut
            && (inside
                || f.over.is_some() && sheet
                || surface.depth(&f.on_A()).is_some_and(|depth| depth > 0.0))
    });
}

/// Adds a contact for each connected part of the triangles that A intersects and that has none, and the
/// nearest points where A intersects nothing and no contact is as near, up to `slack` [m]: `nearest`, or
/// those of a triangle whose plane A does not cross.
pub fn complete<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    mut nearest: Option<ContactCandidate>,
    (slack, reach): (f64, f64),
    scratch: &mut NonconvexScratch,
) {
    if scratch.cut.is_empty() {
        let gaps = scratch.candidates.iter().map(|f| f.gap);
        let mut least = gaps.fold(f64::INFINITY, f64::min);
        if least < -slack {
            return;
        }
        nearest = nearest.filter(|f| f.gap < least - slack);
        least = nearest.map_or(least, |f| f.gap);
        for f in scratch.facing.iter().filter(|f| f.clear >= 0.0) {
            let enough = (least - slack).min(reach);
            if f.clear < enough
                && let TriangleProximity::Apart { gap, on_B, normal } =
                    convex.proximity(&surface.corners(f.t), enough)
            {
                least = gap;
                nearest = Some(ContactCandidate::nearest(f.t, on_B, normal, gap));
            }
        }
        scratch.candidates.extend(nearest);
        return;
    }
    let NonconvexScratch { candidates, cut, links, explained, face, patches, .. } = scratch;
    join(surface, cut, links);
    explained.clear();
    explained.resize(cut.len(), false);
    for f in candidates.iter().filter(|f| f.gap <= slack) {
        if let Ok(i) = cut.binary_search(&f.at) {
            explained[root(links, i)] = true;
        }
    }
    // A contact at an edge belongs to both of its triangles. A part may continue in a patch whose triangles are
    // not listed.
    for (i, &t) in cut.iter().enumerate() {
        let part = root(links, i);
        explained[part] = explained[part]
            || candidates.iter().any(|f| f.gap <= slack && lies_in(surface, t, &f.on_B, slack))
            || (0..3).filter_map(|k| surface.across(t, k)).any(|other| {
                patches.contains(&surface.patch(other)) && intersects(convex, surface, other)
            });
    }
    for part in 0..cut.len() {
        if links[part] as usize != part || explained[part] {
            continue;
        }
        let members = (0..cut.len()).filter(|&i| root(links, i) == part);
        let exits = members.map(|i| shallowest_exit(convex, surface, cut[i], slack, face));
        candidates.extend(exits.reduce(|best, exit| if exit.gap > best.gap { exit } else { best }));
    }
}

/// Links the triangles that share an edge: each to one of lower index, the first of a part to itself.
fn join<S: TriangleSurface>(surface: &S, cut: &[u32], links: &mut Vec<u32>) {
    links.clear();
    links.extend(0..cut.len() as u32);
    for (i, &t) in cut.iter().enumerate() {
        for k in 0..3 {
            let Some(other) = surface.across(t, k) else { continue };
            if let Ok(j) = cut.binary_search(&other) {
                let (a, b) = (root(links, i), root(links, j));
                links[a.max(b)] = a.min(b) as u32;
            }
        }
    }
}

fn root(links: &[u32], mut i: usize) -> usize {
    while links[i] as usize != i {
        i = links[i] as usize;
    }
    i
}

/// The shallowest way of A out of triangle `t`: along its normal, or along one of a convex side. Memory: `face`.
fn shallowest_exit<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    t: u32,
    slack: f64,
    face: &mut SupportFeature,
) -> ContactCandidate {
    let sheet = surface.interior() == SurfaceInterior::Sheet;
    let sign = if sheet { side_of_centre(surface, t, &convex.centre) } else { 1.0 };
    let [a, b, c] = surface.corners(t);
    let feature = feature_id(FeatureKind::Exit, t, 0);
    let exit = |normal: Vector3<f64>, on_B: Vector3<f64>| {
        let gap = normal.dot(&(convex.lowest(&normal) - on_B)) - convex.radius;
        ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None, at: t }
    };
    let mut best = exit(surface.normal(t) * sign, a);
    keep_lowest(convex, &best.normal, slack, face);
    best.on_B = nearest_to_feature(&face.points, |p| triangle::nearest(p, &a, &b, &c).0);
    let ridge = if sign > 0.0 { EdgeConvexity::Convex } else { EdgeConvexity::Concave };
    for k in 0..3 {
        let convexity = surface.side(t, k).convexity;
        if convexity != ridge && convexity != EdgeConvexity::Border {
            continue;
        }
        let wedge = EdgeWedge::new(surface, t, k, sign);
        let Some(normal) = best_normal(convex, &wedge) else { continue };
        let other = exit(normal, wedge.from);
        if other.gap > best.gap {
            keep_lowest(convex, &normal, slack, face);
            let place =
                |p: &Vector3<f64>| wedge.along.dot(&(p - wedge.from)).clamp(0.0, wedge.length);
            let nearest = nearest_to_feature(&face.points, |p| wedge.from + wedge.along * place(p));
            // Where the edge passes under A, or nearest to that.
            let mut u = place(&nearest);
            let mut least = f64::INFINITY;
            convex.face(&normal, face);
            crossings(&face.points, &wedge, &normal, |crossing, height| {
                if height < least {
                    (u, least) = (crossing.clamp(0.0, wedge.length), height);
                }
            });
            best = ContactCandidate { on_B: wedge.from + wedge.along * u, ..other };
        }
    }
    best
}

/// Writes the points of A's support feature that are lowest along `m` up to a multiple of `slack` [m] to `face`.
fn keep_lowest(
    convex: &ConvexInSurfaceFrame,
    m: &Vector3<f64>,
    slack: f64,
    face: &mut SupportFeature,
) {
    let lowest = convex.lowest(m);
    convex.face(m, face);
    face.points.retain(|p| m.dot(&(p - lowest)) <= 1e3 * slack);
    if face.points.is_empty() {
        face.points.push(lowest);
    }
}

/// The point of a convex set, with the projection `onto`, that is nearest to the convex polygon with these corners [m]:
/// by alternating projections [CheneyGoldstein59], from the middle of the polygon, so that round-off does not choose among several.
fn nearest_to_feature(
    corners: &[Vector3<f64>],
    onto: impl Fn(&Vector3<f64>) -> Vector3<f64>,
) -> Vector3<f64> {
    let middle = corners.iter().sum::<Vector3<f64>>() / corners.len() as f64;
    let mut q = onto(&middle);
    for _ in 0..PROJECTIONS {
        let next = onto(&nearest_of_polygon(&q, corners));
        let step = (next - q).norm_squared();
        q = next;
        if step == 0.0 {
            break;
        }
    }
    q
}

/// The nearest point of a convex polygon, a segment or a point to `q` [m].
fn nearest_of_polygon(q: &Vector3<f64>, corners: &[Vector3<f64>]) -> Vector3<f64> {
    let first = corners[0];
    let last = *corners.last().unwrap_or(&first);
    let spokes = corners[1..].windows(2).map(|pair| (pair[0], pair[1]));
    // A segment is a triangle without area.
    let fan = spokes.chain((corners.len() < 3).then_some((last, last)));
    let nearest = fan.map(|(b, c)| triangle::nearest(q, &first, &b, &c).0);
    nearest
        .min_by(|a, b| (a - q).norm_squared().total_cmp(&(b - q).norm_squared()))
        .unwrap_or(first)
}
