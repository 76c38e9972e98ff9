//! What sensors read, against closed forms.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{cube, free, on_ground, start};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3, Vector6};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, Limit, MassProperties, TendonPath,
    TendonRest, TendonSite, TendonSpec, Transmission,
};
use stiction_sim::constraint::{Connect, Equality, Polynomial, TendonCoupling, Weld};
use stiction_sim::{
    SCHEMES, SENSORS, SchemeEntry, SensorFrame, SensorKind, SensorSpec, Settings, Simulation,
    Sleep, Snapshot, Surface, TouchVolume, WorldBuilder,
};

const G: f64 = 9.81;
/// Time step of most tests [s].
const H: f64 = 1e-3;

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

/// Readings of what rests are as exact as the solver's tolerance, relative to impulses of a step.
const REST: f64 = 1e-6;

#[test]
fn a_body_at_rest_on_a_table_is_pushed_up_by_its_weight() {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let at = tilted(body);
    add(&mut builder, "accelerometer", SensorKind::Accelerometer(at));
    add(&mut builder, "world", SensorKind::FrameLinearAcceleration { of: at });
    add(&mut builder, "gyro", SensorKind::Gyro(at));
    add(&mut builder, "velocimeter", SensorKind::Velocimeter(at));
    add(&mut builder, "root", SensorKind::Force(at));
    let volume = TouchVolume::Box(Vector3::repeat(0.1));
    add(&mut builder, "touch", SensorKind::Touch { at: SensorFrame::of(body), volume });
    // The half of the base with x > 0: its two corners carry half of the weight.
    let pose = Isometry3::translation(0.1, 0.0, -0.1);
    let volume = TouchVolume::Box(Vector3::new(0.05, 0.15, 0.02));
    add(&mut builder, "half", SensorKind::Touch { at: SensorFrame { body, pose }, volume });
    let pose = Isometry3::translation(0.0, 0.0, 0.1);
    let volume = TouchVolume::Sphere(0.05);
    add(&mut builder, "lid", SensorKind::Touch { at: SensorFrame { body, pose }, volume });
    let mut simulation = start(builder, H);
    run(&mut simulation, 20);
    let up = at.pose.rotation.inverse() * Vector3::new(0.0, 0.0, G);
    assert_reads(&mut simulation, "accelerometer", up.as_slice(), REST);
    assert_reads(&mut simulation, "world", &[0.0, 0.0, G], REST);
    for zero in ["gyro", "velocimeter", "root"] {
        assert_reads(&mut simulation, zero, &[0.0; 3], REST);
    }
    assert_reads(&mut simulation, "touch", &[G], REST);
    assert_reads(&mut simulation, "half", &[0.5 * G], REST);
    assert_reads(&mut simulation, "lid", &[0.0], 0.0);
}

