//! Quaternions in coordinate arrays: (w, x, y, z), exponential and logarithm.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Reads a rotation from four numbers and normalizes it.
#[inline]
pub(crate) fn read(q: &[f64]) -> UnitQuaternion<f64> {
    let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    let inverse = 1.0 / length;
    UnitQuaternion::new_unchecked(Quaternion::new(
        q[0] * inverse,
        q[1] * inverse,
        q[2] * inverse,
        q[3] * inverse,
    ))
}

/// Writes a rotation.
#[inline]
pub(crate) fn write(rotation: &UnitQuaternion<f64>, q: &mut [f64]) {
    q[0] = rotation.w;
    q[1] = rotation.i;
    q[2] = rotation.j;
    q[3] = rotation.k;
}

/// The rotation by the vector `phi` [rad].
///
/// The vector part is φ sin(|φ|/2)/|φ|; where |φ| is small its series 1/2 − |φ|²/48 is exact to
/// round-off.
#[inline]
pub(crate) fn exp(phi: &Vector3<f64>) -> Quaternion<f64> {
    let squared = phi.norm_squared();
    let (w, factor) = if squared < SMALL_SQUARED {
        (1.0 - squared / 8.0, 0.5 - squared / 48.0)
    } else {
        let angle = squared.sqrt();
        let (sin, cos) = (0.5 * angle).sin_cos();
        (cos, sin / angle)
    };
    Quaternion::new(w, factor * phi.x, factor * phi.y, factor * phi.z)
}

/// The neglected terms, of order |φ|⁴/384 and |φ|⁴/10, are below the unit round-off.
const SMALL_SQUARED: f64 = 1e-8;

/// The rotation vector [rad], of length no more than π.
#[inline]
pub(crate) fn log(rotation: &UnitQuaternion<f64>) -> Vector3<f64> {
    let vector = Vector3::new(rotation.i, rotation.j, rotation.k);
    let sign = if rotation.w < 0.0 { -1.0 } else { 1.0 };
    let (sin, cos) = (vector.norm(), sign * rotation.w);
    // 2 atan2(s, c)/s with s small: 2/c − 2 s²/(3 c³), and c = 1 − s²/2 there.
    let factor =
        if sin * sin < SMALL_SQUARED { 2.0 + sin * sin / 3.0 } else { 2.0 * sin.atan2(cos) / sin };
    sign * factor * vector
}

/// `out = q exp(dt ω)`, ω in the child's frame, normalized.
#[inline]
pub(crate) fn integrate(q: &[f64], w: &[f64], dt: f64, out: &mut [f64]) {
    let phi = Vector3::new(dt * w[0], dt * w[1], dt * w[2]);
    let next = Quaternion::new(q[0], q[1], q[2], q[3]) * exp(&phi);
    write(&read(&[next.w, next.i, next.j, next.k]), out);
}

/// `out = log(from⁻¹ to)`, in the child's frame.
#[inline]
pub(crate) fn difference(from: &[f64], to: &[f64], out: &mut [f64]) {
    let phi = log(&(read(from).inverse() * read(to)));
    out[0] = phi.x;
    out[1] = phi.y;
    out[2] = phi.z;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_and_logarithm_are_inverse_at_every_angle() {
        let axis = Vector3::new(0.48, -0.6, 0.64);
        for angle in [0.0, 1e-200, 1e-12, 1e-5, 3.0e-4, 3.3e-4, 1e-2, 1.0, 3.0, 3.1] {
            let phi = angle * axis;
            let back = log(&UnitQuaternion::new_unchecked(exp(&phi)));
            // Near π the sine carries the angle's information with a factor of order one.
            assert!((back - phi).norm() <= 8.0 * f64::EPSILON * angle, "{angle}: {back:?}");
        }
        let beyond = log(&UnitQuaternion::new_unchecked(exp(&(4.0 * axis))));
        let short = (4.0 - std::f64::consts::TAU) * axis;
        assert!((beyond - short).norm() <= 1e-14);
    }
}
