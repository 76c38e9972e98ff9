//! Contacts of soft surfaces with one another and with themselves: vertices against faces, both ways.
//!
//! A vertex touches the nearest face whose normal does not point the same way as its own; of faces at
//! nearly the same distance, as at the edges of blocks that lie face to face, the one whose normal is most
//! opposed. The pseudo-normal of the nearest feature decides between outside and inside [Baerentzen05,
//! Theorem 1]; the vertex counts as inside up to a depth of the solid's thickness there. The normal is
//! blended over the faces, so that it varies continuously. Beyond a crease it changes to the direction
//! between the two points over a distance much shorter than an edge, because at zero distance that
//! direction is undefined. Crossings of two edges are not searched: the vertices at their ends make
//! contacts with the nearby faces.

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::{FaceVolume, unit, weights};
use super::rigid_contacts::{SoftBodySurface, SoftFeatureKind, feature_id};
use super::signed_distance::OUTWARD;
use super::surface_topology::SurfaceTopology;
use crate::shape::triangle::{self, Feature};
use nalgebra::Vector3;

/// Greatest depth at which a vertex of another surface counts as inside, as a part of the solid's thickness
/// [-].
const GREATEST_DEPTH: f64 = 0.9;

/// The same for a surface with itself: a deeper vertex may belong to the opposite side.
const SELF_CONTACT_DEPTH: f64 = 0.5;

/// Parts of the length of the adjacent edges: up to which distances count as equal, and from which on the
/// direction beyond a crease is that between the two points [-].
const ABOUT_AS_NEAR: f64 = 1e-3;
const PAST: f64 = 1e-3;

/// The point of a face that a vertex touches.
#[derive(Clone, Copy, Debug)]
struct FaceHit {
    face: u32,
    point: Vector3<f64>,
    feature: Feature,
}

/// Scratch memory for pairs of surfaces.
#[derive(Clone, Debug, Default)]
pub struct SoftPairScratch {
    /// For each vertex of the first surface, the vertex of the second at which it touches, if it is one.
    partners: Vec<u32>,
}

/// Writes the contacts within `contact_distance` [m] of two different surfaces, to which the reaches of
/// both are added.
pub fn find(
    a: SoftBodySurface,
    b: SoftBodySurface,
    contact_distance: f64,
    scratch: &mut SoftPairScratch,
    contacts: &mut Vec<SoftContact>,
) {
    scratch.partners.clear();
    scratch.partners.resize(a.topology.vertices.len(), u32::MAX);
    for (from, onto) in [(a, b), (b, a)] {
        let region = onto
            .deformed
            .hull
            .inflated(contact_distance + onto.deformed.farthest + from.deformed.farthest);
        for v in 0..from.topology.vertices.len() {
            if !region.contains_point(&from.deformed.points[v]) {
                continue;
            }
            let reach = contact_distance + onto.deformed.farthest + from.deformed.reach[v];
            let Some((hit, gap, normal)) = touch(from, v, onto, reach, false) else { continue };
            if let Feature::Corner(k) = hit.feature {
                // Two vertices that touch each other are found from both sides: keep one contact.
                let other = onto.topology.faces[hit.face as usize][k];
                if from.id == a.id {
                    scratch.partners[v] = other;
                } else if scratch.partners[other as usize] == v as u32 {
                    continue;
                }
            }
            // The normal points from the face to the vertex.
            let (vertex, face) = (vertex_side(from, v), face_side(onto, &hit));
            let flipped = from.id == a.id;
            let (first, second) = if flipped { (vertex, face) } else { (face, vertex) };
            contacts.push(SoftContact {
                a: first,
                b: second,
                feature: feature_id(SoftFeatureKind::Vertex, from.topology.vertices[v], 0),
                point: from.deformed.points[v] - normal * (0.5 * gap),
                normal: if flipped { -normal } else { normal },
                gap,
            });
        }
    }
}

/// Writes the contacts within `contact_distance` [m] of a surface with itself, to which its reach is added
/// twice.
pub fn find_own(
    soft: SoftBodySurface,
    contact_distance: f64,
    scratch: &mut SoftPairScratch,
    contacts: &mut Vec<SoftContact>,
) {
    scratch.partners.clear();
    scratch.partners.resize(soft.topology.vertices.len(), u32::MAX);
    for v in 0..soft.topology.vertices.len() {
        let reach = contact_distance + soft.deformed.farthest + soft.deformed.reach[v];
        let Some((hit, gap, normal)) = touch(soft, v, soft, reach, true) else { continue };
        if let Feature::Corner(k) = hit.feature {
            let other = soft.topology.faces[hit.face as usize][k];
            if (other as usize) < v && scratch.partners[other as usize] == v as u32 {
                continue;
            }
            scratch.partners[v] = other;
        }
        contacts.push(SoftContact {
            a: face_side(soft, &hit),
            b: vertex_side(soft, v),
            feature: feature_id(SoftFeatureKind::Vertex, soft.topology.vertices[v], 0),
            point: soft.deformed.points[v] - normal * (0.5 * gap),
            normal,
            gap,
        });
    }
}

fn vertex_side(soft: SoftBodySurface, v: usize) -> SoftContactSide {
    SoftContactSide::Soft(soft.id, FacePoint::vertex(soft.topology.vertices[v]))
}

fn face_side(soft: SoftBodySurface, hit: &FaceHit) -> SoftContactSide {
    let weights = clamped(soft, hit);
    SoftContactSide::Soft(soft.id, FacePoint { nodes: soft.topology.nodes(hit.face), weights })
}

