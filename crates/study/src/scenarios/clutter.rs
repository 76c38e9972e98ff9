//! CLUTTER: spheres and cubes fall in four columns and come to rest, with or without walls
//! [Castro22, Sec. VI-C].

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;
use std::path::Path;
use stiction_geom::Shape;
use stiction_math::random::SplitMix64;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, SceneError, Verdict};
use stiction_sim::{
    ContactModel, ContactPoint, Geom, Settings, Simulation, StepReport, Surface, WorldBuilder,
};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "clutter",
    cite: "Castro22",
    about: "spheres and cubes fall in four columns into a bin and come to rest",
    parameters: &[
        Parameter { name: "bodies", default: 40.0, least: 1.0, most: 1e5, about: "how many" },
        Parameter {
            name: "walls",
            default: 1.0,
            least: 0.0,
            most: 1.0,
            about: "1 with, 0 without",
        },
        Parameter {
            name: "spheres-only",
            default: 0.0,
            least: 0.0,
            most: 1.0,
            about: "1 makes every object a sphere",
        },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 1e3, about: "μ [-]" },
        Parameter {
            name: "seed",
            default: 1.0,
            least: 0.0,
            most: 1e9,
            about: "of the random offsets",
        },
    ],
    build,
};

/// Half width of the bin's inside, and sizes of the objects [m].
const INSIDE: f64 = 0.4;
const RADIUS: f64 = 0.05;
const SPHERE_MASS: f64 = 0.524;
const CUBE_MASS: f64 = 1.0;

/// One object of the clutter.
#[derive(Clone, Copy, Debug)]
pub struct ClutterItem {
    /// Whether it is a cube; otherwise a sphere.
    pub is_cube: bool,
    /// Where it starts.
    pub pose: Isometry3<f64>,
}

/// The columns of `n` objects by the rule of the benchmark, with random offsets and rotations.
pub fn columns(n: usize, seed: u64) -> Vec<ClutterItem> {
    let mut rng = SplitMix64::new(seed);
    let per_column = n.div_ceil(4);
    let mut unit = move || rng.unit();
    (0..n)
        .map(|i| {
            let (column, level) = (i / per_column, i % per_column);
            let side = |bit: usize| if column & bit == 0 { -0.2 } else { 0.2 };
            let mut offset = || 0.02 * (unit() - 0.5);
            let (x, y) = (side(1) + offset(), side(2) + offset());
            let z = 0.1 + 0.15 * level as f64;
            let turn = UnitQuaternion::from_euler_angles(unit(), unit(), unit());
            let is_cube = unit() < 0.5;
            ClutterItem { is_cube, pose: Isometry3::from_parts(Translation3::new(x, y, z), turn) }
        })
        .collect()
}

/// Objects from a file: a JSON array of `kind` ("box" or "sphere"), `p` [m] and `quat_wxyz`.
pub fn read_items(path: impl AsRef<Path>) -> Result<Vec<ClutterItem>, StudyError> {
    let path = path.as_ref();
    let wrong = |what: String| {
        StudyError::from(SceneError::File { path: path.display().to_string(), what })
    };
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let entries = value.as_array().ok_or_else(|| wrong("expected an array of objects".into()))?;
    let item = |(index, entry): (usize, &Value)| {
        let missing = |what| wrong(format!("object {index}: expected {what}"));
        let is_cube = match entry["kind"].as_str() {
            Some("box") => true,
            Some("sphere") => false,
            _ => return Err(missing("a kind, box or sphere")),
        };
        let [x, y, z] = numbers(&entry["p"]).ok_or_else(|| missing("p with three numbers"))?;
        let [w, i, j, k] = numbers(&entry["quat_wxyz"])
            .filter(|q: &[f64; 4]| q.iter().any(|c| *c != 0.0))
            .ok_or_else(|| missing("quat_wxyz with four numbers, not all zero"))?;
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
        Ok(ClutterItem { is_cube, pose: Isometry3::from_parts(Translation3::new(x, y, z), turn) })
    };
    entries.iter().enumerate().map(item).collect()
}

/// Exactly `N` finite numbers of an array.
fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    numbers?.try_into().ok()
}

/// The scene with given objects.
pub fn scene(items: &[ClutterItem], walls: bool, friction: f64) -> Result<Scene, StudyError> {
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(friction);
    parts::ground(&mut builder, surface);
    if walls {
        for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            let thin = |along: f64| if along == 0.0 { 0.5 } else { 0.05 };
            let shape = Shape::cuboid(Vector3::new(thin(x), thin(y), 0.8))?;
            let at = Isometry3::translation((INSIDE + 0.05) * x, (INSIDE + 0.05) * y, 0.8);
            builder.geom(Geom::new(BodyId::WORLD, shape).at(at).surface(surface));
        }
    }
    for (index, item) in items.iter().enumerate() {
        let (shape, mass, kind) = if item.is_cube {
            (Shape::cuboid(Vector3::repeat(RADIUS))?, CUBE_MASS, "cube")
        } else {
            (Shape::sphere(RADIUS)?, SPHERE_MASS, "sphere")
        };
        let name = format!("{kind}-{index}");
        parts::free_body(&mut builder, name, shape, mass, item.pose, surface)?;
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let top = items.iter().map(|item| item.pose.translation.z).fold(0.0, f64::max);
    let check = ClutterCheck { walls, friction, top, ..ClutterCheck::default() };
    Ok(Scene::new(builder.build()?, settings, 5.0, check))
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let mut items = columns(parameters.count("bodies"), parameters.get("seed") as u64);
    if parameters.count("spheres-only") == 1 {
        items.iter_mut().for_each(|item| item.is_cube = false);
    }
    scene(&items, parameters.count("walls") == 1, parameters.get("friction"))
}

