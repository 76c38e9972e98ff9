//! Snapshots: a simulation that takes one up continues with the same bits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{free, on_ground};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction_geom::Shape;
use stiction_math::random::SplitMix64;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, Limit, MassProperties};
use stiction_sim::{
    Resistance, Scheme, Settings, Simulation, Sleep, Snapshot, SnapshotError, Surface, World,
    WorldBuilder, state_hash,
};

/// Boxes, balls and cylinders that fall on one another beside a swinging arm.
fn clutter() -> WorldBuilder {
    let mut builder = on_ground(0.6);
    let mut rng = SplitMix64::new(29);
    let surface = Surface {
        resistance: Resistance::Rolling,
        spin: 1e-3,
        roll: 1e-3,
        ..Surface::with_friction(0.6)
    };
    for k in 0..12 {
        let shape = match k % 3 {
            0 => Shape::cuboid(Vector3::new(0.05, 0.06, 0.04)).unwrap(),
            1 => Shape::sphere(0.05).unwrap(),
            _ => Shape::cylinder(0.04, 0.05).unwrap(),
        };
        let place = Vector3::new(
            0.07 * f64::from(k % 3) + rng.uniform(-0.01, 0.01),
            0.07 * f64::from((k / 3) % 2),
            0.08 + 0.09 * f64::from(k / 4),
        );
        let turn =
            UnitQuaternion::from_scaled_axis(Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0)));
        free(&mut builder, shape, 0.5, Isometry3::from_parts(place.into(), turn), surface);
    }
    let pose = Isometry3::translation(1.0, 0.0, 0.5);
    let inertia = nalgebra::Matrix3::identity() * 0.01;
    let mass = MassProperties::new(1.0, Vector3::new(0.2, 0.0, 0.0), inertia).ok();
    let arm = builder.mechanism.body(BodySpec { pose, mass, ..BodySpec::default() });
    let mut hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
    hinge.limit = Some(Limit { lower: -1.0, upper: 1.0, margin: 0.0 });
    hinge.friction_loss = 0.05;
    builder.mechanism.joint(arm, hinge);
    assert_ne!(arm, BodyId::WORLD);
    builder
}

fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
}

/// Runs on from a snapshot in another simulation, and compares.
fn continues(world: &Arc<World>, settings: &Settings, before: usize, after: usize) -> Snapshot {
    let start = || Simulation::new(world.clone(), settings.clone()).unwrap();
    let mut one = start();
    one.input_mut().wrench[1][3] = 0.1;
    run(&mut one, before);
    let snapshot = one.snapshot();
    assert_eq!(one.snapshot(), snapshot, "looking changes nothing");
    run(&mut one, after);
    let bytes = snapshot.to_bytes();
    let read = Snapshot::from_bytes(&bytes).unwrap();
    assert_eq!(read, snapshot);
    let mut other = start();
    other.restore(&read).unwrap();
    assert_eq!(other.snapshot(), snapshot);
    run(&mut other, after);
    let label = format!("{} {}", settings.solver, settings.scheme.name());
    assert_eq!(state_hash(one.state()), state_hash(other.state()), "{label}");
    assert_eq!(one.snapshot(), other.snapshot(), "{label}");
    assert_eq!(one.contacts(), other.contacts(), "{label}");
    // A simulation that has seen other things forgets them.
    one.restore(&snapshot).unwrap();
    run(&mut one, after);
    assert_eq!(state_hash(one.state()), state_hash(other.state()), "{label}, again");
    snapshot
}

#[test]
fn a_pile_continues_with_the_same_bits_under_every_kind_of_solver() {
    let world = Arc::new(clutter().build().unwrap());
    for solver in ["auto", "canal", "subadmm", "psor"] {
        let settings =
            Settings { solver: solver.to_owned(), time_step: 0.005, ..Settings::default() };
        let snapshot = continues(&world, &settings, 100, 50);
        assert!(snapshot.contacts().len() > 10);
    }
}

#[test]
fn a_pile_continues_with_the_same_bits_under_every_scheme() {
    let world = Arc::new(clutter().build().unwrap());
    for scheme in
        stiction_sim::SCHEMES.iter().map(|entry| &entry.scheme).filter(|s| **s != Scheme::Explicit)
    {
        let settings = Settings { scheme: *scheme, time_step: 0.005, ..Settings::default() };
        continues(&world, &settings, 40, 20);
    }
}

