//! Contacts between a convex shape A and a surface B of triangles.
//!
//! Every contact is a local maximum of the separation over the normals that a feature of B allows: its one
//! normal for a face, the wedge between two face normals for a convex edge, the normal cone for a vertex.
//! Normals therefore stay within the Voronoi regions of B, and edges between coplanar triangles produce no
//! contacts.
//!
//!   face     points of A's support feature along the normal that lie over the triangle
//!   edge     root of the derivative of the separation over the wedge, by bisection
//!   vertex   signed distance of the vertex from A, if its gradient is in the normal cone
//!
//! A penetration is accepted only with a point of B inside A or a point of A inside B, see `witness`, which also
//! completes the contacts by the nearest points and by an exit for every part of B inside A.
//!
//! Triangles whose back faces the centre of A are ignored (of a sheet, both sides count as front); if the
//! centre itself is inside, the shortest exit is used. No nearest triangle is ignored: A lies beyond the plane
//! through the nearest point, whose normal is a sum with positive weights of the normals of the faces there,
//! so that the centre is in front of one of them. Where A enters a solid, a segment from the centre within A
//! enters through a face whose front it meets; ground has no faces at its sides, and no triangle is ignored if the
//! centre lies beside it. O(triangles near A).

use super::candidate::{
    ContactCandidate, FacingTriangle, FeatureKind, NonconvexScratch, feature_id,
};
use super::convex_in_surface::{ConvexInSurfaceFrame, TriangleProximity};
use super::edge_separation::{EdgeWedge, best_normal, crossings};
use super::point_distance;
use super::prism::covers;
use super::triangle_surface::{SurfaceInterior, TriangleSurface};
use super::witness;
use crate::Shape;
use crate::shape::mesh::EdgeConvexity;
use nalgebra::{Isometry3, Vector3};

/// Sine by which a normal may lie outside the normal cone of a vertex [-].
const CONE_SLACK: f64 = 1e-6;
/// Id of the support point of A where it is no vertex of its feature; above all ids of vertices.
const SUPPORT: u32 = 1 << 15;
/// Distance by which a witness may lie outside, as a part of A's size [-].
const WITNESS_SLACK: f64 = 1e-9;

/// Finds the contacts within `reach` [m] between the convex `shape` at `X_BA` and `surface`.
pub fn find<S: TriangleSurface>(
    shape: &Shape,
    X_BA: &Isometry3<f64>,
    surface: &S,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let convex = ConvexInSurfaceFrame::new(shape, X_BA);
    let region = shape.bounds(X_BA).inflated(reach);
    let size = region.size().max();
    let slack = WITNESS_SLACK * size;
    scratch.near.clear();
    surface.near(&region, &mut scratch.near);
    // Sorted, so that the order does not depend on the tree.
    scratch.near.sort_unstable();
    let from_behind = find_faces(&convex, surface, size, reach, scratch);
    witness::list_explained_patches(&convex, surface, slack, scratch);
    let nearest = find_cut(&convex, surface, reach, scratch);
    edges(&convex, surface, reach, scratch);
    vertices(&convex, surface, reach, &region, scratch);
    witness::keep_witnessed(&convex, surface, slack, scratch);
    let witnessed = scratch.candidates.len();
    witness::complete(&convex, surface, nearest, (slack, reach), scratch);
    if from_behind && let Some(exit) = surface.inside(&convex.centre) {
        deep(&convex, surface, exit, scratch);
    }
    prune(surface, witnessed, scratch);
}

/// Lists the triangles whose planes are within `reach` [m] of A, and finds the points of A over them. Returns
/// whether the centre lies behind a triangle near A, or none is near.
fn find_faces<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    size: f64,
    reach: f64,
    scratch: &mut NonconvexScratch,
) -> bool {
    scratch.facing.clear();
    let beside = lies_beside(surface, &convex.centre);
    let mut from_behind = scratch.near.is_empty();
    let mut last = Vector3::zeros();
    let mut lowest = 0.0;
    for i in 0..scratch.near.len() {
        let t = scratch.near[i];
        let sign = side_of_centre(surface, t, &convex.centre);
        from_behind |= sign < 0.0;
        let hidden = sign < 0.0 && surface.interior() != SurfaceInterior::Sheet;
        if hidden && !beside && !has_border(surface, t) {
            continue;
        }
        let corners = surface.corners(t);
        if convex.clears_triangle(&corners, reach) {
            continue;
        }
        let normal = if hidden { surface.normal(t) } else { surface.normal(t) * sign };
        if normal != last {
            lowest = support_points(convex, &normal, size, &mut scratch.face);
            last = normal;
        }
        let clear = lowest - normal.dot(&corners[0]);
        if clear > reach {
            continue;
        }
        let triangle = FacingTriangle { t, sign, hidden, normal, clear };
        scratch.facing.push(triangle);
        if !hidden {
            faces(surface, &triangle, convex.radius, reach, scratch);
        }
    }
    from_behind
}

