//! Manifold of any two rounded convex cores: nearest or deepest direction, then the area they share.
//!
//! The direction comes from [`super::gjk`] when the cores are apart and from [`super::epa`] when they
//! overlap. If a flat face of either has the same normal to within the tolerance of those, its exact
//! normal replaces it. Then the face of one is clipped to the face of the other along the normal; where
//! neither has a face with that normal, the nearest points alone make the contact.
//! Works in A's frame, so that the distance from the world's origin costs no digits.

use super::clip::SLACK;
use super::epa::{PenetrationDepth, Polytope};
use super::gjk::{self, Exactness, GjkResult, MinkowskiDifference};
use super::manifold::NarrowScratch;
use super::{
    Clearance, ConvexCore, DistanceAlong, Manifold, ManifoldPoint, Reach, SupportFeature,
    feature_id, refine_normal,
};
use nalgebra::{Isometry3, Vector3};

/// Cosine between a face's normal and the contact's above which the face can carry a manifold [-].
pub const FACING: f64 = 0.985;

/// Part of the size by which a face's normal may separate less and still be preferred [-].
const SNAP: f64 = 1e-10;

/// Part of the size within which vertices of a face with another normal are as far out as the
/// farthest: those make an edge or a vertex [-].
pub const FAR_OUT: f64 = 1e-4;

/// Part of the size by which the nearest of the points may lie farther apart than the shapes do [-].
pub const MISSED: f64 = 2e-10;

/// Part of the smaller shape's size within which two points of a manifold are one [-].
pub const SAME_PLACE: f64 = 2e-5;

/// Sine of the angle below which two edges are parallel [-].
const PARALLEL: f64 = 0.02;

/// Difference of the bounds of a depth above which it is not resolved, as a part of the size of the
/// cores' difference and of the depth [-].
const RESOLVED: f64 = 1e-6;
const RESOLVED_OF_DEPTH: f64 = 1e-2;

/// Most points kept.
const MOST: usize = 8;

/// Writes the contacts of two rounded convex cores within `reach`. If there are none
/// because the cores are farther apart, returns by how much, unless round-off leaves that in doubt.
pub fn contacts(
    (a, X_WA): (&dyn ConvexCore, &Isometry3<f64>),
    (b, X_WB): (&dyn ConvexCore, &Isometry3<f64>),
    within: Reach,
    manifold: &mut Manifold,
) -> Option<Clearance> {
    let X_AB = X_WA.inv_mul(X_WB);
    let pair = MinkowskiDifference { a, b, X_AB: &X_AB };
    let reach = within.most;
    let along = |n_A: &Vector3<f64>| match within.along {
        Some(along) => along(&(X_WA.rotation * n_A)),
        None => f64::INFINITY,
    };
    let distances = (reach, within.patch, &along as DistanceAlong);
    let mut axis = match contact_axis(&pair, distances, &mut manifold.scratch.polytope) {
        Ok((axis, doubt)) => {
            manifold.note_depth_doubt(doubt);
            axis
        }
        Err(clearance) => return clearance,
    };
    let gap = axis.separation - (a.radius() + b.radius());
    if gap > within.patch {
        let middle = 0.5 * (axis.on_A + axis.on_B + (a.radius() - b.radius()) * axis.n_A);
        let point = X_WA.rotation * middle + X_WA.translation.vector;
        manifold.push(feature_id::apart(), point, X_WA.rotation * axis.n_A, gap);
        return None;
    }
    let mut scratch = std::mem::take(&mut manifold.scratch);
    support_features(&pair, &axis.n_A, &mut scratch.face_a, &mut scratch.face_b);
    let (e_A, e_B) = (extent(&scratch.face_a), extent(&scratch.face_b));
    // The larger sets the scale of round-off, the smaller the scale of what is distinguished.
    let size = e_A.max(e_B).max(axis.on_A.amax());
    let small = if e_A.min(e_B) > 0.0 { e_A.min(e_B) } else { e_A.max(e_B) };
    snap_to_face_normal(&pair, &mut axis, (size, small), &mut scratch);

    let slack = SLACK * small;
    let writer = Writer { X_WA, axis, r_A: a.radius(), r_B: b.radius(), reach, slack };
    let from = manifold.len();
    let is_curved = scratch.face_a.points.len() == 1 || scratch.face_b.points.len() == 1;
    if !is_curved {
        writer.write_shared_area(small, &mut scratch, manifold);
    }
    // The nearest points are never left out.
    let least = manifold.points()[from..].iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
    if !(least <= axis.separation - (a.radius() + b.radius()) + MISSED * size) {
        let nearest = writer.nearest_point(is_curved, &mut scratch);
        manifold.include(from, nearest, SAME_PLACE * small);
    }
    manifold.scratch = scratch;
    if manifold.len() - from > MOST {
        manifold.reduce(from, MOST);
    }
    None
}

