//! Single steps of the scenes of [Lee25, Sec. VII]: problems of one time step, with contacts from signed distance fields.
//!
//! A scene first comes to rest or seats itself; its state is then kept, and each case is the problem of the next step under
//! another random wrench on every body.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3, Vector6};
use stiction_geom::Shape;
use stiction_math::random::SplitMix64;
use stiction_mech::BodyId;
use stiction_scene::SceneError;
use stiction_sim::{Geom, Settings, Simulation, Surface, WorldBuilder};
use stiction_solve::Problem;
use stiction_study::scenarios::{field_parts, parts};
use stiction_study::{StudyError, scenario};

use crate::ExperimentOptions;
use crate::error::ReproduceError;

/// Time step [s] [Lee25, Sec. VII].
pub(super) const TIME_STEP: f64 = 1.0 / 240.0;
/// Friction coefficient, which the paper does not state [-].
pub(super) const FRICTION: f64 = 0.3;
/// Standard deviations of the force [N] and the torque [N·m] on each body, which the paper does not state.
const DISH_WRENCH: [f64; 2] = [5.0, 0.25];
const NUT_WRENCH: [f64; 2] = [20.0, 0.5];
/// Pitch, half lengths of bolt and nut, clearance of their flanks [m].
const PITCH: f64 = 5e-3;
const BOLT_HALF_LENGTH: f64 = 0.05;
const NUT_HALF_LENGTH: f64 = 0.019;
const CLEARANCE: f64 = 1e-4;
/// Steps after which a nut pushed by a wrench is seated on a flank, dishes rest on one another, and spheres in a bottle.
const SEATING_STEPS: usize = 12;
const SETTLING_STEPS: usize = 240;
const POURING_STEPS: usize = 120;
/// Radius [m] and density [kg/m³] of the spheres that are poured [Lee25, Sec. VII-C].
const SPHERE_RADIUS: f64 = 5e-3;
const SPHERE_DENSITY: f64 = 1e4;
/// Spheres in a layer when they are filled into the bottle.
const PER_LAYER: usize = 19;

/// Settings of the runs that lead to the states.
fn settings() -> Settings {
    Settings { time_step: TIME_STEP, sleep: None, ..Settings::default() }
}

/// A nut on a fixed M48 bolt: problems of several seats, each with several wrenches.
pub fn bolt_nut(
    options: &ExperimentOptions<'_>,
    seats: usize,
    wrenches: usize,
) -> Result<Vec<Problem>, ReproduceError> {
    let surface = Surface::with_friction(FRICTION);
    let bolt = field_parts::m48_bolt(BOLT_HALF_LENGTH)?;
    let nut = field_parts::m48_nut(NUT_HALF_LENGTH, CLEARANCE)?;
    let mut problems = Vec::new();
    for seat in 0..seats {
        let mut random = SplitMix64::new(seat as u64);
        let turn = random.uniform(-std::f64::consts::PI, std::f64::consts::PI);
        let rise = Translation3::new(0.0, 0.0, PITCH * turn / std::f64::consts::TAU);
        let spin = UnitQuaternion::from_scaled_axis(turn * Vector3::z());
        let mut builder = WorldBuilder::new();
        builder.geom(Geom::new(BodyId::WORLD, bolt.shape.clone()).surface(surface));
        let body = nut.add(&mut builder, "nut", Isometry3::from_parts(rise, spin), surface)?;
        let mut simulation = start(builder, settings())?;
        simulation.input_mut().wrench[body.0] = wrench(&mut random, NUT_WRENCH);
        advance(&mut simulation, options, SEATING_STEPS)?;
        for _ in 0..wrenches {
            simulation.input_mut().wrench[body.0] = wrench(&mut random, NUT_WRENCH);
            problems.extend(problem_of(&mut simulation)?);
        }
    }
    Ok(problems)
}

