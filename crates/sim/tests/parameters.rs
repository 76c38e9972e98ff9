//! Parameters of a simulation: a changed one is that of a world built with the changed numbers, to the bit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{block, cube, free, on_ground, start};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorLaw, ActuatorSpec, BodyId, BodySpec, InverseWeights, JointKind, JointSpec, Limit,
    MassProperties, SoftLaw, Transmission,
};
use stiction_sim::{
    Geom, PARAMETERS, ParameterEntry, ParameterError, Resistance, Scheme, SensorFrame, SensorKind,
    SensorSpec, Settings, Simulation, SoftObject, SoftSurface, Surface, World, WorldBuilder,
    state_hash,
};
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn entry(name: &str) -> &'static ParameterEntry {
    ParameterEntry::find(name).unwrap()
}

/// The numbers of which the world of [`robot`] is made.
#[derive(Clone)]
struct Numbers {
    gravity: Vector3<f64>,
    /// Mass, centre and inertia of the upper arm and of a tool welded to it.
    arm: (f64, Vector3<f64>, Matrix3<f64>),
    tool_mass: f64,
    ball_com: Vector3<f64>,
    joint: JointSpec,
    servo: (f64, [f64; 3], (f64, f64)),
    foot: Surface,
    ball: Surface,
    rubber: Surface,
}

fn soft(reference: [f64; 2]) -> SoftSurface {
    SoftSurface { law: SoftLaw { reference, ..SoftLaw::default() }, ..SoftSurface::default() }
}

impl Numbers {
    fn new() -> Self {
        let mut joint = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
        joint.damping = 0.02;
        joint.armature = 0.01;
        joint.stiffness = 2.0;
        joint.friction_loss = 0.05;
        joint.limit = Some(Limit { lower: -0.4, upper: 0.4, margin: 0.0 });
        joint.limit_softness = Some(SoftLaw { reference: [0.03, 0.9], ..SoftLaw::default() });
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.021, 0.022));
        Self {
            gravity: Vector3::new(0.0, 0.0, -9.81),
            arm: (1.0, Vector3::new(0.2, 0.0, 0.01), inertia),
            tool_mass: 0.3,
            ball_com: Vector3::zeros(),
            joint,
            servo: (20.0, [0.0, -20.0, -0.5], (-30.0, 30.0)),
            foot: Surface { soft: Some(soft([0.05, 0.8])), ..Surface::with_friction(0.4) },
            ball: Surface {
                restitution: 0.3,
                resistance: Resistance::Rolling,
                spin: 1e-3,
                roll: 1e-3,
                priority: 1,
                ..Surface::with_friction(0.4)
            },
            rubber: Surface { stiffness: 1e4, dissipation: 0.01, ..Surface::with_friction(0.4) },
        }
    }
}

