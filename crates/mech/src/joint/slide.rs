//! Slide joint: translation along an axis.

use super::JointKind;
use super::joint_model::{AxisFault, JointModel, JointMount, translate_frame, unit_axis};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Slide {
    pub(crate) axis: Vector3<f64>,
}

impl JointModel for Slide {
    const NAME: &str = "slide";
    const ABOUT: &str = "translation along an axis";
    const NQ: usize = 1;
    const NV: usize = 1;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        Ok(JointKind::Slide { axis: unit_axis(self.axis)? })
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
        let axis_W = translate_frame(X_WB, &self.axis, q[0] - mount.reference);
        S[0] = join(Vector3::zeros(), axis_W);
        anchor[0] = X_WB.translation.vector + X_WB.rotation * mount.anchor;
    }
}
