//! Manifold of any two rounded convex cores: nearest or deepest direction, then the area they share.
//!
//! The direction comes from [`super::gjk`] when the cores are apart and from [`super::epa`] when they
//! overlap. If a flat face of either looks the same way to within the tolerance of those, its exact
//! normal replaces it. Then the face of one is cut to the face of the other along the normal; where
//! no face looks that way, the nearest points alone make the contact.
//! Works in A's frame, so that the distance from the world's origin costs no digits.

use super::epa::PenetrationDepth;
use super::gjk::{self, GjkResult, MinkowskiDifference};
use super::{
    Clearance, ConvexCore, Manifold, ManifoldPoint, SupportFeature, feature_id, refine_normal,
};
use nalgebra::{Isometry3, Vector3};

/// Cosine between a face's normal and the contact's above which the face can carry a manifold.
pub const FACING: f64 = 0.985;

/// Part of the size by which a face's normal may separate less and still be preferred.
const SNAP: f64 = 1e-10;

/// Part of the size within which vertices of a face that looks elsewhere are as far out as the
/// farthest: those make an edge or a vertex.
pub const FAR_OUT: f64 = 1e-4;

/// Part of the size by which the nearest of the points may lie farther apart than the shapes do.
pub const MISSED: f64 = 2e-10;

/// Part of the smaller shape's size within which two points of a manifold are one.
pub const SAME_PLACE: f64 = 2e-5;

/// Sine of the angle below which two edges run side by side.
const PARALLEL: f64 = 0.02;

/// Most points kept.
const MOST: usize = 8;

