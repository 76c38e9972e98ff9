//! The points of a field's surface that are locally nearest to a point outside: what a ball there may touch.
//!
//! A ball in a corner touches the wall and the floor; the value of the field knows the nearer one alone, and a solver that sees them in
//! turn lets the ball rattle. Unions are searched part by part, profiles edge by edge; points inside another part are
//! left out.

use super::{Field, FieldSolid};
use nalgebra::{Point3, Vector3};

/// A point of the surface that is locally nearest.
#[derive(Clone, Copy, Debug)]
pub struct FieldTouch {
    /// Identity within the field.
    pub feature: u32,
    /// Distance [m].
    pub distance: f64,
    /// Unit normal, outward.
    pub normal: Vector3<f64>,
}

/// Part of the size by which a point of a part may lie inside another and still touch [-].
const SHARED: f64 = 1e-9;

impl Field {
    /// Writes the points of the surface that are locally nearest to `p` [m] within `limit` [m], at least the nearest one.
    pub fn touches(&self, p: &Vector3<f64>, limit: f64, found: &mut Vec<FieldTouch>) {
        found.clear();
        let Some((distance, normal)) = self.sample(p).to_surface() else { return };
        if distance > limit {
            return;
        }
        if distance > 0.0 {
            collect(self.solid(), p, limit, 0, found);
            let slack = SHARED * self.bounding_radius() + self.error_bound();
            found.retain(|touch| {
                let on = p - touch.distance * touch.normal;
                // A tangent plane of a wall that surrounds the axis passes before or at the wall.
                touch.distance >= distance - slack && self.value(&on) >= -slack
            });
        }
        let is_nearest = |t: &FieldTouch| t.distance <= distance + 1e-6 * distance.abs();
        if !found.iter().any(is_nearest) {
            found.push(FieldTouch { feature: 0, distance, normal });
        }
    }
}

fn collect(
    solid: &FieldSolid,
    p: &Vector3<f64>,
    limit: f64,
    first: u32,
    found: &mut Vec<FieldTouch>,
) {
    match solid {
        FieldSolid::Revolve(profile) => profile.visit_nearest(p, limit, |id, distance, normal| {
            found.push(FieldTouch { feature: first.wrapping_add(1 + id), distance, normal });
        }),
        FieldSolid::Placed(pose, inner) => {
            let start = found.len();
            let local = pose.inverse_transform_point(&Point3::from(*p)).coords;
            collect(inner, &local, limit, first, found);
            found[start..].iter_mut().for_each(|touch| touch.normal = pose.rotation * touch.normal);
        }
        FieldSolid::Union { parts, smooth: 0.0 } => {
            for (k, part) in parts.iter().enumerate() {
                collect(part, p, limit, first.wrapping_add((k as u32 + 1) << 16), found);
            }
        }
        FieldSolid::Difference { from, without, smooth: 0.0 } => {
            collect(from, p, limit, first, found);
            if let Some((distance, normal)) = without.sample(p).to_surface() {
                let (distance, normal) = (-distance, -normal);
                if distance > 0.0 && distance <= limit {
                    found.push(FieldTouch {
                        feature: first.wrapping_add(1 << 24),
                        distance,
                        normal,
                    });
                }
            }
        }
        _ => {
            if let Some((distance, normal)) = solid.sample(p).to_surface()
                && distance > 0.0
                && distance <= limit
            {
                found.push(FieldTouch { feature: first.wrapping_add(1), distance, normal });
            }
        }
    }
}
