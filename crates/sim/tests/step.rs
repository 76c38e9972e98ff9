//! What every step must keep, whatever the scene.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{cube, free, on_ground, start};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::momentum;
use stiction_sim::{Settings, Simulation, Sleep, Surface, WorldBuilder, state_hash};

/// Relative change of linear and angular momentum over a rough collision in free space.
fn change_of_momentum(time_step: f64) -> (f64, f64) {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let rough = Surface { friction: 0.7, restitution: 0.4, ..Surface::default() };
    let ball = Shape::sphere(0.1).unwrap();
    let brick = Shape::cuboid(Vector3::new(0.1, 0.2, 0.05)).unwrap();
    free(&mut builder, ball, 0.7, Isometry3::translation(-0.5, 0.03, 0.02), rough);
    free(&mut builder, brick, 1.9, Isometry3::translation(0.5, 0.0, 0.0), rough);
    let mut simulation = start(builder, time_step);
    simulation.state_mut().v[0] = 2.0;
    simulation.state_mut().v[5] = 9.0;
    simulation.state_mut().v[6] = -1.5;
    let of = |simulation: &mut Simulation| {
        let world = simulation.world().clone();
        momentum(world.model(), simulation.data(), Vector3::zeros())
    };
    let before = of(&mut simulation);
    let mut touched = false;
    for _ in 0..(0.5 / time_step).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.converged());
        touched |= simulation.contacts().iter().any(|c| c.force.norm() > 0.0);
    }
    assert!(touched, "they must meet for the test to say anything");
    let after = of(&mut simulation);
    let relative = |a: Vector3<f64>, b: Vector3<f64>| (a - b).norm() / b.norm();
    (relative(after.0, before.0), relative(after.1, before.1))
}

#[test]
fn a_collision_in_free_space_conserves_momentum() {
    let (coarse, fine) = (change_of_momentum(2e-4), change_of_momentum(1e-4));
    // Impulses act in pairs, so that linear momentum is kept to the tolerance of the solve.
    assert!(coarse.0 <= 1e-6 && fine.0 <= 1e-6, "{coarse:?} {fine:?}");
    // Angular momentum is kept to first order: the bodies move with their velocities after the impact from the
    // start of the step on, not from the moment at which they meet in it, which is at random in the step.
    // The two points at which an impulse J acts are apart by at most h c at the start of the step, with c the
    // relative speed of 3.5 m/s and 0.9 m/s of spin; J is at most the reduced mass of 0.51 kg times
    // c (1 + ε)(1 + μ), and the angular momentum more than 0.7 kg · 2 m/s · 0.03 m.
    let (c, least) = (4.4, 0.7 * 2.0 * 0.03);
    let bound = |h: f64| h * c * (0.51 * c * 1.4 * 1.7) / least;
    assert!(coarse.1 <= bound(2e-4) && fine.1 <= bound(1e-4), "{coarse:?} {fine:?}");
}

#[test]
fn a_step_that_fails_leaves_every_bit_of_the_state() {
    let mut builder = on_ground(0.5);
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let at = Isometry3::translation(0.0, 0.0, 0.1);
    free(&mut builder, shape, 1e-3, at, Surface::default());
    let mut simulation = start(builder, 0.01);
    let _ = simulation.step().unwrap();
    let before = simulation.state().clone();
    simulation.input_mut().wrench[1][5] = f64::NAN;
    assert!(simulation.step().is_err());
    assert_eq!(simulation.state(), &before);
    simulation.input_mut().wrench[1][5] = f64::MAX;
    let outcome = simulation.step();
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(simulation.state(), &before);
    simulation.input_mut().wrench[1][5] = 0.0;
    assert!(simulation.step().is_ok());
}

