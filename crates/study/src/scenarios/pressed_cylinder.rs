//! PRESSED CYLINDER: a long rubber cylinder between two rigid plates without friction, in plane
//! strain [Han23, Sec. VII-A], a benchmark of nonlinear statics with contact.
//!
//! ```text
//!   ━━━━━━━━━━━━  plate, moves down by δ       A slice of it, of which no vertex can leave its plane.
//!      ╭────╮                                  Force per length against δ: own solution by elements of
//!      ╰────╯                                  mean dilatation, refined until it stayed.
//!   ━━━━━━━━━━━━
//! ```
//! Rubber hardly changes its volume, and on most meshes linear tetrahedra that may not do so lock. Crossed
//! cells ([`crossed_disc`]) do not, and their curve comes to the reference as the mesh is refined.
//! Time means little: inertia is nothing against stiffness in steps of a second.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodySpec, Material};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    Geom, Scheme, Settings, Simulation, SoftObject, StepReport, Surface, WorldBuilder,
};

use super::{Scenario, crossed_disc, parts, soft_parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "pressed-cylinder",
    cite: "Han23",
    about: "a rubber cylinder between plates resists as its force-displacement curve says",
    parameters: &[
        Parameter {
            name: "cells",
            default: 4.0,
            least: 1.0,
            most: 50.0,
            about: "rings of cells round a core; the rim has eight times as many cells",
        },
        Parameter { name: "layers", default: 1.0, least: 1.0, most: 4.0, about: "along the axis" },
        Parameter {
            name: "steps",
            default: 40.0,
            least: 10.0,
            most: 10000.0,
            about: "of the press",
        },
    ],
    build,
};

/// Radius [m], constants of the rubber [Pa] and its density [kg/m³].
const RADIUS: f64 = 0.2;
const C1: f64 = 0.293e6;
const C2: f64 = 0.177e6;
const BULK: f64 = 1410e6;
const DENSITY: f64 = 1000.0;
/// How far the plate moves [m].
const PRESS: f64 = 0.2;

/// Force per length [N/m] at equal steps of the approach of the plates, from none to all of it.
pub const REFERENCE: [f64; 11] = [
    0.0, 0.0240e6, 0.0600e6, 0.1078e6, 0.1703e6, 0.2525e6, 0.3616e6, 0.5096e6, 0.7130e6, 0.9983e6,
    1.4099e6,
];

/// The reference at an approach [m], in between by straight lines.
pub fn reference(approach: f64) -> f64 {
    let last = REFERENCE.len() - 1;
    let place = (approach / PRESS * last as f64).clamp(0.0, last as f64);
    let low = (place.floor() as usize).min(last - 1);
    REFERENCE[low] + (place - low as f64) * (REFERENCE[low + 1] - REFERENCE[low])
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (rings, layers) = (parameters.count("cells"), parameters.count("layers"));
    let steps = parameters.get("steps");
    // Cells about as thick as wide.
    let cell = RADIUS * std::f64::consts::FRAC_PI_4 / rings as f64;
    let thickness = layers as f64 * cell;
    let mesh = crossed_disc::slab(RADIUS, thickness, rings, layers)?;
    let lie = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, RADIUS), lie);
    let material = Material::MooneyRivlin { c1: C1, c2: C2, bulk: BULK };
    let mut spec = soft_parts::soft("cylinder", &mesh, material, DENSITY).moved(&pose);
    spec.fixed_axes = (0..spec.vertices.len() as u32).map(|v| (v, [false, true, false])).collect();
    // Nothing else keeps it from sliding away to the side.
    let middle = soft_parts::vertices_where(&spec, |x| x.x.abs() < 1e-9 * RADIUS);
    spec.fixed_axes.extend(middle.iter().map(|v| (*v, [true, false, false])));

    let smooth = Surface::with_friction(0.0);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    parts::ground(&mut builder, smooth);
    builder.soft(SoftObject::new(spec).surface(smooth).coloured(0.25, 0.25, 0.28));
    let half = Vector3::new(2.0 * RADIUS, thickness, 0.1 * RADIUS);
    let start = 2.0 * RADIUS + half.z;
    let plate = builder.mechanism.body(BodySpec {
        name: "plate".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, start),
        driven: true,
        ..BodySpec::default()
    });
    let shape = Shape::cuboid(half)?;
    let geom = Geom::new(plate, shape).surface(smooth).named("plate").coloured(0.6, 0.6, 0.65);
    let plate = builder.geom(geom);

    let world = builder.build()?;
    // Momentum is dominated by what resists a change of volume: what it is solved to leaves velocities that
    // change the shape alone inexact by κ/μ times as much, of which Newton's method needs some digits.
    let tolerance = 1e-6 * 2.0 * (C1 + C2) / BULK;
    let settings = Settings {
        time_step: 1.0,
        scheme: Scheme::Implicit,
        relinearisations: 30,
        tolerance,
        ..Settings::default()
    };
    let press = move |simulation: &mut Simulation| {
        let h = simulation.settings().time_step;
        let next = (simulation.state().time + h) / (steps * h);
        let pose = Isometry3::translation(0.0, 0.0, start - PRESS * next.min(1.0));
        simulation.input_mut().driven_pose[0] = pose;
    };
    let seen = Vec::new();
    let check =
        PressedCylinderCheck { plate, thickness, cell, start, seen, unresolved: 0, depth: 0.0 };
    Ok(Scene::new(world, settings, steps, check).controlled(press))
}

