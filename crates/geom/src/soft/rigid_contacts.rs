//! Contacts of a soft surface with one rigid shape.
//!
//! First the vertices: each within reach makes a contact along the gradient of the shape's signed distance.
//! They are all that a shape that is large beside the triangles needs. Then, for the triangles near it, the
//! shape's own points over their faces (`shape_points`) and its crossings of their edges (`edge_contacts`), in so far as
//! these reach deeper than the vertices around: by less than a small part of the triangle's size they are
//! left out, and from there on they come in evenly, so that nothing jumps (`significance`).

use super::contact::{FacePoint, SoftContact, SoftContactSide};
use super::deformed_surface::DeformedSurface;
use super::shape_points::{self, ShapePoint};
use super::signed_distance::{self, ALONG, SignedDistance};
use super::surface_topology::SurfaceTopology;
use super::{SoftSurfaceId, edge_contacts};
use crate::narrow::SupportFeature;
use crate::{Aabb, ColliderId, Shape};
use nalgebra::{Isometry3, Vector3};

/// Part of the size of a face or an edge, or of the shape if that is smaller, by which a point in it must reach
/// deeper than its corners for them not to stand for it [-]. At twice of it, it counts in full.
const REPRESENTED: f64 = 0.01;

/// A soft surface in its present form.
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
    /// Which part of a compound it is.
    pub part: u32,
}

/// What kind of feature touches, for names.
#[derive(Clone, Copy, Debug)]
pub enum SoftFeatureKind {
    /// A vertex of a soft surface.
    Vertex = 0,
    /// A point of a rigid shape on a soft face.
    ShapePoint = 1,
    /// An edge of a soft surface.
    Edge = 2,
}

/// A name of 32 bits, as good as unique: two bits of kind, 22 of the element, 8 of what is left.
pub fn feature_id(kind: SoftFeatureKind, element: u32, other: u32) -> u32 {
    (kind as u32) << 30 | (element & 0x3F_FFFF) << 8 | (other & 0xFF)
}

/// Memory for the contacts of one surface with one shape.
#[derive(Clone, Debug, Default)]
pub struct RigidScratch {
    /// Faces near the shape.
    pub near: Vec<u32>,
    /// Vertices of these faces.
    touched: Vec<u32>,
    /// When a vertex and an edge were last touched.
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
    /// Memory for surfaces of at most so many vertices and edges.
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
    /// Size [m] of the finest features of the shape that a soft surface feels.
    pub fn grain(&self) -> f64 {
        match self.shape {
            Shape::Box(half) => half.min(),
            Shape::Capsule { radius, .. } | Shape::Sphere { radius } => *radius,
            Shape::Cylinder { radius, half_length } => radius.min(*half_length),
            Shape::Ellipsoid { radii } => radii.min(),
            Shape::Mesh(mesh) => mesh.mesh_width(),
            Shape::HeightField(field) => field.spacing().0.min(field.spacing().1),
            Shape::Convex(hull) => 0.5 * hull.bounds(&Isometry3::identity()).size().min(),
            Shape::Compound(_) | Shape::Plane => f64::INFINITY,
        }
    }

    /// A point of the world in the shape's frame [m].
    pub fn local(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.X_WS.rotation.inverse_transform_vector(&(p - self.X_WS.translation.vector))
    }

    /// A direction of the world in the shape's frame.
    pub fn turned(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.X_WS.rotation.inverse_transform_vector(direction)
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
        let found =
            signed_distance::signed(self.shape, &self.local(p), &self.turned(outward), reach)?;
        Some(SignedDistance { gradient: self.X_WS.rotation * found.gradient, ..found })
    }
}

