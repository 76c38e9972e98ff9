//! Builds a world piece by piece: a pendulum with a motor beside a stack of boxes, and looks at what
//! the contacts carry.
//!
//! Run it with `cargo run --release --example build_world`.

use stiction::geom::Shape;
use stiction::mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, MassProperties, Transmission,
};
use stiction::nalgebra::{Isometry3, Vector3};
use stiction::sim::{Geom, Settings, Simulation, Surface, WorldBuilder};

/// Builds, steps, looks.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).named("ground"));

    // Three boxes on top of one another. A shape computes its mass for a density [kg/m³].
    let shape = Shape::cuboid(Vector3::new(0.1, 0.1, 0.05))?; // half its edges [m]
    let (mass, centre, inertia) = shape.mass_properties(800.0);
    for k in 0..3 {
        let body = builder.mechanism.body(BodySpec {
            name: format!("box-{k}"),
            pose: Isometry3::translation(0.0, 0.0, 0.05 + 0.1 * f64::from(k)),
            mass: Some(MassProperties::new(mass, centre, inertia)?),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, shape.clone()).surface(Surface::with_friction(0.6)));
    }

    // A rod that hangs from a hinge with a motor. The joint's axis and anchor are in the body's frame.
    let rod = Shape::capsule(0.02, 0.2)?;
    let (rod_mass, centre, inertia) = rod.mass_properties(800.0);
    let body = builder.mechanism.body(BodySpec {
        name: "rod".into(),
        pose: Isometry3::translation(1.0, 0.0, 0.6),
        mass: Some(MassProperties::new(rod_mass, centre, inertia)?),
        ..BodySpec::default()
    });
    let hinge = builder.mechanism.joint(
        body,
        JointSpec {
            name: "hinge".into(),
            anchor: Vector3::new(0.0, 0.0, 0.2),
            damping: 0.01,
            ..JointSpec::new(JointKind::Hinge { axis: Vector3::y() })
        },
    );
    builder.geom(Geom::new(body, rod));
    builder.mechanism.actuator(ActuatorSpec::motor("motor", Transmission::Joint(hinge)));

    // One second; the motor pushes with a constant torque [N·m].
    let settings = Settings { time_step: 0.002, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build()?, settings)?;
    simulation.input_mut().control[0] = 0.05;
    for _ in 0..500 {
        let report = simulation.step()?; // an error leaves the state as it was
        assert!(report.converged());
    }

    // The ground carries the stack, each box what is above it.
    let mut carried = 0.0;
    for contact in simulation.contacts() {
        if contact.bodies[0] == 0 || contact.bodies[1] == 0 {
            carried += contact.force.z.abs();
        }
    }
    println!("the ground carries {carried:.3} N, the stack weighs {:.3} N", 3.0 * mass * 9.81);
    assert!((carried - 3.0 * mass * 9.81).abs() < 1e-3 * carried);

    // Coordinates are in one array; a joint knows which are its own.
    let model = simulation.world().model();
    let hinge = model.joint("hinge").ok_or("the joint is called hinge")?;
    let q = model.joints()[hinge.0].q.start;
    println!("the rod stands at {:.3} rad", simulation.state().q[q]);
    Ok(())
}
