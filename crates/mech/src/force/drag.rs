//! Drag: resistance of a medium to the motion of bodies, linear and quadratic in the velocity
//! relative to the medium, along and about three axes of a body.
//!
//! Along each axis the force is `−(a + b |u|) u` for a rate u. Its slope `−(a + 2 b |u|)` is
//! available to steps that treat drag implicitly; of forces on ellipsoids it
//! is the drag per velocity. Cost: six rows per body.

use super::Forces;
use super::drive::{ForceRow, RowEntry};
use super::ellipsoid_drag::EllipsoidDrag;
use super::error::{ForceError, SpecCheck};
use crate::body::BodyId;
use crate::data::Data;
use crate::jacobian::for_each_column;
use crate::model::Model;
use crate::tendon::compile;
use nalgebra::{Isometry3, Vector3, Vector6};

/// Drag of a medium on one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DragSpec {
    /// The body.
    pub body: BodyId,
    /// Pose `X_BF` of the frame F whose origin is the point of application and along whose axes the
    /// drag acts.
    pub frame: Isometry3<f64>,
    /// Torque per angular velocity [N·m·s] about each axis, then force per velocity [N·s/m].
    pub linear: Vector6<f64>,
    /// Torque per square of angular velocity [N·m·s²], then force per square of velocity [N·s²/m²].
    pub quadratic: Vector6<f64>,
    /// Velocity of the medium in the world [m/s].
    pub wind: Vector3<f64>,
    /// Forces on an ellipsoid at the frame, besides those of the coefficients.
    pub ellipsoid: Option<EllipsoidDrag>,
}

impl DragSpec {
    /// Checks the numbers and replaces the builder's body id by the model's.
    pub(crate) fn compile(mut self, model: &Model) -> Result<Self, ForceError> {
        let check = SpecCheck { what: "drag", name: "" };
        compile::renumber_body(model, &check, &mut self.body)?;
        let check = SpecCheck { what: "drag", name: &model.bodies()[self.body.0].spec.name };
        self.linear.iter().try_for_each(|a| check.not_negative("linear coefficient", *a))?;
        self.quadratic.iter().try_for_each(|b| check.not_negative("quadratic coefficient", *b))?;
        let frame = self.frame.translation.vector.iter().chain(self.frame.rotation.coords.iter());
        frame.chain(self.wind.iter()).try_for_each(|x| check.finite("frame or wind", *x))?;
        if let Some(ellipsoid) = &self.ellipsoid {
            let EllipsoidDrag { density, axes, blunt, slender, angular, kutta, magnus, .. } =
                ellipsoid;
            let sizes = [density, &axes.x, &axes.y, &axes.z, blunt, slender, angular];
            sizes.into_iter().try_for_each(|x| check.not_negative("number of an ellipsoid", *x))?;
            [kutta, magnus].into_iter().try_for_each(|x| check.finite("lift", *x))?;
        }
        Ok(self)
    }
}

impl Forces {
    /// Adds the drag forces.
    pub(super) fn add_drags(&mut self, model: &Model, v: &[f64], data: &Data) {
        for (index, drag) in model.drags().iter().enumerate() {
            // The rows of a body follow one another, and have the same velocities in the same order.
            let rows = &self.layout.drags[index];
            let len = rows[0].end - rows[0].start;
            let entries = &mut self.entries[rows[0].start..rows[5].end];
            let X_WF = data.body_pose[drag.body.0] * drag.frame;
            let R_WF = X_WF.rotation.to_rotation_matrix().into_inner();
            let wind = R_WF.tr_mul(&drag.wind);
            let mut rates = Vector6::new(0.0, 0.0, 0.0, -wind.x, -wind.y, -wind.z);
            let (mut at, p_WF) = (0, X_WF.translation.vector);
            for_each_column(model, data, drag.body, p_WF, |dof, angular, linear| {
                let (angular, linear) = (R_WF.tr_mul(&angular), R_WF.tr_mul(&linear));
                for k in 0..3 {
                    entries[k * len + at].coefficient = angular[k];
                    entries[(3 + k) * len + at].coefficient = linear[k];
                    rates[k] += angular[k] * v[dof];
                    rates[3 + k] += linear[k] * v[dof];
                }
                at += 1;
            });
            let (mut force, per_rate) = match &drag.ellipsoid {
                Some(ellipsoid) => ellipsoid.force(&rates),
                None => (Vector6::zeros(), [0.0; 2]),
            };
            let slopes = &mut self.drag_slopes[6 * index..6 * index + 6];
            for (k, slope) in slopes.iter_mut().enumerate() {
                let (a, b) = (drag.linear[k], drag.quadratic[k] * rates[k].abs());
                *slope = -(a + 2.0 * b + per_rate[k / 3]);
                force[k] -= (a + b) * rates[k];
            }
            for at in 0..len {
                let along = |k: usize| entries[k * len + at].coefficient * force[k];
                self.generalized[entries[at].dof] += (0..6).map(along).sum::<f64>();
            }
        }
    }

