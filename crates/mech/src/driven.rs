//! Driven bodies: bodies on the world whose poses are inputs, with all that is welded to them.
//!
//! They have no joints, no mass matters, and no force moves them. Their poses stand in
//! [`Data::body_pose`] like those of all others, but only [`set_driven_poses`] writes them.

use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use nalgebra::Isometry3;

impl Model {
    /// Driven bodies, in the order of the bodies.
    pub fn driven(&self) -> &[BodyId] {
        &self.driven
    }

    /// The driven body that carries a body, which may be itself; `None` if there is none.
    pub fn driver(&self, body: BodyId) -> Option<BodyId> {
        self.bodies.get(body.0)?.driver.map(BodyId)
    }
}

/// Puts the driven bodies to poses in the world, one each in the order of [`Model::driven`].
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
