//! Implicit gyroscopic forces of free bodies.

use nalgebra::{Matrix3, Vector3};
use stiction_math::spatial;

/// Newton steps for the rotation of a free body.
const GYROSCOPIC_STEPS: usize = 6;

/// Replaces the explicit gyroscopic impulse −h ω₀ × I ω₀ in the impulses `b` of a free body by the
/// implicit one of its free rotation: ω solves `I (ω − ω₀) + h ω × I ω = 0`, in the body's frame.
/// Torques do not enter: constraints may balance them, and then the rotation that torques alone would
/// cause does not occur.
pub(super) fn replace_gyroscopic(mass: &[f64], v: &[f64], h: f64, b: &mut [f64]) {
    let I = Matrix3::from_fn(|i, j| mass[(3 + i) * 6 + 3 + j]);
    let start = Vector3::new(v[3], v[4], v[5]);
    let explicit = start.cross(&(I * start));
    if explicit == Vector3::zeros() {
        return;
    }
    let mut w = start;
    for _ in 0..GYROSCOPIC_STEPS {
        let L = I * w;
        let error = L - I * start + h * w.cross(&L);
        if error.norm() <= 4.0 * f64::EPSILON * L.norm() {
            break;
        }
        let slope = I + h * (spatial::skew(w) * I - spatial::skew(L));
        let Some(inverse) = slope.try_inverse() else { return };
        w -= inverse * error;
    }
    let change = I * (w - start) + h * explicit;
    if change.iter().all(|x| x.is_finite()) {
        for k in 0..3 {
            b[3 + k] += change[k];
        }
    }
}
