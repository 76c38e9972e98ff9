//! An arm of seven hinges with a hand of seven that grasps a bottle from the side and moves it.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use stiction_geom::Groups;
use stiction_mech::{BodyId, BodySpec, InverseKinematics, JointId, Model, State};
use stiction_scene::Controller;
use stiction_scene::pose_follower::PoseFollower;
use stiction_sim::{Simulation, Surface, WorldBuilder};

use super::digit_wrap::{self, BENDS, Wrap};
use super::hand::{Digit, Hand, HandSpec, WRAPPING};
use super::manipulator::{self, AT_EASE, DAMPING_TIME, JOINTS, Manipulator};
use super::reach::ArmInverseKinematics;
use crate::error::StudyError;
use crate::scenarios::field_parts::{BOTTLE_RADIUS, THICKNESS};

const HAND: HandSpec = WRAPPING;
/// Angles of an open digit [rad].
const OPEN: [f64; BENDS] = [0.8, 0.8];
/// Gap between palm and bottle [m].
const GAP: f64 = 2e-4;
/// Force of the thumb [N], which those of the other digits balance.
const FORCE: f64 = 14.0;

/// A bottle over time, and the arm that moves it.
pub trait BottlePath: Send + Sync {
    /// Wanted pose of the bottle at a time [s].
    fn bottle(&self, time: f64) -> Isometry3<f64>;
    /// Frame in the bottle, on its axis, with z away from the palm and y along the axis.
    fn grasp(&self) -> Isometry3<f64>;
    /// Distance of the hand from its place at the bottle at a time [m].
    fn approach(&self, time: f64) -> f64;
    /// How far the hand has closed at a time, from zero to one [-].
    fn closed(&self, time: f64) -> f64;
    /// Where the arm stands.
    fn base(&self) -> Isometry3<f64>;
}

/// Distance of the axis of the bottle from the middle of the palm [m].
fn depth() -> f64 {
    HAND.palm[2] + GAP + BOTTLE_RADIUS + 0.5 * THICKNESS
}

/// Pose of the hand of the arm at a time [s].
fn hand_pose(path: &dyn BottlePath, time: f64) -> Isometry3<f64> {
    let back = HAND.palm[2] + depth() + path.approach(time);
    path.bottle(time) * path.grasp() * Translation3::new(0.0, 0.0, -back)
}

/// A digit around the bottle.
fn wrap(digit: &Digit) -> Wrap {
    digit_wrap::around(digit, depth(), BOTTLE_RADIUS + 0.5 * THICKNESS + HAND.radius)
}

/// Controls of the bending hinges of a digit that has closed by a part: angles, and ahead of them what the springs of the servos turn
/// into the force of the grasp.
fn bends(digit: &Digit, closed: f64) -> [f64; BENDS] {
    let Wrap { angles, levers } = wrap(digit);
    let fingers = HAND.digits.iter().filter(|digit| !digit.spreads).count();
    let force = if digit.spreads { FORCE } else { FORCE / fingers as f64 };
    let [stiffness, _] = HAND.servo;
    std::array::from_fn(|k| {
        OPEN[k] + closed * (angles[k] - OPEN[k] + force * levers[k] / stiffness)
    })
}

/// An arm that was added to a world, in the ids of its builder.
pub struct AddedArm {
    name: String,
    arm: Manipulator,
    hand: Hand,
    /// The palm.
    pub palm: BodyId,
}

/// Adds an arm that is ready to approach a bottle.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    path: &dyn BottlePath,
    surface: Surface,
    groups: Groups,
) -> Result<AddedArm, StudyError> {
    let base = path.base();
    let first = ArmInverseKinematics::new(base)?.first_angles(&hand_pose(path, 0.0));
    let arm = manipulator::add(builder, name, base, &first, 0.06)?;
    let palm = builder.mechanism.body(BodySpec {
        name: format!("{name}-palm"),
        parent: arm.hand,
        pose: Isometry3::from_parts(
            Translation3::new(0.0, 0.0, HAND.palm[2]),
            UnitQuaternion::identity(),
        ),
        mass: Some(HAND.palm_mass()?),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    let hand = HAND.add(builder, name, palm, surface, groups)?;
    Ok(AddedArm { name: name.to_owned(), arm, hand, palm })
}

impl AddedArm {
    /// Leads it in the world that was built. Opens the hand in the state to start from.
    pub fn lead(
        self,
        model: &Model,
        path: Box<dyn BottlePath>,
        state: &mut State,
    ) -> Result<BottleArm, StudyError> {
        let Self { name, arm, hand, .. } = self;
        let path: std::sync::Arc<dyn BottlePath> = path.into();
        let joints: Vec<JointId> =
            (0..JOINTS).filter_map(|k| model.joint(&format!("{name}-{k}"))).collect();
        let body = model.body_of_builder(arm.hand).unwrap_or(arm.hand);
        let mut chain = InverseKinematics::new(model, &joints, body, Isometry3::identity())?;
        let mut posture = AT_EASE;
        // The arm turns towards its hand, and the hand turns the bottle.
        (posture[0], posture[JOINTS - 2], posture[JOINTS - 1]) = (f64::NAN, f64::NAN, f64::NAN);
        chain.set_posture(&posture);
        let controls = (arm.first_control..arm.first_control + JOINTS).collect();
        let way = path.clone();
        let poses = Box::new(move |time: f64, _: &Isometry3<f64>| hand_pose(&*way, time));
        let follower = PoseFollower::new(model, chain, controls, DAMPING_TIME, poses);
        let mut servos = hand.servos.iter().map(|servo| servo.0);
        let mut bending = Vec::new();
        for digit in HAND.digits {
            let hinges = BENDS + usize::from(digit.spreads);
            for k in 0..hinges {
                let control = servos.next().unwrap_or_default();
                let Some(bend) = k.checked_sub(usize::from(digit.spreads)) else { continue };
                let joint = model.joint(&format!("{name}-{}-hinge-{k}", digit.name));
                if let Some(joint) = joint {
                    state.q[model.joints()[joint.0].q.start] = OPEN[bend];
                }
                let [opened, closed] = [0.0, 1.0].map(|closed| bends(digit, closed)[bend]);
                bending.push(Bending { control, opened, closed });
            }
        }
        Ok(BottleArm { follower, path, bending })
    }
}

/// Controls of a hinge of an open and of a closed hand.
struct Bending {
    control: usize,
    opened: f64,
    closed: f64,
}

/// Leads an arm and its hand.
pub struct BottleArm {
    follower: PoseFollower,
    path: std::sync::Arc<dyn BottlePath>,
    bending: Vec<Bending>,
}

impl BottleArm {
    /// Sets the controls of the coming step.
    pub fn control(&mut self, simulation: &mut Simulation) {
        self.follower.control(simulation);
        let end = simulation.state().time + simulation.settings().time_step;
        let part = self.path.closed(end);
        let control = &mut simulation.input_mut().control;
        for Bending { control: of, opened, closed } in &self.bending {
            control[*of] = opened + part * (closed - opened);
        }
    }
}
