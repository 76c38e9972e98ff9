//! Contacts of shapes that are not convex: meshes, height fields, compounds, signed distance fields. No shape is replaced by its
//! convex hull.
//!
//! Compounds are handled part by part. Contacts of a triangle surface with a convex shape are in
//! `convex_surface` and `witness`, with a half space in `half_space`, with another surface in
//! `surface_surface` and `surface_intersection`, of signed distance fields in `field`; `reduce` limits the number of points.
//! Closed meshes are solid. Open ones are thin sheets with two sides: they keep a shape on the side on
//! which its centre lies. Height fields are solid below, however deep.

mod candidate;
mod convex_in_surface;
mod convex_surface;
mod edge_separation;
pub(crate) mod field;
mod half_space;
pub(crate) mod point_distance;
mod prism;
mod reduce;
mod surface_intersection;
mod surface_surface;
pub(crate) mod triangle_surface;
mod witness;

use crate::Shape;
use crate::narrow::{self, Manifold, PosedShape};
use crate::shape::{Compound, Mesh};
use candidate::{FeatureKind, NonconvexScratch, feature_id, with_scratch, write_manifold};
use nalgebra::Isometry3;
use std::cmp::Ordering;

/// Writes the contacts within `reach` [m] between two shapes of which at least one is not convex.
pub fn contacts(a: PosedShape, b: PosedShape, reach: f64, manifold: &mut Manifold) {
    match (a.shape, b.shape) {
        (Shape::Compound(parts), _) => compound(parts, a.X_WS, b, true, reach, manifold),
        (_, Shape::Compound(parts)) => compound(parts, b.X_WS, a, false, reach, manifold),
        _ => with_scratch(|scratch| surface_pair(a, b, reach, scratch, manifold)),
    }
}

/// Each part of a compound against the other shape.
fn compound(
    parts: &Compound,
    X_WC: &Isometry3<f64>,
    other: PosedShape,
    is_first: bool,
    reach: f64,
    manifold: &mut Manifold,
) {
    let region = other.shape.bounds(other.X_WS).inflated(reach);
    for (index, (X_CP, shape)) in parts.parts().iter().enumerate() {
        let X_WP = X_WC * X_CP;
        if !shape.bounds(&X_WP).overlaps(&region) {
            continue;
        }
        let part = PosedShape { shape, X_WS: &X_WP };
        let start = manifold.len();
        let (a, b) = if is_first { (part, other) } else { (other, part) };
        narrow::contacts(a, b, reach, manifold);
        // The part's index and which of two compounds it belongs to enter the feature id.
        let part = 2 * index as u32 + u32::from(is_first);
        for touch in &mut manifold.points_mut()[start..] {
            touch.feature = feature_id(FeatureKind::Part, touch.feature, part);
        }
    }
}

/// Two shapes without parts, at least one of them a surface.
fn surface_pair(
    a: PosedShape,
    b: PosedShape,
    reach: f64,
    scratch: &mut NonconvexScratch,
    manifold: &mut Manifold,
) {
    use Shape::{Field, HeightField, Mesh, Plane};
    let X_BA = b.X_WS.inv_mul(a.X_WS);
    let X_AB = X_BA.inverse();
    // Candidates are written in the frame of the shape in the role of the surface.
    let (home, home_is_first) = match (a.shape, b.shape) {
        (Plane, Field(field)) => {
            half_space::find(field.surface(), &X_AB, reach, scratch);
            (a.X_WS, true)
        }
        (Field(field), Plane) => {
            half_space::find(field.surface(), &X_BA, reach, scratch);
            (b.X_WS, false)
        }
        (Field(one), Field(two)) if in_order(one.surface(), two.surface(), &X_BA) => {
            field::find(two, a.shape, &X_BA, reach, scratch);
            return write_manifold(&scratch.candidates, b.X_WS, false, manifold);
        }
        (Field(field), _) => {
            field::find(field, b.shape, &X_AB, reach, scratch);
            return write_manifold(&scratch.candidates, a.X_WS, true, manifold);
        }
        (_, Field(field)) => {
            field::find(field, a.shape, &X_BA, reach, scratch);
            return write_manifold(&scratch.candidates, b.X_WS, false, manifold);
        }
        (Plane, Mesh(mesh)) => {
            half_space::find(mesh, &X_AB, reach, scratch);
            (a.X_WS, true)
        }
        (Mesh(mesh), Plane) => {
            half_space::find(mesh, &X_BA, reach, scratch);
            (b.X_WS, false)
        }
        (Mesh(one), Mesh(two)) if in_order(one, two, &X_BA) => {
            surface_surface::find(&**one, &X_BA, &**two, reach, scratch);
            (b.X_WS, false)
        }
        (Mesh(one), Mesh(two)) => {
            surface_surface::find(&**two, &X_AB, &**one, reach, scratch);
            (a.X_WS, true)
        }
        (Mesh(mesh), HeightField(field)) => {
            surface_surface::find(&**mesh, &X_BA, &**field, reach, scratch);
            (b.X_WS, false)
        }
        (HeightField(field), Mesh(mesh)) => {
            surface_surface::find(&**mesh, &X_AB, &**field, reach, scratch);
            (a.X_WS, true)
        }
        // Height fields and planes do not touch one another.
        (HeightField(_), HeightField(_) | Plane) | (Plane, HeightField(_)) => return,
        (Mesh(mesh), shape) => {
            convex_surface::find(shape, &X_AB, &**mesh, reach, scratch);
            (a.X_WS, true)
        }
        (shape, Mesh(mesh)) => {
            convex_surface::find(shape, &X_BA, &**mesh, reach, scratch);
            (b.X_WS, false)
        }
        (HeightField(field), shape) => {
            convex_surface::find(shape, &X_AB, &**field, reach, scratch);
            (a.X_WS, true)
        }
        (shape, HeightField(field)) => {
            convex_surface::find(shape, &X_BA, &**field, reach, scratch);
            (b.X_WS, false)
        }
        _ => return,
    };
    reduce::reduce(scratch, reach);
    write_manifold(&scratch.candidates, home, home_is_first, manifold);
}

/// Whether the first of two meshes takes the role of A. The choice does not depend on their order, so that
/// the contacts do not either: by the meshes themselves, and for equal ones by their relative position.
fn in_order(one: &Mesh, two: &Mesh, X_21: &Isometry3<f64>) -> bool {
    let key = |mesh: &Mesh| (mesh.triangles().len(), mesh.vertices().len());
    let lengths = |mesh: &Mesh| [mesh.bounding_radius(), mesh.mesh_width()];
    let order = key(one).cmp(&key(two)).then_with(|| {
        let differ = lengths(one).into_iter().zip(lengths(two)).map(|(x, y)| x.total_cmp(&y));
        differ.fold(Ordering::Equal, Ordering::then)
    });
    // Queries of edges go from A to B: from the finer mesh to the coarser one, which is faster.
    order.is_gt()
        || order.is_eq() && {
            let p_12 = X_21.inverse().translation.vector;
            let p_21 = X_21.translation.vector;
            p_12.iter().partial_cmp(p_21.iter()).is_some_and(Ordering::is_le)
        }
}

#[cfg(test)]
mod tests;
