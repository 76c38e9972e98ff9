//! Closed loops, couplings, limits, dry friction and servos against closed forms.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3, Vector6};
use std::f64::consts::TAU;
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointId, JointKind, JointSpec, Limit, MassProperties, State,
    TendonPath, TendonSpec, Transmission,
};
use stiction_sim::constraint::{
    Connect, Distance, Equality, JointCoupling, Polynomial, TendonCoupling, Weld,
};
use stiction_sim::{Geom, Settings, Simulation, StepReport, World, WorldBuilder};
use stiction_study::scenario;

const GRAVITY: f64 = 9.81;

fn mass(mass: f64, com: Vector3<f64>, moments: [f64; 3]) -> Option<MassProperties> {
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    Some(MassProperties::new(mass, com, inertia).unwrap())
}

/// A body of one kilogram on a joint, named after it.
fn jointed(builder: &mut WorldBuilder, name: &str, spec: JointSpec) -> (BodyId, JointId) {
    let body = builder.mechanism.body(BodySpec {
        name: name.into(),
        mass: mass(1.0, Vector3::zeros(), [0.01; 3]),
        ..BodySpec::default()
    });
    let joint = builder.mechanism.joint(body, JointSpec { name: name.into(), ..spec });
    (body, joint)
}

fn slide(axis: Vector3<f64>) -> JointSpec {
    JointSpec::new(JointKind::Slide { axis })
}

fn simulation(world: World, time_step: f64) -> Simulation {
    Simulation::new(world, Settings { time_step, ..Settings::default() }).unwrap()
}

fn step(simulation: &mut Simulation) -> StepReport {
    let report = simulation.step().unwrap();
    assert!(report.converged(), "t = {} s: {report:?}", simulation.state().time);
    report
}

/// Runs for a time; returns the last report.
fn run(simulation: &mut Simulation, time: f64) -> StepReport {
    let steps = (time / simulation.settings().time_step).round() as usize;
    let mut last = None;
    for _ in 0..steps {
        last = Some(step(simulation));
    }
    last.unwrap()
}

/// Largest change of the energy of a scenario over a time.
fn energy_change(name: &str, time_step: f64, time: f64) -> f64 {
    let set = [("time-step".to_owned(), time_step.to_string())];
    let mut scene_run = scenario(name, &set).unwrap().start().unwrap();
    let start = scene_run.simulation.energy();
    let mut change = 0.0_f64;
    for _ in 0..(time / time_step).round() as usize {
        let report = scene_run.step().unwrap();
        assert!(report.converged() && report.equality_error <= 1e-8, "{report:?}");
        change = change.max((scene_run.simulation.energy() - start).abs());
    }
    change
}

#[test]
fn loops_of_four_bars_and_of_a_slider_follow_their_closed_forms() {
    for name in ["four-bar", "slider-crank"] {
        for scheme in ["symplectic", "midpoint", "implicit"] {
            let set = [("scheme".to_owned(), scheme.to_owned())];
            let verdict = scenario(name, &set).unwrap().start().unwrap().run().unwrap();
            assert!(verdict.passed, "{name}, {scheme}: {}", verdict.detail);
        }
    }
}

#[test]
fn energy_of_loops_is_conserved_to_first_order() {
    for name in ["four-bar", "slider-crank"] {
        let (coarse, fine) = (energy_change(name, 2e-3, 1.0), energy_change(name, 5e-4, 1.0));
        // First order gives a ratio of 4; terms of second order take at most half of it here.
        assert!(coarse / fine > 2.0, "{name}: {coarse} J and {fine} J");
    }
}

