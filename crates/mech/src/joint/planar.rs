//! Planar joint: translation along two directions of a plane, then rotation about its normal.

use super::JointKind;
use super::joint_model::{
    AxisFault, JointModel, JointMount, PARALLEL_SINE, rotate_frame, translate_frame, unit_axis,
};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Planar {
    pub(crate) normal: Vector3<f64>,
    /// Perpendicular to the normal.
    pub(crate) x: Vector3<f64>,
}

impl JointModel for Planar {
    const NAME: &str = "planar";
    const ABOUT: &str = "translation in a plane and rotation about its normal";
    const NQ: usize = 3;
    const NV: usize = 3;
    const MAY_BE_LIMITED: bool = false;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        let (normal, given) = (unit_axis(self.normal)?, unit_axis(self.x)?);
        let in_plane = given - given.dot(&normal) * normal;
        if in_plane.norm() < PARALLEL_SINE {
            return Err(AxisFault::Parallel([normal.into(), given.into()]));
        }
        Ok(JointKind::Planar { normal, x: in_plane.normalize() })
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
        let y = self.normal.cross(&self.x);
        for (k, axis) in [self.x, y].iter().enumerate() {
            let axis_W = translate_frame(X_WB, axis, q[k] - mount.reference);
            S[k] = join(Vector3::zeros(), axis_W);
        }
        let angle = q[2] - mount.reference;
        let (axis_W, anchor_W) = rotate_frame(X_WB, &self.normal, &mount.anchor, angle, 0.0);
        S[2] = join(axis_W, Vector3::zeros());
        anchor[..3].fill(anchor_W);
    }
}
