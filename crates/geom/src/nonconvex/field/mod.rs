//! Contacts of signed distance fields: with other fields, meshes, height fields and convex shapes.
//!
//! The triangles of one surface are tested against the distance from the other shape, both ways where sizes differ little
//! ([`surface_contacts`]). Points of triangles are moved onto the exact surface of their own field, so that gaps do not have the error of
//! the triangles. A ball is tested against the field itself; other convex shapes by the triangles of the field,
//! by their own lowest point in it and by the corners of their own features.

mod cluster;
mod convex_minimum;
mod distance_field;
mod near_triangles;
mod raw_points;
mod surface_contacts;
mod triangle_minimum;
mod vertex_samples;

use super::candidate::{ContactCandidate, FeatureKind, NonconvexScratch, feature_id};
use super::{reduce, surface_surface};
use crate::field::Field;
use crate::narrow::{ConvexCore, PosedShape};
use crate::shape::Mesh;
use crate::{Aabb, Shape};
use convex_minimum::ConvexMinimum;
use distance_field::{ConvexDistance, DistanceField, MeshDistanceField};
use nalgebra::{Isometry3, Point3, Vector3};
use surface_contacts::SurfaceSide;
pub use surface_contacts::{SurfaceMemory, SurfacePoint};

/// Most contacts of a pair with a field.
pub const MOST_CONTACTS: usize = 120;
/// Ratio of the sizes of two shapes up to which both are tested against each other [-].
const SIMILAR: f64 = 8.0;
/// Most directions in which features of a convex shape are looked at.
const DIRECTIONS: usize = 8;
/// Depth by which the lowest point of a convex shape lies below all contacts at triangles to be one too, relative to the size of
/// the shape [-].
const LOWER: f64 = 0.02;
/// Cosine of the angle between directions that count as one [-].
const SAME_DIRECTION: f64 = 0.999;

/// Finds the contacts within `reach` [m] of a field with another shape at `X_FS`, in the frame of the field in the role of B.
/// False if the pair is one of a surface of triangles and must be handled as such.
pub fn find(
    field: &Field,
    other: &Shape,
    X_FS: &Isometry3<f64>,
    reach: f64,
    scratch: &mut NonconvexScratch,
) -> bool {
    match other {
        Shape::Sphere { radius } => {
            ball(field, &X_FS.translation.vector, *radius, reach, scratch);
            return true;
        }
        Shape::Field(two) => surfaces(
            (field.surface(), Some(field), field),
            (two.surface(), Some(two), &**two),
            X_FS,
            reach,
            scratch,
        ),
        // The exact distance from a mesh is slow: its own triangles suffice where they are the finer ones.
        Shape::Mesh(mesh) if mesh.is_closed() && is_coarse(mesh, field.surface()) => surfaces(
            (field.surface(), Some(field), field),
            (mesh, None, &MeshDistanceField(mesh)),
            X_FS,
            reach,
            scratch,
        ),
        Shape::Mesh(mesh) => {
            let side = SurfaceSide { mesh, own: None, pass: 0 };
            against_field(&side, X_FS, field, reach, scratch);
        }
        Shape::HeightField(ground) => {
            // The ground is the surface B there; candidates are written in its frame.
            surface_surface::find(field.surface(), &X_FS.inverse(), &**ground, reach, scratch);
            for found in &mut scratch.candidates {
                found.on_B = (X_FS * Point3::from(found.on_A())).coords;
                found.normal = -(X_FS.rotation * found.normal);
            }
        }
        Shape::Plane | Shape::Compound(_) => return false,
        _ => convex(field, other, X_FS, reach, scratch),
    }
    reduce::corners_of_faces(scratch, reach);
    cluster::thin(scratch, MOST_CONTACTS, field.bounding_radius());
    true
}

fn is_coarse(mesh: &Mesh, other: &Mesh) -> bool {
    mesh.mesh_width() > other.mesh_width()
}

/// A ball touches at every point of the surface that is locally nearest to its centre.
fn ball(
    field: &Field,
    centre: &Vector3<f64>,
    radius: f64,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    field.touches(centre, radius + reach, &mut scratch.touches);
    for touch in &scratch.touches {
        scratch.candidates.push(ContactCandidate {
            feature: feature_id(FeatureKind::FieldFace, touch.feature, 0),
            on_B: centre - touch.distance * touch.normal,
            normal: touch.normal,
            gap: touch.distance - radius,
            clear: touch.distance - radius,
            over: None,
            at: 0,
        });
    }
}

type Side<'a, D> = (&'a Mesh, Option<&'a Field>, &'a D);

/// Two surfaces, each with the distance from its solid: the second against the first, and the other way round unless the first is much
/// larger.
fn surfaces<A: DistanceField, B: DistanceField>(
    one: Side<A>,
    two: Side<B>,
    X_12: &Isometry3<f64>,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let sizes = (one.0.bounding_radius(), two.0.bounding_radius());
    if sizes.1 <= SIMILAR * sizes.0 {
        let side = SurfaceSide { mesh: two.0, own: two.1, pass: 0 };
        against_field(&side, X_12, one.2, reach, scratch);
    }
    if sizes.0 <= SIMILAR * sizes.1 {
        let side = SurfaceSide { mesh: one.0, own: one.1, pass: 1 };
        field_side(&side, X_12, two.2, reach, scratch);
    }
}

