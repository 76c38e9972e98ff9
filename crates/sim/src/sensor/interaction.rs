//! Interaction force and torque between a body and its parent.
//!
//! The rate of momentum of a subtree is the wrench of the parent plus the external wrenches; so the
//! parent's wrench is Σ (inertial − external) over the bodies of the subtree: the recursive
//! Newton–Euler algorithm [Featherstone08, Sec. 5.3], summed per sensor. External are contacts,
//! equalities between bodies, tendons and applied wrenches, all of the last step. Everything else is
//! transmitted by the joint, as in MuJoCo: actuators, springs, friction and limits of joints, but also
//! actuators that act on a body and gravity compensation. Bodies without joints are treated one by
//! one. Cost: bodies and contacts once, then the bodies of the subtree per sensor.

use nalgebra::{Matrix3, Vector3, Vector6};
use std::ops::Range;
use stiction_mech::{BodyId, MassProperties};

use super::acceleration::Accelerations;
use super::frame::View;
use crate::contact_point::ContactPoint;

/// A wrench in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wrench {
    /// Torque [N·m] about some point.
    pub torque: Vector3<f64>,
    /// Force [N].
    pub force: Vector3<f64>,
}

/// Wrench that each body, without its children, requires from its parent, about the body's origin.
#[derive(Debug)]
pub(super) struct ParentWrenches {
    of_body: Vec<Wrench>,
}

impl ParentWrenches {
    pub fn new(bodies: usize) -> Self {
        Self { of_body: vec![Wrench::default(); bodies] }
    }

    /// Begins with the rates of momentum: m a and I α + ω × I ω at the centres of mass.
    pub fn begin(&mut self, view: &View, accelerations: &Accelerations) {
        for (index, body) in view.model.bodies().iter().enumerate() {
            self.of_body[index] = Wrench::default();
            let Some(mass) = &body.spec.mass else { continue };
            let (body, X_WB) = (BodyId(index), &view.data.body_pose[index]);
            let R = X_WB.rotation.to_rotation_matrix().into_inner();
            let arm = R * mass.com();
            let p_W = X_WB.translation.vector + arm;
            let force = mass.mass() * accelerations.of_point(view, body, &p_W);
            let I: Matrix3<f64> = R * mass.inertia() * R.transpose();
            let w = stiction_mech::angular_velocity(view.data, body);
            let torque = I * accelerations.angular(body) + w.cross(&(I * w)) + arm.cross(&force);
            self.of_body[index] = Wrench { torque, force };
        }
    }

    /// Subtracts an external wrench whose force acts at the point `p_W` [m], world frame.
    pub fn subtract(&mut self, view: &View, body: BodyId, wrench: &Wrench, p_W: &Vector3<f64>) {
        let arm = p_W - view.data.body_pose[body.0].translation.vector;
        let of_body = &mut self.of_body[body.0];
        of_body.torque -= wrench.torque + arm.cross(&wrench.force);
        of_body.force -= wrench.force;
    }

    /// Subtracts contact forces.
    pub fn subtract_contacts(&mut self, view: &View, contacts: &[ContactPoint]) {
        for contact in contacts {
            for (body, sign) in contact.bodies.into_iter().zip([-1.0, 1.0]) {
                let (torque, force) = (sign * contact.torque, sign * contact.force);
                let wrench = Wrench { torque, force };
                self.subtract(view, BodyId(body), &wrench, &contact.point);
            }
        }
    }

    /// Subtracts applied wrenches, which act at the centres of mass.
    pub fn subtract_applied(&mut self, view: &View, applied: &[Vector6<f64>]) {
        for (index, wrench) in applied.iter().enumerate() {
            if *wrench == Vector6::zeros() {
                continue;
            }
            let mass = view.model.bodies()[index].spec.mass;
            let com = mass.as_ref().map_or_else(Vector3::zeros, MassProperties::com);
            let X_WB = &view.data.body_pose[index];
            let p_W = X_WB.translation.vector + X_WB.rotation * com;
            let wrench = Wrench {
                torque: wrench.fixed_rows::<3>(0).into(),
                force: wrench.fixed_rows::<3>(3).into(),
            };
            self.subtract(view, BodyId(index), &wrench, &p_W);
        }
    }

    /// Wrench on a subtree from its parent, about the point `p_W` [m], world frame.
    pub fn of_subtree(&self, view: &View, subtree: Range<usize>, p_W: &Vector3<f64>) -> Wrench {
        let mut sum = Wrench::default();
        for body in subtree {
            let Wrench { torque, force } = self.of_body[body];
            let arm = view.data.body_pose[body].translation.vector - p_W;
            sum.torque += torque + arm.cross(&force);
            sum.force += force;
        }
        sum
    }
}
