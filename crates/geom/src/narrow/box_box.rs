//! Two boxes: the separating axis among fifteen, then the area that two faces share.
//!
//! The axes are the face normals of both and the cross products of their edges [Ericson05, Sec. 4.4.1];
//! a face is preferred to a pair of edges unless the edges separate clearly more. Up to eight points.
//! Boxes that are apart with neither a vertex over a face nor a face over a vertex are left to the
//! general routine, which finds their distance. Works in A's frame.

use super::clip::SLACK;
use super::convex_cores::{FACING, MISSED, SAME_PLACE};
use super::{Manifold, ManifoldPoint, PosedShape, SupportFeature, feature_id};
use crate::shape::cuboid;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Part of the depth by which edges must be shallower than faces to be chosen [-].
const EDGE_ADVANTAGE: f64 = 0.02;

/// Part of the size by which B's face must separate more than A's to become the reference [-].
const TIE: f64 = 1e-9;

/// Square of the sine below which two edges are parallel and span no axis [-].
const PARALLEL: f64 = 1e-8;

/// Writes the contacts of the boxes A and B, of half extents `h_A` and `h_B` [m], with gaps of at most `reach` [m]. Boxes that are
/// more than `patch` [m] apart are left to the general routine.
///
/// Returns false, and writes nothing, if the general routine has to decide.
pub fn contacts(
    (h_A, a): (&Vector3<f64>, PosedShape),
    (h_B, b): (&Vector3<f64>, PosedShape),
    (reach, patch): (f64, f64),
    manifold: &mut Manifold,
) -> bool {
    let pair = BoxPair::new((h_A, a.X_WS), (h_B, b.X_WS));
    let faces = pair.face_axes();
    let separation = faces.s_A.max(faces.s_B);
    if separation > reach {
        return true;
    }
    if separation > patch {
        return false;
    }
    let edges = match pair.edge_axis(&faces, reach) {
        EdgeSearch::BeyondReach => return true,
        EdgeSearch::Best(edges) => edges,
    };
    let flipped = faces.s_B > faces.s_A + TIE * pair.size;
    let mut crossing = None;
    let (n_A, separation) = match &edges {
        Some(axis) => {
            crossing = pair.edge_edge(axis);
            if crossing.is_none() {
                return false;
            }
            (axis.n_A, axis.separation)
        }
        None if flipped => {
            let (axis, sense) = (faces.axis_B, faces.p_AB_B[faces.axis_B]);
            (pair.R_AB.column(axis) * if sense < 0.0 { -1.0 } else { 1.0 }, faces.s_B)
        }
        None => (signed_axis(faces.axis_A, pair.p_AB[faces.axis_A]), faces.s_A),
    };
    let n_B = pair.R_AB.tr_mul(&n_A);
    let is_edge_pair = edges.is_some();
    let flipped = if is_edge_pair { n_B.amax() > n_A.amax() } else { flipped };
    let axis = ContactAxis { n_A, n_B, separation, flipped, is_edge_pair };
    let from = manifold.len();
    if !pair.clip_faces(&axis, reach, manifold) {
        return false;
    }
    if let Some((feature, p_AC)) = crossing {
        let least = manifold.points()[from..].iter().map(|point| point.gap);
        if !(least.fold(f64::INFINITY, f64::min) <= separation + MISSED * pair.size) {
            let point = pair.R_WA * p_AC + pair.p_WA;
            let normal = pair.R_WA * n_A;
            let nearest = ManifoldPoint { feature, point, normal, gap: separation };
            manifold.include(from, nearest, SAME_PLACE * pair.small);
        }
    }
    true
}

/// Two boxes in the frame of A.
struct BoxPair<'a> {
    h_A: &'a Vector3<f64>,
    h_B: &'a Vector3<f64>,
    R_WA: Matrix3<f64>,
    p_WA: Vector3<f64>,
    R_AB: Matrix3<f64>,
    /// Absolute values of the entries of `R_AB`.
    abs_R_AB: Matrix3<f64>,
    p_AB: Vector3<f64>,
    /// Largest half extent of the larger box [m]: the scale of round-off.
    size: f64,
    /// Largest half extent of the smaller box [m]: the scale of what is distinguished.
    small: f64,
}

/// Axes along the face normals that separate most.
struct FaceAxes {
    /// B's centre relative to A's, in B's frame [m].
    p_AB_B: Vector3<f64>,
    axis_A: usize,
    axis_B: usize,
    /// Separation along them [m].
    s_A: f64,
    s_B: f64,
}

