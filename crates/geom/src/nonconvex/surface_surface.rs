//! Contacts between two surfaces of triangles, neither of them convex.
//!
//! Two polyhedra touch at vertices over faces and at crossings of convex edges; before they touch, a vertex may
//! also be nearest to an edge or a vertex. Vertices of each
//! surface are probed against the faces of the other, both ways; a vertex inside a solid is pushed out through
//! faces towards which it is the foremost of its neighbours, so that it leaves the way it came. Convex edges
//! are crossed with convex edges; the normal must lie in the wedges of both. Distances are exact; no field is
//! sampled. O((vertices + edges near the other surface) · log n).

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::prism::covers;
use super::triangle_surface::{SurfaceInterior, TriangleSurface, lies_back};
use crate::Aabb;
use crate::shape::mesh::{EdgeConvexity, SMOOTH};
use crate::shape::triangle::Feature;
use nalgebra::{Isometry3, Vector3};

/// Sine by which a normal may leave the cone of a penetrating vertex or an edge [-]: wide enough for the
/// far points of two faces that are nearly parallel.
const SLACK: f64 = 0.1;
/// Share of the smaller surface's size to which crossing edges may penetrate [-].
const DEEPEST: f64 = 0.05;

/// Sine by which a normal may leave the cone of a vertex that faces an edge or a vertex [-].
const FACING: f64 = 1e-3;
/// Multiple of a crossing's depth within which another way out counts as near [-].
const NEARBY: f64 = 10.0;

/// Finds the contacts within `reach` [m] between surface `a` at `X_BA` and surface `b`.
pub fn find<A: TriangleSurface, B: TriangleSurface>(
    a: &A,
    X_BA: &Isometry3<f64>,
    b: &B,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let X_AB = X_BA.inverse();
    let sunk_a = probe(a, X_BA, b, reach, 0, scratch);
    let from_a = scratch.candidates.len();
    let sunk_b = probe(b, &X_AB, a, reach, 1, scratch);
    // The second probe speaks in A, from A into B: turn it round.
    let turn = |f: ContactCandidate| ContactCandidate {
        on_B: X_BA.rotation * f.on_A() + X_BA.translation.vector,
        normal: -(X_BA.rotation * f.normal),
        ..f
    };
    scratch.candidates[from_a..].iter_mut().for_each(|f| *f = turn(*f));
    edges(a, X_BA, b, reach, scratch);
    // Entangled so that no way out fits any feature: the deepest vertex goes the nearest way.
    if !scratch.candidates.iter().any(|f| f.gap < 0.0) {
        let sunk = [sunk_a, sunk_b.map(turn)].into_iter().flatten();
        scratch.candidates.extend(sunk.min_by(|f, g| f.gap.total_cmp(&g.gap)));
    }
}

/// Bounds in the frame to which `X` leads.
fn moved(bounds: &Aabb, X: &Isometry3<f64>) -> Aabb {
    Aabb::of_box(X, bounds.centre(), 0.5 * bounds.size())
}

/// The part of a surface's frame in which the other surface (with what lies behind it) can be.
fn overlap<S: TriangleSurface>(other: &S, X: &Isometry3<f64>, reach: f64) -> Aabb {
    let mut bounds = other.bounds();
    if other.interior() == SurfaceInterior::Ground {
        bounds.min.z -= bounds.size().max();
    }
    moved(&bounds, X).inflated(reach)
}