/// Lists the triangles that A intersects, but for those of patches whose contacts are found, and the sides and
/// vertices of all triangles that may be within `reach` [m]. Returns the nearest points of A and a triangle
/// that it does not intersect although it crosses its plane.
fn find_cut<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    reach: f64,
    scratch: &mut NonconvexScratch,
) -> Option<ContactCandidate> {
    scratch.cut.clear();
    scratch.sides.clear();
    scratch.corners.clear();
    let mut nearest: Option<ContactCandidate> = None;
    for i in 0..scratch.facing.len() {
        let FacingTriangle { t, sign, hidden, clear, .. } = scratch.facing[i];
        if clear < 0.0 && !scratch.patches.contains(&surface.patch(t)) {
            match convex.proximity(&surface.corners(t), reach) {
                TriangleProximity::Far => continue,
                TriangleProximity::Cut => scratch.cut.push(t),
                TriangleProximity::Apart { gap, on_B, normal } => {
                    if nearest.is_none_or(|old| gap < old.gap) {
                        nearest = Some(ContactCandidate::nearest(t, on_B, normal, gap));
                    }
                }
            }
        }
        if hidden {
            list_borders(surface, t, scratch);
        } else {
            list_edges_and_vertices(surface, t, sign, scratch);
        }
    }
    nearest
}

/// 1 if the centre of A lies in front of triangle `t`, −1 otherwise.
pub fn side_of_centre<S: TriangleSurface>(surface: &S, t: u32, centre: &Vector3<f64>) -> f64 {
    let corner = surface.vertex(surface.triangle(t)[0]);
    if surface.normal(t).dot(&(centre - corner)) > 0.0 { 1.0 } else { -1.0 }
}

/// Whether a point lies neither over nor under ground, but beside it. A shape with its centre there may enter the ground
/// from the side, and reach its triangles from below.
fn lies_beside<S: TriangleSurface>(surface: &S, centre: &Vector3<f64>) -> bool {
    surface.interior() == SurfaceInterior::Ground && surface.depth(centre).is_none()
}

/// Whether triangle `t` of ground is at the end of the ground.
fn has_border<S: TriangleSurface>(surface: &S, t: u32) -> bool {
    surface.interior() == SurfaceInterior::Ground
        && (0..3).any(|k| surface.side(t, k).convexity == EdgeConvexity::Border)
}

/// Writes the support feature of A against `n` to `face`, with its lowest point; returns the height of the
/// lowest point of the rounded shape along `n` [m].
fn support_points(
    convex: &ConvexInSurfaceFrame,
    n: &Vector3<f64>,
    size: f64,
    face: &mut crate::narrow::SupportFeature,
) -> f64 {
    convex.face(n, face);
    let lowest = convex.lowest(n);
    // Add the lowest point of a round rim if it lies between the rim's vertices.
    let least = face.points.iter().map(|p| n.dot(p)).fold(f64::INFINITY, f64::min);
    if n.dot(&lowest) < least - 1e-12 * size {
        face.push(SUPPORT, lowest);
    }
    n.dot(&lowest) - convex.radius
}

/// Lists the sides and vertices of triangle `t` that can touch on the side `sign`.
fn list_edges_and_vertices<S: TriangleSurface>(
    surface: &S,
    t: u32,
    sign: f64,
    scratch: &mut NonconvexScratch,
) {
    for k in 0..3 {
        let v = surface.triangle(t)[k];
        if surface.exposed(v) || sign < 0.0 {
            scratch.corners.push((v, t));
        }
        let ridge = if sign > 0.0 { EdgeConvexity::Convex } else { EdgeConvexity::Concave };
        let side = surface.side(t, k);
        if side.convexity == ridge || side.convexity == EdgeConvexity::Border {
            scratch.sides.push((side.edge, t, k as u8 | if sign < 0.0 { 4 } else { 0 }));
        }
    }
}

/// Lists the borders of a triangle that the centre of A lies behind.
fn list_borders<S: TriangleSurface>(surface: &S, t: u32, scratch: &mut NonconvexScratch) {
    for k in 0..3 {
        let side = surface.side(t, k);
        if side.convexity == EdgeConvexity::Border {
            scratch.sides.push((side.edge, t, k as u8));
        }
    }
}

/// Points of A's support feature over a triangle.
fn faces<S: TriangleSurface>(
    surface: &S,
    triangle: &FacingTriangle,
    radius: f64,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let FacingTriangle { t, sign, normal: n, clear, .. } = *triangle;
    let corner = surface.vertex(surface.triangle(t)[0]);
    for (&id, x) in scratch.face.ids.iter().zip(&scratch.face.points) {
        let height = n.dot(&(x - corner));
        let gap = height - radius;
        if !(gap <= reach) || !covers(surface, t, sign, x) {
            continue;
        }
        let feature = feature_id(FeatureKind::Patch, id, surface.patch(t));
        // A point over an edge between coplanar triangles lies over both: keep one.
        if scratch
            .candidates
            .iter()
            .any(|f| f.feature == feature && (f.gap - gap).abs() <= 1e-9 * reach)
        {
            continue;
        }
        let on_B = x - n * height;
        let (normal, over, at) = (n, Some(t), t);
        scratch.candidates.push(ContactCandidate { feature, on_B, normal, gap, clear, over, at });
    }
}

