//! CABLE-WINDING: an arm winds a cable around an upright cylinder [Lee23, Sec. V-C5].
//!
//! ```text
//!        ╭───╮      hand       seen from above: the cable begins at the cylinder, where it is
//!       │  o──┼──────■         fixed, and ends in the hand, which points down. It is lifted until
//!        ╰───╯                 it rises at a slope, wound up along a helix, and pulled.
//! ```
//! A taut cable on a cylinder lies on a helix, which is a geodesic; what is not wound up yet leaves it
//! along its tangent. From where the cable leaves the cylinder inwards friction takes up its tension,
//! per angle at most by `|dT/dφ| ≤ μ T cos ψ`, ψ the slope: the capstan's law for a helix.
//!
//! Deviation: laws hold for the next velocities, not for mean ones as in [Lee23, Sec. V-A4]. A link that
//! sticks has the mean velocity zero, so that its own turns back in every step, and what its neighbours
//! resist that with, though it does no work, is many times what presses the cable on to the cylinder: contacts
//! open and close from step to step until the cable comes off.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Geom, Scheme, Settings, Simulation, StepReport, Surface,
    WorldBuilder,
};

use super::Scenario;
use super::cond::{self, DrawnMaterial};
use super::parts;
use super::robots::manipulator;
use super::robots::reach::{ArmInverseKinematics, HandPathFollower, Path, eased};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "cable-winding",
    cite: "Lee23",
    about: "an arm of seven hinges winds a cable around a cylinder",
    parameters: &[
        Parameter { name: "young", default: 2.954e6, least: 1e5, most: 1e9, about: "E [Pa]" },
        Parameter { name: "poisson", default: 0.49, least: 0.0, most: 0.499, about: "ν [-]" },
        Parameter { name: "friction", default: 1.3, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "links",
            default: 320.0,
            least: 20.0,
            most: 2000.0,
            about: "segments of the cable",
        },
        Parameter {
            name: "turns",
            default: 1.5,
            least: 0.5,
            most: 1.75,
            about: "how often the cable goes around",
        },
        cond::SEED,
    ],
    build,
};

/// Iterations of a step: as many as the solver itself allows. A taut cable on its cylinder takes 40 Newton iterations on
/// average, so that stopping early to accept a larger error costs more than it saves.
const MAX_ITERATIONS: usize = 20_000;
const TOLERANCE: f64 = 1e-4; // [Lee23, Sec. V-C5]
/// Ranges of Young's modulus [Pa], Poisson's ratio and friction [Lee23, Sec. V-C5].
const RANGES: [(f64, f64); 3] = [(4e6, 5e6), (0.4, 0.49), (0.5, 1.5)];
/// The cable.
const LENGTH: f64 = 0.4; // [m]
const RADIUS: f64 = 0.002; // [m]
const DENSITY: f64 = 1259.0; // [kg/m³]
const DAMPING: f64 = 0.01; // of its strains [s]
/// Where our arm stands [m], in the frame of the paper's arm: nearer to the cylinder, for it is shorter, and
/// the far side of the cylinder would be out of its reach.
const BASE: [f64; 3] = [0.07, -0.03, 0.0];
/// The cylinder.
const AXIS: [f64; 2] = [0.4920, -0.2025]; // in the frame of the paper's arm [m]
const CYLINDER: f64 = 0.02; // its radius [m]
const HEIGHT: f64 = 0.5; // [m]
const FOOT: f64 = 0.09; // height at which the cable begins [m]
const BEND: f64 = 0.01; // radius with which the cable turns up into the hand at the start [m]
/// The winding.
const SLOPE: f64 = 0.7; // [rad]
const TAUT: f64 = 0.02; // stretch while winding
const PULLED: f64 = 0.05; // stretch at the end
const LIFT: f64 = 1.0; // [s]
const SPEED: f64 = 2.5; // of the winding [rad/s]
const PULL: f64 = 0.5; // [s]
const AFTER: f64 = 0.3; // [s]

/// Distance of the cable's core from the axis when it touches [m].
const CORE: f64 = CYLINDER + RADIUS;

/// Way of the cable along the ground at the start, before it turns up [m]: a quarter of a circle is the
/// rest of it.
const STRAIGHT: f64 = LENGTH - FRAC_PI_2 * BEND;