/// A servo-driven arm with a tool that presses on the ground, boxes and a ball, and sensors of the last step.
fn robot(numbers: &Numbers) -> Arc<World> {
    let mut builder = on_ground(0.6);
    builder.mechanism.gravity(numbers.gravity);
    let (mass, com, inertia) = numbers.arm;
    let named = |name: &str, parent, pose, mass| BodySpec {
        name: name.to_owned(),
        parent,
        pose,
        mass,
        ..BodySpec::default()
    };
    let pose = Isometry3::translation(0.0, 0.0, 0.3);
    let link = Numbers::new().arm.2;
    let shoulder_mass = MassProperties::new(0.5, Vector3::zeros(), link).ok();
    let shoulder = builder.mechanism.body(named("shoulder", BodyId::WORLD, pose, shoulder_mass));
    builder.mechanism.joint(shoulder, JointSpec::new(JointKind::Hinge { axis: Vector3::z() }));
    let arm_mass = MassProperties::new(mass, com, inertia).ok();
    let arm = builder.mechanism.body(named("arm", shoulder, Isometry3::identity(), arm_mass));
    let hinge = builder.mechanism.joint(arm, numbers.joint.clone());
    let tool_mass =
        MassProperties::new(numbers.tool_mass, Vector3::new(0.01, 0.0, 0.0), link * 0.1).ok();
    let pose = Isometry3::translation(0.5, 0.0, 0.0);
    let mut tool = named("tool", arm, pose, tool_mass);
    tool.gravity_compensation = 0.5;
    let tool = builder.mechanism.body(tool);
    builder.geom(Geom::new(tool, Shape::sphere(0.14).unwrap()).surface(numbers.foot).named("foot"));
    let (gain, bias, range) = numbers.servo;
    let mut servo = ActuatorSpec::motor("servo", Transmission::Joint(hinge));
    servo.law = ActuatorLaw::Affine { gain, bias };
    servo.force_range = Some(range);
    builder.mechanism.actuator(servo);
    let pose = Isometry3::translation(1.0, 0.0, 0.3);
    let unit = Matrix3::identity() * 0.004;
    let mass = MassProperties::new(1.0, numbers.ball_com, unit).ok();
    let ball = builder.mechanism.body(named("ball", BodyId::WORLD, pose, mass));
    builder.mechanism.joint(ball, JointSpec::new(JointKind::Free));
    builder.geom(Geom::new(ball, Shape::sphere(0.1).unwrap()).surface(numbers.ball).named("ball"));
    let shape = Shape::sphere(0.05).unwrap();
    let pose = Isometry3::translation(2.0, 0.0, 0.2);
    let rubber = free(&mut builder, shape.clone(), 0.5, pose, Surface::default());
    builder.geom(Geom::new(rubber, shape).surface(numbers.rubber).named("rubber"));
    for kind in [
        SensorKind::Accelerometer(SensorFrame::of(tool)),
        SensorKind::Force(SensorFrame::of(arm)),
        SensorKind::JointActuatorForce(hinge),
    ] {
        builder.sensor(SensorSpec::new(kind.name(), kind));
    }
    Arc::new(builder.build().unwrap())
}

/// A change of a parameter: its name, the name of its owner, the new value, and the same in the numbers of the world.
type Change = (&'static str, &'static str, Vec<f64>, fn(&mut Numbers));

fn changes() -> Vec<Change> {
    vec![
        ("actuator_bias", "servo", vec![0.5, -15.0, -0.7], |n| n.servo.1 = [0.5, -15.0, -0.7]),
        ("actuator_force_range", "servo", vec![-1.0, 2.0], |n| n.servo.2 = (-1.0, 2.0)),
        ("actuator_gain", "servo", vec![12.0], |n| n.servo.0 = 12.0),
        ("body_com", "arm", vec![0.1, 0.02, 0.0], |n| n.arm.1 = Vector3::new(0.1, 0.02, 0.0)),
        ("body_com", "ball", vec![0.01, 0.0, -0.02], |n| {
            n.ball_com = Vector3::new(0.01, 0.0, -0.02);
        }),
        ("body_inertia", "arm", vec![0.03, 0.001, 0.0, 0.001, 0.04, 0.0, 0.0, 0.0, 0.05], |n| {
            n.arm.2 = Matrix3::new(0.03, 0.001, 0.0, 0.001, 0.04, 0.0, 0.0, 0.0, 0.05);
        }),
        ("body_mass", "arm", vec![1.7], |n| n.arm.0 = 1.7),
        ("body_mass", "tool", vec![0.9], |n| n.tool_mass = 0.9),
        ("geom_dissipation", "rubber", vec![0.02], |n| n.rubber.dissipation = 0.02),
        ("geom_friction", "foot", vec![0.1], |n| n.foot.friction = 0.1),
        ("geom_restitution", "ball", vec![0.9], |n| n.ball.restitution = 0.9),
        ("geom_roll_friction", "ball", vec![0.02], |n| n.ball.roll = 0.02),
        ("geom_soft_impedance", "foot", vec![0.8, 0.9, 0.002, 0.5, 2.0], |n| {
            n.foot.soft.as_mut().unwrap().law.impedance = [0.8, 0.9, 0.002, 0.5, 2.0];
        }),
        ("geom_soft_reference", "foot", vec![0.1, 1.2], |n| {
            n.foot.soft = Some(soft([0.1, 1.2]));
        }),
        ("geom_spin_friction", "ball", vec![0.01], |n| n.ball.spin = 0.01),
        ("geom_stiffness", "rubber", vec![2e4], |n| n.rubber.stiffness = 2e4),
        ("gravity", "", vec![0.5, 0.0, -3.7], |n| n.gravity = Vector3::new(0.5, 0.0, -3.7)),
        ("joint_armature", "1", vec![0.05], |n| n.joint.armature = 0.05),
        ("joint_damping", "1", vec![0.3], |n| n.joint.damping = 0.3),
        ("joint_friction_loss", "1", vec![0.4], |n| n.joint.friction_loss = 0.4),
        ("joint_range", "1", vec![-0.2, 0.1], |n| {
            n.joint.limit = Some(Limit { lower: -0.2, upper: 0.1, margin: 0.0 });
        }),
        ("joint_spring_reference", "1", vec![0.3], |n| n.joint.spring_reference = 0.3),
        ("joint_stiffness", "1", vec![9.0], |n| n.joint.stiffness = 9.0),
    ]
}

