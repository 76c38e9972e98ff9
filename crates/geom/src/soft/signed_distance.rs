//! Signed distance of a point of a soft surface from any rigid shape, with its gradient.
//!
//! Closed forms where there are any, hulls by their faces, meshes by [`crate::sdf`], height fields by the
//! nearby cells. All quantities are in the shape's frame S. Inside a box, a cylinder or a hull the exit is
//! not along the outward normal of the soft surface, unless that exit is much shorter: a surface pressed by
//! a thin plate leaves it on the side on which it entered. Compounds are handled part by part in
//! `rigid_contacts`.

use crate::Shape;
use crate::nonconvex::point_distance;
use crate::nonconvex::triangle_surface::TriangleSurface;
use crate::shape::{HeightField, Mesh};
use nalgebra::Vector3;

/// Cosine between a soft surface's outward normal and a direction above which the direction counts as
/// outward [-].
pub const OUTWARD: f64 = 0.5;

/// Most ratio of the length of an exit that is not outward to that of the shortest exit [-].
const DETOUR: f64 = 4.0;

/// A signed distance and its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Distance [m], negative inside.
    pub distance: f64,
    /// Unit gradient, outward [-].
    pub gradient: Vector3<f64>,
}

/// Signed distance of `p` [m] from the shape; `outward` is the outward normal of the soft surface there, or
/// zero. `None` if it is known to be beyond `reach` [m], or for a compound.
pub fn signed(
    shape: &Shape,
    p: &Vector3<f64>,
    outward: &Vector3<f64>,
    reach: f64,
) -> Option<SignedDistance> {
    match shape {
        Shape::Box(_) | Shape::Convex(_) => {
            let way = |open: &dyn Fn(&Vector3<f64>) -> bool| {
                let found = point_distance::signed_distance(shape, p, open);
                found.map(|(distance, gradient)| SignedDistance { distance, gradient })
            };
            let nearest = way(&|_| true)?;
            if nearest.gradient.dot(outward) < OUTWARD || nearest.distance >= 0.0 {
                return Some(nearest);
            }
            Some(choose(nearest, way(&|n| n.dot(outward) < OUTWARD)))
        }
        Shape::Cylinder { radius, half_length } => {
            let nearest = shape.nearest(p)?;
            let nearest = SignedDistance { distance: nearest.distance, gradient: nearest.normal };
            if nearest.gradient.dot(outward) < OUTWARD || nearest.distance >= 0.0 {
                return Some(nearest);
            }
            Some(choose(nearest, out_of_cylinder(*radius, *half_length, p, outward)))
        }
        Shape::Mesh(mesh) => in_mesh(mesh, p, outward, reach),
        Shape::HeightField(field) => over_field(field, p, reach),
        _ => shape
            .nearest(p)
            .map(|near| SignedDistance { distance: near.distance, gradient: near.normal }),
    }
}

/// The admissible exit, unless the shortest is much shorter.
fn choose(nearest: SignedDistance, open: Option<SignedDistance>) -> SignedDistance {
    open.filter(|open| open.distance >= DETOUR * nearest.distance).unwrap_or(nearest)
}

/// The shortest exit of a cylinder that is not along `outward`.
fn out_of_cylinder(
    radius: f64,
    half_length: f64,
    p: &Vector3<f64>,
    outward: &Vector3<f64>,
) -> Option<SignedDistance> {
    let across = p.x.hypot(p.y);
    let radial = if across > 0.0 { Vector3::new(p.x, p.y, 0.0) / across } else { Vector3::x() };
    let up = Vector3::z();
    [(across - radius, radial), (p.z - half_length, up), (-p.z - half_length, -up)]
        .into_iter()
        .map(|(distance, gradient)| SignedDistance { distance, gradient })
        .filter(|way| way.gradient.dot(outward) < OUTWARD)
        .max_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Closed meshes have an inside; a sheet is touched on the side that the soft surface faces.
fn in_mesh(
    mesh: &Mesh,
    p: &Vector3<f64>,
    outward: &Vector3<f64>,
    reach: f64,
) -> Option<SignedDistance> {
    let bounds = mesh.local_bounds();
    if !bounds.inflated(reach).contains_point(p) {
        return None;
    }
    let within = mesh.is_closed() && bounds.contains_point(p);
    let found = mesh.signed_distance(p, if within { f64::INFINITY } else { reach })?;
    let flipped = !mesh.is_closed() && mesh.normal(found.nearest.triangle).dot(outward) > 0.0;
    let sign = if flipped { -1.0 } else { 1.0 };
    Some(SignedDistance { distance: sign * found.distance, gradient: sign * found.gradient })
}

/// Above the field, and slightly below it, the nearest point gives the distance; deeper below, the plane of
/// the cell above does. Outside the field's rectangle there is no solid.
fn over_field(field: &HeightField, p: &Vector3<f64>, reach: f64) -> Option<SignedDistance> {
    let width = TriangleSurface::mesh_width(field);
    let below = TriangleSurface::inside(field, p);
    if let Some((depth, _, normal)) = below.filter(|&(depth, _, _)| depth > width) {
        return Some(SignedDistance { distance: -depth, gradient: normal });
    }
    let limit = below.map_or(reach, |(depth, _, _)| depth * (1.0 + 1e-9));
    let plane =
        below.map(|(depth, _, normal)| SignedDistance { distance: -depth, gradient: normal });
    let Some((on, t, _)) = TriangleSurface::nearest(field, p, limit) else { return plane };
    let away = p - on;
    let distance = away.norm();
    let edge = 1e-12 * width;
    if distance <= edge {
        return Some(SignedDistance { distance: 0.0, gradient: TriangleSurface::normal(field, t) });
    }
    match below {
        None => Some(SignedDistance { distance, gradient: away / distance }),
        // Near the border the exit must not be sideways.
        Some(_) if field.triangle_under(on.x - away.x, on.y - away.y).is_none() => plane,
        Some(_) => Some(SignedDistance { distance: -distance, gradient: -away / distance }),
    }
}
