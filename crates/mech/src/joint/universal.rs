//! Universal joint: rotation about a first axis, then about a second that rotates with the first.

use super::JointKind;
use super::joint_model::{
    AxisFault, JointModel, JointMount, PARALLEL_SINE, rotate_frame, unit_axis,
};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Universal {
    pub(crate) axes: [Vector3<f64>; 2],
}

impl JointModel for Universal {
    const NAME: &str = "universal";
    const ABOUT: &str = "rotation about an axis, then about a second one that rotates with it";
    const NQ: usize = 2;
    const NV: usize = 2;

    fn normalized(&self) -> Result<JointKind, AxisFault> {
        let axes = [unit_axis(self.axes[0])?, unit_axis(self.axes[1])?];
        if axes[0].cross(&axes[1]).norm() < PARALLEL_SINE {
            return Err(AxisFault::Parallel(axes.map(Into::into)));
        }
        Ok(JointKind::Universal { axes })
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
        for k in 0..2 {
            let angle = q[k] - mount.reference;
            let (axis_W, anchor_W) = rotate_frame(X_WB, &self.axes[k], &mount.anchor, angle, 0.0);
            S[k] = join(axis_W, Vector3::zeros());
            anchor[k] = anchor_W;
        }
    }
}
