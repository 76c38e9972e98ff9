//! A quadruped of 18 velocities: a floating trunk and four legs of three hinges.
//!
//! ```text
//!        trunk                each leg: abduction (about x), hip (about y), knee (about y);
//!    o───────────o            trunk: a box; hips and feet: balls; thighs and shanks: capsules.
//!   /           /
//!   \           \             Servos hold the pose in which the feet are under the hips.
//!    ˙           ˙  feet
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointId, JointKind, JointSpec, Limit, MassProperties,
    Transmission,
};
use stiction_sim::{Geom, Surface, WorldBuilder};

use super::arm::homogeneous;
use crate::error::StudyError;

/// Half edges of the trunk [m].
const TRUNK: [f64; 3] = [0.25, 0.11, 0.06];
const TRUNK_MASS: f64 = 12.0; // [kg]
const HIP: [f64; 2] = [0.21, 0.12]; // place of a hip on the trunk [m]
const HIP_RADIUS: f64 = 0.04; // [m]
const HIP_MASS: f64 = 1.0; // [kg]
const HIP_OFFSET: f64 = 0.05; // from the abduction axis to the thigh [m]
const LEG: f64 = 0.22; // length of a thigh or shank [m]
const THIGH_RADIUS: f64 = 0.02; // [m]
const THIGH_MASS: f64 = 1.2; // [kg]
const SHANK_RADIUS: f64 = 0.015; // [m]
const SHANK_MASS: f64 = 0.3; // [kg]
const FOOT_RADIUS: f64 = 0.025; // [m]
const FOOT_MASS: f64 = 0.06; // [kg]
const BEND: f64 = 0.65; // of the thigh from the vertical [rad]
const KP: f64 = 100.0; // [N·m/rad]
const KD: f64 = 3.0; // [N·m·s/rad]

/// Largest torque of a servo [N·m] of a robot that stands.
pub const TORQUE: f64 = 45.0;

/// Hinges per robot.
pub const HINGES: usize = 12;
/// Their angles when it stands [rad], leg by leg.
pub const STANDING: [f64; 3] = [0.0, BEND, -2.0 * BEND];
/// Their ranges [rad].
pub const RANGES: [(f64, f64); 3] = [(-0.8, 0.8), (-1.0, 2.5), (-2.6, -0.6)];

/// A robot in a world.
#[derive(Clone, Debug)]
pub struct Quadruped {
    /// The trunk.
    pub trunk: BodyId,
    /// Hinges leg by leg: abduction, hip, knee.
    pub hinges: Vec<JointId>,
}

/// Height of the trunk's centre over the ground when the robot stands [m].
pub fn standing_height() -> f64 {
    2.0 * LEG * BEND.cos() + FOOT_RADIUS
}

/// Stiffness of the servos [N·m/rad].
pub fn stiffness() -> f64 {
    KP
}

/// Adds a robot with its trunk at a pose, in its standing pose, with a servo on every hinge. The
/// controls that hold it are [`STANDING`], leg by leg, in the order of declaration.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    pose: Isometry3<f64>,
    surface: Surface,
) -> Result<Quadruped, StudyError> {
    add_with_torque(builder, name, pose, surface, TORQUE)
}

/// [`add`] with servos of a largest torque [N·m].
pub fn add_with_torque(
    builder: &mut WorldBuilder,
    name: &str,
    pose: Isometry3<f64>,
    surface: Surface,
    torque: f64,
) -> Result<Quadruped, StudyError> {
    let shape = Shape::cuboid(Vector3::from(TRUNK))?;
    let mass = Some(homogeneous(&shape, TRUNK_MASS, Vector3::zeros())?);
    let trunk = builder.mechanism.body(BodySpec {
        name: name.to_owned(),
        pose,
        mass,
        ..BodySpec::default()
    });
    builder.mechanism.joint(trunk, JointSpec::new(JointKind::Free));
    builder.geom(Geom::new(trunk, shape).surface(surface).coloured(0.25, 0.35, 0.55));
    let mut hinges = Vec::with_capacity(HINGES);
    for (forward, left) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let corner = Vector3::new(forward * HIP[0], left * HIP[1], 0.0);
        let name = format!("{name}-{}", hinges.len() / 3);
        let added = leg(builder, &name, trunk, corner, (left, torque), surface)?;
        hinges.extend(added);
    }
    Ok(Quadruped { trunk, hinges })
}

