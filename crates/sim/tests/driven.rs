//! Bodies whose poses are inputs: what touches them or hangs on them follows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::free;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, ModelError};
use stiction_sim::constraint::{Connect, Equality, Weld};
use stiction_sim::record::Recorder;
use stiction_sim::{
    Base, Geom, Scheme, Settings, Simulation, StepStatus, Surface, WorldBuilder, state_hash,
};

/// Time step [s] and gravity [m/s²].
const H: f64 = 2e-3;
const G: f64 = 9.81;

/// A driven plate whose upper side is at z = 0.
fn with_plate(friction: f64) -> (WorldBuilder, BodyId) {
    let mut builder = WorldBuilder::new();
    let pose = Isometry3::translation(0.0, 0.0, -0.1);
    let plate = builder.mechanism.body(BodySpec { driven: true, pose, ..BodySpec::default() });
    let shape = Shape::cuboid(Vector3::new(5.0, 5.0, 0.1)).unwrap();
    builder.geom(Geom::new(plate, shape).surface(Surface::with_friction(friction)));
    (builder, plate)
}

fn start(builder: WorldBuilder, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step: H, tolerance: 1e-9, scheme, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

fn step(simulation: &mut Simulation, pose: Isometry3<f64>) {
    simulation.input_mut().driven_pose[0] = pose;
    let report = simulation.step().unwrap();
    assert!(report.converged(), "{report:?}");
}

#[test]
fn a_moving_plate_drags_what_lies_on_it_until_it_moves_along() {
    let (mu, speed) = (0.3, 1.0);
    for scheme in [Scheme::Euler, Scheme::Refined] {
        let (mut builder, plate) = with_plate(mu);
        let half = 0.05;
        let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
        let at = Isometry3::translation(0.0, 0.0, half);
        free(&mut builder, shape, 1.0, at, Surface::with_friction(mu));
        let mut simulation = start(builder, scheme);
        let pose = |k: usize| Isometry3::translation(speed * H * k as f64, 0.0, -0.1);
        let steps = 100;
        for k in 1..=steps {
            step(&mut simulation, pose(k));
            assert_eq!(simulation.body_pose(plate.0), pose(k));
        }
        let expected = mu * G * H * steps as f64;
        let found = simulation.state().v[0];
        assert!((found - expected).abs() <= 1e-5, "{}: {found} against {expected}", scheme.name());
        let slip = simulation.contacts()[0].velocity.x;
        assert!((slip.abs() - (speed - expected)).abs() <= 1e-5, "{slip}");
        for k in steps + 1..=300 {
            step(&mut simulation, pose(k));
        }
        // It sticks, to the tolerance of the solver.
        assert!((simulation.state().v[0] - speed).abs() <= 1e-6, "{:?}", simulation.state().v);
    }
}

#[test]
fn a_lift_carries_what_stands_on_it() {
    let (mut builder, _) = with_plate(0.5);
    let half = 0.05;
    let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
    free(&mut builder, shape, 1.0, Isometry3::translation(0.0, 0.0, half), Surface::default());
    let mut simulation = start(builder, Scheme::Refined);
    let speed = 0.5;
    for k in 1..=200 {
        step(&mut simulation, Isometry3::translation(0.0, 0.0, -0.1 + speed * H * f64::from(k)));
    }
    let (q, v) = (&simulation.state().q, &simulation.state().v);
    assert!((v[2] - speed).abs() <= 1e-6, "{v:?}");
    // Penetration of the slop is left alone.
    let slop = simulation.settings().stabilisation.slop;
    assert!((q[2] - half - speed * H * 200.0).abs() <= 2.0 * slop, "{q:?}");
    // The plate stops, and the box flies on.
    step(&mut simulation, Isometry3::translation(0.0, 0.0, -0.1 + speed * H * 200.0));
    assert!((simulation.state().v[2] - (speed - G * H)).abs() <= 1e-6);
}

#[test]
fn bodies_welded_to_a_driven_body_follow_it() {
    for (scheme, welded) in
        [(Scheme::Refined, true), (Scheme::Implicit, true), (Scheme::Euler, false)]
    {
        let mut builder = WorldBuilder::new();
        let hand = builder.mechanism.body(BodySpec { driven: true, ..BodySpec::default() });
        // Something carried by the driven body, which then carries the other.
        let offset = Isometry3::translation(0.1, 0.0, 0.0);
        let grip =
            builder.mechanism.body(BodySpec { parent: hand, pose: offset, ..BodySpec::default() });
        let shape = Shape::cuboid(Vector3::new(0.1, 0.05, 0.02)).unwrap();
        let held = free(&mut builder, shape, 0.5, offset, Surface::default());
        let (point_a, point_b) = (Vector3::zeros(), Vector3::zeros());
        builder.equality(
            "grip",
            if welded {
                let pose = Isometry3::identity();
                Equality::Weld(Weld { body_a: grip, body_b: held, pose })
            } else {
                Equality::Connect(Connect { body_a: grip, point_a, body_b: held, point_b })
            },
        );
        let mut simulation = start(builder, scheme);
        let pose = |k: usize| {
            let t = H * k as f64;
            let place = Vector3::new(0.3 * t.sin(), 0.2 * (2.0 * t).sin(), 0.1 * t);
            let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.2, -0.4, 1.0) * t);
            Isometry3::from_parts(place.into(), turn)
        };
        for k in 1..=200 {
            step(&mut simulation, pose(k));
        }
        let (wanted, before) = (pose(200) * offset, pose(199) * offset);
        let found = simulation.body_pose(held.0);
        let closure = simulation.settings().stabilisation.closure;
        let apart = (found.translation.vector - wanted.translation.vector).norm();
        assert!(apart <= 2.0 * closure, "{}: {apart}", scheme.name());
        // The velocity is that of the chord of the last step, up to what turning adds to it.
        let chord = (wanted.translation.vector - before.translation.vector) / H;
        let v = &simulation.state().v;
        let error = (Vector3::new(v[0], v[1], v[2]) - chord).norm();
        assert!(error <= 10.0 * H * H, "{}: {error}", scheme.name());
        if welded {
            let turn = found.rotation.angle_to(&wanted.rotation);
            assert!(turn <= 2.0 * closure, "{}: {turn}", scheme.name());
        }
    }
}

