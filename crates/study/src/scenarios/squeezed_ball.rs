//! SQUEEZED BALL: a hand of sixteen hinges closes around a soft ball, turns over and shakes it
//! [Han23, Sec. VII-D].
//!
//! The ball lies on the palm at first. After the hand has turned over, only the grasp holds it.

use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::PI;
use stiction_geom::{Groups, TetMesh};
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Material, SoftId, SoftSpec, Transmission,
};
use stiction_scene::signal::{Interpolation, Signal, SignalController, SignalShape};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::robots::hand::{GENTLE, HandSpec};
use super::{Scenario, parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "squeezed-ball",
    cite: "Han23",
    about: "a hand squeezes a soft ball, turns over and shakes; the ball stays in it",
    parameters: &[
        Parameter {
            name: "cells",
            default: 3.0,
            least: 1.0,
            most: 20.0,
            about: "from the centre of the ball to its surface",
        },
        Parameter { name: "young", default: 25e3, least: 5e3, most: 1e7, about: "E [Pa]" },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "grasp",
            default: 1.0,
            least: 0.0,
            most: 1.5,
            about: "how far the hand closes, in parts of a full grasp [-]",
        },
        Parameter { name: "shake", default: 0.03, least: 0.0, most: 0.1, about: "amplitude [m]" },
    ],
    build,
};

/// Radius of the ball [m], its density [kg/m³], Poisson's ratio and stiffness damping [s].
const RADIUS: f64 = 0.04;
const DENSITY: f64 = 300.0;
const POISSON: f64 = 0.4;
const DAMPING: f64 = 0.01;
/// Angles of a closed digit [rad].
const CLOSED: [f64; 4] = [0.0, 1.2, 1.1, 0.9];
const HAND: HandSpec = GENTLE;
/// Height of the wrist [m].
const WRIST: f64 = 0.4;
/// Ends of squeezing, turning and shaking, and of the run [s]; swings per second.
const SQUEEZED: f64 = 0.6;
const TURNED: f64 = 1.4;
const SHAKEN: f64 = 2.4;
const DURATION: f64 = 2.6;
const FREQUENCY: f64 = 2.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    // The wrist goes up and down and turns about the direction of the fingers.
    let palm = builder.mechanism.body(BodySpec {
        name: "palm".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, WRIST),
        mass: Some(HAND.palm_mass()?),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    let mut wrist = Vec::new();
    for (name, kind, kp, kd) in [
        ("wrist-lift", JointKind::Slide { axis: Vector3::z() }, 5e3, 200.0),
        ("wrist-turn", JointKind::Hinge { axis: Vector3::x() }, 50.0, 2.0),
    ] {
        let joint = JointSpec { name: name.to_owned(), ..JointSpec::new(kind) };
        let joint = builder.mechanism.joint(palm, joint);
        let servo = ActuatorSpec::position(name, Transmission::Joint(joint), kp, kd);
        wrist.push(builder.mechanism.actuator(servo));
    }
    // Digits touch the ball and the ground, not one another.
    let groups = Groups { category: 2, mask: 1 };
    let hand = HAND.add(&mut builder, "hand", palm, surface, groups)?;

    let mesh = TetMesh::sphere(RADIUS, parameters.count("cells"))?;
    let material = Material::LinearCorotated { young: parameters.get("young"), poisson: POISSON };
    let on_palm = Isometry3::translation(0.0, 0.0, WRIST + HAND.palm[2] + RADIUS);
    let spec = soft_parts::soft("ball", &mesh, material, DENSITY).moved(&on_palm);
    let spec = SoftSpec { stiffness_damping: DAMPING, ..spec };
    let ball = builder.soft(SoftObject::new(spec).surface(surface).coloured(0.85, 0.35, 0.3));

    let way = |times: &[f64], values: &[f64]| SignalShape::Waypoints {
        times: times.to_vec(),
        values: values.to_vec(),
        path: Interpolation::Smooth,
        repeat: false,
    };
    let grasp = parameters.get("grasp");
    let mut signals: Vec<Signal> = hand
        .servos
        .iter()
        .enumerate()
        .map(|(k, servo)| Signal {
            actuator: servo.0,
            course: way(&[0.0, SQUEEZED], &[0.0, grasp * CLOSED[k % CLOSED.len()]]),
        })
        .collect();
    signals.push(Signal { actuator: wrist[0].0, course: shaking(parameters.get("shake")) });
    signals.push(Signal { actuator: wrist[1].0, course: way(&[SQUEEZED, TURNED], &[0.0, PI]) });

    let check = SqueezedBallCheck {
        palm,
        ball,
        hand: hand.bodies,
        squeezed: None,
        slipped: 0.0,
        touching: 0,
        unconverged: 0,
        height: 0.0,
    };
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let world = builder.build()?;
    Ok(Scene::new(world, settings, DURATION, check).controlled(SignalController::new(signals)))
}

/// Swings of the wrist between two times, by points close enough to be smooth.
fn shaking(amplitude: f64) -> SignalShape {
    let points = 8 * (FREQUENCY * (SHAKEN - TURNED)).round() as usize;
    let time = |k: usize| TURNED + (SHAKEN - TURNED) * k as f64 / points as f64;
    SignalShape::Waypoints {
        times: (0..=points).map(time).collect(),
        values: (0..=points)
            .map(|k| amplitude * (2.0 * PI * FREQUENCY * (time(k) - TURNED)).sin())
            .collect(),
        path: Interpolation::Linear,
        repeat: false,
    }
}

/// The ball stays where it was squeezed, in the frame of the palm.
struct SqueezedBallCheck {
    palm: BodyId,
    ball: SoftId,
    hand: Vec<BodyId>,
    /// Where it was when the hand had closed [m].
    squeezed: Option<Vector3<f64>>,
    /// Largest distance from there since [m].
    slipped: f64,
    /// Parts of the hand that touch it in the end.
    touching: usize,
    unconverged: usize,
    height: f64,
}

/// Largest distance that the ball may move in the hand [m], and least number of parts of the hand that
/// touch it: palm, fingers and thumb.
const SLIP: f64 = 0.5 * RADIUS;
const TOUCHING: usize = 3;

impl Check for SqueezedBallCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.unconverged += usize::from(!report.converged());
        let ball = soft_parts::centre(simulation, self.ball);
        self.height = ball.z;
        let palm = simulation.body_pose(self.palm.0);
        let place = palm.inverse_transform_point(&Point3::from(ball)).coords;
        if simulation.state().time >= SQUEEZED {
            let then = *self.squeezed.get_or_insert(place);
            self.slipped = soft_parts::largest(self.slipped, (place - then).norm());
        }
        let pushes = |body: &&BodyId| {
            let mut contacts = simulation.contacts().iter();
            contacts.any(|c| c.bodies.contains(&body.0) && c.is_soft() && c.force.norm() > 0.0)
        };
        self.touching = self.hand.iter().filter(pushes).count();
    }

    fn verdict(&self) -> Verdict {
        Verdict {
            passed: self.slipped <= SLIP && self.touching >= TOUCHING && self.squeezed.is_some(),
            detail: format!(
                "the ball moved {:.2} mm in the hand (at most {:.0}), is {:.3} m high, and {} parts of the \
                 hand press on it (at least {TOUCHING}); {} steps missed the tolerance",
                1e3 * self.slipped,
                1e3 * SLIP,
                self.height,
                self.touching,
                self.unconverged
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