#[test]
fn sleepers_and_those_who_wake_them_continue_with_the_same_bits() {
    // Two stacks fall asleep; a ball arrives later and wakes one of them.
    let mut builder = on_ground(0.5);
    for x in [0.0, 2.0] {
        for level in 0..3 {
            common::cube(&mut builder, 0.1, x, 0.1 + 0.2 * f64::from(level), 0.5);
        }
    }
    let at = Isometry3::translation(0.0, 0.0, 4.0);
    free(&mut builder, Shape::sphere(0.1).unwrap(), 1.0, at, Surface::default());
    let world = Arc::new(builder.build().unwrap());
    let sleep = Some(Sleep { speed: 1e-4, patience: 0.1 });
    let settings = Settings { sleep, time_step: 0.01, ..Settings::default() };
    let mut probe = Simulation::new(world.clone(), settings.clone()).unwrap();
    let asleep: Vec<usize> = (0..140).map(|_| probe.step().unwrap().asleep).collect();
    assert_eq!(asleep[59], 6, "{asleep:?}");
    assert_eq!(asleep[84], 3, "{asleep:?}");
    for (before, after) in [(5, 60), (60, 60), (81, 30), (90, 20)] {
        continues(&world, &settings, before, after);
    }
}

#[test]
fn a_changed_state_is_part_of_a_snapshot() {
    let world = Arc::new(clutter().build().unwrap());
    let start = || Simulation::new(world.clone(), Settings::default()).unwrap();
    let (mut one, mut other) = (start(), start());
    run(&mut one, 30);
    one.state_mut().q[2] += 0.3;
    other.restore(&one.snapshot()).unwrap();
    run(&mut one, 20);
    run(&mut other, 20);
    assert_eq!(state_hash(one.state()), state_hash(other.state()));
}

#[test]
fn bytes_that_are_no_whole_snapshot_are_refused() {
    let mut simulation = common::start(on_ground(0.5), 0.01);
    run(&mut simulation, 1);
    let bytes = simulation.snapshot().to_bytes();
    for length in 0..bytes.len() {
        assert!(Snapshot::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        assert!(Snapshot::from_bytes(&changed).is_err(), "byte {place}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Snapshot::from_bytes(&longer).is_err());
    assert_eq!(Snapshot::from_bytes(b"something else"), Err(SnapshotError::Foreign));
}

#[test]
fn a_snapshot_of_another_world_is_refused_and_changes_nothing() {
    let mut small = common::start(on_ground(0.5), 0.01);
    let mut large = common::start(clutter(), 0.01);
    run(&mut large, 3);
    let before = large.snapshot();
    assert!(large.restore(&small.snapshot()).is_err());
    assert_eq!(large.snapshot(), before);
    assert!(small.restore(&before).is_err());
}

/// FNV-1a, 64 bits, the checksum of a snapshot.
fn checksum(bytes: &[u8]) -> [u8; 8] {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step).to_le_bytes()
}

#[test]
fn a_snapshot_of_the_version_before_activations_is_read_where_there_are_none() {
    let mut builder = stiction_sim::WorldBuilder::new();
    let mass = MassProperties::new(1.0, nalgebra::Vector3::zeros(), nalgebra::Matrix3::identity())
        .unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let simulation = Simulation::new(builder.build().unwrap(), Settings::default()).unwrap();
    let present = simulation.snapshot();
    let bytes = present.to_bytes();
    // Magic word, version, time, seven coordinates and six velocities after their numbers; then comes the
    // number of activations, which is zero. So are all lists of a step that was not taken, at the end.
    let (version, first) = (8..12, 12 + 8 + (8 + 7 * 8) + (8 + 6 * 8));
    // Behind it are position errors, a flag and their number, and the balance of one tree: two numbers after
    // their own; then the number of switches of equalities, the constraints that yield, a flag, their number and
    // their errors, samples of controls and sensors, forces of limits of joints and tendons, changes of impulses, the number of steps not solved, the
    // number of changed parameters, six generalized forces after their number, and the checksum.
    let parameters_and_forces = 8 + (8 + 6 * 8);
    let mut before = bytes[..bytes.len() - 8 - parameters_and_forces].to_vec();
    before[version.clone()].copy_from_slice(&11_u32.to_le_bytes());
    let sum = checksum(&before);
    before.extend_from_slice(&sum);
    assert_eq!(Snapshot::from_bytes(&before), Ok(present.clone()));
    let balances =
        (4 + 8) + (8 + 2 * 8) + 8 + (4 + 8 + 2 * 8) + 2 * 8 + 3 * 8 + 4 + parameters_and_forces;
    let end = bytes.len() - 8 - balances;
    // The step has lists of activations and of forces of actuators.
    let last = end - 16..end;
    assert!(bytes[first..first + 8].iter().chain(&bytes[last.clone()]).all(|byte| *byte == 0));
    let mut old = [&bytes[..first], &bytes[first + 8..last.start]].concat();
    old[version.clone()].copy_from_slice(&3_u32.to_le_bytes());
    let sum = checksum(&old);
    old.extend_from_slice(&sum);
    assert_eq!(Snapshot::from_bytes(&old), Ok(present));
    old[version].copy_from_slice(&2_u32.to_le_bytes());
    let refused = Snapshot::from_bytes(&old).unwrap_err().to_string();
    assert_eq!(refused, "snapshot of version 2; expected version 12");
}