/// Weights of the point touched, exact at corners and edges.
fn clamped(soft: SoftBodySurface, hit: &FaceHit) -> [f64; 3] {
    let corners = soft.deformed.corners(soft.topology, hit.face);
    match hit.feature {
        Feature::Corner(k) => {
            let mut w = [0.0; 3];
            w[k] = 1.0;
            w
        }
        Feature::Edge(k) => {
            let (p, q) = (corners[k], corners[(k + 1) % 3]);
            let t = ((hit.point - p).norm() / (q - p).norm()).clamp(0.0, 1.0);
            let mut w = [0.0; 3];
            (w[k], w[(k + 1) % 3]) = (1.0 - t, t);
            w
        }
        Feature::Face => {
            let w = weights(&hit.point, &corners).unwrap_or([1.0, 0.0, 0.0]).map(|w| w.max(0.0));
            let sum: f64 = w.iter().sum();
            w.map(|w| w / sum)
        }
    }
}

/// The face that vertex `v` of `from` touches on `onto` within `reach` [m], the gap [m] and the unit normal
/// from the face to the vertex.
fn touch(
    from: SoftBodySurface,
    v: usize,
    onto: SoftBodySurface,
    reach: f64,
    is_own: bool,
) -> Option<(FaceHit, f64, Vector3<f64>)> {
    let (p, outward) = (from.deformed.points[v], from.deformed.outward[v]);
    let SoftBodySurface { topology, deformed, .. } = onto;
    let depth = if is_own {
        // A vertex deeper than one cell has not entered from outside.
        (SELF_CONTACT_DEPTH * topology.vertex_thickness[v]).min(topology.ring[v])
    } else if deformed.hull.contains_point(&p) {
        GREATEST_DEPTH * topology.deepest
    } else {
        0.0
    };
    let own = is_own.then_some(v as u32);
    let slack = ABOUT_AS_NEAR * from.topology.ring[v];
    let hit = nearest(onto, &p, &outward, reach.max(depth), slack, own)?;
    let away = p - hit.point;
    let distance = away.norm();
    let side = deformed.side(topology, hit.face, hit.feature);
    let mut gap = if away.dot(&side) < 0.0 { -distance } else { distance };
    let mut normal = deformed.normal_at(topology, hit.face, &clamped(onto, &hit));
    if past_a_crease(topology, &hit) {
        let size = PAST * topology.ring[topology.faces[hit.face as usize][0] as usize];
        let past = if gap > 0.0 { (distance / size).min(1.0) } else { 0.0 };
        gap = away.dot(&normal) * (1.0 - past) + distance * past;
        normal = unit(&(normal * (1.0 - past) + unit(&away) * past));
    }
    let sunk = if is_own {
        depth.min(SELF_CONTACT_DEPTH * topology.thickness[hit.face as usize])
    } else {
        GREATEST_DEPTH * topology.thickness[hit.face as usize]
    };
    if !(gap <= reach && gap >= -sunk) {
        return None;
    }
    (normal != Vector3::zeros()).then_some((hit, gap, normal))
}

/// Whether the point touched lies on a crease, at an edge or a corner.
fn past_a_crease(topology: &SurfaceTopology, hit: &FaceHit) -> bool {
    match hit.feature {
        Feature::Face => false,
        Feature::Edge(k) => !topology.is_smooth(topology.sides[hit.face as usize][k]),
        Feature::Corner(k) => !topology.is_smooth_at(topology.faces[hit.face as usize][k]),
    }
}

/// The point of the surface nearest to `p` within `limit` [m], on faces whose normals are not along
/// `outward` and that are not neighbours of the surface's `own` vertex at rest. A face with a normal
/// against `outward` counts as nearer than one with a normal along it, by up to `slack` [m].
fn nearest(
    onto: SoftBodySurface,
    p: &Vector3<f64>,
    outward: &Vector3<f64>,
    limit: f64,
    slack: f64,
    own: Option<u32>,
) -> Option<FaceHit> {
    let SoftBodySurface { topology, deformed, .. } = onto;
    let mut best: Option<FaceHit> = None;
    // Squared effective distance of the best point, within which a better one may lie.
    let mut bound = (limit + slack).powi(2);
    let skip = |node: usize, volume: &FaceVolume| {
        let centres_at_rest = topology.tree.node_volume(node);
        volume.least_along(outward) > OUTWARD
            || own.is_some_and(|v| topology.all_belong_together(v, centres_at_rest))
    };
    deformed.tree.visit_nearest(p, bound, skip, |face, volume| {
        let normal = deformed.normals[face as usize];
        let out_of_reach = volume.bounds.distance_squared(p) > bound;
        if out_of_reach
            || normal.dot(outward) > OUTWARD
            || normal == Vector3::zeros()
            || own.is_some_and(|v| topology.belong_together(v, face))
        {
            return bound;
        }
        let [a, b, c] = deformed.corners(topology, face);
        let (point, feature) = triangle::nearest(p, &a, &b, &c);
        let distance = (p - point).norm();
        let counted = (distance + 0.5 * slack * (1.0 + normal.dot(outward))).powi(2);
        // Of several faces at one distance, the one with the lowest index is chosen.
        let wins = best.is_none_or(|old| counted < bound || face < old.face);
        if distance <= limit && counted <= bound && wins {
            bound = counted;
            best = Some(FaceHit { face, point, feature });
        }
        bound
    });
    best
}