/// Writes the contacts within `wanted` [m], to which the reach of the vertices is added.
pub fn find(soft: SoftBodySurface, rigid: PosedCollider, wanted: f64, work: &mut RigidScratch) {
    match rigid.shape {
        Shape::Compound(compound) => {
            for (index, (X_CP, shape)) in compound.parts().iter().enumerate() {
                let X_WP = rigid.X_WS * X_CP;
                if near(soft, &shape.bounds(&X_WP), wanted) {
                    // Parts of parts share a name with them; it only has to tell points apart.
                    let part = rigid.part.wrapping_mul(31).wrapping_add(index as u32 + 1);
                    find(soft, PosedCollider { shape, X_WS: &X_WP, part, ..rigid }, wanted, work);
                }
            }
        }
        Shape::Plane => half_space(soft, rigid, wanted, work),
        _ => bounded(soft, rigid, wanted, work),
    }
}

/// Whether a soft surface comes within reach of a box.
pub fn near(soft: SoftBodySurface, bounds: &Aabb, wanted: f64) -> bool {
    soft.deformed.hull.inflated(wanted + soft.deformed.farthest).overlaps(bounds)
}

/// A face is deepest at a vertex, so that vertices are all a half space needs.
fn half_space(soft: SoftBodySurface, rigid: PosedCollider, wanted: f64, work: &mut RigidScratch) {
    let gradient = rigid.X_WS.rotation * Vector3::z();
    let height = gradient.dot(&rigid.X_WS.translation.vector);
    for (v, p) in soft.deformed.points.iter().enumerate() {
        let distance = gradient.dot(p) - height;
        vertex(soft, rigid, v, SignedDistance { distance, gradient }, wanted, work);
    }
}

fn bounded(soft: SoftBodySurface, rigid: PosedCollider, wanted: f64, work: &mut RigidScratch) {
    let SoftBodySurface { topology, deformed, .. } = soft;
    work.mark += 1;
    work.near.clear();
    work.touched.clear();
    let region = rigid.shape.bounds(rigid.X_WS).inflated(wanted + deformed.farthest);
    topology.tree.visit(&deformed.regions, &deformed.bounds, &region, |face| work.near.push(face));
    for &face in &work.near {
        for v in topology.faces[face as usize] {
            if std::mem::replace(&mut work.vertex_marks[v as usize], work.mark) != work.mark {
                work.touched.push(v);
            }
        }
    }
    for k in 0..work.touched.len() {
        let v = work.touched[k] as usize;
        let limit = wanted + deformed.reach[v];
        let found = rigid.signed(&deformed.points[v], &deformed.outward[v], limit);
        let unknown = SignedDistance { distance: f64::NAN, gradient: Vector3::zeros() };
        let SignedDistance { distance, gradient } = found.unwrap_or(unknown);
        (work.distances[v], work.gradients[v]) = (distance, gradient);
        if let Some(found) = found {
            vertex(soft, rigid, v, found, wanted, work);
        }
    }
    shape_points::find(soft, rigid, wanted, work);
    edge_contacts::find(soft, rigid, wanted, work);
}

fn vertex(
    soft: SoftBodySurface,
    rigid: PosedCollider,
    v: usize,
    found: SignedDistance,
    wanted: f64,
    work: &mut RigidScratch,
) {
    let SignedDistance { distance, gradient } = found;
    let deformed = soft.deformed;
    // A vertex that looks away and is clear of the shape belongs to the far side of the body.
    let looks_away = gradient.dot(&deformed.outward[v]) > ALONG && distance > 0.0;
    if !(distance <= wanted + deformed.reach[v]) || looks_away {
        return;
    }
    let node = soft.topology.vertices[v];
    work.contacts.push(SoftContact {
        a: SoftContactSide::Rigid(rigid.id),
        b: SoftContactSide::Soft(soft.id, FacePoint::vertex(node)),
        feature: feature_id(SoftFeatureKind::Vertex, node, rigid.part),
        point: deformed.points[v] - gradient * (0.5 * distance),
        normal: gradient,
        gap: distance,
    });
}

/// By how much [m] the gap of a point that reaches `deeper` [m] than the corners around it is raised, at the
/// size [m] of its face or edge; `None` if the corners stand for it.
pub fn significance(deeper: f64, size: f64) -> Option<f64> {
    let tolerance = REPRESENTED * size;
    if deeper < tolerance {
        return None;
    }
    // At the tolerance it asks for no more than the corners do.
    Some((2.0 * tolerance - deeper).max(0.0))
}
