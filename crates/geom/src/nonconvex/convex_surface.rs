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
//! Triangles whose back faces the centre of A are ignored (of a sheet, both sides count as front); if the
//! centre itself is inside, the shortest exit is used. O(triangles near A).

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::point_distance;
use super::prism::covers;
use super::triangle_surface::{SurfaceInterior, TriangleSurface};
use crate::Shape;
use crate::narrow::ConvexCore;
use crate::shape::mesh::EdgeConvexity;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Sine by which a normal may lie outside the normal cone of a vertex [-].
const CONE_SLACK: f64 = 1e-6;
/// Normals of a wedge that are sampled when A penetrates.
const SAMPLES: u32 = 8;
/// Id of the support point of A where it is no vertex of its feature; above all ids of vertices.
const SUPPORT: u32 = 1 << 15;

/// A convex shape in the frame of the surface.
struct ConvexInSurfaceFrame<'a> {
    shape: &'a Shape,
    X_BA: &'a Isometry3<f64>,
    R_BA: Matrix3<f64>,
}

impl ConvexInSurfaceFrame<'_> {
    /// Farthest point of the core against `m` [m].
    fn lowest(&self, m: &Vector3<f64>) -> Vector3<f64> {
        let dir_A = -self.R_BA.tr_mul(m);
        self.place(&ConvexCore::support(self.shape, &dir_A))
    }

    /// Whether A is farther than `reach` [m] from the convex hull of `points` [m] along the direction to
    /// its centre. A quick conservative test: true proves the distance, false proves nothing.
    fn clears(&self, points: &[Vector3<f64>], centre: &Vector3<f64>, reach: f64) -> bool {
        let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let Some(m) = (centre - middle).try_normalize(f64::MIN_POSITIVE) else { return false };
        let highest = points.iter().map(|p| m.dot(p)).fold(f64::NEG_INFINITY, f64::max);
        m.dot(&self.lowest(&m)) - ConvexCore::radius(self.shape) - highest > reach
    }

    fn place(&self, p_A: &Vector3<f64>) -> Vector3<f64> {
        self.R_BA * p_A + self.X_BA.translation.vector
    }

    /// The support feature of the core against `m`, in B.
    fn face(&self, m: &Vector3<f64>, face: &mut crate::narrow::SupportFeature) {
        face.clear();
        let dir_A = -self.R_BA.tr_mul(m);
        ConvexCore::support_feature(self.shape, &dir_A, face);
        face.points.iter_mut().for_each(|p| *p = self.place(p));
    }
}

/// Finds the contacts within `reach` [m] between the convex `shape` at `X_BA` and `surface`.
pub fn find<S: TriangleSurface>(
    shape: &Shape,
    X_BA: &Isometry3<f64>,
    surface: &S,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let convex =
        ConvexInSurfaceFrame { shape, X_BA, R_BA: X_BA.rotation.to_rotation_matrix().into_inner() };
    let region = shape.bounds(X_BA).inflated(reach);
    let centre = convex.place(&ConvexCore::centre(shape));
    let behind = surface.interior();
    scratch.near.clear();
    scratch.sides.clear();
    scratch.vertices.clear();
    surface.near(&region, &mut scratch.near);
    // Sorted, so that the order does not depend on the tree.
    scratch.near.sort_unstable();
    let mut from_behind = scratch.near.is_empty();
    let mut last = Vector3::zeros();
    let mut clear = 0.0;
    for i in 0..scratch.near.len() {
        let t = scratch.near[i];
        let corner = surface.vertex(surface.triangle(t)[0]);
        let outward = surface.normal(t);
        let sign = match outward.dot(&(centre - corner)) > 0.0 {
            true => 1.0,
            false if behind == SurfaceInterior::Sheet => -1.0,
            false => {
                from_behind = true;
                continue;
            }
        };
        if convex.clears(&surface.corners(t), &centre, reach) {
            continue;
        }
        let n = outward * sign;
        if n != last {
            convex.face(&n, &mut scratch.face);
            let lowest = convex.lowest(&n);
            let level = |p: &Vector3<f64>| n.dot(p);
            clear = level(&lowest) - ConvexCore::radius(shape);
            // Add the lowest point of a round rim if it lies between the rim's vertices.
            let least = scratch.face.points.iter().map(level).fold(f64::INFINITY, f64::min);
            if level(&lowest) < least - 1e-12 * region.size().max() {
                scratch.face.push(SUPPORT, lowest);
            }
            last = n;
        }
        let height = n.dot(&corner);
        if clear - height > reach {
            continue;
        }
        let triangle = FacingTriangle { t, sign, normal: n, clear: clear - height };
        faces(surface, &triangle, ConvexCore::radius(shape), reach, scratch);
        for k in 0..3 {
            let v = surface.triangle(t)[k];
            if surface.exposed(v) || sign < 0.0 {
                scratch.vertices.push(v);
            }
            let ridge = if sign > 0.0 { EdgeConvexity::Convex } else { EdgeConvexity::Concave };
            let side = surface.side(t, k);
            if side.convexity == ridge || side.convexity == EdgeConvexity::Border {
                scratch.sides.push((side.edge, t, k as u8 | if sign < 0.0 { 4 } else { 0 }));
            }
        }
    }
    edges(&convex, surface, reach, scratch);
    vertices(&convex, surface, reach, &region, scratch);
    if from_behind && let Some((depth, t, out)) = surface.inside(&centre) {
        deep(&convex, surface, (depth, t, out), &centre, scratch);
    }
    prune(surface, scratch);
}

