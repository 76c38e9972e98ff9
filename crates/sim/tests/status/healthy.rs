//! Steps that are right.

use crate::*;
use stiction_geom::Shape;
use stiction_mech::{ActuatorSpec, Transmission};
use stiction_sim::{CableCourse, CableEnd, CableSpec, SoftObject, Surface};

#[test]
fn every_step_of_a_pendulum_is_ok() {
    for (bars, scheme) in [(1, Scheme::Refined), (1, Scheme::Symplectic), (2, Scheme::Refined)] {
        // ω h is at most 0.03: the pendulum falls through half a turn.
        let mut simulation = chain(bars, 0.5, scheme, 2e-3);
        simulation.state_mut().q[0] = 3.0;
        assert_ok(&mut simulation, 2000, "a pendulum");
    }
}

#[test]
fn a_free_body_with_armature_falls_with_a_part_of_gravity_and_every_step_is_ok() {
    let (mass, armature, steps) = (2.0, 1.0, 500);
    let mut builder = WorldBuilder::new();
    let properties = MassProperties::new(mass, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(properties), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec { armature, ..JointSpec::new(JointKind::Free) });
    let settings = Settings { time_step: 2e-3, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    assert_ok(&mut simulation, steps, "a body with armature");
    let speed = 9.81 * mass / (mass + armature) * 2e-3 * steps as f64;
    // The equation is linear: round-off of 500 sums.
    assert!((simulation.state().v[2] + speed).abs() <= 1e-12 * speed);
}

#[test]
fn every_step_of_a_stack_at_rest_is_ok() {
    let mut builder = common::on_ground(0.5);
    for k in 0..5 {
        common::cube(&mut builder, 0.1, 0.0, 0.1 + 0.2 * f64::from(k), 0.5);
    }
    assert_ok(&mut common::start(builder, 2e-3), 500, "a stack");
}

#[test]
fn every_step_of_a_bouncing_ball_is_ok() {
    let mut builder = WorldBuilder::new();
    let elastic = Surface { restitution: 0.8, friction: 0.5, ..Surface::default() };
    builder.geom(stiction_sim::Geom::new(BodyId::WORLD, Shape::Plane).surface(elastic));
    let at = Isometry3::translation(0.0, 0.0, 1.0);
    common::free(&mut builder, Shape::sphere(0.1).unwrap(), 1.0, at, elastic);
    let mut simulation = common::start(builder, 1e-3);
    simulation.state_mut().v.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 20.0, 3.0]);
    assert_ok(&mut simulation, 3000, "a bouncing ball");
}

#[test]
fn every_step_of_a_driven_arm_is_ok() {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for k in 0..4 {
        let axis = if k % 2 == 0 { Vector3::y() } else { Vector3::x() };
        parent = bar(&mut builder, parent, 0.3, JointKind::Hinge { axis });
        let joint = stiction_mech::JointId(k);
        let servo = ActuatorSpec::position(format!("{k}"), Transmission::Joint(joint), 200.0, 20.0);
        let bounds = (k % 2 == 0).then_some((-30.0, 30.0));
        builder.mechanism.actuator(ActuatorSpec { force_range: bounds, ..servo });
    }
    let mut simulation = common::start(builder, 2e-3);
    for round in 0..4 {
        let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
        simulation.input_mut().control.fill(0.8 * sign);
        assert_ok(&mut simulation, 500, "an arm with servos");
    }
}

#[test]
fn every_step_of_a_hanging_cable_is_ok() {
    let mut builder = WorldBuilder::new();
    let pose = Isometry3::rotation(Vector3::y() * std::f64::consts::FRAC_PI_2);
    builder.cable(CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Straight { pose, length: 0.5 },
        segments: 12,
        radius: 5e-3,
        young: 3e6,
        poisson: 0.49,
        ends: [CableEnd::Held(BodyId::WORLD), CableEnd::Free],
        ..CableSpec::default()
    });
    assert_ok(&mut common::start(builder, 2e-3), 1000, "a cable that swings");
}

#[test]
fn every_step_of_a_soft_body_that_lands_is_ok() {
    let mut builder = common::on_ground(0.5);
    let spec = common::block(Vector3::repeat(0.1), [2, 2, 2], Vector3::new(0.0, 0.0, 0.1));
    builder.soft(SoftObject::new(spec));
    assert_ok(&mut common::start(builder, 2e-3), 500, "a soft block");
}
