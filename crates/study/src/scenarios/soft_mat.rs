//! SOFT-MAT: an arm folds a soft mat over by one of its edges [Lee23, Sec. V-C3].
//!
//! ```text
//!            ╭─╴hand╶─╮              the hand holds a line of vertices, about which the edge can turn,
//!         ╭──╯        ╲             and leads it on an arc over the middle of the mat
//!   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁╱___ ground
//! ```

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use stiction_geom::TetMesh;
use stiction_mech::{SoftId, SoftWorkspace};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::cond::{self, DrawnMaterial};
use super::parts;
use super::robots::manipulator;
use super::robots::reach::{ArmInverseKinematics, HandPathFollower, Path, eased};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "soft-mat",
    cite: "Lee23",
    about: "an arm of seven hinges folds a soft mat on the ground",
    parameters: &[
        Parameter { name: "young", default: 75e3, least: 1e3, most: 1e7, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.35, least: 0.0, most: 0.49, about: "ν [-]" },
        Parameter { name: "friction", default: 0.3, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "cells-x",
            default: 36.0,
            least: 4.0,
            most: 1000.0,
            about: "cells along the mat",
        },
        Parameter {
            name: "cells-y",
            default: 19.0,
            least: 1.0,
            most: 1000.0,
            about: "cells across the mat",
        },
        Parameter {
            name: "cells-z",
            default: 1.0,
            least: 1.0,
            most: 20.0,
            about: "layers of the mat",
        },
        cond::LAGGED,
        cond::SEED,
    ],
    build,
};

const TOLERANCE: f64 = 1e-4; // [Lee23, Sec. V-C3]
/// Ranges of Young's modulus [Pa], Poisson's ratio and friction [Lee23, Sec. V-C3].
const RANGES: [(f64, f64); 3] = [(50e3, 100e3), (0.3, 0.4), (0.1, 0.5)];
const SIZE: [f64; 3] = [0.36, 0.19, 0.01]; // of the mat [m]
const MIDDLE: f64 = 0.50; // of the mat, in front of the arm [m]
const DENSITY: f64 = 1000.0; // [kg/m³]
const DAMPING: f64 = 0.002; // of the material [s]
/// Radius of the arc along the ground and its height, as parts of half the mat.
const FORTH: f64 = 0.82;
const HIGH: f64 = 0.75;
const LANDING: f64 = 0.003; // above the mat that lies below [m]
const REST: f64 = 0.1; // before and after the motion [s]
const FOLD: f64 = 2.0; // [s]
const AFTER: f64 = 1.4; // [s]

/// The hand points down.
fn down() -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(Vector3::x() * PI)
}