/// The pile of the scenario `dish-piling` at rest: the problems of one state with a random wrench on each dish.
pub fn dishes(
    options: &ExperimentOptions<'_>,
    wrenches: usize,
) -> Result<Vec<Problem>, ReproduceError> {
    let set = [("friction".to_owned(), FRICTION.to_string())];
    let mut simulation = scenario("dish-piling", &set)?.start()?.simulation;
    advance(&mut simulation, options, SETTLING_STEPS)?;
    let mut random = SplitMix64::new(1);
    let mut problems = Vec::new();
    for _ in 0..wrenches {
        for of_body in simulation.input_mut().wrench.iter_mut().skip(1) {
            *of_body = wrench(&mut random, DISH_WRENCH);
        }
        problems.extend(problem_of(&mut simulation)?);
    }
    Ok(problems)
}

/// A bottle on the floor filled with spheres, which have settled.
pub fn filled_bottle(
    options: &ExperimentOptions<'_>,
    spheres: usize,
) -> Result<Simulation, ReproduceError> {
    let surface = Surface::with_friction(FRICTION);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let at = 0.5 * field_parts::THICKNESS;
    let bottle = field_parts::bottle()?;
    bottle.add(&mut builder, "bottle", Isometry3::translation(0.0, 0.0, at), surface)?;
    let sphere = Shape::sphere(SPHERE_RADIUS).map_err(StudyError::from)?;
    let mass = sphere.mass_properties(SPHERE_DENSITY).0;
    let mut random = SplitMix64::new(1);
    for k in 0..spheres {
        let (layer, place) = ((k / PER_LAYER) as f64, k % PER_LAYER);
        // One in the middle, then rings of six and twelve.
        let (ring, on_ring) = [(0.0, 1.0), (2.2, 6.0), (4.3, 12.0)][match place {
            0 => 0,
            1..=6 => 1,
            _ => 2,
        }];
        let turn = std::f64::consts::TAU * place as f64 / on_ring + 0.4 * layer;
        let off = 0.02 * random.uniform(-1.0, 1.0);
        let at =
            SPHERE_RADIUS * Vector3::new(ring * turn.cos() + off, ring * turn.sin() - off, 0.0);
        let z = field_parts::THICKNESS + SPHERE_RADIUS * (1.1 + 2.1 * layer);
        let pose =
            Isometry3::from_parts((at + z * Vector3::z()).into(), UnitQuaternion::identity());
        parts::free_body(&mut builder, format!("s{k}"), sphere.clone(), mass, pose, surface)?;
    }
    // The way into the bottle needs no digits.
    let rough = Settings { solver: "psor".to_owned(), tolerance: 1e-2, ..settings() };
    let mut simulation = start(builder, rough)?;
    advance(&mut simulation, options, POURING_STEPS)?;
    Ok(simulation)
}

/// Starts a world.
fn start(builder: WorldBuilder, settings: Settings) -> Result<Simulation, ReproduceError> {
    let world = builder.build().map_err(StudyError::from)?;
    Ok(Simulation::new(world, settings).map_err(SceneError::from)?)
}

/// Makes some steps, or fewer if the user requests a stop.
fn advance(
    simulation: &mut Simulation,
    options: &ExperimentOptions<'_>,
    steps: usize,
) -> Result<(), ReproduceError> {
    for _ in 0..steps {
        if (options.stop_requested)() {
            break;
        }
        let _ = simulation.step().map_err(SceneError::from)?;
    }
    Ok(())
}

/// The problem of the next step, if anything touches.
pub(super) fn problem_of(simulation: &mut Simulation) -> Result<Option<Problem>, ReproduceError> {
    Ok(simulation.problem().map_err(SceneError::from)?.cloned())
}

/// A random torque and force, angular first.
fn wrench(random: &mut SplitMix64, [force, torque]: [f64; 2]) -> Vector6<f64> {
    Vector6::from_fn(|k, _| random.normal() * if k < 3 { torque } else { force })
}
