//! TWISTED ROD: a straight rod between two clamps stays straight while it is twisted, until it buckles
//! into a helix.
//!
//! With ends that can neither move nor tilt, and no tension, it buckles at the torque M with
//! `u = tan u`, `u = M L/(2 E I) = 4.4934…` (Greenhill; Timoshenko & Gere, Sec. 2.21). A torque
//! `G J φ/L` belongs to the twist φ, and `E I/G J = 1 + ν` for a round section: the critical twist
//! `2 u (1 + ν)` depends on Poisson's ratio alone.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_mech::{BodyId, BodySpec, State};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Scheme, Settings, Simulation, StepReport, WorldBuilder,
};

use super::{Scenario, soft_parts};
use crate::error::SceneError;
use crate::parameters::{Parameter, Parameters};
use crate::stage::{Check, Stage, Verdict};

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
const DURATION: f64 = 6.0;
/// The first positive root of u = tan u.
const ROOT: f64 = 4.493_409_457_909_064;

/// The twist at which a rod with clamped ends buckles [rad].
pub fn critical_twist(poisson: f64) -> f64 {
    2.0 * ROOT * (1.0 + poisson)
}

fn build(parameters: &Parameters) -> Result<Stage, SceneError> {
    let (poisson, young) = (parameters.get("poisson"), parameters.get("young"));
    let twist = parameters.get("twist") * critical_twist(poisson);
    let along_x = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let start = Isometry3::from_parts(Translation3::identity(), along_x);
    let end = Isometry3::translation(LENGTH, 0.0, 0.0);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let chuck = builder.mechanism.body(BodySpec {
        name: "chuck".to_owned(),
        pose: end,
        driven: true,
        ..BodySpec::default()
    });
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
    // A push to the side that nothing but instability makes grow: v = 2 mm/s at the middle.
    let mut state = State::new(world.model());
    let bodies = &world.cables()[0].bodies;
    for (k, body) in bodies.iter().enumerate() {
        let s = (k as f64 + 0.5) / bodies.len() as f64;
        let joint = &world.model().joints()[world.model().bodies()[body.0].joints.start];
        state.v[joint.dofs.start + 2] = PUSH * (std::f64::consts::PI * s).sin().powi(2);
    }
    let check =
        Buckles { buckles: parameters.get("twist") > 1.0, aside: f64::NAN, speed: f64::NAN };
    let settings = Settings { time_step: 0.01, scheme: Scheme::Symplectic, ..Settings::default() };
    let turn = move |simulation: &mut Simulation| {
        let next = simulation.state().time + simulation.settings().time_step;
        let angle = twist * (next / TWISTING).min(1.0);
        let turned = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), angle);
        let pose = Isometry3::from_parts(end.translation, turned);
        simulation.input_mut().driven_pose[0] = pose;
    };
    Ok(Stage::new(world, settings, DURATION, check).from_state(state).controlled(turn))
}

/// Speed of the push [m/s].
const PUSH: f64 = 2e-3;

/// The rod leaves its axis by several radii, or stays on it.
struct Buckles {
    buckles: bool,
    /// Largest distance of a segment from the axis [m].
    aside: f64,
    speed: f64,
}

/// Distances from the axis [m]: of a rod that has buckled at least, of a straight one at most.
const BUCKLED: f64 = 5.0 * RADIUS;
const STRAIGHT: f64 = 0.05 * RADIUS;

impl Check for Buckles {
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
