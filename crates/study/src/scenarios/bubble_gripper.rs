//! BUBBLE GRIPPER: two soft domes on the fingers of a gripper close on a soft toy, lift it, shake it
//! and put it down again [Han23, Sec. VII-C].
//!
//! ```text
//!        ┌──┴──┐   carriage, goes up and down (z) and to and fro (y)
//!       ▐(  ☺  )▌  fingers slide along x; the flat sides of the domes are attached to them
//!    ─────────────
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use stiction_geom::{Groups, Shape, TetMesh};
use stiction_mech::{
    ActuatorId, ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Material, SoftId, SoftSpec,
    Transmission,
};
use stiction_scene::signal::{Interpolation, Signal, SignalController, SignalShape};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::{Scenario, parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "bubble-gripper",
    cite: "Han23",
    about: "soft domes close on a soft toy, lift it, shake it and put it down where it was",
    parameters: &[
        Parameter {
            name: "cells",
            default: 3.0,
            least: 2.0,
            most: 20.0,
            about: "from the centre of a dome to its surface, and one more for the toy",
        },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "squeeze",
            default: 0.025,
            least: 0.0,
            most: 0.05,
            about: "how far each finger closes [m]; the toy begins after one centimetre",
        },
        Parameter { name: "shake", default: 0.03, least: 0.0, most: 0.1, about: "amplitude [m]" },
    ],
    build,
};

/// Young's moduli [Pa], Poisson's ratios [-] and densities [kg/m³] of domes and toy [Han23]; densities
/// are those of foams.
const DOME: (f64, f64, f64) = (50e3, 0.3, 200.0);
const TOY: (f64, f64, f64) = (10e3, 0.4, 150.0);
/// Stiffness damping [s].
const DAMPING: f64 = 0.01;
/// Radius of a dome's base and its depth [m].
const BASE: f64 = 0.045;
const DEPTH: f64 = 0.03;
/// Radius of the toy's belly [m], and how far from it the domes begin [m].
const BELLY: f64 = 0.045;
const OPEN: f64 = 0.01;
/// How far it is lifted [m].
const LIFT: f64 = 0.1;
/// Ends of closing, lifting, shaking, placing and opening, and of the run [s].
const CLOSED: f64 = 0.5;
const LIFTED: f64 = 1.1;
const SHAKEN: f64 = 2.1;
const PLACED: f64 = 2.8;
const OPENED: f64 = 3.2;
const DURATION: f64 = 3.8;
/// Swings per second.
const FREQUENCY: f64 = 2.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let cells = parameters.count("cells");
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);

    let (young, poisson, density) = TOY;
    let material = Material::LinearCorotated { young, poisson };
    let spec = soft_parts::soft("toy", &bear(cells + 1)?, material, density);
    let lowest = spec.vertices.iter().fold(f64::INFINITY, |least, x| least.min(x.z));
    let spec = spec.moved(&Isometry3::translation(0.0, 0.0, -lowest));
    let spec = SoftSpec { stiffness_damping: DAMPING, ..spec };
    let toy = builder.soft(SoftObject::new(spec).surface(surface).coloured(0.55, 0.35, 0.2));

    let gripper = add_gripper(&mut builder, -lowest, cells, surface)?;
    let squeeze = parameters.get("squeeze");
    let way = |times: &[f64], values: &[f64]| SignalShape::Waypoints {
        times: times.to_vec(),
        values: values.to_vec(),
        path: Interpolation::Smooth,
        repeat: false,
    };
    let close = way(&[0.0, CLOSED, PLACED, OPENED], &[0.0, squeeze, squeeze, -OPEN]);
    let lift = way(&[CLOSED, LIFTED, SHAKEN, PLACED], &[0.0, LIFT, LIFT, 0.0]);
    let signals = vec![
        Signal { actuator: gripper.lift.0, course: lift },
        Signal { actuator: gripper.shake.0, course: shaking(parameters.get("shake")) },
        Signal { actuator: gripper.fingers[0].0, course: close.clone() },
        Signal { actuator: gripper.fingers[1].0, course: close },
    ];
    let check = BubbleGripperCheck {
        toy,
        carriage: gripper.carriage,
        start: Vector3::zeros(),
        grasped: None,
        slipped: 0.0,
        least: f64::INFINITY,
        end: Vector3::repeat(f64::NAN),
        speed: f64::NAN,
        unconverged: 0,
    };
    let settings = Settings { time_step: 0.02, ..Settings::default() };
    let world = builder.build()?;
    Ok(Scene::new(world, settings, DURATION, check).controlled(SignalController::new(signals)))
}

