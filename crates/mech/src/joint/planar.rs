//! Translation along two directions of a plane, then rotation about its normal.

use super::JointKind;
use super::motion::{AxisFault, Motion, Mount, PARALLEL, shift, turn, unit};
use crate::spatial::join;
use nalgebra::{Isometry3, Vector3, Vector6};

pub(crate) struct Planar {
    pub(crate) normal: Vector3<f64>,
    /// Perpendicular to the normal.
    pub(crate) x: Vector3<f64>,
}

impl Motion for Planar {
    const NAME: &str = "planar";
    const ABOUT: &str = "translation in a plane and rotation about its normal";
    const NQ: usize = 3;
    const NV: usize = 3;
    const MAY_BE_LIMITED: bool = false;

    fn checked(&self) -> Result<JointKind, AxisFault> {
        let (normal, given) = (unit(self.normal)?, unit(self.x)?);
        let in_plane = given - given.dot(&normal) * normal;
        if in_plane.norm() < PARALLEL {
            return Err(AxisFault::Parallel([normal.into(), given.into()]));
        }
        Ok(JointKind::Planar { normal, x: in_plane.normalize() })
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
        let y = self.normal.cross(&self.x);
        for (k, axis) in [self.x, y].iter().enumerate() {
            let axis_W = shift(X_WB, axis, q[k] - mount.reference);
            S[k] = join(Vector3::zeros(), axis_W);
        }
        let angle = q[2] - mount.reference;
        let (axis_W, anchor_W) = turn(X_WB, &self.normal, &mount.anchor, angle, 0.0);
        S[2] = join(axis_W, Vector3::zeros());
        anchor[..3].fill(anchor_W);
    }
}
