//! Driven bodies in a step: from where they stand to where the input wants them at its end.
//!
//! Within the step they move at a constant velocity, which enters rows as a bias: contacts and
//! equalities feel it, and nothing that happens changes it.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{BodyId, Input, Model};

/// Poses and velocities of the driven bodies, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driven {
    /// Where they stand.
    pub now: Vec<Isometry3<f64>>,
    /// Where they will stand after the step.
    pub next: Vec<Isometry3<f64>>,
    /// Angular velocity [rad/s] and velocity of the origin [m/s] in the step, world axes.
    velocity: Vec<[Vector3<f64>; 2]>,
    /// Per body: its place among the driven, plus one; zero if it is not carried by one.
    place: Vec<u32>,
}

impl Driven {
    pub fn new(model: &Model, input: &Input) -> Self {
        let place = |body: usize| {
            let driver = model.driver(BodyId(body));
            model.driven().iter().position(|id| Some(*id) == driver).map_or(0, |k| k as u32 + 1)
        };
        let is_driven = !model.driven().is_empty();
        Self {
            now: input.driven_pose.clone(),
            next: input.driven_pose.clone(),
            velocity: vec![[Vector3::zeros(); 2]; model.driven().len()],
            place: (0..if is_driven { model.bodies().len() } else { 0 }).map(place).collect(),
        }
    }

    /// Whether these are poses for all of them. What is wrong with others the forces will say.
    fn fits(&self, poses: &[Isometry3<f64>]) -> bool {
        let is_finite = |pose: &Isometry3<f64>| {
            let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            numbers.all(|x| x.is_finite())
        };
        poses.len() == self.now.len() && poses.iter().all(is_finite)
    }

    /// Stands at these poses, at rest, if they are poses.
    pub fn stand(&mut self, poses: &[Isometry3<f64>]) {
        if !self.fits(poses) {
            return;
        }
        self.now.copy_from_slice(poses);
        self.next.copy_from_slice(poses);
        self.velocity.fill([Vector3::zeros(); 2]);
    }

    /// Sets out for these poses, to be reached after `h` [s], if they are poses.
    pub fn aim(&mut self, poses: &[Isometry3<f64>], h: f64) {
        if !self.fits(poses) {
            return;
        }
        self.next.copy_from_slice(poses);
        for (velocity, (from, to)) in self.velocity.iter_mut().zip(self.now.iter().zip(poses)) {
            let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
            let way = to.translation.vector - from.translation.vector;
            *velocity = [turn / h, way / h];
        }
    }

    /// Has arrived.
    pub fn arrive(&mut self) {
        self.now.copy_from_slice(&self.next);
    }

    fn of(&self, body: usize) -> Option<usize> {
        (*self.place.get(body)? as usize).checked_sub(1)
    }

    /// Velocity in the step of a point of a body [m/s], zero if it is not driven.
    #[inline]
    pub fn point_velocity(&self, body: usize, point: &Vector3<f64>) -> Vector3<f64> {
        self.of(body).map_or(Vector3::zeros(), |k| {
            let [turning, moving] = self.velocity[k];
            moving + turning.cross(&(point - self.now[k].translation.vector))
        })
    }

    /// Angular velocity of a body in the step [rad/s], zero if it is not driven.
    #[inline]
    pub fn turning(&self, body: usize) -> Vector3<f64> {
        self.of(body).map_or(Vector3::zeros(), |k| self.velocity[k][0])
    }

    /// Distance [m] that any point within `radius` of the origin of the `k`-th moves in `time` [s].
    pub fn way(&self, k: usize, radius: f64, time: f64) -> f64 {
        let [turning, moving] = self.velocity[k];
        time * (moving.norm() + turning.norm() * radius)
    }
}
