//! WELD: a body keeps its pose relative to another.

use super::{Configuration, Relation, check_points, not_finite};
use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_math::spatial::skew;
use stiction_mech::{BodyId, Model};

/// Two bodies that keep their relative pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weld {
    /// The first body.
    pub body_a: BodyId,
    /// The second body.
    pub body_b: BodyId,
    /// Pose of B in the frame of A.
    pub pose: Isometry3<f64>,
}

impl Weld {
    /// Pose of B at which the error is zero, world frame.
    fn target(&self, configuration: &Configuration) -> Isometry3<f64> {
        configuration.pose(self.body_a) * self.pose
    }

    /// Rotation vector of `R_WB R_targetᵀ`, in world axes [rad].
    fn turn(&self, configuration: &Configuration) -> Vector3<f64> {
        (configuration.pose(self.body_b).rotation * self.target(configuration).rotation.inverse())
            .scaled_axis()
    }
}

/// The inverse of the left Jacobian of rotations: the rate of a rotation vector φ is this times the
/// angular velocity [Sola18, Eq. (146)].
fn inverse_left_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
    let (angle, cross) = (phi.norm(), skew(*phi));
    let factor = if angle < 1e-4 {
        1.0 / 12.0 // The next term of the series is φ²/720.
    } else {
        1.0 / (angle * angle) - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    };
    Matrix3::identity() - 0.5 * cross + factor * cross * cross
}

impl Relation for Weld {
    fn dim(&self) -> usize {
        6
    }

    /// Displacement of B's origin from its target, then the rotation vector from the target to B.
    fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let apart = configuration.pose(self.body_b).translation.vector
            - self.target(configuration).translation.vector;
        out[..3].copy_from_slice(apart.as_slice());
        out[3..].copy_from_slice(self.turn(configuration).as_slice());
    }

    fn add_row(
        &self,
        row: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        if row < 3 {
            let axis = Vector3::ith(row, 1.0);
            let p_B = configuration.pose(self.body_b).translation.vector;
            let p_A = self.target(configuration).translation.vector;
            rows.add_point_velocity(context, self.body_b.0, &p_B, &[axis], 1.0);
            rows.add_point_velocity(context, self.body_a.0, &p_A, &[axis], -1.0);
        } else {
            // With R_e = R_B R_targetᵀ the rate is J⁻¹ (ω_B − R_e ω_A), and J⁻¹(φ) R_e = J⁻¹(−φ).
            let phi = self.turn(configuration);
            let along = |phi: Vector3<f64>| inverse_left_jacobian(&phi).row(row - 3).transpose();
            rows.add_angular_velocity(context, self.body_b.0, &[along(phi)], 1.0);
            rows.add_angular_velocity(context, self.body_a.0, &[along(-phi)], -1.0);
        }
    }

    fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        let owner = || format!("equality \"{name}\"");
        self.body_a = to.body(self.body_a, owner)?;
        self.body_b = to.body(self.body_b, owner)?;
        Ok(())
    }

    fn check(&self, model: &Model, name: &str) -> Result<(), WorldError> {
        if let Some(found) = self.pose.rotation.coords.iter().find(|x| !x.is_finite()) {
            return Err(not_finite(name, "rotation", *found));
        }
        let point = self.pose.translation.vector;
        check_points(model, name, [(self.body_a, &point), (self.body_b, &Vector3::zeros())])
    }
}
