//! Two boxes: the separating axis among fifteen, then the area that two faces share.
//!
//! The axes are the face normals of both and the cross products of their edges [Ericson05, Sec. 4.4.1];
//! a face is preferred to a pair of edges unless the edges separate clearly more. Up to eight points.
//! Boxes that are apart with neither a vertex over a face nor a face over a vertex are left to the
//! general routine, which finds their distance. Works in A's frame.

use super::convex_cores::{FACING, MISSED, SAME_PLACE};
use super::{Manifold, ManifoldPoint, PosedShape, SupportFeature, feature_id};
use crate::shape::cuboid;
use nalgebra::{Matrix3, Vector3};

/// Part of the depth by which edges must be shallower than faces to be chosen.
const EDGE_ADVANTAGE: f64 = 0.02;

/// Part of the size by which B's face must separate more than A's to become the reference.
const TIE: f64 = 1e-9;

/// Square of the sine below which two edges are parallel and span no axis.
const PARALLEL: f64 = 1e-8;

/// Writes the contacts of the boxes A and B, of half extents `h_A` and `h_B` [m].
///
/// Returns false, and writes nothing, if the general routine has to decide.
pub fn contacts(
    (h_A, a): (&Vector3<f64>, PosedShape),
    (h_B, b): (&Vector3<f64>, PosedShape),
    reach: f64,
    manifold: &mut Manifold,
) -> bool {
    let R_WA = a.X_WS.rotation.to_rotation_matrix().into_inner();
    let R_WB = b.X_WS.rotation.to_rotation_matrix().into_inner();
    let (p_WA, p_WB) = (a.X_WS.translation.vector, b.X_WS.translation.vector);
    let R = R_WA.tr_mul(&R_WB);
    let t = R_WA.tr_mul(&(p_WB - p_WA));
    let Q = R.abs();
    // The larger sets the scale of round-off, the smaller what can be told apart.
    let (size, small) = (h_A.amax().max(h_B.amax()), h_A.amax().min(h_B.amax()));

    // SupportFeature normals of A, then of B.
    let t_B = R.tr_mul(&t);
    let along_A = t.abs() - h_A - Q * h_B;
    let along_B = t_B.abs() - h_B - Q.tr_mul(h_A);
    let (axis_A, axis_B) = (along_A.imax(), along_B.imax());
    let (s_A, s_B) = (along_A[axis_A], along_B[axis_B]);
    let s_face = s_A.max(s_B);
    if s_face > reach {
        return true;
    }

    // Cross products of edges.
    let needed = s_face + EDGE_ADVANTAGE * s_face.abs() + TIE * size;
    let mut edges: Option<(f64, usize, usize, Vector3<f64>)> = None;
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
            let s = (offset.abs() - radii) / length;
            if s > reach {
                return true;
            }
            if s > needed && edges.as_ref().is_none_or(|(most, ..)| s > *most) {
                let mut axis = Vector3::zeros(); // e_i × b_j, turned from A into B
                let sign = if offset < 0.0 { -1.0 } else { 1.0 } / length;
                axis[i1] = -sign * R[(i2, j)];
                axis[i2] = sign * R[(i1, j)];
                edges = Some((s, i, j, axis));
            }
        }
    }

    // The contact's normal, from A into B, and how far the boxes are apart along it.
    let mut crossing = None;
    let flipped = s_B > s_A + TIE * size;
    let (normal, separation) = match edges {
        Some((s, i, j, normal)) => {
            crossing = edge_edge((h_A, h_B, &R, &t), (i, j), (s, &normal));
            if crossing.is_none() {
                return false;
            }
            (normal, s)
        }
        None if flipped => (R.column(axis_B) * if t_B[axis_B] < 0.0 { -1.0 } else { 1.0 }, s_B),
        None => (signed_axis(axis_A, t[axis_A]), s_A),
    };

    // The faces that look along it.
    let normal_B = R.tr_mul(&normal);
    let flipped = if edges.is_some() { normal_B.amax() > normal.amax() } else { flipped };
    let facing = if flipped { normal_B.amax() } else { normal.amax() };
    let from = manifold.len();
    let normal_W = R_WA * normal;
    if facing > FACING {
        let mut scratch = std::mem::take(&mut manifold.scratch);
        scratch.face_a.clear();
        scratch.face_b.clear();
        cuboid::face(h_A, &normal, &mut scratch.face_a);
        cuboid::face(h_B, &-normal_B, &mut scratch.face_b);
        for point in &mut scratch.face_b.points {
            *point = R * *point + t;
        }
        let (reference, incident, outward) = if flipped {
            let axis = normal_B.iamax();
            (&scratch.face_b, &scratch.face_a, R * signed_axis(axis, -normal_B[axis]))
        } else {
            let axis = normal.iamax();
            (&scratch.face_a, &scratch.face_b, signed_axis(axis, normal[axis]))
        };
        // Apart, a face's normal gives the distance only if the nearest vertex lies over the face.
        let decided =
            edges.is_some() || separation <= TIE * size || lies_over(reference, incident, &outward);
        if decided {
            let axis = if flipped { -normal } else { normal };
            let (through, slope) = (outward.dot(&reference.points[0]), 1.0 / facing);
            let corners = scratch.clipper.clip(reference, incident, &axis, small, flipped);
            for corner in corners {
                // Along the normal from the corner to the plane of the reference.
                let gap = slope * (outward.dot(&corner.point) - through);
                if gap <= reach {
                    let half = if flipped { 0.5 * gap } else { -0.5 * gap };
                    let point = R_WA * (corner.point + half * normal) + p_WA;
                    manifold.push(corner.feature, point, normal_W, gap);
                }
            }
        }
        manifold.scratch = scratch;
        if !decided || (edges.is_none() && manifold.len() == from) {
            return false;
        }
    }
    if let Some((feature, point)) = crossing {
        let least = manifold.points()[from..].iter().map(|touch| touch.gap);
        if !(least.fold(f64::INFINITY, f64::min) <= separation + MISSED * size) {
            let point = R_WA * point + p_WA;
            let touch = ManifoldPoint { feature, point, normal: normal_W, gap: separation };
            manifold.include(from, touch, SAME_PLACE * small);
        }
    }
    true
}