/// Vertices of `a` over faces of `b`, written in the frame of `b`. Returns the vertex deepest inside `b` with its
/// nearest way out, whether or not that fits.
fn probe<A: TriangleSurface, B: TriangleSurface>(
    a: &A,
    X_BA: &Isometry3<f64>,
    b: &B,
    reach: f64,
    round: u32,
    scratch: &mut NonconvexScratch,
) -> Option<ContactCandidate> {
    let mut sunk: Option<ContactCandidate> = None;
    let NonconvexScratch { near, other, vertices, candidates, .. } = scratch;
    near.clear();
    vertices.clear();
    a.near(&overlap(b, &X_BA.inverse(), reach), near);
    vertices.extend(near.iter().flat_map(|&t| a.triangle(t)));
    vertices.sort_unstable();
    vertices.dedup();
    let centre = X_BA.rotation * a.bounds().centre() + X_BA.translation.vector;
    let room = overlap(b, &Isometry3::identity(), reach);
    let sheet = b.interior() == SurfaceInterior::Sheet;
    for &v in vertices.iter() {
        // Both sides of a sheet can touch; of a solid only what is not sunk in valleys.
        if !(a.exposed(v) || a.interior() == SurfaceInterior::Sheet) {
            continue;
        }
        let x = X_BA.rotation * a.vertex(v) + X_BA.translation.vector;
        if !room.contains_point(&x) {
            continue;
        }
        let inside = b.inside(&x);
        let depth = inside.map_or(if sheet { reach } else { 0.0 }, |(depth, ..)| depth);
        let foremost =
            |n: &Vector3<f64>| a.extremal(v, &-X_BA.rotation.inverse_transform_vector(n), SLACK);
        let start = candidates.len();
        let patch = |t: u32| feature_id(FeatureKind::Patch, v, b.patch(t).wrapping_mul(2) + round);
        other.clear();
        // Far inside, the faces around are too many to ask: the nearest one decides.
        if depth <= reach + b.mesh_width() {
            let radius = 1.5 * depth + reach;
            b.near(&Aabb::around(x, Vector3::repeat(radius)), other);
        }
        for &t in other.iter() {
            let (n, corner) = (b.normal(t), b.vertex(b.triangle(t)[0]));
            let sign = if sheet && n.dot(&(centre - corner)) < 0.0 { -1.0 } else { 1.0 };
            let n = n * sign;
            let gap = n.dot(&(x - corner));
            let penetrates = gap < 0.0;
            if gap > reach
                || (penetrates && !(sheet || inside.is_some()))
                || gap < -1.5 * depth - 1e-12
            {
                continue;
            }
            if !covers(b, t, sign, &x) || !foremost(&n) {
                continue;
            }
            let feature = patch(t);
            if candidates[start..].iter().any(|f| f.feature == feature) {
                continue;
            }
            let on_B = x - n * gap;
            candidates.push(ContactCandidate {
                feature,
                on_B,
                normal: n,
                gap,
                clear: gap,
                over: Some(t),
            });
        }
        leave(b, &x, start, other, candidates);
        // Before they touch, a vertex may also face an edge or another vertex.
        if inside.is_none() && candidates.len() == start {
            beside(a, v, &x, X_BA, b, reach, round, candidates);
        }
        if let Some((depth, t, normal)) = inside {
            let (feature, on_B) = (patch(t), x + normal * depth);
            let way =
                ContactCandidate { feature, on_B, normal, gap: -depth, clear: -depth, over: None };
            if candidates.len() == start && foremost(&normal) {
                candidates.push(way);
            }
            if sunk.is_none_or(|deepest| way.gap < deepest.gap) {
                sunk = Some(way);
            }
        }
    }
    sunk
}

/// Vertex `v` of `a` at `x`, outside of `b`, against the nearest edge or vertex of `b`.
#[allow(clippy::too_many_arguments)] // one call, from the loop above
fn beside<A: TriangleSurface, B: TriangleSurface>(
    a: &A,
    v: u32,
    x: &Vector3<f64>,
    X_BA: &Isometry3<f64>,
    b: &B,
    reach: f64,
    round: u32,
    candidates: &mut Vec<ContactCandidate>,
) {
    let Some((on_B, t, feature)) = b.nearest(x, reach) else { return };
    let feature = match feature {
        Feature::Face => return,
        Feature::Edge(k) => {
            feature_id(FeatureKind::Edge, v, b.side(t, k).edge.wrapping_mul(2) + round)
        }
        Feature::Corner(_) if round > 0 => return, // the first round candidates it
        Feature::Corner(k) => feature_id(FeatureKind::Vertex, v, b.triangle(t)[k]),
    };
    let gap = (x - on_B).norm();
    let Some(normal) = (x - on_B).try_normalize(1e-9 * reach) else { return };
    if a.extremal(v, &-X_BA.rotation.inverse_transform_vector(&normal), FACING) {
        candidates.push(ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None });
    }
}