/// Relative error of the reference itself, by its last refinement.
const REFERENCE_ERROR: f64 = 0.01;

/// Relative error allowed at an approach of the plates [m], with cells of a size on the rim [m]: that of the
/// reference, and the square of what a cell is of the contact, whose width is known to a cell and of which
/// the energy depends on the square. A cylinder that kept its area and were flat where it touches and round
/// elsewhere would touch over (π R² − π (R − δ/2)²)/(2 R − δ).
fn allowed(approach: f64, cell: f64) -> f64 {
    let height = 2.0 * RADIUS - approach;
    let width = std::f64::consts::PI * (RADIUS * RADIUS - 0.25 * height * height) / height;
    REFERENCE_ERROR + (cell / width).powi(2)
}

/// Deepest penetration allowed [m]: what the tolerance of Newton's method leaves of the press of a step, 1e-4 of
/// a few hundredths of the radius.
const DEPTH: f64 = 1e-5 * RADIUS;

/// The force on the plate follows the reference, and every step found its equilibrium.
struct PressedCylinderCheck {
    plate: usize,
    thickness: f64,
    /// Size of the cells on the rim [m].
    cell: f64,
    start: f64,
    /// Approach [m] and force per length [N/m] of every step.
    seen: Vec<(f64, f64)>,
    /// Steps that did not find their equilibrium, and the deepest penetration [m].
    unresolved: usize,
    depth: f64,
}

impl PressedCylinderCheck {
    /// Relative error of the force in the step that came closest to an approach.
    fn error(&self, approach: f64) -> f64 {
        let near = |seen: &&(f64, f64)| (seen.0 - approach).abs();
        let closest = self.seen.iter().min_by(|a, b| near(a).total_cmp(&near(b)));
        closest.map_or(f64::NAN, |(at, force)| force / reference(*at) - 1.0)
    }
}

impl Check for PressedCylinderCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.unresolved += usize::from(report.unresolved || !report.converged());
        self.depth = soft_parts::largest(self.depth, report.penetration);
        let height = simulation.driven_pose()[0].translation.z;
        let force = soft_parts::force_on(simulation, self.plate).z / self.thickness;
        self.seen.push((self.start - height, force));
    }

    fn verdict(&self) -> Verdict {
        let (half, whole) = (self.error(0.5 * PRESS), self.error(PRESS));
        let most = [0.5 * PRESS, PRESS].map(|approach| allowed(approach, self.cell));
        let end = self.seen.last().copied().unwrap_or((f64::NAN, f64::NAN));
        let pressed = (end.0 - PRESS).abs() <= 1e-9;
        Verdict {
            passed: pressed
                && half.abs() <= most[0]
                && whole.abs() <= most[1]
                && self.unresolved == 0
                && self.depth <= DEPTH,
            detail: format!(
                "force per length off by {:+.2} % at half of the press (at most {:.1} %) and {:+.2} % at \
                 all of it (at most {:.1} %): {:.4} MN/m at {:.3} m; penetration {:.1e} m (at most \
                 {:.1e}); {} steps missed their equilibrium",
                1e2 * half,
                1e2 * most[0],
                1e2 * whole,
                1e2 * most[1],
                1e-6 * end.1,
                end.0,
                self.depth,
                DEPTH,
                self.unresolved
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
