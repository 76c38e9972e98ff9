//! NUT-ASSEMBLY: an arm of seven hinges screws an M48 nut onto a bolt [Lee25, Sec. VII-A].
//!
//! The nut is fixed to the hand. Inverse kinematics turns the hand about the bolt and presses it down by a way that servos turn into
//! a steady load: impedance control in the joints. The thread alone decides how far the hand sinks per turn.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{PI, TAU};
use stiction_math::random::SplitMix64;
use stiction_mech::{BodyId, BodySpec, InverseKinematics, JointId, MassProperties};
use stiction_scene::pose_follower::PoseFollower;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::robots::manipulator::{self, AT_EASE, DAMPING_TIME, JOINTS};
use super::robots::reach::ArmInverseKinematics;
use super::{Scenario, field_parts, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "nut-assembly",
    cite: "Lee25",
    about: "an arm of seven hinges screws a nut onto a bolt, which sinks by the pitch in every turn",
    parameters: &[
        Parameter { name: "friction", default: 0.15, least: 0.0, most: 0.5, about: "μ [-]" },
        Parameter {
            name: "clearance",
            default: 2e-4,
            least: 1e-4,
            most: 3e-4,
            about: "between the flanks [m]",
        },
        Parameter {
            name: "offset",
            default: 1e-4,
            least: 0.0,
            most: 1e-3,
            about: "distance of the path of the hand from the axis of the bolt [m]",
        },
        Parameter {
            name: "iterations",
            default: 0.0,
            least: 0.0,
            most: 1e6,
            about: "of the solver per step; 0 has no limit",
        },
        Parameter {
            name: "seed",
            default: 1.0,
            least: 0.0,
            most: 1e9,
            about: "of the angle at the start and of the direction of the offset",
        },
    ],
    build,
};

const PITCH: f64 = 5e-3;
/// Place of the bolt before the arm, half its length, and half the length of the nut [m].
const AT: f64 = 0.5;
const BOLT_HALF: f64 = 0.03;
const NUT_HALF: f64 = 0.019;
/// Height of the upper end of the bolt [m], gap below the nut at the start, and gap between nut and hand.
const TOP: f64 = 0.11;
const GAP: f64 = 1e-3;
const BEHIND: f64 = 2e-3;
/// By how much the hand is led below where it is [m].
const PRESS: f64 = 1.5e-3;
/// Time before it turns [s], angular velocity [rad/s], turns in which the thread is found, and turns that are judged.
const WAIT: f64 = 0.1;
const SPEED: f64 = 1.5 * TAU;
const FINDS: f64 = 1.25;
const TURNS: usize = 3;
const TIME_STEP: f64 = 1.0 / 240.0;

