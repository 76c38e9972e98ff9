//! Contact patches of compliant shapes: depth at rest, impacts, spinning, trees, every solver, bad input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{
    Compliance, ContactPatch, Geom, Settings, Simulation, Snapshot, StepStatus, Surface,
    WorldBuilder,
};
use stiction_solve::solver::SOLVERS;

const GRAVITY: f64 = 9.81;

fn yielding(modulus: f64, dissipation: f64, thickness: Option<f64>) -> Surface {
    let compliance = Compliance { dissipation, thickness, ..Compliance::with_modulus(modulus) };
    Surface { compliance: Some(compliance), ..Surface::with_friction(0.5) }
}

/// A floor with the pressure `modulus` · depth/`thickness`.
fn floor(modulus: f64, dissipation: f64, thickness: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let surface = yielding(modulus, dissipation, Some(thickness));
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
    builder
}

fn start(builder: WorldBuilder, solver: &str, time_step: f64) -> Simulation {
    let solver = solver.to_owned();
    let settings = Settings { time_step, solver, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

#[test]
fn a_block_rests_at_the_depth_at_which_the_pressure_carries_its_weight_with_every_solver() {
    let (modulus, thickness, half, mass) = (1e5, 0.1, Vector3::new(0.1, 0.05, 0.05), 2.0);
    let area = 4.0 * half.x * half.y;
    let depth = mass * GRAVITY * thickness / (modulus * area);
    for entry in SOLVERS {
        let mut builder = floor(modulus, 0.2, thickness);
        let shape = Shape::cuboid(half).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, half.z - 0.5 * depth);
        // With friction the sides of the block would carry a part of its weight.
        common::free(&mut builder, shape, mass, pose, Surface::with_friction(0.0));
        let mut simulation = start(builder, entry.name, 0.005);
        for _ in 0..400 {
            let _ = simulation.step().unwrap();
        }
        let found = half.z - simulation.state().q[2];
        // The motion is overdamped, c = k τ_d: what is left of it after 2 s is exp(−2 s/τ_d) = 5e-5, and the velocities of the
        // solvers have errors of 1e-6 of the fastest.
        assert!((found - depth).abs() <= 1e-3 * depth, "{}: {found} {depth}", entry.name);
        let patches = ContactPatch::all_of(simulation.contacts());
        assert_eq!(patches.len(), 1, "{}", entry.name);
        let weight = mass * GRAVITY;
        let error = (patches[0].force - Vector3::new(0.0, 0.0, weight)).norm();
        assert!(error <= 2e-3 * weight, "{}: {:?}", entry.name, patches[0].force);
        assert!(patches[0].area >= area, "{}", entry.name);
        assert!(patches[0].centre.xy().norm() <= 1e-3 * half.x, "{}", entry.name);
    }
}

#[test]
fn a_ball_bounces_on_a_compliant_floor_without_dissipation_in_steps_that_are_ok() {
    let (modulus, thickness, radius, mass, drop) = (2e5, 0.1, 0.05, 0.5, 0.1);
    let bounce = |h: f64| {
        let mut builder = floor(modulus, 0.0, thickness);
        let pose = Isometry3::translation(0.0, 0.0, radius + drop);
        let shape = Shape::sphere(radius).unwrap();
        // With friction the slopes of the ball would slide along the floor.
        common::free(&mut builder, shape, mass, pose, Surface::with_friction(0.0));
        let mut simulation = start(builder, "auto", h);
        let (mut highest, mut has_touched) = (0.0_f64, false);
        while simulation.state().time < 0.4 {
            let report = simulation.step().unwrap();
            assert_eq!(report.status(), StepStatus::Ok, "h = {h}, t = {}", simulation.state().time);
            has_touched |= report.contacts > 0;
            if has_touched && simulation.state().v[2] <= 0.0 && report.contacts == 0 {
                highest = highest.max(simulation.state().q[2] - radius);
            }
        }
        1.0 - highest / drop
    };
    // Pressures are implicit: half a period π/ω of an oscillation keeps exp(−π ω h) of its energy. ω is at most √(k/m) with
    // k = E/L · 2 π R δ; δ is below 2 cm, where E/L · π R δ³/3 is 0.8 J.
    let (coarse, fine) = (bounce(5e-4), bounce(1e-4));
    let omega = (modulus / thickness * 2.0 * std::f64::consts::PI * radius * 0.02 / mass).sqrt();
    assert!(coarse > 0.0 && coarse <= std::f64::consts::PI * omega * 5e-4, "{coarse}");
    assert!(fine > 0.0 && fine <= std::f64::consts::PI * omega * 1e-4, "{fine}");
    assert!(fine <= 0.5 * coarse, "{coarse} {fine}");
}

#[test]
fn a_flat_disc_stops_spinning_under_two_thirds_of_the_moment_at_its_rim() {
    let (radius, half_length, mass, mu, h) = (0.1, 0.02, 1.0, 0.5, 1e-3);
    let mut builder = floor(1e6, 0.1, 0.05);
    let depth = mass * GRAVITY * 0.05 / (1e6 * std::f64::consts::PI * radius * radius);
    let shape = Shape::cylinder(radius, half_length).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, half_length - depth);
    common::free(&mut builder, shape, mass, pose, Surface::with_friction(mu));
    let mut simulation = start(builder, "alm", h);
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    let spin = 5.0;
    simulation.state_mut().v[5] = spin;
    let steps = 50;
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
    let inertia = 0.5 * mass * radius * radius;
    let rate = 2.0 / 3.0 * mu * mass * GRAVITY * radius / inertia;
    let found = (spin - simulation.state().v[5]) / (f64::from(steps) * h);
    // The torque of a fan of n triangles is 2/3 μ N r cos(π/n).
    assert!((found - rate).abs() <= 0.02 * rate, "{found} {rate}");
}

