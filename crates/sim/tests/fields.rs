//! Solids given by signed distance fields in motion: dishes at rest, a ball in a bowl, a nut on its bolt.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{free, on_ground, start};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use stiction_geom::field::{Profile, Thread};
use stiction_geom::{FieldSolid, Shape};
use stiction_mech::BodyId;
use stiction_sim::{Geom, Surface};

/// A bowl: an arc of the radius [m] to an angle from the axis [rad], inner bottom at z = 0.
fn bowl(radius: f64, angle: f64, thickness: f64) -> Shape {
    let arc = |k: usize| {
        let a = angle * k as f64 / 24.0;
        [radius * a.sin(), radius * (1.0 - a.cos()) - 0.5 * thickness]
    };
    let line: Vec<_> = (0..=24).map(arc).collect();
    let profile = Profile::line(&line, thickness).unwrap();
    Shape::field(FieldSolid::Revolve(Arc::new(profile)), None).unwrap()
}

/// A plate: flat bottom, sloping rim.
fn plate() -> Shape {
    let profile = Profile::line(&[[0.0, 0.0], [0.06, 0.0], [0.1, 0.03]], 0.005).unwrap();
    Shape::field(FieldSolid::Revolve(Arc::new(profile)), None).unwrap()
}

#[test]
fn a_ball_without_friction_swings_in_a_bowl_like_a_pendulum() {
    let (radius, ball) = (0.1, 0.01);
    let mut builder = on_ground(0.0);
    let at = Isometry3::translation(0.0, 0.0, 1.0);
    let smooth = Surface::with_friction(0.0);
    builder.geom(
        Geom::new(BodyId::WORLD, bowl(radius + 0.002, 0.4 * PI, 0.004)).at(at).surface(smooth),
    );
    // The centre moves on a circle of this radius about the centre of the bowl.
    let length = radius - ball;
    let swing: f64 = 0.2;
    let start_at = Vector3::new(length * swing.sin(), 0.0, 1.0 + radius - length * swing.cos());
    let pose = Isometry3::translation(start_at.x, start_at.y, start_at.z);
    free(&mut builder, Shape::sphere(ball).unwrap(), 0.1, pose, smooth);
    let mut simulation = start(builder, 5e-4);
    // Period of a pendulum of 0.2 rad: 2π √(l/g) (1 + θ²/16).
    let period = TAU * (length / 9.81).sqrt() * (1.0 + swing * swing / 16.0);
    let mut crossings = Vec::new();
    let mut before = start_at.x;
    for _ in 0..(2.2 * period / 5e-4) as usize {
        let _ = simulation.step().unwrap();
        let state = simulation.state();
        if before > 0.0 && state.q[0] <= 0.0 {
            crossings.push(state.time - 5e-4 * state.q[0] / (state.q[0] - before));
        }
        before = state.q[0];
        assert!(state.q[1].abs() < 1e-6, "{}", state.q[1]);
    }
    // The arc has 24 chords of 3°: the ball meets slopes that differ by up to 1.5° from the circle's, one in eight of
    // the amplitude, and each joint costs energy; the period depends on neither to first order.
    let found = crossings[1] - crossings[0];
    assert!((found / period - 1.0).abs() < 0.05, "{found} against {period}");
}

#[test]
fn a_dish_in_a_dish_comes_to_rest_and_does_not_creep() {
    let time_step = 1.0 / 240.0;
    let mut builder = on_ground(0.5);
    let rough = Surface::with_friction(0.5);
    let first = Isometry3::translation(0.0, 0.0, 0.0026);
    free(&mut builder, plate(), 0.1, first, rough);
    let second = Isometry3::translation(0.0005, 0.0, 0.0085);
    free(&mut builder, plate(), 0.1, second, rough);
    let mut simulation = start(builder, time_step);
    let mut fastest: f64 = 0.0;
    for k in 0..720 {
        let _ = simulation.step().unwrap();
        if k >= 480 {
            let v = &simulation.state().v;
            // Velocities [m/s] and angular velocities [rad/s] alike.
            fastest = v.iter().fold(fastest, |most, x| most.max(x.abs()));
        }
    }
    assert!(fastest < 1e-6, "{fastest}");
}

/// A nut on a fixed bolt with friction; returns the simulation and the moment of inertia of the nut about the axis.
fn nut_on_bolt(friction: f64, time_step: f64) -> (stiction_sim::Simulation, f64, f64) {
    let mut builder = on_ground(friction);
    let surface = Surface::with_friction(friction);
    let at = |z: f64| Isometry3::translation(0.0, 0.0, z);
    let bolt = Shape::field(FieldSolid::Thread(Thread::m48_bolt(0.05)), None).unwrap();
    builder.geom(Geom::new(BodyId::WORLD, bolt).at(at(1.0)).surface(surface));
    let nut = Shape::field(FieldSolid::Thread(Thread::m48_nut(0.0125, 1e-4)), None).unwrap();
    let (volume, _, inertia) = nut.mass_properties(1.0);
    let mass = 0.5;
    free(&mut builder, nut, mass, at(1.0), surface);
    (start(builder, time_step), mass, mass * inertia[(2, 2)] / volume)
}

#[test]
fn a_nut_without_friction_descends_with_the_acceleration_of_the_screw() {
    let (mut simulation, mass, inertia) = nut_on_bolt(0.0, 2e-3);
    let p = 5e-3 / TAU;
    // m a = m g − F, I α = F p, a = α p.
    let exact = 9.81 / (1.0 + inertia / (mass * p * p));
    // The clearance closes first; then the speed grows evenly.
    let mut advance = |steps: usize| {
        for _ in 0..steps {
            let _ = simulation.step().unwrap();
        }
        let state = simulation.state();
        (state.time, state.q[2])
    };
    let (early, middle, late) = (advance(100), advance(60), advance(60));
    let speed = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
    let found = (speed(early, middle) - speed(middle, late)) / (0.5 * (late.0 - early.0));
    assert!((found / exact - 1.0).abs() < 0.02, "{found} against {exact}");
}

#[test]
fn a_nut_with_friction_stands_still_on_its_bolt() {
    let (mut simulation, _, _) = nut_on_bolt(0.2, 2e-3);
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    let before = simulation.state().q.clone();
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    let state = simulation.state();
    let moved = (0..3).map(|k| (state.q[k] - before[k]).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-6, "{moved}: {:?}", state.v);
}
