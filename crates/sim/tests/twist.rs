//! Friction against spinning and rolling, standoffs and explicit pairings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::free;
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_sim::{
    Combine, Geom, Pairing, Resistance, Settings, Simulation, Surface, WorldBuilder,
};

/// Gravity [m/s²], radius [m], mass [kg] and time step [s].
const G: f64 = 9.81;
const R: f64 = 0.1;
const M: f64 = 0.7;
const H: f64 = 1e-3;
/// Moment of inertia of the ball [kg·m²].
const I: f64 = 0.4 * M * R * R;

/// A ball at rest on the ground.
fn ball(surface: Surface) -> Simulation {
    let mut builder = WorldBuilder::new();
    let ground = Surface { ..surface };
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(ground));
    let at = Isometry3::translation(0.0, 0.0, R);
    free(&mut builder, Shape::sphere(R).unwrap(), M, at, surface);
    let settings = Settings { time_step: H, tolerance: 1e-9, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    // The normal impulse of the first step is the bound of the second.
    let _ = simulation.step().unwrap();
    simulation
}

fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.converged(), "{report:?}");
    }
}

#[test]
fn a_spinning_ball_loses_its_spin_at_a_constant_rate_and_stops() {
    let spin = 0.02;
    let surface = Surface { resistance: Resistance::Spinning, spin, ..Surface::with_friction(0.5) };
    let mut simulation = ball(surface);
    let start = 10.0;
    simulation.state_mut().v[5] = start;
    // Torque spin·m·g against the inertia I.
    let rate = spin * M * G / I;
    let steps = 100;
    assert!(rate * H * (steps as f64) < start);
    run(&mut simulation, steps);
    let expected = start - rate * H * steps as f64;
    // Each step solves the normal force to the tolerance, relative to the load.
    let tolerance = 1e-6 * rate * H * steps as f64;
    assert!((simulation.state().v[5] - expected).abs() <= tolerance, "{:?}", simulation.state().v);
    let contact = simulation.contacts()[0];
    assert!((contact.torque.z + spin * M * G).abs() <= 1e-6 * spin * M * G, "{contact:?}");
    run(&mut simulation, 200);
    // What friction holds does not turn; the solver's tolerance is left.
    assert!(simulation.state().v[5].abs() <= 1e-6, "{:?}", simulation.state().v);
}

#[test]
fn spinning_is_free_without_resistance_to_it() {
    let surface = Surface { spin: 0.02, roll: 0.02, ..Surface::with_friction(0.5) };
    let mut simulation = ball(surface);
    simulation.state_mut().v[5] = 10.0;
    run(&mut simulation, 100);
    // Round-off of a hundred steps.
    assert!((simulation.state().v[5] - 10.0).abs() <= 1e-9);
}

#[test]
fn a_rolling_ball_slows_down_at_its_closed_rate_in_every_direction_and_stops() {
    let roll = 0.01;
    let surface = Surface {
        resistance: Resistance::Rolling,
        spin: 1e-3,
        roll,
        ..Surface::with_friction(0.8)
    };
    // Friction force f at the ground and the torque roll·m·g about its centre: m a = −f and
    // I a/R = f R − roll·m·g, hence a = −roll·m·g R/(I + m R²).
    let deceleration = roll * M * G * R / (I + M * R * R);
    for angle in [0.0_f64, 0.7, 2.5, 4.0] {
        let mut simulation = ball(surface);
        let (direction, speed) = (Vector3::new(angle.cos(), angle.sin(), 0.0), 0.5);
        let turning = Vector3::z().cross(&direction) * (speed / R);
        let v = &mut simulation.state_mut().v;
        v[..3].copy_from_slice((direction * speed).as_slice());
        v[3..].copy_from_slice(turning.as_slice());
        let steps = 200;
        run(&mut simulation, steps);
        let v = &simulation.state().v;
        let found = Vector3::new(v[0], v[1], v[2]).dot(&direction);
        let expected = speed - deceleration * H * steps as f64;
        let error = (found - expected).abs() / (speed - expected);
        // Impulses are solved to the tolerance relative to the load; the ball turns in its own
        // frame, whose axes each step finds to first order.
        assert!(error <= 1e-3, "angle {angle}: {found} against {expected}");
        let across = Vector3::new(v[0], v[1], v[2]).cross(&direction).norm();
        assert!(across <= 1e-3 * speed, "angle {angle}: {across}");
        run(&mut simulation, 1000);
        let left = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(left <= 1e-6, "angle {angle}: {left}");
    }
}

#[test]
fn rolling_friction_holds_a_ball_on_a_gentle_slope() {
    // It holds as long as the moment of the weight about the contact, m g R sin α, is below
    // roll·m·g cos α: tan α < roll/R.
    let roll = 0.02;
    let surface = Surface { resistance: Resistance::Rolling, roll, ..Surface::with_friction(0.9) };
    for (slope, holds) in [(0.9 * roll / R, true), (1.2 * roll / R, false)] {
        let mut builder = WorldBuilder::new();
        let angle = slope.atan();
        builder.mechanism.gravity(Vector3::new(G * angle.sin(), 0.0, -G * angle.cos()));
        builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
        let at = Isometry3::translation(0.0, 0.0, R);
        free(&mut builder, Shape::sphere(R).unwrap(), M, at, surface);
        let mut simulation = common::start(builder, H);
        run(&mut simulation, 500);
        let speed = simulation.state().v[0];
        if holds {
            // The first step has no bound yet and lets it go; the second takes it back.
            assert!(speed.abs() <= 1e-6, "{speed}");
        } else {
            let torque = M * R * G * angle.sin() - roll * M * G * angle.cos();
            let expected = torque * R / (I + M * R * R) * H * 500.0;
            // One step without friction against rolling.
            let first = M * R * G * angle.sin() * R / (I + M * R * R) * H;
            assert!((speed - expected).abs() <= first, "{speed} against {expected}");
        }
    }
}