fn index_of(world: &World, change: &Change) -> usize {
    let (parameter, owner, ..) = change;
    let model = world.model();
    match parameter.split('_').next() {
        Some("body") => model.body(owner).unwrap().0,
        Some("geom") => world.geom(owner).unwrap(),
        Some("joint") => owner.parse().unwrap(),
        _ => 0,
    }
}

fn simulation(world: &Arc<World>, scheme: Scheme) -> Simulation {
    let settings = Settings { time_step: 0.004, scheme, ..Settings::default() };
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    simulation.input_mut().control[0] = 0.6;
    simulation.input_mut().wrench[2][5] = 0.3;
    simulation.state_mut().v[2..8].copy_from_slice(&[0.5, 0.2, 0.0, 0.0, 0.0, 3.0]);
    simulation
}

fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
        simulation.sensor_data();
    }
}

/// Bits of all that can be observed.
fn bits(simulation: &mut Simulation) -> (u64, Vec<u64>) {
    let readings = simulation.sensor_data().iter().map(|x| x.to_bits()).collect();
    (state_hash(simulation.state()), readings)
}

#[test]
fn a_changed_parameter_is_that_of_a_world_built_with_it_to_the_bit() {
    let base = robot(&Numbers::new());
    let tested: Vec<&str> = changes().iter().map(|change| change.0).collect();
    assert!(PARAMETERS.iter().all(|entry| tested.contains(&entry.name)));
    for scheme in [Scheme::Refined, Scheme::Euler, Scheme::Midpoint] {
        let mut before = simulation(&base, scheme);
        run(&mut before, 120);
        let unchanged = bits(&mut before);
        let before = before.snapshot();
        for change in changes() {
            let label = format!("{} {} {}", change.0, change.1, scheme.name());
            let mut numbers = Numbers::new();
            change.3(&mut numbers);
            let other = robot(&numbers);
            // From the start on.
            let (mut one, mut two) = (simulation(&base, scheme), simulation(&other, scheme));
            one.set_parameter(entry(change.0), index_of(&base, &change), &change.2).unwrap();
            run(&mut one, 120);
            run(&mut two, 120);
            assert_eq!(bits(&mut one), bits(&mut two), "{label} from the start");
            assert_ne!(bits(&mut one), unchanged, "{label} has an effect");
            // In the middle of a motion.
            let mut one = simulation(&base, scheme);
            run(&mut one, 120);
            one.set_parameter(entry(change.0), index_of(&base, &change), &change.2).unwrap();
            two.restore(&before).unwrap();
            two.state_mut();
            run(&mut one, 120);
            run(&mut two, 120);
            assert_eq!(bits(&mut one), bits(&mut two), "{label} in motion");
        }
    }
}