/// A triangle of B on the side on which the centre of A lies.
struct FacingTriangle {
    t: u32,
    /// Side of the triangle: 1 front, −1 back.
    sign: f64,
    /// Unit normal towards that side.
    normal: Vector3<f64>,
    /// Distance by which all of A is clear of the triangle's plane [m].
    clear: f64,
}

/// Points of A's support feature over a triangle.
fn faces<S: TriangleSurface>(
    surface: &S,
    triangle: &FacingTriangle,
    radius: f64,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let FacingTriangle { t, sign, normal: n, clear } = *triangle;
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
        scratch.candidates.push(ContactCandidate {
            feature,
            on_B,
            normal: n,
            gap,
            clear,
            over: Some(t),
        });
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
    let radius = ConvexCore::radius(convex.shape);
    let centre = convex.place(&ConvexCore::centre(convex.shape));
    for i in 0..scratch.sides.len() {
        let (edge, t, bits) = scratch.sides[i];
        let (k, sign) = ((bits & 3) as usize, if bits & 4 == 0 { 1.0 } else { -1.0 });
        let corners = surface.corners(t);
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        if convex.clears(&[p, q], &centre, reach) {
            continue;
        }
        let length = (q - p).norm();
        let along = (q - p) / length;
        // The wedge of normals: from that of this face, rotating about the edge, to that of the other.
        let n = surface.normal(t) * sign;
        let over = along.cross(&n) * sign;
        let opening = match surface.side(t, k).across {
            Some(other) if surface.side(t, k).convexity != EdgeConvexity::Border => {
                let m = surface.normal(other) * sign;
                m.dot(&over).atan2(m.dot(&n))
            }
            _ if surface.interior() == SurfaceInterior::Ground => FRAC_PI_2,
            _ => PI,
        };
        let Some(m) = best_normal(convex, &p, &n, &over, opening) else { continue };
        let clear = m.dot(&(convex.lowest(&m) - p)) - radius;
        if !(clear <= reach) {
            continue;
        }
        convex.face(&m, &mut scratch.face);
        let mut number = 0;
        let candidates = &mut scratch.candidates;
        crossings(&scratch.face.points, &p, &along, length, &m, |u, height| {
            let gap = height - radius;
            // Points far above the lowest point of A belong to another normal.
            if gap <= reach && gap - clear <= reach {
                let feature = feature_id(FeatureKind::Edge, edge, number);
                let on_B = p + along * u;
                candidates.push(ContactCandidate {
                    feature,
                    on_B,
                    normal: m,
                    gap,
                    clear,
                    over: None,
                });
            }
            number += 1;
        });
    }
}

