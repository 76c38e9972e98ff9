//! Contacts of rigid shapes with edges of a soft surface, between the ends of the edge.
//!
//! Along the edge the signed distance of a convex shape is convex, so that it has a minimum inside exactly
//! if it decreases at one end and increases at the other; bisection of its slope finds it. Where the
//! distance has a kink there (a sharp edge of the shape crosses), the gradients on both sides are combined
//! so that the normal is perpendicular to the soft edge: with the weight α such that (α g₋ + (1−α) g₊)·e =
//! 0 it is the common normal of both edges. A point from which the distance decreases into either face is
//! no contact: a point of the shape over that face is.

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::unit;
use super::rigid_contacts::{
    PosedCollider, RigidScratch, SoftBodySurface, SoftFeatureKind, feature_id, significance,
};
use super::signed_distance::SignedDistance;
use nalgebra::Vector3;

/// Bisections of an edge: to a millionth of its length.
const BISECTIONS: usize = 20;

/// Sine of the angle up to which the distance may decrease into a face and its edge still be the contact [-].
const LEADS_DEEPER: f64 = 0.02;

/// Part of an edge at each end where the vertex is the contact instead [-].
const AT_END: f64 = 1e-3;

/// Length of the combined gradient below which the distance has a kink [-]. For a smooth distance,
/// bisection leaves a deviation of at most 1e-10, except at features as small as a thousandth of the edge.
const KINK: f64 = 1.0 - 1e-6;

/// Part of the edge within which a point of the shape over one of its faces is the same contact [-].
const SAME_PLACE: f64 = 1e-3;

/// Greatest depth of an edge contact as a part of the solid's thickness [-].
const GREATEST_DEPTH: f64 = 0.9;

/// Writes the contacts of the edges of the faces near the shape.
pub fn find(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    for k in 0..scratch.near.len() {
        for edge in soft.topology.sides[scratch.near[k] as usize] {
            let seen = std::mem::replace(&mut scratch.edge_marks[edge as usize], scratch.mark);
            if seen != scratch.mark
                && let Some(contact) = touch(soft, rigid, edge, contact_distance, scratch)
            {
                scratch.contacts.push(contact);
            }
        }
    }
}

fn touch(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    edge: u32,
    contact_distance: f64,
    scratch: &RigidScratch,
) -> Option<SoftContact> {
    let SoftBodySurface { topology, deformed, .. } = soft;
    let ends = topology.edges[edge as usize].ends;
    let [p, q] = ends.map(|v| deformed.points[v as usize]);
    let along = q - p;
    let length = along.norm();
    let reach = ends.iter().map(|&v| deformed.reach[v as usize]).fold(0.0, f64::max);
    let contact_distance = contact_distance + reach;
    let distances = ends.map(|v| scratch.distances[v as usize]);
    let outward = unit(&ends.iter().map(|&v| deformed.outward[v as usize]).sum());
    // Distances change by no more than the length moved; beyond its reach, the distance from a mesh is
    // unknown.
    let limit = contact_distance + length;
    let at = |t: f64| rigid.signed(&(p + along * t), &outward, limit);
    let slope = |found: &SignedDistance| found.gradient.dot(&along);
    let end = |k: usize| {
        let v = ends[k] as usize;
        let known = SignedDistance { distance: distances[k], gradient: scratch.gradients[v] };
        if known.distance.is_nan() { at(k as f64) } else { Some(known) }
    };
    let nearest_known = distances[0].max(distances[1]) - length;
    if nearest_known > contact_distance {
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
    // Intersection of the two tangents: exact at a kink, and close to the minimum in the smooth case.
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
    // Nearly opposite gradients have no common normal: the edge passes through the shape.
    if !(share > 0.2) {
        return None;
    }
    // At a kink with the common normal m = α g₋ + (1−α) g₊, both edges lie d/|m| apart along it.
    let gap = at(t)?.distance / if share < KINK { share } else { 1.0 };
    let faces = topology.edges[edge as usize].faces;
    let thickness =
        faces.iter().map(|&f| topology.thickness[f as usize]).fold(f64::INFINITY, f64::min);
    if !(gap <= contact_distance && gap >= -GREATEST_DEPTH * thickness) {
        return None;
    }
    let mut facing = 0.0;
    for (face, towards) in faces.into_iter().zip([1.0, -1.0]) {
        let n = deformed.normals[face as usize];
        // Into the face, perpendicular to the edge: the first face has the edge's orientation, the second
        // the opposite.
        let into = n.cross(&along) * (towards / length);
        if !(normal.dot(&into) >= -LEADS_DEEPER) {
            return None;
        }
        facing += normal.dot(&n);
    }
    if !(facing < 0.0) {
        return None;
    }
    let raised = significance(corners - gap, length.min(rigid.feature_size()))?;
    let on_soft: Vector3<f64> = p + along * t;
    if scratch.shape_points.iter().any(|probe| probe.is_at(&faces, &on_soft, SAME_PLACE * length)) {
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