/// The hand at the start [m]: the cable begins where it leaves the cylinder.
const START: [f64; 3] = [AXIS[0] + CORE, AXIS[1] + STRAIGHT + BEND, FOOT + BEND];

/// The hand at a place, pointing down.
fn down(place: Vector3<f64>) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::x() * PI);
    Isometry3::from_parts(Translation3::from(place), turn)
}

/// The cable's points at the start [m]: along the ground from the cylinder, then up into the hand.
fn course(hand: Vector3<f64>) -> Vec<Vector3<f64>> {
    let foot = Vector3::new(hand.x, hand.y - BEND - STRAIGHT, hand.z - BEND);
    let mut points = vec![foot];
    points.extend((0..=8).map(|k| {
        let angle = FRAC_PI_2 * f64::from(k) / 8.0;
        let (forth, up) = (BEND * angle.sin(), BEND * (1.0 - angle.cos()));
        Vector3::new(hand.x, hand.y - BEND + forth, hand.z - BEND + up)
    }));
    points
}

/// The hand of the analytic winding by an angle θ [rad], with a slope and a stretch.
fn taut(theta: f64, slope: f64, stretch: f64) -> Isometry3<f64> {
    let (sin, cos) = theta.sin_cos();
    let free = (LENGTH - theta * CORE / slope.cos()) * (1.0 + stretch);
    let place = Vector3::new(
        AXIS[0] + CORE * cos - free * slope.cos() * sin,
        AXIS[1] + CORE * sin + free * slope.cos() * cos,
        FOOT + CORE * theta * slope.tan() + free * slope.sin(),
    );
    down(place)
}

/// The analytic winding: lift, wind, pull.
fn hand(time: f64, turns: f64) -> Isometry3<f64> {
    let angle = TAU * turns;
    let winding = 1.5 * angle / SPEED; // eased: the fastest is half as much again
    let lift = eased(time, LIFT);
    let theta = angle * eased(time - LIFT, winding);
    let stretch = lift * TAUT + (PULLED - TAUT) * eased(time - LIFT - winding, PULL);
    let start = down(Vector3::from(START));
    let lifted = taut(theta, lift * SLOPE, stretch);
    // From the start, where the cable is bent up into the hand, to the helix.
    let place = start.translation.vector.lerp(&lifted.translation.vector, eased(time, 0.25 * LIFT));
    down(place)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let turns = parameters.get("turns");
    let duration = LIFT + 1.5 * TAU * turns / SPEED + PULL + AFTER;
    let path: Path = Box::new(move |time| hand(time, turns));
    scene_with(parameters, path, duration)
}

/// The scenario with a trajectory of the hand, one pose per time step, in the frame of the paper's arm.
/// The first is where it begins; the last is held.
pub fn scene_with_trajectory(
    parameters: &Parameters,
    poses: Vec<Isometry3<f64>>,
) -> Result<Scene, StudyError> {
    let h = cond::TIME_STEP;
    let duration = h * poses.len() as f64;
    let path: Path = Box::new(move |time| {
        let place = (time / h).max(0.0);
        let before = (place.floor() as usize).min(poses.len().saturating_sub(1));
        let after = (before + 1).min(poses.len().saturating_sub(1));
        match (poses.get(before), poses.get(after)) {
            (Some(a), Some(b)) => a.lerp_slerp(b, place.fract()),
            _ => down(Vector3::from(START)),
        }
    });
    scene_with(parameters, path, duration)
}

