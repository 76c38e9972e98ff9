//! Spatial vectors as pairs of 3-vectors, inlined into the recursions.
//!
//! The same algebra as `stiction_math::spatial` [Featherstone08, Ch. 2], angular part first, in a
//! form that the compiler inlines and vectorizes, because the recursions spend most of their time
//! here.

use nalgebra::{Vector3, Vector6};
use stiction_math::spatial::Inertia10;

/// The angular part.
#[inline(always)]
pub(crate) fn angular(v: &Vector6<f64>) -> Vector3<f64> {
    Vector3::new(v[0], v[1], v[2])
}

/// The linear part.
#[inline(always)]
pub(crate) fn linear(v: &Vector6<f64>) -> Vector3<f64> {
    Vector3::new(v[3], v[4], v[5])
}

/// The spatial vector with the given angular and linear parts.
#[inline(always)]
pub(crate) fn join(angular: Vector3<f64>, linear: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}

/// v × m.
#[inline(always)]
pub(crate) fn cross_motion(v: &Vector6<f64>, m: &Vector6<f64>) -> Vector6<f64> {
    let (w, u, m_w, m_u) = (angular(v), linear(v), angular(m), linear(m));
    join(w.cross(&m_w), w.cross(&m_u) + u.cross(&m_w))
}

/// v ×* f.
#[inline(always)]
pub(crate) fn cross_force(v: &Vector6<f64>, f: &Vector6<f64>) -> Vector6<f64> {
    let (w, u, torque, force) = (angular(v), linear(v), angular(f), linear(f));
    join(w.cross(&torque) + u.cross(&force), w.cross(&force))
}

/// Inertia times a motion vector.
#[inline(always)]
pub(crate) fn apply(inertia: &Inertia10, v: &Vector6<f64>) -> Vector6<f64> {
    let [xx, yy, zz, xy, xz, yz] = inertia.rotational;
    let (w, u, h) = (angular(v), linear(v), inertia.moment);
    let rotational = Vector3::new(
        xx * w.x + xy * w.y + xz * w.z,
        xy * w.x + yy * w.y + yz * w.z,
        xz * w.x + yz * w.y + zz * w.z,
    );
    join(rotational + h.cross(&u), inertia.mass * u - h.cross(&w))
}

/// Shifts a motion vector to the point at `arm` [m] from the point at which `v` is taken.
#[inline(always)]
pub(crate) fn motion_at(v: &Vector6<f64>, arm: &Vector3<f64>) -> Vector6<f64> {
    let w = angular(v);
    join(w, linear(v) + w.cross(arm))
}
