//! A manipulator of seven hinges with a servo on each: shoulder and wrist turn about three axes that
//! meet in a point, the elbow about one.
//!
//! ```text
//!            elbow  y o──z──z──o y  wrist        hinges alternate between the length of the arm (z)
//!                    z│        │z                and across it (y). The frame of the hand stands at
//!                    z│        ▼ hand            the tip of the tool, z out of the hand.
//!           shoulder y o
//!                    z│ base
//! ```
//! Its weight is balanced, as industrial arms do by their own model of themselves. Links can be seen
//! and not touched: what the hand holds is attached to it.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, MassProperties, Transmission,
};
use stiction_sim::{Geom, WorldBuilder};

use super::arm::homogeneous;
use super::bar::NO_COLLISION;
use crate::error::StudyError;

/// Number of hinges.
pub const JOINTS: usize = 7;
/// Lengths [m], radii [m] and masses [kg] of the links.
const LENGTH: [f64; JOINTS] = [0.30, 0.18, 0.18, 0.20, 0.20, 0.06, 0.05];
const RADIUS: [f64; JOINTS] = [0.06, 0.055, 0.05, 0.045, 0.04, 0.035, 0.025];
const MASS: [f64; JOINTS] = [3.0, 2.5, 2.0, 1.5, 1.2, 0.8, 0.3];
/// Half the height of the hand [m], and its mass [kg].
const HAND_HALF: f64 = 0.015;
const HAND_MASS: f64 = 0.2;
/// Stiffness of the servos [N·m/rad].
const KP: [f64; JOINTS] = [5e3, 5e3, 3e3, 3e3, 1e3, 1e3, 5e2];
/// Ratio of the damping of the servos to their stiffness [s].
pub const DAMPING_TIME: f64 = 0.05;
/// Angles at ease [rad]: elbow up, the hand down in front of the base.
pub const AT_EASE: [f64; JOINTS] = [0.0, 0.3, 0.0, 1.8, 0.0, 1.04, 0.0];

/// Elements that were added to a world, in the ids of its builder.
#[derive(Clone, Copy, Debug)]
pub struct Manipulator {
    /// The hand, with its frame at the tip of the tool.
    pub hand: BodyId,
    /// Place of the first of its seven controls, which are angles [rad].
    pub first_control: usize,
}

/// Adds a manipulator that stands at `base` with its hinges at `angles` [rad] and a hand of a width
/// [m] along y.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    base: Isometry3<f64>,
    angles: &[f64; JOINTS],
    width: f64,
) -> Result<Manipulator, StudyError> {
    let first_control = builder.mechanism.declared().actuators.len();
    let (mut parent, mut foot) = (BodyId::WORLD, base);
    for k in 0..JOINTS {
        let axis = if k % 2 == 0 { Vector3::z() } else { Vector3::y() };
        let turn = UnitQuaternion::from_scaled_axis(axis * angles[k]);
        let shape = Shape::cylinder(RADIUS[k], 0.5 * LENGTH[k])?;
        let centre = Vector3::z() * (0.5 * LENGTH[k]);
        let name = format!("{name}-{k}");
        let mass = homogeneous(&shape, MASS[k], centre)?;
        let body = balanced(builder, &name, parent, foot * turn, mass);
        let hinge = JointSpec::new(JointKind::Hinge { axis });
        let hinge = JointSpec { name: name.clone(), reference: angles[k], ..hinge };
        let joint = Transmission::Joint(builder.mechanism.joint(body, hinge));
        let servo = ActuatorSpec::position(name, joint, KP[k], DAMPING_TIME * KP[k]);
        builder.mechanism.actuator(servo);
        let shade = if k % 2 == 0 { 0.85 } else { 0.7 };
        let at = Isometry3::from(Translation3::from(centre));
        let geom = Geom::new(body, shape).at(at).coloured(shade, shade, shade);
        builder.geom(Geom { groups: NO_COLLISION, ..geom });
        // Ball-shaped housings where the arm bends.
        if k % 2 == 1 {
            let housing = Shape::sphere(1.15 * RADIUS[k])?;
            let geom = Geom::new(body, housing).coloured(0.25, 0.3, 0.4);
            builder.geom(Geom { groups: NO_COLLISION, ..geom });
        }
        foot = Isometry3::translation(0.0, 0.0, LENGTH[k]);
        parent = body;
    }
    let shape = Shape::cuboid(Vector3::new(HAND_HALF, 0.5 * width, HAND_HALF))?;
    let back = Vector3::z() * -HAND_HALF;
    let mass = homogeneous(&shape, HAND_MASS, back)?;
    let tip = foot * Isometry3::translation(0.0, 0.0, 2.0 * HAND_HALF);
    let hand = balanced(builder, &format!("{name}-hand"), parent, tip, mass);
    let geom = Geom::new(hand, shape).at(Isometry3::from(Translation3::from(back)));
    builder.geom(Geom { groups: NO_COLLISION, ..geom.coloured(0.9, 0.55, 0.15) });
    Ok(Manipulator { hand, first_control })
}

/// A body whose weight is carried.
pub(super) fn balanced(
    builder: &mut WorldBuilder,
    name: &str,
    parent: BodyId,
    pose: Isometry3<f64>,
    mass: MassProperties,
) -> BodyId {
    let (name, mass) = (name.to_owned(), Some(mass));
    let gravity_compensation = 1.0;
    let spec = BodySpec { name, parent, pose, mass, gravity_compensation, ..BodySpec::default() };
    builder.mechanism.body(spec)
}

/// The controls with which the servos follow angles [rad] that change at given rates [rad/s]: their
/// dampers act on the rates themselves, and so does this lead.
pub fn controls(angles: &[f64; JOINTS], rates: &[f64; JOINTS]) -> [f64; JOINTS] {
    std::array::from_fn(|k| angles[k] + DAMPING_TIME * rates[k])
}
