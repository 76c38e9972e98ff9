//! QUADRUPED-HEAP: quadrupeds of 18 velocities are dropped onto one another [Lee25, Sec. VII].
//!
//! Two columns of four layers, or nine of three for more than eight robots; servos hold the
//! standing pose throughout. Or all of them stand on the floor and touch nothing else.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector2, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::{JointId, kinetic_energy};
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
        Parameter {
            name: "torque",
            default: quadruped::TORQUE,
            least: 0.1,
            most: 1e3,
            about: "largest of a servo [N·m]; with less than about 7 the robots cannot stand and lie down",
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

/// Columns in which `n` robots are dropped.
fn columns(n: usize) -> usize {
    if n <= 8 { 2 } else { 9 }
}

/// Where the robots start.
fn poses(n: usize, standing: bool, seed: u64) -> Vec<Isometry3<f64>> {
    let mut rng = SplitMix64::new(seed);
    let per_row = if standing { (n as f64).sqrt().ceil() as usize } else { 3 };
    let columns = if standing { n } else { columns(n) };
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
    let torque = parameters.get("torque");
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let poses = poses(n, standing, parameters.get("seed") as u64);
    for (index, pose) in poses.iter().enumerate() {
        let name = format!("robot-{index}");
        quadruped::add_with_torque(&mut builder, &name, *pose, surface, torque)?;
    }
    let world = builder.build()?;
    let settings = Settings { time_step: 1.0 / 240.0, ..Settings::default() };
    let hold = |simulation: &mut Simulation| {
        // Unchanged inputs are not written, since writing wakes sleeping bodies.
        let mut wanted = simulation.input().control.iter().zip(STANDING.iter().cycle());
        if wanted.any(|(control, angle)| control != angle) {
            let controls = simulation.input_mut().control.iter_mut();
            controls.zip(STANDING.iter().cycle()).for_each(|(control, angle)| *control = *angle);
        }
    };
    let places: Vec<_> = poses.iter().map(|pose| pose.translation.vector).collect();
    let zero = Vector3::zeros(); // where the first column stands
    let check = QuadrupedHeapCheck {
        standing,
        friction: parameters.get("friction"),
        torque,
        corner: places.iter().fold(zero, |corner, place| corner.sup(place)).xy(),
        top: places.iter().map(|place| place.z).fold(0.0, f64::max),
        layers: if standing { 1 } else { n.div_ceil(columns(n)) },
        weight: GRAVITY * world.model().mass(),
        ..QuadrupedHeapCheck::default()
    };
    Ok(Scene::new(world, settings, 3.0, check).controlled(hold))
}

/// None falls through the floor or is thrown away, nothing is deep in anything once it has landed,
/// hinges stay in their ranges, the energy of robots and servos falls, and a heap that had the time
/// to come to rest does.
#[derive(Default)]
struct QuadrupedHeapCheck {
    standing: bool,
    friction: f64,
    /// Largest of a servo [N·m].
    torque: f64,
    /// Height of the highest trunk at the start [m], number of layers, weight of all robots [N].
    top: f64,
    layers: usize,
    weight: f64,
    /// Trunks start in the horizontal rectangle between the origin and this corner [m].
    corner: Vector2<f64>,
    lowest: f64,
    /// Largest distance of a joint from that rectangle in the run [m].
    strayed: f64,
    deepest: f64,
    depth_at_end: f64,
    beyond: f64,
    touching: usize,
    energy: (f64, f64, f64),
    /// Time [s], kinetic energy [J] and largest slip [m/s] at the end of the last step.
    time: f64,
    kinetic: f64,
    slip: f64,
}

/// Deepest penetration at the end, and farthest beyond the range of a hinge [m, rad].
const DEPTH: f64 = 1e-3;
const BEYOND: f64 = 1e-3;
/// Acceleration of gravity [m/s²].
const GRAVITY: f64 = 9.81;

impl QuadrupedHeapCheck {
    /// Time after which a heap must be at rest [s]: each layer in turn falls, for at most √(2z/g) from
    /// the height z of the highest robot, and slides, for at most √(2gz)/(μg).
    fn rest_time(&self) -> f64 {
        let fall = (2.0 * self.top / GRAVITY).sqrt();
        let slide = (2.0 * GRAVITY * self.top).sqrt() / (self.friction * GRAVITY);
        self.layers as f64 * (fall + slide)
    }

    /// Largest kinetic energy at rest [J], and the slip that goes with it [m/s]: the robots could not
    /// be lifted by more than the depth that contacts are allowed.
    fn rest_bounds(&self) -> (f64, f64) {
        (self.weight * DEPTH, (2.0 * GRAVITY * DEPTH).sqrt())
    }

    /// Largest distance that a joint may stray [m]. What falls from z has at most the speed √(2gz):
    /// thrown, it flies at most 2z; then it slides at most z/μ. The size of a robot is small beside that.
    fn reach(&self) -> f64 {
        self.top * (2.0 + 1.0 / self.friction)
    }
}

/// Energy of robots and of the springs of their servos [J]. A spring saturated at the largest
/// torque stores no more than the area under its curve.
fn energy(simulation: &mut Simulation, torque: f64) -> f64 {
    let kp = quadruped::stiffness();
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

/// Positions of all joints [m], world axes.
fn joint_positions(simulation: &mut Simulation) -> Vec<Vector3<f64>> {
    let world = simulation.world().clone();
    let data = simulation.data();
    let links = world.model().links().iter();
    links.map(|link| data.body_pose[link.body].translation.vector).collect()
}

impl Check for QuadrupedHeapCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        let start = energy(simulation, self.torque);
        self.energy = (start, start, start);
        self.lowest = f64::INFINITY;
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.depth_at_end = report.penetration;
        let now = energy(simulation, self.torque);
        self.energy = (self.energy.0, self.energy.1.max(now), now);
        for (k, angle) in angles(simulation) {
            let (lower, upper) = RANGES[k];
            self.beyond = self.beyond.max(lower - angle).max(angle - upper);
        }
        let world = simulation.world().clone();
        let fixed = |body: usize| world.model().bodies()[body].tree.is_none();
        let contacts = simulation.contacts().iter();
        self.touching = contacts.filter(|c| !c.bodies.iter().any(|body| fixed(*body))).count();
        self.slip = parts::largest_slip(simulation.contacts());
        self.time = simulation.state().time;
        let v = simulation.state().v.clone();
        self.kinetic = kinetic_energy(world.model(), simulation.data(), &v);
        for p in joint_positions(simulation) {
            // NaN must stay.
            if !(p.z >= self.lowest) {
                self.lowest = p.z;
            }
            let beyond = |x: f64, most: f64| (-x).max(x - most).max(0.0);
            let away = beyond(p.x, self.corner.x).hypot(beyond(p.y, self.corner.y));
            self.strayed = self.strayed.max(away);
        }
    }

    fn verdict(&self) -> Verdict {
        let (start, most, end) = self.energy;
        let Self { standing, lowest, deepest, depth_at_end, beyond, touching, .. } = *self;
        let Self { strayed, kinetic, slip, .. } = *self;
        // The implicit servos and the contacts only take energy; what the first-order step may add
        // on the way is small beside what the fall takes.
        let energy_is_fine = most <= start * (1.0 + 1e-3) && end < start;
        let apart = !standing || touching == 0;
        let (reach, rest_time) = (self.reach(), self.rest_time());
        let (most_kinetic, most_slip) = self.rest_bounds();
        let is_judged = self.time >= rest_time;
        let rests = !is_judged || (kinetic <= most_kinetic && slip <= most_slip);
        let rest = if is_judged {
            format!(
                "kinetic energy {kinetic:.1e} J (at most {most_kinetic:.1e}), slip {slip:.1e} m/s \
                 (at most {most_slip:.1e})"
            )
        } else {
            format!(
                "kinetic energy {kinetic:.1e} J: not judged at rest, which may take {rest_time:.1} s"
            )
        };
        Verdict {
            passed: lowest > 0.0
                && strayed <= reach
                && depth_at_end <= DEPTH
                && beyond <= BEYOND
                && energy_is_fine
                && apart
                && rests,
            detail: format!(
                "lowest joint at {lowest:.3} m (above 0), farthest {strayed:.2} m from the start (at \
                 most {reach:.2}); penetration {:.3} mm at the end (at most {:.0}), {:.3} mm on the \
                 way; hinges {beyond:.1e} rad beyond their ranges (at most {BEYOND:.0e}); energy \
                 {start:.1} → {end:.1} J, at most {most:.1} (must fall); {rest}; {touching} contacts \
                 between robots",
                1e3 * depth_at_end,
                1e3 * DEPTH,
                1e3 * deepest,
            ),
        }
    }
}