#[test]
fn in_free_fall_an_accelerometer_reads_nothing_under_every_scheme() {
    for SchemeEntry { name, scheme, .. } in SCHEMES {
        let mut builder = WorldBuilder::new();
        let body = cube(&mut builder, 0.1, 0.0, 10.0, 0.5);
        add(&mut builder, "accelerometer", SensorKind::Accelerometer(tilted(body)));
        let settings = Settings { time_step: H, scheme: *scheme, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        run(&mut simulation, 100);
        // Differences of velocities near 1 m/s over h: ε/h, and a few such.
        let found = reading(&mut simulation, "accelerometer");
        assert!(found.iter().all(|x| x.abs() <= 1e-11), "{name}: {found:?}");
    }
}

/// An arm along x that turns freely about the vertical through its origin: its speed stays.
///
/// ```text
///   o────────●────────►  x      o hinge, ● centre of mass at r, sensors at the origin and at 2 r
/// ```
#[test]
fn a_turning_arm_is_pulled_towards_its_axis() {
    let (mass, r, w) = (2.0, 0.3, 5.0);
    let mut builder = WorldBuilder::new();
    let arm = builder.mechanism.body(part(mass, Vector3::x() * r, BodyId::WORLD, Vector3::zeros()));
    let joint = builder.mechanism.joint(arm, hinge(Vector3::z()));
    let tip = SensorFrame { body: arm, pose: Isometry3::translation(2.0 * r, 0.0, 0.0) };
    let root = SensorFrame::of(arm);
    add(&mut builder, "acceleration", SensorKind::Accelerometer(tip));
    add(&mut builder, "angular", SensorKind::FrameAngularAcceleration { of: tip });
    add(&mut builder, "gyro", SensorKind::Gyro(tip));
    add(&mut builder, "velocity", SensorKind::Velocimeter(tip));
    add(&mut builder, "force", SensorKind::Force(root));
    add(&mut builder, "torque", SensorKind::Torque(root));
    add(&mut builder, "rate", SensorKind::JointVelocity(joint));
    let mut simulation = start(builder, H);
    simulation.state_mut().v[0] = w;
    run(&mut simulation, 137);
    assert_reads(&mut simulation, "acceleration", &[-w * w * 2.0 * r, 0.0, G], 1e-9);
    assert_reads(&mut simulation, "angular", &[0.0; 3], 1e-9);
    assert_reads(&mut simulation, "gyro", &[0.0, 0.0, w], 1e-12);
    assert_reads(&mut simulation, "velocity", &[0.0, w * 2.0 * r, 0.0], 1e-12);
    assert_reads(&mut simulation, "force", &[-mass * w * w * r, 0.0, mass * G], 1e-9);
    assert_reads(&mut simulation, "torque", &[0.0, -mass * G * r, 0.0], 1e-9);
    assert_reads(&mut simulation, "rate", &[w], 1e-12);
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

#[test]
fn every_part_of_a_hanging_chain_carries_the_weight_below_it() {
    let mut builder = WorldBuilder::new();
    let bodies = hanging_chain(&mut builder);
    for (index, body) in bodies.iter().enumerate() {
        add(&mut builder, &format!("{index}"), SensorKind::Force(SensorFrame::of(*body)));
        add(&mut builder, &format!("t{index}"), SensorKind::Torque(SensorFrame::of(*body)));
    }
    // Masses 1, 2, 3, 4 with centres at −0.1, −0.3, −0.5, −0.7.
    add(&mut builder, "centre", SensorKind::SubtreeCom(bodies[0]));
    add(&mut builder, "end", SensorKind::SubtreeCom(bodies[3]));
    let mut simulation = start(builder, H);
    assert_reads(&mut simulation, "2", &[0.0, 0.0, 7.0 * G], 1e-12);
    run(&mut simulation, 10);
    for (index, below) in [10.0, 9.0, 7.0, 4.0].into_iter().enumerate() {
        assert_reads(&mut simulation, &format!("{index}"), &[0.0, 0.0, below * G], 1e-9);
        assert_reads(&mut simulation, &format!("t{index}"), &[0.0; 3], 1e-9);
    }
    assert_reads(&mut simulation, "centre", &[0.0, 0.0, -5.0 / 10.0], 1e-12);
    assert_reads(&mut simulation, "end", &[0.0, 0.0, -0.7], 1e-12);
}

#[test]
fn what_lifts_a_part_from_outside_is_not_carried_by_its_parent() {
    let mut builder = WorldBuilder::new();
    let bodies = hanging_chain(&mut builder);
    add(&mut builder, "top", SensorKind::Force(SensorFrame::of(bodies[0])));
    add(&mut builder, "weld", SensorKind::Force(SensorFrame::of(bodies[2])));
    add(&mut builder, "end", SensorKind::Force(SensorFrame::of(bodies[3])));
    let mut simulation = start(builder, H);
    simulation.input_mut().wrench[bodies[2].0] = Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 5.0);
    run(&mut simulation, 10);
    assert_reads(&mut simulation, "top", &[0.0, 0.0, 10.0 * G - 5.0], 1e-9);
    assert_reads(&mut simulation, "weld", &[0.0, 0.0, 7.0 * G - 5.0], 1e-9);
    assert_reads(&mut simulation, "end", &[0.0, 0.0, 4.0 * G], 1e-9);
}

/// A beam on a hinge, its other end on a bracket that stands on the world.
///
/// ```text
///   o─────────●─────────×        o hinge, ● centre of mass, × connection to the bracket
/// ```
#[test]
fn a_beam_on_two_supports_rests_half_on_each() {
    for SchemeEntry { name, scheme, .. } in SCHEMES {
        let mut builder = WorldBuilder::new();
        let beam =
            builder.mechanism.body(part(2.0, Vector3::x() * 0.5, BodyId::WORLD, Vector3::zeros()));
        builder.mechanism.joint(beam, hinge(Vector3::y()));
        let bracket = part(3.0, Vector3::zeros(), BodyId::WORLD, Vector3::x());
        let bracket = builder.mechanism.body(bracket);
        let connect = Connect {
            body_a: beam,
            point_a: Vector3::x(),
            body_b: bracket,
            point_b: Vector3::zeros(),
        };
        builder.equality("support", Equality::Connect(connect));
        add(&mut builder, "hinge", SensorKind::Force(SensorFrame::of(beam)));
        add(&mut builder, "moment", SensorKind::Torque(SensorFrame::of(beam)));
        add(&mut builder, "bracket", SensorKind::Force(SensorFrame::of(bracket)));
        let settings = Settings { time_step: H, scheme: *scheme, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        run(&mut simulation, 10);
        println!("{name}");
        assert_reads(&mut simulation, "hinge", &[0.0, 0.0, G], REST);
        assert_reads(&mut simulation, "moment", &[0.0; 3], REST);
        assert_reads(&mut simulation, "bracket", &[0.0, 0.0, 4.0 * G], REST);
    }
}

#[test]
fn a_weld_by_equality_carries_a_free_body_and_the_force_on_its_root_vanishes() {
    let mut builder = WorldBuilder::new();
    let arm =
        builder.mechanism.body(part(1.0, Vector3::x() * 0.5, BodyId::WORLD, Vector3::zeros()));
    let body = cube(&mut builder, 0.1, 1.0, 0.0, 0.5);
    let pose = Isometry3::translation(1.0, 0.0, 0.0);
    builder.equality("weld", Equality::Weld(Weld { body_a: arm, body_b: body, pose }));
    add(&mut builder, "root", SensorKind::Force(tilted(body)));
    add(&mut builder, "turn", SensorKind::Torque(tilted(body)));
    add(&mut builder, "arm", SensorKind::Force(SensorFrame::of(arm)));
    add(&mut builder, "moment", SensorKind::Torque(SensorFrame::of(arm)));
    let mut simulation = start(builder, H);
    run(&mut simulation, 10);
    assert_reads(&mut simulation, "root", &[0.0; 3], REST);
    assert_reads(&mut simulation, "turn", &[0.0; 3], REST);
    // The arm carries itself, 1 kg at 0.5 m, and the body, 1 kg at 1 m.
    assert_reads(&mut simulation, "arm", &[0.0, 0.0, 2.0 * G], REST);
    assert_reads(&mut simulation, "moment", &[0.0, -1.5 * G, 0.0], REST);
}

/// A beam on a hinge, its other end on a string from above.
///
/// ```text
///                       │
///   o─────────●─────────×        o hinge, ● centre of mass, × end of the string
/// ```
#[test]
fn a_beam_on_a_string_rests_half_on_its_hinge_whatever_holds_the_string() {
    let half = 0.5 * 2.0 * G;
    for SchemeEntry { name, scheme, .. } in SCHEMES {
        for holder in ["limit", "spring", "actuator", "equality"] {
            let mut builder = WorldBuilder::new();
            let spec = part(2.0, Vector3::x() * 0.5, BodyId::WORLD, Vector3::zeros());
            let beam = builder.mechanism.body(spec);
            builder.mechanism.joint(beam, hinge(Vector3::y()));
            let path = TendonPath::through([
                TendonSite { body: BodyId::WORLD, point: Vector3::new(1.0, 0.0, 1.0) },
                TendonSite { body: beam, point: Vector3::x() },
            ]);
            let mut string = TendonSpec::new("string", path);
            match holder {
                "limit" => string.limit = Some(Limit { lower: 0.0, upper: 1.0, margin: 0.0 }),
                "spring" => {
                    (string.stiffness, string.rest) =
                        (100.0, TendonRest::Length(1.0 - half / 100.0));
                    string.damping = 3.0;
                }
                _ => {}
            }
            let string = builder.mechanism.tendon(string);
            if holder == "actuator" {
                let motor = ActuatorSpec::motor("winch", Transmission::Tendon(string));
                builder.mechanism.actuator(ActuatorSpec { gear: 2.0, ..motor });
            }
            if holder == "equality" {
                let (leader, polynomial) = (None, Polynomial([0.0; 5]));
                let coupling = TendonCoupling { tendon: string, leader, polynomial };
                builder.equality("length", Equality::Tendon(coupling));
            }
            add(&mut builder, "hinge", SensorKind::Force(SensorFrame::of(beam)));
            add(&mut builder, "moment", SensorKind::Torque(SensorFrame::of(beam)));
            let settings = Settings { time_step: H, scheme: *scheme, ..Settings::default() };
            let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
            simulation.input_mut().control.fill(-0.5 * half);
            run(&mut simulation, 5);
            println!("{holder} under {name}");
            assert_reads(&mut simulation, "hinge", &[0.0, 0.0, half], REST);
            assert_reads(&mut simulation, "moment", &[0.0; 3], REST);
        }
    }
}

/// A mass on a rail without gravity: whatever a scheme makes of a stiff servo, the force that is read
/// is the one that accelerates.
#[test]
fn the_force_of_a_servo_is_what_accelerates_its_load_under_every_scheme() {
    let (mass, gear) = (2.0, 3.0);
    for SchemeEntry { name, scheme, .. } in SCHEMES {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(Vector3::zeros());
        let body =
            builder.mechanism.body(part(mass, Vector3::zeros(), BodyId::WORLD, Vector3::zeros()));
        let joint =
            builder.mechanism.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::x() }));
        let servo = ActuatorSpec {
            gear,
            ..ActuatorSpec::position("servo", Transmission::Joint(joint), 4e3, 50.0)
        };
        let motor =
            ActuatorSpec { gear: 0.5, ..ActuatorSpec::motor("motor", Transmission::Joint(joint)) };
        let servo = builder.mechanism.actuator(servo);
        let motor = builder.mechanism.actuator(motor);
        add(
            &mut builder,
            "acceleration",
            SensorKind::FrameLinearAcceleration { of: SensorFrame::of(body) },
        );
        add(&mut builder, "joint", SensorKind::JointActuatorForce(joint));
        add(&mut builder, "servo", SensorKind::ActuatorForce(servo));
        add(&mut builder, "motor", SensorKind::ActuatorForce(motor));
        add(&mut builder, "length", SensorKind::ActuatorPosition(servo));
        add(&mut builder, "rate", SensorKind::ActuatorVelocity(servo));
        add(&mut builder, "force", SensorKind::Force(SensorFrame::of(body)));
        let settings = Settings { time_step: H, scheme: *scheme, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        simulation.input_mut().control.copy_from_slice(&[0.3, 7.0]);
        for _ in 0..20 {
            let _ = simulation.step().unwrap();
            let a = reading(&mut simulation, "acceleration")[0];
            let of = |simulation: &mut Simulation, name| reading(simulation, name)[0];
            let (on_joint, servo) = (of(&mut simulation, "joint"), of(&mut simulation, "servo"));
            // Newton's method ends at 1e-13 of velocities near 1 m/s, over h, times the mass.
            let scale = on_joint.abs().max(1.0);
            assert!((mass * a - on_joint).abs() <= 1e-8 * scale, "{name}: {} {on_joint}", mass * a);
            assert_reads(&mut simulation, "motor", &[7.0], 0.0);
            assert!((gear * servo + 3.5 - on_joint).abs() <= 1e-12 * scale, "{name}");
            assert_reads(&mut simulation, "force", &[mass * a, 0.0, 0.0], 1e-9 * scale);
            let (q, v) = (simulation.state().q[0], simulation.state().v[0]);
            assert_reads(&mut simulation, "length", &[gear * q], 0.0);
            assert_reads(&mut simulation, "rate", &[gear * v], 0.0);
        }
    }
}