/// The unit vector of an axis, turned by the sign of `sense`.
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

/// Name and midpoint [m] of the nearest points of an edge along `i` of A and along `j` of B, for the
/// axis across both; `None` if they are apart and the nearest points lie beyond an edge's end.
fn edge_edge(
    (h_A, h_B, R, t): (&Vector3<f64>, &Vector3<f64>, &Matrix3<f64>, &Vector3<f64>),
    (i, j): (usize, usize),
    (separation, normal): (f64, &Vector3<f64>),
) -> Option<(u32, Vector3<f64>)> {
    let mut p = cuboid::support(h_A, normal);
    let mut q_B = cuboid::support(h_B, &R.tr_mul(&-normal));
    p[i] = 0.0;
    q_B[j] = 0.0;
    let v = R.column(j).into_owned();
    let q = R * q_B + t;
    // Nearest points p + s e_i and q + r v of the two lines [Ericson05, Sec. 5.1.8].
    let between = q - p;
    let (cosine, d, e) = (v[i], between[i], v.dot(&between));
    let determinant = 1.0 - cosine * cosine;
    let s = (d - cosine * e) / determinant;
    let r = (cosine * d - e) / determinant;
    if separation > 0.0 && (s.abs() > h_A[i] || r.abs() > h_B[j]) {
        return None;
    }
    let name = feature_id::crossing(edge_name(&p, i), edge_name(&q_B, j), false);
    p[i] = s.clamp(-h_A[i], h_A[i]);
    Some((name, 0.5 * (p + q + r.clamp(-h_B[j], h_B[j]) * v)))
}

/// Name of the edge along axis `i` through `p`, apart from the names of vertices.
fn edge_name(p: &Vector3<f64>, i: usize) -> u32 {
    (0..3).fold(1 << 5 | i as u32, |code, k| code | u32::from(k != i && p[k] > 0.0) << (2 + k))
}
