//! Hinge joint: rotation about an axis through the anchor.

use super::JointKind;
use super::joint_model::{AxisFault, JointModel, JointMount, rotate_frame, unit_axis};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Hinge {
    pub(crate) axis: Vector3<f64>,
}

impl JointModel for Hinge {
    const NAME: &str = "hinge";
    const ABOUT: &str = "rotation about an axis";
    const NQ: usize = 1;
    const NV: usize = 1;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        Ok(JointKind::Hinge { axis: unit_axis(self.axis)? })
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
        let (axis_W, anchor_W) = rotate_frame(X_WB, &self.axis, &mount.anchor, angle, 0.0);
        S[0] = join(axis_W, Vector3::zeros());
        anchor[0] = anchor_W;
    }
}
