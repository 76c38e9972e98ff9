//! SOFT-BALL: a gripper with two fingers takes a soft ball from the ground [Lee23, Sec. V-C4].

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Groups, TetMesh};
use stiction_mech::SoftId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::cond::{self, DrawnMaterial};
use super::parts;
use super::robots::gripper::{self, FINGER_KP, Fingers, Grasp};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "soft-ball",
    cite: "Lee23",
    about: "two rigid fingers on prismatic joints lift a soft ball",
    parameters: &[
        Parameter { name: "young", default: 1e6, least: 1e4, most: 1e9, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.35, least: 0.0, most: 0.49, about: "ν [-]" },
        Parameter { name: "friction", default: 0.5, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "cells",
            default: 7.0,
            least: 1.0,
            most: 40.0,
            about: "cells from the centre of the ball to its surface",
        },
        Parameter {
            name: "grip",
            default: 10.0,
            least: 0.0,
            most: 100.0,
            about: "force of a finger [N], if it could not move",
        },
        cond::LAGGED,
        cond::SEED,
    ],
    build,
};

const TOLERANCE: f64 = 1e-5; // [Lee23, Sec. V-C4]
/// Ranges of Young's modulus [Pa], Poisson's ratio and friction [Lee23, Sec. V-C4].
const RANGES: [(f64, f64); 3] = [(0.5e6, 2e6), (0.3, 0.4), (0.4, 0.6)];
const RADIUS: f64 = 0.04; // of the ball [m]
const DENSITY: f64 = 1000.0; // [kg/m³]
const DAMPING: f64 = 0.002; // of the material [s]
const FINGER: [f64; 3] = [0.02, 0.006, 0.03]; // half edges of a finger [m]
const GAP: f64 = 0.005; // between an open finger and the ball [m]
const CLOSE: f64 = 0.4; // [s]
const LIFT: f64 = 0.6; // [s]
const HOLD: f64 = 0.4; // [s]
const HEIGHT: f64 = 0.1; // of the lift [m]

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let drawn = DrawnMaterial::from(parameters, RANGES);
    let surface = Surface::with_friction(drawn.friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let mesh = TetMesh::sphere(RADIUS, parameters.count("cells"));
    let mesh = mesh.map(|mesh| {
        let lowest = mesh.vertices().iter().map(|v| v.z).fold(0.0, f64::min);
        mesh.moved(&Isometry3::translation(0.0, 0.0, -lowest))
    });
    let spec = drawn.solid(parameters, "ball", mesh, DENSITY, DAMPING)?;
    let ball = builder.soft(SoftObject::new(spec).surface(surface).coloured(0.8, 0.3, 0.3));
    let opening = 2.0 * (RADIUS + GAP);
    let fingers = Fingers { half: FINGER, opening, surface, groups: Groups::default() };
    let middle = Vector3::new(0.0, 0.0, RADIUS);
    let gripper = gripper::add(&mut builder, "gripper", middle, &fingers)?;
    let stroke = GAP + parameters.get("grip") / FINGER_KP;
    let first_control = gripper.first_control;
    let grasp = Grasp { stroke, close: CLOSE, height: HEIGHT, lift: LIFT, first_control };
    let world = builder.build()?;
    let lift = cond::coordinate(world.model(), "gripper-slide-2");
    let check = SoftBallCheck { ball, lift, ..SoftBallCheck::default() };
    let duration = CLOSE + LIFT + HOLD;
    let scene = Scene::new(world, cond::settings(TOLERANCE), duration, check);
    Ok(scene.controlled(move |simulation: &mut Simulation| grasp.control(simulation)))
}

/// The ball rises with the fingers, does not slip, and they carry its weight.
struct SoftBallCheck {
    ball: SoftId,
    /// Place of the height of the gripper in q.
    lift: usize,
    /// Height of the ball over the gripper when it was closed, and now [m].
    closed: Option<f64>,
    now: f64,
    height: f64,
    deepest: f64,
    inverted: usize,
    /// Force of the fingers along z, of the ground, and weight [N].
    fingers: f64,
    ground: f64,
    weight: f64,
}

impl Default for SoftBallCheck {
    fn default() -> Self {
        let (ball, closed) = (SoftId(0), None);
        let [now, height, deepest, fingers, ground, weight] = [0.0; 6];
        Self { ball, lift: 0, closed, now, height, deepest, inverted: 0, fingers, ground, weight }
    }
}

/// Largest slip [m]: the shear of the rubber between the fingers is less.
const SLIP: f64 = 2e-3;
/// Largest penetration [m].
const DEEPEST: f64 = 5e-4;
/// Largest part of the weight by which the fingers' force may be off, while the ball swings.
const MISSING: f64 = 0.02;

impl Check for SoftBallCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.inverted = self.inverted.max(report.inverted);
        let time = simulation.state().time;
        let body = &simulation.world().model().softs()[self.ball.0];
        let centre = body.centre_of_mass(&simulation.state().x[body.nodes.clone()]);
        self.now = centre.z - simulation.state().q[self.lift];
        self.height = centre.z;
        if time > CLOSE - 0.005 && self.closed.is_none() {
            self.closed = Some(self.now);
        }
        self.weight = -body.total_mass() * simulation.world().model().gravity().z;
        let [ground, fingers] = cond::contact_forces(simulation, self.ball);
        (self.ground, self.fingers) = (ground.z, fingers.z);
    }

    fn verdict(&self) -> Verdict {
        let slip = self.closed.unwrap_or(f64::NAN) - self.now;
        let held = self.height - RADIUS;
        let missing = (self.fingers - self.weight).abs();
        let passed = slip.abs() <= SLIP
            && held >= HEIGHT - 2.0 * SLIP
            && self.deepest <= DEEPEST
            && self.inverted == 0
            && self.ground == 0.0
            && missing <= MISSING * self.weight;
        let detail = format!(
            "the ball is {:.2} mm up (of {:.0}) and slipped by {:.3} mm (at most {:.0}); penetration \
             {:.4} mm (at most {:.1}); the fingers carry {:.4} N of {:.4} N",
            1e3 * held,
            1e3 * HEIGHT,
            1e3 * slip,
            1e3 * SLIP,
            1e3 * self.deepest,
            1e3 * DEEPEST,
            self.fingers,
            self.weight,
        );
        Verdict { passed, detail }
    }
}