fn scene_with(parameters: &Parameters, path: Path, duration: f64) -> Result<Scene, StudyError> {
    let drawn = DrawnMaterial::from(parameters, RANGES);
    let surface = Surface::with_friction(drawn.friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let shape = Shape::cylinder(CYLINDER, 0.5 * HEIGHT)?;
    let at = Isometry3::translation(AXIS[0], AXIS[1], 0.5 * HEIGHT);
    let cylinder = Geom::new(BodyId::WORLD, shape).at(at).surface(surface).named("cylinder");
    builder.geom(cylinder.coloured(0.75, 0.6, 0.4));
    let start = path(0.0);
    let base = Isometry3::translation(BASE[0], BASE[1], BASE[2]);
    let mut reach = ArmInverseKinematics::new(base)?;
    let angles = reach.first_angles(&start);
    let arm = manipulator::add(&mut builder, "arm", base, &angles, 0.03)?;
    builder.cable(CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Path(course(start.translation.vector)),
        segments: parameters.count("links"),
        radius: RADIUS,
        density: DENSITY,
        young: drawn.young,
        poisson: drawn.poisson,
        damping: DAMPING,
        surface,
        colour: [0.85, 0.2, 0.15, 1.0],
        ends: [CableEnd::Held(BodyId::WORLD), CableEnd::Held(arm.hand)],
        ..CableSpec::default()
    });
    let world = builder.build()?;
    let first = cond::coordinate(world.model(), "arm-0");
    let follow = HandPathFollower::new(reach, path, first, arm.first_control);
    let pull = drawn.young * PI * RADIUS * RADIUS * PULLED;
    let check =
        CableWindingCheck { friction: drawn.friction, pull, ..CableWindingCheck::default() };
    let settings = Settings {
        scheme: Scheme::Symplectic,
        max_iterations: Some(MAX_ITERATIONS),
        ..cond::settings(TOLERANCE)
    };
    Ok(Scene::new(world, settings, duration, check).controlled(follow))
}

/// Force [N] with which the cable pulls at the hand, world axes: that of the last bond between links, which
/// differs by the weight and inertia of one. The strain of the bond to the hand itself is less accurate:
/// links move straight in a step and the hand on an arc, and its damping absorbs the difference.
pub fn hand_force(simulation: &mut Simulation) -> Vector3<f64> {
    let world = simulation.world().clone();
    let Some(rod) = world.model().rods().first() else { return Vector3::zeros() };
    let last = rod.len() - 1;
    let Some(bond) = rod.bond(simulation.data(), last) else { return Vector3::zeros() };
    -bond.pull_back(&bond.force)[1].fixed_rows::<3>(0).into_owned()
}

/// The cable goes around as often as the hand did, outside the cylinder, and its tension is such that
/// friction can hold it.
#[derive(Default)]
struct CableWindingCheck {
    friction: f64,
    /// Tension of a cable that is stretched as far as the hand pulls it [N].
    pull: f64,
    /// Angle of the hand about the axis, and by how much it went around [rad].
    last: Option<f64>,
    hand_angle: f64,
    cable_angle: f64,
    deepest: f64,
    /// How far a link's core came within its distance from the axis [m].
    crossed: f64,
    hand_force: f64,
    largest_force: f64,
    /// Tension where the cable leaves the cylinder, and one radian inwards [N].
    tension: [f64; 2],
    /// Steepest fall of the logarithm of the tension per angle.
    steepest: f64,
}

/// Largest penetration [m]: a tenth of the cable's diameter.
const DEEPEST: f64 = 4e-4;
/// Largest difference between the angles of the cable and of the hand [rad].
const ANGLE: f64 = 0.05;
/// How many times the tension of its stretch a cable may pull: it bends at both ends, and its links are
/// chords, which take more of its length than arcs.
const LARGEST_PULL: f64 = 2.0;
/// Angle over which the fall of tension is measured [rad], and by which part it may be steeper than the
/// law: chords of links are no circle, and a cable that bends carries force across itself.
const WINDOW: f64 = 0.5;
const ROOM: f64 = 0.3;

fn about_axis(place: &Vector3<f64>) -> f64 {
    (place.y - AXIS[1]).atan2(place.x - AXIS[0])
}

fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

impl CableWindingCheck {
    /// Angle of each link from the first [rad], and tension before it [N], along the cable.
    fn along(simulation: &mut Simulation) -> (Vec<f64>, Vec<f64>, f64) {
        let world = simulation.world().clone();
        let Some(rod) = world.model().rods().first() else { return Default::default() };
        let data = simulation.data();
        let (mut angles, mut tensions, mut nearest) = (vec![0.0], vec![0.0], f64::INFINITY);
        let place = |k: usize| data.body_pose[rod.spec.segments[k].0].translation.vector;
        for k in 0..rod.len() {
            let p = place(k);
            nearest = nearest.min((p.x - AXIS[0]).hypot(p.y - AXIS[1]));
            if k > 0 {
                angles.push(angles[k - 1] + wrapped(about_axis(&p) - about_axis(&place(k - 1))));
                tensions.push(rod.bond(data, k).map_or(0.0, |bond| bond.force[2]));
            }
        }
        (angles, tensions, nearest)
    }
}

