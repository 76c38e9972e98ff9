//! Screw joint: rotation about an axis through the anchor with a proportional translation along it.

use super::JointKind;
use super::joint_model::{AxisFault, JointModel, JointMount, rotate_frame, unit_axis};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Screw {
    pub(crate) axis: Vector3<f64>,
    pub(crate) pitch: f64,
}

impl JointModel for Screw {
    const NAME: &str = "screw";
    const ABOUT: &str = "rotation about an axis with translation along it";
    const NQ: usize = 1;
    const NV: usize = 1;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        if !self.pitch.is_finite() {
            return Err(AxisFault::Pitch(self.pitch));
        }
        Ok(JointKind::Screw { axis: unit_axis(self.axis)?, pitch: self.pitch })
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
        let angle = q[0] - mount.reference;
        let along = self.pitch * angle;
        let (axis_W, anchor_W) = rotate_frame(X_WB, &self.axis, &mount.anchor, angle, along);
        S[0] = join(axis_W, self.pitch * axis_W);
        anchor[0] = anchor_W;
    }
}
