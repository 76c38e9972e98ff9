//! The interface of a joint kind, and the rotation and translation of which all kinds are composed.
//!
//! A joint moves the frame B of its body. Its velocities multiply columns S: spatial velocities
//! (angular first, world axes) taken at an anchor point that the joint returns.

use super::JointKind;
use crate::spatial;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3, Vector6};

/// Placement of a joint in its body and the zero of its coordinates.
pub(crate) struct JointMount {
    /// Centre of rotation [m], body frame.
    pub(crate) anchor: Vector3<f64>,
    /// Value of each scalar coordinate at the reference configuration.
    pub(crate) reference: f64,
}

/// Why the parameters of a joint kind are invalid.
pub(crate) enum AxisFault {
    /// An axis has zero or non-finite length.
    NoDirection([f64; 3]),
    /// Two axes are parallel that must not be.
    Parallel([[f64; 3]; 2]),
    /// A pitch is not finite.
    Pitch(f64),
}

/// Sine of the angle below which two axes count as parallel.
pub(crate) const PARALLEL_SINE: f64 = 1e-6;

/// The axis, normalized.
pub(crate) fn unit_axis(axis: Vector3<f64>) -> Result<Vector3<f64>, AxisFault> {
    let length = axis.norm();
    if length > f64::MIN_POSITIVE.sqrt() && length.is_finite() {
        Ok(axis / length)
    } else {
        Err(AxisFault::NoDirection(axis.into()))
    }
}

/// A kind of joint. All slices are those of the joint.
pub(crate) trait JointModel {
    /// Name, as in `JOINTS`.
    const NAME: &str;
    /// One-line description.
    const ABOUT: &str;
    /// Number of coordinates.
    const NQ: usize;
    /// Number of velocities.
    const NV: usize;
    /// Index of the quaternion among the coordinates, if there is one.
    const QUATERNION: Option<usize> = None;
    /// Whether this kind supports limits.
    const MAY_BE_LIMITED: bool = true;

    /// The same joint with unit axes.
    fn normalized(&self) -> Result<JointKind, AxisFault>;

    /// Moves the frame `X_WB` and writes the column `S` of each velocity, taken at `anchor`; both in
    /// the world frame.
    fn update_frame(
        &self,
        mount: &JointMount,
        q: &[f64],
        X_WB: &mut Isometry3<f64>,
        S: &mut [Vector6<f64>],
        anchor: &mut [Vector3<f64>],
    );

    /// `V += S v` and `bias += Ṡ v`, with V the velocity of the frame before the joint on entry.
    ///
    /// The default implementation assumes that each column is fixed in the frame moved by the columns
    /// before it, so that its rate is V × S [Featherstone08, Ch. 2].
    #[inline]
    fn add_velocity(
        &self,
        S: &[Vector6<f64>],
        v: &[f64],
        V: &mut Vector6<f64>,
        bias: &mut Vector6<f64>,
    ) {
        for k in 0..Self::NV {
            let rate = S[k] * v[k];
            *bias += spatial::cross_motion(V, &rate);
            *V += rate;
        }
    }

    /// `out = q ⊕ dt v`.
    #[inline]
    fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        for k in 0..Self::NV {
            out[k] = q[k] + dt * v[k];
        }
    }

    /// `out = to ⊖ from`.
    #[inline]
    fn difference(&self, from: &[f64], to: &[f64], out: &mut [f64]) {
        for k in 0..Self::NV {
            out[k] = to[k] - from[k];
        }
    }

    /// Writes the coordinates at which the body has its declared `pose`.
    fn reference_coordinates(&self, reference: f64, _pose: &Isometry3<f64>, q: &mut [f64]) {
        q.fill(reference);
    }
}

/// Rotates the frame by `angle` [rad] about the unit `axis` through `anchor` (both in the body frame)
/// and translates it by `along` [m] on that axis. Returns the axis and the anchor in the world frame.
#[inline]
pub(crate) fn rotate_frame(
    X_WB: &mut Isometry3<f64>,
    axis: &Vector3<f64>,
    anchor: &Vector3<f64>,
    angle: f64,
    along: f64,
) -> (Vector3<f64>, Vector3<f64>) {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let rotation = Quaternion::new(cos, sin * axis.x, sin * axis.y, sin * axis.z);
    let axis_W = X_WB.rotation * axis;
    let mut anchor_W = X_WB.translation.vector + X_WB.rotation * anchor;
    anchor_W += along * axis_W;
    X_WB.rotation *= UnitQuaternion::new_unchecked(rotation);
    X_WB.translation.vector = anchor_W - X_WB.rotation * anchor;
    (axis_W, anchor_W)
}

/// Translates the frame by `distance` [m] along the unit `axis` (body frame). Returns the axis in the
/// world frame.
#[inline]
pub(crate) fn translate_frame(
    X_WB: &mut Isometry3<f64>,
    axis: &Vector3<f64>,
    distance: f64,
) -> Vector3<f64> {
    let axis_W = X_WB.rotation * axis;
    X_WB.translation.vector += distance * axis_W;
    axis_W
}