/// The normal in the wedge `cos θ n + sin θ over`, 0 ≤ θ ≤ opening, along which A is farthest from the edge
/// through `p`: s(θ) = m·(x − p) with x the lowest point of A, s'(θ) = m'·(x − p).
fn best_normal(
    convex: &ConvexInSurfaceFrame,
    p: &Vector3<f64>,
    n: &Vector3<f64>,
    over: &Vector3<f64>,
    opening: f64,
) -> Option<Vector3<f64>> {
    let at = |theta: f64| {
        let (sin, cos) = theta.sin_cos();
        (n * cos + over * sin, over * cos - n * sin)
    };
    let lowest = |theta: f64| convex.lowest(&at(theta).0) - p;
    let slope = |theta: f64| at(theta).1.dot(&lowest(theta));
    let clear = |theta: f64| at(theta).0.dot(&lowest(theta));
    // One-sided slopes at the ends: a face of A parallel to the triangle there has no unique lowest point.
    let inset = 1e-9 * opening;
    let (first, last) = (slope(inset), slope(opening - inset));
    let end = if clear(0.0) >= clear(opening) { 0.0 } else { opening };
    let bisect = |low: f64, high: f64| summit(low, high, n, over, &lowest);
    let mut theta = match (first > 0.0, last < 0.0) {
        (false, true) => 0.0,
        (true, false) => opening,
        (false, false) => end,
        (true, true) => bisect(0.0, opening),
    };
    // If the shapes are apart, that is the only maximum. If they penetrate, there may be several: sample
    // for the best.
    if clear(theta) < ConvexCore::radius(convex.shape) {
        let step = opening / f64::from(SAMPLES);
        let mut best = (theta, clear(theta));
        for k in 1..SAMPLES {
            let value = clear(step * f64::from(k));
            if value > best.1 {
                best = (step * f64::from(k), value);
            }
        }
        if best.0 != theta {
            theta = bisect(best.0 - step, best.0 + step);
        }
    }
    at(theta).0.try_normalize(0.5)
}

/// The maximum over `low` ≤ θ ≤ `high` of the least m(θ)·x over the points x of A, `lowest` being the one
/// at θ.
///
/// Each point alone gives a sinusoid; where those of the two lowest points at the ends of the bracket
/// intersect, a third point may be lower and narrows the bracket. Exact after a few points of a polyhedron;
/// every second step bisects the bracket, for every shape.
fn summit(
    mut low: f64,
    mut high: f64,
    n: &Vector3<f64>,
    over: &Vector3<f64>,
    lowest: &impl Fn(f64) -> Vector3<f64>,
) -> f64 {
    let (mut x_low, mut x_high) = (lowest(low), lowest(high));
    if x_low == x_high {
        // One point is lowest throughout: m points to it.
        return over.dot(&x_low).atan2(n.dot(&x_low)).clamp(low, high);
    }
    let size = x_low.norm() + x_high.norm();
    for k in 1..=120 {
        // cos θ n·d + sin θ over·d = 0 for d = x_low − x_high.
        let d = x_low - x_high;
        let mut theta = (-n.dot(&d)).atan2(over.dot(&d));
        if theta < low {
            theta += PI;
        }
        let halve = k % 2 == 0 || !(theta > low && theta < high);
        if halve {
            theta = 0.5 * (low + high);
        }
        let x = lowest(theta);
        let (sin, cos) = theta.sin_cos();
        let turned = over * cos - n * sin;
        let slope = turned.dot(&x);
        // A corner of a polyhedron: the third point is one of the two. A round shape: the slope vanishes.
        let corner = !halve && (x == x_low || x == x_high);
        if corner || slope.abs() <= f64::EPSILON * size {
            return theta;
        }
        if slope > 0.0 {
            (low, x_low) = (theta, x);
        } else {
            (high, x_high) = (theta, x);
        }
    }
    0.5 * (low + high)
}