/// Writes the contacts of two rounded convex cores along a given unit normal from A into B, `n_W`, with gaps of
/// at most `reach` [m]: the area that the features facing each other along it share. None are written where
/// these do not lie over one another, without any slack: a round body beside a face does not touch it along `n_W`. Returns the separation along the normal [m].
pub fn contacts_along(
    (a, X_WA): (&dyn ConvexCore, &Isometry3<f64>),
    (b, X_WB): (&dyn ConvexCore, &Isometry3<f64>),
    n_W: &Vector3<f64>,
    reach: f64,
    manifold: &mut Manifold,
) -> f64 {
    let X_AB = X_WA.inv_mul(X_WB);
    let pair = MinkowskiDifference { a, b, X_AB: &X_AB };
    let n_A = X_WA.rotation.inverse_transform_vector(n_W);
    let separation = pair.separation(&n_A);
    let mut scratch = std::mem::take(&mut manifold.scratch);
    support_features(&pair, &n_A, &mut scratch.face_a, &mut scratch.face_b);
    let (e_A, e_B) = (extent(&scratch.face_a), extent(&scratch.face_b));
    if e_A.min(e_B) > 0.0 {
        let (on_A, on_B) = (Vector3::zeros(), Vector3::zeros());
        let axis = CoreAxis { n_A, separation, on_A, on_B };
        let writer = Writer { X_WA, axis, r_A: a.radius(), r_B: b.radius(), reach, slack: 0.0 };
        let from = manifold.len();
        writer.write_shared_area(e_A.min(e_B), &mut scratch, manifold);
        if manifold.len() - from > MOST {
            manifold.reduce(from, MOST);
        }
    }
    manifold.scratch = scratch;
    separation - (a.radius() + b.radius())
}

/// The contact normal of two cores, in A's frame.
#[derive(Clone, Copy)]
struct CoreAxis {
    /// Unit normal from A into B [-].
    n_A: Vector3<f64>,
    /// Separation of the cores along it [m].
    separation: f64,
    /// Nearest or deepest points of A and of B [m].
    on_A: Vector3<f64>,
    on_B: Vector3<f64>,
}