#[test]
fn a_saturated_servo_reads_its_bound() {
    let mut builder = WorldBuilder::new();
    let body = builder.mechanism.body(part(1.0, Vector3::zeros(), BodyId::WORLD, Vector3::zeros()));
    let joint =
        builder.mechanism.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::x() }));
    let servo = ActuatorSpec {
        force_range: Some((-2.0, 2.0)),
        ..ActuatorSpec::position("servo", Transmission::Joint(joint), 1e3, 1.0)
    };
    let servo = builder.mechanism.actuator(servo);
    add(&mut builder, "servo", SensorKind::ActuatorForce(servo));
    add(
        &mut builder,
        "acceleration",
        SensorKind::FrameLinearAcceleration { of: SensorFrame::of(body) },
    );
    let mut simulation = start(builder, H);
    simulation.input_mut().control[0] = 5.0;
    // Held, the actuator answers to the input all the same.
    assert_reads(&mut simulation, "servo", &[2.0], 0.0);
    run(&mut simulation, 5);
    assert_reads(&mut simulation, "servo", &[2.0], 0.0);
    assert_reads(&mut simulation, "acceleration", &[2.0, 0.0, G], REST);
}

#[test]
fn a_fixed_point_seen_from_a_turntable_runs_backwards() {
    let w = 2.0;
    let mut builder = WorldBuilder::new();
    let table = builder.mechanism.body(part(1.0, Vector3::zeros(), BodyId::WORLD, Vector3::z()));
    builder.mechanism.joint(table, hinge(Vector3::z()));
    let post = SensorFrame { body: BodyId::WORLD, pose: Isometry3::translation(3.0, 0.0, 0.0) };
    let seen_from = Some(SensorFrame::of(table));
    add(&mut builder, "position", SensorKind::FramePosition { of: post, seen_from });
    add(&mut builder, "orientation", SensorKind::FrameOrientation { of: post, seen_from });
    add(&mut builder, "x", SensorKind::FrameAxis { of: post, seen_from, axis: 0 });
    add(&mut builder, "z", SensorKind::FrameAxis { of: post, seen_from, axis: 2 });
    add(&mut builder, "velocity", SensorKind::FrameLinearVelocity { of: post, seen_from });
    add(&mut builder, "angular", SensorKind::FrameAngularVelocity { of: post, seen_from });
    let at = SensorFrame::of(table);
    let field = Vector3::new(0.0, 4.0, -1.0);
    add(&mut builder, "compass", SensorKind::Magnetometer { at, field });
    let mut simulation = start(builder, H);
    simulation.state_mut().v[0] = w;
    run(&mut simulation, 400);
    // In the table's axes the post stands at the angle −θ.
    let (sin, cos) = simulation.state().q[0].sin_cos();
    assert_reads(&mut simulation, "position", &[3.0 * cos, -3.0 * sin, -1.0], 1e-12);
    assert_reads(&mut simulation, "x", &[cos, -sin, 0.0], 1e-12);
    assert_reads(&mut simulation, "z", &[0.0, 0.0, 1.0], 1e-12);
    let half = 0.5 * simulation.state().q[0];
    assert_reads(&mut simulation, "orientation", &[half.cos(), 0.0, 0.0, -half.sin()], 1e-12);
    assert_reads(&mut simulation, "velocity", &[-w * 3.0 * sin, -w * 3.0 * cos, 0.0], 1e-12);
    assert_reads(&mut simulation, "angular", &[0.0, 0.0, -w], 1e-12);
    assert_reads(&mut simulation, "compass", &[4.0 * sin, 4.0 * cos, -1.0], 1e-12);
}