/// Position of the hand at a time [s].
fn hand(time: f64) -> Isometry3<f64> {
    let half = 0.5 * SIZE[0];
    let s = eased(time - REST, FOLD);
    let (x, z) = ((PI * s).cos(), (PI * s).sin());
    // From the edge to its place beyond the middle.
    let (from, to) = (half, -FORTH * half);
    let along = 0.5 * (from + to) + 0.5 * (from - to) * x;
    let place = Vector3::new(MIDDLE + along, 0.0, SIZE[2] + LANDING * s + HIGH * half * z);
    Isometry3::from_parts(Translation3::from(place), down())
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let drawn = DrawnMaterial::from(parameters, RANGES);
    let cells = ["cells-x", "cells-y", "cells-z"].map(|name| parameters.count(name));
    let surface = Surface::with_friction(drawn.friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let mut reach = ArmInverseKinematics::new(Isometry3::identity())?;
    let angles = reach.first_angles(&hand(0.0));
    let arm =
        manipulator::add(&mut builder, "arm", Isometry3::identity(), &angles, 1.05 * SIZE[1])?;
    let mesh = TetMesh::mat(Vector3::from(SIZE), [cells[0], cells[1]], cells[2]);
    let mesh = mesh.map(|mesh| mesh.moved(&Isometry3::translation(MIDDLE, 0.0, 0.5 * SIZE[2])));
    let spec = drawn.solid(parameters, "mat", mesh, DENSITY, DAMPING)?;
    // The upper line of the far edge.
    let corner = Vector3::new(MIDDLE + 0.5 * SIZE[0], 0.0, SIZE[2]);
    let is_held = |v: &Vector3<f64>| (v - corner).xz().norm() < 1e-9;
    let vertices = (0u32..).zip(&spec.vertices);
    let held: Vec<u32> = vertices.filter(|(_, v)| is_held(v)).map(|(k, _)| k).collect();
    let object = SoftObject::new(spec).surface(surface).touching_itself();
    let mat = builder.soft(object.coloured(0.3, 0.6, 0.75));
    builder.attach(mat, &held, arm.hand);
    let world = builder.build()?;
    let first = cond::coordinate(world.model(), "arm-0");
    let path: Path = Box::new(hand);
    let follow = HandPathFollower::new(reach, path, first, arm.first_control);
    let check = SoftMatCheck { mat, held, ..SoftMatCheck::default() };
    let duration = REST + FOLD + AFTER;
    Ok(Scene::new(world, cond::settings(TOLERANCE), duration, check).controlled(follow))
}

/// The mat lies folded, was never deep in the ground, and the ground and the hand carry its weight.
struct SoftMatCheck {
    mat: SoftId,
    held: Vec<u32>,
    deepest: f64,
    inverted: usize,
    energy: f64,
    /// Past the middle: from the edge that is held to the middle of the mat, along the fold [m].
    beyond: f64,
    /// Force of the ground, of the hand, and weight [N].
    ground: f64,
    hand: f64,
    weight: f64,
    fastest: f64,
}

impl Default for SoftMatCheck {
    fn default() -> Self {
        Self {
            mat: SoftId(0),
            held: Vec::new(),
            deepest: 0.0,
            inverted: 0,
            energy: 0.0,
            beyond: f64::NEG_INFINITY,
            ground: 0.0,
            hand: 0.0,
            weight: 0.0,
            fastest: 0.0,
        }
    }
}

/// Largest penetration [m]: a twentieth of the thickness of the mat.
const DEEPEST: f64 = 0.05 * SIZE[2];
/// Largest part of the weight that may be missing at the end, while the mat still creeps.
const MISSING: f64 = 0.02;

impl SoftMatCheck {
    /// Force of the hand along z [N] on the vertices it holds: that of their elements and their weight.
    fn carried(&self, simulation: &Simulation) -> f64 {
        let model = simulation.world().model();
        let body = &model.softs()[self.mat.0];
        let x = &simulation.state().x[body.nodes.clone()];
        let mut work = SoftWorkspace::new(body);
        body.update_rotations(x, &mut work);
        body.forces(x, &mut work);
        let of = |vertex: &u32| {
            let k = *vertex as usize;
            -(work.force[k] + body.vertex_masses()[k] * model.gravity()).z
        };
        self.held.iter().map(of).sum()
    }
}

impl Check for SoftMatCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.inverted = self.inverted.max(report.inverted);
        self.energy = simulation.energy();
        let last = simulation.state().time > REST + FOLD + AFTER - 0.05;
        if !last {
            return;
        }
        let body = &simulation.world().model().softs()[self.mat.0];
        let (x, rest) = (&simulation.state().x[body.nodes.clone()], &body.spec.vertices);
        let mean = |places: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = places.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
            sum / count
        };
        // The middle is where the vertices of the middle lie.
        let near = |v: &Vector3<f64>| (v.x - MIDDLE).abs() < 0.15 * SIZE[0];
        let middle = mean(&mut x.iter().zip(rest).filter(|(_, v)| near(v)).map(|(x, _)| x.x));
        let edge = mean(&mut self.held.iter().map(|k| x[*k as usize].x));
        self.beyond = middle - edge;
        self.weight = -body.total_mass() * simulation.world().model().gravity().z;
        self.fastest = cond::fastest(simulation, self.mat);
        self.ground = cond::contact_forces(simulation, self.mat)[0].z;
        self.hand = self.carried(simulation);
    }

    fn verdict(&self) -> Verdict {
        let missing = (self.ground + self.hand - self.weight).abs();
        let passed = self.beyond > 0.1 * SIZE[0]
            && self.deepest <= DEEPEST
            && self.inverted == 0
            && self.energy.is_finite()
            && missing <= MISSING * self.weight;
        let detail = format!(
            "the edge lies {:.1} mm beyond the middle (at least {:.0}); penetration {:.3} mm (at most \
             {:.1}); the ground carries {:.4} N and the hand {:.4} N of {:.4} N; {} elements inside out; \
             the fastest vertex at {:.2} mm/s",
            1e3 * self.beyond,
            1e2 * SIZE[0],
            1e3 * self.deepest,
            1e3 * DEEPEST,
            self.ground,
            self.hand,
            self.weight,
            self.inverted,
            1e3 * self.fastest,
        );
        Verdict { passed, detail }
    }
}
