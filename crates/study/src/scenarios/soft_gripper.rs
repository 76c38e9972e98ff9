//! SOFT-GRIPPER: two soft fingers on linear actuators take a rigid part [Lee23, Sec. V-C6].
//!
//! ```text
//!    ┌──── palm ────┐
//!    ▌████      ████▐       fingers of silicone are attached by their backs to plates that move
//!    ▌████ ┌──┐ ████▐       towards one another
//!    ▌████ │  │ ████▐
//!  ________└──┘__________
//! ```

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Shape, TetMesh};
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::cond::{self, DrawnMaterial};
use super::parts;
use super::robots::bar::NO_COLLISION;
use super::robots::gripper::{self, Fingers, Grasp};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "soft-gripper",
    cite: "Lee23",
    about: "two soft fingers on linear actuators lift a rigid part",
    parameters: &[
        Parameter { name: "young", default: 83e3, least: 1e4, most: 1e8, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.42, least: 0.0, most: 0.49, about: "ν [-]" },
        Parameter { name: "friction", default: 2.1, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "cells",
            default: 8.0,
            least: 2.0,
            most: 40.0,
            about: "cells along the narrowest edge of a finger",
        },
        Parameter {
            name: "squeeze",
            default: 0.008,
            least: 0.0,
            most: 0.03,
            about: "way of an actuator beyond the touch [m]",
        },
        cond::LAGGED,
        cond::SEED,
    ],
    build,
};

const TOLERANCE: f64 = 1e-6; // [Lee23, Sec. V-C6]
/// Ranges of Young's modulus [Pa], Poisson's ratio and friction [Lee23, Sec. V-C6].
const RANGES: [(f64, f64); 3] = [(50e3, 100e3), (0.4, 0.49), (0.5, 2.1)];
const FINGER: [f64; 3] = [0.032, 0.048, 0.08]; // edges of a soft finger [m]
const DENSITY: f64 = 1070.0; // of silicone [kg/m³]
const DAMPING: f64 = 0.005; // of silicone [s]
const PLATE: f64 = 0.004; // half the thickness of a plate [m]
const PART: [f64; 3] = [0.02, 0.02, 0.03]; // half edges of the part [m]
const PART_DENSITY: f64 = 1240.0; // of the printed part [kg/m³]
const CLEARANCE: f64 = 0.015; // of the fingers over the ground [m]
const GAP: f64 = 0.004; // between an open finger and the part [m]
const CLOSE: f64 = 0.5; // [s]
const LIFT: f64 = 0.6; // [s]
const HOLD: f64 = 0.5; // [s]
const HEIGHT: f64 = 0.06; // of the lift [m]

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let drawn = DrawnMaterial::from(parameters, RANGES);
    let surface = Surface::with_friction(drawn.friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let shape = Shape::cuboid(Vector3::from(PART))?;
    let mass = PART_DENSITY * 8.0 * PART.iter().product::<f64>();
    let pose = Isometry3::translation(0.0, 0.0, PART[2]);
    let part = parts::free_body(&mut builder, "part", shape, mass, pose, surface)?;
    // Plates behind the fingers, which touch nothing.
    let half = [0.5 * FINGER[0], PLATE, 0.5 * FINGER[2]];
    let opening = 2.0 * (PART[1] + GAP + FINGER[1]);
    let plates = Fingers { half, opening, surface, groups: NO_COLLISION };
    let middle = Vector3::new(0.0, 0.0, CLEARANCE + 0.5 * FINGER[2]);
    let gripper = gripper::add(&mut builder, "gripper", middle, &plates)?;
    let n = parameters.count("cells");
    // Cells are cubes as nearly as whole numbers allow.
    let cells = FINGER.map(|edge| (n as f64 * edge / FINGER[0]).round() as usize);
    for (side, plate) in [-1.0, 1.0].into_iter().zip(gripper.fingers) {
        let centre = middle + Vector3::y() * (side * (PART[1] + GAP + 0.5 * FINGER[1]));
        let mesh = TetMesh::cuboid(Vector3::from(FINGER), cells);
        let mesh = mesh.map(|mesh| {
            mesh.moved(&Isometry3::from_parts(centre.into(), nalgebra::UnitQuaternion::identity()))
        });
        let name = if side < 0.0 { "right" } else { "left" };
        let spec = drawn.solid(parameters, name, mesh, DENSITY, DAMPING)?;
        let back = centre.y + side * 0.5 * FINGER[1];
        let vertices = (0u32..).zip(&spec.vertices).filter(|(_, v)| (v.y - back).abs() < 1e-9);
        let held: Vec<u32> = vertices.map(|(k, _)| k).collect();
        let finger = builder.soft(SoftObject::new(spec).surface(surface).coloured(0.9, 0.75, 0.6));
        builder.attach(finger, &held, plate);
    }
    let stroke = GAP + parameters.get("squeeze");
    let first_control = gripper.first_control;
    let grasp = Grasp { stroke, close: CLOSE, height: HEIGHT, lift: LIFT, first_control };
    let world = builder.build()?;
    let part = world.model().body_of_builder(part).unwrap_or(BodyId::WORLD);
    let deepest = DEEPEST * FINGER[0] / n as f64;
    let check = SoftGripperCheck { part, mass, bound: deepest, ..SoftGripperCheck::default() };
    let duration = CLOSE + LIFT + HOLD;
    let scene = Scene::new(world, cond::settings(TOLERANCE), duration, check);
    Ok(scene.controlled(move |simulation: &mut Simulation| grasp.control(simulation)))
}

