//! PRESSED BLOCK: a plate that can only fall lies on a soft block on the ground.
//!
//! ```text
//!     ┌────────────┐  plate, free along z        At rest the ground carries both, and the block is
//!     └─┬────────┬─┘                             shorter by about (m_p + m_b/2) g H/(E A): its ends
//!       │ block  │                               cannot widen freely, which makes it stiffer, and its
//!   ────┴────────┴────  ground                   middle can, so less than without any widening.
//! ```
//! A benchmark of contact between a soft body of thousands of unknowns and rigid ones.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Shape, TetMesh};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, Material, SoftSpec};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::{parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "pressed-block",
    cite: "",
    about: "a plate rests on a soft block: the ground carries both, and the block yields as it must",
    parameters: &[
        Parameter {
            name: "cells",
            default: 3.0,
            least: 1.0,
            most: 40.0,
            about: "cells along x and y, and one more along z; the benchmark has 10",
        },
        Parameter { name: "young", default: 1e5, least: 1e4, most: 1e12, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.4, least: 0.0, most: 0.49, about: "ν [-]" },
        Parameter { name: "friction", default: 0.6, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "plate",
            default: 5.0,
            least: 0.1,
            most: 20.0,
            about: "mass of the plate [kg]",
        },
    ],
    build,
};

/// Edges of the block [m], its density [kg/m³] and damping [s].
const BLOCK: Vector3<f64> = Vector3::new(0.1, 0.1, 0.11);
const DENSITY: f64 = 1000.0;
const DAMPING: f64 = 0.01;
/// Half edges of the plate [m].
const PLATE: Vector3<f64> = Vector3::new(0.08, 0.08, 0.03);
/// Gaps at the start below and above the block [m].
const BELOW: f64 = 1e-4;
const ABOVE: f64 = 1e-3;
/// Of each surface; the dissipation times of two that meet add up [s].
const DISSIPATION: f64 = 0.01;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let n = parameters.count("cells");
    let (young, poisson) = (parameters.get("young"), parameters.get("poisson"));
    let friction = parameters.get("friction");
    let surface = Surface { dissipation: DISSIPATION, ..Surface::with_friction(friction) };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);

    let mesh = TetMesh::cuboid(BLOCK, [n, n, n + 1])?;
    let material = Material::LinearCorotated { young, poisson };
    let raised = Isometry3::translation(0.0, 0.0, 0.5 * BLOCK.z + BELOW);
    let spec = SoftSpec {
        stiffness_damping: DAMPING,
        ..soft_parts::soft("block", &mesh, material, DENSITY).moved(&raised)
    };
    let block_mass = DENSITY * BLOCK.product();
    builder.soft(SoftObject::new(spec).surface(surface));

    let mass = parameters.get("plate");
    let shape = Shape::cuboid(PLATE)?;
    let (unit, com, inertia) = shape.mass_properties(1.0);
    let start = BELOW + BLOCK.z + ABOVE + PLATE.z;
    let plate = builder.mechanism.body(BodySpec {
        name: "plate".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, start),
        mass: Some(MassProperties::new(mass, com, inertia * (mass / unit))?),
        ..BodySpec::default()
    });
    builder.mechanism.joint(plate, JointSpec::new(JointKind::Slide { axis: Vector3::z() }));
    let geom = Geom::new(plate, shape).surface(surface).named("plate");
    builder.geom(geom.coloured(0.55, 0.55, 0.6));

    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    // Without widening at all a block is stiffer by this factor (confined compression).
    let confined = (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let free = (mass + 0.5 * block_mass) * gravity * BLOCK.z / (young * BLOCK.x * BLOCK.y);
    let check = PressedBlockCheck {
        weight: (mass + block_mass) * gravity,
        compression: (free / confined, free),
        plate,
        start,
        support: f64::NAN,
        found: f64::NAN,
        speed: f64::NAN,
        unconverged: 0,
    };
    // The residual of the momentum appears in the weight too, a few times over: it counts all
    // vertices, and the ground only their sum.
    let settings = Settings { time_step: 0.01, tolerance: 0.1 * SUPPORT, ..Settings::default() };
    Ok(Scene::new(world, settings, 1.0, check))
}

/// The ground carries both weights, and the block has the expected compression.
struct PressedBlockCheck {
    weight: f64,
    /// Bounds of the compression [m].
    compression: (f64, f64),
    plate: BodyId,
    start: f64,
    support: f64,
    found: f64,
    speed: f64,
    unconverged: usize,
}

/// Largest relative error of the force on the ground.
const SUPPORT: f64 = 1e-6;
/// Largest speed in the end [m/s]: its change within a step must not count against the weight.
const SPEED: f64 = 1e-6;

impl Check for PressedBlockCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.unconverged += usize::from(!report.converged());
        self.support = -soft_parts::force_on(simulation, 0).z;
        let height = simulation.body_pose(self.plate.0).translation.z;
        self.found = self.start - ABOVE - BELOW - height;
        let plate = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        self.speed = soft_parts::fastest(simulation).max(plate);
    }

    fn verdict(&self) -> Verdict {
        let off = (self.support / self.weight - 1.0).abs();
        let (least, most) = self.compression;
        Verdict {
            passed: off <= SUPPORT
                && self.speed <= SPEED
                && (least..=most).contains(&self.found)
                && self.unconverged == 0,
            detail: format!(
                "force on the ground off by {off:.1e} of the weight (at most {SUPPORT:e}); shorter by \
                 {:.4} mm (between {:.4} and {:.4}); fastest {:.1e} m/s (at most {SPEED:e}); {} steps \
                 missed the tolerance",
                1e3 * self.found,
                1e3 * least,
                1e3 * most,
                self.speed,
                self.unconverged
            ),
        }
    }
}
