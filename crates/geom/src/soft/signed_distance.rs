//! Signed distance of a point of a soft surface from a rigid shape, with its gradient: for every shape.
//!
//! Closed deformed where there are any, hulls by their faces, meshes by [`crate::sdf`], height fields by the cells
//! around. All in the shape's frame S. Inside a box, a cylinder or a hull the way out does not lead along
//! the outward normal of the soft surface, unless it is much shorter: what a thin plate presses on leaves it
//! on the side on which it came. Compounds are asked part by part, elsewhere.

use crate::Shape;
use crate::nonconvex::point_distance;
use crate::nonconvex::triangle_surface::TriangleSurface;
use crate::shape::{HeightField, Mesh};
use nalgebra::Vector3;

/// Cosine between a soft surface's outward normal and a direction from which that direction leads along
/// the surface's own outside [-].
pub const ALONG: f64 = 0.5;

/// How many times longer a way out that does not lead along the soft surface's outside may be [-].
const DETOUR: f64 = 4.0;

/// A distance and the direction in which it grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Distance [m], negative inside.
    pub distance: f64,
    /// Unit direction in which it grows, outward [-].
    pub gradient: Vector3<f64>,
}

/// Signed distance of `p` [m] from the shape; `outward` is the outward normal of the soft surface there, or zero.
/// `None` if it is known to be beyond `reach` [m], or for a compound.
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
            if nearest.gradient.dot(outward) < ALONG || nearest.distance >= 0.0 {
                return Some(nearest);
            }
            Some(choose(nearest, way(&|n| n.dot(outward) < ALONG)))
        }
        Shape::Cylinder { radius, half_length } => {
            let nearest = shape.nearest(p)?;
            let nearest = SignedDistance { distance: nearest.distance, gradient: nearest.normal };
            if nearest.gradient.dot(outward) < ALONG || nearest.distance >= 0.0 {
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

/// The open way out, unless the nearest is much shorter.
fn choose(nearest: SignedDistance, open: Option<SignedDistance>) -> SignedDistance {
    open.filter(|open| open.distance >= DETOUR * nearest.distance).unwrap_or(nearest)
}

/// The shortest way out of a cylinder that does not lead along `outward`.
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
        .filter(|way| way.gradient.dot(outward) < ALONG)
        .max_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Closed meshes have an inside; a sheet is touched on the side towards which the soft surface looks.
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

/// Over the field the nearest point counts, below it too as long as it lies close by; deeper down, the
/// cell above does. Beside the field there is no ground.
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
        // Near the border the way out must not lead sideways.
        Some(_) if field.triangle_under(on.x - away.x, on.y - away.y).is_none() => plane,
        Some(_) => Some(SignedDistance { distance: -distance, gradient: -away / distance }),
    }
}
