//! Contacts between two surfaces of triangles, neither of them convex.
//!
//! Two polyhedra touch at vertices over faces and at crossings of convex edges; before they touch, a vertex
//! may also be nearest to an edge or a vertex. Vertices of each surface are tested against the faces of the
//! other, both ways; a vertex inside a solid exits through faces towards which it is farther than its
//! neighbours, so that it leaves where it entered. Convex edges are tested against convex edges; the normal
//! must lie in the wedges of both. Distances are exact; no distance field is sampled. O((vertices + edges
//! near the other surface) · log n).

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::prism::covers;
use super::surface_intersection::{self, is_pierced, pierces};
use super::triangle_surface::{SurfaceInterior, TriangleSurface, lies_back};
use crate::Aabb;
use crate::shape::mesh::{EdgeConvexity, SMOOTH};
use crate::shape::triangle::Feature;
use nalgebra::{Isometry3, Vector3};

/// Sine by which a normal may lie outside the normal cone of a penetrating vertex or an edge [-]: large
/// enough for the far points of two faces that are nearly parallel.
const SLACK: f64 = 0.1;
/// Share of the smaller surface's size to which crossing edges may penetrate [-].
const DEEPEST: f64 = 0.05;

/// Sine by which a normal may lie outside the normal cone of a vertex that faces an edge or a vertex [-].
const FACING: f64 = 1e-3;
/// Multiple of a crossing's depth within which another exit counts as near [-].
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
    scratch.corners.clear();
    let pass_a = VertexPass { a, X_BA, b, reach, round: 0 };
    let pass_b = VertexPass { a: b, X_BA: &X_AB, b: a, reach, round: 1 };
    let deepest_a = pass_a.run(scratch);
    let from_a = scratch.candidates.len();
    let deepest_b = pass_b.run(scratch);
    // The second pass writes in A, with normals from A into B: convert to B.
    let turn = |f: ContactCandidate| ContactCandidate {
        on_B: X_BA.rotation * f.on_A() + X_BA.translation.vector,
        normal: -(X_BA.rotation * f.normal),
        ..f
    };
    scratch.candidates[from_a..].iter_mut().for_each(|f| *f = turn(*f));
    edges(a, X_BA, b, reach, scratch);
    // A vertex over a face may be nearer to an edge or a vertex elsewhere: of interest if nothing is nearer.
    let NonconvexScratch { candidates, corners, .. } = &mut *scratch;
    for &(v, round) in corners.iter() {
        let least = candidates.iter().map(|f| f.gap).fold(reach, f64::min);
        if least <= 0.0 {
            break;
        }
        let start = candidates.len();
        if round == 0 {
            pass_a.beside_edges(v, least, candidates);
        } else {
            pass_b.beside_edges(v, least, candidates);
            candidates[start..].iter_mut().for_each(|f| *f = turn(*f));
        }
    }
    // If no exit is admissible for any feature, the deepest vertex takes its shortest exit; if no vertex is
    // inside, triangles may still intersect.
    if !scratch.candidates.iter().any(|f| f.gap < 0.0) {
        let sunk = [deepest_a, deepest_b.map(turn)].into_iter().flatten();
        let exit = sunk.min_by(|f, g| f.gap.total_cmp(&g.gap));
        let NonconvexScratch { near, other, .. } = &mut *scratch;
        let exit = exit.or_else(|| surface_intersection::find((a, X_BA), (b, &X_AB), near, other));
        scratch.candidates.extend(exit);
    }
}

/// Bounds in the frame to which `X` leads.
fn moved(bounds: &Aabb, X: &Isometry3<f64>) -> Aabb {
    Aabb::of_box(X, bounds.centre(), 0.5 * bounds.size())
}

/// Region of a surface's frame that the other surface (with the solid behind it) can occupy.
pub fn overlap<S: TriangleSurface>(other: &S, X: &Isometry3<f64>, reach: f64) -> Aabb {
    let mut bounds = other.bounds();
    if other.interior() == SurfaceInterior::Ground {
        bounds.min.z -= bounds.size().max();
    }
    moved(&bounds, X).inflated(reach)
}

/// The vertices of surface A at `X_BA` against the faces of surface B; candidates are written in B's frame.
struct VertexPass<'a, A, B> {
    a: &'a A,
    X_BA: &'a Isometry3<f64>,
    b: &'a B,
    reach: f64,
    /// 0 in the first pass, 1 in the second, in which the surfaces have changed roles.
    round: u32,
}

