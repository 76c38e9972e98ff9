//! Small worlds for tests.

#![allow(dead_code)]

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Shape, TetMesh};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, Material, SoftSpec};
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

/// A block of rubber: size [m], cells, place of its centre [m].
pub fn block(size: Vector3<f64>, cells: [usize; 3], centre: Vector3<f64>) -> SoftSpec {
    let mesh = TetMesh::cuboid(size, cells).unwrap();
    let material = Material::from_name("linear-corotated", &[1e5, 0.4]).unwrap();
    let vertices = mesh.vertices().iter().map(|x| x + centre).collect();
    SoftSpec {
        name: "block".to_owned(),
        stiffness_damping: 0.01,
        ..SoftSpec::new(vertices, mesh.tetrahedra().to_vec(), material, 1000.0)
    }
}

/// Momentum of all soft bodies [kg·m/s].
pub fn soft_momentum(simulation: &Simulation) -> Vector3<f64> {
    let (model, state) = (simulation.world().model(), simulation.state());
    stiction_mech::soft_momentum(model, &state.x, &state.x_dot, Vector3::zeros()).0
}

/// Angular momentum of all soft bodies about the origin [kg·m²/s].
pub fn soft_spin(simulation: &Simulation) -> Vector3<f64> {
    let (model, state) = (simulation.world().model(), simulation.state());
    stiction_mech::soft_momentum(model, &state.x, &state.x_dot, Vector3::zeros()).1
}

/// Mass [kg] and centre [m] of the first soft body.
pub fn soft_centre(simulation: &Simulation) -> (f64, Vector3<f64>) {
    let (soft, state) = (&simulation.world().model().softs()[0], simulation.state());
    (soft.total_mass(), soft.centre_of_mass(&state.x[soft.nodes.clone()]))
}
