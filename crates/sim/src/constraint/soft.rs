//! Soft equalities as in MuJoCo: errors, rows and curvature.
//!
//! The law is on the second derivative of the error, `J v̇ + J̇ v`. J̇ v is the curvature: the acceleration of the error
//! at v̇ = 0. MuJoCo has it for connects and welds alone.
//!
//! The turn of a weld is measured by the vector part u of the quaternion (s, u) = q_B⁻¹ q_A q_AB from B to its target.
//! With ω the angular velocity of A relative to B in the axes of B,
//!
//! ```text
//! (ṡ, u̇) = ½ (0, ω) (s, u),   u̇ = ½ (s ω + ω × u),   ü = ½ (s ω̇ + ω̇ × u + ṡ ω + ω × u̇)
//! ```

use nalgebra::{Quaternion, Vector3};
use stiction_mech::{InverseWeights, LawSteps, Model, SoftLaw, SoftRow, SoftRowError};

use super::{Configuration, Equality, EqualityOptions, MAX_ROWS, Weld};
use crate::rows::{ConstraintContext, RowBuilder};

/// A soft equality in a step.
pub(crate) struct SoftEquality<'a> {
    equality: &'a Equality,
    law: SoftLaw,
    /// The rows of a weld.
    weld: Option<SoftWeld<'a>>,
    errors: [f64; MAX_ROWS],
    curvature: [f64; MAX_ROWS],
    /// Norm of all errors, at which the impedance is evaluated [m].
    size: f64,
}

impl<'a> SoftEquality<'a> {
    /// From the configuration at which errors are measured; `law` is its own, or that of a start.
    pub fn new(
        (equality, options): (&'a Equality, &'a EqualityOptions),
        law: SoftLaw,
        configuration: &Configuration,
        context: &ConstraintContext,
    ) -> Self {
        let weld = SoftWeld::of(equality, options, configuration);
        let (mut errors, mut curvature) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
        equality.error(configuration, &mut errors);
        match (&weld, equality) {
            (Some(weld), _) => (errors, curvature) = (weld.errors(), weld.curvature(context)),
            (None, Equality::Connect(connect)) => {
                let [a, b] =
                    [(connect.body_a, &connect.point_a), (connect.body_b, &connect.point_b)].map(
                        |(body, point)| {
                            context.point_bias(body.0, &configuration.point(body, point))
                        },
                    );
                curvature[..3].copy_from_slice((b - a).as_slice());
            }
            _ => {}
        }
        let size = errors[..equality.dim()].iter().map(|error| error * error).sum::<f64>().sqrt();
        Self { equality, law, weld, errors, curvature, size }
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.equality.dim()
    }

    /// Adds the terms of one row.
    pub fn add_row(
        &self,
        row: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        match &self.weld {
            Some(weld) => weld.add_row(row, context, rows),
            None => self.equality.add_row(row, configuration, context, rows),
        }
    }

    /// Compliance and target velocity of a row whose present velocity is given.
    pub fn row(
        &self,
        row: usize,
        velocity: f64,
        (model, weights): (&Model, &InverseWeights),
        steps: LawSteps,
    ) -> SoftRow {
        let error = SoftRowError { position: self.errors[row], size: self.size, velocity };
        let weight = self.equality.inverse_weight(row, model, weights);
        let mut found = self.law.row(error, weight, steps);
        found.target -= steps.part * self.curvature[row];
        found
    }
}

/// The rows of a soft weld, as MuJoCo has them.
pub(crate) struct SoftWeld<'a> {
    weld: &'a Weld,
    /// The anchor on A and on B, world frame [m].
    points: [Vector3<f64>; 2],
    /// From B to its target.
    turn: Quaternion<f64>,
    /// Axes of B in the world.
    axes_W: nalgebra::Matrix3<f64>,
    torque_scale: f64,
}

impl<'a> SoftWeld<'a> {
    /// `None` for other equalities.
    pub fn of(
        equality: &'a Equality,
        options: &EqualityOptions,
        configuration: &Configuration,
    ) -> Option<Self> {
        let Equality::Weld(weld) = equality else { return None };
        let [X_WA, X_WB] = [weld.body_a, weld.body_b].map(|body| *configuration.pose(body));
        let anchor = nalgebra::Point3::from(options.anchor);
        let target = X_WA * weld.pose;
        Some(Self {
            weld,
            points: [(target * anchor).coords, (X_WB * anchor).coords],
            turn: (X_WB.rotation.inverse() * target.rotation).into_inner(),
            axes_W: *X_WB.rotation.to_rotation_matrix().matrix(),
            torque_scale: options.torque_scale,
        })
    }

    fn errors(&self) -> [f64; MAX_ROWS] {
        let apart = self.points[1] - self.points[0];
        let turn = self.torque_scale * self.turn.imag();
        [apart.x, apart.y, apart.z, turn.x, turn.y, turn.z]
    }

    /// Acceleration of the errors at v̇ = 0.
    fn curvature(&self, context: &ConstraintContext) -> [f64; MAX_ROWS] {
        let [a, b] = [self.weld.body_a.0, self.weld.body_b.0];
        let apart = context.point_bias(b, &self.points[1]) - context.point_bias(a, &self.points[0]);
        let [w_A, w_B] = [a, b].map(|body| context.moving_angular_velocity(body));
        // In the axes of B, which turn with it.
        let w_W = w_A - w_B;
        let dw_W = context.angular_bias(a) - context.angular_bias(b) - w_B.cross(&w_W);
        let [w, dw] = [w_W, dw_W].map(|x| Quaternion::from_imag(self.axes_W.tr_mul(&x)));
        let rate = w * self.turn * 0.5;
        let turn = (dw * self.turn + w * rate).imag() * (0.5 * self.torque_scale);
        [apart.x, apart.y, apart.z, turn.x, turn.y, turn.z]
    }

    /// Adds the terms of one row.
    pub fn add_row(&self, row: usize, context: &ConstraintContext, rows: &mut RowBuilder) {
        let Weld { body_a, body_b, .. } = *self.weld;
        if row < 3 {
            let axis = Vector3::ith(row, 1.0);
            rows.add_point_velocity(context, body_b.0, &self.points[1], &[axis], 1.0);
            rows.add_point_velocity(context, body_a.0, &self.points[0], &[axis], -1.0);
            return;
        }
        // e · (s ω + ω × u) = (s e + u × e) · ω.
        let (s, u, e) = (self.turn.scalar(), self.turn.imag(), Vector3::ith(row - 3, 1.0));
        let axis = self.axes_W * (s * e + u.cross(&e)) * (0.5 * self.torque_scale);
        rows.add_angular_velocity(context, body_a.0, &[axis], 1.0);
        rows.add_angular_velocity(context, body_b.0, &[axis], -1.0);
    }
}
