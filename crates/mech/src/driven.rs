//! Driven (kinematic) bodies: bodies whose poses are inputs, and the bodies welded to them.
//!
//! They have no joints, their mass has no effect, and no force moves them. [`Data::body_pose`] holds
//! their poses like those of all bodies, but only [`set_driven_poses`] writes them.

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use nalgebra::Isometry3;

impl Model {
    /// Driven bodies, in the order of the bodies.
    pub fn driven(&self) -> &[BodyId] {
        &self.driven
    }

    /// The driven body to which a body is welded, which may be itself; `None` if there is none.
    pub fn driver(&self, body: BodyId) -> Option<BodyId> {
        self.bodies.get(body.0)?.driver.map(BodyId)
    }
}

/// Sets the poses `X_WB` of the driven bodies, in the order of [`Model::driven`], and of the bodies
/// welded to them.
pub fn set_driven_poses(model: &Model, poses: &[Isometry3<f64>], data: &mut Data) {
    for (id, pose) in model.driven.iter().zip(poses) {
        data.body_pose[id.0] = *pose;
    }
    for &body in &model.carried_by_driven {
        let entry = &model.bodies[body];
        if let Some(driver) = entry.driver {
            data.body_pose[body] = data.body_pose[driver] * entry.pose_in_link;
        }
    }
}