/// Swings between two times, by points close enough to be smooth.
fn shaking(amplitude: f64) -> SignalShape {
    let points = 8 * (FREQUENCY * (SHAKEN - LIFTED)).round() as usize;
    let time = |k: usize| LIFTED + (SHAKEN - LIFTED) * k as f64 / points as f64;
    SignalShape::Waypoints {
        times: (0..=points).map(time).collect(),
        values: (0..=points)
            .map(|k| amplitude * (2.0 * PI * FREQUENCY * (time(k) - LIFTED)).sin())
            .collect(),
        path: Interpolation::Linear,
        repeat: false,
    }
}

/// A bear about the centre of its belly: a ball with bulges in the directions of head, ears, arms and
/// legs. Its surface is star-shaped about the centre, so that layers of the ball stay in order.
fn bear(cells: usize) -> Result<TetMesh, StudyError> {
    // Direction, height of the bulge over the radius of the belly, its width [rad].
    let bulges = [
        (Vector3::new(0.0, 0.0, 1.0), 0.9, 0.5),
        (Vector3::new(0.0, 0.42, 1.0), 0.3, 0.25),
        (Vector3::new(0.0, -0.42, 1.0), 0.3, 0.25),
        (Vector3::new(0.2, 1.0, 0.3), 0.5, 0.35),
        (Vector3::new(0.2, -1.0, 0.3), 0.5, 0.35),
        (Vector3::new(0.5, 0.7, -0.6), 0.45, 0.35),
        (Vector3::new(0.5, -0.7, -0.6), 0.45, 0.35),
    ];
    let ball = TetMesh::sphere(BELLY, cells)?;
    let place = |x: &Vector3<f64>| {
        let raised = |(towards, height, width): &(Vector3<f64>, f64, f64)| {
            let angle = if x.norm() > 0.0 { x.angle(towards) } else { PI };
            height * (-(angle / width).powi(2)).exp()
        };
        x * (1.0 + bulges.iter().map(raised).sum::<f64>())
    };
    let vertices = ball.vertices().iter().map(place).collect();
    Ok(TetMesh::new(vertices, ball.tetrahedra().to_vec())?)
}

/// Half of an ellipsoid: base of a radius in the plane z = 0, and a depth along z [m]. Layers of a cone
/// about the centre of its base, moved onto ellipsoids.
fn dome(radius: f64, depth: f64, cells: usize) -> Result<TetMesh, StudyError> {
    let cone = TetMesh::cone(1.0, 1.0, cells)?;
    let place = |x: &Vector3<f64>| {
        let (out, up) = (x.xy().norm(), x.z + 0.5);
        let layer = out + up;
        if layer <= 0.0 {
            return Vector3::zeros();
        }
        let (sin, cos) = (FRAC_PI_2 * up / layer).sin_cos();
        let outward = x.xy().try_normalize(0.0).unwrap_or_default() * (layer * cos * radius);
        // The base lies in its plane exactly.
        Vector3::new(outward.x, outward.y, if up <= 1e-12 { 0.0 } else { layer * sin * depth })
    };
    let vertices = cone.vertices().iter().map(place).collect();
    Ok(TetMesh::new(vertices, cone.tetrahedra().to_vec())?)
}

struct Gripper {
    carriage: BodyId,
    lift: ActuatorId,
    shake: ActuatorId,
    fingers: [ActuatorId; 2],
}

/// Half edges of a finger and of the carriage [m], and their masses [kg].
const FINGER: [f64; 3] = [0.006, 0.05, 0.06];
const FINGER_MASS: f64 = 0.3;
const CARRIAGE: [f64; 3] = [0.13, 0.05, 0.02];
const CARRIAGE_MASS: f64 = 1.5;
/// Height of the carriage over the middle of the fingers [m].
const ABOVE: f64 = 0.14;

