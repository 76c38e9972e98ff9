//! POURING: a bottle full of heavy spheres is tilted over another one [Lee25, Sec. VII-C].
//!
//! The upper bottle comes from the side and turns about the lip of its mouth, so that the stream falls into the mouth of the lower one,
//! which stands free on the floor.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::field_parts::{self, BOTTLE_HEIGHT, BOTTLE_MOUTH, BOTTLE_RADIUS, THICKNESS};
use super::robots::reach::eased;
use super::{Scenario, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "pouring",
    cite: "Lee25",
    about: "a bottle of heavy spheres is poured into another; none passes through a wall",
    parameters: &[
        Parameter {
            name: "spheres",
            default: 27.0,
            least: 1.0,
            most: 200.0,
            about: "in the upper bottle",
        },
        Parameter { name: "friction", default: 0.2, least: 0.0, most: 2.0, about: "μ [-]" },
        Parameter {
            name: "tilt",
            default: 2.2,
            least: 0.0,
            most: 2.6,
            about: "by which the bottle turns [rad]",
        },
    ],
    build,
};

/// Radius [m] and density [kg/m³] of the spheres [Lee25, Sec. VII-C].
const RADIUS: f64 = 5e-3;
const DENSITY: f64 = 1e4;
/// Distance of neighbours at the start [m].
const APART: f64 = 10.5e-3;
/// Place of the lip over the middle of the lower bottle [m], and how far beside it the upper bottle begins [m]; angle at which it has
/// come over it [rad].
const LIP: [f64; 2] = [-0.02, 0.15];
const BESIDE: f64 = 0.06;
const OVER: f64 = 1.1;
/// Time in which the spheres settle, duration of the tilt, and time after it [s].
const SETTLED: f64 = 0.1;
const TILTING: f64 = 3.0;
const AFTER: f64 = 0.6;

/// Pose of the upper bottle at an angle [rad].
fn pose(angle: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::y() * angle);
    let beside = BESIDE * (1.0 - angle / OVER).max(0.0);
    let lip = Vector3::new(LIP[0] - beside, 0.0, LIP[1]);
    let in_bottle = Vector3::new(BOTTLE_MOUTH + 0.5 * THICKNESS, 0.0, BOTTLE_HEIGHT);
    Isometry3::from_parts(Translation3::from(lip - turn * in_bottle), turn)
}

/// Where the spheres begin in a bottle [m]: layers of a square grid.
fn places(n: usize) -> Vec<Vector3<f64>> {
    let room = BOTTLE_RADIUS - 0.5 * THICKNESS - 1.02 * RADIUS;
    let along = (room / APART).floor() as i32;
    let first = 0.5 * THICKNESS + 1.02 * RADIUS;
    let in_layer = move |layer: usize| {
        let z = first + APART * layer as f64;
        (-along..=along).flat_map(move |i| {
            (-along..=along)
                .map(move |j| Vector3::new(f64::from(i) * APART, f64::from(j) * APART, z))
        })
    };
    let fits = |p: &Vector3<f64>| p.xy().norm() <= room;
    (0..).flat_map(in_layer).filter(fits).take(n).collect()
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let bottle = field_parts::bottle()?;
    let upper = builder.mechanism.body(BodySpec {
        name: "upper-bottle".to_owned(),
        pose: pose(0.0),
        driven: true,
        ..BodySpec::default()
    });
    let glass = Geom::new(upper, bottle.shape.clone()).surface(surface);
    builder.geom(Geom { colour: [0.5, 0.75, 0.85, 0.45], ..glass });
    let at = Isometry3::translation(0.0, 0.0, 0.5 * THICKNESS);
    let lower = parts::mass_of(&mut builder, "lower-bottle", &bottle.shape, bottle.mass, at)?;
    let glass = Geom::new(lower, bottle.shape.clone()).surface(surface);
    builder.geom(Geom { colour: [0.55, 0.85, 0.6, 0.45], ..glass });
    let n = parameters.count("spheres");
    let mass = DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let mut spheres = Vec::with_capacity(n);
    for (k, place) in places(n).into_iter().enumerate() {
        let at = pose(0.0) * Isometry3::from(Translation3::from(place));
        let shape = Shape::sphere(RADIUS)?;
        spheres.push(parts::free_body(
            &mut builder,
            format!("sphere-{k}"),
            shape,
            mass,
            at,
            surface,
        )?);
    }
    let tilt = parameters.get("tilt");
    let drive = move |simulation: &mut Simulation| {
        let end = simulation.state().time + simulation.settings().time_step;
        let next = pose(tilt * eased(end - SETTLED, TILTING));
        if simulation.input().driven_pose[0] != next {
            simulation.input_mut().driven_pose[0] = next;
        }
    };
    let world = builder.build()?;
    let find = |id: BodyId| world.model().body_of_builder(id).unwrap_or(id);
    let check = PouringCheck {
        bottles: [find(upper), find(lower)],
        spheres: spheres.into_iter().map(find).collect(),
        tilt,
        bottle: bottle.shape,
        counts: [0; 3],
        stuck: 0,
        deepest: 0.0,
    };
    let settings = Settings { time_step: 1.0 / 240.0, ..Settings::default() };
    Ok(Scene::new(world, settings, SETTLED + TILTING + AFTER, check).controlled(drive))
}