/// The direction of the least separation or overlap, nearly that for cores farther apart than `patch` [m], and how far the depth is
/// in doubt [m], zero if it is resolved; a clearance, if there is proof of one, when the rounded cores are farther apart than `reach`
/// [m], or than `along` a direction.
fn contact_axis(
    pair: &MinkowskiDifference,
    (reach, patch, along): (f64, f64, DistanceAlong),
    polytope: &mut Polytope,
) -> Result<(CoreAxis, f64), Option<Clearance>> {
    let rounding = pair.a.radius() + pair.b.radius();
    // Separation that is proved at most, and the difference from it that counts as resolved.
    let mut bound = (f64::INFINITY, 0.0);
    let enough = |n_A: &Vector3<f64>| along(n_A) + rounding;
    let exactness = Exactness { beyond: patch + rounding, base: rounding, ..Exactness::FULL };
    let found = gjk::distance_along(pair, (reach + rounding, exactness), enough);
    let (n_A, separation, on_A, on_B, facet) = match found {
        GjkResult::Far(clearance) => {
            return Err(Some(Clearance { distance: clearance.distance - rounding, ..clearance }));
        }
        GjkResult::Apart { normal, distance, a, b, facet } => (normal, distance, a, b, facet),
        GjkResult::Overlap(simplex) => {
            let found = polytope.depth(pair, &simplex);
            let PenetrationDepth { normal, overlap, least, scale, a, b, facet, .. } = found;
            bound = (-least, RESOLVED * scale + RESOLVED_OF_DEPTH * least.max(0.0));
            (normal, -overlap, a, b, facet)
        }
    };
    if !(separation - rounding <= reach) {
        return Err(None);
    }
    if separation - rounding > patch {
        return Ok((CoreAxis { n_A, separation, on_A, on_B }, 0.0));
    }
    let refined = refine_normal::normal(pair, n_A, &facet);
    let mut axis = CoreAxis { n_A, separation, on_A, on_B };
    if refined != n_A {
        axis = CoreAxis { n_A: refined, separation: pair.separation(&refined), ..axis };
    }
    let gap = bound.0 - axis.separation;
    Ok((axis, if bound.0.is_finite() && gap > bound.1 { gap } else { 0.0 }))
}

/// Replaces an iterated normal by the exact one of a face of A or B, where that separates as much and the other shape
/// lies over the face: beside its edges the normal is another, by however little. Near a curved
/// shape the search may end before it is exact: the distance of its last points is then above the separation
/// along its normal, and the face is taken if it separates more than that and the lowest points of the other shape
/// lie over it.
fn snap_to_face_normal(
    pair: &MinkowskiDifference,
    axis: &mut CoreAxis,
    (size, small): (f64, f64),
    scratch: &mut NarrowScratch,
) {
    let exact = [normal_of(&scratch.face_a), normal_of(&scratch.face_b).map(|n| -n)];
    for (of_b, exact) in [false, true].into_iter().zip(exact) {
        let Some(exact) = exact.filter(|exact| exact.dot(&axis.n_A) > FACING) else { continue };
        let along = pair.separation(&exact);
        let as_much = along >= axis.separation - SNAP * size;
        if !as_much && along < pair.separation(&axis.n_A) - SNAP * size {
            continue;
        }
        support_features(pair, &exact, &mut scratch.face_a, &mut scratch.face_b);
        if lies_over(of_b, as_much, &exact, small, scratch) {
            (axis.n_A, axis.separation) = (exact, along);
            return;
        }
        support_features(pair, &axis.n_A, &mut scratch.face_a, &mut scratch.face_b);
    }
}

/// Whether the feature of one shape lies over the face of the other, that of B if `of_b`: any of it or, unless
/// `all`, one of its lowest points, to which it is reduced.
fn lies_over(
    of_b: bool,
    all: bool,
    n_A: &Vector3<f64>,
    small: f64,
    scratch: &mut NarrowScratch,
) -> bool {
    let NarrowScratch { face_a, face_b, clipper, .. } = scratch;
    let (face, other) = if of_b { (face_b, face_a) } else { (face_a, face_b) };
    let outward = if of_b { -n_A } else { *n_A };
    if !all {
        keep_farthest(other, &-outward);
    }
    !clipper.clip(face, other, &outward, (small, SLACK * small), of_b).is_empty()
}

/// Turns points of the cores in A's frame into contacts of the rounded shapes in the world.
struct Writer<'a> {
    X_WA: &'a Isometry3<f64>,
    axis: CoreAxis,
    r_A: f64,
    r_B: f64,
    reach: f64,
    /// Distance by which points may lie beside a face and still count as over it [m].
    slack: f64,
}

