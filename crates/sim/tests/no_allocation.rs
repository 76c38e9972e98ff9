//! A steady step takes no memory, nor do readings of sensors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{block, cube, free, on_ground, start};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, DelaySpec, JointId, JointKind, JointSpec, Limit,
    MassProperties, Material, SampleInterpolation, Transmission,
};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{
    Combine, Compliance, Geom, Resistance, Scheme, Settings, Simulation, SoftObject, Surface,
};
use stiction_sim::{SensorFrame, SensorKind, SensorSpec, TouchVolume, WorldBuilder};
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_stack_and_a_closed_loop_step_and_are_read_without_taking_memory() {
    let mut builder = on_ground(0.5);
    for level in 0..3 {
        cube(&mut builder, 0.1, 0.0, 0.1 + 0.2 * f64::from(level), 0.5);
    }
    let mass = MassProperties::new(1.0, Vector3::new(0.1, 0.0, 0.0), Matrix3::identity() * 0.01);
    let (mut parent, mut pose) = (BodyId::WORLD, Isometry3::translation(1.0, 0.0, 2.0));
    for _ in 0..4 {
        let spec = BodySpec { parent, pose, mass: mass.clone().ok(), ..BodySpec::default() };
        parent = builder.mechanism.body(spec);
        let mut joint = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
        joint.friction_loss = 0.01;
        joint.limit = Some(Limit { lower: -3.0, upper: 3.0, margin: 6.0 });
        builder.mechanism.joint(parent, joint);
        pose = Isometry3::translation(0.2, 0.0, 0.0);
    }
    let connect = Connect {
        body_a: BodyId::WORLD,
        point_a: Vector3::new(1.8, 0.0, 2.0),
        body_b: parent,
        point_b: Vector3::new(0.2, 0.0, 0.0),
    };
    builder.equality("end", Equality::Connect(connect));
    let at = SensorFrame::of(parent);
    for kind in [
        SensorKind::Accelerometer(at),
        SensorKind::Force(at),
        SensorKind::Touch { at: SensorFrame::of(BodyId(1)), volume: TouchVolume::Sphere(1.0) },
        SensorKind::JointActuatorForce(JointId(3)),
        SensorKind::Gyro(at),
    ] {
        let interpolation = SampleInterpolation::Cubic;
        let delay = DelaySpec { samples: 4, delay: 0.023, interpolation, period: 0.0, phase: 0.0 };
        builder.sensor(SensorSpec { delay: Some(delay), ..SensorSpec::new(kind.name(), kind) });
    }
    let mut simulation = start(builder, 0.01);
    for _ in 0..200 {
        let _ = simulation.step().unwrap();
        let _ = simulation.sensor_data();
    }
    let before = allocations();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(report.contacts >= 12);
        assert!(simulation.sensor_data().iter().all(|x| x.is_finite()));
    }
    assert_eq!(allocations() - before, 0);
}

#[test]
fn trees_and_bodies_in_flight_step_without_taking_memory() {
    let mut builder = WorldBuilder::new();
    let mass = MassProperties::new(1.0, Vector3::new(0.1, 0.0, 0.0), Matrix3::identity() * 0.01);
    let (mut parent, mut pose) = (BodyId::WORLD, Isometry3::translation(1.0, 0.0, 5.0));
    for _ in 0..4 {
        let spec = BodySpec { parent, pose, mass: mass.clone().ok(), ..BodySpec::default() };
        parent = builder.mechanism.body(spec);
        builder.mechanism.joint(parent, JointSpec::new(JointKind::Ball));
        pose = Isometry3::translation(0.2, 0.0, 0.0);
    }
    let spec = BodySpec { pose: Isometry3::translation(0.0, 0.0, 50.0), ..BodySpec::default() };
    let body = builder.mechanism.body(BodySpec { mass: mass.ok(), ..spec });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let mut simulation = start(builder, 0.005);
    let _ = simulation.step().unwrap();
    // From motions that one substep resolves to those that none does.
    for speed in [1.0, 30.0, 300.0, 3000.0] {
        simulation.state_mut().v.iter_mut().for_each(|v| *v = speed);
        let before = allocations();
        for _ in 0..5 {
            let _ = simulation.step().unwrap();
        }
        assert_eq!(allocations() - before, 0, "{speed}");
    }
}