#[test]
fn parameters_are_part_of_snapshots_and_of_their_bytes() {
    let base = robot(&Numbers::new());
    let mut one = simulation(&base, Scheme::Refined);
    for change in changes() {
        one.set_parameter(entry(change.0), index_of(&base, &change), &change.2).unwrap();
    }
    run(&mut one, 60);
    let snapshot = one.snapshot();
    assert_eq!(snapshot.parameters().count(), PARAMETERS.len());
    let read = stiction_sim::Snapshot::from_bytes(&snapshot.to_bytes()).unwrap();
    assert_eq!(read, snapshot);
    let mut other = simulation(&base, Scheme::Refined);
    run(&mut other, 10);
    let plain = other.snapshot();
    other.restore(&read).unwrap();
    assert_eq!(other.snapshot(), snapshot);
    run(&mut one, 60);
    run(&mut other, 60);
    assert_eq!(bits(&mut one), bits(&mut other));
    // A snapshot without them sets them back.
    other.restore(&plain).unwrap();
    let mut fresh = simulation(&base, Scheme::Refined);
    run(&mut fresh, 10);
    run(&mut other, 30);
    run(&mut fresh, 30);
    assert_eq!(bits(&mut fresh), bits(&mut other));
    for entry in PARAMETERS {
        let values =
            |world: &World| entry.values(world).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(values(other.world()), values(&base), "{}", entry.name);
    }
    // So does the method.
    one.reset_parameters();
    assert!(Arc::ptr_eq(one.world(), &base));
    assert_eq!(one.snapshot().parameters().count(), 0);
}

#[test]
fn another_simulation_of_the_same_world_is_not_changed() {
    let base = robot(&Numbers::new());
    let (mut one, mut two) =
        (simulation(&base, Scheme::Refined), simulation(&base, Scheme::Refined));
    let mass = entry("body_mass");
    one.set_parameter(mass, 2, &[5.0]).unwrap();
    assert_eq!((one.parameters(mass)[2], two.parameters(mass)[2]), (5.0, 1.0));
    let mut three = simulation(&base, Scheme::Refined);
    run(&mut two, 20);
    run(&mut three, 20);
    assert_eq!(bits(&mut two), bits(&mut three));
}

#[test]
fn a_pushed_block_accelerates_by_the_force_over_its_mass_as_changed() {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let body = free(&mut builder, shape, 1.0, Isometry3::identity(), Surface::default());
    let mut simulation = start(builder, 0.01);
    let (force, mut speed) = (3.0, 0.0);
    for mass in [1.0, 4.0, 0.25] {
        simulation.set_parameter(entry("body_mass"), body.0, &[mass]).unwrap();
        simulation.input_mut().wrench[body.0][3] = force;
        for _ in 0..100 {
            let _ = simulation.step().unwrap();
        }
        // One second; the error of a sum of a hundred terms.
        speed += force / mass;
        assert!((simulation.state().v[0] - speed).abs() <= 1e-12 * speed, "{mass} kg");
    }
}

#[test]
fn a_slide_ends_after_v_squared_over_twice_mu_g_with_the_friction_as_changed() {
    let (v, g, h) = (1.0, 9.81, 1e-3);
    for mu in [0.2, 0.5] {
        let mut builder = on_ground(1.0);
        cube(&mut builder, 0.1, 0.0, 0.1, 1.0);
        let mut simulation = start(builder, h);
        simulation.set_parameters(entry("geom_friction"), &[mu, mu]).unwrap();
        simulation.state_mut().v[0] = v;
        for _ in 0..(1.2 * v / (mu * g * h)) as usize {
            let _ = simulation.step().unwrap();
        }
        let (found, exact) = (simulation.state().q[0], v * v / (2.0 * mu * g));
        // Impulses are constant in a step: the path is exact but for that of the last, shorter step.
        assert!((found - exact).abs() <= v * h, "μ = {mu}: {found} against {exact}");
        assert!(simulation.state().v[0].abs() <= 1e-9);
    }
}

