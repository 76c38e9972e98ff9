//! ARCH: a semicircular masonry arch of rigid wedges, held up by friction and its own weight.
//!
//! ```text
//!         _ keystone _
//!       /  \________/  \        A joint lies at each angle φ from the crown; the springing
//!      /__/          \__\       joints (φ = 90°) are the ground.
//!     |__|            |__|
//! ```
//! Whether it can stand is a question of statics, answered apart from the simulation by a thrust
//! line: at the crown of a symmetric arch the resultant is horizontal, `(H, M = H z)`, and at every
//! joint it must pass between the edges and lie within the cone of friction (limit analysis of
//! masonry, Heyman). Without such a line the arch falls; with one, it stands. Joints of the near-rigid contact model creep, so that
//! an arch that stands sags and falls in the end: it passes as long as it has moved by less than one that falls.

use nalgebra::{Isometry3, Vector2, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{ContactModel, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::masonry::{Geometry, area};
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "arch",
    cite: "",
    about: "a masonry arch of rigid wedges stands if a thrust line exists, and falls otherwise",
    parameters: &[
        Parameter { name: "blocks", default: 7.0, least: 3.0, most: 101.0, about: "wedges" },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "inner",
            default: 0.9,
            least: 0.1,
            most: 10.0,
            about: "inner radius [m]",
        },
        Parameter {
            name: "outer",
            default: 1.1,
            least: 0.11,
            most: 20.0,
            about: "outer radius [m], larger than the inner",
        },
    ],
    build,
};

/// Depth of the arch along y [m], and density of stone [kg/m³].
const DEPTH: f64 = 0.2;
const DENSITY: f64 = 2300.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let geometry = Geometry {
        blocks: parameters.count("blocks"),
        inner: parameters.get("inner"),
        outer: parameters.get("outer"),
        lifted: 0.0,
    };
    let friction = parameters.get("friction");
    if !(geometry.inner < geometry.outer) {
        return Err(StudyError::Parameter {
            scenario: SCENARIO.name,
            name: "outer",
            found: geometry.outer.to_string(),
            least: geometry.inner,
            most: 20.0,
        });
    }
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(friction);
    parts::ground(&mut builder, surface);
    let mut keystone = BodyId::WORLD;
    for block in 0..geometry.blocks {
        let section = geometry.section(block);
        let centre = section.iter().sum::<Vector2<f64>>() / section.len() as f64;
        let corners: Vec<_> = section
            .iter()
            .map(|p| p - centre)
            .flat_map(|p| [-0.5, 0.5].map(|side| Vector3::new(p.x, side * DEPTH, p.y)))
            .collect();
        let shape = Shape::convex(&corners)?;
        let mass = shape.mass_properties(DENSITY).0;
        let pose = Isometry3::translation(centre.x, 0.0, centre.y);
        let name = format!("wedge-{block}");
        let body = parts::free_body(&mut builder, name, shape, mass, pose, surface)?;
        if block == geometry.blocks / 2 {
            keystone = body;
        }
    }
    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    let check = ArchCheck {
        stands: geometry.has_thrust_line(friction),
        sag: 0.5 * (geometry.outer - geometry.inner),
        weight: gravity * DENSITY * DEPTH * geometry.blocks as f64 * area(&geometry.section(0)),
        keystone,
        creeps: false,
        start: Vector3::zeros(),
        moved: 0.0,
        support: f64::NAN,
    };
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    Ok(Scene::new(world, settings, 10.0, check))
}

/// The keystone stays or falls as statics predicts; a standing arch rests on the ground with its weight.
struct ArchCheck {
    /// Whether statics lets the arch stand.
    stands: bool,
    /// How far the keystone of a falling arch moves at least [m].
    sag: f64,
    /// Weight of the arch [N].
    weight: f64,
    keystone: BodyId,
    /// Whether friction creeps, so that the keystone moves although the arch stands.
    creeps: bool,
    start: Vector3<f64>,
    moved: f64,
    support: f64,
}

/// Largest displacement of the keystone of a standing arch [m]: what closes the slop of the joints.
const DISPLACEMENT: f64 = 1e-4;
/// Largest relative error of the force on the ground: ten times the tolerance of the step, for the
/// two springers add up the errors of all wedges.
const SUPPORT: f64 = 1e-5;

impl Check for ArchCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.creeps = simulation.settings().contact == ContactModel::Sap;
        self.start = parts::position(simulation.world(), simulation.state(), self.keystone);
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let now = parts::position(simulation.world(), simulation.state(), self.keystone);
        self.moved = (now - self.start).norm();
        let on_ground = simulation.contacts().iter().filter(|c| c.geoms.contains(&0));
        let lift = |geoms: [usize; 2]| if geoms[0] == 0 { 1.0 } else { -1.0 };
        self.support = on_ground.map(|c| lift(c.geoms) * c.force.z).sum();
    }

    fn verdict(&self) -> Verdict {
        let off = (self.support / self.weight - 1.0).abs();
        let most = if self.creeps { self.sag } else { DISPLACEMENT };
        let passed =
            if self.stands { self.moved <= most && off <= SUPPORT } else { self.moved >= self.sag };
        let expected = if self.stands {
            let creep = if self.creeps { ", its joints creep" } else { "" };
            format!("it stands{creep}: at most {:e} mm, {SUPPORT:e}", 1e3 * most)
        } else {
            format!("it falls: at least {} mm", 1e3 * self.sag)
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
