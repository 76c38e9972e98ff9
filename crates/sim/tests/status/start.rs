//! Starts that violate constraints.

use crate::*;
use stiction_geom::Shape;
use stiction_mech::{Limit, SoftLaw};
use stiction_sim::constraint::{Equality, Weld};
use stiction_sim::{Geom, Resistance, Snapshot, StartErrors, StartLaw, Surface};

/// Error at which a constraint is exact again [m, rad].
const RESOLVED: f64 = 1e-3;
const H: f64 = 2e-3;

fn simulation(builder: WorldBuilder, start: StartLaw) -> Simulation {
    let mut settings = Settings { time_step: H, scheme: Scheme::Euler, ..Settings::default() };
    (settings.stabilisation.start, settings.tolerance) = (start, 1e-13);
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// A body of one kilogram on a vertical slide with a lower end.
fn on_a_slide(lower: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 0.01).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let limit = Some(Limit { lower, upper: 10.0, margin: 0.0 });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::z() });
    builder.mechanism.joint(body, JointSpec { limit, ..slide });
    builder
}

/// A step of MuJoCo's default law on one kilogram at an error r < 0 with a load g: with R = (1 − d)/d,
/// v⁺ = v* + d (v̂ − v*), where v* = v − h g and v̂ = v − h (b v + k d r). Contacts and limits only push.
fn law_step(r: &mut f64, v: &mut f64, gravity: f64, only_pushes: bool) {
    let law = SoftLaw::default();
    let (d, (k, b)) = (law.impedance_at(*r), law.stiffness_and_damping(H));
    let (free, target) = (*v - H * gravity, *v - H * (b * *v + k * d * *r));
    let change = d * (target - free);
    *v = free + if only_pushes { change.max(0.0) } else { change };
    *r += H * *v;
}

#[test]
fn a_start_beyond_a_limit_returns_by_the_soft_law_and_is_exact_afterwards() {
    let mut builder = on_a_slide(0.5);
    builder.mechanism.gravity(Vector3::zeros());
    let mut simulation = simulation(builder, StartLaw::Soft);
    let (mut r, mut v, mut step) = (-0.5, 0.0, 0);
    while r < -RESOLVED {
        let report = simulation.step().unwrap();
        let expected = if step == 0 { (1, 0.5) } else { (0, 0.0) };
        assert_eq!((report.start_errors.limits, report.start_errors.beyond), expected);
        law_step(&mut r, &mut v, 0.0, true);
        // A handful of operations per step on numbers of order one, and the tolerance of the solver.
        assert!((simulation.state().q[0] - 0.5 - r).abs() <= 1e-11, "step {step}");
        assert!((report.limit_error - r.min(0.0).abs()).abs() <= 1e-11);
        assert_eq!(report.status(), StepStatus::Ok, "step {step}: {}", told(&report));
        step += 1;
    }
    // Critically damped with ω = 1/(0.02 s), r = r₀ (1 + ω t) exp(−ω t), until the speed is largest at ω t = 1: a
    // limit does not brake. The rest, 2 r₀/e at ω r₀/e, takes 2/ω. In all 0.06 s, to the first order of ω h = 0.1.
    assert!((27..=33).contains(&step), "{step}");
    // The rest is removed at once, and the body keeps its speed away from the limit.
    for _ in 0..5 {
        assert_eq!(simulation.step().unwrap().status(), StepStatus::Ok);
    }
    assert!(simulation.state().q[0] >= 0.5 - 1e-5 && (simulation.state().v[0] - v).abs() <= 1e-11);
}

#[test]
fn a_start_in_overlap_returns_by_the_soft_law_under_its_weight() {
    let (radius, gravity) = (0.1, 9.81);
    let smooth = Surface { resistance: Resistance::Nothing, ..Surface::default() };
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(smooth));
    let pose = Isometry3::translation(0.0, 0.0, 0.08);
    common::free(&mut builder, Shape::sphere(radius).unwrap(), 1.0, pose, smooth);
    let mut simulation = simulation(builder, StartLaw::Soft);
    let (mut r, mut v) = (-0.02, 0.0);
    for step in 0..1000 {
        let report = simulation.step().unwrap();
        assert_eq!(report.start_errors.overlaps, usize::from(step == 0));
        assert_eq!(report.status(), StepStatus::Ok, "step {step}: {}", told(&report));
        if r < -RESOLVED {
            law_step(&mut r, &mut v, gravity, true);
            assert!((simulation.state().q[2] - radius - r).abs() <= 1e-11, "step {step}");
        }
    }
    // One kilogram rests 0.4 mm deep in MuJoCo: it came within a millimetre, and is on the ground.
    assert!(r >= -RESOLVED && simulation.report().unwrap().penetration <= 1e-5);
}

