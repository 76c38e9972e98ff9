//! Hinge angles of a manipulator for poses of its hand, by [`InverseKinematics`].
//!
//! [`HandPathFollower`] steers servos along a path of the hand. It keeps no memory: each step begins from the measured angles, so that
//! a run that was interrupted goes on as it would have. No memory is taken in a step.

use nalgebra::Isometry3;
use stiction_mech::{InverseKinematics, JointId};
use stiction_scene::Controller;
use stiction_sim::{Simulation, World, WorldBuilder};

use super::manipulator::{self, AT_EASE, JOINTS};
use crate::error::StudyError;

/// Iterations of a step, and of the search for the first angles.
const ITERATIONS: usize = 4;
const FIRST_ITERATIONS: usize = 400;

/// Inverse kinematics of a manipulator, on a copy of it without surroundings.
pub struct ArmInverseKinematics {
    world: World,
    chain: InverseKinematics,
}

impl ArmInverseKinematics {
    /// A manipulator at ease that stands at `base`.
    pub fn new(base: Isometry3<f64>) -> Result<Self, StudyError> {
        let mut builder = WorldBuilder::new();
        let arm = manipulator::add(&mut builder, "reach", base, &AT_EASE, 0.1)?;
        let world = builder.build()?;
        let model = world.model();
        let hand = model.body_of_builder(arm.hand).unwrap_or(arm.hand);
        let joints: Vec<_> = (0..JOINTS).map(JointId).collect();
        let chain = InverseKinematics::new(model, &joints, hand, Isometry3::identity())?;
        Ok(Self { world, chain })
    }

    /// Angles [rad] at which the hand is at a target, sought from the angles at ease.
    pub fn first_angles(&mut self, target: &Isometry3<f64>) -> [f64; JOINTS] {
        self.improved(AT_EASE, target, FIRST_ITERATIONS)
    }

    /// Angles [rad] near the given ones at which the hand is nearer to a target.
    pub fn angles(&mut self, from: [f64; JOINTS], target: &Isometry3<f64>) -> [f64; JOINTS] {
        self.improved(from, target, ITERATIONS)
    }

    /// Pose of the hand.
    pub fn hand_at(&mut self, angles: &[f64; JOINTS]) -> Isometry3<f64> {
        self.chain.pose(self.world.model(), angles)
    }

    fn improved(
        &mut self,
        mut angles: [f64; JOINTS],
        target: &Isometry3<f64>,
        iterations: usize,
    ) -> [f64; JOINTS] {
        for _ in 0..iterations {
            self.chain.improve(self.world.model(), &mut angles, target);
        }
        angles
    }
}

/// Poses of a hand over time [s].
pub type Path = Box<dyn Fn(f64) -> Isometry3<f64> + Send>;

/// Steers the servos of a manipulator so that its hand follows a path.
pub struct HandPathFollower {
    reach: ArmInverseKinematics,
    path: Path,
    /// Places of its angles in q and of its controls.
    first: [usize; 2],
}

impl HandPathFollower {
    /// Follows a path with the manipulator whose first hinge has the given place in q and whose first
    /// control has that among the controls.
    pub fn new(
        reach: ArmInverseKinematics,
        path: Path,
        first_angle: usize,
        first_control: usize,
    ) -> Self {
        Self { reach, path, first: [first_angle, first_control] }
    }
}

impl Controller for HandPathFollower {
    fn control(&mut self, simulation: &mut Simulation) {
        let (time, h) = (simulation.state().time, simulation.settings().time_step);
        let [angle, control] = self.first;
        let measured = std::array::from_fn(|k| simulation.state().q[angle + k]);
        let now = self.reach.angles(measured, &(self.path)(time));
        let next = self.reach.angles(now, &(self.path)(time + h));
        let rates = std::array::from_fn(|k| (next[k] - now[k]) / h);
        let controls = manipulator::controls(&next, &rates);
        simulation.input_mut().control[control..control + JOINTS].copy_from_slice(&controls);
    }
}

/// From 0 to 1 over a duration [s], starting and ending at rest: 3 s² − 2 s³.
pub fn eased(time: f64, duration: f64) -> f64 {
    let s = (time / duration).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{UnitQuaternion, Vector3};
    use std::f64::consts::PI;

    #[test]
    fn the_hand_reaches_what_is_in_reach() {
        let down = UnitQuaternion::from_scaled_axis(Vector3::x() * PI);
        let mut reach = ArmInverseKinematics::new(Isometry3::identity()).unwrap();
        for place in [[0.5, 0.0, 0.1], [0.68, 0.0, 0.01], [0.25, -0.1, 0.36], [0.5, -0.4, 0.4]] {
            let target = Isometry3::from_parts(Vector3::from(place).into(), down);
            let angles = reach.first_angles(&target);
            let hand = reach.hand_at(&angles);
            // The pull towards ease leaves an error of the order of the damping squared.
            assert!(
                (hand.translation.vector - target.translation.vector).norm() < 1e-4,
                "{place:?}"
            );
            assert!(hand.rotation.angle_to(&target.rotation) < 1e-3, "{place:?}");
        }
    }
}
