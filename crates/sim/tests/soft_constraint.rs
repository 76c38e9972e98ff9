//! Limits, dry friction and equalities that are soft as in MuJoCo: closed forms of single bodies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, Limit, MassProperties, SoftLaw};
use stiction_sim::constraint::{Connect, Equality, EqualityOptions, Weld};
use stiction_sim::{Scheme, Settings, Simulation, Snapshot, WorldBuilder};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 1.7;
/// A constant impedance: k d² r/(1 − d) = load Â has the root r = (1 − d) load Â T² ζ².
const IMPEDANCE: f64 = 0.8;
const TIME: f64 = 0.05;
const LAW: SoftLaw =
    SoftLaw { reference: [TIME, 1.0], impedance: [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0] };

fn settings(time_step: f64) -> Settings {
    let scheme = Scheme::Euler;
    Settings { time_step, scheme, tolerance: 1e-13, ..Settings::default() }
}

/// A body of 1.7 kg with joints, or none, in a world of this gravity.
fn body(builder: &mut WorldBuilder, joint: JointSpec) -> BodyId {
    let mass = MassProperties::new(MASS, Vector3::zeros(), Matrix3::identity() * 0.01).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, joint);
    body
}

fn slide() -> JointSpec {
    JointSpec::new(JointKind::Slide { axis: Vector3::z() })
}

fn run(builder: WorldBuilder, steps: usize) -> Simulation {
    let mut simulation = Simulation::new(builder.build().unwrap(), settings(2e-3)).unwrap();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert_eq!(report.status().name(), "ok");
        assert_eq!((report.limit_error, report.equality_error), (0.0, 0.0));
    }
    simulation
}

/// Where a weight rests [m].
fn depth() -> f64 {
    (1.0 - IMPEDANCE) * GRAVITY * TIME * TIME
}

#[test]
fn a_weight_rests_beyond_a_soft_limit_by_the_root_of_the_law() {
    let mut builder = WorldBuilder::new();
    let limit = Some(Limit { lower: -0.1, upper: 1.0, margin: 0.0 });
    body(&mut builder, JointSpec { limit, limit_softness: Some(LAW), ..slide() });
    let simulation = run(builder, 2000);
    // 80 time constants.
    assert!((simulation.state().q[0] + 0.1 + depth()).abs() <= 1e-12);
}

#[test]
fn soft_dry_friction_creeps_under_a_load_below_its_bound() {
    let mut builder = WorldBuilder::new();
    let joint = JointSpec { friction_loss: 2.0 * MASS * GRAVITY, ..slide() };
    body(&mut builder, JointSpec { friction_softness: Some(LAW), ..joint });
    let simulation = run(builder, 2000);
    // c + R λ = (1 − h b) c with λ = h m g upwards: c = −R m g/b, R = (1 − d)/(d m), b = 2/(d T).
    let creep = -(1.0 - IMPEDANCE) * GRAVITY * TIME / 2.0;
    assert!((simulation.state().v[0] - creep).abs() <= 1e-12);
}

#[test]
fn a_weight_on_a_soft_connection_hangs_by_the_root_of_the_law() {
    let mut builder = WorldBuilder::new();
    let body_b = body(&mut builder, JointSpec::new(JointKind::Free));
    let connect = Connect {
        body_a: BodyId::WORLD,
        point_a: Vector3::zeros(),
        body_b,
        point_b: Vector3::zeros(),
    };
    let options = EqualityOptions { softness: Some(LAW), ..EqualityOptions::default() };
    builder.equality_with("hook", Equality::Connect(connect), options);
    let simulation = run(builder, 2000);
    assert!((simulation.state().q[2] + depth()).abs() <= 1e-12);
}

#[test]
fn a_body_welded_softly_to_a_driven_one_follows_a_jump_by_the_closed_law() {
    let (h, jump) = (2.5e-3, 0.05);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let hand = builder.mechanism.body(BodySpec { driven: true, ..BodySpec::default() });
    let body_b = body(&mut builder, JointSpec::new(JointKind::Free));
    let weld = Weld { body_a: hand, body_b, pose: Isometry3::identity() };
    let options = EqualityOptions { softness: Some(LAW), ..EqualityOptions::default() };
    builder.equality_with("grip", Equality::Weld(weld), options);
    let mut simulation = Simulation::new(builder.build().unwrap(), settings(h)).unwrap();
    simulation.input_mut().driven_pose[0].translation.x = jump;
    // With Â = 1/m the compliance is (1 − d)/(d m): v⁺ = v⁻ + d h a_ref.
    let (mut x, mut v) = (0.0, 0.0);
    let (k, b) = ((IMPEDANCE * TIME).powi(-2), 2.0 / (IMPEDANCE * TIME));
    for step in 0..200 {
        let _ = simulation.step().unwrap();
        v += IMPEDANCE * h * (-b * v - k * IMPEDANCE * (x - jump));
        x += h * v;
        // A handful of operations per step on numbers below one, and the tolerance of the solver.
        assert!((simulation.state().q[0] - x).abs() <= 1e-12, "step {step}");
    }
    assert!(step_reaches(x, jump));
}

fn step_reaches(x: f64, jump: f64) -> bool {
    (x - jump).abs() <= 1e-3 * jump
}

#[test]
fn an_equality_is_switched_on_and_off_and_a_snapshot_keeps_the_switch() {
    let mut builder = WorldBuilder::new();
    let body_b = body(&mut builder, JointSpec::new(JointKind::Free));
    let connect = Connect {
        body_a: BodyId::WORLD,
        point_a: Vector3::zeros(),
        body_b,
        point_b: Vector3::zeros(),
    };
    let options = EqualityOptions { active: false, ..EqualityOptions::default() };
    builder.equality_with("hook", Equality::Connect(connect), options);
    let world = std::sync::Arc::new(builder.build().unwrap());
    let mut simulation = Simulation::new(world.clone(), settings(1e-3)).unwrap();
    assert_eq!(simulation.equality_active(), [false]);
    let _ = simulation.step().unwrap();
    // One step of free fall.
    let fall = -1e-3 * GRAVITY;
    assert!((simulation.state().v[2] - fall).abs() <= 1e-15);
    simulation.set_equality_active(0, true);
    let mut other = Simulation::new(world, settings(1e-3)).unwrap();
    let bytes = simulation.snapshot().to_bytes();
    other.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    assert_eq!(other.equality_active(), [true]);
    for _ in 0..10 {
        let _ = simulation.step().unwrap();
        let _ = other.step().unwrap();
    }
    assert_eq!(simulation.state(), other.state());
    // Exact: closed to its tolerance.
    assert!(simulation.state().q[2].abs() <= 1e-8 && simulation.state().v[2].abs() <= 1e-8);
    simulation.set_equality_active(0, false);
    let _ = simulation.step().unwrap();
    assert!((simulation.state().v[2] - fall).abs() <= 1e-8);
}