/// A gripper whose fingers are at a height [m], open.
fn add_gripper(
    builder: &mut WorldBuilder,
    height: f64,
    cells: usize,
    surface: Surface,
) -> Result<Gripper, StudyError> {
    let shape = Shape::cuboid(Vector3::from(CARRIAGE))?;
    let carriage = builder.mechanism.body(BodySpec {
        name: "carriage".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, height + ABOVE),
        mass: Some(parts::isotropic(CARRIAGE_MASS, Vector3::zeros(), 0.01)?),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    let ghost = Groups { category: 0, mask: 0 };
    let geom = Geom::new(carriage, shape).coloured(0.3, 0.3, 0.33);
    builder.geom(Geom { groups: ghost, ..geom });
    let slide = |builder: &mut WorldBuilder, body, name: &str, axis, (kp, kd)| {
        let slide = JointSpec::new(JointKind::Slide { axis });
        let joint = builder.mechanism.joint(body, JointSpec { name: name.to_owned(), ..slide });
        let servo = ActuatorSpec::position(name, Transmission::Joint(joint), kp, kd);
        builder.mechanism.actuator(servo)
    };
    let lift = slide(builder, carriage, "lift", Vector3::z(), (2e4, 500.0));
    let shake = slide(builder, carriage, "shake", Vector3::y(), (2e4, 500.0));

    let (young, poisson, density) = DOME;
    let material = Material::LinearCorotated { young, poisson };
    let mut fingers = [lift; 2];
    for (k, side) in [(0, 1.0), (1, -1.0)] {
        // Where the flat side of a dome is at first.
        let inner = BELLY + OPEN + DEPTH;
        let name = format!("finger-{k}");
        let finger = builder.mechanism.body(BodySpec {
            name: name.clone(),
            parent: carriage,
            pose: Isometry3::translation(side * (inner + FINGER[0]), 0.0, -ABOVE),
            mass: Some(parts::isotropic(FINGER_MASS, Vector3::zeros(), 3e-4)?),
            gravity_compensation: 1.0,
            ..BodySpec::default()
        });
        fingers[k] = slide(builder, finger, &name, -side * Vector3::x(), (2e3, 60.0));
        let shape = Shape::cuboid(Vector3::from(FINGER))?;
        let geom = Geom::new(finger, shape).surface(surface).coloured(0.4, 0.4, 0.45);
        builder.geom(Geom { groups: ghost, ..geom });
        // Its depth points inwards.
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -side * FRAC_PI_2);
        let pose = Isometry3::from_parts(Translation3::new(side * inner, 0.0, height), turn);
        let mesh = dome(BASE, DEPTH, cells)?;
        let spec = soft_parts::soft(&format!("dome-{k}"), &mesh, material, density);
        let base = soft_parts::vertices_where(&spec, |x| x.z.abs() < 1e-12);
        let spec = SoftSpec { stiffness_damping: DAMPING, ..spec.moved(&pose) };
        let object = SoftObject::new(spec).surface(surface).coloured(0.15, 0.15, 0.2);
        let dome = builder.soft(object);
        builder.attach(dome, &base, finger);
    }
    Ok(Gripper { carriage, lift, shake, fingers })
}

/// The toy goes up with the gripper, stays in it while it is shaken, and stands in the end where it
/// stood.
struct BubbleGripperCheck {
    toy: SoftId,
    carriage: BodyId,
    start: Vector3<f64>,
    /// Place relative to the carriage once lifted [m], and the largest distance from it while shaken.
    grasped: Option<Vector3<f64>>,
    slipped: f64,
    /// Least height over the start while shaken [m].
    least: f64,
    end: Vector3<f64>,
    speed: f64,
    unconverged: usize,
}

/// Least height while shaken [m]; how far the toy may swing and slip between the soft domes, and how
/// far from its start it may stand in the end [m].
const LEAST: f64 = 0.8 * LIFT;
const SLIP: f64 = 0.02;
const AWAY: f64 = 0.02;

impl Check for BubbleGripperCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = soft_parts::centre(simulation, self.toy);
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.unconverged += usize::from(!report.converged());
        let (time, toy) = (simulation.state().time, soft_parts::centre(simulation, self.toy));
        if (LIFTED..=SHAKEN).contains(&time) {
            let place = toy - simulation.body_pose(self.carriage.0).translation.vector;
            let then = *self.grasped.get_or_insert(place);
            self.slipped = soft_parts::largest(self.slipped, (place - then).norm());
            self.least = self.least.min(toy.z - self.start.z);
        }
        self.end = toy;
        self.speed = soft_parts::fastest(simulation);
    }

    fn verdict(&self) -> Verdict {
        let away = (self.end - self.start).norm();
        Verdict {
            passed: self.grasped.is_some()
                && self.least >= LEAST
                && self.slipped <= SLIP
                && away <= AWAY,
            detail: format!(
                "while shaken the toy was lifted by {:.1} cm (at least {:.1}) and moved {:.1} mm between \
                 the domes (at most {:.0}); it ended {:.1} mm from its start (at most {:.0}), fastest \
                 {:.1e} m/s; {} steps missed the tolerance",
                1e2 * self.least,
                1e2 * LEAST,
                1e3 * self.slipped,
                1e3 * SLIP,
                1e3 * away,
                1e3 * AWAY,
                self.speed,
                self.unconverged
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
