//! Rotation about an axis through the anchor.

use super::JointKind;
use super::motion::{AxisFault, Motion, Mount, turn, unit};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Hinge {
    pub(crate) axis: Vector3<f64>,
}

impl Motion for Hinge {
    const NAME: &str = "hinge";
    const ABOUT: &str = "rotation about an axis";
    const NQ: usize = 1;
    const NV: usize = 1;

    fn checked(&self) -> Result<JointKind, AxisFault> {
        Ok(JointKind::Hinge { axis: unit(self.axis)? })
    }

    #[inline]
    fn place(
        &self,
        mount: &Mount,
        q: &[f64],
        X_WB: &mut Isometry3<f64>,
        S: &mut [Vector6<f64>],
        anchor: &mut [Vector3<f64>],
    ) {
        let angle = q[0] - mount.reference;
        let (axis_W, anchor_W) = turn(X_WB, &self.axis, &mount.anchor, angle, 0.0);
        S[0] = join(axis_W, Vector3::zeros());
        anchor[0] = anchor_W;
    }
}
