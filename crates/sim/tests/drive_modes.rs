//! Dry friction and bounded servos of a chain: it holds, breaks loose, slides and stops as the closed forms say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Matrix3, Vector3};
use stiction_mech::*;
use stiction_sim::{Settings, Simulation, WorldBuilder};

const MASS: f64 = 2.0;
const STEP: f64 = 2e-3;
/// Friction of the rail and of the slide on it [N].
const RAIL: f64 = 5.0;
const SLIDE: f64 = 3.0;

/// A carriage on a rail and a mass that slides on the carriage, both along x, without weight, and a motor on the slide
/// with an optional force range.
fn carriage(spec: impl Fn(Transmission) -> ActuatorSpec) -> Simulation {
    let mut builder = WorldBuilder::new();
    let b = &mut builder.mechanism;
    let mass = MassProperties::new(MASS, Vector3::zeros(), Matrix3::identity()).unwrap();
    let mut parent = BodySpec::default().parent;
    let mut last = None;
    for friction_loss in [RAIL, SLIDE] {
        let body = b.body(BodySpec { parent, mass: Some(mass), ..BodySpec::default() });
        let slide = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
        last = Some(b.joint(body, JointSpec { friction_loss, ..slide }));
        parent = body;
    }
    b.gravity(Vector3::zeros());
    b.actuator(spec(Transmission::Joint(last.unwrap())));
    let settings = Settings { time_step: STEP, tolerance: 1e-10, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        let report = simulation.step().unwrap();
        assert_eq!(report.status().name(), "ok");
    }
}

fn motor(on: Transmission) -> ActuatorSpec {
    ActuatorSpec::motor("motor", on)
}

#[test]
fn dry_friction_holds_a_load_below_its_bound() {
    let mut simulation = carriage(motor);
    simulation.input_mut().control[0] = 0.99 * SLIDE;
    steps(&mut simulation, 1000);
    // What holds yields by 1e-10 of the speed that the friction could stop in a step.
    let creep = 1e-10 * STEP * RAIL / MASS;
    assert!(simulation.state().v.iter().all(|v| v.abs() <= creep), "{:?}", simulation.state().v);
}

#[test]
fn friction_that_holds_a_slide_at_the_end_of_its_range_costs_no_iterations() {
    let mut builder = WorldBuilder::new();
    let b = &mut builder.mechanism;
    let mass = MassProperties::new(MASS, Vector3::zeros(), Matrix3::identity()).unwrap();
    let mut parent = BodySpec::default().parent;
    for _ in 0..2 {
        let body = b.body(BodySpec { parent, mass: Some(mass), ..BodySpec::default() });
        let slide = JointSpec::new(JointKind::Slide { axis: Vector3::z() });
        let limit = Some(Limit { lower: 0.0, upper: 0.3, margin: 0.0 });
        b.joint(body, JointSpec { friction_loss: 1000.0, limit, ..slide });
        parent = body;
    }
    let settings = Settings { time_step: STEP, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    for step in 0..100 {
        let report = simulation.step().unwrap();
        assert_eq!(report.status().name(), "ok");
        // The first step finds the impulses, which stay the same.
        assert!(report.iterations <= if step == 0 { 5 } else { 1 }, "{step}: {report}");
    }
    assert!(simulation.state().q.iter().all(|q| q.abs() <= 1e-9), "{:?}", simulation.state().q);
}

#[test]
fn a_load_beyond_its_bound_slides_at_constant_acceleration_while_the_rail_holds() {
    let mut simulation = carriage(motor);
    let force = 4.0;
    simulation.input_mut().control[0] = force;
    steps(&mut simulation, 200);
    let expected = 200.0 * STEP * (force - SLIDE) / MASS;
    let v = &simulation.state().v;
    // Roundings of 200 steps; the carriage creeps as one that is held.
    assert!((v[1] - expected).abs() <= 1e-9 * expected && v[0].abs() <= 1e-9, "{v:?}");
}

#[test]
fn a_sliding_load_stops_when_its_motor_does_and_stays() {
    let mut simulation = carriage(motor);
    simulation.input_mut().control[0] = 4.0;
    steps(&mut simulation, 300);
    simulation.input_mut().control[0] = 0.0;
    // It accelerated at (4 − 3)/2 and brakes at 3/2: a third of the time.
    steps(&mut simulation, 99);
    assert!(simulation.state().v[1] > 0.0);
    steps(&mut simulation, 2);
    let at = simulation.state().q[1];
    assert!(simulation.state().v[1].abs() <= 1e-9, "{:?}", simulation.state().v);
    steps(&mut simulation, 100);
    assert!((simulation.state().q[1] - at).abs() <= 1e-9);
}

#[test]
fn a_load_whose_push_exceeds_both_frictions_moves_the_carriage_backwards() {
    let mut simulation = carriage(motor);
    // The motor is between the two: the carriage is pushed back by force − 3, against the friction of the rail.
    let force = 12.0;
    simulation.input_mut().control[0] = force;
    steps(&mut simulation, 100);
    let t = 100.0 * STEP;
    let (back, ahead) = ((SLIDE - force + RAIL) / MASS * t, (force - SLIDE) / MASS * t);
    let v = &simulation.state().v;
    assert!((v[0] - back).abs() <= 1e-9 * t && (v[0] + v[1] - ahead).abs() <= 1e-9 * t, "{v:?}");
}

#[test]
fn a_saturated_servo_pushes_with_its_bound_and_holds_its_target_after() {
    let bound = 10.0;
    let mut simulation = carriage(|on| ActuatorSpec {
        force_range: Some((-bound, bound)),
        ..ActuatorSpec::position("servo", on, 2000.0, 200.0)
    });
    simulation.input_mut().control[0] = 1.0;
    steps(&mut simulation, 50);
    let t = 50.0 * STEP;
    let (back, ahead) = ((SLIDE - bound + RAIL) / MASS * t, (bound - SLIDE) / MASS * t);
    let v = simulation.state().v.clone();
    assert!((v[0] - back).abs() <= 1e-9 * t && (v[0] + v[1] - ahead).abs() <= 1e-9 * t, "{v:?}");
    steps(&mut simulation, 4000);
    let state = simulation.state();
    // Dry friction lets the servo rest as far off as it holds against the stiffness.
    assert!((state.q[1] - 1.0).abs() <= SLIDE / 2000.0, "{:?}", state.q);
    assert!(state.v.iter().all(|v| v.abs() <= 1e-9), "{:?}", state.v);
}