/// Axis across an edge along `i` of A and an edge along `j` of B.
struct EdgeAxis {
    separation: f64,
    i: usize,
    j: usize,
    /// Unit vector from A into B.
    n_A: Vector3<f64>,
}

/// Outcome of the search among the cross products of edges.
enum EdgeSearch {
    /// An axis separates the boxes by more than the reach.
    BeyondReach,
    /// The axis that separates most, if one separates clearly more than the faces do.
    Best(Option<EdgeAxis>),
}

/// The contact normal and what it belongs to.
struct ContactAxis {
    /// Unit normal from A into B, in A's and in B's frame.
    n_A: Vector3<f64>,
    n_B: Vector3<f64>,
    /// Separation along it [m].
    separation: f64,
    /// Whether the reference face belongs to B.
    flipped: bool,
    /// Whether two edges give the normal.
    is_edge_pair: bool,
}

impl<'a> BoxPair<'a> {
    fn new(
        (h_A, X_WA): (&'a Vector3<f64>, &Isometry3<f64>),
        (h_B, X_WB): (&'a Vector3<f64>, &Isometry3<f64>),
    ) -> Self {
        let R_WA = X_WA.rotation.to_rotation_matrix().into_inner();
        let R_WB = X_WB.rotation.to_rotation_matrix().into_inner();
        let (p_WA, p_WB) = (X_WA.translation.vector, X_WB.translation.vector);
        let R_AB = R_WA.tr_mul(&R_WB);
        let p_AB = R_WA.tr_mul(&(p_WB - p_WA));
        let abs_R_AB = R_AB.abs();
        let (size, small) = (h_A.amax().max(h_B.amax()), h_A.amax().min(h_B.amax()));
        Self { h_A, h_B, R_WA, p_WA, R_AB, abs_R_AB, p_AB, size, small }
    }

    fn face_axes(&self) -> FaceAxes {
        let Self { h_A, h_B, R_AB, abs_R_AB, p_AB, .. } = self;
        let p_AB_B = R_AB.tr_mul(p_AB);
        let along_A = p_AB.abs() - *h_A - abs_R_AB * *h_B;
        let along_B = p_AB_B.abs() - *h_B - abs_R_AB.tr_mul(h_A);
        let (axis_A, axis_B) = (along_A.imax(), along_B.imax());
        FaceAxes { p_AB_B, axis_A, axis_B, s_A: along_A[axis_A], s_B: along_B[axis_B] }
    }

    fn edge_axis(&self, faces: &FaceAxes, reach: f64) -> EdgeSearch {
        let Self { h_A, h_B, R_AB: R, abs_R_AB: Q, p_AB: t, .. } = self;
        let s_face = faces.s_A.max(faces.s_B);
        let needed = s_face + EDGE_ADVANTAGE * s_face.abs() + TIE * self.size;
        let mut best: Option<EdgeAxis> = None;
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            for j in 0..3 {
                let square = 1.0 - R[(i, j)] * R[(i, j)];
                if square < PARALLEL {
                    continue;
                }
                let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
                let offset = t[i2] * R[(i1, j)] - t[i1] * R[(i2, j)];
                let radii = h_A[i1] * Q[(i2, j)]
                    + h_A[i2] * Q[(i1, j)]
                    + h_B[j1] * Q[(i, j2)]
                    + h_B[j2] * Q[(i, j1)];
                let length = square.sqrt();
                let separation = (offset.abs() - radii) / length;
                if separation > reach {
                    return EdgeSearch::BeyondReach;
                }
                let is_best = best.as_ref().is_none_or(|most| separation > most.separation);
                if separation > needed && is_best {
                    let mut n_A = Vector3::zeros(); // e_i × b_j, turned from A into B
                    let sign = if offset < 0.0 { -1.0 } else { 1.0 } / length;
                    n_A[i1] = -sign * R[(i2, j)];
                    n_A[i2] = sign * R[(i1, j)];
                    best = Some(EdgeAxis { separation, i, j, n_A });
                }
            }
        }
        EdgeSearch::Best(best)
    }

    /// Writes the corners of the area that the faces along the axis share. Returns false, and writes
    /// nothing, if the general routine has to decide.
    fn clip_faces(&self, axis: &ContactAxis, reach: f64, manifold: &mut Manifold) -> bool {
        let Self { h_A, h_B, R_AB, .. } = self;
        let ContactAxis { n_A, n_B, separation, flipped, is_edge_pair } = *axis;
        let facing = if flipped { n_B.amax() } else { n_A.amax() };
        if !(facing > FACING) {
            return true;
        }
        let from = manifold.len();
        let mut scratch = std::mem::take(&mut manifold.scratch);
        scratch.face_a.clear();
        scratch.face_b.clear();
        cuboid::face(h_A, &n_A, &mut scratch.face_a);
        cuboid::face(h_B, &-n_B, &mut scratch.face_b);
        for point in &mut scratch.face_b.points {
            *point = R_AB * *point + self.p_AB;
        }
        let (reference, incident, outward) = if flipped {
            let axis = n_B.iamax();
            (&scratch.face_b, &scratch.face_a, R_AB * signed_axis(axis, -n_B[axis]))
        } else {
            let axis = n_A.iamax();
            (&scratch.face_a, &scratch.face_b, signed_axis(axis, n_A[axis]))
        };
        // Apart, a face's normal gives the distance only if the nearest vertex lies over the face.
        let decided = is_edge_pair
            || separation <= TIE * self.size
            || lies_over(reference, incident, &outward);
        if decided {
            let normal_W = self.R_WA * n_A;
            let axis = if flipped { -n_A } else { n_A };
            let (through, slope) = (outward.dot(&reference.points[0]), 1.0 / facing);
            let sizes = (self.small, SLACK * self.small);
            let corners = scratch.clipper.clip(reference, incident, &axis, sizes, flipped);
            for corner in corners {
                // Along the normal from the corner to the plane of the reference.
                let gap = slope * (outward.dot(&corner.point) - through);
                if gap <= reach {
                    let half = if flipped { 0.5 * gap } else { -0.5 * gap };
                    let point = self.R_WA * (corner.point + half * n_A) + self.p_WA;
                    manifold.push(corner.feature, point, normal_W, gap);
                }
            }
        }
        manifold.scratch = scratch;
        decided && (is_edge_pair || manifold.len() > from)
    }

    /// Feature id and midpoint [m] of the nearest points of the two edges of the axis; `None` if they are
    /// apart and the nearest points lie beyond an edge's end.
    fn edge_edge(&self, axis: &EdgeAxis) -> Option<(u32, Vector3<f64>)> {
        let Self { h_A, h_B, R_AB, p_AB, .. } = self;
        let EdgeAxis { separation, i, j, n_A } = *axis;
        let mut p = cuboid::support(h_A, &n_A);
        let mut q_B = cuboid::support(h_B, &R_AB.tr_mul(&-n_A));
        p[i] = 0.0;
        q_B[j] = 0.0;
        let v = R_AB.column(j).into_owned();
        let q = R_AB * q_B + p_AB;
        // Nearest points p + s e_i and q + r v of the two lines [Ericson05, Sec. 5.1.8].
        let between = q - p;
        let (cosine, d, e) = (v[i], between[i], v.dot(&between));
        let determinant = 1.0 - cosine * cosine;
        let s = (d - cosine * e) / determinant;
        let r = (cosine * d - e) / determinant;
        if separation > 0.0 && (s.abs() > h_A[i] || r.abs() > h_B[j]) {
            return None;
        }
        let feature = feature_id::crossing(edge_id(&p, i), edge_id(&q_B, j), false);
        p[i] = s.clamp(-h_A[i], h_A[i]);
        Some((feature, 0.5 * (p + q + r.clamp(-h_B[j], h_B[j]) * v)))
    }
}

/// The unit vector of an axis, with the sign of `sense`.
fn signed_axis(axis: usize, sense: f64) -> Vector3<f64> {
    let mut unit = Vector3::zeros();
    unit[axis] = if sense < 0.0 { -1.0 } else { 1.0 };
    unit
}

/// Whether the lowest vertex of the incident face lies over the reference.
fn lies_over(
    reference: &SupportFeature,
    incident: &SupportFeature,
    outward: &Vector3<f64>,
) -> bool {
    let mut lowest = incident.points[0];
    for point in &incident.points {
        if outward.dot(point) < outward.dot(&lowest) {
            lowest = *point;
        }
    }
    let n = reference.points.len();
    (0..n).all(|k| {
        let (p, q) = (reference.points[k], reference.points[(k + 1) % n]);
        (q - p).cross(outward).dot(&(lowest - p)) <= 0.0
    })
}

/// Id of the edge along axis `i` through `p`, different from the ids of vertices.
fn edge_id(p: &Vector3<f64>, i: usize) -> u32 {
    (0..3).fold(1 << 5 | i as u32, |code, k| code | u32::from(k != i && p[k] > 0.0) << (2 + k))
}