#[test]
fn a_jump_by_set_state_gives_no_velocity() {
    let (mut builder, plate) = with_plate(0.5);
    let half = 0.05;
    let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
    free(&mut builder, shape, 1.0, Isometry3::translation(0.0, 0.0, half), Surface::default());
    let mut simulation = start(builder, Scheme::Refined);
    step(&mut simulation, Isometry3::translation(0.0, 0.0, -0.1));
    let there = Isometry3::translation(2.0, 0.0, -0.1);
    simulation.input_mut().driven_pose[0] = there;
    let state = simulation.state().clone();
    simulation.set_state(&state).unwrap();
    step(&mut simulation, there);
    assert_eq!(simulation.body_pose(plate.0), there);
    assert!(simulation.state().v[0].abs() <= 1e-9);
}

#[test]
fn driven_bodies_are_part_of_snapshots() {
    let build = || {
        let (mut builder, _) = with_plate(0.4);
        let shape = Shape::sphere(0.05).unwrap();
        let at = Isometry3::translation(0.0, 0.0, 0.05);
        free(&mut builder, shape, 1.0, at, Surface::with_friction(0.4));
        start(builder, Scheme::Refined)
    };
    let pose = |k: usize| Isometry3::translation((0.01 * k as f64).sin(), 0.0, -0.1);
    let (mut one, mut other) = (build(), build());
    (1..50).for_each(|k| step(&mut one, pose(k)));
    let bytes = one.snapshot().to_bytes();
    other.restore(&stiction_sim::Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    for k in 50..100 {
        step(&mut one, pose(k));
        step(&mut other, pose(k));
    }
    assert_eq!(state_hash(one.state()), state_hash(other.state()));
}

#[test]
fn a_pose_that_is_no_pose_is_refused_and_leaves_everything() {
    let (builder, _) = with_plate(0.4);
    let mut simulation = start(builder, Scheme::Refined);
    simulation.input_mut().driven_pose[0].translation.x = f64::NAN;
    assert!(simulation.step().is_err());
    simulation.input_mut().driven_pose.clear();
    assert!(simulation.step().is_err());
}

#[test]
fn a_driven_body_has_the_world_as_parent_and_no_joints() {
    let driven = BodySpec { driven: true, ..BodySpec::default() };
    let mut builder = stiction_mech::ModelBuilder::new();
    let body = builder.body(driven.clone());
    builder.joint(body, JointSpec::new(JointKind::Free));
    assert!(matches!(builder.build(), Err(ModelError::Driven { body: 1, .. })));
    let mut builder = stiction_mech::ModelBuilder::new();
    let parent = builder.body(BodySpec::default());
    builder.body(BodySpec { parent, ..driven });
    assert!(matches!(builder.build(), Err(ModelError::Driven { body: 2, .. })));
}

#[test]
fn a_pose_set_at_once_has_no_velocity() {
    let (mut builder, plate) = with_plate(0.5);
    let half = 0.05;
    let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
    free(&mut builder, shape, 1.0, Isometry3::translation(0.0, 0.0, half), Surface::default());
    let mut simulation = start(builder, Scheme::Refined);
    let there = Isometry3::translation(2.0, 0.0, -0.1);
    simulation.input_mut().driven_pose[0] = there;
    assert_eq!(simulation.driven_pose()[0].translation.x, 0.0);
    simulation.reset_driven_pose();
    assert_eq!((simulation.driven_pose()[0], simulation.body_pose(plate.0)), (there, there));
    step(&mut simulation, there);
    assert!(simulation.state().v[0].abs() <= 1e-9, "{:?}", simulation.state().v);
}

#[test]
fn driven_bodies_stay_driven_in_another_world() {
    let (part, _) = with_plate(0.5);
    let part = part.build().unwrap();
    let mut builder = WorldBuilder::new();
    let at = Isometry3::translation(0.0, 0.0, 1.0);
    let placed = builder.add_world(&part, "a/", at, Base::Declared).unwrap();
    builder.add_world(&part, "b/", Isometry3::identity(), Base::Fixed).unwrap();
    let world = builder.clone().build().unwrap();
    let model = world.model();
    assert_eq!(model.driven(), [placed.bodies[1], BodyId(2)]);
    assert_eq!(model.bodies()[1].spec.pose.translation.z, 0.9);
    // Nothing carries what is driven.
    let carrier = builder.mechanism.body(BodySpec::default());
    let refused = builder.add_world(&part, "c/", at, Base::On(carrier)).unwrap_err().to_string();
    assert!(refused.contains("driven"), "{refused}");
}

#[test]
fn a_recording_shows_where_driven_bodies_and_what_they_carry_went() {
    let (mut builder, plate) = with_plate(0.3);
    let pose = Isometry3::translation(0.0, 0.0, 1.0);
    let rider = builder.mechanism.body(BodySpec { parent: plate, pose, ..BodySpec::default() });
    let mut simulation = start(builder, Scheme::Refined);
    let mut recorder = Recorder::new(&simulation, f64::INFINITY).unwrap();
    let turned = Isometry3::new(Vector3::new(0.1, 0.0, 0.0), Vector3::z() * 0.2);
    simulation.input_mut().driven_pose[0] = turned;
    let report = simulation.step().unwrap();
    recorder.observe(&simulation, &report);
    recorder.keep(&simulation);
    let recording = recorder.recording();
    assert_eq!(recording.moving, [plate.0, rider.0]);
    let seen = &recording.frames.position[2..];
    assert_eq!(seen, [[0.1, 0.0, 0.0], [0.1, 0.0, 1.0]]);
}

#[test]
fn a_block_that_a_lift_presses_against_a_ceiling_is_never_ok() {
    // Nothing satisfies both contacts.
    let (mut builder, _) = with_plate(0.5);
    let half = 0.05;
    let ceiling = Shape::cuboid(Vector3::new(5.0, 5.0, 0.1)).unwrap();
    builder.geom(Geom::new(BodyId::WORLD, ceiling).at(Isometry3::translation(
        0.0,
        0.0,
        2.0 * half + 0.1,
    )));
    let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
    free(&mut builder, shape, 1.0, Isometry3::translation(0.0, 0.0, half), Surface::default());
    let mut simulation = start(builder, Scheme::Euler);
    for k in 1..=20 {
        let z = -0.1 + 0.1 * H * f64::from(k);
        simulation.input_mut().driven_pose[0] = Isometry3::translation(0.0, 0.0, z);
        let report = simulation.step().unwrap();
        assert_ne!(report.status(), StepStatus::Ok, "step {k}: {report:?}");
    }
}