/// Where the segment from `p` along the unit vector `along` [m] passes under the feature of A with the
/// vertices `points`, seen along `m`: calls `emit` with the coordinate on the segment [m] and the height of
/// A there.
pub fn crossings(
    points: &[Vector3<f64>],
    p: &Vector3<f64>,
    along: &Vector3<f64>,
    length: f64,
    m: &Vector3<f64>,
    mut emit: impl FnMut(f64, f64),
) {
    let across = m.cross(along);
    let flat = |x: &Vector3<f64>| (along.dot(&(x - p)), across.dot(&(x - p)), m.dot(&(x - p)));
    let slack = 1e-9 * length;
    let within = |u: f64| u >= -slack && u <= length + slack;
    match points {
        [] => {}
        [x] => {
            let (u, v, height) = flat(x);
            if within(u) && v.abs() <= slack.max(1e-9 * height.abs()) {
                emit(u, height);
            }
        }
        [a, b] => {
            let (a, b) = (flat(a), flat(b));
            let size = (a.0 - b.0).hypot(a.1 - b.1).hypot(a.2 - b.2);
            let thin = 1e-9 * size.max(length);
            if (a.1 - b.1).abs() <= thin {
                if a.1.abs() > thin {
                    return;
                }
                // Parallel: both ends of the common part.
                let (low, high) = if a.0 <= b.0 { (a, b) } else { (b, a) };
                let (start, end) = (low.0.max(0.0), high.0.min(length));
                let rise = if high.0 > low.0 { (high.2 - low.2) / (high.0 - low.0) } else { 0.0 };
                if start <= end {
                    emit(start, low.2 + rise * (start - low.0));
                    if end > start + slack {
                        emit(end, low.2 + rise * (end - low.0));
                    }
                }
                return;
            }
            let share = a.1 / (a.1 - b.1);
            let u = a.0 + share * (b.0 - a.0);
            if (-1e-9..=1.0 + 1e-9).contains(&share) && within(u) {
                emit(u, a.2 + share * (b.2 - a.2));
            }
        }
        _ => {
            // The plane of the polygon, by its area vector.
            let area = (1..points.len() - 1).fold(Vector3::zeros(), |sum: Vector3<f64>, i| {
                sum + (points[i] - points[0]).cross(&(points[i + 1] - points[0]))
            });
            let slant = area.dot(m);
            if slant.abs() <= 1e-9 * area.norm() {
                return;
            }
            // Clip the segment by the sides of the polygon, which turn with the sign of the slant.
            let (mut start, mut end) = (0.0_f64, length);
            for (i, a) in points.iter().enumerate() {
                let (a, b) = (flat(a), flat(&points[(i + 1) % points.len()]));
                // Inside where (b−a) × ((u, 0) − a) has the sign of the slant.
                let sense = slant.signum();
                let rate = -(b.1 - a.1) * sense;
                let value = ((b.0 - a.0) * -a.1 + (b.1 - a.1) * a.0) * sense;
                let scale = (b.0 - a.0).hypot(b.1 - a.1);
                if rate.abs() <= 1e-12 * scale {
                    if value < -1e-9 * scale * scale {
                        return;
                    }
                } else if rate > 0.0 {
                    start = start.max(-value / rate);
                } else {
                    end = end.min(-value / rate);
                }
            }
            let height = |u: f64| area.dot(&(points[0] - p - along * u)) / slant;
            if start <= end + slack {
                emit(start, height(start));
                if end > start + slack {
                    emit(end, height(end));
                }
            }
        }
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
    scratch.vertices.sort_unstable();
    scratch.vertices.dedup();
    let rotation = &convex.X_BA.rotation;
    for &v in &scratch.vertices {
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
            scratch.candidates.push(ContactCandidate {
                feature,
                on_B: p,
                normal,
                gap,
                clear: gap,
                over: None,
            });
        }
    }
}

/// The centre of A is inside B: the shortest exit for all of A.
fn deep<S: TriangleSurface>(
    convex: &ConvexInSurfaceFrame,
    surface: &S,
    (depth, t, out): (f64, u32, Vector3<f64>),
    centre: &Vector3<f64>,
    scratch: &mut NonconvexScratch,
) {
    let on_B = centre + out * depth;
    let lowest = convex.lowest(&out) - out * ConvexCore::radius(convex.shape);
    let gap = out.dot(&(lowest - on_B));
    let feature = feature_id(FeatureKind::Deep, surface.patch(t), 0);
    scratch.candidates.push(ContactCandidate {
        feature,
        on_B,
        normal: out,
        gap,
        clear: gap,
        over: None,
    });
}

/// Drops penetrations that resolving a shallower one also resolves: after moving A by the depth of that
/// one, the point of A no longer lies over the patch, or the feature of B no longer penetrates.
fn prune<S: TriangleSurface>(surface: &S, scratch: &mut NonconvexScratch) {
    let NonconvexScratch { candidates, kept, near, .. } = scratch;
    if candidates.len() < 2 || !candidates.iter().any(|f| f.gap < 0.0) {
        return;
    }
    kept.clear();
    for deep in candidates.iter() {
        let resolved = deep.gap < 0.0
            && candidates.iter().any(|way| {
                let step = (-way.clear).max(0.0);
                if step >= -0.999 * deep.gap || way.normal.dot(&deep.normal) > 0.999 {
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