#[test]
fn a_start_in_deep_overlap_leaves_at_no_more_than_the_largest_speed_of_corrections() {
    let radius = 0.1;
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane));
    let ball = Shape::sphere(radius).unwrap();
    common::free(&mut builder, ball, 1.0, Isometry3::identity(), Surface::default());
    let mut simulation = simulation(builder, StartLaw::Soft);
    // The law alone would reach ω r₀/e = 1.84 m/s; at 1 m/s the overlap of 0.1 m takes some 60 steps.
    for step in 0..80 {
        let before = simulation.state().q[2];
        assert_eq!(simulation.step().unwrap().status(), StepStatus::Ok, "step {step}");
        let speed = (simulation.state().q[2] - before) / H;
        assert!(
            speed <= 1.0 + 1e-9 && simulation.state().v[2] <= 1.0 + 1e-9,
            "step {step}: {speed}"
        );
    }
    assert!(simulation.state().q[2] >= radius);
}

#[test]
fn an_overlap_that_no_motion_can_part_yields_without_a_fault() {
    // A wheel whose axle is held too low: the normal of the contact passes through the axle.
    let (radius, height, speed) = (0.1, 0.08, 3.0);
    let smooth = Surface { resistance: Resistance::Nothing, ..Surface::default() };
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(smooth));
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 4e-3).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, height);
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), pose, ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    builder.geom(Geom::new(body, Shape::sphere(radius).unwrap()).surface(smooth));
    let mut simulation = simulation(builder, StartLaw::Soft);
    let mut state = simulation.state().clone();
    state.v[0] = speed;
    simulation.set_state(&state).unwrap();
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        assert_eq!(report.status(), StepStatus::Ok, "{}", told(&report));
        assert_eq!(report.contacts, 1);
        // Without friction nothing acts about the axle; round-off of the largest impulse, v/R of the law, at most 10⁵ N·s.
        assert!((simulation.state().v[0] - speed).abs() <= 1e-10);
    }
}

/// A body that welds hold at places along x [m].
fn welded(places: &[f64]) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 0.01).unwrap();
    let body_b = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body_b, JointSpec::new(JointKind::Free));
    for (k, x) in places.iter().enumerate() {
        let pose = Isometry3::translation(*x, 0.0, 0.0);
        let weld = Weld { body_a: BodyId::WORLD, body_b, pose };
        builder.equality(format!("weld {k}"), Equality::Weld(weld));
    }
    builder
}

#[test]
fn an_open_weld_closes_by_the_soft_law() {
    let mut simulation = simulation(welded(&[0.2]), StartLaw::Soft);
    let (mut r, mut v) = (-0.2, 0.0);
    for step in 0..500 {
        let report = simulation.step().unwrap();
        assert_eq!(report.start_errors.equalities, usize::from(step == 0));
        assert_eq!(report.status(), StepStatus::Ok, "step {step}: {}", told(&report));
        if r < -RESOLVED {
            law_step(&mut r, &mut v, 0.0, false);
            assert!((simulation.state().q[0] - 0.2 - r).abs() <= 1e-11, "step {step}");
        }
    }
    assert!(r >= -RESOLVED && simulation.report().unwrap().equality_error <= 1e-9);
}

#[test]
fn welds_that_contradict_one_another_yield_evenly_and_are_not_ok() {
    let mut simulation = simulation(welded(&[-0.05, 0.2]), StartLaw::Soft);
    for step in 0..1000 {
        let report = simulation.step().unwrap();
        assert_eq!(report.start_errors.equalities, if step == 0 { 2 } else { 0 });
        // At best their errors are their distance in sum, as they are at the start.
        assert_eq!(report.status(), StepStatus::CorrectionNotDone, "step {step}");
    }
    // Equal springs: the middle, a hundred time constants later.
    assert!((simulation.state().q[0] - 0.075).abs() <= 1e-9);
    assert!((simulation.report().unwrap().equality_error - 0.125).abs() <= 1e-9);
}

#[test]
fn displacements_are_reported_at_the_first_step_and_after_a_new_state() {
    let mut simulation = simulation(on_a_slide(0.25), StartLaw::Displace);
    let found = StartErrors { limits: 1, beyond: 0.25, ..StartErrors::default() };
    assert_eq!(simulation.step().unwrap().start_errors, found);
    assert!(simulation.step().unwrap().start_errors.is_empty());
    simulation.state_mut().q[0] = 0.0;
    let report = simulation.step().unwrap();
    assert_eq!(report.start_errors, found);
    assert!(report.to_string().contains("at the start 1 limits are exceeded by up to 2.50e-1"));
}

#[test]
fn a_snapshot_while_constraints_yield_continues_with_the_same_bits() {
    for builder in [on_a_slide(0.5), welded(&[-0.05, 0.2])] {
        let mut first = simulation(builder.clone(), StartLaw::Soft);
        let mut second = simulation(builder, StartLaw::Soft);
        for steps in [0, 7] {
            for _ in 0..steps {
                let _ = first.step().unwrap();
            }
            let bytes = first.snapshot().to_bytes();
            second.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
            for _ in 0..20 {
                assert_eq!(first.step().unwrap().start_errors, second.step().unwrap().start_errors);
                assert_eq!(first.state(), second.state());
            }
        }
    }
}
