//! From the ids of a builder to those of its model.

use stiction_mech::{ActuatorId, BodyId, JointId, Model, TendonId};

use crate::error::WorldError;

/// From the ids of a builder to those of its model.
pub(crate) struct Renumber<'a> {
    pub model: &'a Model,
}

impl Renumber<'_> {
    pub fn body(&self, id: BodyId, owner: impl Fn() -> String) -> Result<BodyId, WorldError> {
        let count = self.model.bodies().len();
        self.model.body_of_builder(id).ok_or_else(|| WorldError::Unknown {
            owner: owner(),
            what: "body",
            found: id.0,
            count,
        })
    }

    pub fn joint(&self, id: JointId, owner: impl Fn() -> String) -> Result<JointId, WorldError> {
        let count = self.model.joints().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "joint", found: id.0, count };
        self.model.joint_of_builder(id).ok_or_else(unknown)
    }

    pub fn tendon(&self, id: TendonId, owner: impl Fn() -> String) -> Result<TendonId, WorldError> {
        let count = self.model.tendons().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "tendon", found: id.0, count };
        (id.0 < count).then_some(id).ok_or_else(unknown)
    }

    pub fn actuator(
        &self,
        id: ActuatorId,
        owner: impl Fn() -> String,
    ) -> Result<ActuatorId, WorldError> {
        let count = self.model.actuators().len();
        let (owner, what) = (owner(), "actuator");
        let unknown = || WorldError::Unknown { owner, what, found: id.0, count };
        (id.0 < count).then_some(id).ok_or_else(unknown)
    }
}
