//! DISH-PILING: two bowls, a plate and a heavy pot stand on one another and come to rest [Lee25, Sec. VII-B].
//!
//! All are solids of revolution: bowls touch along their walls, the plate lies on a rim, the pot on the plate. Each is turned
//! about its axis and set down from a small height.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::f64::consts::TAU;
use stiction_math::random::SplitMix64;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::{Scenario, field_parts, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "dish-piling",
    cite: "Lee25",
    about: "two bowls, a plate and a heavy pot stand on one another and come to rest",
    parameters: &[
        Parameter { name: "friction", default: 0.5, least: 0.1, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "drop",
            default: 5e-4,
            least: 0.0,
            most: 5e-3,
            about: "gap below each dish at the start [m]",
        },
        Parameter {
            name: "offset",
            default: 5e-4,
            least: 0.0,
            most: 2e-3,
            about: "largest distance of a dish from the axis at the start [m]",
        },
        Parameter { name: "seed", default: 1.0, least: 0.0, most: 1e9, about: "of the starts" },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
const TIME_STEP: f64 = 1.0 / 240.0;
/// Of the solver [-]: what it leaves open is the speed at rest, which is judged below a millionth.
const TOLERANCE: f64 = 1e-9;
/// Time after which the pile must be at rest, and end of the run [s].
const SETTLED: f64 = 1.0;
const DURATION: f64 = 1.5;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let surface = Surface::with_friction(parameters.get("friction"));
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let mut random = SplitMix64::new(parameters.get("seed") as u64);
    let mut dishes = Vec::new();
    for dish in field_parts::pile(parameters.get("drop"))? {
        let offset = parameters.get("offset");
        let aside = UnitQuaternion::from_scaled_axis(Vector3::z() * random.uniform(0.0, TAU));
        let away = aside * Vector3::x() * random.uniform(0.0, offset);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * random.uniform(0.0, TAU));
        let at = Isometry3::from_parts((away + Vector3::z() * dish.height).into(), turn);
        let body = dish.part.add(&mut builder, dish.name, at, surface)?;
        dishes.push(Dish { body, name: dish.name, start: None, moved: 0.0, turned: 0.0 });
    }
    let world = builder.build()?;
    let check = DishPilingCheck {
        weight: GRAVITY * world.model().mass(),
        dishes,
        time: 0.0,
        fastest: [0.0; 2],
        deepest: 0.0,
        carried: 0.0,
        contacts: 0,
    };
    let settings = Settings { time_step: TIME_STEP, tolerance: TOLERANCE, ..Settings::default() };
    Ok(Scene::new(world, settings, DURATION, check))
}

/// A dish with its way since the pile must be at rest.
struct Dish {
    body: BodyId,
    name: &'static str,
    start: Option<Isometry3<f64>>,
    /// Largest distance of its origin from then [m], and largest angle [rad].
    moved: f64,
    turned: f64,
}

/// The pile is at rest: nothing creeps or rattles, and the floor carries it.
struct DishPilingCheck {
    weight: f64,
    dishes: Vec<Dish>,
    time: f64,
    /// Largest speed [m/s] and angular speed [rad/s] since the pile must be at rest.
    fastest: [f64; 2],
    deepest: f64,
    carried: f64,
    contacts: usize,
}

/// Largest speed at rest [m/s, rad/s], and largest depth [m].
const STILL: f64 = 1e-6;
const DEPTH: f64 = 5e-5;
/// Largest part of the weight that the floor may seem not to carry [-].
const WEIGHT: f64 = 1e-3;

impl Check for DishPilingCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.time = simulation.state().time;
        self.contacts = simulation.contacts().len();
        let on_floor = simulation.contacts().iter().filter(|c| c.bodies.contains(&0));
        self.carried = on_floor.map(|c| c.force.z.abs()).sum();
        if self.time < SETTLED {
            return;
        }
        self.deepest = self.deepest.max(report.penetration);
        for dish in &mut self.dishes {
            let (v, w) = parts::velocity(simulation.world(), simulation.state(), dish.body);
            self.fastest = [self.fastest[0].max(v.norm()), self.fastest[1].max(w.norm())];
            let pose = simulation.body_pose(dish.body.0);
            let start = *dish.start.get_or_insert(pose);
            let way = (pose.translation.vector - start.translation.vector).norm();
            dish.moved = dish.moved.max(way);
            dish.turned = dish.turned.max(pose.rotation.angle_to(&start.rotation));
        }
    }

    fn verdict(&self) -> Verdict {
        let [speed, spin] = self.fastest;
        let (carried, judged) = (self.carried / self.weight, self.time > SETTLED);
        let most = |f: fn(&Dish) -> f64| self.dishes.iter().map(f).fold(0.0, f64::max);
        let (moved, turned) = (most(|dish| dish.moved), most(|dish| dish.turned));
        // At the bound of the speed all the time.
        let way = STILL * (self.time - SETTLED).max(0.0);
        let rests = speed < STILL && spin < STILL && moved <= way && turned <= way + 1e-7;
        let is_held = (carried - 1.0).abs() <= WEIGHT && self.deepest <= DEPTH;
        let names: Vec<_> = self.dishes.iter().map(|dish| dish.name).collect();
        Verdict {
            passed: judged && rests && is_held,
            detail: format!(
                "{}: at rest {speed:.1e} m/s and {spin:.1e} rad/s (below {STILL:.0e}); since {SETTLED} s they moved {:.1e} µm \
                 and turned {turned:.1e} rad; the floor carries {carried:.5} of the weight (1 ± {WEIGHT:.0e}); penetration \
                 {:.1} µm (at most {:.0}); {} contacts",
                names.join(", "),
                1e6 * moved,
                1e6 * self.deepest,
                1e6 * DEPTH,
                self.contacts,
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