/// A vertex of A in B's frame.
struct PassVertex {
    v: u32,
    p_BV: Vector3<f64>,
    /// Its depth [m], the nearest triangle of B and the unit direction out, if it is inside B.
    inside: Option<(f64, u32, Vector3<f64>)>,
}

impl<A: TriangleSurface, B: TriangleSurface> VertexPass<'_, A, B> {
    /// Finds the candidates. Returns the vertex deepest inside B with its shortest exit, whether or not that
    /// exit is admissible.
    fn run(&self, scratch: &mut NonconvexScratch) -> Option<ContactCandidate> {
        let Self { a, X_BA, b, reach, .. } = *self;
        let mut deepest: Option<ContactCandidate> = None;
        let NonconvexScratch { near, other, vertices, corners, candidates, .. } = scratch;
        near.clear();
        vertices.clear();
        a.near(&overlap(b, &X_BA.inverse(), reach), near);
        vertices.extend(near.iter().flat_map(|&t| a.triangle(t)));
        vertices.sort_unstable();
        vertices.dedup();
        let region = overlap(b, &Isometry3::identity(), reach);
        for &v in vertices.iter() {
            // Both sides of a sheet can touch; of a solid only vertices at a convex edge.
            if !(a.exposed(v) || a.interior() == SurfaceInterior::Sheet) {
                continue;
            }
            let p_BV = X_BA.rotation * a.vertex(v) + X_BA.translation.vector;
            if !region.contains_point(&p_BV) {
                continue;
            }
            let vertex = PassVertex { v, p_BV, inside: b.inside(&p_BV) };
            let start = candidates.len();
            self.over_faces(&vertex, other, candidates);
            drop_needless_exits(b, &p_BV, start, other, candidates);
            // Before they touch, a vertex may also face an edge or another vertex.
            if vertex.inside.is_none() {
                if candidates.len() == start {
                    self.beside_edges(v, reach, candidates);
                } else {
                    corners.push((v, self.round));
                }
            }
            if let Some((depth, t, normal)) = vertex.inside {
                let (feature, on_B) = (self.patch_id(v, t), p_BV + normal * depth);
                let (gap, clear, over) = (-depth, -depth, None);
                let exit = ContactCandidate { feature, on_B, normal, gap, clear, over, at: t };
                if candidates.len() == start && self.is_foremost(v, &normal) {
                    candidates.push(exit);
                }
                if deepest.is_none_or(|old| exit.gap < old.gap) {
                    deepest = Some(exit);
                }
            }
        }
        deepest
    }

    /// Feature id of vertex `v` of A over the patch of triangle `t` of B.
    fn patch_id(&self, v: u32, t: u32) -> u32 {
        feature_id(FeatureKind::Patch, v, self.b.patch(t).wrapping_mul(2) + self.round)
    }

    /// Whether no neighbour of vertex `v` lies clearly farther against the normal `n` of B.
    fn is_foremost(&self, v: u32, n: &Vector3<f64>) -> bool {
        self.a.extremal(v, &-self.X_BA.rotation.inverse_transform_vector(n), SLACK)
    }

    /// The vertex over the faces of B near it, which are listed in `near`.
    fn over_faces(
        &self,
        vertex: &PassVertex,
        near: &mut Vec<u32>,
        candidates: &mut Vec<ContactCandidate>,
    ) {
        let Self { a, X_BA, b, reach, .. } = *self;
        let PassVertex { v, p_BV: x, inside } = *vertex;
        let start = candidates.len();
        let centre = X_BA.rotation * a.bounds().centre() + X_BA.translation.vector;
        let sheet = b.interior() == SurfaceInterior::Sheet;
        let depth = inside.map_or(if sheet { reach } else { 0.0 }, |(depth, ..)| depth);
        near.clear();
        // Far inside there are too many faces around: the nearest one decides.
        if depth <= reach + b.mesh_width() {
            let radius = 1.5 * depth + reach;
            b.near(&Aabb::around(x, Vector3::repeat(radius)), near);
        }
        for &t in near.iter() {
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
            if !covers(b, t, sign, &x) || !self.is_foremost(v, &n) {
                continue;
            }
            // Behind a sheet only a vertex whose edges pass through it penetrates.
            if penetrates && sheet && !self.passes_through(vertex, near) {
                return;
            }
            let feature = self.patch_id(v, t);
            if candidates[start..].iter().any(|f| f.feature == feature) {
                continue;
            }
            let (on_B, normal, over) = (x - n * gap, n, Some(t));
            candidates.push(ContactCandidate {
                feature,
                on_B,
                normal,
                gap,
                clear: gap,
                over,
                at: t,
            });
        }
    }

    /// Whether an edge from the vertex intersects one of the triangles `near` of B.
    fn passes_through(&self, vertex: &PassVertex, near: &[u32]) -> bool {
        let Self { a, X_BA, b, .. } = *self;
        a.any_neighbour(vertex.v, |u| {
            let to = X_BA.rotation * a.vertex(u) + X_BA.translation.vector;
            near.iter().any(|&t| pierces(&vertex.p_BV, &to, &b.corners(t)))
        })
    }

    /// A vertex outside of B against the nearest edge or vertex of B within `limit` [m].
    fn beside_edges(&self, v: u32, limit: f64, candidates: &mut Vec<ContactCandidate>) {
        let Self { a, X_BA, b, reach, round } = *self;
        let x = X_BA.rotation * a.vertex(v) + X_BA.translation.vector;
        let Some((on_B, t, feature)) = b.nearest(&x, limit) else { return };
        let feature = match feature {
            Feature::Face => return,
            Feature::Edge(k) => {
                feature_id(FeatureKind::Edge, v, b.side(t, k).edge.wrapping_mul(2) + round)
            }
            Feature::Corner(_) if round > 0 => return, // found in the first pass
            Feature::Corner(k) => feature_id(FeatureKind::Vertex, v, b.triangle(t)[k]),
        };
        let gap = (x - on_B).norm();
        let Some(normal) = (x - on_B).try_normalize(1e-9 * reach) else { return };
        if a.extremal(v, &-X_BA.rotation.inverse_transform_vector(&normal), FACING) {
            candidates.push(ContactCandidate {
                feature,
                on_B,
                normal,
                gap,
                clear: gap,
                over: None,
                at: t,
            });
        }
    }
}