/// Every sphere is in one of the bottles or beside them, none in a wall; most of them are in the lower one.
struct PouringCheck {
    bottles: [BodyId; 2],
    spheres: Vec<BodyId>,
    tilt: f64,
    bottle: Shape,
    /// Spheres in the upper bottle, in the lower one, and beside them.
    counts: [usize; 3],
    /// Most spheres in a wall or below the floor in any step.
    stuck: usize,
    deepest: f64,
}

/// Largest depth [m], and part of a sphere's radius by which one in a wall is nearer than its radius [-].
const DEPTH: f64 = 2e-4;
const IN_WALL: f64 = 0.1;
/// Tilt from which on a bottle is emptied [rad], and least part that then reaches the lower bottle [-].
const EMPTIED: f64 = 2.1;
const POURED: f64 = 0.7;

impl Check for PouringCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        let Shape::Field(field) = &self.bottle else { return };
        let poses = self.bottles.map(|bottle| simulation.body_pose(bottle.0));
        self.counts = [0; 3];
        let mut stuck = 0;
        for sphere in &self.spheres {
            let p = Point3::from(simulation.body_pose(sphere.0).translation.vector);
            let inside = poses.map(|pose| pose.inverse_transform_point(&p).coords);
            let nearest = inside.iter().map(|p| field.value(p)).fold(p.z, f64::min);
            stuck += usize::from(nearest < (1.0 - IN_WALL) * RADIUS);
            let is_in = |p: &Vector3<f64>| {
                p.xy().norm() < BOTTLE_RADIUS && (0.0..=BOTTLE_HEIGHT).contains(&p.z)
            };
            self.counts[inside.iter().position(is_in).unwrap_or(2)] += 1;
        }
        self.stuck = self.stuck.max(stuck);
    }

    fn verdict(&self) -> Verdict {
        let [upper, lower, beside] = self.counts;
        let n = self.spheres.len();
        let enough = self.tilt < EMPTIED || lower as f64 >= POURED * n as f64;
        let all = upper + lower + beside == n;
        Verdict {
            passed: all && enough && self.stuck == 0 && self.deepest <= DEPTH,
            detail: format!(
                "of {n} spheres {lower} are in the lower bottle (at least {:.0}), {upper} in the upper one and {beside} beside them; at most \
                 {} in a wall (0); penetration {:.1} µm (at most {:.0})",
                if self.tilt < EMPTIED { 0.0 } else { POURED * n as f64 },
                self.stuck,
                1e6 * self.deepest,
                1e6 * DEPTH,
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