impl Check for CableWindingCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        let hand = simulation.world().model().body("arm-hand").unwrap_or(BodyId::WORLD);
        self.last = Some(about_axis(&simulation.body_pose(hand.0).translation.vector));
        self.hand_angle = Self::along(simulation).0.last().copied().unwrap_or(0.0);
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        let hand = simulation.world().model().body("arm-hand").unwrap_or(BodyId::WORLD);
        let angle = about_axis(&simulation.body_pose(hand.0).translation.vector);
        self.hand_angle += self.last.map_or(0.0, |last| wrapped(angle - last));
        self.last = Some(angle);
        self.hand_force = hand_force(simulation).norm();
        self.largest_force = self.largest_force.max(self.hand_force);
        let (angles, tensions, nearest) = Self::along(simulation);
        self.crossed = self.crossed.max(CORE - nearest);
        self.cable_angle = angles.last().copied().unwrap_or(0.0);
        // Links that touch the cylinder: all before the last that is within a radius of it.
        let model = simulation.world().model();
        let touching = simulation.contacts().iter().filter(|contact| contact.force.norm() > 0.0);
        let link = |body: usize| {
            let name = &model.bodies()[body].spec.name;
            name.strip_prefix("cable/").and_then(|number| number.parse::<usize>().ok())
        };
        let last = touching.filter(|c| c.bodies.contains(&0)).flat_map(|c| c.bodies.map(link));
        let Some(last) = last.flatten().max() else { return };
        let before = |angle: f64| angles[..=last].partition_point(|a| *a < angles[last] - angle);
        let inner = before(1.0);
        self.tension = [tensions[last.min(tensions.len() - 1)], tensions[inner.max(1)]];
        self.steepest = 0.0;
        for k in inner..=last {
            let past = angles[..=k].partition_point(|a| *a < angles[k] - WINDOW);
            let from = past.saturating_sub(1).max(1);
            let angle = angles[k] - angles[from];
            if angle >= WINDOW && tensions[from] > 0.0 {
                let fall = (tensions[k] / tensions[from]).ln().abs() / angle;
                self.steepest = self.steepest.max(fall);
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let off = (self.cable_angle - self.hand_angle).abs();
        let law = self.friction * (1.0 + ROOM);
        let passed = off <= ANGLE
            && self.cable_angle > PI
            && self.deepest <= DEEPEST
            && self.crossed <= DEEPEST
            && self.hand_force > 0.0
            && self.largest_force <= LARGEST_PULL * self.pull
            && self.tension[1] <= self.tension[0]
            && self.steepest <= law;
        let detail = format!(
            "the cable goes around by {:.3} rad, the hand by {:.3} (within {ANGLE}); penetration {:.4} mm, \
             cores {:.4} mm within their distance (at most {:.1}); it pulls at the hand with {:.3} N, {:.3} N \
             before (at most {:.3}), with {:.3} N where it leaves the cylinder and {:.3} N one radian inwards; tension \
             falls by {:.3} per radian (at most {:.3})",
            self.cable_angle,
            self.hand_angle,
            1e3 * self.deepest,
            1e3 * self.crossed,
            1e3 * DEEPEST,
            self.hand_force,
            self.largest_force,
            LARGEST_PULL * self.pull,
            self.tension[0],
            self.tension[1],
            self.steepest,
            law,
        );
        Verdict { passed, detail }
    }

    fn needs_start(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_winding_is_within_reach_of_the_arm() {
        let turns = 1.75; // the largest allowed value
        let mut reach =
            ArmInverseKinematics::new(Isometry3::translation(BASE[0], BASE[1], BASE[2])).unwrap();
        let mut angles = reach.first_angles(&hand(0.0, turns));
        let duration = LIFT + 1.5 * TAU * turns / SPEED + PULL;
        for step in 0..(duration / cond::TIME_STEP) as usize {
            let target = hand(step as f64 * cond::TIME_STEP, turns);
            angles = reach.angles(angles, &target);
            let off = reach.hand_at(&angles).translation.vector - target.translation.vector;
            // Small against the stretch of what is free at the end, 2 % of 84 mm.
            assert!(off.norm() < 2.5e-4, "step {step}: {off}");
        }
    }
}