impl Writer<'_> {
    /// Adds the contact between the points `p` of A and `q` of B, both in A's frame [m].
    fn push(&self, feature: u32, p: Vector3<f64>, q: Vector3<f64>, manifold: &mut Manifold) {
        let normal = &self.axis.n_A;
        let gap = normal.dot(&(q - p)) - self.r_A - self.r_B;
        if gap <= self.reach {
            let middle = 0.5 * (p + q + (self.r_A - self.r_B) * normal);
            let point = self.X_WA.rotation * middle + self.X_WA.translation.vector;
            manifold.push(feature, point, self.X_WA.rotation * normal, gap);
        }
    }

    /// Writes the corners of the area that the features share: of two faces, of a face and an edge, or of
    /// two parallel edges. Reduces the features to their vertices farthest along the normal where necessary.
    fn write_shared_area(&self, small: f64, scratch: &mut NarrowScratch, manifold: &mut Manifold) {
        let normal = self.axis.n_A;
        let NarrowScratch { face_a, face_b, clipper, .. } = scratch;
        let (n_A, n_B) = (normal_of(face_a), normal_of(face_b));
        let facing_A = n_A.map_or(-1.0, |n| n.dot(&normal));
        let facing_B = n_B.map_or(-1.0, |n| -n.dot(&normal));
        if !(facing_A.max(facing_B) > FACING) {
            keep_farthest(face_a, &normal);
            keep_farthest(face_b, &-normal);
            if let ([p, q], [r, s]) = (&face_a.points[..], &face_b.points[..]) {
                parallel_overlap([*p, *q], [*r, *s], &normal, |i, j, p, q| {
                    let feature = feature_id::crossing(face_a.ids[i], face_b.ids[j], false);
                    self.push(feature, p, q, manifold);
                });
            }
            return;
        }
        let flipped = facing_B > facing_A;
        let (reference, incident, outward) =
            if flipped { (face_b, face_a, n_B) } else { (face_a, face_b, n_A) };
        let outward = outward.unwrap_or(normal);
        if facing_A.min(facing_B) < FACING {
            let towards = if flipped { normal } else { -normal };
            keep_farthest(incident, &towards);
        }
        let through = reference.points[0];
        let axis = if flipped { -normal } else { normal };
        for corner in clipper.clip(reference, incident, &axis, (small, self.slack), flipped) {
            // Along the normal from the corner to the plane of the reference.
            let slope = outward.dot(&normal);
            let height = outward.dot(&(corner.point - through)) / slope;
            let foot = corner.point - height * normal;
            let (p, q) = if flipped { (corner.point, foot) } else { (foot, corner.point) };
            self.push(corner.feature, p, q, manifold);
        }
    }

    /// The contact of the nearest points of the two shapes.
    fn nearest_point(&self, is_curved: bool, scratch: &mut NarrowScratch) -> ManifoldPoint {
        let CoreAxis { n_A: normal, separation, on_A, on_B } = self.axis;
        if !is_curved {
            keep_farthest(&mut scratch.face_a, &normal);
            keep_farthest(&mut scratch.face_b, &-normal);
        }
        let middle = match (&scratch.face_a.points[..], &scratch.face_b.points[..]) {
            // A vertex or a curved surface has one point farthest along the normal.
            ([p], _) => p + 0.5 * separation * normal,
            (_, [q]) => q - 0.5 * separation * normal,
            ([p, q], [r, s]) => crossing([*p, *q], [*r, *s]).unwrap_or(0.5 * (on_A + on_B)),
            _ => 0.5 * (on_A + on_B),
        };
        let middle = middle + 0.5 * (self.r_A - self.r_B) * normal;
        ManifoldPoint {
            feature: feature_id::nearest(),
            point: self.X_WA.rotation * middle + self.X_WA.translation.vector,
            normal: self.X_WA.rotation * normal,
            gap: separation - (self.r_A + self.r_B),
        }
    }
}

