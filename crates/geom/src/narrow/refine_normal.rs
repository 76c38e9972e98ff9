//! Refines the normal between curved cores: a stationary point of the separation by Newton's method.
//!
//! Along a unit vector n the cores overlap by σ(n) = h_A(n) + h_B(−n), whose gradient is the support point
//! w of A − B. On the unit sphere σ is stationary where w is parallel to n; Newton's step δ in the tangent
//! space T solves Tᵀ(∇²σ − σ)T δ = −Tᵀ w. Where an edge of one core touches, σ has a kink across which the
//! edge stays perpendicular to n: T is then the direction across edge and normal. Quadratic convergence
//! where the supports are smooth in T; a step that does not reduce the residual is rejected.

use super::ConvexCore;
use super::gjk::{MinkowskiDifference, SupportPoint};
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// Quadratic convergence from a thousandth to round-off needs three.
const MOST_STEPS: usize = 8;

/// The stationary direction close to the unit vector `normal` (from A into B, in A's frame), found on
/// the face `facet` of A − B.
pub fn normal(
    pair: &MinkowskiDifference,
    normal: Vector3<f64>,
    facet: &[SupportPoint; 3],
) -> Vector3<f64> {
    let dir_B = pair.X_AB.rotation.inverse_transform_vector(&-normal);
    let curved = (pair.a.curvature(&normal).is_some(), pair.b.curvature(&dir_B).is_some());
    match curved {
        (false, false) => normal,
        (true, true) => newton(pair, normal, None),
        (true, false) => newton(pair, normal, edge(facet.map(|vertex| vertex.b))),
        (false, true) => newton(pair, normal, edge(facet.map(|vertex| vertex.a))),
    }
}

/// Direction of the edge that three vertices of a polyhedron lie on, two of them being the same.
fn edge([p, q, r]: [Vector3<f64>; 3]) -> Option<Vector3<f64>> {
    let distinct = usize::from(p != q) + usize::from(q != r) + usize::from(r != p);
    let along = if p != q { q - p } else { r - p };
    (distinct == 2).then(|| along.normalize())
}

fn newton(
    pair: &MinkowskiDifference,
    start: Vector3<f64>,
    edge: Option<Vector3<f64>>,
) -> Vector3<f64> {
    let R_AB = pair.X_AB.rotation.to_rotation_matrix().into_inner();
    let across = |n: Vector3<f64>| edge.map_or(n, |e| (n - n.dot(&e) * e).normalize());
    let mut n = across(start);
    let mut w = pair.support(&n).w;
    for _ in 0..MOST_STEPS {
        let overlap = w.dot(&n);
        let T = tangents(&n, edge.as_ref());
        let H =
            R_AB * curvature(pair.b, &R_AB.tr_mul(&-n)) * R_AB.transpose() + curvature(pair.a, &n);
        let residual = Vector2::new(T[0].dot(&w), T[1].dot(&w));
        let entry = |i: usize, j: usize| T[i].dot(&(H * T[j]));
        let hessian = Matrix2::new(entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1))
            - overlap * Matrix2::identity();
        let step = if edge.is_some() {
            Vector2::new(-residual.x / hessian.m11, 0.0)
        } else {
            match hessian.try_inverse() {
                Some(inverse) => -(inverse * residual),
                None => break,
            }
        };
        let next = across((n + step.x * T[0] + step.y * T[1]).normalize());
        let w_next = pair.support(&next).w;
        let off = |w: &Vector3<f64>, n: &Vector3<f64>| {
            let T = tangents(n, edge.as_ref());
            if edge.is_some() { T[0].dot(w).abs() } else { T[0].dot(w).hypot(T[1].dot(w)) }
        };
        if !(off(&w_next, &next) < off(&w, &n)) {
            break;
        }
        (n, w) = (next, w_next);
    }
    // The refined direction does not overlap more than the initial one, except for round-off.
    let before = pair.support(&start).w.dot(&start);
    if w.dot(&n) <= before + ROUND_OFF * w.norm() { n } else { start }
}

/// Part of the size that round-off may add to an overlap.
const ROUND_OFF: f64 = 1e-13;

fn curvature(core: &dyn ConvexCore, n: &Vector3<f64>) -> Matrix3<f64> {
    core.curvature(n).unwrap_or_else(Matrix3::zeros)
}

/// Two unit vectors across `n` and each other, the first across the edge too if there is one.
fn tangents(n: &Vector3<f64>, edge: Option<&Vector3<f64>>) -> [Vector3<f64>; 2] {
    let axis =
        edge.copied().unwrap_or_else(|| if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() });
    let t = n.cross(&axis).normalize();
    [t, n.cross(&t)]
}
