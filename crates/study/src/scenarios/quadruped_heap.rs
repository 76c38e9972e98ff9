//! QUADRUPED-HEAP: quadrupeds of 18 velocities are dropped onto one another [Lee25, Sec. VII].
//!
//! Two columns of four layers, or nine of three for more than eight robots; servos hold the
//! standing pose throughout. Or all of them stand on the floor and touch nothing else.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::JointId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use super::robots::quadruped::{self, HINGES, RANGES, STANDING};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "quadruped-heap",
    cite: "Lee25",
    about: "quadrupeds with servos are dropped onto one another and come to rest in a heap",
    parameters: &[
        Parameter { name: "robots", default: 8.0, least: 1.0, most: 1e4, about: "how many" },
        Parameter {
            name: "standing",
            default: 0.0,
            least: 0.0,
            most: 1.0,
            about: "1 lets them stand on the floor, apart from one another",
        },
        Parameter { name: "friction", default: 0.8, least: 0.0, most: 1e3, about: "μ [-]" },
        Parameter { name: "seed", default: 1.0, least: 0.0, most: 1e9, about: "of the yaws" },
    ],
    build,
};

/// Distance between columns, at which no yaw lets neighbours touch, and between layers [m]; largest
/// yaw [rad]; height of the lowest feet [m].
const COLUMN: f64 = 0.55;
const LAYER: f64 = 0.55;
const YAW: f64 = 0.3;
const DROP: f64 = 0.2;
/// Distance between robots that stand [m], and height of their feet.
const APART: f64 = 1.0;
const STANDING_DROP: f64 = 1e-3;

/// Where the robots start.
fn poses(n: usize, standing: bool, seed: u64) -> Vec<Isometry3<f64>> {
    let mut rng = SplitMix64::new(seed);
    let per_row = if standing { (n as f64).sqrt().ceil() as usize } else { 3 };
    let columns = match n {
        _ if standing => n,
        0..=8 => 2,
        _ => 9,
    };
    let (pitch, drop) = if standing { (APART, STANDING_DROP) } else { (COLUMN, DROP) };
    (0..n)
        .map(|index| {
            let (column, layer) = (index % columns, index / columns);
            let (x, y) = ((column / per_row) as f64, (column % per_row) as f64);
            let z = quadruped::standing_height() + drop + LAYER * layer as f64;
            // Robots are longer than wide.
            let at = Translation3::new(1.5 * pitch * x, pitch * y, z);
            let yaw = rng.uniform(-YAW, YAW);
            let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * yaw);
            Isometry3::from_parts(at, turn)
        })
        .collect()
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let (n, standing) = (parameters.count("robots"), parameters.count("standing") == 1);
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    for (index, pose) in poses(n, standing, parameters.get("seed") as u64).iter().enumerate() {
        quadruped::add(&mut builder, &format!("robot-{index}"), *pose, surface)?;
    }
    let settings = Settings { time_step: 1.0 / 240.0, ..Settings::default() };
    let hold = |simulation: &mut Simulation| {
        // What does not change wakes nobody, also if another process has set it.
        let mut wanted = simulation.input().control.iter().zip(STANDING.iter().cycle());
        if wanted.any(|(control, angle)| control != angle) {
            let controls = simulation.input_mut().control.iter_mut();
            controls.zip(STANDING.iter().cycle()).for_each(|(control, angle)| *control = *angle);
        }
    };
    let check = Heap { standing, ..Heap::default() };
    Ok(Scene::new(builder.build()?, settings, 3.0, check).controlled(hold))
}

/// None falls through the floor, nothing is deep in anything once it has landed, hinges stay in
/// their ranges, and the energy of robots and servos falls.
#[derive(Default)]
struct Heap {
    standing: bool,
    lowest: f64,
    deepest: f64,
    depth_at_end: f64,
    beyond: f64,
    touching: usize,
    energy: (f64, f64, f64),
}

/// Deepest penetration at the end, and farthest beyond the range of a hinge [m, rad].
const DEPTH: f64 = 1e-3;
const BEYOND: f64 = 1e-3;

/// Energy of robots and of the springs of their servos [J]. A spring that yields at the largest
/// torque stores no more than the area under its curve.
fn energy(simulation: &mut Simulation) -> f64 {
    let (kp, torque) = quadruped::servo();
    let stored = |stretch: f64| {
        let stretch = stretch.abs();
        let elastic = stretch.min(torque / kp);
        0.5 * kp * elastic * elastic + torque * (stretch - elastic)
    };
    let servos: f64 = angles(simulation).map(|(k, angle)| stored(angle - STANDING[k])).sum();
    simulation.energy() + servos
}

/// Angles of all hinges, with the place of each in its leg.
fn angles(simulation: &Simulation) -> impl Iterator<Item = (usize, f64)> + '_ {
    let (model, q) = (simulation.world().model(), &simulation.state().q);
    let hinges = model.joints().iter().enumerate().filter(|(_, j)| j.spec.limit.is_some());
    hinges.map(|(index, joint)| {
        let JointId(first) = JointId(index - index / (HINGES + 1) - 1);
        (first % STANDING.len(), q[joint.q.start])
    })
}

impl Check for Heap {
    fn begin(&mut self, simulation: &mut Simulation) {
        let start = energy(simulation);
        self.energy = (start, start, start);
        self.lowest = f64::INFINITY;
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.depth_at_end = report.penetration;
        let now = energy(simulation);
        self.energy = (self.energy.0, self.energy.1.max(now), now);
        for (k, angle) in angles(simulation) {
            let (lower, upper) = RANGES[k];
            self.beyond = self.beyond.max(lower - angle).max(angle - upper);
        }
        let world = simulation.world().clone();
        let fixed = |body: usize| world.model().bodies()[body].tree.is_none();
        let contacts = simulation.contacts().iter();
        self.touching = contacts.filter(|c| !c.bodies.iter().any(|body| fixed(*body))).count();
        let data = simulation.data();
        for link in world.model().links() {
            let z = data.body_pose[link.body].translation.z;
            // NaN must stay.
            if !(z >= self.lowest) {
                self.lowest = z;
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let (start, most, end) = self.energy;
        let Self { standing, lowest, deepest, depth_at_end, beyond, touching, .. } = *self;
        // The implicit servos and the contacts only take energy; what the first-order step may add
        // on the way is small beside what the fall takes.
        let energy_is_fine = most <= start * (1.0 + 1e-3) && end < start;
        let apart = !standing || touching == 0;
        Verdict {
            passed: lowest > 0.0
                && depth_at_end <= DEPTH
                && beyond <= BEYOND
                && energy_is_fine
                && apart,
            detail: format!(
                "lowest joint at {lowest:.3} m (above 0); penetration {:.3} mm at the end (at most \
                 {:.0}), {:.3} mm on the way; hinges {beyond:.1e} rad beyond their ranges (at \
                 most {BEYOND:.0e}); energy {start:.1} → {end:.1} J, at most {most:.1} (must \
                 fall); {touching} contacts between robots",
                1e3 * depth_at_end,
                1e3 * DEPTH,
                1e3 * deepest,
            ),
        }
    }
}
