//! Cables in motion and at rest, against the theory of rods, strings and belts.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod interaction;
mod mechanics;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3, Vector6};
use std::f64::consts::PI;
use stiction_geom::Shape;
use stiction_mech::{
    BodyId, BodySpec, JointKind, JointSpec, MassProperties, RodRest, centre_of_mass, momentum,
};
use stiction_sim::{
    Base, CableCourse, CableEnd, CableSpec, Geom, SCHEMES, Scheme, SchemeEntry, Settings,
    Simulation, Sleep, Snapshot, Surface, World, WorldBuilder, WorldError,
};

const YOUNG: f64 = 2.954e6;
const POISSON: f64 = 0.49;
const RADIUS: f64 = 5e-3;
const LENGTH: f64 = 0.5;
const GRAVITY: f64 = 9.81;

fn bending_stiffness(spec: &CableSpec) -> f64 {
    spec.young * PI * spec.radius.powi(4) / 4.0
}

/// A straight cable along z, its first end at the origin of the world and held there.
fn cantilever(segments: usize) -> CableSpec {
    CableSpec {
        name: "cable".to_owned(),
        course: CableCourse::Straight { pose: Isometry3::identity(), length: LENGTH },
        segments,
        radius: RADIUS,
        young: YOUNG,
        poisson: POISSON,
        damping: 0.0,
        ends: [CableEnd::Held(BodyId::WORLD), CableEnd::Free],
        ..CableSpec::default()
    }
}

fn weightless() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder
}

fn start(builder: WorldBuilder, time_step: f64, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step, scheme, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// The end of the last segment.
fn tip(simulation: &mut Simulation) -> Isometry3<f64> {
    let cable = &simulation.world().cables()[0];
    let (last, half) = (cable.bodies[cable.bodies.len() - 1].0, 0.5 * cable.segment_length);
    simulation.body_pose(last) * Translation3::new(0.0, 0.0, half)
}

/// Where a cable comes to rest under a force and a torque at its second end. In steps so long that
/// inertia is nothing against stiffness, every step is one of Newton's method. The load grows over the
/// first of them.
fn rest_under(spec: CableSpec, force: Vector3<f64>, torque: Vector3<f64>) -> Isometry3<f64> {
    let (h, n) = (10.0, spec.segments);
    let mut builder = weightless();
    builder.cable(spec);
    let mut simulation = start(builder, h, Scheme::Symplectic);
    let last = simulation.world().cables()[0].bodies[n - 1].0;
    for k in 0..200 {
        let share = (0.04 * f64::from(k + 1)).min(1.0);
        let lever =
            tip(&mut simulation).translation.vector - simulation.body_pose(last).translation.vector;
        let (force, torque) = (share * force, share * torque);
        let moment = torque + lever.cross(&force);
        simulation.input_mut().wrench[last] =
            Vector6::new(moment.x, moment.y, moment.z, force.x, force.y, force.z);
        let _ = simulation.step().unwrap();
        let largest = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if h * largest < 1e-13 {
            return tip(&mut simulation);
        }
    }
    panic!("no rest");
}

/// A cable that flies, bent and turning.
fn thrown(segments: usize, scheme: Scheme, time_step: f64) -> Simulation {
    let points: Vec<Vector3<f64>> = (0..=40)
        .map(|k| 0.02 * f64::from(k))
        .map(|t| Vector3::new(0.2 * (3.0 * t).cos(), 0.2 * (3.0 * t).sin(), 0.3 * t))
        .collect();
    let mut builder = weightless();
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments,
        radius: RADIUS,
        young: YOUNG,
        damping: 0.0,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, time_step, scheme);
    for (k, v) in simulation.state_mut().v.chunks_exact_mut(6).enumerate() {
        v[..3].copy_from_slice(&[0.3, 0.2 * f64::from(k as u32) / segments as f64, -0.1]);
    }
    simulation
}

/// How far a cable over a cylinder slides in a quarter of a second, once it is pulled at its ends by one
/// newton and by `ratio` times that and has had half a second to settle.
fn slide_over_cylinder(friction: f64, ratio: f64) -> f64 {
    let (drum, radius, n) = (0.1, 2e-3, 80);
    let around = drum + radius;
    let mut points = vec![Vector3::new(around, 0.0, -0.1)];
    points.extend(
        (0..=60)
            .map(|k| PI * f64::from(k) / 60.0)
            .map(|t| Vector3::new(around * t.cos(), 0.0, around * t.sin())),
    );
    points.push(Vector3::new(-around, 0.0, -0.1));
    let mut builder = weightless();
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.5 * PI);
    let surface = Surface::with_friction(friction);
    builder.geom(
        Geom::new(BodyId::WORLD, Shape::cylinder(drum, 0.05).unwrap())
            .surface(surface)
            .at(Isometry3::from_parts(Translation3::identity(), lying)),
    );
    builder.cable(CableSpec {
        course: CableCourse::Path(points),
        segments: n,
        radius,
        surface,
        mass_damping: 5.0,
        ..CableSpec::default()
    });
    let mut simulation = start(builder, 2e-3, Scheme::Refined);
    let bodies: Vec<usize> = simulation.world().cables()[0].bodies.iter().map(|b| b.0).collect();
    let (first, last) = (bodies[0], bodies[n - 1]);
    let middle = bodies[n / 2];
    // Tension is raised on both sides until contact is settled, then on one.
    for k in 0..150 {
        let pull = f64::from(k + 1) / 150.0;
        simulation.input_mut().wrench[first][5] = -pull;
        simulation.input_mut().wrench[last][5] = -pull;
        let _ = simulation.step().unwrap();
    }
    for k in 0..150 {
        simulation.input_mut().wrench[last][5] = -1.0 - (ratio - 1.0) * f64::from(k + 1) / 150.0;
        let _ = simulation.step().unwrap();
    }
    for _ in 0..250 {
        let _ = simulation.step().unwrap();
    }
    let before = simulation.body_pose(middle).translation.vector;
    for _ in 0..125 {
        let _ = simulation.step().unwrap();
    }
    (simulation.body_pose(middle).translation.vector - before).norm()
}
