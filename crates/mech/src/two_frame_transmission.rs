//! Transmissions between two frames: a site relative to a reference site, and a slider-crank.
//!
//! Both have a length ℓ and a row over the velocities that move one of the two bodies and not the other.
//! Velocities that move both do not change a slider-crank; MuJoCo leaves them out for a reference site, too, and
//! takes the axes of the reference site as fixed, so that the row is a wrench on one body and its reaction on the
//! other, not the gradient of the length.

use crate::body::BodyId;
use crate::data::Data;
use crate::force::ForceError;
use crate::force::error::SpecCheck;
use crate::force::relative_dofs::{for_each_relative_dof, point_rate};
use crate::model::Model;
use crate::spatial::angular;
use nalgebra::{Isometry3, Vector3};

/// A frame F of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyFrame {
    /// The body.
    pub body: BodyId,
    /// Pose `X_BF` in the body's frame.
    pub pose: Isometry3<f64>,
}

/// A site relative to a reference site: ℓ = force·(R_Rᵀ (p_S − p_R)) + torque·log(R_Rᵀ R_S).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitePair {
    /// The site S.
    pub site: BodyFrame,
    /// The reference site R.
    pub reference: BodyFrame,
    /// Force on S per unit of actuator force, in the axes of R.
    pub force: Vector3<f64>,
    /// Torque on S per unit of actuator force, in the axes of R.
    pub torque: Vector3<f64>,
}

/// A rod of constant length from a crank site to a point on the z axis of a slider site; ℓ is the position of
/// that point on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliderCrank {
    /// The crank site.
    pub crank: BodyFrame,
    /// The slider site.
    pub slider: BodyFrame,
    /// Length of the rod [m].
    pub rod: f64,
}

impl BodyFrame {
    fn in_world(&self, data: &Data) -> Isometry3<f64> {
        data.body_pose[self.body.0] * self.pose
    }

    pub(crate) fn check(&self, check: &SpecCheck<'_>) -> Result<(), ForceError> {
        let numbers = self.pose.translation.vector.iter().chain(self.pose.rotation.coords.iter());
        numbers.copied().try_for_each(|x| check.finite("frame of the transmission", x))
    }
}

impl SitePair {
    /// The length; calls `visit(dof, rate)` for each velocity of the row.
    pub fn measure(&self, model: &Model, data: &Data, mut visit: impl FnMut(usize, f64)) -> f64 {
        let [X_WS, X_WR] = [self.site, self.reference].map(|frame| frame.in_world(data));
        let [p_WS, p_WR] = [X_WS, X_WR].map(|X| X.translation.vector);
        let (force_W, torque_W) = (X_WR.rotation * self.force, X_WR.rotation * self.torque);
        let (a, b) = (self.reference.body, self.site.body);
        for_each_relative_dof(model, a, b, |dof, tree, moves_site| {
            let (point, sign) = if moves_site { (p_WS, 1.0) } else { (p_WR, -1.0) };
            let along = force_W.dot(&point_rate(data, dof, tree, point));
            visit(dof, sign * (along + torque_W.dot(&angular(&data.subspace[dof]))));
        });
        let turn = (X_WR.rotation.inverse() * X_WS.rotation).scaled_axis();
        force_W.dot(&(p_WS - p_WR)) + self.torque.dot(&turn)
    }
}

impl SliderCrank {
    /// The length; calls `visit(dof, rate)` for each velocity of the row. Where the rod is too short to reach the
    /// axis, the length is the projection of the crank site, as in MuJoCo.
    pub fn measure(&self, model: &Model, data: &Data, mut visit: impl FnMut(usize, f64)) -> f64 {
        let [X_WC, X_WS] = [self.crank, self.slider].map(|frame| frame.in_world(data));
        let [p_WC, p_WS] = [X_WC, X_WS].map(|X| X.translation.vector);
        let axis = X_WS.rotation * Vector3::z();
        let arm = p_WC - p_WS;
        let along = arm.dot(&axis);
        let square = along * along + self.rod * self.rod - arm.norm_squared();
        let (root, per_axis, per_arm) = if square > 0.0 {
            let root = square.sqrt();
            let factor = 1.0 - along / root;
            (root, arm * factor, axis * factor + arm / root)
        } else {
            (0.0, arm, axis)
        };
        for_each_relative_dof(
            model,
            self.slider.body,
            self.crank.body,
            |dof, tree, moves_crank| {
                visit(
                    dof,
                    if moves_crank {
                        per_arm.dot(&point_rate(data, dof, tree, p_WC))
                    } else {
                        let turn = angular(&data.subspace[dof]).cross(&axis);
                        per_axis.dot(&turn) - per_arm.dot(&point_rate(data, dof, tree, p_WS))
                    },
                );
            },
        );
        along - root
    }
}