/// Two boxes side by side, as two free bodies held by a weld, or as one.
fn dumbbell(welded: bool) -> World {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let apart = Isometry3::from_parts(
        Translation3::new(0.3, 0.1, 0.0),
        UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1),
    );
    let moments = [0.002, 0.003, 0.004];
    let first = builder.mechanism.body(BodySpec {
        name: "first".into(),
        mass: mass(1.0, Vector3::zeros(), moments),
        ..BodySpec::default()
    });
    let second = builder.mechanism.body(BodySpec {
        name: "second".into(),
        parent: if welded { BodyId::WORLD } else { first },
        pose: apart,
        mass: mass(2.0, Vector3::zeros(), moments),
        ..BodySpec::default()
    });
    builder.mechanism.joint(first, JointSpec::new(JointKind::Free));
    if welded {
        builder.mechanism.joint(second, JointSpec::new(JointKind::Free));
        let weld = Weld { body_a: first, body_b: second, pose: apart };
        builder.equality("weld", Equality::Weld(weld));
    }
    builder.build().unwrap()
}

/// Pose of the first box after a second of tumbling.
fn tumble(welded: bool, time_step: f64) -> Isometry3<f64> {
    let mut simulation = simulation(dumbbell(welded), time_step);
    let world = simulation.world().clone();
    let mut state = State::new(world.model());
    let spin = Vector3::new(1.0, 2.0, 3.0);
    state.v[3..6].copy_from_slice(spin.as_slice());
    if welded {
        let pose = world.model().bodies()[2].spec.pose;
        let v = spin.cross(&pose.translation.vector);
        state.v[6..9].copy_from_slice(v.as_slice());
        state.v[9..12].copy_from_slice((pose.rotation.inverse() * spin).as_slice());
    }
    simulation.set_state(&state).unwrap();
    let report = run(&mut simulation, 1.0);
    assert!(report.equality_error <= 1e-8, "{}", report.equality_error);
    simulation.body_pose(world.model().body("first").unwrap().0)
}

#[test]
fn two_bodies_held_by_a_weld_tumble_as_one() {
    // The finest composite stands for the exact motion.
    let exact = tumble(false, 2.5e-5);
    let error = |welded: bool, time_step: f64| {
        let found = tumble(welded, time_step);
        let apart = exact.inverse() * found;
        apart.translation.vector.norm() + apart.rotation.angle()
    };
    let (coarse, fine) = (error(true, 2e-3), error(true, 5e-4));
    // First order: a quarter of the step has a quarter of the error, up to higher terms and the
    // error of what stands for exact, a twentieth of the finer one.
    assert!(fine < coarse / 3.0, "{coarse}, {fine}");
    // The turn in one step is |ω| h; its error after a second is of that size.
    assert!(coarse < 2e-3 * 14.0_f64.sqrt() * 14.0_f64.sqrt(), "{coarse}");
}

/// Angle from the vertical of a bar that was let go from the horizontal, after a time.
fn swing(kind: &str, time_step: f64, time: f64) -> (f64, f64) {
    const LENGTH: f64 = 0.5;
    let mut builder = WorldBuilder::new();
    let across = LENGTH * LENGTH / 12.0;
    let body = builder.mechanism.body(BodySpec {
        name: "bar".into(),
        mass: mass(1.0, Vector3::x() * (0.5 * LENGTH), [0.1 * across, across, across]),
        ..BodySpec::default()
    });
    let joint = match kind {
        "hinge" => JointKind::Hinge { axis: Vector3::y() },
        "ball" => JointKind::Ball,
        _ => JointKind::Free,
    };
    builder.mechanism.joint(body, JointSpec::new(joint));
    if kind == "connect" {
        let origin = Vector3::zeros();
        builder.equality(
            "pivot",
            Equality::Connect(Connect {
                body_a: BodyId::WORLD,
                point_a: origin,
                body_b: body,
                point_b: origin,
            }),
        );
    }
    let mut simulation = simulation(builder.build().unwrap(), time_step);
    let start = simulation.energy();
    let mut change = 0.0_f64;
    for _ in 0..(time / time_step).round() as usize {
        let report = step(&mut simulation);
        assert!(report.equality_error <= 1e-8);
        change = change.max((simulation.energy() - start).abs());
    }
    let along = simulation.body_pose(body.0).rotation * Vector3::x();
    (along.z.atan2(along.x), change)
}

