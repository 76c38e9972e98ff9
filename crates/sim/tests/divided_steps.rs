//! Steps that are computed in parts because one step does not resolve their motion.
#![allow(clippy::unwrap_used)]

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::constraint::{Distance, Equality};
use stiction_sim::{Geom, Settings, Simulation, StepStatus, Surface, WorldBuilder};

fn start(builder: WorldBuilder, time_step: f64, divisions: usize) -> Simulation {
    let settings = Settings { time_step, divisions, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// A free body with moments of inertia [kg·m²], about its centre of mass, without weight.
fn free_body(mass: f64, moments: [f64; 3]) -> (WorldBuilder, BodyId) {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    let mass = Some(MassProperties::new(mass, Vector3::zeros(), inertia).unwrap());
    let body = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    (builder, body)
}

#[test]
fn a_body_that_turns_too_far_for_a_step_turns_in_parts() {
    let h = 0.01;
    for (turn, divisions) in [(1.0, 3), (2.0, 3), (2.0, 0), (8.0, 3), (20.0, 3), (20.0, 4)] {
        let (builder, _) = free_body(1.0, [1e-3, 2e-3, 2.5e-3]);
        let mut simulation = start(builder, h, divisions);
        simulation.state_mut().v[3] = turn / h;
        let report = simulation.step().unwrap();
        // About a principal axis the speed is constant. A part may turn by a quarter.
        let parts = 2_usize.pow(divisions as u32);
        let is_resolved = turn / parts as f64 <= FRAC_PI_2;
        assert_eq!(report.status() == StepStatus::Ok, is_resolved, "{turn}, {divisions}");
        let is_divided = turn > FRAC_PI_2 && divisions > 0;
        assert_eq!(report.parts > 1, is_divided, "{turn}, {divisions}: {report:?}");
        assert!((simulation.state().time - h).abs() < 1e-15);
        let angle = 2.0 * simulation.state().q[4].atan2(simulation.state().q[3]);
        let error = (angle - turn).rem_euclid(2.0 * std::f64::consts::PI);
        // A rotation about a principal axis is exact in every part, up to round-off.
        let error = error.min(2.0 * std::f64::consts::PI - error);
        assert!(error <= 1e-9, "{turn}, {divisions}: {error}");
    }
}

/// A point mass on a massless rod of length one about the origin, without weight, at a speed [m/s].
fn rotor(speed: f64, h: f64, divisions: usize) -> Simulation {
    let (mut builder, body) = free_body(1.0, [1e-4; 3]);
    let (point_a, point_b, distance) = (Vector3::zeros(), Vector3::zeros(), 1.0);
    let rod = Distance { body_a: BodyId::WORLD, point_a, body_b: body, point_b, distance };
    builder.equality("rod", Equality::Distance(rod));
    let mut simulation = start(builder, h, divisions);
    simulation.state_mut().q[0] = 1.0;
    simulation.state_mut().v[1] = speed;
    simulation
}

#[test]
fn a_mass_on_a_rod_that_turns_too_far_for_a_step_keeps_more_of_its_energy_in_parts() {
    // 0.4 rad per step: a step of the linearised rod is wrong by the order of 0.4² of the energy.
    let (h, speed) = (0.01, 40.0);
    let run = |divisions: usize| {
        let mut simulation = rotor(speed, h, divisions);
        let before = simulation.energy();
        let (mut largest, mut flagged) = (0.0_f64, 0);
        for _ in 0..100 {
            let report = simulation.step().unwrap();
            flagged += usize::from(report.status() != StepStatus::Ok);
            largest = largest.max((simulation.energy() / before - 1.0).abs());
            assert!(report.equality_error <= 1e-6, "{}", report.equality_error);
        }
        (largest, flagged)
    };
    let ((whole, _), (parts, flagged)) = (run(0), run(3));
    assert!(parts <= whole, "{parts} against {whole}");
    assert_eq!(flagged, 0);
}

#[test]
fn a_driven_plate_pushes_at_its_own_speed_in_every_part() {
    // A spinning ball flies beside the plate, so that steps are divided; a box in front of the plate is pushed.
    let (h, speed) = (0.01, 0.5);
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let plate = builder.mechanism.body(BodySpec { driven: true, ..BodySpec::default() });
    let side = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    builder.geom(Geom::new(plate, side.clone()).surface(Surface::with_friction(0.0)));
    for (x, y) in [(0.2, 0.0), (0.0, 5.0)] {
        let pose = Isometry3::translation(x, y, 0.0);
        let inertia = Matrix3::from_diagonal(&Vector3::new(1e-2, 2e-2, 3e-2));
        let mass = Some(MassProperties::new(1.0, Vector3::zeros(), inertia).unwrap());
        let body = builder.mechanism.body(BodySpec { pose, mass, ..BodySpec::default() });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, side.clone()).surface(Surface::with_friction(0.0)));
    }
    let mut simulation = start(builder, h, 3);
    simulation.state_mut().v[9] = 3.0 / h;
    for k in 1..=20 {
        let x = speed * h * f64::from(k);
        simulation.input_mut().driven_pose[0] = Isometry3::translation(x, 0.0, 0.0);
        let report = simulation.step().unwrap();
        assert!(report.parts > 1 && report.status() == StepStatus::Ok, "{report:?}");
        let (q, v) = (simulation.state().q[0], simulation.state().v[0]);
        // The tolerance of the solver and the slop.
        assert!((v - speed).abs() <= 1e-5, "{k}: {v}");
        assert!((q - 0.2 - x).abs() <= 2e-5, "{k}: {q}");
        // The mean force over the step: an impulse of m v in the first.
        let force: f64 = simulation.contacts().iter().map(|contact| contact.force.x.abs()).sum();
        let expected = if k == 1 { speed / h } else { 0.0 };
        assert!((force - expected).abs() <= 1e-3 * speed / h, "{k}: {force} N");
    }
}