/// Of the exits of one vertex `x` from index `start` on, drops those that a shorter one also resolves.
fn drop_needless_exits<B: TriangleSurface>(
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
                // Slightly farther, so that a border just reached counts as passed.
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

/// A convex edge, with the directions into its faces.
#[derive(Clone, Copy)]
struct ConvexEdge {
    from: Vector3<f64>,
    along: Vector3<f64>,
    /// Directions across the edge into its two faces (twice the same at a border).
    into: [Vector3<f64>; 2],
    /// Unit normals of its two faces.
    normals: [Vector3<f64>; 2],
}

impl ConvexEdge {
    /// Side `k` of triangle `t`.
    fn new<S: TriangleSurface>(surface: &S, t: u32, k: usize) -> Self {
        let corners = surface.corners(t);
        let along = corners[(k + 1) % 3] - corners[k];
        let into = |n: Vector3<f64>, sense: f64| n.cross(&along).normalize() * sense;
        let first = into(surface.normal(t), 1.0);
        let second = surface.side(t, k).across.map_or(first, |other| {
            // The third corner of the other face determines the sign.
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

    /// Whether the edge is a local maximum along `m`.
    fn extremal(&self, m: &Vector3<f64>) -> bool {
        self.into.iter().all(|d| lies_back(&Vector3::zeros(), d, m, SLACK))
    }

    /// Whether the `depth` [m] of a point that has passed the edge by `gap` < 0 [m] against `m` is
    /// consistent with this edge. In a thin wall another face is nearer, or the point is outside: then the
    /// edge was not passed.
    fn is_consistent(&self, m: &Vector3<f64>, gap: f64, depth: Option<f64>) -> bool {
        let Some(depth) = depth else { return true };
        let steepest = self.normals.iter().map(|n| m.dot(n)).fold(1.0, f64::min);
        depth >= -gap * (0.9 * steepest.max(0.0) - 0.1)
    }

    /// Whether a point at `offset` [m] from the edge lies behind both of its faces.
    fn is_in_front(&self, offset: &Vector3<f64>) -> bool {
        self.normals.iter().all(|n| n.dot(offset) < 0.0)
    }

    fn ends(&self) -> [Vector3<f64>; 2] {
        [self.from, self.from + self.along]
    }

    fn bounds(&self) -> Aabb {
        Aabb::of_points(self.ends())
    }
}

/// A crossing of two edges that have passed each other.
struct EdgeCrossing {
    on_B: Vector3<f64>,
    normal: Vector3<f64>,
    gap: f64,
}

impl EdgeCrossing {
    /// Whether the depths of its points are consistent with both edges, and a point of one is inside the
    /// other or an edge pierces the other surface.
    fn is_real<A: TriangleSurface, B: TriangleSurface>(
        &self,
        (a, X_BA, ridge): (&A, &Isometry3<f64>, &ConvexEdge),
        (b, against): (&B, &ConvexEdge),
    ) -> bool {
        let Self { on_B, normal, gap } = self;
        let in_A = |p: &Vector3<f64>| X_BA.inverse_transform_point(&(*p).into()).coords;
        let inside = |depth: Option<f64>| depth.is_some_and(|depth| depth > 0.0);
        let depth_a = b.depth(&(on_B + normal * *gap));
        if !against.is_consistent(normal, *gap, depth_a) {
            return false;
        }
        let depth_b = a.depth(&in_A(on_B));
        ridge.is_consistent(&-normal, *gap, depth_b)
            && (inside(depth_a)
                || inside(depth_b)
                || is_pierced(b, &ridge.ends())
                || is_pierced(a, &against.ends().map(|p| in_A(&p))))
    }
}

/// Index of side `k` of `t` if it is convex and `t` is the triangle that reports it.
fn reported_edge<S: TriangleSurface>(surface: &S, t: u32, k: usize) -> Option<u32> {
    let side = surface.side(t, k);
    let is_convex = match side.convexity {
        EdgeConvexity::Convex | EdgeConvexity::Border => true,
        EdgeConvexity::Concave => surface.interior() == SurfaceInterior::Sheet,
        EdgeConvexity::Flat => false,
    };
    (is_convex && side.across.is_none_or(|other| t < other)).then_some(side.edge)
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
        let edges_a = [0, 1, 2].map(|k| reported_edge(a, t, k));
        if edges_a == [None; 3] {
            continue;
        }
        other.clear();
        let corners = a.corners(t).map(|p| X_BA.rotation * p + X_BA.translation.vector);
        b.near(&Aabb::of_points(corners).inflated(deepest), other);
        other.retain(|&face| !solid || b.ridged(face));
        for k in 0..3 {
            let Some(edge_a) = edges_a[k] else { continue };
            let ridge = ConvexEdge::new(a, t, k).moved(X_BA);
            let smooth = a.smooth(t);
            let bounds = ridge.bounds().inflated(deepest);
            for &face in other.iter() {
                // The normal must lie in both wedges: the face normals oppose each other up to the angles
                // of the edges.
                let facing = ridge.normals[0].dot(&b.normal(face));
                if solid && smooth && facing > most_facing && b.smooth(face) {
                    continue;
                }
                for side in 0..3 {
                    let Some(edge_b) = reported_edge(b, face, side) else { continue };
                    let against = ConvexEdge::new(b, face, side);
                    if !against.bounds().overlaps(&bounds) {
                        continue;
                    }
                    let Some((normal, on_B, gap)) = cross(&ridge, &against, &centre) else {
                        continue;
                    };
                    if gap > reach || gap < -deepest {
                        continue;
                    }
                    let crossing = EdgeCrossing { on_B, normal, gap };
                    let real =
                        gap >= -1e-9 * size || crossing.is_real((a, X_BA, &ridge), (b, &against));
                    // Resolving a shallower penetration nearby may resolve the crossing too.
                    let needless = gap < 0.0
                        && candidates.iter().any(|way| {
                            let (step, apart) = (way.normal * -way.gap, on_B - way.on_B);
                            let moved = normal * gap + step;
                            way.gap < 0.0
                                && way.gap > 0.999 * gap
                                && apart.norm() < NEARBY * -gap
                                && !(against.is_in_front(&moved) && ridge.is_in_front(&-moved))
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
                        at: face,
                    });
                }
            }
        }
    }
}

/// Where two edges cross: the normal from b into a, the point on b and the gap, if the normal is in the
/// wedges of both and the crossing within both.
fn cross(
    a: &ConvexEdge,
    b: &ConvexEdge,
    centre: &Vector3<f64>,
) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
    let normal = a.along.cross(&b.along);
    let (scale, square) = (a.along.norm() * b.along.norm(), normal.norm_squared());
    // Nearly parallel edges touch at their ends, which are vertices.
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