#[test]
fn a_ball_and_a_tendon_read_their_coordinates() {
    let mut builder = WorldBuilder::new();
    let body = builder.mechanism.body(part(1.0, Vector3::x(), BodyId::WORLD, Vector3::zeros()));
    let ball = builder.mechanism.joint(body, JointSpec::new(JointKind::Ball));
    let next = builder.mechanism.body(part(1.0, Vector3::zeros(), body, Vector3::x()));
    let joint = builder.mechanism.joint(next, hinge(Vector3::y()));
    let path = TendonPath::Fixed(vec![(joint, 2.5)]);
    let tendon = builder.mechanism.tendon(TendonSpec::new("string", path));
    add(&mut builder, "turn", SensorKind::BallOrientation(ball));
    add(&mut builder, "spin", SensorKind::BallVelocity(ball));
    add(&mut builder, "length", SensorKind::TendonPosition(tendon));
    add(&mut builder, "rate", SensorKind::TendonVelocity(tendon));
    add(&mut builder, "angle", SensorKind::JointPosition(joint));
    let mut simulation = start(builder, H);
    let state = simulation.state_mut();
    state.q.copy_from_slice(&[0.0, 0.0, 1.0, 0.0, 0.4]);
    state.v.copy_from_slice(&[1.0, 2.0, 3.0, -2.0]);
    assert_reads(&mut simulation, "turn", &[0.0, 0.0, 1.0, 0.0], 0.0);
    assert_reads(&mut simulation, "spin", &[1.0, 2.0, 3.0], 0.0);
    assert_reads(&mut simulation, "length", &[1.0], 0.0);
    assert_reads(&mut simulation, "rate", &[-5.0], 0.0);
    assert_reads(&mut simulation, "angle", &[0.4], 0.0);
}

