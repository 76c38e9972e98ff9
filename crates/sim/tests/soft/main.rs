//! Soft bodies in the step: flight, rest, friction, impact, attachment, every solver.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod mechanics;
mod robustness;

use common::{block, free, on_ground, soft_centre, soft_momentum, soft_spin, start};
use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, Material, SoftId};
use stiction_sim::{
    Geom, Scheme, Settings, Simulation, SoftObject, StepError, Surface, World, WorldBuilder,
    state_hash,
};

const GRAVITY: f64 = 9.81;

fn simulation(builder: WorldBuilder, time_step: f64, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step, scheme, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// A soft cube of 10 cm, its centre at a height.
fn cube_at(height: f64, friction: f64) -> SoftObject {
    let spec = block(Vector3::repeat(0.1), [2; 3], Vector3::new(0.0, 0.0, height));
    SoftObject::new(spec).surface(Surface::with_friction(friction))
}

/// An arm on a hinge, in whose plane vertices of a soft block are held.
fn arm_with_block(speed: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(50.0, Vector3::zeros(), Matrix3::identity()).ok();
    let arm = builder.mechanism.body(BodySpec { name: "arm".into(), mass, ..BodySpec::default() });
    builder.mechanism.joint(arm, JointSpec::new(JointKind::Hinge { axis: Vector3::z() }));
    let spec = block(Vector3::repeat(0.1), [2; 3], Vector3::new(0.5, 0.0, 0.0));
    let held: Vec<u32> =
        (0..spec.vertices.len() as u32).filter(|v| spec.vertices[*v as usize].x < 0.4501).collect();
    assert_eq!(held.len(), 9);
    let soft = builder.soft(SoftObject::new(spec));
    builder.attach(soft, &held, arm);
    assert!(speed.is_finite());
    builder
}

/// A soft block on the ground with a rigid plate on top.
fn pressed(cells: [usize; 3], friction: f64) -> WorldBuilder {
    let mut builder = on_ground(friction);
    let spec = block(Vector3::new(0.1, 0.1, 0.1), cells, Vector3::new(0.0, 0.0, 0.0501));
    builder.soft(SoftObject::new(spec).surface(Surface::with_friction(friction)));
    let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.1315);
    free(&mut builder, shape, 2.0, pose, Surface::with_friction(friction));
    builder
}

/// A block between a smooth ground and a smooth plate that is pushed down with a force [N].
fn pressed_smoothly(solver: &str, held: [bool; 3], force: f64) -> Simulation {
    let mut builder = on_ground(0.0);
    builder.mechanism.gravity(Vector3::zeros());
    let mut spec = block(Vector3::new(0.1, 0.1, 0.1), [2; 3], Vector3::new(0.0, 0.0, 0.05));
    spec.material = Material::Linear { young: 1e5, poisson: 0.4 };
    spec.fixed_axes = (0..spec.vertices.len() as u32).map(|vertex| (vertex, held)).collect();
    builder.soft(SoftObject::new(spec).surface(Surface::with_friction(0.0)));
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).ok();
    let pose = Isometry3::translation(0.0, 0.0, 0.11);
    let plate = builder.mechanism.body(BodySpec { pose, mass, ..BodySpec::default() });
    builder.mechanism.joint(plate, JointSpec::new(JointKind::Slide { axis: Vector3::z() }));
    let shape = Shape::cuboid(Vector3::new(0.1, 0.1, 0.01)).unwrap();
    builder.geom(Geom::new(plate, shape).surface(Surface::with_friction(0.0)));
    let (solver, scheme) = (solver.to_owned(), Scheme::Implicit);
    let settings = Settings { time_step: 0.02, scheme, solver, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.input_mut().wrench[plate.0][5] = -force;
    for _ in 0..200 {
        assert!(simulation.step().unwrap().converged());
    }
    simulation
}
