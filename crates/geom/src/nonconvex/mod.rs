//! Contacts of shapes that are not convex: meshes, height fields, compounds. Nothing is convexified.
//!
//! A compound asks for each of its parts. A surface of triangles meets a convex shape in `core_surface`, a
//! half space in `half_space`, another surface in `surfaces`; many points become few in `reduce`.
//! Closed meshes are solid. Open ones are thin sheets with two sides: they stop a shape on the side on which
//! its centre lies. Height fields are solid below, however deep.

mod core_surface;
mod found;
mod half_space;
pub(crate) mod point;
mod prism;
mod reduce;
pub(crate) mod surface;
mod surfaces;

use crate::Shape;
use crate::narrow::{self, Manifold, Placed};
use crate::shape::Compound;
use found::{Kind, Scratch, deliver, name, with_scratch};
use nalgebra::Isometry3;

/// Writes the contacts within `reach` [m] between two shapes of which at least one is not convex.
pub fn contacts(a: Placed, b: Placed, reach: f64, manifold: &mut Manifold) {
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
    other: Placed,
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
        let part = Placed { shape, X_WS: &X_WP };
        let start = manifold.len();
        let (a, b) = if is_first { (part, other) } else { (other, part) };
        narrow::contacts(a, b, reach, manifold);
        // The part is half of the name; which of two compounds it belongs to is the other half.
        let part = 2 * index as u32 + u32::from(is_first);
        for touch in &mut manifold.touches_mut()[start..] {
            touch.feature = name(Kind::Part, touch.feature, part);
        }
    }
}

/// Two shapes without parts, at least one of them a surface.
fn surface_pair(a: Placed, b: Placed, reach: f64, scratch: &mut Scratch, manifold: &mut Manifold) {
    use Shape::{HeightField, Mesh, Plane};
    let X_BA = b.X_WS.inv_mul(a.X_WS);
    let X_AB = X_BA.inverse();
    // What is found is written in the frame of the shape that plays the surface.
    let (home, home_is_first) = match (a.shape, b.shape) {
        (Plane, Mesh(mesh)) => {
            half_space::find(mesh, &X_AB, reach, scratch);
            (a.X_WS, true)
        }
        (Mesh(mesh), Plane) => {
            half_space::find(mesh, &X_BA, reach, scratch);
            (b.X_WS, false)
        }
        (Mesh(one), Mesh(two)) => {
            surfaces::find(&**one, &X_BA, &**two, reach, scratch);
            (b.X_WS, false)
        }
        (Mesh(mesh), HeightField(field)) => {
            surfaces::find(&**mesh, &X_BA, &**field, reach, scratch);
            (b.X_WS, false)
        }
        (HeightField(field), Mesh(mesh)) => {
            surfaces::find(&**mesh, &X_AB, &**field, reach, scratch);
            (a.X_WS, true)
        }
        // Ground does not meet ground.
        (HeightField(_), HeightField(_) | Plane) | (Plane, HeightField(_)) => return,
        (Mesh(mesh), shape) => {
            core_surface::find(shape, &X_AB, &**mesh, reach, scratch);
            (a.X_WS, true)
        }
        (shape, Mesh(mesh)) => {
            core_surface::find(shape, &X_BA, &**mesh, reach, scratch);
            (b.X_WS, false)
        }
        (HeightField(field), shape) => {
            core_surface::find(shape, &X_AB, &**field, reach, scratch);
            (a.X_WS, true)
        }
        (shape, HeightField(field)) => {
            core_surface::find(shape, &X_BA, &**field, reach, scratch);
            (b.X_WS, false)
        }
        _ => return,
    };
    reduce::reduce(scratch, reach);
    deliver(&scratch.found, home, home_is_first, manifold);
}

#[cfg(test)]
mod tests;
