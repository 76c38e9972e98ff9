//! Free joint: any motion of a body whose parent is the world; its coordinates are its pose.

use super::JointKind;
use super::ball::Ball;
use super::joint_model::{AxisFault, JointModel, JointMount};
use super::quaternion;
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Free;

impl JointModel for Free {
    const NAME: &str = "free";
    const ABOUT: &str = "any motion of a body whose parent is the world";
    const NQ: usize = 7;
    const NV: usize = 6;
    const QUATERNION: Option<usize> = Some(3);
    const MAY_BE_LIMITED: bool = false;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        Ok(JointKind::Free)
    }

    #[inline]
    fn update_frame(
        &self,
        _mount: &JointMount,
        q: &[f64],
        X_WB: &mut Isometry3<f64>,
        S: &mut [Vector6<f64>],
        anchor: &mut [Vector3<f64>],
    ) {
        let origin = Vector3::new(q[0], q[1], q[2]);
        X_WB.translation.vector = origin;
        X_WB.rotation = quaternion::read(&q[3..7]);
        let R_WB = X_WB.rotation.to_rotation_matrix().into_inner();
        for k in 0..3 {
            S[k] = Vector6::zeros();
            S[k][3 + k] = 1.0;
            S[3 + k] = join(R_WB.column(k).into(), Vector3::zeros());
        }
        anchor[..6].fill(origin);
    }

    /// The translation has constant columns, the world axes; the rotation acts in the translated
    /// frame.
    #[inline]
    fn add_velocity(
        &self,
        S: &[Vector6<f64>],
        v: &[f64],
        V: &mut Vector6<f64>,
        bias: &mut Vector6<f64>,
    ) {
        V[3] += v[0];
        V[4] += v[1];
        V[5] += v[2];
        Ball.add_velocity(&S[3..6], &v[3..6], V, bias);
    }

    #[inline]
    fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        for k in 0..3 {
            out[k] = q[k] + dt * v[k];
        }
        quaternion::integrate(&q[3..7], &v[3..6], dt, &mut out[3..7]);
    }

    #[inline]
    fn difference(&self, from: &[f64], to: &[f64], out: &mut [f64]) {
        for k in 0..3 {
            out[k] = to[k] - from[k];
        }
        quaternion::difference(&from[3..7], &to[3..7], &mut out[3..6]);
    }

    fn reference_coordinates(&self, _reference: f64, pose: &Isometry3<f64>, q: &mut [f64]) {
        q[..3].copy_from_slice(pose.translation.vector.as_slice());
        quaternion::write(&pose.rotation, &mut q[3..7]);
    }
}
