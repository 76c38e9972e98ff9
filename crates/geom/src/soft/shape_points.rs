//! Contacts of points of a rigid shape with faces of a soft surface: corners of boxes, hulls and meshes,
//! the centres of spheres and of the ends of capsules, the support points of curved shapes.
//!
//! A point whose projection lies within a face makes a contact there, with the barycentric weights of the
//! projection. Round points use the face's normal, sharp ones the blended normal, which varies continuously
//! as they slide from face to face. Feature ids are those of the shape's points, so that a sliding point
//! keeps its id.

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::weights;
use super::rigid_contacts::{
    PosedCollider, RigidScratch, SoftBodySurface, SoftFeatureKind, feature_id, significance,
};
use crate::narrow::ConvexCore;
use crate::shape::cuboid;
use crate::{Aabb, Shape};
use nalgebra::Vector3;

/// Least barycentric weight of a projection, for round-off [-].
const ROUND_OFF: f64 = 1e-9;

/// Weight of a corner from which on the vertex itself is the contact [-].
const AT_VERTEX: f64 = 1.0 - 1e-3;

/// Cosine between a shape's outward direction at a point and a face's normal below which they can touch [-].
const FACES: f64 = 0.3;

/// Greatest depth below a face of a sharp point, and of the centre of a round one, as parts of the solid's
/// thickness [-].
const GREATEST_DEPTH: f64 = 0.9;
const GREATEST_CENTRE_DEPTH: f64 = 0.5;

/// Cosine between the normals of two faces above which one point of a shape touches only one of them [-].
const SAME_SIDE: f64 = 0.64;

/// Part of a face's size within which two projections coincide [-].
const SAME_PLACE: f64 = 1e-6;

/// A point of a shape over a face.
#[derive(Clone, Copy, Debug)]
pub struct ShapePoint {
    /// Id of the point within the shape.
    id: u32,
    face: u32,
    /// The point, or the centre of its sphere [m].
    point: Vector3<f64>,
    /// Longest side of the face [m].
    size: f64,
    /// Its projection onto the face [m].
    projection: Vector3<f64>,
    /// Height over the face [m].
    height: f64,
    contact: SoftContact,
}

impl ShapePoint {
    /// Whether it touches one of two faces within `distance` [m] of a point.
    pub fn is_at(&self, faces: &[u32; 2], point: &Vector3<f64>, distance: f64) -> bool {
        faces.contains(&self.face) && (self.projection - point).norm() <= distance
    }
}

/// Writes the contacts of the shape's points with the faces near it.
pub fn find(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    scratch.shape_points.clear();
    for k in 0..scratch.near.len() {
        let face = scratch.near[k];
        let Some(over) = FaceQuery::new(soft, rigid, face, contact_distance, scratch) else {
            continue;
        };
        over.test_points(scratch);
    }
    write_contacts(soft, rigid, scratch);
}

/// One face with the quantities needed to test points against it.
struct FaceQuery<'a> {
    soft: SoftBodySurface<'a>,
    rigid: PosedCollider<'a>,
    face: u32,
    corners: [Vector3<f64>; 3],
    normal: Vector3<f64>,
    contact_distance: f64,
    /// Signed distance of the nearest corner [m], as far as known.
    nearest: f64,
    /// Length of the longest side [m].
    size: f64,
}

impl<'a> FaceQuery<'a> {
    /// The face, unless it is known to be out of reach.
    fn new(
        soft: SoftBodySurface<'a>,
        rigid: PosedCollider<'a>,
        face: u32,
        contact_distance: f64,
        scratch: &RigidScratch,
    ) -> Option<Self> {
        let deformed = soft.deformed;
        let vertices = soft.topology.faces[face as usize];
        let corners = deformed.corners(soft.topology, face);
        let normal = deformed.normals[face as usize];
        let side = |k: usize| (corners[(k + 1) % 3] - corners[k]).norm();
        let size = side(0).max(side(1)).max(side(2));
        let reach = vertices.iter().map(|&v| deformed.reach[v as usize]).fold(0.0, f64::max);
        let distances = vertices.map(|v| scratch.distances[v as usize]);
        // Distances change by no more than the length moved; unknown distances are NaN and ignored by both
        // folds.
        let farthest = distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let contact_distance = contact_distance + reach;
        (normal != Vector3::zeros() && !(farthest - size > contact_distance)).then_some(Self {
            soft,
            rigid,
            face,
            corners,
            normal,
            contact_distance,
            nearest,
            size,
        })
    }