#[test]
fn readings_end_at_their_cutoff_but_axes_keep_their_length() {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let at = SensorFrame::of(body);
    let mut limited = |name: &str, kind| {
        builder.sensor(SensorSpec { name: name.into(), kind, cutoff: 0.5 });
    };
    limited("acceleration", SensorKind::Accelerometer(at));
    limited("touch", SensorKind::Touch { at, volume: TouchVolume::Sphere(0.3) });
    limited("axis", SensorKind::FrameAxis { of: at, seen_from: None, axis: 2 });
    limited("turn", SensorKind::FrameOrientation { of: at, seen_from: None });
    let mut simulation = start(builder, H);
    run(&mut simulation, 5);
    assert_reads(&mut simulation, "acceleration", &[0.0, 0.0, 0.5], REST);
    assert_reads(&mut simulation, "touch", &[0.5], 0.0);
    assert_reads(&mut simulation, "axis", &[0.0, 0.0, 1.0], REST);
    assert_reads(&mut simulation, "turn", &[1.0, 0.0, 0.0, 0.0], REST);
}

#[test]
fn without_a_step_a_mechanism_counts_as_held() {
    let mut builder = on_ground(0.5);
    let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
    let at = SensorFrame::of(body);
    add(&mut builder, "acceleration", SensorKind::Accelerometer(at));
    add(&mut builder, "touch", SensorKind::Touch { at, volume: TouchVolume::Sphere(0.3) });
    add(&mut builder, "force", SensorKind::Force(at));
    let mut simulation = start(builder, H);
    let first = simulation.state().clone();
    for _ in 0..2 {
        assert_reads(&mut simulation, "acceleration", &[0.0, 0.0, G], 0.0);
        assert_reads(&mut simulation, "touch", &[0.0], 0.0);
        assert_reads(&mut simulation, "force", &[0.0, 0.0, G], 1e-15 * G);
        run(&mut simulation, 5);
        assert_reads(&mut simulation, "touch", &[G], REST);
        assert_reads(&mut simulation, "force", &[0.0; 3], REST);
        simulation.set_state(&first).unwrap();
    }
}