#[test]
fn a_stiff_spring_in_contact_adds_no_energy() {
    // A mass on a slide presses a spring with ω h = 10 against a stop: explicit, its energy would grow a hundredfold in
    // a step.
    let h = 0.01;
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let slide = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    let limit = Some(stiction_mech::Limit { lower: -0.01, upper: 0.01, margin: 0.0 });
    builder.mechanism.joint(body, JointSpec { stiffness: 1e6, limit, ..slide });
    let mut simulation = start(builder, h, 3);
    simulation.state_mut().q[0] = 0.009;
    let mut energy = simulation.energy();
    for _ in 0..50 {
        let _ = simulation.step().unwrap();
        let now = simulation.energy();
        // What the audit of a step allows as a gain.
        assert!(now <= 1.01 * energy + 1e-12, "{energy} to {now} J");
        energy = now;
    }
}

#[test]
fn a_spring_that_swings_through_in_a_step_is_not_explained_by_its_velocities() {
    // A torsional oscillator passes its middle between two states in which it is slow: substeps resolve the swing, but
    // who sees states alone takes it for a jump. q = sin φ from φ = −φ₀ to φ₀ moves 2 sin φ₀ at ω cos φ₀.
    let h = 0.01;
    for (phase, is_explained) in [(0.4_f64, true), (1.4, false)] {
        let frequency = 2.0 * phase / h;
        let (inertia, mut builder) = (1e-2, WorldBuilder::new());
        builder.mechanism.gravity(Vector3::zeros());
        let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * inertia);
        let mass = Some(mass.unwrap());
        let body = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
        let stiffness = inertia * frequency * frequency;
        let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::z() });
        builder.mechanism.joint(body, JointSpec { stiffness, ..hinge });
        let mut simulation = start(builder, h, 3);
        simulation.state_mut().q[0] = -phase.sin();
        simulation.state_mut().v[0] = frequency * phase.cos();
        let report = simulation.step().unwrap();
        // Substeps of a swing by φ₀/2 and less are wrong in their phase by some hundredths.
        assert!((simulation.state().q[0] - phase.sin()).abs() <= 0.1, "{:?}", simulation.state().q);
        let expected = if is_explained { StepStatus::Ok } else { StepStatus::MotionNotResolved };
        assert_eq!(report.status(), expected, "{phase}: {report:?}");
    }
}

#[test]
fn a_joint_that_swings_through_within_a_step_with_contacts_moves_as_far_as_its_velocity_says() {
    // A carriage on a spring that swings once to and fro in two steps, with a lid that its weight holds at the end of its range:
    // parts would move the carriage from one end to the other, where it rests. At once it moves by h times its velocity.
    let (h, start_at) = (0.01, -0.05);
    let mut builder = WorldBuilder::new();
    let mass = Some(MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap());
    let carriage = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
    let along = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    let stiffness = 2.0 * (std::f64::consts::PI / h).powi(2);
    builder.mechanism.joint(carriage, JointSpec { stiffness, ..along });
    let lid = builder.mechanism.body(BodySpec { mass, parent: carriage, ..BodySpec::default() });
    let up = JointSpec::new(JointKind::Slide { axis: Vector3::z() });
    let limit = Some(stiction_mech::Limit { lower: 0.0, upper: 1.0, margin: 0.0 });
    builder.mechanism.joint(lid, JointSpec { limit, ..up });
    let mut simulation = start(builder, h, 3);
    simulation.state_mut().q[0] = start_at;
    let most = 1.01 * 0.5 * stiffness * start_at * start_at;
    let mut is_flagged = false;
    for _ in 0..20 {
        let (q, v) = (simulation.state().q[0], simulation.state().v[0]);
        let report = simulation.step().unwrap();
        let next = simulation.state();
        let speed = v.abs().max(next.v[0].abs());
        let faster = if report.parts > 1 { 1.5 } else { 1.0 };
        assert!((next.q[0] - q).abs() <= faster * h * speed + 0.02 + 1e-9, "{report:?}");
        is_flagged |= report.status() == StepStatus::MotionNotResolved;
        // The weight of the lid is at its lowest: all energy is that of the spring and the carriage.
        assert!(simulation.energy() <= most, "{}", simulation.energy());
    }
    assert!(is_flagged);
}
