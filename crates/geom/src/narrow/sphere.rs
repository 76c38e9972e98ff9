//! A sphere against any shape for which [`crate::Shape::nearest`] has a closed form: one point.

use super::{Manifold, PosedShape};
use crate::shape::SurfaceDistance;
use nalgebra::Vector3;

/// Writes the contact of a sphere of `radius` [m] at `centre` [m] (A) with `b`, if within `reach` [m].
///
/// Returns false, and writes nothing, if B has no closed form.
pub fn contact(
    centre: &Vector3<f64>,
    radius: f64,
    b: PosedShape,
    reach: f64,
    manifold: &mut Manifold,
) -> bool {
    let p_S = b.X_WS.rotation.inverse_transform_vector(&(centre - b.X_WS.translation.vector));
    let Some(SurfaceDistance { distance, normal }) = b.shape.nearest(&p_S) else {
        return false;
    };
    let gap = distance - radius;
    if gap <= reach {
        let normal = -(b.X_WS.rotation * normal);
        manifold.push(0, centre + (radius + 0.5 * gap) * normal, normal, gap);
    }
    true
}

/// Two spheres; the contact [midpoint, normal, gap] or `None` if farther apart than `reach` [m].
///
/// Concentric spheres have the normal z.
#[inline]
pub fn two(
    (p_A, r_A): (&Vector3<f64>, f64),
    (p_B, r_B): (&Vector3<f64>, f64),
    reach: f64,
) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
    let between = p_B - p_A;
    let (square, most) = (between.norm_squared(), r_A + r_B + reach);
    if !(square <= most * most) || most < 0.0 {
        return None;
    }
    let distance = square.sqrt();
    let normal = if distance > 0.0 { between / distance } else { Vector3::z() };
    let gap = distance - r_A - r_B;
    Some((p_A + (r_A + 0.5 * gap) * normal, normal, gap))
}