/// A leg on a corner of the trunk; `left` is +1 or −1, `torque` the largest of a servo [N·m].
fn leg(
    builder: &mut WorldBuilder,
    name: &str,
    trunk: BodyId,
    corner: Vector3<f64>,
    (left, torque): (f64, f64),
    surface: Surface,
) -> Result<[JointId; 3], StudyError> {
    let ball = Shape::sphere(HIP_RADIUS)?;
    let hip_mass = homogeneous(&ball, HIP_MASS, Vector3::zeros())?;
    let (hip, abduction) = link(builder, name, 0, trunk, corner, (hip_mass, torque));
    builder.geom(Geom::new(hip, ball).surface(surface).coloured(0.3, 0.3, 0.3));

    let down = Vector3::z() * (-0.5 * LEG);
    let rod = |radius: f64| Shape::capsule(radius, 0.5 * LEG - radius);
    let thigh_shape = rod(THIGH_RADIUS)?;
    let thigh_mass = homogeneous(&thigh_shape, THIGH_MASS, down)?;
    let outward = Vector3::y() * (left * HIP_OFFSET);
    let (thigh, hip_hinge) = link(builder, name, 1, hip, outward, (thigh_mass, torque));
    let at = Isometry3::from(Translation3::from(down));
    builder.geom(Geom::new(thigh, thigh_shape).at(at).surface(surface).coloured(0.8, 0.8, 0.8));

    let shank_shape = rod(SHANK_RADIUS)?;
    let shank_mass = homogeneous(&shank_shape, SHANK_MASS, down)?;
    let knee_at = Vector3::z() * -LEG;
    let (shank, knee) = link(builder, name, 2, thigh, knee_at, (shank_mass, torque));
    builder.geom(Geom::new(shank, shank_shape).at(at).surface(surface).coloured(0.8, 0.8, 0.8));

    let foot_shape = Shape::sphere(FOOT_RADIUS)?;
    let foot = builder.mechanism.body(BodySpec {
        name: format!("{name}-foot"),
        parent: shank,
        pose: Isometry3::from(Translation3::from(knee_at)),
        mass: Some(homogeneous(&foot_shape, FOOT_MASS, Vector3::zeros())?),
        ..BodySpec::default()
    });
    builder.geom(Geom::new(foot, foot_shape).surface(surface).coloured(0.1, 0.1, 0.1));
    Ok([abduction, hip_hinge, knee])
}

/// One link of a leg with its hinge, which is the `k`-th of the leg, and the servo of that hinge.
fn link(
    builder: &mut WorldBuilder,
    name: &str,
    k: usize,
    parent: BodyId,
    at: Vector3<f64>,
    (mass, torque): (MassProperties, f64),
) -> (BodyId, JointId) {
    let name = format!("{name}-{}", ["abduction", "hip", "knee"][k]);
    let axis = if k == 0 { Vector3::x() } else { -Vector3::y() };
    let turn = UnitQuaternion::from_scaled_axis(axis * STANDING[k]);
    let body = builder.mechanism.body(BodySpec {
        name: name.clone(),
        parent,
        pose: Isometry3::from_parts(Translation3::from(at), turn),
        mass: Some(mass),
        ..BodySpec::default()
    });
    let (lower, upper) = RANGES[k];
    let hinge = builder.mechanism.joint(
        body,
        JointSpec {
            name: name.clone(),
            limit: Some(Limit { lower, upper, margin: 0.0 }),
            reference: STANDING[k],
            ..JointSpec::new(JointKind::Hinge { axis })
        },
    );
    let servo = ActuatorSpec::position(name, Transmission::Joint(hinge), KP, KD);
    let force_range = Some((-torque, torque));
    builder.mechanism.actuator(ActuatorSpec { force_range, ..servo });
    (body, hinge)
}
