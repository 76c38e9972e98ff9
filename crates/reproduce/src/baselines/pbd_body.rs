//! A rigid body as position-based dynamics moves it: corrections of its pose, then velocities from
//! the change of the pose [Macklin19].

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// A rigid body with axes of inertia along those of its frame; a zero inverse mass makes it a driven body.
#[derive(Clone, Debug)]
pub struct PbdBody {
    /// Pose in the world; the origin is the centre of mass.
    pub pose: Isometry3<f64>,
    /// Pose at the start of the substep.
    pub previous_pose: Isometry3<f64>,
    /// Velocity of the origin [m/s].
    pub velocity: Vector3<f64>,
    /// Angular velocity, world axes [rad/s].
    pub angular_velocity: Vector3<f64>,
    /// One over the mass [1/kg].
    pub inverse_mass: f64,
    /// One over the moments of inertia [1/(kg·m²)], own axes.
    pub inverse_inertia: Vector3<f64>,
}

impl PbdBody {
    /// A driven body.
    pub fn driven(pose: Isometry3<f64>) -> Self {
        Self::new(pose, 0.0, Vector3::zeros())
    }

    /// A body at rest.
    pub fn new(pose: Isometry3<f64>, inverse_mass: f64, inverse_inertia: Vector3<f64>) -> Self {
        let (velocity, angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        Self {
            pose,
            previous_pose: pose,
            velocity,
            angular_velocity,
            inverse_mass,
            inverse_inertia,
        }
    }

    /// Rotation by an angular impulse, `I⁻¹ impulse`, in world axes.
    fn rotation_by(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        let own = self.pose.rotation.inverse_transform_vector(impulse);
        self.pose.rotation * own.component_mul(&self.inverse_inertia)
    }

    /// Effective inverse mass of the point at `arm` from the origin along a unit `axis` [1/kg].
    pub fn inverse_mass_at(&self, arm: &Vector3<f64>, axis: &Vector3<f64>) -> f64 {
        let moment = arm.cross(axis);
        self.inverse_mass + moment.dot(&self.rotation_by(&moment))
    }

    /// Inverse moment of inertia about a unit `axis` [1/(kg·m²)].
    pub fn inverse_inertia_about(&self, axis: &Vector3<f64>) -> f64 {
        axis.dot(&self.rotation_by(axis))
    }

    /// Moves it by a positional impulse [kg·m] at `arm` from the origin.
    pub fn apply_impulse(&mut self, impulse: &Vector3<f64>, arm: &Vector3<f64>) {
        let turn = self.rotation_by(&arm.cross(impulse));
        self.pose.translation.vector += self.inverse_mass * impulse;
        self.rotate(&turn);
    }

    /// Turns it by an angular impulse [kg·m²].
    pub fn apply_angular_impulse(&mut self, impulse: &Vector3<f64>) {
        let turn = self.rotation_by(impulse);
        self.rotate(&turn);
    }

    fn rotate(&mut self, turn: &Vector3<f64>) {
        self.pose.rotation = UnitQuaternion::from_scaled_axis(*turn) * self.pose.rotation;
    }

    /// Predicts the pose after `h` [s] of free motion under gravity [m/s²].
    pub fn predict(&mut self, gravity: &Vector3<f64>, h: f64) {
        self.previous_pose = self.pose;
        if self.inverse_mass == 0.0 {
            return;
        }
        self.velocity += h * gravity;
        let place = self.pose.translation.vector + h * self.velocity;
        self.pose.translation = Translation3::from(place);
        let turn = h * self.angular_velocity;
        self.rotate(&turn);
    }

    /// Computes velocities from the change of the pose within `h` [s].
    pub fn update_velocities(&mut self, h: f64) {
        let translation = self.pose.translation.vector - self.previous_pose.translation.vector;
        self.velocity = translation / h;
        let turn = self.pose.rotation * self.previous_pose.rotation.inverse();
        self.angular_velocity = turn.scaled_axis() / h;
    }
}
