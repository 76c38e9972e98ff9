//! Parts that scenarios are made of: grounds, free bodies, states.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, State};
use stiction_sim::{ContactPoint, Geom, Surface, World, WorldBuilder};

use crate::error::StudyError;

/// A fixed plane through the origin, solid below z = 0.
pub fn ground(builder: &mut WorldBuilder, surface: Surface) {
    let colour = [0.85, 0.85, 0.82];
    let [red, green, blue] = colour;
    let geom = Geom::new(BodyId::WORLD, Shape::Plane).surface(surface).named("ground");
    builder.geom(geom.coloured(red, green, blue));
}

/// A free body of one homogeneous shape with a given mass [kg].
pub fn free_body(
    builder: &mut WorldBuilder,
    name: impl Into<String>,
    shape: Shape,
    mass: f64,
    pose: Isometry3<f64>,
    surface: Surface,
) -> Result<BodyId, StudyError> {
    let body = mass_of(builder, name, &shape, mass, pose)?;
    builder.geom(Geom::new(body, shape).surface(surface));
    Ok(body)
}

/// A free body with the mass properties of a homogeneous shape, but without the shape.
pub fn mass_of(
    builder: &mut WorldBuilder,
    name: impl Into<String>,
    shape: &Shape,
    mass: f64,
    pose: Isometry3<f64>,
) -> Result<BodyId, StudyError> {
    let (unit, com, inertia) = shape.mass_properties(1.0);
    let mass = MassProperties::new(mass, com, inertia * (mass / unit))?;
    let spec = BodySpec { name: name.into(), pose, mass: Some(mass), ..BodySpec::default() };
    let body = builder.mechanism.body(spec);
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    Ok(body)
}

/// Mass properties of a body that is the same in all directions [kg, kg·m²].
pub fn isotropic(mass: f64, com: Vector3<f64>, inertia: f64) -> Result<MassProperties, StudyError> {
    Ok(MassProperties::new(mass, com, Matrix3::identity() * inertia)?)
}

/// The reference state with one body's velocity changed: linear in the world [m/s], angular in
/// the body's frame [rad/s].
pub fn moving(world: &World, body: BodyId, linear: Vector3<f64>, angular: Vector3<f64>) -> State {
    let mut state = State::new(world.model());
    set_velocity(world, &mut state, body, linear, angular);
    state
}

/// Changes the velocity of a free body.
pub fn set_velocity(
    world: &World,
    state: &mut State,
    body: BodyId,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
) {
    let joints = world.model().bodies()[body.0].joints.clone();
    for joint in &world.model().joints()[joints] {
        if joint.spec.kind == JointKind::Free {
            let v = &mut state.v[joint.dofs.clone()];
            v[..3].copy_from_slice(linear.as_slice());
            v[3..].copy_from_slice(angular.as_slice());
        }
    }
}

/// Coordinates of a free body's origin [m].
pub fn position(world: &World, state: &State, body: BodyId) -> Vector3<f64> {
    let joint = &world.model().joints()[world.model().bodies()[body.0].joints.start];
    Vector3::from_column_slice(&state.q[joint.q.start..joint.q.start + 3])
}

/// Velocity of a free body: linear in the world, angular in the body's frame.
pub fn velocity(world: &World, state: &State, body: BodyId) -> (Vector3<f64>, Vector3<f64>) {
    let joint = &world.model().joints()[world.model().bodies()[body.0].joints.start];
    let v = &state.v[joint.dofs.clone()];
    (Vector3::from_column_slice(&v[..3]), Vector3::from_column_slice(&v[3..]))
}

/// Speed of the fastest centre of free bodies with six velocities each, linear first [m/s].
pub fn fastest_centre(v: &[f64]) -> f64 {
    let speed = |v: &[f64]| Vector3::from_column_slice(&v[..3]).norm();
    v.chunks_exact(6).map(speed).fold(0.0, f64::max)
}

/// Largest tangential speed at a contact that carries load [m/s].
pub fn largest_slip(contacts: &[ContactPoint]) -> f64 {
    let loaded = contacts.iter().filter(|c| c.force.dot(&c.normal) > 0.0);
    let slip = |c: &ContactPoint| (c.velocity - c.normal * c.normal.dot(&c.velocity)).norm();
    loaded.map(slip).fold(0.0, f64::max)
}
