//! Data of a mechanism for constraint rows: kinematics, sleeping trees and driven bodies.

use nalgebra::{Vector3, Vector6};
use stiction_math::branch;
use stiction_mech::{BodyId, Data, Model, angular_velocity, point_velocity};

use crate::driven::DrivenBodies;
use crate::free_motion::FreeMotion;
use crate::history::StepHistory;
use crate::start_errors::YieldingConstraints;

/// The tree of a degree of freedom.
pub(crate) fn tree_of_dof(model: &Model, dof: usize) -> usize {
    model.trees().partition_point(|tree| tree.dofs.end <= dof)
}

/// Data of a mechanism from which constraint rows are built.
#[derive(Clone, Copy)]
pub(crate) struct ConstraintContext<'a> {
    pub model: &'a Model,
    /// Kinematics at the configuration of the rows.
    pub data: &'a Data,
    /// Per tree: whether rows are written in the velocities of the tree, through one port, and not
    /// link by link.
    pub by_tree: &'a [bool],
    /// Per tree: whether it is asleep, and so does not move.
    pub asleep: &'a [bool],
    /// Bodies whose motion is prescribed.
    pub driven: &'a DrivenBodies,
    /// Constraints that yield since the start.
    pub yielding: &'a YieldingConstraints,
}

impl<'a> ConstraintContext<'a> {
    pub fn new(
        model: &'a Model,
        data: &'a Data,
        free: &'a FreeMotion,
        history: &'a StepHistory,
        driven: &'a DrivenBodies,
    ) -> Self {
        let (asleep, yielding) = (&history.sleep.asleep, &history.yielding);
        Self { model, data, by_tree: free.by_tree(), asleep, driven, yielding }
    }

    /// The tree of a body that can move; `None` if the body is fixed or asleep.
    pub fn moving_tree(&self, body: usize) -> Option<usize> {
        self.model.bodies()[body].tree.filter(|tree| !self.asleep[*tree])
    }

    /// Degrees of freedom on which a link depends, counted from the first of its tree.
    pub fn path(&self, tree: usize, link: usize) -> impl Iterator<Item = usize> + '_ {
        let dofs = self.model.trees()[tree].dofs.clone();
        let last = self.model.last_dof(BodyId(link)).map(|dof| (dof - dofs.start) as u32);
        branch::ancestors(&self.model.dof_parents()[dofs], last)
    }

    /// Acceleration of the coordinates' motion at v̇ = 0, as a spatial vector at the reference of the tree; zero for
    /// bodies that do not move.
    fn spatial_bias(&self, body: usize) -> Vector6<f64> {
        let mut sum = Vector6::zeros();
        let mut link = self.moving_tree(body).and(self.model.bodies()[body].link);
        while let Some(index) = link {
            sum += self.data.joint_bias[index];
            link = self.model.bodies()[self.model.bodies()[index].spec.parent.0].link;
        }
        sum
    }

    /// Angular acceleration of a body at v̇ = 0 [rad/s²]; zero for one that does not move.
    pub fn angular_bias(&self, body: usize) -> Vector3<f64> {
        self.spatial_bias(body).fixed_rows::<3>(0).into()
    }

    /// Acceleration at v̇ = 0 of the point of a body that is at `p_W` [m/s²]; zero for a body that does not move.
    pub fn point_bias(&self, body: usize, p_W: &Vector3<f64>) -> Vector3<f64> {
        let Some(tree) = self.moving_tree(body) else { return Vector3::zeros() };
        let bias = self.spatial_bias(body);
        let (angular, linear): (Vector3<f64>, Vector3<f64>) =
            (bias.fixed_rows::<3>(0).into(), bias.fixed_rows::<3>(3).into());
        let velocity = point_velocity(self.model, self.data, BodyId(body), *p_W);
        linear
            + angular.cross(&(p_W - self.data.reference[tree]))
            + self.moving_angular_velocity(body).cross(&velocity)
    }

    /// Angular velocity of a body by the coordinates [rad/s]; zero for fixed and driven ones.
    pub fn moving_angular_velocity(&self, body: usize) -> Vector3<f64> {
        let moving = self.moving_tree(body);
        moving.map_or_else(Vector3::zeros, |_| angular_velocity(self.data, BodyId(body)))
    }

    /// Velocity of a point of a body [m/s], zero for a fixed one.
    pub fn point_velocity(&self, body: usize, p_W: &Vector3<f64>) -> Vector3<f64> {
        match self.moving_tree(body) {
            Some(_) => point_velocity(self.model, self.data, BodyId(body), *p_W),
            None => self.driven.point_velocity(body, p_W),
        }
    }

    /// Angular velocity of a body [rad/s], zero for a fixed one.
    pub fn angular_velocity(&self, body: usize) -> Vector3<f64> {
        match self.moving_tree(body) {
            Some(_) => angular_velocity(self.data, BodyId(body)),
            None => self.driven.angular_velocity(body),
        }
    }
}