#[test]
fn rolling_friction_and_servos_as_forces_step_without_taking_memory() {
    let surface = Surface {
        resistance: Resistance::Rolling,
        spin: 1e-3,
        roll: 1e-3,
        ..Surface::with_friction(0.5)
    };
    let mut builder = on_ground(0.5);
    for x in [0.0, 0.5] {
        let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
        free(&mut builder, shape, 1.0, Isometry3::translation(x, 0.0, 0.1), surface);
    }
    let mass = MassProperties::new(1.0, Vector3::new(0.1, 0.0, 0.0), Matrix3::identity() * 0.01);
    let spec = BodySpec {
        pose: Isometry3::translation(1.0, 0.0, 2.0),
        mass: mass.ok(),
        ..BodySpec::default()
    };
    let arm = builder.mechanism.body(spec);
    let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
    let joint = builder.mechanism.joint(arm, hinge);
    let servo = ActuatorSpec::position("servo", Transmission::Joint(joint), 5.0, 1.0);
    builder.mechanism.actuator(ActuatorSpec { force_range: Some((-1.0, 1.0)), ..servo });
    let (scheme, combine) = (Scheme::ImplicitFast, Combine::Maximum);
    let settings = Settings { scheme, combine, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    for _ in 0..200 {
        let _ = simulation.step().unwrap();
    }
    let before = allocations();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        // Four corners each, with three rows of contact and three of spinning and rolling.
        assert_eq!(report.rows, 2 * 4 * 6);
    }
    assert_eq!(allocations() - before, 0);
}

#[test]
fn a_plate_on_a_soft_block_and_an_attached_one_step_without_taking_memory() {
    for solver in ["auto", "cond", "sap"] {
        let surface = Surface::with_friction(0.6);
        let mut builder = on_ground(0.6);
        let spec = block(Vector3::repeat(0.1), [3; 3], Vector3::new(0.0, 0.0, 0.05));
        builder.soft(SoftObject::new(spec).surface(surface));
        let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
        let plate = Isometry3::translation(0.0, 0.0, 0.1301);
        let plate = free(&mut builder, shape, 2.0, plate, surface);
        let spec = block(Vector3::repeat(0.05), [1; 3], Vector3::new(0.0, 0.0, 0.185));
        let below: Vec<u32> =
            (0..8).filter(|v: &u32| spec.vertices[*v as usize].z < 0.185).collect();
        let name = "rider".to_owned();
        let soft = builder.soft(SoftObject::new(stiction_mech::SoftSpec { name, ..spec }));
        builder.attach(soft, &below, plate);
        let settings =
            Settings { time_step: 0.01, solver: solver.to_owned(), ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        for _ in 0..150 {
            let _ = simulation.step().unwrap();
        }
        let before = allocations();
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.rows > 2 * 3 * 16);
        }
        assert_eq!(allocations() - before, 0, "{solver}");
    }
}

#[test]
fn soft_bodies_that_touch_themselves_and_one_another_step_without_taking_memory() {
    // Not `auto` for two bodies: a sparse LU with full row exchanges, its last resort, takes memory.
    for (solver, bodies) in [("auto", 1), ("cond", 2), ("sap", 2)] {
        let surface = Surface::with_friction(0.6);
        let mut builder = on_ground(0.6);
        let sheet = block(Vector3::new(0.3, 0.3, 0.02), [6, 6, 1], Vector3::new(0.0, 0.0, 0.01));
        builder.soft(SoftObject::new(sheet).surface(surface).touching_itself());
        if bodies > 1 {
            let mut spec = block(Vector3::repeat(0.1), [2; 3], Vector3::new(0.012, 0.007, 0.0705));
            spec.name = "upper".to_owned();
            spec.material = Material::from_name("neo-hookean", &[1e5, 0.3]).unwrap();
            builder.soft(SoftObject::new(spec).surface(surface).touching_itself());
        }
        let solver = solver.to_owned();
        let settings = Settings { time_step: 0.01, solver, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        for _ in 0..200 {
            let _ = simulation.step().unwrap();
        }
        let before = allocations();
        let mut contacts = 0;
        for _ in 0..20 {
            contacts = simulation.step().unwrap().contacts;
        }
        assert_eq!(allocations() - before, 0, "{} bodies", bodies);
        // The lower vertices of the sheet, and those of the block with those of the sheet under them.
        assert!(if bodies == 1 { contacts == 49 } else { contacts >= 49 + 9 }, "{contacts}");
    }
}

#[test]
fn a_ball_and_a_block_on_a_compliant_floor_step_without_taking_memory() {
    let compliance =
        |thickness| Compliance { dissipation: 0.1, thickness, ..Compliance::with_modulus(1e6) };
    let surface = |thickness| Surface {
        compliance: Some(compliance(thickness)),
        ..Surface::with_friction(0.5)
    };
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface(Some(0.1))));
    let ball = Shape::sphere(0.05).unwrap();
    free(&mut builder, ball, 1.0, Isometry3::translation(0.0, 0.0, 0.14), surface(None));
    let block = Shape::cuboid(Vector3::repeat(0.05)).unwrap();
    let pose = Isometry3::translation(0.01, 0.0, 0.05);
    free(&mut builder, block, 1.0, pose, Surface::with_friction(0.5));
    let mut simulation = start(builder, 0.002);
    for _ in 0..500 {
        let _ = simulation.step().unwrap();
    }
    let before = allocations();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(report.contacts > 10);
    }
    assert_eq!(allocations() - before, 0);
}
