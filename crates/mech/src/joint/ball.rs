//! Ball joint: any rotation about the anchor.

use super::JointKind;
use super::joint_model::{AxisFault, JointModel, JointMount};
use super::quaternion;
use crate::spatial::{self, join};
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Ball;

impl JointModel for Ball {
    const NAME: &str = "ball";
    const ABOUT: &str = "any rotation about a point";
    const NQ: usize = 4;
    const NV: usize = 3;
    const QUATERNION: Option<usize> = Some(0);

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        Ok(JointKind::Ball)
    }

    #[inline]
    fn update_frame(
        &self,
        mount: &JointMount,
        q: &[f64],
        X_WB: &mut Isometry3<f64>,
        S: &mut [Vector6<f64>],
        anchor: &mut [Vector3<f64>],
    ) {
        let anchor_W = X_WB.translation.vector + X_WB.rotation * mount.anchor;
        X_WB.rotation *= quaternion::read(q);
        X_WB.translation.vector = anchor_W - X_WB.rotation * mount.anchor;
        let R_WB = X_WB.rotation.to_rotation_matrix().into_inner();
        for k in 0..3 {
            S[k] = join(R_WB.column(k).into(), Vector3::zeros());
        }
        anchor[..3].fill(anchor_W);
    }

    /// The columns are fixed in the child frame. The rate of S v is the same with the velocity of the
    /// parent frame as with that of the child frame, since S v × S v = 0.
    #[inline]
    fn add_velocity(
        &self,
        S: &[Vector6<f64>],
        v: &[f64],
        V: &mut Vector6<f64>,
        bias: &mut Vector6<f64>,
    ) {
        let rate = S[0] * v[0] + S[1] * v[1] + S[2] * v[2];
        *bias += spatial::cross_motion(V, &rate);
        *V += rate;
    }

    #[inline]
    fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        quaternion::integrate(q, v, dt, out);
    }

    #[inline]
    fn difference(&self, from: &[f64], to: &[f64], out: &mut [f64]) {
        quaternion::difference(from, to, out);
    }

    fn reference_coordinates(&self, _reference: f64, _pose: &Isometry3<f64>, q: &mut [f64]) {
        q.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
    }
}
