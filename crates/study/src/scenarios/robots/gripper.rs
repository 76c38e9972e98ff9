//! A gripper on a base of six freedoms, with two fingers on prismatic joints that face one another
//! along y.
//!
//! ```text
//!      ┌──── palm ────┐        the base moves along x, y, z and turns about them, held by servos;
//!      ▌→            ←▐        fingers move towards one another, pushed by springs whose ends
//!      ▌   (part)     ▐        are the controls
//! ```
//! Its weight is balanced. The palm is visual only.

use nalgebra::{Isometry3, Translation3, Vector3};
use stiction_geom::{Groups, Shape};
use stiction_mech::{ActuatorSpec, BodyId, JointKind, JointSpec, Transmission};
use stiction_sim::{Geom, Surface, WorldBuilder};

use super::arm::homogeneous;
use super::bar::NO_COLLISION;
use super::manipulator::balanced;
use crate::error::StudyError;

/// Controls: three translations [m] and three angles [rad] of the base, then the two fingers [m].
pub const CONTROLS: usize = 8;
/// The control that lifts.
pub const LIFT: usize = 2;
/// The first control of the fingers.
pub const FINGERS: usize = 6;
/// Mass of the palm and of a finger [kg].
const PALM_MASS: f64 = 1.0;
const FINGER_MASS: f64 = 0.1;
/// Servos of the base [N/m or N·m/rad] and the time [s] by which damping exceeds stiffness.
const BASE_KP: f64 = 1e5;
const BASE_DAMPING_TIME: f64 = 0.02;
/// Springs of the fingers [N/m], their damping [N·s/m].
pub const FINGER_KP: f64 = 1000.0;
const FINGER_KD: f64 = 40.0;
const PALM_HALF_HEIGHT: f64 = 0.01; // [m]

/// The fingers of a gripper: boxes with faces that lie opposite one another.
#[derive(Clone, Copy, Debug)]
pub struct Fingers {
    /// Half their edges [m]: along x, through the finger (y), and along z.
    pub half: [f64; 3],
    /// Distance between the faces when it is open [m].
    pub opening: f64,
    /// Their surface.
    pub surface: Surface,
    /// Collision groups.
    pub groups: Groups,
}

/// A gripper in a world, by the ids of its builder.
#[derive(Clone, Copy, Debug)]
pub struct Gripper {
    /// The palm.
    pub base: BodyId,
    /// The fingers, that at negative y first.
    pub fingers: [BodyId; 2],
    /// Place of the first of its controls.
    pub first_control: usize,
}

/// Adds a gripper whose open fingers have their middle at a place [m].
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    middle: Vector3<f64>,
    fingers: &Fingers,
) -> Result<Gripper, StudyError> {
    let first_control = builder.mechanism.declared().actuators.len();
    let [along, through, high] = fingers.half;
    let across = 0.5 * fingers.opening + through;
    let palm = Shape::cuboid(Vector3::new(along, across + through, PALM_HALF_HEIGHT))?;
    let up = Vector3::z() * (high + PALM_HALF_HEIGHT);
    let mass = homogeneous(&palm, PALM_MASS, Vector3::zeros())?;
    let pose = Isometry3::from(Translation3::from(middle + up));
    let base = balanced(builder, &format!("{name}-palm"), BodyId::WORLD, pose, mass);
    for (k, axis) in [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().enumerate() {
        joint(builder, &format!("{name}-slide-{k}"), base, JointKind::Slide { axis }, base_servo());
    }
    for (k, axis) in [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().enumerate() {
        joint(builder, &format!("{name}-turn-{k}"), base, JointKind::Hinge { axis }, base_servo());
    }
    let geom = Geom::new(base, palm).coloured(0.3, 0.35, 0.45);
    builder.geom(Geom { groups: NO_COLLISION, ..geom });
    let mut added = [base; 2];
    for (finger, side) in added.iter_mut().zip([-1.0, 1.0]) {
        let name = format!("{name}-finger-{}", if side < 0.0 { "right" } else { "left" });
        let shape = Shape::cuboid(Vector3::from(fingers.half))?;
        let mass = homogeneous(&shape, FINGER_MASS, Vector3::zeros())?;
        let pose = Isometry3::from(Translation3::from(Vector3::y() * (side * across) - up));
        *finger = balanced(builder, &name, base, pose, mass);
        let inward = JointKind::Slide { axis: Vector3::y() * -side };
        joint(builder, &name, *finger, inward, (FINGER_KP, FINGER_KD));
        let geom = Geom::new(*finger, shape).surface(fingers.surface).named(name);
        builder.geom(Geom { groups: fingers.groups, ..geom.coloured(0.9, 0.55, 0.15) });
    }
    Ok(Gripper { base, fingers: added, first_control })
}

fn base_servo() -> (f64, f64) {
    (BASE_KP, BASE_DAMPING_TIME * BASE_KP)
}

fn joint(
    builder: &mut WorldBuilder,
    name: &str,
    body: BodyId,
    kind: JointKind,
    (kp, kd): (f64, f64),
) {
    let spec = JointSpec { name: name.to_owned(), ..JointSpec::new(kind) };
    let joint = Transmission::Joint(builder.mechanism.joint(body, spec));
    builder.mechanism.actuator(ActuatorSpec::position(name, joint, kp, kd));
}

/// A grasp over time: fingers close, then the base rises, then both stay.
#[derive(Clone, Copy, Debug)]
pub struct Grasp {
    /// How far the ends of the fingers' springs travel [m].
    pub stroke: f64,
    /// Time of closing [s].
    pub close: f64,
    /// Height of the lift [m].
    pub height: f64,
    /// Time of lifting [s].
    pub lift: f64,
    /// Place of the first control.
    pub first_control: usize,
}

impl Grasp {
    /// Sets the controls of the end of the coming step.
    pub fn control(&self, simulation: &mut stiction_sim::Simulation) {
        let time = simulation.state().time + simulation.settings().time_step;
        let closed = self.stroke * super::reach::eased(time, self.close);
        let rate = |at: f64| super::reach::eased(at - self.close, self.lift);
        let h = simulation.settings().time_step;
        let speed = self.height * (rate(time) - rate(time - h)) / h;
        let lifted = self.height * rate(time) + BASE_DAMPING_TIME * speed;
        let control = &mut simulation.input_mut().control[self.first_control..];
        control[LIFT] = lifted;
        control[FINGERS..FINGERS + 2].fill(closed);
    }
}
