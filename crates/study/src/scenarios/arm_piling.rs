//! ARM-PILING: an arm with a hand of sixteen hinges piles a bowl, a plate and a heavy pot on another bowl [Lee25, Sec. VII-B].
//!
//! The dishes stand apart on the floor. Inverse kinematics leads the arm from above each of them to above the pile; the digits close
//! around a dish and hold it by friction alone: impedance control in all joints, which are led along a path that knows where the
//! dishes stand at the start and nothing else.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use stiction_geom::Groups;
use stiction_math::random::SplitMix64;
use stiction_mech::State;
use stiction_scene::pose_follower::PoseFollower;
use stiction_scene::{Controller, Scene};
use stiction_sim::{Settings, Simulation, Surface, WorldBuilder};

use super::piling_check::PilingCheck;
use super::piling_plan::{AFTER, Carry, DishGrasp, PilingPlan};
use super::robots::hand::{HandSpec, ROUND};
use super::robots::hand_arm::{self, Bend};
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
            least: 0.0,
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
    let plan = PilingPlan { pile: places[0], carries };
    let groups = Groups { category: 2, mask: 1 };
    let (base, first) = (Isometry3::identity(), plan.palm(0.0));
    let arm = hand_arm::add(&mut builder, "arm", base, HAND, &first, rubber, groups)?;

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
    let way = plan.clone();
    let path = Box::new(move |time: f64, _: &Isometry3<f64>| way.palm(time));
    // The arm turns towards its hand.
    let follower = arm.follower(model, &[0], path)?;
    let digits = arm.bends(model);
    let mut state = State::new(model);
    for (digit, hinges) in digits.iter().enumerate() {
        for (hinge, angle) in hinges.iter().zip(plan.bends(&HAND, digit, 0.0)) {
            state.q[hinge.coordinate] = angle;
        }
    }
    let find = |(id, name, height)| (model.body_of_builder(id).unwrap_or(id), name, height);
    let dishes = dishes.into_iter().map(find).collect();
    let iterations = parameters.count("iterations");
    let check = PilingCheck::new(plan.clone(), arm.palm(model), dishes, iterations > 0);
    let settings = Settings {
        time_step: TIME_STEP,
        max_iterations: (iterations > 0).then_some(iterations),
        // A limit is one of whole steps.
        divisions: if iterations > 0 { 0 } else { Settings::default().divisions },
        ..Settings::default()
    };
    let duration = plan.duration() + AFTER;
    let control = PilingController { follower, plan, digits };
    Ok(Scene::new(world, settings, duration, check).from_state(state).controlled(control))
}

/// Leads the arm and closes the hand.
struct PilingController {
    follower: PoseFollower,
    plan: PilingPlan,
    /// The hinges that bend each digit.
    digits: Vec<Vec<Bend>>,
}

impl Controller for PilingController {
    fn control(&mut self, simulation: &mut Simulation) {
        self.follower.control(simulation);
        let end = simulation.state().time + simulation.settings().time_step;
        let control = &mut simulation.input_mut().control;
        for (digit, hinges) in self.digits.iter().enumerate() {
            for (hinge, angle) in hinges.iter().zip(self.plan.bends(&HAND, digit, end)) {
                control[hinge.control] = angle;
            }
        }
    }
}