#[test]
fn a_pendulum_on_a_connect_swings_as_on_a_hinge_or_a_ball() {
    let exact = swing("hinge", 1e-5, 0.7).0;
    for kind in ["hinge", "ball", "connect"] {
        let (coarse, fine) = (swing(kind, 4e-3, 0.7), swing(kind, 1e-3, 0.7));
        let (coarse_error, fine_error) = ((coarse.0 - exact).abs(), (fine.0 - exact).abs());
        // First order, and below the angle that is covered in a step: ω ≤ √(3 g / L).
        assert!(coarse_error <= 4e-3 * (3.0 * GRAVITY / 0.5_f64).sqrt(), "{kind}: {coarse_error}");
        assert!(fine_error <= coarse_error / 2.0, "{kind}: {coarse_error}, {fine_error}");
        // Symplectic Euler is off by h/2 times the power of the weight, m g ω L/2 at most, and the
        // chord leaves terms of the same size: h times that power.
        let power = GRAVITY * 0.25 * (3.0 * GRAVITY / 0.5_f64).sqrt();
        assert!(fine.1 <= 1e-3 * power, "{kind}: {} J", fine.1);
    }
}

#[test]
fn a_pendulum_on_a_connect_swings_for_a_minute() {
    // Asked for a tangent instead of a chord, it would have lost all but e^(−h ω² t) of its energy.
    let (_, change) = swing("connect", 5e-3, 60.0);
    let power = GRAVITY * 0.25 * (3.0 * GRAVITY / 0.5_f64).sqrt();
    assert!(change <= 5e-3 * power, "{change} J");
}

#[test]
fn a_joint_follows_another_by_a_polynomial_exactly() {
    let mut builder = WorldBuilder::new();
    let hinge = || JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
    let (_, leader) = jointed(&mut builder, "leader", hinge());
    let (_, follower) = jointed(&mut builder, "follower", hinge());
    let polynomial = Polynomial([0.0, 0.5, -0.3, 0.1, 0.0]);
    let coupling = JointCoupling { joint: follower, leader: Some(leader), polynomial };
    builder.equality("mimic", Equality::Joint(coupling));
    let mut simulation = simulation(builder.build().unwrap(), 2e-3);
    simulation.state_mut().v.copy_from_slice(&[1.0, 0.5]);
    for _ in 0..500 {
        let _ = step(&mut simulation);
        let [leads, follows] = simulation.state().q[..] else { panic!() };
        // What the settings leave of an error.
        assert!((follows - polynomial.at(leads).0).abs() <= 1e-9, "{leads} {follows}");
    }
    assert!(simulation.state().q[0] > 0.5);
}

#[test]
fn two_tendons_keep_their_relation() {
    let mut builder = WorldBuilder::new();
    let (_, first) = jointed(&mut builder, "first", slide(Vector3::z()));
    let (_, second) = jointed(&mut builder, "second", slide(Vector3::z()));
    let leader =
        builder.mechanism.tendon(TendonSpec::new("leader", TendonPath::Fixed(vec![(first, 2.0)])));
    let tendon = builder
        .mechanism
        .tendon(TendonSpec::new("follower", TendonPath::Fixed(vec![(second, 1.0)])));
    let polynomial = Polynomial([0.0, -1.0, 0.0, 0.0, 0.0]);
    let coupling = TendonCoupling { tendon, leader: Some(leader), polynomial };
    builder.equality("rope", Equality::Tendon(coupling));
    let mut simulation = simulation(builder.build().unwrap(), 2e-3);
    let _ = run(&mut simulation, 0.5);
    // A hoist: the second mass rises twice as fast as the first falls. With x₂ = −2 x₁ the
    // equation of motion is (m + 4 m) ẍ₁ = −m g + 2 m g, the weight of the second being lifted.
    let [x, y] = simulation.state().v[..] else { panic!() };
    assert!((x - GRAVITY / 5.0 * 0.5).abs() <= 1e-9, "{x}");
    assert!((y + 2.0 * x).abs() <= 1e-9, "{y}");
}