#[test]
fn what_sleeps_still_presses_and_is_still_carried() {
    let mut builder = on_ground(0.5);
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.1);
    let body = free(&mut builder, shape, 1.0, pose, Surface::with_friction(0.5));
    let at = SensorFrame::of(body);
    add(&mut builder, "touch", SensorKind::Touch { at, volume: TouchVolume::Sphere(0.3) });
    add(&mut builder, "force", SensorKind::Force(at));
    let sleep = Some(Sleep { speed: 1e-3, patience: 0.01 });
    let settings = Settings { time_step: H, sleep, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    run(&mut simulation, 100);
    assert_eq!(simulation.report().unwrap().asleep, 1);
    assert_reads(&mut simulation, "touch", &[G], REST);
    assert_reads(&mut simulation, "force", &[0.0; 3], REST);
}

#[test]
fn a_snapshot_keeps_what_sensors_read_of_the_last_step() {
    let world = || {
        let mut builder = on_ground(0.5);
        let body = cube(&mut builder, 0.1, 0.0, 0.1, 0.5);
        let at = tilted(body);
        add(&mut builder, "accelerometer", SensorKind::Accelerometer(at));
        add(&mut builder, "force", SensorKind::Force(at));
        add(&mut builder, "touch", SensorKind::Touch { at, volume: TouchVolume::Sphere(0.3) });
        start(builder, H)
    };
    let (mut first, mut second) = (world(), world());
    run(&mut first, 7);
    let bytes = first.snapshot().to_bytes();
    second.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    assert_eq!(first.sensor_data(), second.sensor_data());
    assert_reads(&mut second, "touch", &[G], REST);
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
    for kind in [
        SensorKind::Accelerometer(at),
        SensorKind::ActuatorForce(actuator),
        SensorKind::ActuatorPosition(actuator),
        SensorKind::ActuatorVelocity(actuator),
        SensorKind::BallVelocity(ball),
        SensorKind::BallOrientation(ball),
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
        SensorKind::Gyro(at),
        SensorKind::JointActuatorForce(joint),
        SensorKind::JointPosition(joint),
        SensorKind::JointVelocity(joint),
        SensorKind::Magnetometer { at, field: Vector3::x() },
        SensorKind::SubtreeCom(arm),
        SensorKind::TendonPosition(tendon),
        SensorKind::TendonVelocity(tendon),
        SensorKind::Torque(at),
        SensorKind::Touch { at: tilted(body), volume },
        SensorKind::Velocimeter(at),
    ] {
        add(&mut builder, kind.name(), kind);
    }
    builder
}

