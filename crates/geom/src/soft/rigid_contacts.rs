//! Contacts of a soft surface with one rigid shape.
//!
//! First the vertices: each within reach makes a contact along the gradient of the shape's signed distance.
//! They suffice for a shape that is large compared with the triangles. Then, for the triangles near it, the
//! shape's own points over their faces (`shape_points`) and its crossings of their edges (`edge_contacts`),
//! if these are deeper than the adjacent vertices: below a small part of the triangle's size they are
//! omitted, and beyond it they are introduced continuously (`significance`).

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::DeformedSurface;
use super::shape_points::{self, ShapePoint};
use super::signed_distance::{self, OUTWARD, SignedDistance};
use super::surface_topology::SurfaceTopology;
use super::{SoftSurfaceId, edge_contacts};
use crate::narrow::SupportFeature;
use crate::{Aabb, ColliderId, Shape};
use nalgebra::{Isometry3, Vector3};

/// Part of the size of a face or an edge, or of the shape if that is smaller, by which a point in it must
/// be deeper than its corners to make a contact of its own [-]. At twice this depth, its gap is exact.
const REPRESENTED: f64 = 0.01;

/// A soft surface in its deformed configuration.
#[derive(Clone, Copy)]
pub struct SoftBodySurface<'a> {
    pub id: SoftSurfaceId,
    pub topology: &'a SurfaceTopology,
    pub deformed: &'a DeformedSurface,
}

/// A rigid shape at its pose.
#[derive(Clone, Copy)]
pub struct PosedCollider<'a> {
    pub id: ColliderId,
    pub shape: &'a Shape,
    pub X_WS: &'a Isometry3<f64>,
    /// Index of the part of a compound; 0 otherwise.
    pub part: u32,
}

/// Kind of the feature that touches, part of the feature id.
#[derive(Clone, Copy, Debug)]
pub enum SoftFeatureKind {
    /// A vertex of a soft surface.
    Vertex = 0,
    /// A point of a rigid shape on a soft face.
    ShapePoint = 1,
    /// An edge of a soft surface.
    Edge = 2,
}

/// Feature id of 32 bits, practically unique: two bits of kind, 22 of the element, 8 of the rest.
pub fn feature_id(kind: SoftFeatureKind, element: u32, other: u32) -> u32 {
    (kind as u32) << 30 | (element & 0x3F_FFFF) << 8 | (other & 0xFF)
}

/// Scratch memory for the contacts of one surface with one shape.
#[derive(Clone, Debug, Default)]
pub struct RigidScratch {
    /// Faces near the shape.
    pub near: Vec<u32>,
    /// Vertices of these faces.
    touched: Vec<u32>,
    /// Value of `mark` when a vertex and an edge were last visited.
    vertex_marks: Vec<u64>,
    pub edge_marks: Vec<u64>,
    pub mark: u64,
    /// Signed distances [m] of the touched vertices and their gradients in the world; not a number if
    /// unknown.
    pub distances: Vec<f64>,
    pub gradients: Vec<Vector3<f64>>,
    pub shape_points: Vec<ShapePoint>,
    pub face: SupportFeature,
    pub contacts: Vec<SoftContact>,
}

impl RigidScratch {
    /// Scratch memory for surfaces of at most so many vertices and edges.
    pub fn new(vertices: usize, edges: usize) -> Self {
        Self {
            vertex_marks: vec![0; vertices],
            edge_marks: vec![0; edges],
            distances: vec![f64::NAN; vertices],
            gradients: vec![Vector3::zeros(); vertices],
            ..Self::default()
        }
    }
}

impl PosedCollider<'_> {
    /// Size [m] of the finest features of the shape.
    pub fn feature_size(&self) -> f64 {
        match self.shape {
            Shape::Box(half) => half.min(),
            Shape::Capsule { radius, .. } | Shape::Sphere { radius } => *radius,
            Shape::Cylinder { radius, half_length } => radius.min(*half_length),
            Shape::Ellipsoid { radii } => radii.min(),
            Shape::Field(field) => field.surface().mesh_width(),
            Shape::Mesh(mesh) => mesh.mesh_width(),
            Shape::HeightField(field) => field.spacing().0.min(field.spacing().1),
            Shape::Convex(hull) => 0.5 * hull.bounds(&Isometry3::identity()).size().min(),
            Shape::Compound(_) | Shape::Plane => f64::INFINITY,
        }
    }

    /// A point of the world in the shape's frame [m].
    pub fn local(&self, p_W: &Vector3<f64>) -> Vector3<f64> {
        self.X_WS.rotation.inverse_transform_vector(&(p_W - self.X_WS.translation.vector))
    }

    /// A direction of the world in the shape's frame.
    pub fn local_direction(&self, d_W: &Vector3<f64>) -> Vector3<f64> {
        self.X_WS.rotation.inverse_transform_vector(d_W)
    }

    /// A point of the shape's frame in the world [m].
    pub fn world(&self, p_S: &Vector3<f64>) -> Vector3<f64> {
        self.X_WS.rotation * p_S + self.X_WS.translation.vector
    }

    /// Signed distance of the point `p` of a soft surface with this outward normal, in the world.
    pub fn signed(
        &self,
        p: &Vector3<f64>,
        outward: &Vector3<f64>,
        reach: f64,
    ) -> Option<SignedDistance> {
        let found = signed_distance::signed(
            self.shape,
            &self.local(p),
            &self.local_direction(outward),
            reach,
        )?;
        Some(SignedDistance { gradient: self.X_WS.rotation * found.gradient, ..found })
    }
}

