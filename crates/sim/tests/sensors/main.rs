//! What sensors read, against closed forms.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod forces;
mod geometry;
mod registry;

use common::{cube, free, on_ground, start};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3, Vector6};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Limit, MassProperties, TendonPath,
    TendonRest, TendonSite, TendonSpec, Transmission,
};
use stiction_sim::constraint::{Connect, Equality, Polynomial, TendonCoupling, Weld};
use stiction_sim::{
    ContactFields, ContactQuery, ContactReduction, ContactSide, Geom, RayReadings, SCHEMES,
    SENSORS, Scenery, SchemeEntry, SensedShapes, SensorFrame, SensorKind, SensorSpec,
    SeparationReading, Settings, Simulation, Sleep, Snapshot, Surface, TouchVolume, WorldBuilder,
};

const G: f64 = 9.81;
/// Time step of most tests [s].
const H: f64 = 1e-3;
/// Readings of what rests are as exact as the solver's tolerance, relative to impulses of a step.
const REST: f64 = 1e-6;

const NO_READINGS: RayReadings = RayReadings {
    distance: false,
    direction: false,
    origin: false,
    point: false,
    normal: false,
    depth: false,
};

/// The readings of a sensor.
fn reading(simulation: &mut Simulation, name: &str) -> Vec<f64> {
    let range = simulation.world().sensor_range(name).unwrap();
    simulation.sensor_data()[range].to_vec()
}

fn assert_reads(simulation: &mut Simulation, name: &str, expected: &[f64], tolerance: f64) {
    let found = reading(simulation, name);
    assert_eq!(found.len(), expected.len(), "{name}");
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= tolerance, "{name}: {found:?}; expected {expected:?}");
    }
}

fn add(builder: &mut WorldBuilder, name: &str, kind: SensorKind) {
    builder.sensor(SensorSpec::new(name, kind));
}

fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
}

/// A body of mass `mass` with its centre of mass at `com` in its frame.
fn part(mass: f64, com: Vector3<f64>, parent: BodyId, at: Vector3<f64>) -> BodySpec {
    let mass = MassProperties::new(mass, com, Matrix3::identity() * 0.01 * mass).unwrap();
    let pose = Isometry3::translation(at.x, at.y, at.z);
    BodySpec { parent, pose, mass: Some(mass), ..BodySpec::default() }
}

fn hinge(axis: Vector3<f64>) -> JointSpec {
    JointSpec::new(JointKind::Hinge { axis })
}

fn tilted(body: BodyId) -> SensorFrame {
    let rotation = UnitQuaternion::from_euler_angles(0.3, -0.5, 0.7);
    SensorFrame {
        body,
        pose: Isometry3::from_parts(Translation3::new(0.02, 0.01, -0.03), rotation),
    }
}

/// A chain that hangs straight down from the world; the third part is welded to the second.
fn hanging_chain(builder: &mut WorldBuilder) -> Vec<BodyId> {
    let mut bodies = Vec::new();
    let (mut parent, mut at) = (BodyId::WORLD, Vector3::zeros());
    for index in 0..4 {
        let mass = f64::from(index + 1);
        let body = builder.mechanism.body(part(mass, Vector3::z() * -0.1, parent, at));
        if index != 2 {
            builder.mechanism.joint(body, hinge(Vector3::y()));
        }
        bodies.push(body);
        (parent, at) = (body, Vector3::z() * -0.2);
    }
    bodies
}

/// One sensor of every kind, on a mechanism that has all they need.
fn everything() -> WorldBuilder {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let arm = builder.mechanism.body(part(1.0, Vector3::x() * 0.2, BodyId::WORLD, Vector3::z()));
    let joint = builder.mechanism.joint(arm, hinge(Vector3::y()));
    let hand = builder.mechanism.body(part(0.5, Vector3::x() * 0.1, arm, Vector3::x() * 0.4));
    let ball = builder.mechanism.joint(hand, JointSpec::new(JointKind::Ball));
    let path = TendonPath::through([
        TendonSite { body: BodyId::WORLD, point: Vector3::z() * 2.0 },
        TendonSite { body: hand, point: Vector3::x() * 0.1 },
    ]);
    let mut string = TendonSpec::new("string", path);
    (string.stiffness, string.rest, string.friction_loss) = (10.0, TendonRest::Length(0.9), 0.1);
    let tendon = builder.mechanism.tendon(string);
    let servo = ActuatorSpec::position("servo", Transmission::Joint(joint), 10.0, 1.0);
    let actuator = builder.mechanism.actuator(servo);
    let connect = Connect {
        body_a: BodyId::WORLD,
        point_a: Vector3::new(0.4, 0.0, 1.0),
        body_b: hand,
        point_b: Vector3::zeros(),
    };
    builder.equality("pin", Equality::Connect(connect));
    let (at, of, seen_from) = (tilted(hand), tilted(hand), Some(tilted(arm)));
    let volume = TouchVolume::Capsule { r: 0.2, half: 0.1 };
    let axis = |axis| SensorKind::FrameAxis { of, seen_from, axis };
    let between = [SensedShapes::Body(body), SensedShapes::Geom(0)];
    let separation = |reads| SensorKind::Separation { between, reads };
    for kind in [
        SensorKind::Accelerometer(at),
        SensorKind::ActuatorForce(actuator),
        SensorKind::ActuatorPosition(actuator),
        SensorKind::ActuatorVelocity(actuator),
        SensorKind::BallVelocity(ball),
        SensorKind::BallOrientation(ball),
        SensorKind::Clock,
        SensorKind::Contact(ContactQuery::default()),
        separation(SeparationReading::Distance),
        SensorKind::KineticEnergy,
        SensorKind::PotentialEnergy,
        SensorKind::Force(at),
        SensorKind::FrameAngularAcceleration { of },
        SensorKind::FrameAngularVelocity { of, seen_from },
        SensorKind::FrameLinearAcceleration { of },
        SensorKind::FrameLinearVelocity { of, seen_from },
        SensorKind::FramePosition { of, seen_from },
        SensorKind::FrameOrientation { of, seen_from },
        axis(0),
        axis(1),
        axis(2),
        separation(SeparationReading::Segment),
        SensorKind::Gyro(at),
        SensorKind::Inside { of, at, volume },
        SensorKind::JointActuatorForce(joint),
        SensorKind::JointLimitForce(joint),
        SensorKind::JointLimitPosition(joint),
        SensorKind::JointLimitVelocity(joint),
        SensorKind::JointPosition(joint),
        SensorKind::JointVelocity(joint),
        SensorKind::Magnetometer { at, field: Vector3::x() },
        separation(SeparationReading::Normal),
        SensorKind::Rangefinder { at, reads: RayReadings { distance: true, ..NO_READINGS } },
        SensorKind::SubtreeAngularMomentum(arm),
        SensorKind::SubtreeCom(arm),
        SensorKind::SubtreeLinearVelocity(arm),
        SensorKind::TendonActuatorForce(tendon),
        SensorKind::TendonLimitForce(tendon),
        SensorKind::TendonLimitPosition(tendon),
        SensorKind::TendonLimitVelocity(tendon),
        SensorKind::TendonPosition(tendon),
        SensorKind::TendonVelocity(tendon),
        SensorKind::Torque(at),
        SensorKind::Touch { at: tilted(body), volume },
        SensorKind::User { dim: 1 },
        SensorKind::Velocimeter(at),
    ] {
        add(&mut builder, kind.name(), kind);
    }
    builder
}
