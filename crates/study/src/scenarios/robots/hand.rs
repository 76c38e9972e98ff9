//! A hand of sixteen hinges: three fingers and a thumb that opposes them, on a palm.
//!
//! ```text
//!        z ↑   ball goes here           each digit: one hinge that spreads it (about z) and three
//!   ╲ thumb │        fingers ╱          that bend it towards z; links are capsules, the palm is a
//!    ╲______▄▄▄▄▄▄▄▄________╱           box. A servo on every hinge.
//!              palm      → x
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use stiction_geom::{Groups, Shape};
use stiction_mech::{
    ActuatorId, ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Limit, Transmission,
};
use stiction_sim::{Geom, Surface, WorldBuilder};

use super::arm::homogeneous;
use crate::error::StudyError;

/// Half edges of the palm [m] and its mass [kg].
pub const PALM: [f64; 3] = [0.035, 0.06, 0.012];
const PALM_MASS: f64 = 0.4;
/// Lengths [m] and masses [kg] of the links of a digit, and their radius [m].
const LENGTH: [f64; 3] = [0.054, 0.038, 0.032];
const MASS: [f64; 3] = [0.04, 0.03, 0.02];
const RADIUS: f64 = 0.011;
/// Distance of neighbouring fingers [m].
const SPREAD: f64 = 0.042;
/// Servos [N·m/rad, N·m·s/rad] and their largest torque [N·m].
const KP: f64 = 1.5;
const KD: f64 = 0.05;
const TORQUE: f64 = 0.6;

/// Digits, and hinges of each.
pub const DIGITS: usize = 4;
/// Hinges of a digit: it spreads with the first and bends with the others.
pub const HINGES: usize = 4;

/// A hand in a world.
#[derive(Clone, Debug)]
pub struct Hand {
    /// The servos, digit by digit, the thumb last; their controls are angles [rad].
    pub servos: Vec<ActuatorId>,
    /// Every body of it, the palm first.
    pub bodies: Vec<BodyId>,
}

/// Adds a hand whose palm, a body that has joints already, is at the origin of `palm`. Its parts do not
/// touch one another: they are of the category `groups` and touch only what it says.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    palm: BodyId,
    surface: Surface,
    groups: Groups,
) -> Result<Hand, StudyError> {
    let shape = Shape::cuboid(Vector3::from(PALM))?;
    let geom = Geom::new(palm, shape).surface(surface).coloured(0.25, 0.25, 0.28);
    builder.geom(Geom { groups, ..geom });
    let mut hand = Hand { servos: Vec::new(), bodies: vec![palm] };
    for digit in 0..DIGITS {
        let is_thumb = digit + 1 == DIGITS;
        // The thumb is a finger on the other side.
        let turn =
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), if is_thumb { PI } else { 0.0 });
        let aside = if is_thumb { 0.0 } else { SPREAD * (digit as f64 - 1.0) };
        let base = turn * Vector3::new(PALM[0], 0.0, 0.0) + Vector3::y() * aside;
        let foot = Isometry3::from_parts(Translation3::from(base), turn);
        let label = format!("{name}-{}", ["index", "middle", "little", "thumb"][digit]);
        add_digit(builder, &label, palm, foot, surface, groups, &mut hand)?;
    }
    Ok(hand)
}

/// Mass properties of the palm.
pub fn palm_mass() -> Result<stiction_mech::MassProperties, StudyError> {
    homogeneous(&Shape::cuboid(Vector3::from(PALM))?, PALM_MASS, Vector3::zeros())
}

/// A digit whose first hinge stands at `foot` in the palm's frame.
fn add_digit(
    builder: &mut WorldBuilder,
    name: &str,
    palm: BodyId,
    foot: Isometry3<f64>,
    surface: Surface,
    groups: Groups,
    hand: &mut Hand,
) -> Result<(), StudyError> {
    let (mut parent, mut foot) = (palm, foot);
    for k in 0..3 {
        // Along x of the link's own frame, whose origin is its hinge.
        let shape = Shape::capsule(RADIUS, 0.5 * LENGTH[k])?;
        let lie = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
        let centre = Translation3::new(0.5 * LENGTH[k], 0.0, 0.0);
        let upright = homogeneous(&shape, MASS[k], Vector3::zeros())?;
        let R = lie.to_rotation_matrix();
        let mass = stiction_mech::MassProperties::new(
            MASS[k],
            centre.vector,
            R * upright.inertia() * R.transpose(),
        )?;
        let body = builder.mechanism.body(BodySpec {
            name: format!("{name}-{k}"),
            parent,
            pose: foot,
            mass: Some(mass),
            gravity_compensation: 1.0,
            ..BodySpec::default()
        });
        let bend = (-Vector3::y(), Limit { lower: -0.3, upper: 1.8, margin: 0.0 });
        let spread = (Vector3::z(), Limit { lower: -0.5, upper: 0.5, margin: 0.0 });
        let hinges = if k == 0 { vec![spread, bend] } else { vec![bend] };
        for (axis, limit) in hinges {
            let name = format!("{name}-hinge-{}", hand.servos.len() % HINGES);
            let hinge = JointSpec::new(JointKind::Hinge { axis });
            let joint = JointSpec { name: name.clone(), limit: Some(limit), ..hinge };
            let joint = builder.mechanism.joint(body, joint);
            let servo = ActuatorSpec::position(name, Transmission::Joint(joint), KP, KD);
            let force_range = Some((-TORQUE, TORQUE));
            hand.servos.push(builder.mechanism.actuator(ActuatorSpec { force_range, ..servo }));
        }
        let geom = Geom::new(body, shape).surface(surface).coloured(0.85, 0.85, 0.82);
        builder.geom(Geom { groups, ..geom.at(Isometry3::from_parts(centre, lie)) });
        hand.bodies.push(body);
        (parent, foot) = (body, Isometry3::translation(LENGTH[k], 0.0, 0.0));
    }
    Ok(())
}
