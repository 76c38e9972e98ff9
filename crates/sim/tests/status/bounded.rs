//! Motions that must stay within bounds: corrections, clearances, and energy over many steps.

use crate::*;
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_mech::{JointId, MassProperties};
use stiction_sim::constraint::{Equality, Weld};
use stiction_sim::{Geom, Surface};

#[test]
fn a_hinge_in_overlap_across_its_arm_turns_by_no_more_than_the_correction_allows() {
    // A ball on an arm of 0.2 m, 0.15 m deep in a fixed one straight ahead: the hinge can hardly help.
    let mut builder = WorldBuilder::new();
    let ball = Shape::sphere(0.1).unwrap();
    let at = |x: f64, z: f64| Isometry3::translation(x, 0.0, z);
    builder.geom(Geom::new(BodyId::WORLD, ball.clone()).at(at(0.25, 1e-5)));
    let inertia = Matrix3::identity() * 0.004;
    let mass = MassProperties::new(1.0, Vector3::x() * 0.2, inertia).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    builder.geom(Geom::new(body, ball).at(at(0.2, 0.0)));
    let h = 2e-3;
    let mut simulation = common::start(builder, h);
    for step in 0..20 {
        let before = simulation.state().q[0];
        let report = simulation.step().unwrap();
        let (after, v) = (simulation.state().q[0], simulation.state().v[0]);
        // The farthest point, 0.3 m from the axis, moves by at most h (1 m/s + its speed) beside the
        // motion, and the hinge by h v in the motion.
        let allowed = h * (1.0 + 0.3 * v.abs()) / 0.3 + h * v.abs() + 1e-9;
        let turned = (after - before).abs();
        assert!(turned <= allowed, "step {step}: {turned} of {allowed}, {}", told(&report));
    }
}

#[test]
fn a_ball_leaves_the_ground_at_no_more_than_the_largest_speed_of_corrections() {
    let mut builder = common::on_ground(0.5);
    builder.mechanism.gravity(Vector3::zeros());
    let ball = Shape::sphere(0.1).unwrap();
    common::free(&mut builder, ball, 1.0, Isometry3::identity(), Surface::default());
    let h = 2e-3;
    let mut simulation = common::start(builder, h);
    for _ in 0..60 {
        let before = simulation.state().q[2];
        let report = simulation.step().unwrap();
        let speed = (simulation.state().q[2] - before) / h;
        // max-speed is 1 m/s; round-off of a few operations.
        assert!(speed <= 1.0 + 1e-9, "{speed}");
        assert_eq!(report.status(), StepStatus::Ok, "{}", told(&report));
        assert_eq!(simulation.state().v[2], 0.0);
    }
    assert!(simulation.report().unwrap().penetration <= 1e-4);
}

#[test]
fn a_plate_that_is_clear_of_a_torus_moves_with_its_velocity_alone() {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let (vertices, triangles) = generate::torus(0.1, 0.02, 32, 16);
    builder.geom(Geom::new(BodyId::WORLD, Shape::mesh(&vertices, &triangles).unwrap()));
    let plate = Shape::cuboid(Vector3::new(0.15, 0.15, 0.01)).unwrap();
    let at = Isometry3::identity();
    common::free(&mut builder, plate, 1.0, at, Surface::default());
    let h = 2e-3;
    let mut simulation = common::start(builder, h);
    let mut state = simulation.state().clone();
    let q = [
        -0.002_881_169_492_483_237_6,
        0.097_102_420_155_718_96,
        0.090_772_564_262_740_83,
        0.161_858_763_343_574_7,
        0.893_020_408_875_971_2,
        -0.289_092_071_440_469_7,
        0.304_535_817_745_860_7,
    ];
    let v = [-0.281_982, -0.367_385, -0.068_342_7];
    state.q.copy_from_slice(&q);
    state.v[..3].copy_from_slice(&v);
    simulation.set_state(&state).unwrap();
    let report = simulation.step().unwrap();
    assert_eq!(report.penetration, 0.0, "{}", told(&report));
    for k in 0..3 {
        // The sum of numbers of this size.
        assert!((simulation.state().q[k] - q[k] - h * v[k]).abs() <= 1e-12);
        assert_eq!(simulation.state().v[k], v[k]);
    }
}

#[test]
fn welds_that_hold_a_body_in_two_orientations_are_never_ok() {
    let mut builder = WorldBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 0.01).unwrap();
    let body_b = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body_b, JointSpec::new(JointKind::Free));
    for (name, angle) in [("here", 0.0), ("turned", 0.5)] {
        let pose = Isometry3::rotation(Vector3::z() * angle);
        let weld = Weld { body_a: BodyId::WORLD, body_b, pose };
        builder.equality(name, Equality::Weld(weld));
    }
    let mut simulation = common::start(builder, 1e-3);
    for step in 0..300 {
        let report = simulation.step().unwrap();
        // At best each is half of their angle away.
        assert!(report.equality_error >= 0.25 - 1e-6);
        let fault = StepStatus::CorrectionNotDone;
        assert!(report.flags().contains(fault), "step {step}: {}", told(&report));
    }
}

#[test]
fn a_scheme_whose_energy_grows_a_little_in_every_step_is_found_before_it_has_doubled() {
    // Explicit Euler multiplies the energy of an oscillator by 1 + (ω h)² in every step; ω h = 0.07.
    let (k, m, h) = (200.0, 2.0, 7e-3);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(m, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    let joint: JointId = builder.mechanism.joint(body, JointSpec { stiffness: k, ..slide });
    assert_eq!(joint, JointId(0));
    let settings = Settings { scheme: Scheme::Explicit, time_step: h, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.state_mut().v[0] = 1.0;
    let energy = |simulation: &Simulation| {
        let state = simulation.state();
        0.5 * m * state.v[0].powi(2) + 0.5 * k * state.q[0].powi(2)
    };
    let (start, mut flagged, mut single) = (energy(&simulation), 0, 0);
    while energy(&simulation) < 2.0 * start {
        let report = simulation.step().unwrap();
        flagged += usize::from(report.status() != StepStatus::Ok);
        single += usize::from(report.energy.imbalance > 1.0);
    }
    // No step is wrong by itself: what it gains is within what one may.
    assert_eq!(single, 0);
    assert!(flagged > 0);
}