#[test]
fn a_servo_holds_a_load_where_its_changed_stiffness_balances_it() {
    let mut builder = WorldBuilder::new();
    let (mass, g) = (2.0, 9.81);
    let inertia = Matrix3::identity() * 0.1;
    let body = builder.mechanism.body(BodySpec {
        mass: MassProperties::new(mass, Vector3::zeros(), inertia).ok(),
        ..BodySpec::default()
    });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::z() });
    let slide = builder.mechanism.joint(body, slide);
    builder.mechanism.actuator(ActuatorSpec::position(
        "lift",
        Transmission::Joint(slide),
        100.0,
        40.0,
    ));
    let mut simulation = start(builder, 0.01);
    for stiffness in [200.0, 50.0] {
        simulation.set_parameter(entry("actuator_gain"), 0, &[stiffness]).unwrap();
        simulation.set_parameter(entry("actuator_bias"), 0, &[0.0, -stiffness, -40.0]).unwrap();
        simulation.input_mut().control[0] = 0.1;
        for _ in 0..3000 {
            let _ = simulation.step().unwrap();
        }
        let exact = 0.1 - mass * g / stiffness;
        // The slowest decay is e^(−t k/d): thirty seconds are at least thirty times its time.
        assert!((simulation.state().q[0] - exact).abs() <= 1e-9, "{stiffness} N/m");
    }
}

#[test]
fn a_soft_body_falls_with_the_gravity_as_changed() {
    let mut builder = WorldBuilder::new();
    let spec = block(Vector3::repeat(0.1), [2; 3], Vector3::new(0.0, 0.0, 1.0));
    builder.soft(SoftObject::new(spec));
    let mut simulation = start(builder, 0.01);
    simulation.set_parameter(entry("gravity"), 0, &[0.0, 0.0, -1.62]).unwrap();
    for _ in 0..50 {
        let _ = simulation.step().unwrap();
    }
    let fastest = simulation
        .state()
        .x_dot
        .iter()
        .map(|v| v.z + 1.62 * 0.5)
        .fold(0.0, |a: f64, x| a.max(x.abs()));
    // No element deforms: round-off of stiff elements alone.
    assert!(fastest <= 1e-9, "{fastest}");
}

#[test]
fn a_block_at_rest_wakes_when_its_support_loses_friction() {
    let mut builder = on_ground(1.0);
    builder.mechanism.gravity(Vector3::new(3.0, 0.0, -9.81));
    cube(&mut builder, 0.1, 0.0, 0.1, 1.0);
    let settings =
        Settings { sleep: Some(Default::default()), time_step: 0.01, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    for _ in 0..300 {
        let _ = simulation.step().unwrap();
    }
    assert!(simulation.state().v.iter().all(|v| *v == 0.0), "asleep");
    simulation.set_parameters(entry("geom_friction"), &[0.0, 0.0]).unwrap();
    for _ in 0..10 {
        let _ = simulation.step().unwrap();
    }
    // Without friction: 3 m/s² for a tenth of a second.
    assert!((simulation.state().v[0] - 0.3).abs() <= 1e-9);
}

#[test]
fn wrong_values_are_refused_with_what_was_found_and_change_nothing() {
    let base = robot(&Numbers::new());
    let mut simulation = simulation(&base, Scheme::Refined);
    for (name, index, value, says) in [
        ("body_mass", 2, vec![-1.0], "body \"arm\": mass = -1 kg; expected a finite number > 0"),
        (
            "body_mass",
            0,
            vec![1.0],
            "body 0: mass = 1; expected 0: the model gives this body no mass",
        ),
        ("body_mass", 9, vec![1.0], "body_mass[9]: there are 6"),
        ("body_com", 2, vec![f64::NAN; 3], "body \"arm\": centre of mass"),
        (
            "body_inertia",
            2,
            vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0],
            "body \"arm\": principal moments",
        ),
        (
            "geom_friction",
            1,
            vec![-0.1],
            "shape \"foot\": friction = -0.1; expected a finite number that is not negative",
        ),
        (
            "geom_restitution",
            2,
            vec![1.5],
            "shape \"ball\": restitution = 1.5; expected a number between 0 and 1",
        ),
        (
            "geom_stiffness",
            2,
            vec![0.0],
            "shape \"ball\": stiffness = 0; expected a positive number of N/m",
        ),
        (
            "joint_damping",
            1,
            vec![-1.0],
            "joint 1: damping = -1; expected a finite number that is not negative",
        ),
        (
            "joint_range",
            1,
            vec![1.0, 0.0],
            "joint 1: lower end of the range = 1; expected a number that is not above",
        ),
        (
            "joint_range",
            0,
            vec![-1.0, 1.0],
            "joint 0: range = -1; expected not a number: the model gives this joint no limits",
        ),
        (
            "actuator_gain",
            0,
            vec![f64::INFINITY],
            "actuator \"servo\": gain = inf; expected a finite number",
        ),
        (
            "actuator_force_range",
            0,
            vec![2.0, 1.0],
            "actuator \"servo\": lower end of the force range = 2",
        ),
        ("gravity", 0, vec![0.0; 2], "gravity: found 2 numbers; expected 3"),
    ] {
        let before = simulation.snapshot();
        let error = simulation.set_parameter(entry(name), index, &value).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(simulation.snapshot(), before);
    }
    let error = simulation.set_parameters(entry("body_mass"), &[1.0]).unwrap_err();
    assert_eq!(error, ParameterError::Length { name: "body_mass", found: 1, expected: 6 });
    let error = ParameterEntry::find("body_mas").unwrap_err().to_string();
    assert!(error.contains("parameter \"body_mas\"; expected one of: actuator_bias,"), "{error}");
}

