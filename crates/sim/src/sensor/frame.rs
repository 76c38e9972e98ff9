//! Pose and velocity of a frame on a body, in the world or relative to another frame.
//!
//! Relative to a moving and rotating frame F a point has the velocity `v − v_F − ω_F × (p − p_F)`, in
//! the axes of F. Needs the velocity stage of the mechanism's arrays.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction_mech::{Data, Model, angular_velocity, point_velocity};

use super::SensorFrame;

/// A mechanism at a state.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub model: &'a Model,
    pub data: &'a Data,
}

/// A frame in motion; world axes.
struct MovingFrame {
    X_WF: Isometry3<f64>,
    w_WF: Vector3<f64>,
    v_WF: Vector3<f64>,
}

impl View<'_> {
    /// Pose in the world.
    pub fn pose(&self, frame: &SensorFrame) -> Isometry3<f64> {
        self.data.body_pose[frame.body.0] * frame.pose
    }

    /// A vector of the world in the axes of a frame.
    pub fn in_axes_of(&self, frame: &SensorFrame, v_W: &Vector3<f64>) -> Vector3<f64> {
        self.pose(frame).rotation.inverse_transform_vector(v_W)
    }

    fn moving(&self, frame: &SensorFrame) -> MovingFrame {
        let X_WF = self.pose(frame);
        let p_WF = X_WF.translation.vector;
        MovingFrame {
            X_WF,
            w_WF: self.angular_velocity(frame),
            v_WF: point_velocity(self.model, self.data, frame.body, p_WF),
        }
    }

    /// Angular velocity in the world [rad/s].
    pub fn angular_velocity(&self, frame: &SensorFrame) -> Vector3<f64> {
        angular_velocity(self.data, frame.body)
    }

    /// Velocity of the origin in the world [m/s].
    pub fn velocity(&self, frame: &SensorFrame) -> Vector3<f64> {
        self.moving(frame).v_WF
    }

    /// Position [m].
    pub fn position_seen(&self, of: &SensorFrame, from: Option<&SensorFrame>) -> Vector3<f64> {
        let p_W = self.pose(of).translation.vector;
        from.map_or(p_W, |from| self.pose(from).inverse_transform_point(&Point3::from(p_W)).coords)
    }

    /// Orientation.
    pub fn orientation_seen(
        &self,
        of: &SensorFrame,
        from: Option<&SensorFrame>,
    ) -> UnitQuaternion<f64> {
        let R_W = self.pose(of).rotation;
        from.map_or(R_W, |from| self.pose(from).rotation.inverse() * R_W)
    }

    /// Velocity of the origin [m/s].
    pub fn velocity_seen(&self, of: &SensorFrame, from: Option<&SensorFrame>) -> Vector3<f64> {
        let MovingFrame { X_WF: X_WO, v_WF: v_WO, .. } = self.moving(of);
        let Some(from) = from else { return v_WO };
        let MovingFrame { X_WF, w_WF, v_WF } = self.moving(from);
        let carried = v_WF + w_WF.cross(&(X_WO.translation.vector - X_WF.translation.vector));
        X_WF.rotation.inverse_transform_vector(&(v_WO - carried))
    }

    /// Angular velocity [rad/s].
    pub fn angular_velocity_seen(
        &self,
        of: &SensorFrame,
        from: Option<&SensorFrame>,
    ) -> Vector3<f64> {
        let w_WO = self.angular_velocity(of);
        let Some(from) = from else { return w_WO };
        self.in_axes_of(from, &(w_WO - self.angular_velocity(from)))
    }
}