#[test]
fn every_sensor_of_the_registry_can_be_read_before_and_after_a_step() {
    let mut simulation = start(everything(), H);
    let world = simulation.world().clone();
    let names: Vec<&str> = world.sensors().iter().map(|spec| spec.kind.name()).collect();
    assert_eq!(names, SENSORS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    let mut end = 0;
    for (range, entry) in world.sensor_ranges().zip(SENSORS) {
        assert_eq!(range, end..end + entry.dim, "{}", entry.name);
        assert_eq!(world.sensor_range(entry.name), Some(range.clone()));
        end = range.end;
    }
    assert_eq!(world.sensor_len(), end);
    for _ in 0..3 {
        let readings = simulation.sensor_data();
        assert_eq!(readings.len(), end);
        assert!(readings.iter().all(|x| x.is_finite()), "{readings:?}");
        let _ = simulation.step().unwrap();
    }
    assert_eq!(world.sensor_range("nothing"), None);
    simulation.state_mut().v[0] = f64::NAN;
    assert!(simulation.sensor_data().iter().all(|x| x.is_nan()));
}

#[test]
fn reading_sensors_leaves_the_motion_bit_for_bit_as_it_was() {
    let world = || {
        let mut builder = on_ground(0.5);
        let body = cube(&mut builder, 0.1, 0.0, 0.3, 0.5);
        add(&mut builder, "force", SensorKind::Force(tilted(body)));
        add(&mut builder, "gyro", SensorKind::Gyro(tilted(body)));
        let mut simulation = start(builder, 0.01);
        simulation.state_mut().v[4] = 3.0;
        simulation
    };
    let (mut read, mut unread) = (world(), world());
    for _ in 0..100 {
        let _ = (read.step().unwrap(), unread.step().unwrap());
        assert!(read.sensor_data().iter().all(|x| x.is_finite()));
        assert_eq!(read.state(), unread.state());
    }
}

#[test]
fn the_registry_is_sorted_and_every_entry_says_what_it_is() {
    assert!(SENSORS.is_sorted_by(|a, b| a.name < b.name));
    assert!(SENSORS.iter().all(|entry| !entry.about.is_empty() && entry.dim > 0));
}

#[test]
fn impossible_sensors_are_refused_by_name() {
    let refused = |spec: SensorSpec| {
        let mut builder = WorldBuilder::new();
        let body =
            builder.mechanism.body(part(1.0, Vector3::zeros(), BodyId::WORLD, Vector3::zeros()));
        builder.mechanism.joint(body, JointSpec::new(JointKind::Ball));
        builder.sensor(SensorSpec::new("first", SensorKind::SubtreeCom(body)));
        builder.sensor(spec);
        builder.build().unwrap_err().to_string()
    };
    let world = SensorFrame::of(BodyId::WORLD);
    let nowhere = SensorFrame::of(BodyId(7));
    let hinge = stiction_mech::JointId(0);
    for (kind, expected) in [
        (SensorKind::Gyro(nowhere), "body 7 does not exist"),
        (SensorKind::JointPosition(hinge), "joint of one coordinate"),
        (SensorKind::BallVelocity(stiction_mech::JointId(3)), "joint 3 does not exist"),
        (SensorKind::TendonPosition(stiction_mech::TendonId(0)), "tendon 0 does not exist"),
        (SensorKind::ActuatorForce(stiction_mech::ActuatorId(0)), "actuator 0 does not exist"),
        (SensorKind::FrameAxis { of: world, seen_from: None, axis: 3 }, "0, 1 or 2"),
        (
            SensorKind::Touch { at: world, volume: TouchVolume::Sphere(0.0) },
            "positive numbers of m",
        ),
    ] {
        let message = refused(SensorSpec::new("probe", kind));
        assert!(message.contains(expected) && message.contains("probe"), "{message}");
    }
    let message =
        refused(SensorSpec { cutoff: -1.0, ..SensorSpec::new("probe", SensorKind::Gyro(world)) });
    assert!(message.contains("cutoff = -1"), "{message}");
    let message = refused(SensorSpec::new("first", SensorKind::Gyro(world)));
    assert!(message.contains("a name of its own"), "{message}");
}