/// Of the ways out of one vertex `x` from index `start` on, drops those that a shorter one makes needless.
fn leave<B: TriangleSurface>(
    b: &B,
    x: &Vector3<f64>,
    start: usize,
    near: &[u32],
    candidates: &mut Vec<ContactCandidate>,
) {
    let mut i = start;
    while i < candidates.len() {
        let deep = candidates[i];
        let needless = deep.gap < 0.0
            && candidates[start..].iter().any(|way| {
                if !(way.gap < 0.0 && way.gap > 0.999 * deep.gap) {
                    return false;
                }
                // A little farther, so that a border just reached counts as left behind.
                let outside = x - way.normal * (way.gap + 1e-6 * deep.gap);
                let Some(t) = deep.over else { return false };
                let sign = b.normal(t).dot(&deep.normal);
                !near
                    .iter()
                    .any(|&other| b.patch(other) == b.patch(t) && covers(b, other, sign, &outside))
            });
        if needless {
            candidates.remove(i);
        } else {
            i += 1;
        }
    }
}

/// An edge that stands out, with the directions into its faces.
#[derive(Clone, Copy)]
struct Ridge {
    from: Vector3<f64>,
    along: Vector3<f64>,
    /// Directions across the edge into its two faces (twice the same at a border).
    into: [Vector3<f64>; 2],
    /// Unit normals of its two faces.
    normals: [Vector3<f64>; 2],
}

impl Ridge {
    /// Side `k` of triangle `t`.
    fn new<S: TriangleSurface>(surface: &S, t: u32, k: usize) -> Self {
        let corners = surface.corners(t);
        let along = corners[(k + 1) % 3] - corners[k];
        let into = |n: Vector3<f64>, sense: f64| n.cross(&along).normalize() * sense;
        let first = into(surface.normal(t), 1.0);
        let second = surface.side(t, k).across.map_or(first, |other| {
            // The third corner of the other face tells its side.
            let third = surface.triangle(other);
            let shared = surface.triangle(t);
            let apex = third.iter().find(|v| !shared.contains(v)).map(|&v| surface.vertex(v));
            let inward = into(surface.normal(other), 1.0);
            match apex {
                Some(apex) if inward.dot(&(apex - corners[k])) < 0.0 => -inward,
                _ => inward,
            }
        });
        let across = surface.side(t, k).across.unwrap_or(t);
        let normals = [t, across].map(|face| surface.normal(face));
        Self { from: corners[k], along, into: [first, second], normals }
    }

    fn moved(&self, X: &Isometry3<f64>) -> Self {
        Self {
            from: X.rotation * self.from + X.translation.vector,
            along: X.rotation * self.along,
            into: self.into.map(|d| X.rotation * d),
            normals: self.normals.map(|n| X.rotation * n),
        }
    }

    /// Whether nothing near the edge reaches farther along `m`.
    fn extremal(&self, m: &Vector3<f64>) -> bool {
        self.into.iter().all(|d| lies_back(&Vector3::zeros(), d, m, SLACK))
    }

    /// Whether a point that has passed the edge by `gap` < 0 [m] against `m` and lies `depth` [m] inside the
    /// solid is where the edge alone would have it. In a thin wall another face is nearer, or the point is
    /// outside: then the edge was not passed.
    fn holds(&self, m: &Vector3<f64>, gap: f64, depth: Option<f64>) -> bool {
        let Some(depth) = depth else { return true };
        let steepest = self.normals.iter().map(|n| m.dot(n)).fold(1.0, f64::min);
        depth >= -gap * (0.9 * steepest.max(0.0) - 0.1)
    }

    /// Whether the edge stands above a point at `offset` [m] from it: behind both of its faces.
    fn above(&self, offset: &Vector3<f64>) -> bool {
        self.normals.iter().all(|n| n.dot(offset) < 0.0)
    }

    fn bounds(&self) -> Aabb {
        Aabb::of_points([self.from, self.from + self.along])
    }
}

/// Whether side `k` of `t` stands out and `t` is the triangle that speaks for it.
fn speaks<S: TriangleSurface>(surface: &S, t: u32, k: usize) -> Option<u32> {
    let side = surface.side(t, k);
    let stands_out = match side.convexity {
        EdgeConvexity::Convex | EdgeConvexity::Border => true,
        EdgeConvexity::Concave => surface.interior() == SurfaceInterior::Sheet,
        EdgeConvexity::Flat => false,
    };
    (stands_out && side.across.is_none_or(|other| t < other)).then_some(side.edge)
}

