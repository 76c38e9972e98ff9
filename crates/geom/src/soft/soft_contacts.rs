//! Contacts of soft surfaces with one another and with themselves: vertices against faces, both ways.
//!
//! A vertex asks for the nearest face that does not look its own way; of faces that are about as near, as they
//! are at the edges of blocks that lie face to face, for the one that looks most against it. Whether it lies
//! outside or inside is told by the pseudo-normal of the nearest feature [Baerentzen05, Theorem 1]; it counts
//! as inside as long as it has not sunk deeper than the solid there is thick. The normal is blended over the
//! faces, so that it turns evenly, except past a crease, where it turns to the direction between the two
//! points on a way much shorter than an edge: at no distance there is no direction.
//! Two edges that cross between their ends are not looked for: their ends' faces are near.

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::{unit, weights};
use super::rigid_contacts::{SoftBodySurface, SoftFeatureKind, feature_id};
use super::signed_distance::ALONG;
use super::surface_topology::SurfaceTopology;
use super::tree::Region;
use crate::Aabb;
use crate::shape::triangle::{self, Feature};
use nalgebra::Vector3;

/// Part of the solid's thickness down to which a vertex of another surface counts as inside [-].
const SUNK: f64 = 0.9;

/// The same for a surface with itself: beyond, the vertex may be one of the other side.
const SUNK_IN_ITSELF: f64 = 0.5;

/// Parts of the size of the edges around: up to which distances count as equal, and from which on the direction
/// past a crease is that between the two points [-].
const ABOUT_AS_NEAR: f64 = 1e-3;
const PAST: f64 = 1e-3;

/// The face that a vertex touches.
#[derive(Clone, Copy, Debug)]
struct FaceHit {
    face: u32,
    point: Vector3<f64>,
    feature: Feature,
}

/// Memory for pairs of surfaces.
#[derive(Clone, Debug, Default)]
pub struct SoftPairScratch {
    /// For each vertex of the first surface, the vertex of the second at which it touches, if it is one.
    partners: Vec<u32>,
}

/// Writes the contacts within `wanted` [m] of two different surfaces, to which the reaches of both are added.
pub fn find(
    a: SoftBodySurface,
    b: SoftBodySurface,
    wanted: f64,
    work: &mut SoftPairScratch,
    contacts: &mut Vec<SoftContact>,
) {
    work.partners.clear();
    work.partners.resize(a.topology.vertices.len(), u32::MAX);
    for (from, onto) in [(a, b), (b, a)] {
        let region =
            onto.deformed.hull.inflated(wanted + onto.deformed.farthest + from.deformed.farthest);
        for v in 0..from.topology.vertices.len() {
            if !region.contains_point(&from.deformed.points[v]) {
                continue;
            }
            let reach = wanted + onto.deformed.farthest + from.deformed.reach[v];
            let Some((hit, gap, normal)) = touch(from, v, onto, reach, false) else { continue };
            if let Feature::Corner(k) = hit.feature {
                // Two vertices that touch each other are found from both sides: once is enough.
                let other = onto.topology.faces[hit.face as usize][k];
                if from.id == a.id {
                    work.partners[v] = other;
                } else if work.partners[other as usize] == v as u32 {
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

/// Writes the contacts within `wanted` [m] of a surface with itself, to which its reach is added twice.
pub fn find_own(
    soft: SoftBodySurface,
    wanted: f64,
    work: &mut SoftPairScratch,
    contacts: &mut Vec<SoftContact>,
) {
    work.partners.clear();
    work.partners.resize(soft.topology.vertices.len(), u32::MAX);
    for v in 0..soft.topology.vertices.len() {
        let reach = wanted + soft.deformed.farthest + soft.deformed.reach[v];
        let Some((hit, gap, normal)) = touch(soft, v, soft, reach, true) else { continue };
        if let Feature::Corner(k) = hit.feature {
            let other = soft.topology.faces[hit.face as usize][k];
            if (other as usize) < v && work.partners[other as usize] == v as u32 {
                continue;
            }
            work.partners[v] = other;
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

/// The face that vertex `v` of `from` touches on `onto` within `reach` [m], the gap [m] and the unit normal from
/// the face to the vertex.
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
        // Deeper than a cell the vertex is none of those that came from outside.
        (SUNK_IN_ITSELF * topology.vertex_thickness[v]).min(topology.ring[v])
    } else if deformed.hull.contains_point(&p) {
        SUNK * topology.deepest
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
        depth.min(SUNK_IN_ITSELF * topology.thickness[hit.face as usize])
    } else {
        SUNK * topology.thickness[hit.face as usize]
    };
    if !(gap <= reach && gap >= -sunk) {
        return None;
    }
    (normal != Vector3::zeros()).then_some((hit, gap, normal))
}

/// Whether the point touched lies on an edge or at a corner that is a crease.
fn past_a_crease(topology: &SurfaceTopology, hit: &FaceHit) -> bool {
    match hit.feature {
        Feature::Face => false,
        Feature::Edge(k) => !topology.is_smooth(topology.sides[hit.face as usize][k]),
        Feature::Corner(k) => !topology.is_smooth_at(topology.faces[hit.face as usize][k]),
    }
}

/// The point of the surface nearest to `p` within `limit` [m], on faces that do not look along `outward` and do
/// not belong together with the surface's `own` vertex. A face that looks against `outward` counts as nearer than
/// one that looks along it, by up to `slack` [m].
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
    // The distance that counts of the best, squared, and that within which a face may be better.
    let mut bound = (limit + slack).powi(2);
    let skip = |region: &Region, centres: &Aabb| {
        region.least_along(outward) > ALONG
            || own.is_some_and(|v| topology.all_belong_together(v, centres))
    };
    topology.tree.visit_nearest(&deformed.regions, p, skip, bound, |face| {
        let normal = deformed.normals[face as usize];
        let out_of_reach = deformed.bounds[face as usize].distance_squared(p) > bound;
        if out_of_reach
            || normal.dot(outward) > ALONG
            || normal == Vector3::zeros()
            || own.is_some_and(|v| topology.belong_together(v, face))
        {
            return bound;
        }
        let [a, b, c] = deformed.corners(topology, face);
        let (point, feature) = triangle::nearest(p, &a, &b, &c);
        let distance = (p - point).norm();
        let counted = (distance + 0.5 * slack * (1.0 + normal.dot(outward))).powi(2);
        // Of several faces at one distance the first by number is chosen.
        let wins = best.is_none_or(|old| counted < bound || face < old.face);
        if distance <= limit && counted <= bound && wins {
            bound = counted;
            best = Some(FaceHit { face, point, feature });
        }
        bound
    });
    best
}
