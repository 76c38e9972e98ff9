//! An arm with a hand that approaches a bottle from the side, wraps its digits around it and moves it.

use nalgebra::{Isometry3, Translation3};
use stiction_geom::Groups;
use stiction_mech::{BodyId, Model, State};
use stiction_scene::Controller;
use stiction_scene::pose_follower::PoseFollower;
use stiction_sim::{Simulation, Surface, WorldBuilder};

use super::digit_wrap::{self, BENDS, Wrap};
use super::hand::{Digit, HandSpec, WRAPPING};
use super::hand_arm::{self, Bend, HandArm};
use super::reach::eased;
use crate::error::StudyError;
use crate::scenarios::field_parts::{BOTTLE_RADIUS, THICKNESS};

const HAND: HandSpec = WRAPPING;
/// Angles of an open digit [rad].
const OPEN: [f64; BENDS] = [0.8, 0.8];
/// Gap between palm and bottle when the digits close [m].
const GAP: f64 = 2e-4;
/// Force of the thumb [N], which those of the other digits balance.
const FORCE: f64 = 14.0;
/// How far the hand is away from the bottle at the start [m], time in which it comes to it, and in which it closes [s].
const AWAY: f64 = 0.12;
const APPROACH: f64 = 0.5;
const CLOSE: f64 = 0.3;
/// Time after which the hand holds the bottle [s].
pub const GRASPED: f64 = APPROACH + CLOSE + 0.05;
/// Hinges of the arm without a preferred angle: the first, which turns towards the hand, and those that turn the bottle.
const FREE: [usize; 3] = [0, 5, 6];

/// A wanted pose over time [s].
pub type BottlePath = Box<dyn Fn(f64) -> Isometry3<f64> + Send>;

/// What an arm does with a bottle.
pub struct BottleTask {
    /// Where the arm stands.
    pub base: Isometry3<f64>,
    /// Frame in the bottle, on its axis, with z away from the palm and y along the axis.
    pub grasp: Isometry3<f64>,
    /// Wanted pose of the bottle.
    pub path: BottlePath,
}

impl BottleTask {
    /// Pose of the palm at a time [s].
    fn palm(&self, time: f64) -> Isometry3<f64> {
        let back = depth() + AWAY * (1.0 - eased(time, APPROACH));
        (self.path)(time) * self.grasp * Translation3::new(0.0, 0.0, -back)
    }
}

/// Distance of the axis of the bottle from the middle of the palm [m].
fn depth() -> f64 {
    HAND.palm[2] + GAP + BOTTLE_RADIUS + 0.5 * THICKNESS
}

/// Controls of a closed digit [rad]: its angles around the bottle, and ahead of them what the springs of the servos turn into the
/// force of the grasp.
fn closed(digit: &Digit) -> [f64; BENDS] {
    let radius = BOTTLE_RADIUS + 0.5 * THICKNESS + HAND.radius;
    let Wrap { angles, levers } = digit_wrap::around(digit, depth(), radius);
    let fingers = HAND.digits.iter().filter(|digit| !digit.spreads).count();
    let force = if digit.spreads { FORCE } else { FORCE / fingers as f64 };
    let [stiffness, _] = HAND.servo;
    std::array::from_fn(|k| angles[k] + force * levers[k] / stiffness)
}

/// An arm that was added to a world.
pub struct AddedArm {
    arm: HandArm,
    task: BottleTask,
}

/// Adds an arm that is ready to approach its bottle.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    task: BottleTask,
    surface: Surface,
    groups: Groups,
) -> Result<AddedArm, StudyError> {
    let arm = hand_arm::add(builder, name, task.base, HAND, &task.palm(0.0), surface, groups)?;
    Ok(AddedArm { arm, task })
}

impl AddedArm {
    /// The palm in the model that was built.
    pub fn palm(&self, model: &Model) -> BodyId {
        self.arm.palm(model)
    }

    /// Leads it. Opens the hand in the state to start from.
    pub fn lead(self, model: &Model, state: &mut State) -> Result<BottleArm, StudyError> {
        let Self { arm, task } = self;
        let mut hinges = Vec::new();
        for (digit, bends) in HAND.digits.iter().zip(arm.bends(model)) {
            for ((Bend { control, coordinate }, open), closed) in
                bends.into_iter().zip(OPEN).zip(closed(digit))
            {
                state.q[coordinate] = open;
                hinges.push((control, [open, closed]));
            }
        }
        let path = Box::new(move |time: f64, _: &Isometry3<f64>| task.palm(time));
        Ok(BottleArm { follower: arm.follower(model, &FREE, path)?, hinges })
    }
}

/// Leads an arm and its hand.
pub struct BottleArm {
    follower: PoseFollower,
    /// Places of the controls of the digits, and the controls of an open and of a closed hand [rad].
    hinges: Vec<(usize, [f64; 2])>,
}

impl Controller for BottleArm {
    fn control(&mut self, simulation: &mut Simulation) {
        self.follower.control(simulation);
        let end = simulation.state().time + simulation.settings().time_step;
        let part = eased(end - APPROACH, CLOSE);
        let control = &mut simulation.input_mut().control;
        for (at, [open, closed]) in &self.hinges {
            control[*at] = open + part * (closed - open);
        }
    }
}
