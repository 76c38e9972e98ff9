//! Inverse kinematics of a manipulator: hinge angles for a pose of its hand, by damped least squares.
//!
//! With e the way from the hand to its target, `Δq = Jᵀ (J Jᵀ + ν² I)⁻¹ e` [Nakamura86]; what is left of
//! the freedom draws the arm towards its angles at ease. [`HandPathFollower`] steers servos along a path of the hand.
//! It keeps no memory: each step begins from the measured angles, so that a run that was interrupted
//! goes on as it would have. No memory is taken in a step.

use nalgebra::{Isometry3, SMatrix, SVector, Vector3};
use stiction_mech::{BodyId, Data, for_each_column, kinematics};
use stiction_scene::Controller;
use stiction_sim::{Simulation, World, WorldBuilder};

use super::manipulator::{self, AT_EASE, JOINTS};
use crate::error::StudyError;

/// Length [m] by which an error of angle is compared with one of position.
const LEVER: f64 = 0.2;
/// Damping ν [m].
const DAMPING: f64 = 2e-3;
/// Part of the way to the angles at ease that an iteration takes.
const EASE: f64 = 2e-3;
/// Largest change of an angle in an iteration [rad].
const LARGEST: f64 = 0.2;
/// Iterations of a step, and of the search for the first angles.
const ITERATIONS: usize = 4;
const FIRST_ITERATIONS: usize = 400;

type Angles = SVector<f64, JOINTS>;
type Jacobian = SMatrix<f64, 6, JOINTS>;

/// Inverse kinematics of a manipulator, on a copy of it without surroundings.
pub struct ArmInverseKinematics {
    world: World,
    data: Data,
    hand: BodyId,
    angles: [f64; JOINTS],
}

impl ArmInverseKinematics {
    /// A manipulator at ease that stands at `base`.
    pub fn new(base: Isometry3<f64>) -> Result<Self, StudyError> {
        let mut builder = WorldBuilder::new();
        let arm = manipulator::add(&mut builder, "reach", base, &AT_EASE, 0.1)?;
        let world = builder.build()?;
        let hand = world.model().body_of_builder(arm.hand).unwrap_or(BodyId::WORLD);
        Ok(Self { data: Data::new(world.model()), world, hand, angles: AT_EASE })
    }

    /// Angles [rad] at which the hand is at a target, sought from the angles at ease.
    pub fn first_angles(&mut self, target: &Isometry3<f64>) -> [f64; JOINTS] {
        self.angles = AT_EASE;
        (0..FIRST_ITERATIONS).for_each(|_| self.improve(target));
        self.angles
    }

    /// Angles [rad] near the given ones at which the hand is nearer to a target.
    pub fn angles(&mut self, from: [f64; JOINTS], target: &Isometry3<f64>) -> [f64; JOINTS] {
        self.angles = from;
        (0..ITERATIONS).for_each(|_| self.improve(target));
        self.angles
    }

    /// Pose of the hand.
    pub fn hand_at(&mut self, angles: &[f64; JOINTS]) -> Isometry3<f64> {
        kinematics(self.world.model(), angles, &mut self.data);
        self.data.body_pose[self.hand.0]
    }

    /// One iteration.
    fn improve(&mut self, target: &Isometry3<f64>) {
        let hand = self.hand_at(&{ self.angles });
        let place = hand.translation.vector;
        let way = target.translation.vector - place;
        let turn = (target.rotation * hand.rotation.inverse()).scaled_axis();
        let mut e = SVector::<f64, 6>::zeros();
        e.fixed_rows_mut::<3>(0).copy_from(&(turn * LEVER));
        e.fixed_rows_mut::<3>(3).copy_from(&way);
        let mut J = Jacobian::zeros();
        let column = |dof: usize, w: Vector3<f64>, v: Vector3<f64>| {
            J.fixed_view_mut::<3, 1>(0, dof).copy_from(&(w * LEVER));
            J.fixed_view_mut::<3, 1>(3, dof).copy_from(&v);
        };
        for_each_column(self.world.model(), &self.data, self.hand, place, column);
        let squared = J * J.transpose() + SMatrix::<f64, 6, 6>::identity() * (DAMPING * DAMPING);
        let Some(factor) = squared.cholesky() else { return };
        let ease = (Angles::from(AT_EASE) - Angles::from(self.angles)) * EASE;
        let step = ease + J.transpose() * factor.solve(&(e - J * ease));
        let step = step * (LARGEST / step.amax().max(LARGEST));
        for (angle, change) in self.angles.iter_mut().zip(&step) {
            *angle += change;
        }
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
    use nalgebra::UnitQuaternion;
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