#[test]
fn neither_changes_nor_the_steps_after_them_take_memory() {
    let base = robot(&Numbers::new());
    let mut simulation = simulation(&base, Scheme::Refined);
    let mut taken = usize::MAX;
    // Other motions have other numbers of rows: memory grows while all of them are new.
    for _ in 0..3 {
        let before = allocations();
        for factor in [1.1, 0.9] {
            simulation.set_parameter(entry("body_mass"), 4, &[factor]).unwrap();
            simulation.set_parameter(entry("geom_friction"), 2, &[0.4 * factor]).unwrap();
            simulation.set_parameter(entry("actuator_gain"), 0, &[20.0 * factor]).unwrap();
            simulation.set_parameter(entry("joint_damping"), 1, &[0.02 * factor]).unwrap();
            for _ in 0..100 {
                let _ = simulation.step().unwrap();
            }
        }
        taken = allocations() - before;
    }
    // Inverse weights, which rows of the soft limit read, are computed in memory of their own after a change of mass.
    let before = allocations();
    drop(InverseWeights::new(simulation.world().model()));
    let weights = allocations() - before;
    assert_eq!(taken, 2 * weights);
}

#[test]
fn a_generalized_force_accelerates_a_slide_by_force_over_mass() {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).ok();
    let body = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::x() }));
    let mut simulation = start(builder, 0.01);
    simulation.input_mut().force[0] = 3.0;
    let forward = simulation.forward().unwrap();
    // One division by the step: round-off over 0.01.
    assert!((forward.acceleration[0] - 1.5).abs() <= 1e-13);
    assert_eq!(simulation.state().v, [0.0]);
    for _ in 0..100 {
        let _ = simulation.step().unwrap();
    }
    assert!((simulation.state().v[0] - 1.5).abs() <= 1e-13);
    let read = stiction_sim::Snapshot::from_bytes(&simulation.snapshot().to_bytes()).unwrap();
    assert_eq!(read.input.force, [3.0]);
    simulation.input_mut().force[0] = f64::NAN;
    assert!(simulation.step().unwrap_err().to_string().contains("generalized force"));
}

#[test]
fn forward_finds_what_the_next_step_does_and_changes_no_bit_of_it() {
    let base = robot(&Numbers::new());
    let mut one = simulation(&base, Scheme::Refined);
    let mut two = simulation(&base, Scheme::Refined);
    for _ in 0..150 {
        let before = one.snapshot();
        let forward = one.forward().unwrap();
        assert_eq!(one.snapshot(), before);
        let _ = one.step().unwrap();
        assert_eq!(forward.contacts, one.contacts());
        let _ = two.step().unwrap();
    }
    assert_eq!(bits(&mut one), bits(&mut two));
}
