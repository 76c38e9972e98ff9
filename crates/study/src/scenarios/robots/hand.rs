//! Hands of hinges: digits on a palm, each with a hinge that may spread it and others that bend it.
//!
//! ```text
//!        z ↑   object goes here         a digit stands on the palm and points outward; a hinge that spreads
//!   ╲ thumb │        fingers ╱          it turns about z, the others bend it towards z. Links are capsules, the
//!    ╲______▄▄▄▄▄▄▄▄________╱           palm is a box. A servo on every hinge.
//!              palm      → x
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use stiction_geom::{Groups, Shape};
use stiction_mech::{
    ActuatorId, ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Limit, MassProperties,
    Transmission,
};
use stiction_sim::{Geom, Surface, WorldBuilder};

use super::arm::homogeneous;
use crate::error::StudyError;

/// A digit of a hand.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// Name.
    pub name: &'static str,
    /// Angle about z by which it points away from x [rad].
    pub turn: f64,
    /// Distance of its first hinge from the middle of the palm in that direction [m].
    pub out: f64,
    /// Shift of it along y [m].
    pub aside: f64,
    /// Whether its first hinge spreads it.
    pub spreads: bool,
    /// Lengths [m] and masses [kg] of its links.
    pub links: &'static [[f64; 2]],
}

/// Sizes and servos of a hand.
#[derive(Clone, Copy, Debug)]
pub struct HandSpec {
    /// Half edges of the palm [m], and its mass [kg].
    pub palm: [f64; 3],
    /// Mass of the palm [kg].
    pub palm_mass: f64,
    /// The digits.
    pub digits: &'static [Digit],
    /// Radius of the links [m].
    pub radius: f64,
    /// Stiffness [N·m/rad] and damping [N·m·s/rad] of the servos.
    pub servo: [f64; 2],
    /// Largest torque of a servo [N·m].
    pub torque: f64,
    /// Range of the hinges that bend [rad].
    pub bend: [f64; 2],
}

/// Range of the hinges that spread a digit, to either side [rad].
const SPREAD: f64 = 0.5;

const FINGER: Digit =
    Digit { name: "", turn: 0.0, out: 0.035, aside: 0.0, spreads: true, links: &FINGER_LINKS };
const FINGER_LINKS: [[f64; 2]; 3] = [[0.054, 0.04], [0.038, 0.03], [0.032, 0.02]];
/// Distance of neighbouring fingers [m].
const APART: f64 = 0.042;

/// Three fingers side by side and a thumb that opposes them: sixteen hinges, soft servos.
pub const GENTLE: HandSpec = HandSpec {
    palm: [0.035, 0.06, 0.012],
    palm_mass: 0.4,
    digits: &[
        Digit { name: "index", aside: -APART, ..FINGER },
        Digit { name: "middle", ..FINGER },
        Digit { name: "little", aside: APART, ..FINGER },
        Digit { name: "thumb", turn: PI, ..FINGER },
    ],
    radius: 0.011,
    servo: [1.5, 0.05],
    torque: 0.6,
    bend: [-0.3, 1.8],
};

const LONG: Digit =
    Digit { name: "", turn: 0.0, out: 0.035, aside: 0.0, spreads: true, links: &LONG_LINKS };
const LONG_LINKS: [[f64; 2]; 3] = [[0.065, 0.05], [0.05, 0.04], [0.04, 0.03]];

/// Four long digits around the palm: sixteen hinges, servos that hold several kilograms. It takes round things from above.
pub const ROUND: HandSpec = HandSpec {
    palm: [0.035, 0.035, 0.012],
    palm_mass: 0.4,
    digits: &[
        Digit { name: "front", ..LONG },
        Digit { name: "left", turn: FRAC_PI_2, ..LONG },
        Digit { name: "back", turn: PI, ..LONG },
        Digit { name: "right", turn: -FRAC_PI_2, ..LONG },
    ],
    radius: 0.009,
    servo: [60.0, 1.0],
    torque: 6.0,
    bend: [-0.8, 2.2],
};

const WRAPPING_FINGER: Digit =
    Digit { name: "", turn: 0.0, out: 0.03, aside: 0.0, spreads: false, links: &WRAPPING_LINKS };
const WRAPPING_LINKS: [[f64; 2]; 2] = [[0.065, 0.05], [0.055, 0.04]];