    /// Tests the shape's points against the face.
    fn test_points(&self, scratch: &mut RigidScratch) {
        let PosedCollider { shape, X_WS, .. } = self.rigid;
        let normal_S = self.rigid.local_direction(&self.normal);
        match shape {
            Shape::Sphere { radius } => {
                self.test_round_point(0, X_WS.translation.vector, *radius, scratch)
            }
            Shape::Capsule { radius, half_length } => {
                for (id, end) in [-half_length, *half_length].into_iter().enumerate() {
                    let centre = self.rigid.world(&Vector3::new(0.0, 0.0, end));
                    self.test_round_point(id as u32, centre, *radius, scratch);
                }
            }
            Shape::Box(half) => {
                for k in 0..8 {
                    let corner = cuboid::vertex(half, k);
                    // Scaled so that a corner of a flat box faces along all three of its faces.
                    self.test_sharp_point(
                        k as u32,
                        &corner,
                        &corner.component_div(half),
                        &normal_S,
                        scratch,
                    );
                }
            }
            Shape::Convex(_) | Shape::Cylinder { .. } | Shape::Ellipsoid { .. } => {
                let mut face = std::mem::take(&mut scratch.face);
                face.clear();
                ConvexCore::support_feature(shape, &-normal_S, &mut face);
                for (&id, p) in face.ids.iter().zip(&face.points) {
                    self.test_sharp_point(id, p, &-normal_S, &normal_S, scratch);
                }
                scratch.face = face;
            }
            Shape::Mesh(mesh) => mesh.tree().visit(&self.region(), |t| {
                for v in mesh.triangles()[t as usize] {
                    if mesh.is_exposed(v) {
                        let p = mesh.vertices()[v as usize];
                        let outward =
                            if mesh.is_closed() { mesh.pseudo_normal(v) } else { -normal_S };
                        self.test_sharp_point(v, &p, &outward, &normal_S, scratch);
                    }
                }
            }),
            Shape::HeightField(field) => field.cells_near(&self.region(), |t| {
                for v in field.triangle(t) {
                    if field.is_exposed(v) {
                        self.test_sharp_point(
                            v,
                            &field.vertex(v),
                            &Vector3::z(),
                            &normal_S,
                            scratch,
                        );
                    }
                }
            }),
            Shape::Field(field) => {
                let mesh = field.surface();
                mesh.tree().visit(&self.region(), |t| {
                    for v in mesh.triangles()[t as usize] {
                        if mesh.is_exposed(v) {
                            let (p, outward) = (mesh.vertices()[v as usize], mesh.pseudo_normal(v));
                            self.test_sharp_point(v, &p, &outward, &normal_S, scratch);
                        }
                    }
                });
            }
            Shape::Plane | Shape::Compound(_) => {}
        }
    }

    /// Region in which points of the shape may touch the face, in the shape's frame [m].
    fn region(&self) -> Aabb {
        let depth = self.soft.topology.thickness[self.face as usize].min(self.size);
        let corners = self.corners.map(|p| self.rigid.local(&p));
        Aabb::of_points(corners).inflated(self.contact_distance.max(depth))
    }

    /// A sphere of `radius` [m] about a point in the world.
    fn test_round_point(
        &self,
        id: u32,
        centre: Vector3<f64>,
        radius: f64,
        scratch: &mut RigidScratch,
    ) {
        let thickness = self.soft.topology.thickness[self.face as usize];
        let height = self.normal.dot(&(centre - self.corners[0]));
        if height - radius <= self.contact_distance && height >= -GREATEST_CENTRE_DEPTH * thickness
        {
            self.add_contact(id, centre, radius, height, scratch);
        }
    }

