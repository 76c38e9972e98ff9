//! Campaigns of random scenes: bodies that slide and roll over seams, pass by obstacles, and hit thin walls.
//!
//! Every trial draws from a seed of its own. The tests run few trials; the environment variable
//! `STICTION_TRIALS` sets another number, and `STICTION_TRIAL` names the one trial to repeat.
#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bullets;
mod passes;
#[path = "../common/mod.rs"]
mod scenes;
mod seams;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_math::random::{SplitMix64, mix64};
use stiction_mech::BodyId;
use stiction_sim::{Geom, Simulation, Surface, WorldBuilder};

/// Failures of a campaign that are printed.
const PRINTED: usize = 40;

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Runs the trials of a campaign, `few` unless the environment says otherwise, and panics if one fails.
fn campaign(name: &str, few: usize, trial: impl Fn(usize, &mut SplitMix64) -> Result<(), String>) {
    let seed = name.bytes().fold(0, |seed, byte| mix64(seed ^ u64::from(byte)));
    let trials = match number("STICTION_TRIAL") {
        Some(one) => one..one + 1,
        None => 0..number("STICTION_TRIALS").unwrap_or(few),
    };
    let (count, mut failures) = (trials.len(), 0);
    for k in trials {
        let mut random = SplitMix64::new(mix64(seed ^ mix64(k as u64)));
        if let Err(message) = trial(k, &mut random) {
            failures += 1;
            if failures <= PRINTED {
                println!("{name}, STICTION_TRIAL={k}: {message}");
            }
        }
    }
    println!("{name}: {failures} of {count} trials failed");
    assert_eq!(failures, 0, "{name}: {failures} of {count} trials failed");
}

fn weightless() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder
}

fn fixed(builder: &mut WorldBuilder, shape: Shape, pose: Isometry3<f64>, friction: f64) {
    let surface = Surface::with_friction(friction);
    builder.geom(Geom { pose, ..Geom::new(BodyId::WORLD, shape).surface(surface) });
}

/// Sets the velocity of the origin [m/s] and the angular velocity [rad/s], both in the world, of the only body.
fn set_motion(simulation: &mut Simulation, velocity: Vector3<f64>, spin: Vector3<f64>) {
    let mut state = simulation.state().clone();
    let turn = nalgebra::Quaternion::new(state.q[3], state.q[4], state.q[5], state.q[6]);
    let turn = nalgebra::UnitQuaternion::from_quaternion(turn);
    state.v[..3].copy_from_slice(velocity.as_slice());
    state.v[3..].copy_from_slice((turn.inverse() * spin).as_slice());
    simulation.set_state(&state).unwrap();
}

/// A convex hull of random points in a box of these half extents [m].
fn random_hull(random: &mut SplitMix64, half: Vector3<f64>) -> Shape {
    let count = 6 + random.below(20);
    let points: Vec<_> = (0..count).map(|_| random.direction().component_mul(&half)).collect();
    Shape::convex(&points).unwrap()
}