/// Two fingers and a thumb that spreads: seven hinges. It wraps around bottles.
pub const WRAPPING: HandSpec = HandSpec {
    palm: [0.03, 0.03, 0.012],
    palm_mass: 0.3,
    digits: &[
        Digit { name: "index", aside: -0.018, ..WRAPPING_FINGER },
        Digit { name: "middle", aside: 0.018, ..WRAPPING_FINGER },
        Digit { name: "thumb", turn: PI, spreads: true, ..WRAPPING_FINGER },
    ],
    radius: 0.009,
    servo: [20.0, 0.4],
    torque: 3.0,
    bend: [-0.5, 2.0],
};

/// A hand in a world.
#[derive(Clone, Debug)]
pub struct Hand {
    /// The servos, digit by digit; their controls are angles [rad].
    pub servos: Vec<ActuatorId>,
    /// Every body of it, the palm first.
    pub bodies: Vec<BodyId>,
}

impl HandSpec {
    /// Mass properties of the palm.
    pub fn palm_mass(&self) -> Result<MassProperties, StudyError> {
        homogeneous(&Shape::cuboid(Vector3::from(self.palm))?, self.palm_mass, Vector3::zeros())
    }

    /// Adds a hand whose palm, a body that has joints already or is fixed to one that has, is at the origin of `palm`. Its parts
    /// do not collide with one another: they collide according to `groups`.
    pub fn add(
        &self,
        builder: &mut WorldBuilder,
        name: &str,
        palm: BodyId,
        surface: Surface,
        groups: Groups,
    ) -> Result<Hand, StudyError> {
        let shape = Shape::cuboid(Vector3::from(self.palm))?;
        let geom = Geom::new(palm, shape).surface(surface).coloured(0.25, 0.25, 0.28);
        builder.geom(Geom { groups, ..geom });
        let mut hand = Hand { servos: Vec::new(), bodies: vec![palm] };
        for digit in self.digits {
            let name = format!("{name}-{}", digit.name);
            self.add_digit(builder, &name, digit, surface, groups, &mut hand)?;
        }
        Ok(hand)
    }

    fn add_digit(
        &self,
        builder: &mut WorldBuilder,
        name: &str,
        digit: &Digit,
        surface: Surface,
        groups: Groups,
        hand: &mut Hand,
    ) -> Result<(), StudyError> {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), digit.turn);
        let place = turn * Vector3::new(digit.out, 0.0, 0.0) + Vector3::y() * digit.aside;
        let mut foot = Isometry3::from_parts(Translation3::from(place), turn);
        let (mut parent, first) = (hand.bodies[0], hand.servos.len());
        for (k, [length, mass]) in digit.links.iter().copied().enumerate() {
            // Along x of the link's own frame, whose origin is its hinge.
            let shape = Shape::capsule(self.radius, 0.5 * length)?;
            let lie = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
            let centre = Translation3::new(0.5 * length, 0.0, 0.0);
            let upright = homogeneous(&shape, mass, Vector3::zeros())?;
            let R = lie.to_rotation_matrix();
            let inertia = R * upright.inertia() * R.transpose();
            let body = builder.mechanism.body(BodySpec {
                name: format!("{name}-{k}"),
                parent,
                pose: foot,
                mass: Some(MassProperties::new(mass, centre.vector, inertia)?),
                gravity_compensation: 1.0,
                ..BodySpec::default()
            });
            let [lower, upper] = self.bend;
            let bend = (-Vector3::y(), Limit { lower, upper, margin: 0.0 });
            let spread = (Vector3::z(), Limit { lower: -SPREAD, upper: SPREAD, margin: 0.0 });
            let hinges = if k == 0 && digit.spreads { vec![spread, bend] } else { vec![bend] };
            for (axis, limit) in hinges {
                let name = format!("{name}-hinge-{}", hand.servos.len() - first);
                let hinge = JointSpec::new(JointKind::Hinge { axis });
                let joint = JointSpec { name: name.clone(), limit: Some(limit), ..hinge };
                let joint = Transmission::Joint(builder.mechanism.joint(body, joint));
                let [kp, kd] = self.servo;
                let force_range = Some((-self.torque, self.torque));
                let servo = ActuatorSpec::position(name, joint, kp, kd);
                hand.servos.push(builder.mechanism.actuator(ActuatorSpec { force_range, ..servo }));
            }
            let geom = Geom::new(body, shape).surface(surface).coloured(0.85, 0.85, 0.82);
            builder.geom(Geom { groups, ..geom.at(Isometry3::from_parts(centre, lie)) });
            hand.bodies.push(body);
            (parent, foot) = (body, Isometry3::translation(length, 0.0, 0.0));
        }
        Ok(())
    }
}