    /// Whether there may be [`Forces::drag_slopes`] or [`Forces::muscle_slopes`].
    pub fn has_coupled_slopes(&self) -> bool {
        !self.layout.drags.is_empty() || !self.muscle_slopes.is_empty()
    }

    /// Calls `visit` with the tree of each body on which drag acts, its six rows one after the other, and their slopes
    /// ∂force/∂rate [N·m·s, N·s/m], not positive. The velocities of each row are the path from the body to the root of the
    /// tree. The forces are in [`Forces::generalized`].
    pub fn drag_slopes(&self, model: &Model, mut visit: impl FnMut(usize, &[RowEntry], &[f64; 6])) {
        let drags = model.drags().iter().zip(&self.layout.drags);
        for ((drag, rows), slopes) in drags.zip(self.drag_slopes.as_chunks::<6>().0) {
            if let Some(tree) = model.tree(drag.body) {
                visit(tree, &self.entries[rows[0].start..rows[5].end], slopes);
            }
        }
    }

    /// Rows along which muscles damp several velocities, with the slopes ∂force/∂rate [N·s/m, N·m·s], not positive. Their
    /// forces are in [`Forces::generalized`].
    pub fn muscle_slopes(&self) -> impl Iterator<Item = (&[RowEntry], f64)> {
        self.muscle_slopes.iter().map(|(row, slope)| (self.row(*row), *slope))
    }

    /// Drag rows with the slopes ∂force/∂rate of the last evaluation.
    pub(super) fn drag_rows(&self) -> impl Iterator<Item = (ForceRow, f64)> + '_ {
        self.layout.drags.iter().flatten().copied().zip(self.drag_slopes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodySpec, Input, JointKind, JointSpec, MassProperties, ModelBuilder, kinematics, velocities,
    };
    use nalgebra::Matrix3;

    #[test]
    fn drag_acts_at_its_point_along_its_axes() {
        // A rod rotates about z at ω; drag acts along y at distance ℓ from the axis, at a point that
        // moves at ω ℓ against a head wind w.
        let (a, b, arm, w, omega) = (0.7, 1.3, 2.0, 0.5, 3.0);
        let mut builder = ModelBuilder::new();
        let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
        let body = builder.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
        let axis = Vector3::z();
        builder.joint(body, JointSpec::new(JointKind::Hinge { axis }));
        builder.drag(DragSpec {
            body,
            frame: Isometry3::translation(arm, 0.0, 0.0),
            linear: Vector6::new(0.0, 0.0, 0.1, 0.0, a, 0.0),
            quadratic: Vector6::new(0.0, 0.0, 0.2, 0.0, b, 0.0),
            wind: Vector3::new(0.0, -w, 0.0),
            ellipsoid: None,
        });
        let model = builder.build().unwrap();
        let (q, v) = ([0.0], [omega]);
        let (mut data, mut forces) = (Data::new(&model), Forces::new(&model));
        kinematics(&model, &q, &mut data);
        velocities(&model, &v, &mut data);
        forces.evaluate(&model, (&q, &v), &data, &Input::new(&model), 0.01).unwrap();
        let through = omega * arm + w;
        let exact = -(0.1 + 0.2 * omega) * omega - arm * (a + b * through) * through;
        assert!((forces.generalized[0] - exact).abs() <= 1e-13 * exact.abs());
        // Slopes: the sum over the rows is the derivative by ω.
        let mut slope = 0.0;
        forces.rate_slopes(&model, |row, along| {
            slope += row.iter().map(|entry| entry.coefficient.powi(2) * along).sum::<f64>();
        });
        let exact = -(0.1 + 0.4 * omega) - arm * arm * (a + 2.0 * b * through);
        assert!((slope - exact).abs() <= 1e-13 * exact.abs());
    }

    #[test]
    fn a_negative_drag_coefficient_is_rejected() {
        let mut builder = ModelBuilder::new();
        builder.drag(DragSpec {
            body: BodyId::WORLD,
            frame: Isometry3::identity(),
            linear: Vector6::repeat(-1.0),
            quadratic: Vector6::zeros(),
            wind: Vector3::zeros(),
            ellipsoid: None,
        });
        assert!(builder.build().unwrap_err().to_string().contains("linear coefficient"));
    }
}