#[test]
fn a_mass_at_a_distance_swings_with_the_period_of_a_pendulum() {
    const LENGTH: f64 = 0.4;
    const ANGLE: f64 = 0.1;
    let h = 1e-3;
    let mut builder = WorldBuilder::new();
    let at = Vector3::new(LENGTH * ANGLE.sin(), 0.0, -LENGTH * ANGLE.cos());
    let body = builder.mechanism.body(BodySpec {
        pose: Isometry3::translation(at.x, at.y, at.z),
        mass: mass(1.0, Vector3::zeros(), [1e-3; 3]),
        ..BodySpec::default()
    });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    builder.equality(
        "rod",
        Equality::Distance(Distance {
            body_a: BodyId::WORLD,
            point_a: Vector3::zeros(),
            body_b: body,
            point_b: Vector3::zeros(),
            distance: LENGTH,
        }),
    );
    let mut simulation = simulation(builder.build().unwrap(), h);
    let mut crossings = Vec::new();
    let mut last = at.x;
    for _ in 0..4000 {
        assert!(step(&mut simulation).equality_error <= 1e-8);
        let (x, time) = (simulation.state().q[0], simulation.state().time);
        if x.signum() != last.signum() {
            crossings.push(time - h * x / (x - last));
        }
        last = x;
    }
    let periods = (crossings.len() - 1) as f64 / 2.0;
    let found = (crossings.last().unwrap() - crossings[0]) / periods;
    // The series of the elliptic integral; its next term is 11 θ⁴/3072 of the whole.
    let expected = TAU * (LENGTH / GRAVITY).sqrt() * (1.0 + ANGLE * ANGLE / 16.0);
    // Leapfrog is off by (ω h)²/24 of the period, below 1.1e-6 here; the series by 3.6e-7.
    assert!((found / expected - 1.0).abs() <= 2e-6, "{found} s against {expected} s");
}

#[test]
fn a_joint_stops_at_its_limit_without_overshoot_or_gain() {
    for h in [2e-3, 1e-2] {
        // Falls 0.2 m onto the lower end of its range, or starts a hair above it.
        for gap in [0.2, 1e-7] {
            let mut builder = WorldBuilder::new();
            let limit = Some(Limit { lower: -gap, upper: 1.0, margin: 0.0 });
            jointed(&mut builder, "slide", JointSpec { limit, ..slide(Vector3::z()) });
            let mut simulation = simulation(builder.build().unwrap(), h);
            let mut energy = simulation.energy();
            let mut lowest = 0.0_f64;
            for _ in 0..(0.5 / h) as usize {
                let _ = step(&mut simulation);
                lowest = lowest.min(simulation.state().q[0]);
                // A free step of symplectic Euler loses m (g h)²/2; at rest the solver leaves a speed
                // of its tolerance, which moves the weight by less than a nanometre.
                let now = simulation.energy();
                assert!(now <= energy + 1e-8, "h = {h}, gap = {gap}: {energy} → {now} J");
                energy = now;
            }
            // Exactly at the end: what the settings call no penetration.
            assert!(lowest + gap >= -1e-5, "h = {h}, gap = {gap}: {} beyond", -gap - lowest);
            // The solver's tolerance is relative to the velocity that the weight would give.
            let speed = simulation.state().v[0].abs();
            assert!(speed <= simulation.settings().tolerance * GRAVITY * h, "{speed} m/s");
        }
    }
}

#[test]
fn dry_friction_of_a_joint_holds_below_its_limit_and_slips_above() {
    let friction_loss = 3.0;
    for (force, expected) in [(2.9, 0.0), (-2.9, 0.0), (5.0, 2.0), (-5.0, -2.0)] {
        let mut builder = WorldBuilder::new();
        let (_, joint) =
            jointed(&mut builder, "slide", JointSpec { friction_loss, ..slide(Vector3::x()) });
        builder.mechanism.actuator(ActuatorSpec::motor("push", Transmission::Joint(joint)));
        let mut simulation = simulation(builder.build().unwrap(), 2e-3);
        simulation.input_mut().control[0] = force;
        let _ = run(&mut simulation, 1.0);
        // Force and friction are constant: m v = (F ∓ f) t, up to the solver's tolerance per step.
        let found = simulation.state().v[0];
        assert!((found - expected).abs() <= 1e-6, "{force} N: {found} against {expected} m/s");
    }
}

