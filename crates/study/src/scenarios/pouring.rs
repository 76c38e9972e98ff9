//! POURING: two arms grasp a bottle each and pour heavy spheres from one into the other [Lee25, Sec. VII-C].
//!
//! Each arm has seven hinges and a hand of seven, which wraps around a bottle and holds it by friction. One lifts its bottle, brings it
//! over the other one and turns it about the lip of its mouth, so that the stream falls into the mouth below; the other arm steadies
//! that bottle on the floor.

use nalgebra::{Translation3, Vector3};
use std::f64::consts::PI;
use stiction_geom::{Groups, Shape};
use stiction_mech::{BodyId, State};
use stiction_scene::{Controller, Scene};
use stiction_sim::{Geom, Settings, Simulation, Surface, WorldBuilder};

use super::field_parts::{self, BOTTLE_RADIUS, THICKNESS};
use super::pouring_check::PouringCheck;
use super::robots::bottle_arm::{self, BottleArm};
use super::{Scenario, parts, pouring_plan};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "pouring",
    cite: "Lee25",
    about: "two arms pour a bottle of heavy spheres into another; none passes through a wall",
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
            name: "grip",
            default: 1.0,
            least: 0.0,
            most: 2.0,
            about: "μ of the hands on bottles [-]",
        },
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

/// Radius of the spheres [m] [Lee25, Sec. VII-C].
pub const RADIUS: f64 = 5e-3;
/// Their density [kg/m³] [Lee25, Sec. VII-C].
const DENSITY: f64 = 1e4;
/// Distance of neighbours at the start [m].
const APART: f64 = 10.5e-3;

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
    let rubber = Surface { priority: 1, ..Surface::with_friction(parameters.get("grip")) };
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let tilt = parameters.get("tilt");
    let bottle = field_parts::bottle()?;
    let starts = [pouring_plan::poured(tilt, 0.0), pouring_plan::steady()];
    let mut bottles = [BodyId::WORLD; 2];
    let colours = [[0.5, 0.75, 0.85, 0.45], [0.55, 0.85, 0.6, 0.45]];
    for (k, name) in ["upper-bottle", "lower-bottle"].into_iter().enumerate() {
        bottles[k] = parts::mass_of(&mut builder, name, &bottle.shape, bottle.mass, starts[k])?;
        let glass = Geom::new(bottles[k], bottle.shape.clone()).surface(surface);
        builder.geom(Geom { colour: colours[k], ..glass });
    }
    let n = parameters.count("spheres");
    let mass = DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let mut spheres = Vec::with_capacity(n);
    for (k, place) in places(n).into_iter().enumerate() {
        let at = starts[0] * Translation3::from(place);
        let (name, shape) = (format!("sphere-{k}"), Shape::sphere(RADIUS)?);
        spheres.push(parts::free_body(&mut builder, name, shape, mass, at, surface)?);
    }
    let [pour, steady] = pouring_plan::tasks(tilt);
    // Parts of one hand do not touch one another; those of the two hands do.
    let [one, two] = [Groups { category: 2, mask: 1 }, Groups { category: 4, mask: 3 }];
    let right = bottle_arm::add(&mut builder, "right", pour, rubber, one)?;
    let left = bottle_arm::add(&mut builder, "left", steady, rubber, two)?;
    let world = builder.build()?;
    let model = world.model();
    let find = |id: BodyId| model.body_of_builder(id).unwrap_or(id);
    let check = PouringCheck::new(
        bottles.map(find),
        [right.palm(model), left.palm(model)],
        spheres.into_iter().map(find).collect(),
        tilt,
        bottle.shape,
    );
    let mut state = State::new(model);
    let arms = [right.lead(model, &mut state)?, left.lead(model, &mut state)?];
    let settings = Settings { time_step: 1.0 / 240.0, ..Settings::default() };
    let scene = Scene::new(world, settings, pouring_plan::DURATION, check);
    Ok(scene.from_state(state).controlled(TwoArms(arms)))
}

/// Leads both arms.
struct TwoArms([BottleArm; 2]);

impl Controller for TwoArms {
    fn control(&mut self, simulation: &mut Simulation) {
        for arm in &mut self.0 {
            arm.control(simulation);
        }
    }
}
