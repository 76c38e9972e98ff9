//! Small worlds for tests.

#![allow(dead_code)]

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, Settings, Simulation, Surface, WorldBuilder};

/// A world with a ground of friction μ.
pub fn on_ground(friction: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(friction);
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
    builder
}

/// Adds a free homogeneous body.
pub fn free(
    builder: &mut WorldBuilder,
    shape: Shape,
    mass: f64,
    pose: Isometry3<f64>,
    surface: Surface,
) -> BodyId {
    let (unit, com, inertia) = shape.mass_properties(1.0);
    let mass = MassProperties::new(mass, com, inertia * (mass / unit)).unwrap();
    let body = builder.mechanism.body(BodySpec { pose, mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    builder.geom(Geom::new(body, shape).surface(surface));
    body
}

/// A cube of half side `half` [m] and one kilogram, at a height.
pub fn cube(builder: &mut WorldBuilder, half: f64, x: f64, z: f64, friction: f64) -> BodyId {
    let shape = Shape::cuboid(Vector3::repeat(half)).unwrap();
    let surface = Surface::with_friction(friction);
    free(builder, shape, 1.0, Isometry3::translation(x, 0.0, z), surface)
}

/// A simulation with default settings and this time step [s].
pub fn start(builder: WorldBuilder, time_step: f64) -> Simulation {
    let settings = Settings { time_step, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}