/// Nothing ever leaves the bin, nothing is deep in anything, energy only falls, and after the objects
/// have landed they come to rest.
#[derive(Default)]
struct ClutterCheck {
    walls: bool,
    friction: f64,
    /// Height of the highest object at the start [m].
    top: f64,
    /// Deepest penetration so far, and what the contact model allows after the largest impulse so far [m].
    deepest: f64,
    allowed: f64,
    energy: (f64, f64),
    /// Largest number of objects that were outside at the end of one step.
    outside: usize,
    /// Time [s], and then the speed of the fastest centre and the largest slip at a contact that
    /// carries load [m/s], at the end of the last step.
    time: f64,
    fastest: f64,
    slip: f64,
}

/// Deepest penetration allowed of rigid surfaces [m].
const DEPTH: f64 = 1e-3;
/// Acceleration of gravity [m/s²].
const GRAVITY: f64 = 9.81;

impl ClutterCheck {
    /// Penetration allowed after a step [m]. A near-rigid contact that approaches and takes the impulse γ is at most `(h + τ_d) R_n γ`
    /// deep after the step [Castro22, Eq. (3)], with τ_d = h; one that separates is less deep than before. R_n = β²/(4π²) w is largest between
    /// two spheres: `W_ii = 2/m diag(1, 7/2, 7/2)`, w = ‖W_ii‖/3. Corners of two bodies that turn by ω h leave their
    /// tangents by `(ω h)² r/2` each. What is allowed of rigid surfaces comes on top.
    fn depth_after_step(simulation: &Simulation) -> f64 {
        let settings = simulation.settings();
        if settings.contact == ContactModel::Rigid {
            return DEPTH;
        }
        let w = 2.0 / SPHERE_MASS * (1.0 + 2.0 * 3.5_f64.powi(2)).sqrt() / 3.0;
        let h = settings.time_step;
        let normal = |c: &ContactPoint| h * c.force.dot(&c.normal);
        let impulse = simulation.contacts().iter().map(normal).fold(0.0, f64::max);
        let spin = |v: &[f64]| (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]).sqrt();
        let turn = h * simulation.state().v.chunks_exact(6).map(spin).fold(0.0, f64::max);
        let corner = turn * turn * 3.0_f64.sqrt() * RADIUS;
        DEPTH + corner + 2.0 * h * settings.near_rigid.normal() * w * impulse
    }

    /// Largest speed of a centre that is left at the end of the run [m/s]; `None` if the run is too
    /// short, or if nothing stops an object that rolls.
    ///
    /// An object falls for at most `t_f = √(2z/g)` and slides for at most `t_s = √(2gz)/(μg)`.
    /// Afterwards it can only roll, which nothing resists but the walls: without restitution they take
    /// the velocity along their normals. What still rolls after a further time t has not crossed the
    /// bin in it, so that each horizontal component of its velocity is at most the way over t.
    fn largest_speed(&self) -> Option<f64> {
        let fall = (2.0 * self.top / GRAVITY).sqrt();
        let slide = (2.0 * GRAVITY * self.top).sqrt() / (self.friction * GRAVITY);
        let rolling = self.time - fall - slide;
        let way = 2.0 * (INSIDE - RADIUS);
        // In less time than this the bound says less than that the objects have landed.
        let is_judged = self.walls && rolling > fall + slide;
        is_judged.then(|| std::f64::consts::SQRT_2 * way / rolling)
    }
}

impl Check for ClutterCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.energy = (simulation.energy(), simulation.energy());
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.allowed = self.allowed.max(Self::depth_after_step(simulation));
        self.energy.1 = simulation.energy();
        let state = simulation.state();
        let is_inside = |p: &[f64]| {
            p[2] >= 0.0 && (!self.walls || (p[0].abs() <= INSIDE && p[1].abs() <= INSIDE))
        };
        let outside = state.q.chunks_exact(7).filter(|p| !is_inside(p)).count();
        self.outside = self.outside.max(outside);
        self.time = state.time;
        self.fastest = parts::fastest_centre(&state.v);
        self.slip = parts::largest_slip(simulation.contacts());
    }

    fn verdict(&self) -> Verdict {
        let (before, after) = self.energy;
        // Two objects that roll against each other slip by at most the sum of their speeds.
        let speed = self.largest_speed();
        let rests = speed.is_none_or(|most| self.fastest <= most && self.slip <= 2.0 * most);
        let motion = match speed {
            Some(most) => format!(
                "fastest centre {:.3} m/s (at most {most:.3}), slip {:.3} m/s (at most {:.3})",
                self.fastest,
                self.slip,
                2.0 * most
            ),
            None if self.walls => "too short to be judged at rest".to_owned(),
            None => "not judged at rest: without walls spheres roll on".to_owned(),
        };
        Verdict {
            passed: self.outside == 0 && self.deepest <= self.allowed && after <= before && rests,
            detail: format!(
                "{} ever outside the bin; deepest penetration {:.3} mm (at most {:.4} mm); energy \
                 {:.3} → {:.3} J (must fall); {motion}",
                self.outside,
                1e3 * self.deepest,
                1e3 * self.allowed,
                before,
                after
            ),
        }
    }
}
