//! Data of a mechanism for constraint rows: kinematics, sleeping trees and driven bodies.

use nalgebra::Vector3;
use stiction_math::branch;
use stiction_mech::{BodyId, Data, Model, angular_velocity, point_velocity};

use crate::driven::DrivenBodies;
use crate::free_motion::FreeMotion;

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
}

impl<'a> ConstraintContext<'a> {
    pub fn new(
        model: &'a Model,
        data: &'a Data,
        free: &'a FreeMotion,
        asleep: &'a [bool],
        driven: &'a DrivenBodies,
    ) -> Self {
        Self { model, data, by_tree: free.by_tree(), asleep, driven }
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
