//! JOINT: a coordinate follows another by a polynomial, as mimic joints and screws do.

use super::{Configuration, Polynomial, Relation};
use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;
use stiction_mech::{JointId, Model};

/// `q − q_ref = p(q' − q'_ref)`, or `= p(0)` if there is no leader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointCoupling {
    /// The joint that follows, with one coordinate.
    pub joint: JointId,
    /// The joint that leads, with one coordinate; `None` keeps the follower where it is.
    pub leader: Option<JointId>,
    /// p, in [m, rad].
    pub polynomial: Polynomial,
}

impl JointCoupling {
    /// Coordinate relative to its reference.
    fn coordinate(configuration: &Configuration, joint: JointId) -> f64 {
        let joint = &configuration.model.joints()[joint.0];
        configuration.q[joint.q.start] - joint.spec.reference
    }
}

impl Relation for JointCoupling {
    fn dim(&self) -> usize {
        1
    }

    fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let leader = self.leader.map_or(0.0, |leader| Self::coordinate(configuration, leader));
        out[0] = Self::coordinate(configuration, self.joint) - self.polynomial.at(leader).0;
    }

    fn add_row(
        &self,
        _: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        let dof = |joint: JointId| configuration.model.joints()[joint.0].dofs.start;
        rows.add_dof(context, dof(self.joint), 1.0);
        if let Some(leader) = self.leader {
            let slope = self.polynomial.at(Self::coordinate(configuration, leader)).1;
            rows.add_dof(context, dof(leader), -slope);
        }
    }

    fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        let owner = || format!("equality \"{name}\"");
        self.joint = to.joint(self.joint, owner)?;
        if let Some(leader) = &mut self.leader {
            *leader = to.joint(*leader, owner)?;
        }
        Ok(())
    }

    fn check(&self, model: &Model, name: &str) -> Result<(), WorldError> {
        let wrong = |what, expected| WorldError::Equality { name: name.to_owned(), what, expected };
        for joint in [Some(self.joint), self.leader].into_iter().flatten() {
            let kind = &model.joints()[joint.0].spec.kind;
            if kind.nv() != 1 {
                let what = format!("joint {} is of kind {}", joint.0, kind.entry().name);
                return Err(wrong(what, "a joint with one coordinate"));
            }
        }
        if self.leader == Some(self.joint) {
            let what = format!("joint {} leads itself", self.joint.0);
            return Err(wrong(what, "two different joints"));
        }
        self.polynomial.check(name)
    }
}