/// Edges of B against A.
fn edges<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    scratch.sides.sort_unstable();
    scratch.sides.dedup_by_key(|side| side.0);
    for i in 0..scratch.sides.len() {
        let (edge, t, bits) = scratch.sides[i];
        let (k, sign) = ((bits & 3) as usize, if bits & 4 == 0 { 1.0 } else { -1.0 });
        let wedge = EdgeWedge::new(surface, t, k, sign);
        if convex.clears(&wedge.ends(), reach) {
            continue;
        }
        let Some(normal) = best_normal(convex, &wedge) else { continue };
        let clear = normal.dot(&(convex.lowest(&normal) - wedge.from)) - convex.radius;
        if !(clear <= reach) {
            continue;
        }
        convex.face(&normal, &mut scratch.face);
        let mut number = 0;
        let candidates = &mut scratch.candidates;
        crossings(&scratch.face.points, &wedge, &normal, |u, height| {
            let gap = height - convex.radius;
            // Points far above the lowest point of A belong to another normal.
            if gap <= reach && gap - clear <= reach {
                let feature = feature_id(FeatureKind::Edge, edge, number);
                let (on_B, over, at) = (wedge.from + wedge.along * u, None, t);
                candidates.push(ContactCandidate { feature, on_B, normal, gap, clear, over, at });
            }
            number += 1;
        });
    }
}

/// Vertices of B against A.
fn vertices<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    reach: f64,
    region: &crate::Aabb,
    scratch: &mut NonconvexScratch,
) {
    scratch.corners.sort_unstable();
    scratch.corners.dedup_by_key(|vertex| vertex.0);
    let rotation = &convex.X_BA.rotation;
    for &(v, at) in &scratch.corners {
        let p = surface.vertex(v);
        if !region.contains_point(&p) {
            continue;
        }
        let p_A = convex.X_BA.inverse_transform_point(&p.into()).coords;
        let open = |out_A: &Vector3<f64>| surface.extremal(v, &(rotation * -out_A), CONE_SLACK);
        let Some((gap, out_A)) = point_distance::signed_distance(convex.shape, &p_A, open) else {
            continue;
        };
        if gap <= reach && open(&out_A) {
            let normal = -(rotation * out_A);
            let feature = feature_id(FeatureKind::Vertex, v, 0);
            let (on_B, clear, over) = (p, gap, None);
            scratch.candidates.push(ContactCandidate {
                feature,
                on_B,
                normal,
                gap,
                clear,
                over,
                at,
            });
        }
    }
}

/// The centre of A is inside B: the shortest exit for all of A.
fn deep<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    (depth, t, out): (f64, u32, Vector3<f64>),
    scratch: &mut NonconvexScratch,
) {
    let on_B = convex.centre + out * depth;
    let gap = out.dot(&(convex.lowest(&out) - on_B)) - convex.radius;
    scratch.candidates.push(ContactCandidate {
        feature: feature_id(FeatureKind::Deep, surface.patch(t), 0),
        on_B,
        normal: out,
        gap,
        clear: gap,
        over: None,
        at: t,
    });
}

/// Drops penetrations that resolving a shallower one also resolves: after moving A by the depth of that
/// one, the point of A no longer lies over the patch, or the feature of B no longer penetrates. Only the first
/// `witnessed` candidates, whose points lie in A and in B, are dropped.
fn prune<S: TriangleSurface>(surface: &S, witnessed: usize, scratch: &mut NonconvexScratch) {
    let NonconvexScratch { candidates, kept, near, .. } = scratch;
    if candidates.len() < 2 || !candidates.iter().any(|f| f.gap < 0.0) {
        return;
    }
    kept.clear();
    for (i, deep) in candidates.iter().enumerate() {
        let resolved = deep.gap < 0.0
            && i < witnessed
            && candidates.iter().any(|way| {
                let step = -way.clear;
                if !(way.gap < 0.0 && step < -0.999 * deep.gap)
                    || way.normal.dot(&deep.normal) > 0.999
                {
                    return false;
                }
                match deep.over {
                    None => {
                        let behind = way.normal.dot(&(deep.on_B - way.on_B));
                        behind < 1e-6 * (step - deep.gap)
                    }
                    Some(t) => {
                        // Slightly farther, so that a border just reached counts as passed.
                        let x = deep.on_A() + way.normal * (step - 1e-6 * deep.gap);
                        let sign = surface.normal(t).dot(&deep.normal);
                        !near.iter().any(|&other| {
                            surface.patch(other) == surface.patch(t)
                                && covers(surface, other, sign, &x)
                        })
                    }
                }
            });
        if !resolved {
            kept.push(*deep);
        }
    }
    std::mem::swap(candidates, kept);
}
