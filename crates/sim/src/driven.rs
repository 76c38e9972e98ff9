//! Driven bodies in a step: from their present pose to the target pose of the input at its end.
//!
//! Within the step they move at a constant velocity, which enters rows as a bias: contacts and
//! equalities react to it, and nothing changes it.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_mech::{BodyId, Input, Model};

/// Poses and velocities of the driven bodies, in the order of [`stiction_mech::Model::driven`].
#[derive(Clone, Debug, Default)]
pub(crate) struct DrivenBodies {
    /// Poses at the start of the step.
    pub now: Vec<Isometry3<f64>>,
    /// Poses at the end of the step.
    pub next: Vec<Isometry3<f64>>,
    /// Angular velocity [rad/s] and velocity of the origin [m/s] in the step, world axes.
    velocity: Vec<[Vector3<f64>; 2]>,
    /// Per body: index of the driven body that carries it, plus one; zero if there is none.
    carrier: Vec<u32>,
}

impl DrivenBodies {
    pub fn new(model: &Model, input: &Input) -> Self {
        let carrier = |body: usize| {
            let driver = model.driver(BodyId(body));
            model.driven().iter().position(|id| Some(*id) == driver).map_or(0, |k| k as u32 + 1)
        };
        let is_driven = !model.driven().is_empty();
        Self {
            now: input.driven_pose.clone(),
            next: input.driven_pose.clone(),
            velocity: vec![[Vector3::zeros(); 2]; model.driven().len()],
            carrier: (0..if is_driven { model.bodies().len() } else { 0 }).map(carrier).collect(),
        }
    }

    /// Whether these are finite poses for all of them. The forces report what is wrong otherwise.
    fn fits(&self, poses: &[Isometry3<f64>]) -> bool {
        let is_finite = |pose: &Isometry3<f64>| {
            let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            numbers.all(|x| x.is_finite())
        };
        poses.len() == self.now.len() && poses.iter().all(is_finite)
    }

    /// Places the bodies at rest at these poses, if they are valid.
    pub fn set_pose(&mut self, poses: &[Isometry3<f64>]) {
        if !self.fits(poses) {
            return;
        }
        self.now.copy_from_slice(poses);
        self.next.copy_from_slice(poses);
        self.velocity.fill([Vector3::zeros(); 2]);
    }

    /// Sets the poses to be reached after `remaining` [s], of which the coming motion takes `h` [s], if they are valid.
    pub fn set_target(&mut self, poses: &[Isometry3<f64>], h: f64, remaining: f64) {
        if !self.fits(poses) {
            return;
        }
        self.next.copy_from_slice(poses);
        for (velocity, (from, to)) in self.velocity.iter_mut().zip(self.now.iter().zip(poses)) {
            let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
            let travel = to.translation.vector - from.translation.vector;
            *velocity = [turn / remaining, travel / remaining];
        }
        if h < remaining {
            let moves = self.now.iter().zip(&self.velocity);
            for (next, (from, [turn, travel])) in self.next.iter_mut().zip(moves) {
                let rotation = UnitQuaternion::from_scaled_axis(h * turn) * from.rotation;
                let position = from.translation.vector + h * travel;
                *next = Isometry3::from_parts(position.into(), rotation);
            }
        }
    }

    /// Makes the target poses the present ones.
    pub fn commit(&mut self) {
        self.now.copy_from_slice(&self.next);
    }

    fn carrier_of(&self, body: usize) -> Option<usize> {
        (*self.carrier.get(body)? as usize).checked_sub(1)
    }

    /// Velocity in the step of a point of a body [m/s], zero if it is not driven.
    #[inline]
    pub fn point_velocity(&self, body: usize, p_W: &Vector3<f64>) -> Vector3<f64> {
        self.carrier_of(body).map_or(Vector3::zeros(), |k| {
            let [angular, linear] = self.velocity[k];
            linear + angular.cross(&(p_W - self.now[k].translation.vector))
        })
    }

    /// Angular velocity of a body in the step [rad/s], zero if it is not driven.
    #[inline]
    pub fn angular_velocity(&self, body: usize) -> Vector3<f64> {
        self.carrier_of(body).map_or(Vector3::zeros(), |k| self.velocity[k][0])
    }

    /// Distance [m] that any point within `radius` of the origin of the `k`-th moves in `time` [s].
    pub fn travel(&self, k: usize, radius: f64, time: f64) -> f64 {
        let [angular, linear] = self.velocity[k];
        time * (linear.norm() + angular.norm() * radius)
    }
}