/// Edges of `a` that cross edges of `b`.
fn edges<A: TriangleSurface, B: TriangleSurface>(
    a: &A,
    X_BA: &Isometry3<f64>,
    b: &B,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let NonconvexScratch { near, other, candidates, .. } = scratch;
    let size = a.bounds().size().max().min(b.bounds().size().max());
    let deepest = reach.max((DEEPEST * size).min(a.mesh_width().min(b.mesh_width())));
    near.clear();
    let X_AB = X_BA.inverse();
    a.near(&overlap(b, &X_AB, deepest), near);
    near.sort_unstable();
    let centre = X_BA.rotation * a.bounds().centre() + X_BA.translation.vector;
    let most_facing = -(2.0 * SMOOTH + 3.0 * SLACK).cos();
    let solid = a.interior() != SurfaceInterior::Sheet && b.interior() != SurfaceInterior::Sheet;
    for &t in near.iter() {
        if solid && !a.ridged(t) {
            continue;
        }
        let spoken = [0, 1, 2].map(|k| speaks(a, t, k));
        if spoken == [None; 3] {
            continue;
        }
        other.clear();
        let corners = a.corners(t).map(|p| X_BA.rotation * p + X_BA.translation.vector);
        b.near(&Aabb::of_points(corners).inflated(deepest), other);
        other.retain(|&face| !solid || b.ridged(face));
        for k in 0..3 {
            let Some(edge_a) = spoken[k] else { continue };
            let ridge = Ridge::new(a, t, k).moved(X_BA);
            let smooth = a.smooth(t);
            let bounds = ridge.bounds().inflated(deepest);
            for &face in other.iter() {
                // The normal must be in both wedges: those of the faces oppose each other but for the
                // openings of the edges.
                let facing = ridge.normals[0].dot(&b.normal(face));
                if solid && smooth && facing > most_facing && b.smooth(face) {
                    continue;
                }
                for side in 0..3 {
                    let Some(edge_b) = speaks(b, face, side) else { continue };
                    let against = Ridge::new(b, face, side);
                    if !against.bounds().overlaps(&bounds) {
                        continue;
                    }
                    let Some((normal, on_B, gap)) = cross(&ridge, &against, &centre) else {
                        continue;
                    };
                    if gap > reach || gap < -deepest {
                        continue;
                    }
                    let b_in_A = X_AB.rotation * on_B + X_AB.translation.vector;
                    let real = gap >= -1e-9 * size
                        || (against.holds(&normal, gap, b.depth(&(on_B + normal * gap)))
                            && ridge.holds(&-normal, gap, a.depth(&b_in_A)));
                    // Nor must a shorter way out nearby undo the crossing.
                    let needless = gap < 0.0
                        && candidates.iter().any(|way| {
                            let (step, apart) = (way.normal * -way.gap, on_B - way.on_B);
                            let moved = normal * gap + step;
                            way.gap < 0.0
                                && way.gap > 0.999 * gap
                                && apart.norm() < NEARBY * -gap
                                && !(against.above(&moved) && ridge.above(&-moved))
                        });
                    if !real || needless {
                        continue;
                    }
                    let feature = feature_id(FeatureKind::Edge, edge_a, edge_b);
                    candidates.push(ContactCandidate {
                        feature,
                        on_B,
                        normal,
                        gap,
                        clear: gap,
                        over: None,
                    });
                }
            }
        }
    }
}

/// Where two edges cross: the normal from b into a, the point on b and the gap, if the normal is in the wedges
/// of both and the crossing within both.
fn cross(a: &Ridge, b: &Ridge, centre: &Vector3<f64>) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
    let normal = a.along.cross(&b.along);
    let (scale, square) = (a.along.norm() * b.along.norm(), normal.norm_squared());
    // Edges as good as parallel touch at their ends, which are vertices.
    if !(square > 1e-12 * scale * scale) {
        return None;
    }
    let mut m = normal / square.sqrt();
    let fits = |m: &Vector3<f64>| b.extremal(m) && a.extremal(&-m);
    match (fits(&m), fits(&-m)) {
        (false, false) => return None,
        (true, false) => {}
        (false, true) => m = -m,
        (true, true) => m *= m.dot(&(centre - b.from)).signum(),
    }
    let between = b.from - a.from;
    let s = between.cross(&b.along).dot(&normal) / square;
    let t = between.cross(&a.along).dot(&normal) / square;
    let within = |x: f64| (-1e-9..=1.0 + 1e-9).contains(&x);
    if !(within(s) && within(t)) {
        return None;
    }
    let (on_A, on_B) = (a.from + a.along * s, b.from + b.along * t);
    Some((m, on_B, m.dot(&(on_A - on_B))))
}
