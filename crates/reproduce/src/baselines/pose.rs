//! A rigid piece as position-based dynamics moves it: corrections of its pose, then velocities from
//! what the pose did [Macklin19].

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// A rigid piece with axes of inertia along those of its frame; without yield it is led from outside.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Pose in the world; the origin is the centre of mass.
    pub pose: Isometry3<f64>,
    /// Pose where the substep began.
    pub before: Isometry3<f64>,
    /// Velocity of the origin [m/s].
    pub velocity: Vector3<f64>,
    /// Angular velocity, world axes [rad/s].
    pub spin: Vector3<f64>,
    /// One over the mass [1/kg].
    pub yield_: f64,
    /// One over the moments of inertia [1/(kg·m²)], own axes.
    pub turn_yield: Vector3<f64>,
}

impl Piece {
    /// One that is led from outside.
    pub fn led(pose: Isometry3<f64>) -> Self {
        Self::new(pose, 0.0, Vector3::zeros())
    }

    /// One at rest.
    pub fn new(pose: Isometry3<f64>, yield_: f64, turn_yield: Vector3<f64>) -> Self {
        let (velocity, spin) = (Vector3::zeros(), Vector3::zeros());
        Self { pose, before: pose, velocity, spin, yield_, turn_yield }
    }

    /// What a unit of a turning impulse along `axis` (world) makes of the angles, world axes.
    fn turned(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        let own = self.pose.rotation.inverse_transform_vector(impulse);
        self.pose.rotation * own.component_mul(&self.turn_yield)
    }

    /// How far the point at `arm` from the origin yields along a unit `axis` [1/kg].
    pub fn yield_at(&self, arm: &Vector3<f64>, axis: &Vector3<f64>) -> f64 {
        let moment = arm.cross(axis);
        self.yield_ + moment.dot(&self.turned(&moment))
    }

    /// How far it yields to turning about a unit `axis` [1/(kg·m²)].
    pub fn yield_about(&self, axis: &Vector3<f64>) -> f64 {
        axis.dot(&self.turned(axis))
    }

    /// Moves it by a positional impulse [kg·m] at `arm` from the origin.
    pub fn push(&mut self, impulse: &Vector3<f64>, arm: &Vector3<f64>) {
        let turn = self.turned(&arm.cross(impulse));
        self.pose.translation.vector += self.yield_ * impulse;
        self.rotate(&turn);
    }

    /// Turns it by an angular impulse [kg·m²].
    pub fn twist(&mut self, impulse: &Vector3<f64>) {
        let turn = self.turned(impulse);
        self.rotate(&turn);
    }

    fn rotate(&mut self, turn: &Vector3<f64>) {
        self.pose.rotation = UnitQuaternion::from_scaled_axis(*turn) * self.pose.rotation;
    }

    /// Flies for a time under gravity [m/s²].
    pub fn fly(&mut self, gravity: &Vector3<f64>, h: f64) {
        self.before = self.pose;
        if self.yield_ == 0.0 {
            return;
        }
        self.velocity += h * gravity;
        let place = self.pose.translation.vector + h * self.velocity;
        self.pose.translation = Translation3::from(place);
        let turn = h * self.spin;
        self.rotate(&turn);
    }

    /// Velocities from what the pose did within a time.
    pub fn settle(&mut self, h: f64) {
        let way = self.pose.translation.vector - self.before.translation.vector;
        self.velocity = way / h;
        let turn = self.pose.rotation * self.before.rotation.inverse();
        self.spin = turn.scaled_axis() / h;
    }
}
