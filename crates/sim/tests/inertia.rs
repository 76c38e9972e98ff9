//! Frames without mass, point masses, and mechanisms that have no inertia along some motion.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, Scheme, Settings, Simulation, StepError, WorldBuilder};

fn start(builder: WorldBuilder, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step: 1e-3, scheme, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

fn bob() -> Option<MassProperties> {
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    MassProperties::new(1.0, Vector3::new(0.1, 0.0, -0.4), inertia).ok()
}

#[test]
fn two_hinges_with_a_frame_of_no_mass_between_them_are_a_universal_joint() {
    let axes = [Vector3::x(), Vector3::y()];
    let mut chain = WorldBuilder::new();
    let frame = chain.mechanism.body(BodySpec::default());
    chain.mechanism.joint(frame, JointSpec::new(JointKind::Hinge { axis: axes[0] }));
    let body = chain.mechanism.body(BodySpec { parent: frame, mass: bob(), ..Default::default() });
    chain.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: axes[1] }));
    let mut whole = WorldBuilder::new();
    let body = whole.mechanism.body(BodySpec { mass: bob(), ..Default::default() });
    whole.mechanism.joint(body, JointSpec::new(JointKind::Universal { axes }));
    for scheme in [Scheme::Euler, Scheme::Midpoint, Scheme::Refined] {
        let mut both = [&chain, &whole].map(|builder| start(builder.clone(), scheme));
        for simulation in &mut both {
            simulation.state_mut().v.copy_from_slice(&[1.0, -2.0]);
            for _ in 0..300 {
                let _ = simulation.step().unwrap();
            }
        }
        let [one, other] = both.map(|simulation| simulation.state().clone());
        for (a, b) in one.q.iter().chain(&one.v).zip(other.q.iter().chain(&other.v)) {
            // Round-off of the same equations in another order over some hundred steps.
            assert!((a - b).abs() <= 1e-11, "{}: {a} against {b}", scheme.name());
        }
    }
}

/// A point mass on a ball joint: nothing resists a turn about the line from the joint to the mass.
fn point_on_ball(armature: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let arm = Vector3::new(0.0, 0.3, -0.4);
    let mass = MassProperties::new_lenient(1.0, arm, Matrix3::zeros()).ok();
    let name = "pendulum".to_owned();
    let body = builder.mechanism.body(BodySpec { name, mass, ..Default::default() });
    builder.mechanism.joint(body, JointSpec { armature, ..JointSpec::new(JointKind::Ball) });
    // A ground that it touches or not.
    let shape = Shape::sphere(0.1).unwrap();
    let pose = Isometry3::translation(arm.x, arm.y, arm.z);
    builder.geom(Geom::new(body, shape).at(pose));
    builder
}

#[test]
fn a_mechanism_without_inertia_along_a_motion_is_named_and_leaves_its_state() {
    for scheme in [Scheme::Euler, Scheme::ImplicitFast, Scheme::Implicit, Scheme::Refined] {
        for height in [-5.0, -0.5] {
            let mut builder = point_on_ball(0.0);
            let plane = Geom::new(BodyId::WORLD, Shape::Plane);
            builder.geom(plane.at(Isometry3::translation(0.0, 0.0, height)));
            let mut simulation = start(builder, scheme);
            let before = simulation.state().clone();
            let error = simulation.step().unwrap_err();
            assert!(matches!(error, StepError::Singular { .. }), "{}: {error}", scheme.name());
            assert!(error.to_string().contains("pendulum"), "{error}");
            assert_eq!(simulation.state(), &before);
        }
    }
}

#[test]
fn armature_makes_a_point_mass_on_a_ball_joint_move() {
    let mut simulation = start(point_on_ball(1e-3), Scheme::Refined);
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    // From rest the pendulum swings about x at m g y/(m l² + armature) at first; it has turned by
    // less than a tenth of its quarter, where the moment changes by less than a twentieth.
    let rate = simulation.state().v[0];
    let expected = -9.81 * 0.3 / (0.25 + 1e-3) * 0.1;
    assert!((rate / expected - 1.0).abs() <= 0.1, "{rate} against {expected}");
}