#[test]
fn a_state_given_back_gives_the_same_future() {
    let run = |steps: usize, from: Option<&stiction_mech::State>| {
        let mut builder = on_ground(0.3);
        cube(&mut builder, 0.1, 0.0, 0.3, 0.5);
        let mut simulation = start(builder, 0.01);
        simulation.state_mut().v[3] = 2.0;
        if let Some(state) = from {
            simulation.set_state(state).unwrap();
        }
        for _ in 0..steps {
            let _ = simulation.step().unwrap();
        }
        simulation.state().clone()
    };
    assert_eq!(state_hash(&run(50, None)), state_hash(&run(50, None)));
    // Before the first contact nothing is carried over but the state itself.
    let middle = run(5, None);
    let again = run(5, Some(&middle));
    assert_eq!(state_hash(&again), state_hash(&run(10, None)));
}

fn sleepy(builder: WorldBuilder) -> Simulation {
    let settings =
        Settings { time_step: 0.01, sleep: Some(Sleep::default()), ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

#[test]
fn a_stack_falls_asleep_and_wakes_as_a_whole_when_it_is_hit() {
    let mut builder = on_ground(0.6);
    cube(&mut builder, 0.1, 0.0, 0.1, 0.6);
    cube(&mut builder, 0.1, 0.0, 0.3, 0.6);
    let striker = cube(&mut builder, 0.05, 2.0, 0.3, 0.6);
    let mut simulation = sleepy(builder);
    // Held up by its own weight's opposite, the striker hovers and stays awake by its drift.
    simulation.input_mut().wrench[striker.0][5] = 9.81;
    simulation.state_mut().v[12] = -0.5;
    let (mut slept, mut woke) = (false, false);
    for _ in 0..500 {
        let report = simulation.step().unwrap();
        slept |= report.asleep == 2;
        woke |= slept && report.asleep == 0;
    }
    assert!(slept, "both cubes of the stack, and not the striker");
    assert!(woke, "the strike must wake the whole stack");
    assert!(simulation.state().q[7] < -1e-3, "the upper cube is pushed");
}

#[test]
fn sleeping_bodies_stay_where_awake_ones_would_stay() {
    let run = |sleep: Option<Sleep>| {
        let mut builder = on_ground(0.6);
        cube(&mut builder, 0.1, 0.0, 0.15, 0.6);
        let settings = Settings { time_step: 0.01, sleep, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        for _ in 0..300 {
            let _ = simulation.step().unwrap();
        }
        simulation.state().q.clone()
    };
    let (awake, asleep) = (run(None), run(Some(Sleep::default())));
    for (a, b) in awake.iter().zip(&asleep) {
        // At rest to the tolerance of the solve, 1e-6 of g h, for three seconds.
        assert!((a - b).abs() <= 1e-6 * 9.81 * 0.01 * 3.0, "{a} against {b}");
    }
}

/// A cube that slides and turns on the ground, with a budget; the report of its first step and the hash of the state.
fn slide_with(budget: Option<f64>) -> (stiction_sim::StepReport, u64) {
    let mut builder = on_ground(0.5);
    cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let settings = Settings { budget, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.state_mut().v[0] = 1.0;
    simulation.state_mut().v[5] = 3.0;
    let report = simulation.step().unwrap();
    (report, state_hash(simulation.state()))
}

#[test]
fn a_solve_that_exceeds_its_budget_is_flagged_and_one_within_it_is_the_same_to_the_bit() {
    let (free, hash) = slide_with(None);
    assert!(free.converged() && free.reproducible && free.iterations > 0);
    // No solve ends within a nanosecond.
    let (short, _) = slide_with(Some(1e-9));
    assert_eq!(short.status(), stiction_sim::StepStatus::ProblemNotSolved);
    assert!(!short.reproducible && short.to_string().contains("not reproducible"));
    let left = short.residuals.coulomb.max(short.residuals.momentum);
    assert!(left > 0.0 && short.iterations <= free.iterations);
    let (long, same) = slide_with(Some(1e9));
    assert!(long.converged() && !long.reproducible);
    assert_eq!((long.iterations, same), (free.iterations, hash));
}