#[test]
fn an_arm_leans_on_a_patch_with_the_force_of_its_moment() {
    let (length, radius, mass) = (0.5, 0.04, 1.5);
    let mut builder = floor(1e5, 0.3, 0.1);
    let spec = BodySpec {
        pose: Isometry3::translation(0.0, 0.0, radius),
        mass: MassProperties::new(mass, Vector3::new(0.3, 0.0, 0.0), Matrix3::identity() * 0.01)
            .ok(),
        ..BodySpec::default()
    };
    let arm = builder.mechanism.body(spec);
    builder.mechanism.joint(arm, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    let tip = Geom::new(arm, Shape::sphere(radius).unwrap())
        .at(Isometry3::translation(length, 0.0, 0.0))
        .surface(yielding(1e5, 0.1, None));
    builder.geom(tip);
    let mut simulation = start(builder, "auto", 0.002);
    for _ in 0..1500 {
        let _ = simulation.step().unwrap();
    }
    let patch = ContactPatch::all_of(simulation.contacts())[0];
    let angle = simulation.state().q[0];
    let weight_moment = mass * GRAVITY * 0.3 * angle.cos();
    let arm = patch.centre - Vector3::new(0.0, 0.0, radius);
    let moment = arm.cross(&patch.force).y + patch.moment.y;
    // At rest to the tolerance of the solver; weight pulls about +y.
    assert!((moment + weight_moment).abs() <= 1e-3 * weight_moment, "{moment} {weight_moment}");
}

#[test]
fn a_run_from_a_snapshot_in_a_patch_has_the_same_bits() {
    let mut builder = floor(1e5, 0.1, 0.1);
    for k in 0..3 {
        let pose = Isometry3::translation(0.01 * f64::from(k), 0.0, 0.05 + 0.11 * f64::from(k));
        let shape = Shape::sphere(0.05).unwrap();
        common::free(&mut builder, shape, 0.5, pose, yielding(1e5, 0.05, None));
    }
    let mut simulation = start(builder, "auto", 0.002);
    for _ in 0..60 {
        let _ = simulation.step().unwrap();
    }
    let bytes = simulation.snapshot().to_bytes();
    for _ in 0..40 {
        let _ = simulation.step().unwrap();
    }
    let ahead = simulation.state().clone();
    assert!(simulation.contacts().iter().any(|contact| contact.area > 0.0));
    simulation.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    for _ in 0..40 {
        let _ = simulation.step().unwrap();
    }
    assert_eq!(simulation.state().q, ahead.q);
    assert_eq!(simulation.state().v, ahead.v);
}

#[test]
fn bad_compliances_are_errors_that_name_the_shape() {
    let open = {
        let (vertices, triangles) = stiction_geom::shape::generate::grid((0.2, 0.2), (2, 2));
        Shape::mesh(&vertices, &triangles).unwrap()
    };
    let ball = || Shape::sphere(0.05).unwrap();
    let good = yielding(1e5, 0.1, None);
    for (shape, surface, expected) in [
        (ball(), yielding(0.0, 0.1, None), "modulus = 0"),
        (ball(), yielding(f64::INFINITY, 0.1, None), "modulus = inf"),
        (ball(), yielding(1e5, -0.1, None), "dissipation"),
        (ball(), yielding(1e5, 0.1, Some(0.0)), "thickness"),
        (open.clone(), good, "closed mesh"),
        (open, Surface::default(), "closed mesh"),
    ] {
        let mut builder = floor(1e5, 0.1, 0.1);
        let pose = Isometry3::translation(0.0, 0.0, 0.5);
        let spec = BodySpec {
            pose,
            mass: MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).ok(),
            ..BodySpec::default()
        };
        let body = builder.mechanism.body(spec);
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, shape).named("pad").surface(surface));
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("pad") && error.contains(expected), "{error}");
    }
}

#[test]
fn moduli_without_a_pressure_on_both_sides_are_refused() {
    for modulus in [0.0, f64::INFINITY, f64::NAN] {
        let mut builder = floor(modulus, 0.1, 0.1);
        let shape = Shape::sphere(0.05).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, 0.04);
        common::free(&mut builder, shape, 1.0, pose, yielding(modulus, 0.1, None));
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("modulus") && error.contains("> 0"), "{error}");
    }
}

#[test]
fn a_patch_that_forms_or_vanishes_within_a_step_is_flagged() {
    for speed in [1.0, 400.0] {
        let mut builder = floor(1e6, 0.0, 0.1);
        let radius = 0.02;
        let pose = Isometry3::translation(0.0, 0.0, 1.1 * radius);
        common::free(&mut builder, Shape::sphere(radius).unwrap(), 0.1, pose, Surface::default());
        let mut simulation = start(builder, "auto", 1e-3);
        simulation.state_mut().v[2] = -speed;
        let mut flags = 0;
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            flags += usize::from(report.status() == StepStatus::MotionNotResolved);
        }
        // An eighth of a step at 400 m/s is 5 cm, more than the ball is wide.
        assert_eq!(flags > 0, speed > 100.0, "{speed}: {flags}");
    }
}