/// Angle by which the nut is to be turned at a time [s].
fn angle(time: f64) -> f64 {
    SPEED * (time - WAIT).max(0.0)
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut random = SplitMix64::new(parameters.get("seed") as u64);
    let yaw = random.uniform(-PI, PI);
    let aside = UnitQuaternion::from_scaled_axis(Vector3::z() * random.uniform(-PI, PI));
    let offset = aside * Vector3::x() * parameters.get("offset");
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let bolt = field_parts::m48_bolt(BOLT_HALF)?;
    let middle = Isometry3::translation(AT, 0.0, TOP - BOLT_HALF);
    let steel = Geom::new(BodyId::WORLD, bolt.shape).at(middle).surface(surface).named("bolt");
    builder.geom(steel.coloured(0.55, 0.57, 0.6));

    // The hand looks down; the nut is below it.
    let down = UnitQuaternion::from_scaled_axis(Vector3::x() * PI);
    let pose = move |turned: f64, z: f64| {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * (yaw - turned));
        let place = Vector3::new(AT, 0.0, z) + offset;
        Isometry3::from_parts(Translation3::from(place), turn * down)
    };
    let height = TOP + GAP + 2.0 * NUT_HALF + BEHIND;
    let base = Isometry3::identity();
    let angles = ArmInverseKinematics::new(base)?.first_angles(&pose(0.0, height));
    let arm = manipulator::add(&mut builder, "arm", base, &angles, 0.06)?;
    let nut = field_parts::m48_nut(NUT_HALF, parameters.get("clearance"))?;
    let (unit, com, inertia) = nut.shape.mass_properties(1.0);
    let mass = MassProperties::new(nut.mass, com, inertia * (nut.mass / unit))?;
    let held = builder.mechanism.body(BodySpec {
        name: "nut".to_owned(),
        parent: arm.hand,
        pose: Isometry3::translation(0.0, 0.0, NUT_HALF + BEHIND),
        mass: Some(mass),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    builder.geom(Geom::new(held, nut.shape).surface(surface).coloured(0.8, 0.65, 0.3));

    let world = builder.build()?;
    let model = world.model();
    let joints: Vec<_> =
        (0..JOINTS).filter_map(|k| model.joint(&format!("arm-{k}"))).collect::<Vec<JointId>>();
    let hand = model.body_of_builder(arm.hand).unwrap_or(arm.hand);
    let nut = model.body_of_builder(held).unwrap_or(held);
    let mut chain = InverseKinematics::new(model, &joints, hand, Isometry3::identity())?;
    let mut posture = AT_EASE;
    // The last hinge turns with the nut.
    posture[JOINTS - 1] = f64::NAN;
    chain.set_posture(&posture);
    let path = Box::new(move |time: f64, present: &Isometry3<f64>| {
        pose(angle(time), present.translation.vector.z - PRESS)
    });
    let controls = (arm.first_control..arm.first_control + JOINTS).collect();
    let follower = PoseFollower::new(model, chain, controls, DAMPING_TIME, path);
    let iterations = parameters.count("iterations");
    let check = NutAssemblyCheck {
        nut,
        friction: parameters.get("friction"),
        limited: iterations > 0,
        last: None,
        turned: 0.0,
        wanted: 0.0,
        heights: [f64::NAN; TURNS + 1],
        deepest: 0.0,
        load: [0.0; 2],
        steps: 0,
        largest: 0.0,
    };
    let settings = Settings {
        time_step: TIME_STEP,
        max_iterations: (iterations > 0).then_some(iterations),
        ..Settings::default()
    };
    let duration = WAIT + TAU * (FINDS + TURNS as f64 + 0.02) / SPEED;
    Ok(Scene::new(world, settings, duration, check).controlled(follower))
}

/// The nut sinks by the pitch in every turn, is turned as far as it should, and is never deep in the bolt.
struct NutAssemblyCheck {
    nut: BodyId,
    friction: f64,
    /// Whether iterations are limited.
    limited: bool,
    /// Direction of the nut in the last step and the angle by which it has turned [rad], the height before [m].
    last: Option<(f64, f64)>,
    turned: f64,
    wanted: f64,
    /// Heights at the ends of the turns that are judged [m].
    heights: [f64; TURNS + 1],
    deepest: f64,
    /// Sums of force along [N] and torque about [N·m] the axis while it is judged, and steps.
    load: [f64; 2],
    steps: usize,
    /// Largest force of the bolt [N].
    largest: f64,
}

/// Relative error of the lead [-], largest depth [m], and angle by which the nut may lag [rad].
const LEAD: f64 = 0.01;
const DEPTH: f64 = 1e-4;
const LAG: f64 = 0.1;

impl NutAssemblyCheck {
    /// Torque per force [m] for a radius of contact [m], with the flank and the lead of the thread.
    fn lever(&self, radius: f64) -> f64 {
        let (slope, wedged) = (PITCH / (TAU * radius), self.friction / (PI / 6.0).cos());
        radius * (wedged - slope) / (1.0 + wedged * slope)
    }
}

impl Check for NutAssemblyCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        let pose = simulation.body_pose(self.nut.0);
        let (x, z) = (pose.rotation * Vector3::x(), pose.translation.vector.z);
        let direction = x.y.atan2(x.x);
        let (before, height) = self.last.unwrap_or((direction, z));
        let change = (before - direction + PI).rem_euclid(TAU) - PI;
        let turns_before = self.turned / TAU - FINDS;
        self.turned += change;
        self.last = Some((direction, z));
        self.wanted = angle(simulation.state().time);
        self.deepest = self.deepest.max(report.penetration);
        let turns = self.turned / TAU - FINDS;
        for (k, at) in self.heights.iter_mut().enumerate() {
            let k = k as f64;
            if turns_before < k && turns >= k {
                *at = height + (z - height) * (k - turns_before) / (turns - turns_before);
            }
        }
        let (mut force, mut torque) = (Vector3::zeros(), 0.0);
        for c in simulation.contacts().iter().filter(|c| c.bodies.contains(&self.nut.0)) {
            // The force acts on the second body.
            let f = if c.bodies[1] == self.nut.0 { c.force } else { -c.force };
            let arm = c.point - pose.translation.vector;
            force += f;
            torque += arm.cross(&f).z;
        }
        self.largest = self.largest.max(force.norm());
        if turns >= 0.0 {
            self.load = [self.load[0] + force.z, self.load[1] + torque];
            self.steps += 1;
        }
    }

    fn verdict(&self) -> Verdict {
        let leads: Vec<_> = self.heights.windows(2).map(|z| (z[0] - z[1]) / PITCH).collect();
        let good = leads.iter().all(|lead| (lead - 1.0).abs() <= LEAD);
        let lag = (self.wanted - self.turned).abs();
        let [force, torque] = self.load.map(|sum| sum / self.steps.max(1) as f64);
        let lever = torque / force;
        let [low, high] = [20.9e-3, 24e-3].map(|radius| self.lever(radius));
        let text: Vec<_> = leads.iter().map(|lead| format!("{lead:.4}")).collect();
        Verdict {
            passed: good && lag <= LAG && self.deepest <= DEPTH && force > 0.0,
            detail: format!(
                "sank {} pitches in turns 1 to {TURNS} (1 ± {LEAD}); turned {:.2} of {:.2} turns; penetration {:.1} µm (at most \
                 {:.0}); mean load {force:.1} N and {torque:.3} N·m, {:.2} mm apart ({:.2} to {:.2} mm for a thread), at most \
                 {:.0} N",
                text.join(", "),
                self.turned / TAU,
                self.wanted / TAU,
                1e6 * self.deepest,
                1e6 * DEPTH,
                1e3 * lever,
                1e3 * low,
                1e3 * high,
                self.largest,
            ),
        }
    }

    // Whether the assembly succeeds with unfinished solutions is what a limit measures.
    fn measures_the_solver(&self) -> bool {
        self.limited
    }

    fn needs_start(&self) -> bool {
        true
    }
}
