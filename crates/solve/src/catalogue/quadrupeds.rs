//! Four-legged robots that land shoulder to shoulder, in joint coordinates.
//!
//! ```text
//!        trunk                each leg: abduction (about x), hip (about y), knee (about y);
//!    o───────────o            hinges are held by an implicit servo, which adds
//!   /           /             δt d + δt² k to their diagonal of A and δt k times
//!   \           \             their error to b
//!    ˙           ˙  feet
//! ```
//! A robot has a floating trunk and twelve hinges. All of it moves in translation when it lands,
//! so that no velocity-product force acts. Thighs of neighbours touch. The first robot is heavier
//! by the mass ratio.

use nalgebra::{Matrix3, Vector3};
use stiction_math::spatial::Inertia10;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, GRAVITY, Side, Solid};
use super::linkage::{LinkId, Linkage};
use crate::error::ProblemError;
use crate::problem::{Map, Problem, Tree};

const TRUNK: [f64; 3] = [0.5, 0.25, 0.15]; // [m]
const TRUNK_MASS: f64 = 12.0; // [kg]
const HIP: [f64; 2] = [0.21, 0.125]; // position of a hip on the trunk [m]
const HIP_OFFSET: f64 = 0.04; // from the abduction axis to the thigh [m]
const HIP_EDGE: f64 = 0.08; // [m]
const HIP_MASS: f64 = 1.0; // [kg]
const LEG: f64 = 0.22; // length of a thigh or shank [m]
const THIGH_MASS: f64 = 1.2; // [kg]
const THIGH_WIDTH: f64 = 0.04; // [m]
const SHANK_MASS: f64 = 0.3; // [kg]
const SHANK_WIDTH: f64 = 0.02; // [m]
const BEND: f64 = 0.6; // of thigh and shank from the vertical [rad]
const STIFFNESS: f64 = 40.0; // of the servos [N·m/rad]
const DAMPING: f64 = 1.0; // of the servos [N·m·s/rad]
const SERVO_ERROR: f64 = 0.1; // [rad]
const LANDING: f64 = 0.3; // downward speed [m/s]
const DRIFT: f64 = 0.3; // horizontal speed [m/s]

/// A robot's links and its contact points.
struct Robot {
    linkage: Linkage,
    /// Foot links with their lowest points.
    feet: Vec<(LinkId, Vector3<f64>)>,
    /// Thigh links on the left (+y) and right with their outermost points.
    thighs: Vec<(f64, LinkId, Vector3<f64>)>,
    mass: f64,
}

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.6,
        mass_ratio: 1.0,
        size: 3,
        largest_size: 2_000,
    };
    let mut assembly = Assembly::new("quadrupeds", variation, defaults)?;
    let pitch = 2.0 * (HIP[1] + HIP_OFFSET + 0.5 * THIGH_WIDTH);
    let mut left: Vec<(Side, Vector3<f64>)> = Vec::new();
    for k in 0..assembly.size {
        let factor = if k == 0 { assembly.mass_ratio } else { 1.0 };
        let robot = robot(pitch * k as f64, factor);
        let (tree, b) = one_step(&mut assembly, &robot);
        let id = assembly.builder.tree(&tree, &b);
        for (foot, point) in &robot.feet {
            let side = Side::link(assembly.builder.port(id, Map::Link(*foot)));
            assembly.contact(None, &side, *point, Vector3::z(), 0.0);
        }
        let mut thighs = Vec::new();
        for (outward, thigh, point) in &robot.thighs {
            let port = assembly.builder.port(id, Map::Link(*thigh));
            thighs.push((*outward, Side::link(port), *point));
        }
        let right = thighs.iter().filter(|(outward, ..)| *outward < 0.0);
        for ((other, _), (_, side, point)) in left.iter().zip(right) {
            assembly.contact(Some(other), side, *point, Vector3::y(), 0.0);
        }
        let towards_next = thighs.iter().filter(|(outward, ..)| *outward > 0.0);
        left = towards_next.map(|(_, side, point)| (*side, *point)).collect();
    }
    assembly.build()
}