/// Writes the contacts within `contact_distance` [m], to which the reach of the vertices is added.
pub fn find(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    match rigid.shape {
        Shape::Compound(compound) => {
            for (index, (X_CP, shape)) in compound.parts().iter().enumerate() {
                let X_WP = rigid.X_WS * X_CP;
                if near(soft, &shape.bounds(&X_WP), contact_distance) {
                    // Indices of nested parts are combined; they only have to distinguish points.
                    let part = rigid.part.wrapping_mul(31).wrapping_add(index as u32 + 1);
                    find(
                        soft,
                        PosedCollider { shape, X_WS: &X_WP, part, ..rigid },
                        contact_distance,
                        scratch,
                    );
                }
            }
        }
        Shape::Plane => half_space(soft, rigid, contact_distance, scratch),
        _ => bounded(soft, rigid, contact_distance, scratch),
    }
}

/// Whether a soft surface is within reach of a box.
pub fn near(soft: SoftBodySurface, bounds: &Aabb, contact_distance: f64) -> bool {
    soft.deformed.hull.inflated(contact_distance + soft.deformed.farthest).overlaps(bounds)
}

/// A face is deepest at a vertex, so that vertices suffice for a half space.
fn half_space(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    let gradient = rigid.X_WS.rotation * Vector3::z();
    let height = gradient.dot(&rigid.X_WS.translation.vector);
    for (v, p) in soft.deformed.points.iter().enumerate() {
        let distance = gradient.dot(p) - height;
        vertex(soft, rigid, v, SignedDistance { distance, gradient }, contact_distance, scratch);
    }
}

fn bounded(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    let SoftBodySurface { topology, deformed, .. } = soft;
    scratch.mark += 1;
    scratch.near.clear();
    scratch.touched.clear();
    let region = rigid.shape.bounds(rigid.X_WS).inflated(contact_distance + deformed.farthest);
    deformed.tree.visit(&region, |face| scratch.near.push(face));
    for &face in &scratch.near {
        for v in topology.faces[face as usize] {
            if std::mem::replace(&mut scratch.vertex_marks[v as usize], scratch.mark)
                != scratch.mark
            {
                scratch.touched.push(v);
            }
        }
    }
    for k in 0..scratch.touched.len() {
        let v = scratch.touched[k] as usize;
        let limit = contact_distance + deformed.reach[v];
        let found = rigid.signed(&deformed.points[v], &deformed.outward[v], limit);
        let unknown = SignedDistance { distance: f64::NAN, gradient: Vector3::zeros() };
        let SignedDistance { distance, gradient } = found.unwrap_or(unknown);
        (scratch.distances[v], scratch.gradients[v]) = (distance, gradient);
        if let Some(found) = found {
            vertex(soft, rigid, v, found, contact_distance, scratch);
        }
    }
    shape_points::find(soft, rigid, contact_distance, scratch);
    edge_contacts::find(soft, rigid, contact_distance, scratch);
}

fn vertex(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    v: usize,
    found: SignedDistance,
    contact_distance: f64,
    scratch: &mut RigidScratch,
) {
    let SignedDistance { distance, gradient } = found;
    let deformed = soft.deformed;
    // A vertex that faces away and is clear of the shape belongs to the far side of the body.
    let looks_away = gradient.dot(&deformed.outward[v]) > OUTWARD && distance > 0.0;
    if !(distance <= contact_distance + deformed.reach[v]) || looks_away {
        return;
    }
    let node = soft.topology.vertices[v];
    scratch.contacts.push(SoftContact {
        a: SoftContactSide::Rigid(rigid.id),
        b: SoftContactSide::Soft(soft.id, FacePoint::vertex(node)),
        feature: feature_id(SoftFeatureKind::Vertex, node, rigid.part),
        point: deformed.points[v] - gradient * (0.5 * distance),
        normal: gradient,
        gap: distance,
    });
}

/// Increase [m] of the gap of a point that is `deeper` [m] than the corners around it, for a face or edge
/// of this size [m]; `None` if the contacts of the corners suffice.
pub fn significance(deeper: f64, size: f64) -> Option<f64> {
    let tolerance = REPRESENTED * size;
    if deeper < tolerance {
        return None;
    }
    // At the tolerance its gap equals that of the corners.
    Some((2.0 * tolerance - deeper).max(0.0))
}
