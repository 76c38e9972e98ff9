//! CANTILEVER: a beam of finite elements, clamped at one end, bends under its weight.
//!
//! ```text
//!   ▓┌──────────────────────┐       tip: w L⁴/(8 E I) by bending [Euler, Bernoulli]
//!   ▓└──────────────────────┘          + w L²/(2 κ G A) by shear [Timoshenko], κ = 5/6
//! ```
//! Linear tetrahedra are too stiff in bending: they can only bend with a shear that the beam has not,
//! of which the stiffness is proportional to the square of their size. So 1/δ = 1/δ∞ + c h², and two
//! meshes give the value they converge to. The statics of small strain are solved beside the simulation.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::TetMesh;
use stiction_mech::{Material, SoftSpec};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Scheme, Settings, Simulation, SoftObject, StepReport, WorldBuilder};

use super::{Scenario, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "cantilever",
    cite: "",
    about: "a clamped soft beam bends under its weight as beam theory and converged elements say",
    parameters: &[
        Parameter {
            name: "cells",
            default: 2.0,
            least: 1.0,
            most: 16.0,
            about: "cubic cells across the beam, and ten times as many along it",
        },
        Parameter { name: "young", default: 2e8, least: 5e7, most: 1e12, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.3, least: 0.0, most: 0.45, about: "ν [-]" },
        Parameter {
            name: "damping",
            default: 0.02,
            least: 0.0,
            most: 1.0,
            about: "stiffness damping [s]",
        },
    ],
    build,
};

/// Length and edge of the section [m], density [kg/m³].
const LENGTH: f64 = 1.0;
const EDGE: f64 = 0.1;
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;

/// A beam under its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Cells across.
    pub cells: usize,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
}

impl Beam {
    /// The beam along x from the clamp at the origin.
    pub fn spec(&self) -> Result<SoftSpec, StudyError> {
        let n = self.cells;
        let along = (LENGTH / EDGE).round() as usize * n;
        let mesh = TetMesh::cuboid(Vector3::new(LENGTH, EDGE, EDGE), [along, n, n])?;
        let material = Material::LinearCorotated { young: self.young, poisson: self.poisson };
        let pose = Isometry3::translation(0.5 * LENGTH, 0.0, 0.0);
        let spec = soft_parts::soft("beam", &mesh, material, DENSITY).moved(&pose);
        let fixed = soft_parts::vertices_where(&spec, |x| x.x < 1e-9 * LENGTH);
        Ok(SoftSpec { fixed, ..spec })
    }

    /// Deflection of the tip by beam theory, with shear [m].
    pub fn timoshenko(&self) -> f64 {
        let (area, inertia) = (EDGE * EDGE, EDGE.powi(4) / 12.0);
        let line = DENSITY * GRAVITY * area;
        let shear_modulus = 0.5 * self.young / (1.0 + self.poisson);
        let bending = line * LENGTH.powi(4) / (8.0 * self.young * inertia);
        bending + line * LENGTH.powi(2) / (2.0 * (5.0 / 6.0) * shear_modulus * area)
    }

    /// Mean deflection of the tip's vertices in static equilibrium of small strain [m]: K u = M g in
    /// the reference shape, which a step is in which inertia counts for nothing.
    pub fn statics(&self) -> Result<f64, StudyError> {
        let material = Material::Linear { young: self.young, poisson: self.poisson };
        let spec = SoftSpec { material, ..self.spec()? };
        let tip = tip(&spec);
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::new(0.0, 0.0, -GRAVITY));
        builder.soft(SoftObject::new(spec));
        let settings = Settings { time_step: 1e5, scheme: Scheme::Implicit, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build()?, settings)?;
        let _ = simulation.step()?;
        Ok(sunk(&tip, &simulation))
    }

    /// Limit extrapolated from two meshes, of these cells and of twice as many [m].
    pub fn converged(&self) -> Result<f64, StudyError> {
        let coarse = 1.0 / self.statics()?;
        let fine = 1.0 / Self { cells: 2 * self.cells, ..*self }.statics()?;
        Ok(1.0 / (fine + (fine - coarse) / 3.0))
    }
}

/// Mean depth of vertices below the axis of the clamp [m].
fn sunk(vertices: &[u32], simulation: &Simulation) -> f64 {
    let x = &simulation.state().x;
    -vertices.iter().map(|v| x[*v as usize].z).sum::<f64>() / vertices.len() as f64
}

/// Vertices of the tip.
fn tip(spec: &SoftSpec) -> Vec<u32> {
    soft_parts::vertices_where(spec, |x| x.x > (1.0 - 1e-9) * LENGTH)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let beam = Beam {
        cells: parameters.count("cells"),
        young: parameters.get("young"),
        poisson: parameters.get("poisson"),
    };
    let spec = SoftSpec { stiffness_damping: parameters.get("damping"), ..beam.spec()? };
    let check = CantileverCheck {
        tip: tip(&spec),
        statics: beam.statics()?,
        // Beyond some refinement the second mesh takes longer than the run.
        converged: beam.converged()?,
        theory: beam.timoshenko(),
        found: f64::NAN,
        speed: f64::NAN,
    };
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::new(0.0, 0.0, -GRAVITY));
    builder.soft(SoftObject::new(spec));
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    Ok(Scene::new(builder.build()?, settings, 1.5, check))
}

/// The deflection of the tip is that of the statics of the same mesh, and the limit of the meshes is that of
/// beam theory.
struct CantileverCheck {
    tip: Vec<u32>,
    statics: f64,
    converged: f64,
    theory: f64,
    found: f64,
    speed: f64,
}

/// Largest relative difference of converged elements from beam theory. The clamp keeps the section
/// from widening, which theory ignores over a length of about an edge; and the extrapolation from
/// a coarse mesh leaves terms of fourth order.
const THEORY: f64 = 0.04;
/// Largest speed in the end [m/s].
const SPEED: f64 = 1e-5;

impl Check for CantileverCheck {
    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        self.found = sunk(&self.tip, simulation);
        self.speed = soft_parts::fastest(simulation);
    }

    fn verdict(&self) -> Verdict {
        let statics = (self.found / self.statics - 1.0).abs();
        // The geometry of large rotations enters with the square of the slope.
        let allowed = 2.0 * (self.statics / LENGTH).powi(2) + 1e-4;
        let theory = (self.converged / self.theory - 1.0).abs();
        Verdict {
            passed: statics <= allowed && theory <= THEORY && self.speed <= SPEED,
            detail: format!(
                "the tip sank {:.5} mm, off by {statics:.1e} of the statics of the mesh (at most \
                 {allowed:.1e}), which is {:.4} of what it converges to, {:.5} mm; that is off by \
                 {theory:.1e} of beam theory (at most {THEORY}); fastest {:.1e} m/s (at most {SPEED:e})",
                1e3 * self.found,
                self.statics / self.converged,
                1e3 * self.converged,
                self.speed
            ),
        }
    }
}