/// Writes the contacts of two rounded convex cores with gaps of at most `reach` [m]. If there are none
/// because the cores are farther apart, says by how much, unless round-off is in doubt.
pub fn contacts(
    (a, X_WA): (&dyn ConvexCore, &Isometry3<f64>),
    (b, X_WB): (&dyn ConvexCore, &Isometry3<f64>),
    reach: f64,
    manifold: &mut Manifold,
) -> Option<Clearance> {
    let X_AB = X_WA.inv_mul(X_WB);
    let pair = MinkowskiDifference { a, b, X_AB: &X_AB };
    let rounding = a.radius() + b.radius();
    let (mut normal, mut separation, on_a, on_b, facet) =
        match gjk::distance(&pair, reach + rounding) {
            GjkResult::Far(clearance) => {
                return Some(Clearance { distance: clearance.distance - rounding, ..clearance });
            }
            GjkResult::Apart { normal, distance, a, b, facet } => (normal, distance, a, b, facet),
            GjkResult::Overlap(simplex) => {
                let PenetrationDepth { normal, overlap, a, b, facet } =
                    manifold.scratch.polytope.depth(&pair, &simplex);
                (normal, -overlap, a, b, facet)
            }
        };
    if !(separation - rounding <= reach) {
        return None;
    }
    let sharper = refine_normal::normal(&pair, normal, &facet);
    if sharper != normal {
        (normal, separation) = (sharper, pair.separation(&sharper));
    }
    let mut scratch = std::mem::take(&mut manifold.scratch);
    faces(&pair, &normal, &mut scratch.face_a, &mut scratch.face_b);
    let (e_A, e_B) = (extent(&scratch.face_a), extent(&scratch.face_b));
    // The larger sets the scale of round-off, the smaller what can be told apart.
    let (size, small) = (
        e_A.max(e_B).max(on_a.amax()),
        if e_A.min(e_B) > 0.0 { e_A.min(e_B) } else { e_A.max(e_B) },
    );

    // An exact face normal is better than one that was iterated.
    let exact = [normal_of(&scratch.face_a), normal_of(&scratch.face_b).map(|n| -n)];
    for exact in exact.into_iter().flatten() {
        if exact.dot(&normal) > FACING {
            let along = pair.separation(&exact);
            if along >= separation - SNAP * size {
                (normal, separation) = (exact, along);
                faces(&pair, &normal, &mut scratch.face_a, &mut scratch.face_b);
                break;
            }
        }
    }

    let write = Writer { X_WA, normal, r_A: a.radius(), r_B: b.radius(), reach };
    let from = manifold.len();
    let (n_A, n_B) = (normal_of(&scratch.face_a), normal_of(&scratch.face_b));
    let facing_A = n_A.map_or(-1.0, |n| n.dot(&normal));
    let facing_B = n_B.map_or(-1.0, |n| -n.dot(&normal));
    let curved = scratch.face_a.points.len() == 1 || scratch.face_b.points.len() == 1;
    if curved {
        // One point: the nearest, below.
    } else if facing_A.max(facing_B) > FACING {
        let flipped = facing_B > facing_A;
        let (reference, incident, outward) = if flipped {
            (&scratch.face_b, &mut scratch.face_a, n_B)
        } else {
            (&scratch.face_a, &mut scratch.face_b, n_A)
        };
        let outward = outward.unwrap_or(normal);
        if facing_A.min(facing_B) < FACING {
            let towards = if flipped { normal } else { -normal };
            keep_farthest(incident, &towards);
        }
        let through = reference.points[0];
        let axis = if flipped { -normal } else { normal };
        let corners = scratch.clipper.clip(reference, incident, &axis, small, flipped);
        for corner in corners {
            // Along the normal from the corner to the plane of the reference.
            let slope = outward.dot(&normal);
            let height = outward.dot(&(corner.point - through)) / slope;
            let foot = corner.point - height * normal;
            let (p, q) = if flipped { (corner.point, foot) } else { (foot, corner.point) };
            write.push(corner.feature, p, q, manifold);
        }
    } else {
        keep_farthest(&mut scratch.face_a, &normal);
        keep_farthest(&mut scratch.face_b, &-normal);
        if let ([p, q], [r, s]) = (&scratch.face_a.points[..], &scratch.face_b.points[..]) {
            let names = (&scratch.face_a.ids, &scratch.face_b.ids);
            side_by_side([*p, *q], [*r, *s], &normal, |i, j, p, q| {
                write.push(feature_id::crossing(names.0[i], names.1[j], false), p, q, manifold);
            });
        }
    }

    // The nearest points are never left out.
    let least = manifold.points()[from..].iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
    if !(least <= separation - rounding + MISSED * size) {
        if !curved {
            keep_farthest(&mut scratch.face_a, &normal);
            keep_farthest(&mut scratch.face_b, &-normal);
        }
        let middle = match (&scratch.face_a.points[..], &scratch.face_b.points[..]) {
            // A vertex or a curved surface has one point that looks along the normal.
            ([p], _) => p + 0.5 * separation * normal,
            (_, [q]) => q - 0.5 * separation * normal,
            ([p, q], [r, s]) => crossing([*p, *q], [*r, *s]).unwrap_or(0.5 * (on_a + on_b)),
            _ => 0.5 * (on_a + on_b),
        };
        let middle = middle + 0.5 * (a.radius() - b.radius()) * normal;
        let touch = ManifoldPoint {
            feature: feature_id::nearest(),
            point: X_WA.rotation * middle + X_WA.translation.vector,
            normal: X_WA.rotation * normal,
            gap: separation - rounding,
        };
        manifold.include(from, touch, SAME_PLACE * small);
    }
    manifold.scratch = scratch;
    if manifold.len() - from > MOST {
        manifold.reduce(from, MOST);
    }
    None
}

/// Turns points of the cores in A's frame into contacts of the rounded shapes in the world.
struct Writer<'a> {
    X_WA: &'a Isometry3<f64>,
    normal: Vector3<f64>,
    r_A: f64,
    r_B: f64,
    reach: f64,
}

impl Writer<'_> {
    fn push(&self, feature: u32, p: Vector3<f64>, q: Vector3<f64>, manifold: &mut Manifold) {
        let gap = self.normal.dot(&(q - p)) - self.r_A - self.r_B;
        if gap <= self.reach {
            let middle = 0.5 * (p + q + (self.r_A - self.r_B) * self.normal);
            let point = self.X_WA.rotation * middle + self.X_WA.translation.vector;
            manifold.push(feature, point, self.X_WA.rotation * self.normal, gap);
        }
    }
}

/// The features of A and B that face each other along `normal`, both in A's frame.
fn faces(
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
fn side_by_side(
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
