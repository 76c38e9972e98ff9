//! What every kind of joint can do, and the two motions of which all are made.
//!
//! A joint moves the frame B of its body. Its velocities multiply columns S: spatial velocities
//! (angular first, world axes) taken at a point of the world that the joint names.

use super::JointKind;
use crate::spatial;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3, Vector6};

/// How a joint sits in its body.
pub(crate) struct JointMount {
    /// Point of the body that rotations leave in place [m].
    pub(crate) anchor: Vector3<f64>,
    /// Value of each scalar coordinate at the reference configuration.
    pub(crate) reference: f64,
}

/// What can be wrong with a joint's own numbers.
pub(crate) enum AxisFault {
    /// An axis has no direction.
    NoDirection([f64; 3]),
    /// Two axes that must differ are parallel.
    Parallel([[f64; 3]; 2]),
    /// A pitch is no number.
    Pitch(f64),
}

/// Sine of the angle below which two axes count as parallel.
pub(crate) const PARALLEL_SINE: f64 = 1e-6;

/// The direction of an axis.
pub(crate) fn unit_axis(axis: Vector3<f64>) -> Result<Vector3<f64>, AxisFault> {
    let length = axis.norm();
    if length > f64::MIN_POSITIVE.sqrt() && length.is_finite() {
        Ok(axis / length)
    } else {
        Err(AxisFault::NoDirection(axis.into()))
    }
}

/// A kind of joint. All slices are the joint's own.
pub(crate) trait JointModel {
    /// Name, as in `JOINTS`.
    const NAME: &str;
    /// One line about it.
    const ABOUT: &str;
    /// Number of coordinates.
    const NQ: usize;
    /// Number of velocities.
    const NV: usize;
    /// Place of a quaternion among the coordinates.
    const QUATERNION: Option<usize> = None;
    /// Whether limits make sense for it.
    const MAY_BE_LIMITED: bool = true;

    /// The same joint with axes of length one.
    fn normalized(&self) -> Result<JointKind, AxisFault>;

    /// Moves the frame `X_WB` and writes the column `S` of each velocity, taken at `anchor`.
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
    /// As written here each column is fixed in the frame that the columns before it have moved, so
    /// that its rate is V × S [Featherstone08, Ch. 2].
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

    /// Coordinates at which the body stands at its declared `pose`.
    fn reference_coordinates(&self, reference: f64, _pose: &Isometry3<f64>, q: &mut [f64]) {
        q.fill(reference);
    }
}

/// Turns the frame by `angle` [rad] about the unit `axis` (body frame) through `anchor` and moves
/// it by `along` [m] on that axis. Returns the axis and the anchor in the world.
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

/// Moves the frame by `distance` [m] along the unit `axis` (body frame). Returns the axis in the
/// world.
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