/// The triangles of the other shape against the field of B.
fn against_field(
    side: &SurfaceSide,
    X_FS: &Isometry3<f64>,
    field: &impl DistanceField,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let mut found = std::mem::take(&mut scratch.surface_points);
    surface_contacts::find(side, X_FS, field, reach, &mut scratch.surface_memory, &mut found);
    scratch.candidates.extend(found.iter().map(
        |&SurfacePoint { feature, point, normal, gap, .. }| {
            let on_B = point - gap * normal;
            ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None, at: 0 }
        },
    ));
    scratch.surface_points = found;
}

/// The triangles of the field against the distance from the other shape, which is at `X_FS`.
fn field_side(
    side: &SurfaceSide,
    X_FS: &Isometry3<f64>,
    other: &impl DistanceField,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let mut found = std::mem::take(&mut scratch.surface_points);
    let X_SF = X_FS.inverse();
    surface_contacts::find(side, &X_SF, other, reach, &mut scratch.surface_memory, &mut found);
    scratch.candidates.extend(found.iter().map(
        |&SurfacePoint { feature, point, normal, gap, .. }| {
            let on_B = (X_FS * Point3::from(point)).coords;
            let normal = -(X_FS.rotation * normal);
            ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None, at: 0 }
        },
    ));
    scratch.surface_points = found;
}

/// A convex shape: the triangles of the field against its distance, its lowest point in the field unless they are as low, then
/// the corners of its features that face them.
fn convex(
    field: &Field,
    shape: &Shape,
    X_FS: &Isometry3<f64>,
    reach: f64,
    scratch: &mut NonconvexScratch,
) {
    let bounds = shape.bounds(&Isometry3::identity());
    let side = SurfaceSide { mesh: field.surface(), own: Some(field), pass: 1 };
    field_side(&side, X_FS, &ConvexDistance { shape, bounds }, reach, scratch);
    lowest_point(field, shape, X_FS, reach, &mut scratch.candidates);
    let mut directions = [Vector3::zeros(); DIRECTIONS];
    let mut count = 0;
    for found in &scratch.candidates {
        let known = directions[..count].iter().any(|n| n.dot(&found.normal) > SAME_DIRECTION);
        if !known && count < DIRECTIONS {
            directions[count] = found.normal;
            count += 1;
        }
    }
    let mut face = std::mem::take(&mut scratch.face);
    let start = scratch.candidates.len();
    for n in &directions[..count] {
        let towards = X_FS.rotation.inverse_transform_vector(&-n);
        face.clear();
        ConvexCore::support_feature(shape, &towards, &mut face);
        for (id, p) in face.ids.iter().zip(&face.points) {
            let feature = feature_id(FeatureKind::FieldVertex, *id, 2);
            if scratch.candidates[start..].iter().any(|known| known.feature == feature) {
                continue;
            }
            let p_F = (X_FS * Point3::from(*p)).coords;
            let Some((distance, normal)) = field.sample(&p_F).to_surface() else { continue };
            let gap = distance - shape.radius();
            if gap <= reach && normal.dot(n) > 0.0 {
                let on_B = p_F - distance * normal;
                let at =
                    ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None, at: 0 };
                scratch.candidates.push(at);
            }
        }
    }
    scratch.face = face;
}

/// The lowest point of a convex shape in the field, where it is clearly lower than all contacts at triangles.
fn lowest_point(
    field: &Field,
    shape: &Shape,
    X_FS: &Isometry3<f64>,
    reach: f64,
    candidates: &mut Vec<ContactCandidate>,
) {
    let ConvexMinimum { point, sample } = convex_minimum::of(shape, X_FS, field);
    let Some((distance, normal)) = sample.to_surface() else { return };
    let gap = distance - shape.radius();
    let least = candidates.iter().map(|known| known.gap).fold(reach, f64::min);
    if gap > least || gap > least - LOWER * shape.bounding_radius() && !candidates.is_empty() {
        return;
    }
    let feature = feature_id(FeatureKind::FieldFace, 0, 2);
    let on_B = point - distance * normal;
    candidates.push(ContactCandidate { feature, on_B, normal, gap, clear: gap, over: None, at: 0 });
}

/// Least gap [m] between two shapes of which at least one is a field, if it is at most `reach` [m].
pub fn least_gap(
    a: PosedShape,
    b: PosedShape,
    reach: f64,
    manifold: &mut crate::narrow::Manifold,
) -> Option<f64> {
    manifold.clear();
    crate::narrow::contacts(a, b, reach, manifold);
    let gaps = manifold.points().iter().map(|point| point.gap);
    gaps.min_by(f64::total_cmp)
}

/// Region around the solid of a distance in its own frame [m].
fn around(bounds: &Aabb, reach: f64) -> Aabb {
    bounds.inflated(reach.max(0.0))
}
