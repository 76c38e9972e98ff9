//! The point at which a ray meets the surface of a field, by sphere tracing [Hart96].
//!
//! The value divided by the Lipschitz bound is a step that cannot pass the surface. A ray that runs along a surface needs
//! many steps; where they are used up, the point is accepted if it is near the surface.

use super::Field;
use crate::{Ray, RayHit};

const MOST_STEPS: usize = 512;
/// Part of the size at which the surface counts as met [-].
const MET: f64 = 1e-12;
/// Part of the size up to which a point is accepted after the last step [-].
const NEARLY_MET: f64 = 1e-6;

impl Field {
    /// The point at which a ray first meets the surface within `limit` [m], from outside or from inside.
    pub fn cast(&self, ray: &Ray, limit: f64) -> Option<RayHit> {
        let size = self.bounding_radius();
        // Start and end at the bounds.
        let bounds = self.local_bounds().inflated(MET * size);
        let (mut start, mut end) = (0.0_f64, limit);
        for k in 0..3 {
            let (x, d) = (ray.origin[k], ray.direction[k]);
            if d == 0.0 {
                if !(bounds.min[k] <= x && x <= bounds.max[k]) {
                    return None;
                }
                continue;
            }
            let (one, two) = ((bounds.min[k] - x) / d, (bounds.max[k] - x) / d);
            (start, end) = (start.max(one.min(two)), end.min(one.max(two)));
        }
        let mut s = start;
        let side = if self.value(&ray.at(s)) < 0.0 { -1.0 } else { 1.0 };
        for step in 0..MOST_STEPS {
            if !(s <= end) {
                return None;
            }
            let found = self.sample(&ray.at(s));
            let left = side * found.value;
            let near = if step + 1 == MOST_STEPS { NEARLY_MET } else { MET };
            if left <= near * size {
                let (_, normal) = found.to_surface()?;
                // Leaving along the surface is not meeting it.
                let closing = -side * normal.dot(&ray.direction);
                if closing > 0.0 || step > 0 {
                    return Some(RayHit { distance: s, normal });
                }
            }
            s += (left / self.lipschitz()).max(MET * size);
        }
        None
    }
}
