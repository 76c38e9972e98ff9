//! ELASTIC ARCH: a masonry arch of stiff elastic blocks, held up by friction and its own weight
//! [Han23, Sec. VII-B].
//!
//! Blocks of finite elements as stiff as stone hardly deform, so that the statics of rigid wedges
//! ([`arch`](super::arch)) say whether it stands. What is on trial is the step: matrices of terrible
//! condition, contact between soft bodies alone, and long time steps. As in the paper the base balances
//! on sharp edges.

use nalgebra::Vector3;
use stiction_geom::TetMesh;
use stiction_mech::{Material, SoftId, SoftSpec};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, SoftObject, StepReport, Surface, WorldBuilder};

use super::masonry::{Geometry, area};
use super::{Scenario, parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "elastic-arch",
    cite: "Han23",
    about: "an arch of stiff elastic blocks stands with enough friction, and falls with less",
    parameters: &[
        Parameter { name: "blocks", default: 7.0, least: 3.0, most: 101.0, about: "blocks" },
        Parameter {
            name: "cells",
            default: 2.0,
            least: 1.0,
            most: 8.0,
            about: "along each edge of a block",
        },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "lifted",
            default: 0.05,
            least: 0.0,
            most: 0.2,
            about: "inner edges of the base above the ground [m]; above zero it balances on edges",
        },
        Parameter { name: "young", default: 20e9, least: 1e6, most: 1e12, about: "E [Pa]" },
        Parameter {
            name: "duration",
            default: 10.0,
            least: 0.1,
            most: 3600.0,
            about: "[s]; the paper has 600",
        },
    ],
    build,
};

const POISSON: f64 = 0.3;
const DENSITY: f64 = 2300.0;
/// Stiffness damping [s], as in the paper.
const DAMPING: f64 = 0.01;
/// Radii of the corners and depth [m].
const INNER: f64 = 0.9;
const OUTER: f64 = 1.1;
const DEPTH: f64 = 0.2;
/// Time step of the paper [s].
const TIME_STEP: f64 = 0.04;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let geometry = Geometry {
        blocks: parameters.count("blocks"),
        inner: INNER,
        outer: OUTER,
        lifted: parameters.get("lifted"),
    };
    let (cells, friction) = (parameters.count("cells"), parameters.get("friction"));
    let material = Material::LinearCorotated { young: parameters.get("young"), poisson: POISSON };
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let (mut keystone, mut weight) = (SoftId(0), 0.0);
    for block in 0..geometry.blocks {
        let name = format!("block-{block}");
        let spec = soft_parts::soft(&name, &wedge(&geometry, block, cells)?, material, DENSITY);
        let spec = SoftSpec { stiffness_damping: DAMPING, ..spec };
        let shade = if block % 2 == 0 { 0.72 } else { 0.6 };
        let object =
            SoftObject::new(spec).surface(surface).coloured(shade, 0.85 * shade, 0.7 * shade);
        let id = builder.soft(object);
        weight += DENSITY * DEPTH * area(&geometry.section(block));
        if block == geometry.blocks / 2 {
            keystone = id;
        }
    }
    let world = builder.build()?;
    weight *= world.model().gravity().norm();
    let stands = geometry.has_thrust_line(friction);
    let check = ElasticArchCheck {
        stands,
        weight,
        keystone,
        start: Vector3::zeros(),
        moved: f64::NAN,
        support: f64::NAN,
    };
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    Ok(Scene::new(world, settings, parameters.get("duration"), check))
}

/// A block: a cube of cells whose corners lie where those of the wedge do.
fn wedge(geometry: &Geometry, block: usize, cells: usize) -> Result<TetMesh, StudyError> {
    let cube = TetMesh::cuboid(Vector3::repeat(1.0), [cells; 3])?;
    let [low_inner, low_outer, high_outer, high_inner] = geometry.section(block);
    let place = |p: &Vector3<f64>| {
        let (s, t) = (p.x + 0.5, p.z + 0.5); // outward and along the arch
        let low = low_inner * (1.0 - s) + low_outer * s;
        let high = high_inner * (1.0 - s) + high_outer * s;
        let at = low * (1.0 - t) + high * t;
        Vector3::new(at.x, DEPTH * p.y, at.y)
    };
    let vertices = cube.vertices().iter().map(place).collect();
    Ok(TetMesh::new(vertices, cube.tetrahedra().to_vec())?)
}

/// The keystone stays or falls as statics predicts; a standing arch rests on the ground with its weight.
struct ElasticArchCheck {
    stands: bool,
    weight: f64,
    keystone: SoftId,
    start: Vector3<f64>,
    moved: f64,
    support: f64,
}

/// Largest displacement of the keystone of a standing arch [m]: what closes the joints.
const DISPLACEMENT: f64 = 1e-3;
/// Least displacement of that of a falling one [m].
const FALLEN: f64 = 0.5 * (OUTER - INNER);
/// Largest relative error of the force on the ground.
const SUPPORT: f64 = 1e-3;

impl Check for ElasticArchCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = soft_parts::centre(simulation, self.keystone);
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        self.moved = (soft_parts::centre(simulation, self.keystone) - self.start).norm();
        self.support = -soft_parts::force_on(simulation, 0).z;
    }

    fn verdict(&self) -> Verdict {
        let off = (self.support / self.weight - 1.0).abs();
        let (passed, expected) = if self.stands {
            let passed = self.moved <= DISPLACEMENT && off <= SUPPORT;
            (passed, format!("it stands: at most {} mm, {SUPPORT:e}", 1e3 * DISPLACEMENT))
        } else {
            (self.moved >= FALLEN, format!("it falls: at least {:.0} mm", 1e3 * FALLEN))
        };
        Verdict {
            passed,
            detail: format!(
                "the keystone moved {:.3e} mm; force on the ground off by {off:.1e} of the weight \
                 (by statics {expected})",
                1e3 * self.moved
            ),
        }
    }
}
