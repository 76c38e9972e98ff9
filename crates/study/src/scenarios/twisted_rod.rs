//! TWISTED ROD: a straight rod between two clamps stays straight while it is twisted, until it buckles
//! into a helix.
//!
//! With ends that can neither move nor tilt, and no tension, it buckles at the torque M with
//! `u = tan u`, `u = M L/(2 E I) = 4.4934…` (Greenhill; Timoshenko & Gere, Sec. 2.21). A torque
//! `G J φ/L` belongs to the twist φ, and `E I/G J = 1 + ν` for a round section: the critical twist
//! `2 u (1 + ν)` depends on Poisson's ratio alone.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::{Groups, Shape};
use stiction_mech::{ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Transmission};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Geom, Scheme, Settings, Simulation, StepReport, WorldBuilder,
};

use super::{Scenario, parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "twisted-rod",
    cite: "",
    about: "a clamped rod buckles above the critical twist, and stays straight below it",
    parameters: &[
        Parameter {
            name: "twist",
            default: 1.2,
            least: 0.0,
            most: 2.0,
            about: "angle over the critical one [-]",
        },
        Parameter { name: "segments", default: 32.0, least: 8.0, most: 1000.0, about: "segments" },
        Parameter { name: "young", default: 3e6, least: 1e5, most: 1e9, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.3, least: 0.0, most: 0.49, about: "ν [-]" },
    ],
    build,
};

const LENGTH: f64 = 0.6;
const RADIUS: f64 = 4e-3;
const DENSITY: f64 = 1100.0;
/// How long it is being twisted, and how long it runs [s].
const TWISTING: f64 = 3.0;
const DURATION: f64 = 9.0;
/// Acceleration to the side [m/s²].
const SIDE: f64 = 1e-4;
/// Of what turns the end: mass [kg], inertia [kg·m²], spring [N/m] and damper [N·s/m] along the rod, servo
/// [N·m/rad, N·m·s/rad].
const CHUCK_MASS: f64 = 0.02;
const CHUCK_INERTIA: f64 = 1e-5;
const CHUCK_SPRING: f64 = 1.0;
const CHUCK_DAMPING: f64 = 0.1;
const CHUCK_SERVO: (f64, f64) = (2.0, 0.02);
/// The first positive root of u = tan u.
const ROOT: f64 = 4.493_409_457_909_064;

/// The twist at which a rod with clamped ends buckles [rad].
pub fn critical_twist(poisson: f64) -> f64 {
    2.0 * ROOT * (1.0 + poisson)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (poisson, young) = (parameters.get("poisson"), parameters.get("young"));
    let twist = parameters.get("twist") * critical_twist(poisson);
    let along_x = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let start = Isometry3::from_parts(Translation3::identity(), along_x);
    let end = Isometry3::translation(LENGTH, 0.0, 0.0);
    let mut builder = WorldBuilder::new();
    // A breath to the side, which nothing but instability makes grow.
    builder.mechanism.gravity(Vector3::new(0.0, 0.0, -SIDE));
    // A spring keeps it from coiling up altogether; until it buckles, there is no tension.
    let chuck = builder.mechanism.body(BodySpec {
        name: "chuck".to_owned(),
        pose: end,
        mass: Some(parts::isotropic(CHUCK_MASS, Vector3::zeros(), CHUCK_INERTIA)?),
        ..BodySpec::default()
    });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    let (stiffness, damping) = (CHUCK_SPRING, CHUCK_DAMPING);
    builder.mechanism.joint(chuck, JointSpec { stiffness, damping, ..slide });
    let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::x() });
    let hinge = builder.mechanism.joint(chuck, JointSpec { name: "twist".to_owned(), ..hinge });
    let (kp, kd) = CHUCK_SERVO;
    let servo = ActuatorSpec::position("twist", Transmission::Joint(hinge), kp, kd);
    builder.mechanism.actuator(servo);
    let shape = Shape::cylinder(3.0 * RADIUS, 2.0 * RADIUS)?;
    let geom = Geom::new(chuck, shape)
        .at(Isometry3::from_parts(Translation3::new(2.0 * RADIUS, 0.0, 0.0), along_x));
    builder.geom(Geom { groups: Groups { category: 0, mask: 0 }, ..geom });
    builder.cable(CableSpec {
        name: "rod".to_owned(),
        course: CableCourse::Straight { pose: start, length: LENGTH },
        segments: parameters.count("segments"),
        radius: RADIUS,
        density: DENSITY,
        young,
        poisson,
        damping: 0.02,
        mass_damping: 2.0,
        colour: [0.2, 0.45, 0.7, 1.0],
        ends: [CableEnd::Held(BodyId::WORLD), CableEnd::Held(chuck)],
        ..CableSpec::default()
    });
    let world = builder.build()?;
    let check = TwistedRodCheck {
        buckles: parameters.get("twist") > 1.0,
        aside: f64::NAN,
        speed: f64::NAN,
    };
    let settings = Settings { time_step: 0.01, scheme: Scheme::Symplectic, ..Settings::default() };
    let turn = move |simulation: &mut Simulation| {
        let next = simulation.state().time + simulation.settings().time_step;
        let angle = twist * (next / TWISTING).min(1.0);
        simulation.input_mut().control[0] = angle;
    };
    Ok(Scene::new(world, settings, DURATION, check).controlled(turn))
}

/// The rod leaves its axis by more than a radius, or stays on it.
struct TwistedRodCheck {
    buckles: bool,
    /// Largest distance of a segment from the axis [m].
    aside: f64,
    speed: f64,
}

/// Distances from the axis [m]: of a rod that has buckled at least, of a straight one at most.
const BUCKLED: f64 = RADIUS;
const STRAIGHT: f64 = 0.05 * RADIUS;

impl Check for TwistedRodCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        self.aside = 0.0;
        for body in simulation.world().cables()[0].bodies.clone() {
            let place = simulation.body_pose(body.0).translation.vector;
            self.aside = soft_parts::largest(self.aside, place.yz().norm());
        }
        self.speed = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    }

    fn verdict(&self) -> Verdict {
        let aside = self.aside;
        let (passed, expected) = match self.buckles {
            true => (aside >= BUCKLED, format!("it buckles: at least {} mm", 1e3 * BUCKLED)),
            false => {
                (aside <= STRAIGHT, format!("it stays straight: at most {} mm", 1e3 * STRAIGHT))
            }
        };
        Verdict {
            passed,
            detail: format!(
                "{:.3} mm off its axis (by theory {expected}); fastest {:.1e}",
                1e3 * aside,
                self.speed
            ),
        }
    }
}