    /// A point of the shape, and the shape's outward direction there, both in its frame.
    fn test_sharp_point(
        &self,
        id: u32,
        p_S: &Vector3<f64>,
        outward_S: &Vector3<f64>,
        normal_S: &Vector3<f64>,
        scratch: &mut RigidScratch,
    ) {
        if !(outward_S.dot(normal_S) <= FACES * outward_S.norm()) {
            return;
        }
        let thickness = self.soft.topology.thickness[self.face as usize];
        let point = self.rigid.world(p_S);
        let height = self.normal.dot(&(point - self.corners[0]));
        if height <= self.contact_distance && height >= -GREATEST_DEPTH * thickness {
            self.add_contact(id, point, 0.0, height, scratch);
        }
    }

    fn add_contact(
        &self,
        id: u32,
        point: Vector3<f64>,
        radius: f64,
        height: f64,
        scratch: &mut RigidScratch,
    ) {
        let SoftBodySurface { topology, deformed, .. } = self.soft;
        let Some(found) = weights(&point, &self.corners) else { return };
        let within = found.iter().all(|w| (-ROUND_OFF..=AT_VERTEX).contains(w));
        let gap = height - radius;
        let deeper = self.nearest - gap;
        let Some(raised) =
            significance(deeper, self.size.min(self.rigid.feature_size())).filter(|_| within)
        else {
            return;
        };
        let mut weights = found.map(|w| w.max(0.0));
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let outward = if radius > 0.0 {
            self.normal
        } else {
            deformed.normal_at(topology, self.face, &weights)
        };
        let soft = FacePoint { nodes: topology.nodes(self.face), weights };
        let on_soft: Vector3<f64> = (0..3).map(|k| self.corners[k] * weights[k]).sum();
        let contact = SoftContact {
            a: SoftContactSide::Rigid(self.rigid.id),
            b: SoftContactSide::Soft(self.soft.id, soft),
            feature: 0,
            point: 0.5 * (on_soft + point - radius * outward),
            normal: -outward,
            gap: gap + raised,
        };
        scratch.shape_points.push(ShapePoint {
            id,
            face: self.face,
            size: self.size,
            point,
            projection: on_soft,
            height,
            contact,
        });
    }
}

/// Assigns feature ids and removes duplicates: a sharp point behind several faces with similar normals
/// touches the nearest, and a point over an edge one of its faces.
fn write_contacts(soft: SoftBodySurface, rigid: PosedCollider, scratch: &mut RigidScratch) {
    let RigidScratch { shape_points, contacts, .. } = scratch;
    shape_points.sort_unstable_by_key(|probe| (probe.id, probe.face));
    shape_points.dedup_by_key(|probe| (probe.id, probe.face));
    for same in shape_points.chunk_by(|one, two| one.id == two.id) {
        let mut kept = 0;
        for probe in same {
            let normal = |probe: &ShapePoint| soft.deformed.normals[probe.face as usize];
            let beats = |other: &ShapePoint| {
                let sunk = other.point == probe.point
                    && probe.height < 0.0
                    && (other.height, probe.face) > (probe.height, other.face);
                let on_edge = other.face < probe.face
                    && (other.projection - probe.projection).norm() <= SAME_PLACE * probe.size;
                other.face != probe.face
                    && (sunk || on_edge)
                    && normal(other).dot(&normal(probe)) > SAME_SIDE
            };
            if same.iter().any(beats) {
                continue;
            }
            // The part's index distinguishes points with the same id.
            let other = rigid.part.wrapping_mul(16).wrapping_add(kept);
            let feature = feature_id(SoftFeatureKind::ShapePoint, probe.id, other);
            contacts.push(SoftContact { feature, ..probe.contact });
            kept += 1;
        }
    }
}