#[test]
fn a_spinning_box_is_held_by_its_four_corners_and_by_spin_friction_together() {
    // Without friction of sliding only the torque against spinning is left, each corner with its
    // share of the load.
    let spin = 0.01;
    let surface = Surface { resistance: Resistance::Spinning, spin, ..Surface::with_friction(0.0) };
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
    let half = Vector3::new(0.1, 0.2, 0.05);
    let shape = Shape::cuboid(half).unwrap();
    free(&mut builder, shape, M, Isometry3::translation(0.0, 0.0, half.z), surface);
    let mut simulation = common::start(builder, H);
    run(&mut simulation, 1);
    simulation.state_mut().v[5] = 3.0;
    run(&mut simulation, 100);
    let inertia = M / 3.0 * (half.x * half.x + half.y * half.y);
    let expected = 3.0 - spin * M * G / inertia * H * 100.0;
    let found = simulation.state().v[5];
    assert!((found - expected).abs() <= 1e-4 * (3.0 - expected), "{found} against {expected}");
}

#[test]
fn rows_of_spinning_and_rolling_stand_beside_contacts_that_ask_for_them_only() {
    for (resistance, rows) in [
        (Resistance::Nothing, 3),
        (Resistance::Sliding, 3),
        (Resistance::Spinning, 4),
        (Resistance::Rolling, 6),
    ] {
        let surface = Surface { resistance, spin: 0.01, roll: 0.01, ..Surface::with_friction(0.5) };
        let mut simulation = ball(surface);
        let report = simulation.step().unwrap();
        assert_eq!(report.rows, rows, "{resistance:?}");
    }
}

#[test]
fn without_any_resistance_a_ball_slides_on() {
    let surface = Surface { resistance: Resistance::Nothing, ..Surface::with_friction(0.9) };
    let mut simulation = ball(surface);
    simulation.state_mut().v[0] = 1.0;
    run(&mut simulation, 100);
    let v = &simulation.state().v;
    assert!((v[0] - 1.0).abs() <= 1e-9 && v[4].abs() <= 1e-9, "{v:?}");
}

#[test]
fn shapes_rest_at_the_sum_of_their_standoffs() {
    let mut builder = WorldBuilder::new();
    let ground = Geom::new(BodyId::WORLD, Shape::Plane);
    builder.geom(Geom { standoff: 0.02, ..ground });
    let body = {
        let at = Isometry3::translation(0.0, 0.0, 0.3);
        free(&mut builder, Shape::sphere(R).unwrap(), M, at, Surface::default())
    };
    let shape = Shape::sphere(R).unwrap();
    builder.geom(Geom { standoff: 0.01, ..Geom::new(body, shape) });
    let mut simulation = common::start(builder, H);
    run(&mut simulation, 1000);
    // The sphere with its own standoff stops first; penetration of the slop is left alone.
    let slop = simulation.settings().stabilisation.slop;
    let height = simulation.state().q[2];
    assert!((height - (R + 0.03)).abs() <= slop, "{height}");
    let gap = simulation.contacts().iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
    assert!((gap - 0.03).abs() <= slop, "{gap}");
}

#[test]
fn an_explicit_pair_has_its_own_surface_whatever_the_shapes_say() {
    // Ground and box would stick; the pair slides at μ = 0.1, at its own standoff, and the order in
    // which the two are named does not matter.
    for swapped in [false, true] {
        let mut builder = WorldBuilder::new();
        let rough = Surface { priority: 5, ..Surface::with_friction(2.0) };
        let ground = builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(rough));
        let shape = Shape::cuboid(Vector3::repeat(R)).unwrap();
        let at = Isometry3::translation(0.0, 0.0, R + 0.05);
        free(&mut builder, shape, M, at, rough);
        let pairing = Pairing {
            friction: 0.1,
            across_friction: 0.1,
            standoff: 0.05,
            ..Pairing::of(&rough, &rough, Combine::Minimum)
        };
        let (a, b) = if swapped { (1, ground) } else { (ground, 1) };
        builder.pair_as(a, b, pairing);
        let mut simulation = common::start(builder, H);
        simulation.state_mut().v[0] = 1.0;
        run(&mut simulation, 200);
        let (q, v) = (&simulation.state().q, &simulation.state().v);
        let expected = 1.0 - 0.1 * G * H * 200.0;
        assert!((v[0] - expected).abs() <= 1e-5, "{} against {expected}", v[0]);
        assert!((q[2] - (R + 0.05)).abs() <= 2e-5, "{}", q[2]);
    }
}

#[test]
fn pairs_that_cannot_be_are_refused() {
    let attempt = |index: usize, pairing: Pairing| {
        let mut builder = common::on_ground(0.5);
        common::cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
        builder.pair_as(0, index, pairing);
        builder.build().map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(attempt(1, Pairing::default()).is_ok());
    assert!(attempt(7, Pairing::default()).unwrap_err().contains('7'));
    let message = attempt(1, Pairing { roll: -1.0, ..Pairing::default() }).unwrap_err();
    assert!(message.contains("rolling"), "{message}");
    let odd = Pairing { standoff: f64::NAN, ..Pairing::default() };
    assert!(attempt(1, odd).unwrap_err().contains("standoff"));
}
