//! ARM-PILING: an arm with a hand of sixteen hinges piles a bowl, a plate and a heavy pot on another bowl [Lee25, Sec. VII-B].
//!
//! The dishes stand apart on the floor. Inverse kinematics leads the arm from above each of them to above the pile; the digits close
//! around a dish and hold it by friction alone: impedance control in all joints, which are led along a path that knows where the
//! dishes stand at the start and nothing else.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use stiction_geom::Groups;
use stiction_math::random::SplitMix64;
use stiction_mech::{BodyId, BodySpec, InverseKinematics, JointId, State};
use stiction_scene::pose_follower::PoseFollower;
use stiction_scene::{Check, Controller, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::piling_plan::{Carry, DishGrasp, PilingPlan};
use super::robots::digit_reach::BENDS;
use super::robots::hand::{HandSpec, ROUND};
use super::robots::manipulator::{self, AT_EASE, DAMPING_TIME, JOINTS};
use super::robots::reach::ArmInverseKinematics;
use super::{Scenario, field_parts, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "arm-piling",
    cite: "Lee25",
    about: "an arm with a hand of sixteen hinges piles a bowl, a plate and a heavy pot on another bowl",
    parameters: &[
        Parameter {
            name: "friction",
            default: 0.5,
            least: 0.2,
            most: 2.0,
            about: "μ of dishes and floor [-]",
        },
        Parameter {
            name: "grip",
            default: 1.0,
            least: 0.7,
            most: 2.0,
            about: "μ of the digits on dishes [-]",
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
            about: "of the places of the dishes",
        },
    ],
    build,
};

const HAND: HandSpec = ROUND;
const TIME_STEP: f64 = 1.0 / 240.0;
/// Where the dishes stand, from the lowest in the pile: angle [rad] and distance [m] about the arm, and the largest random shift.
const PLACES: [[f64; 2]; 4] = [[0.0, 0.48], [-0.75, 0.5], [0.75, 0.5], [1.5, 0.48]];
const SHIFT: [f64; 2] = [0.06, 0.02];
/// Height above its place in the pile at which each dish is let go [m]: the tips stay above the rim of the bowl below.
const LET_GO: [f64; 3] = [7e-3, 1e-3, 1e-3];
/// Force of each digit on bowl, plate and pot [N].
const FORCES: [f64; 3] = [4.0, 4.0, 30.0];
/// Time after the last dish was set down [s].
const AFTER: f64 = 0.6;

/// How bowl, plate and pot are taken: bowl and plate just below their rims, which the tips then carry, the pot by its wall.
fn grasps() -> [DishGrasp; 3] {
    let below = 4e-3;
    let grasp = |[rim, height]: [f64; 2], thickness: f64, below: f64, depth: f64| {
        let apart: f64 = HAND.radius + 0.5 * thickness;
        let radius = rim + (apart * apart - below * below).sqrt();
        DishGrasp { height: height - below, radius, depth, direction: 1.75, force: 0.0 }
    };
    let [bowl, plate, pot] = [field_parts::BOWL_RIM, field_parts::PLATE_RIM, field_parts::POT_RIM];
    let thin = field_parts::THICKNESS;
    let wall = [pot[0], 0.5 * pot[1]];
    let mut found = [
        grasp(bowl, thin, below, 0.085),
        DishGrasp { direction: 0.5 * PI, ..grasp(plate, thin, below, 0.06) },
        grasp(wall, field_parts::POT_THICKNESS, 0.0, 0.075),
    ];
    for (grasp, force) in found.iter_mut().zip(FORCES) {
        grasp.force = force;
    }
    found
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let surface = Surface::with_friction(parameters.get("friction"));
    let rubber = Surface { priority: 1, ..Surface::with_friction(parameters.get("grip")) };
    let mut random = SplitMix64::new(parameters.get("seed") as u64);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);

    let pile = field_parts::pile(0.0)?;
    let places =
        PLACES.map(|place| std::array::from_fn(|k| place[k] + random.uniform(-SHIFT[k], SHIFT[k])));
    let mut carries = Vec::with_capacity(3);
    for (k, grasp) in grasps().into_iter().enumerate() {
        let (dish, from) = (&pile[k + 1], places[k + 1]);
        let heights = [dish.floor_height(), dish.height + LET_GO[k]];
        carries.push(Carry { from, heights, grasp });
    }
    let palm = HAND.palm[2];
    let plan = PilingPlan { pile: places[0], carries, palm };

    let base = Isometry3::identity();
    let first = ArmInverseKinematics::new(base)?.first_angles(&plan.hand(0.0));
    let arm = manipulator::add(&mut builder, "arm", base, &first, 0.06)?;
    let palm = builder.mechanism.body(BodySpec {
        name: "palm".to_owned(),
        parent: arm.hand,
        pose: Isometry3::translation(0.0, 0.0, palm),
        mass: Some(HAND.palm_mass()?),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    let groups = Groups { category: 2, mask: 1 };
    let hand = HAND.add(&mut builder, "hand", palm, rubber, groups)?;

    let mut dishes = Vec::new();
    for (dish, [angle, distance]) in pile.into_iter().zip(places) {
        let about = UnitQuaternion::from_scaled_axis(Vector3::z() * angle);
        let at = about * Vector3::new(distance, 0.0, dish.floor_height());
        let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * random.uniform(-PI, PI));
        let pose = Isometry3::from_parts(Translation3::from(at), turn);
        let body = dish.part.add(&mut builder, dish.name, pose, surface)?;
        dishes.push((body, dish.name, dish.height));
    }

    let world = builder.build()?;
    let model = world.model();
    let joints: Vec<JointId> =
        (0..JOINTS).filter_map(|k| model.joint(&format!("arm-{k}"))).collect();
    let find = |id: BodyId| model.body_of_builder(id).unwrap_or(id);
    let mut chain = InverseKinematics::new(model, &joints, find(arm.hand), Isometry3::identity())?;
    let mut posture = AT_EASE;
    // The arm turns towards the place of its hand.
    posture[0] = f64::NAN;
    chain.set_posture(&posture);
    let controls = (arm.first_control..arm.first_control + JOINTS).collect();
    let way = plan.clone();
    let path = Box::new(move |time: f64, _: &Isometry3<f64>| way.hand(time));
    let follower = PoseFollower::new(model, chain, controls, DAMPING_TIME, path);
    let first_bend = hand.servos[0].0;

    let mut state = State::new(model);
    for (digit, spec) in HAND.digits.iter().enumerate() {
        for (k, angle) in plan.bends(&HAND, digit, 0.0).into_iter().enumerate() {
            let joint = model.joint(&format!("hand-{}-hinge-{}", spec.name, k + 1));
            if let Some(joint) = joint {
                state.q[model.joints()[joint.0].q.start] = angle;
            }
        }
    }
    let check = ArmPilingCheck::new(
        plan.clone(),
        find(palm),
        dishes.into_iter().map(|(body, name, height)| (find(body), name, height)).collect(),
        parameters.count("iterations") > 0,
    );
    let iterations = parameters.count("iterations");
    let settings = Settings {
        time_step: TIME_STEP,
        max_iterations: (iterations > 0).then_some(iterations),
        ..Settings::default()
    };
    let duration = plan.duration() + AFTER;
    let control = PilingController { follower, plan, first: first_bend };
    Ok(Scene::new(world, settings, duration, check).from_state(state).controlled(control))
}

/// Leads the arm and closes the hand.
struct PilingController {
    follower: PoseFollower,
    plan: PilingPlan,
    /// Place of the first control of the hand.
    first: usize,
}

impl Controller for PilingController {
    fn control(&mut self, simulation: &mut Simulation) {
        self.follower.control(simulation);
        let end = simulation.state().time + simulation.settings().time_step;
        let control = &mut simulation.input_mut().control[self.first..];
        for digit in 0..HAND.digits.len() {
            let bends = self.plan.bends(&HAND, digit, end);
            let of = (BENDS + 1) * digit;
            control[of + 1..=of + BENDS].copy_from_slice(&bends);
        }
    }
}

/// A dish of the pile.
struct Dish {
    body: BodyId,
    name: &'static str,
    /// Its height in the pile [m].
    height: f64,
    /// Its pose.
    pose: Isometry3<f64>,
    /// Pose in the palm since the hand has closed around it, and the largest way in the hand [m].
    held: Option<Isometry3<f64>>,
    slipped: f64,
}

/// All dishes stand on one another in their order, upright and at rest, and nothing was ever deep in anything.
struct ArmPilingCheck {
    plan: PilingPlan,
    palm: BodyId,
    dishes: Vec<Dish>,
    /// Whether iterations are limited.
    limited: bool,
    deepest: f64,
    time: f64,
    /// Largest speed and angular speed of a dish in the end [m/s, rad/s].
    fastest: [f64; 2],
}

/// Largest error of a height [m], distance of a dish from the axis of the one below [m], and tilt [rad].
const HEIGHT: f64 = 1e-3;
const ASIDE: f64 = 0.01;
const TILT: f64 = 0.02;
/// Largest speed at rest [m/s, rad/s], largest depth [m], and largest way of a dish in the closed hand [m].
const STILL: f64 = 5e-3;
const DEPTH: f64 = 3e-4;
const SLIP: f64 = 5e-3;

impl ArmPilingCheck {
    fn new(
        plan: PilingPlan,
        palm: BodyId,
        dishes: Vec<(BodyId, &'static str, f64)>,
        limited: bool,
    ) -> Self {
        let pose = Isometry3::identity();
        let dish =
            |(body, name, height)| Dish { body, name, height, pose, held: None, slipped: 0.0 };
        let dishes = dishes.into_iter().map(dish).collect();
        Self { plan, palm, dishes, limited, deepest: 0.0, time: 0.0, fastest: [0.0; 2] }
    }
}

impl Check for ArmPilingCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.time = simulation.state().time;
        self.deepest = self.deepest.max(report.penetration);
        let palm = simulation.body_pose(self.palm.0);
        self.fastest = [0.0; 2];
        for (k, dish) in self.dishes.iter_mut().enumerate() {
            dish.pose = simulation.body_pose(dish.body.0);
            let (v, w) = parts::velocity(simulation.world(), simulation.state(), dish.body);
            self.fastest = [self.fastest[0].max(v.norm()), self.fastest[1].max(w.norm())];
            if k > 0 && self.plan.holds(k - 1, self.time) {
                let here = palm.inv_mul(&dish.pose);
                let then = dish.held.get_or_insert(here);
                let way = (here.translation.vector - then.translation.vector).norm();
                dish.slipped = dish.slipped.max(way);
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let up = |dish: &Dish| (dish.pose.rotation * Vector3::z()).z.clamp(-1.0, 1.0).acos();
        let at = |dish: &Dish| dish.pose.translation.vector;
        let most = |f: &dyn Fn(&Dish) -> f64| self.dishes.iter().map(f).fold(0.0, f64::max);
        let height = most(&|dish| (at(dish).z - dish.height).abs());
        let (tilt, slip) = (most(&up), most(&|dish| dish.slipped));
        let aside = self.dishes.windows(2).map(|w| (at(&w[1]) - at(&w[0])).xy().norm());
        let aside = aside.fold(0.0, f64::max);
        let [speed, spin] = self.fastest;
        let over = self.time > self.plan.duration();
        let stands = height <= HEIGHT && aside <= ASIDE && tilt <= TILT;
        let rests = speed <= STILL && spin <= STILL;
        let names: Vec<_> = self.dishes.iter().map(|dish| dish.name).collect();
        Verdict {
            passed: over && stands && rests && slip <= SLIP && self.deepest <= DEPTH,
            detail: format!(
                "{}: heights within {:.2} mm of those of the pile (at most {:.0}), at most {:.1} mm beside the dish below (at most \
                 {:.0}), tilted by {:.2}° (at most {:.2}); {speed:.1e} m/s and {spin:.1e} rad/s (at most {STILL:.0e}); a dish moved \
                 {:.2} mm in the hand (at most {:.0}); penetration {:.0} µm (at most {:.0})",
                names.join(", "),
                1e3 * height,
                1e3 * HEIGHT,
                1e3 * aside,
                1e3 * ASIDE,
                tilt.to_degrees(),
                TILT.to_degrees(),
                1e3 * slip,
                1e3 * SLIP,
                1e6 * self.deepest,
                1e6 * DEPTH,
            ),
        }
    }

    // Whether the piling succeeds with unfinished solutions is what a limit measures.
    fn measures_the_solver(&self) -> bool {
        self.limited
    }

    fn needs_start(&self) -> bool {
        true
    }
}