/// The part hangs between the fingers, whose forces carry it.
struct SoftGripperCheck {
    part: BodyId,
    mass: f64,
    height: f64,
    deepest: f64,
    /// Largest penetration that is allowed [m].
    bound: f64,
    inverted: usize,
    /// Force on the part, and of its weight, along z [N].
    force: Vector3<f64>,
    weight: f64,
    /// Force of each finger across [N].
    squeeze: [f64; 2],
}

impl Default for SoftGripperCheck {
    fn default() -> Self {
        let (part, force, squeeze) = (BodyId::WORLD, Vector3::zeros(), [0.0; 2]);
        let [mass, height, deepest, bound, weight] = [0.0; 5];
        Self { part, mass, height, deepest, bound, inverted: 0, force, weight, squeeze }
    }
}

/// Largest way by which the part may hang behind the lift [m]: fingers deform under its weight.
const BEHIND: f64 = 5e-3;
/// Largest penetration, as a part of the edge of a cell: edges of the part lie between vertices.
const DEEPEST: f64 = 0.1;
/// Largest part of the weight by which forces on the part may be off, while it swings.
const MISSING: f64 = 0.02;

impl Check for SoftGripperCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.inverted = self.inverted.max(report.inverted);
        self.height = simulation.body_pose(self.part.0).translation.z - PART[2];
        self.weight = -self.mass * simulation.world().model().gravity().z;
        (self.force, self.squeeze) = (Vector3::zeros(), [0.0; 2]);
        for contact in simulation.contacts() {
            let sign = match contact.bodies {
                [_, b] if b == self.part.0 => 1.0,
                [a, _] if a == self.part.0 => -1.0,
                _ => continue,
            };
            self.force += contact.force * sign;
            if let Some(finger) = contact.soft.iter().flatten().next() {
                self.squeeze[finger.0] += (contact.force * sign).y.abs();
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let off = (self.force - Vector3::z() * self.weight).norm();
        let passed = self.height >= HEIGHT - BEHIND
            && self.deepest <= self.bound
            && self.inverted == 0
            && off <= MISSING * self.weight;
        let detail = format!(
            "the part is {:.2} mm up (of {:.0}); penetration {:.4} mm (at most {:.1}); contacts carry \
             {:.4} N of {:.4} N, off by {:.4} N; the fingers press with {:.2} N and {:.2} N",
            1e3 * self.height,
            1e3 * HEIGHT,
            1e3 * self.deepest,
            1e3 * self.bound,
            self.force.z,
            self.weight,
            off,
            self.squeeze[0],
            self.squeeze[1],
        );
        Verdict { passed, detail }
    }
}