#[test]
fn a_servo_presses_against_a_wall_with_its_largest_force() {
    let largest = 20.0;
    let mut builder = WorldBuilder::new();
    let half = 0.1;
    let (body, joint) = jointed(&mut builder, "slide", slide(Vector3::x()));
    builder.geom(Geom::new(body, Shape::cuboid(Vector3::repeat(half)).unwrap()));
    let wall = Isometry3::translation(0.5, 0.0, 0.0);
    let slab = Shape::cuboid(Vector3::new(0.05, 1.0, 1.0)).unwrap();
    builder.geom(Geom::new(BodyId::WORLD, slab).at(wall));
    let servo = ActuatorSpec::position("push", Transmission::Joint(joint), 1e4, 1e2);
    builder.mechanism.actuator(ActuatorSpec { force_range: Some((-largest, largest)), ..servo });
    // The servo would move at kp Δq/(h kp + kd) = 54 m/s if nothing held it; relative to that speed
    // 1e-8 is 3e-4 N for a kilogram and 2 ms.
    let settings = Settings { time_step: 2e-3, tolerance: 1e-8, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.input_mut().control[0] = 1.0;
    let _ = run(&mut simulation, 1.0);
    let force: f64 = simulation.contacts().iter().map(|c| c.force.x).sum();
    // On the slide, if it is B, the wall's force is against the servo's.
    assert!((force.abs() - largest).abs() <= 1e-3, "{force} N");
    assert!((simulation.state().q[0] - (0.45 - half)).abs() <= 1e-4);
}

#[test]
fn a_stiff_servo_is_stable_at_a_large_step() {
    let (kp, h) = (1e6, 1e-2);
    let mut builder = WorldBuilder::new();
    let (_, joint) = jointed(&mut builder, "slide", slide(Vector3::z()));
    builder.mechanism.actuator(ActuatorSpec::position("hold", Transmission::Joint(joint), kp, 2e3));
    let mut simulation = simulation(builder.build().unwrap(), h);
    simulation.input_mut().control[0] = 0.1;
    let mut largest = 0.0_f64;
    for _ in 0..200 {
        let _ = step(&mut simulation);
        largest = largest.max(simulation.state().q[0]);
    }
    // At rest the spring carries the weight; implicit Euler of a critically damped spring does
    // not overshoot.
    let expected = 0.1 - GRAVITY / kp;
    assert!((simulation.state().q[0] - expected).abs() <= 1e-9, "{}", simulation.state().q[0]);
    assert!(largest <= 0.1, "{largest}");
}

#[test]
fn every_scheme_keeps_loops_closed() {
    for stiction_sim::SchemeEntry { name, scheme, .. } in stiction_sim::SCHEMES {
        let set = [("scheme".to_owned(), (*name).to_owned())];
        let mut scene_run = scenario("four-bar", &set).unwrap().start().unwrap();
        for _ in 0..200 {
            let report = scene_run.step().unwrap();
            assert!(report.equality_error <= 1e-8, "{scheme:?}: {}", report.equality_error);
        }
    }
}

#[test]
fn a_wrench_on_one_of_two_welded_bodies_moves_both() {
    let mut simulation = simulation(dumbbell(true), 2e-3);
    let world = simulation.world().clone();
    // Through the common centre of mass: both accelerate alike, by F over the sum of masses.
    let (first, second) = (Vector3::<f64>::zeros(), Vector3::new(0.3, 0.1, 0.0));
    let centre: Vector3<f64> = (first + 2.0 * second) / 3.0;
    let force = Vector3::new(0.0, 0.0, 6.0);
    let torque = (centre - first).cross(&force);
    let body = world.model().body("first").unwrap().0;
    simulation.input_mut().wrench[body] =
        Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
    let _ = run(&mut simulation, 0.5);
    let v = &simulation.state().v;
    let expected = 6.0 / 3.0 * 0.5;
    assert!((v[2] - expected).abs() <= 1e-7 && (v[8] - expected).abs() <= 1e-7, "{v:?}");
}