/// The tree and b of a step with gravity, servos and a random wrench on the trunk.
fn one_step(assembly: &mut Assembly, robot: &Robot) -> (Tree, Vec<f64>) {
    let (dt, n) = (assembly.time_step, robot.linkage.dofs());
    let mut A = vec![0.0; n * n];
    robot.linkage.tree(&vec![0.0; n]).mass_matrix(&mut A);
    let drift = assembly.normal3() * DRIFT;
    let velocity = [drift.x, drift.y, -LANDING];
    let weight = robot.linkage.field_force(Vector3::z() * -GRAVITY);
    let mut b: Vec<f64> = (0..n)
        .map(|i| {
            let momentum: f64 = velocity.iter().enumerate().map(|(j, v)| A[i * n + j] * v).sum();
            momentum + dt * weight[i]
        })
        .collect();
    let reach = TRUNK[0] * TRUNK[0] / 12.0;
    for (b, w) in b.iter_mut().zip(&assembly.random_wrench(robot.mass, robot.mass * reach)) {
        *b += w;
    }
    let mut servo = vec![0.0; n];
    for hinge in 6..n {
        servo[hinge] = dt * DAMPING + dt * dt * STIFFNESS;
        b[hinge] += dt * STIFFNESS * SERVO_ERROR * assembly.random.normal();
    }
    (robot.linkage.tree(&servo), b)
}

/// A robot that stands at `y` [m], with all its masses multiplied by `factor`.
fn robot(y: f64, factor: f64) -> Robot {
    let height = 2.0 * LEG * BEND.cos();
    let centre = Vector3::new(0.0, y, height);
    let trunk = Solid::cuboid(factor * TRUNK_MASS, TRUNK.into(), centre);
    let mut linkage = Linkage::floating(inertia(&trunk), centre);
    let (mut feet, mut thighs) = (Vec::new(), Vec::new());
    for forward in [1.0, -1.0] {
        for outward in [1.0, -1.0] {
            let socket = centre + Vector3::new(forward * HIP[0], outward * HIP[1], 0.0);
            let solid = Solid::cuboid(factor * HIP_MASS, Vector3::from_element(HIP_EDGE), socket);
            let hip = linkage.hinge(0, Vector3::x(), socket, inertia(&solid));
            let top = socket + Vector3::y() * (outward * HIP_OFFSET);
            let knee = top + LEG * Vector3::new(-BEND.sin(), 0.0, -BEND.cos());
            let foot = knee + LEG * Vector3::new(BEND.sin(), 0.0, -BEND.cos());
            let rod = rod(factor * THIGH_MASS, THIGH_WIDTH, top, knee);
            let thigh = linkage.hinge(hip, Vector3::y(), top, inertia(&rod));
            let rod = self::rod(factor * SHANK_MASS, SHANK_WIDTH, knee, foot);
            let shank = linkage.hinge(thigh, Vector3::y(), knee, inertia(&rod));
            feet.push((shank, foot));
            let touch = 0.5 * (top + knee) + Vector3::y() * (outward * 0.5 * THIGH_WIDTH);
            thighs.push((outward, thigh, touch));
        }
    }
    let mass = factor * (TRUNK_MASS + 4.0 * (HIP_MASS + THIGH_MASS + SHANK_MASS));
    Robot { linkage, feet, thighs, mass }
}

/// A square rod between two points.
fn rod(mass: f64, width: f64, from: Vector3<f64>, to: Vector3<f64>) -> Solid {
    let along = to - from;
    // Second moments: width²/12 across, length²/12 along.
    let across = mass * width * width / 12.0;
    let axis = along.normalize();
    let extra = mass * along.norm_squared() / 12.0 - across;
    let second = Matrix3::from_diagonal_element(across) + extra * axis * axis.transpose();
    let inertia = Matrix3::from_diagonal_element(second.trace()) - second;
    Solid { mass, inertia, centre: 0.5 * (from + to) }
}

fn inertia(solid: &Solid) -> Inertia10 {
    Inertia10::from_central(solid.mass, solid.centre, &solid.inertia)
}