/// The features of A and B that face each other along `normal`, both in A's frame.
fn support_features(
    pair: &MinkowskiDifference,
    normal: &Vector3<f64>,
    face_a: &mut SupportFeature,
    face_b: &mut SupportFeature,
) {
    face_a.clear();
    face_b.clear();
    pair.a.support_feature(normal, face_a);
    pair.b.support_feature(&pair.X_AB.rotation.inverse_transform_vector(&-normal), face_b);
    for point in &mut face_b.points {
        *point = pair.X_AB.rotation * *point + pair.X_AB.translation.vector;
    }
}

/// Largest distance of a vertex from the first [m].
fn extent(face: &SupportFeature) -> f64 {
    let first = face.points.first().copied().unwrap_or_default();
    face.points.iter().fold(0.0, |most: f64, p| most.max((p - first).amax()))
}

/// Unit normal of a polygon by the sum over its edges; `None` for a vertex or an edge.
fn normal_of(face: &SupportFeature) -> Option<Vector3<f64>> {
    let n = face.points.len();
    if n < 3 {
        return None;
    }
    let origin = face.points[0];
    let mut sum = Vector3::zeros();
    for k in 1..n - 1 {
        sum += (face.points[k] - origin).cross(&(face.points[k + 1] - origin));
    }
    sum.try_normalize(0.0)
}

/// Keeps the vertices that lie as far out along `dir` as the farthest.
fn keep_farthest(face: &mut SupportFeature, dir: &Vector3<f64>) {
    let size = extent(face);
    let most = face.points.iter().fold(f64::NEG_INFINITY, |most, p| most.max(p.dot(dir)));
    let mut kept = 0;
    for k in 0..face.points.len() {
        if face.points[k].dot(dir) >= most - FAR_OUT * size {
            face.points.swap(kept, k);
            face.ids.swap(kept, k);
            kept += 1;
        }
    }
    face.points.truncate(kept);
    face.ids.truncate(kept);
}

/// Calls `emit` with the two ends of the stretch where two edges run side by side, if they do.
fn parallel_overlap(
    [p, q]: [Vector3<f64>; 2],
    [r, s]: [Vector3<f64>; 2],
    normal: &Vector3<f64>,
    mut emit: impl FnMut(usize, usize, Vector3<f64>, Vector3<f64>),
) {
    let (u, v) = (q - p, s - r);
    let (length, other) = (u.norm(), v.norm());
    if !(length > 0.0 && other > 0.0) || u.cross(&v).norm() > PARALLEL * length * other {
        return;
    }
    let parameter = |point: &Vector3<f64>| (point - p).dot(&u) / (length * length);
    let (t_r, t_s) = (parameter(&r), parameter(&s));
    let (low, high) = (t_r.min(t_s).max(0.0), t_r.max(t_s).min(1.0));
    if !(high > low) {
        return;
    }
    for (end, t) in [low, high].into_iter().enumerate() {
        let on_a = p + t * u;
        let share = if t_s == t_r { 0.5 } else { ((t - t_r) / (t_s - t_r)).clamp(0.0, 1.0) };
        let beside = r + share * v;
        // Only the part of the offset along the normal is the gap; the rest is the angle's.
        let gap = normal.dot(&(beside - on_a));
        emit(end, usize::from(share > 0.5), on_a, on_a + gap * normal);
    }
}

/// Midpoint of the nearest points of two edges; `None` if they are parallel [Ericson05, Sec. 5.1.8].
fn crossing([p, q]: [Vector3<f64>; 2], [r, s]: [Vector3<f64>; 2]) -> Option<Vector3<f64>> {
    let (u, v, w) = (q - p, s - r, p - r);
    let (a, b, c, d, e) = (u.dot(&u), u.dot(&v), v.dot(&v), u.dot(&w), v.dot(&w));
    let determinant = a * c - b * b;
    (determinant > PARALLEL * PARALLEL * a * c).then(|| {
        let x = ((b * e - c * d) / determinant).clamp(0.0, 1.0);
        let y = ((a * e - b * d) / determinant).clamp(0.0, 1.0);
        0.5 * (p + x * u + r + y * v)
    })
}
