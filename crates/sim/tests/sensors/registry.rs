//! Positions, states without a step, and the registry.

use super::*;

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
        builder.sensor(SensorSpec { name: name.into(), kind, cutoff: 0.5, delay: None });
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
fn sleeping_bodies_keep_their_contact_and_interaction_forces() {
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
