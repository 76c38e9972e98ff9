//! Accelerations, forces and torques against closed forms.

use super::*;

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
fn an_external_force_on_a_part_does_not_load_its_parent() {
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
