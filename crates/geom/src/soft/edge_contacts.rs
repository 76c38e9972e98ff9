//! Where a rigid shape comes nearest to an edge of a soft surface between its ends.
//!
//! Along the edge the signed distance of a convex shape is convex, so that it has a least value inside exactly
//! if it falls at one end and grows at the other; bisection of its slope finds it. Where the distance
//! has a kink there (a sharp edge of the shape crosses), the gradients on both sides are mixed so that the
//! normal stands across the soft edge: with the weight α such that (α g₋ + (1−α) g₊)·e = 0 it is the common
//! normal of both edges. A point from which either face leads deeper is no contact: a point of the
//! shape over that face is.

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::unit;
use super::rigid_contacts::{
    PosedCollider, RigidScratch, SoftBodySurface, SoftFeatureKind, feature_id, significance,
};
use super::signed_distance::SignedDistance;
use nalgebra::Vector3;

/// Bisections of an edge: to a millionth of its length.
const BISECTIONS: usize = 20;

/// Sine of the angle by which a face may lead deeper and its edge still be the contact [-].
const LEADS_DEEPER: f64 = 0.02;

/// Part of an edge at its ends where the vertices are the contact [-].
const AT_END: f64 = 1e-3;

/// Length of the mixed gradient below which the distance has a kink [-]. Bisection leaves no more of a smooth
/// turn than 1e-10, except at points as small as a thousandth of the edge.
const KINK: f64 = 1.0 - 1e-6;

/// Part of the edge within which a point of the shape over one of its faces is the same contact [-].
const SAME_PLACE: f64 = 1e-3;

/// Part of the solid's thickness down to which an edge is found [-].
const SUNK: f64 = 0.9;

/// Writes the contacts of the edges of the faces near the shape.
pub fn find(soft: SoftBodySurface, rigid: PosedCollider, wanted: f64, work: &mut RigidScratch) {
    for k in 0..work.near.len() {
        for edge in soft.topology.sides[work.near[k] as usize] {
            let seen = std::mem::replace(&mut work.edge_marks[edge as usize], work.mark);
            if seen != work.mark
                && let Some(contact) = touch(soft, rigid, edge, wanted, work)
            {
                work.contacts.push(contact);
            }
        }
    }
}

fn touch(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    edge: u32,
    wanted: f64,
    work: &RigidScratch,
) -> Option<SoftContact> {
    let SoftBodySurface { topology, deformed, .. } = soft;
    let ends = topology.edges[edge as usize].ends;
    let [p, q] = ends.map(|v| deformed.points[v as usize]);
    let along = q - p;
    let length = along.norm();
    let reach = ends.iter().map(|&v| deformed.reach[v as usize]).fold(0.0, f64::max);
    let wanted = wanted + reach;
    let distances = ends.map(|v| work.distances[v as usize]);
    let outward = unit(&ends.iter().map(|&v| deformed.outward[v as usize]).sum());
    // Distances change by no more than the way: for a mesh, beyond the reach they are not known.
    let limit = wanted + length;
    let at = |t: f64| rigid.signed(&(p + along * t), &outward, limit);
    let slope = |found: &SignedDistance| found.gradient.dot(&along);
    let end = |k: usize| {
        let v = ends[k] as usize;
        let known = SignedDistance { distance: distances[k], gradient: work.gradients[v] };
        if known.distance.is_nan() { at(k as f64) } else { Some(known) }
    };
    let nearest_known = distances[0].max(distances[1]) - length;
    if nearest_known > wanted {
        return None;
    }
    let (mut before, mut after) = (end(0)?, end(1)?);
    if !(slope(&before) < 0.0 && slope(&after) > 0.0) {
        return None;
    }
    let corners = before.distance.min(after.distance);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        let found = at(middle)?;
        if slope(&found) < 0.0 {
            (low, before) = (middle, found);
        } else {
            (high, after) = (middle, found);
        }
    }
    // Where the two tangents meet: at a kink exactly, and in the smooth case as good as the least value.
    let (falls, grows) = (slope(&before), slope(&after));
    let meet = (before.distance - after.distance + grows * high - falls * low) / (grows - falls);
    let t = meet.clamp(low, high);
    if !(AT_END..=1.0 - AT_END).contains(&t) {
        return None;
    }
    let alpha = grows / (grows - falls);
    let mixed = before.gradient * alpha + after.gradient * (1.0 - alpha);
    let share = mixed.norm();
    let normal = unit(&mixed);
    // Far from parallel gradients leave no common normal: the edge passes through the shape.
    if !(share > 0.2) {
        return None;
    }
    // At a kink with the common normal m = α g₋ + (1−α) g₊, both edges lie d/|m| apart along it.
    let gap = at(t)?.distance / if share < KINK { share } else { 1.0 };
    let faces = topology.edges[edge as usize].faces;
    let thickness =
        faces.iter().map(|&f| topology.thickness[f as usize]).fold(f64::INFINITY, f64::min);
    if !(gap <= wanted && gap >= -SUNK * thickness) {
        return None;
    }
    let mut facing = 0.0;
    for (face, towards) in faces.into_iter().zip([1.0, -1.0]) {
        let n = deformed.normals[face as usize];
        // Into the face, across the edge: the first face runs along it, the second against it.
        let into = n.cross(&along) * (towards / length);
        if !(normal.dot(&into) >= -LEADS_DEEPER) {
            return None;
        }
        facing += normal.dot(&n);
    }
    if !(facing < 0.0) {
        return None;
    }
    let raised = significance(corners - gap, length.min(rigid.grain()))?;
    let on_soft: Vector3<f64> = p + along * t;
    if work.shape_points.iter().any(|probe| probe.is_at(&faces, &on_soft, SAME_PLACE * length)) {
        return None;
    }
    let third = topology.faces[faces[0] as usize].iter().copied().find(|v| !ends.contains(v))?;
    let nodes = [ends[0], ends[1], third].map(|v| topology.vertices[v as usize]);
    Some(SoftContact {
        a: SoftContactSide::Rigid(rigid.id),
        b: SoftContactSide::Soft(soft.id, FacePoint { nodes, weights: [1.0 - t, t, 0.0] }),
        feature: feature_id(SoftFeatureKind::Edge, edge, rigid.part),
        point: on_soft - normal * (0.5 * gap),
        normal,
        gap: gap + raised,
    })
}
