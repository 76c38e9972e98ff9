//! Steps that are wrong.

use crate::*;
use stiction_geom::Shape;
use stiction_sim::constraint::{Equality, Weld};
use stiction_sim::{SCHEMES, StepFlags};

/// A free body of one kilogram without shape, with different moments of inertia.
fn free_body(builder: &mut WorldBuilder, inertia: Vector3<f64>) -> BodyId {
    let inertia = Matrix3::from_diagonal(&inertia);
    let mass = MassProperties::new(1.0, Vector3::zeros(), inertia).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    body
}

fn weld(body_b: BodyId, x: f64) -> Equality {
    let pose = Isometry3::translation(x, 0.0, 0.0);
    Equality::Weld(Weld { body_a: BodyId::WORLD, body_b, pose })
}

#[test]
fn welds_that_hold_a_body_at_two_places_are_never_ok() {
    let mut builder = WorldBuilder::new();
    let body = free_body(&mut builder, Vector3::repeat(0.01));
    builder.equality("here", weld(body, 0.0));
    builder.equality("there", weld(body, 0.25));
    let mut simulation = common::start(builder, 1e-3);
    for step in 0..500 {
        let report = simulation.step().unwrap();
        // At best each is half of their distance away.
        assert!(report.equality_error >= 0.125 - 1e-6);
        let fault = StepStatus::CorrectionNotDone;
        assert!(report.flags().contains(fault), "step {step}: {}", told(&report));
        assert!(report.status() >= fault);
    }
}

#[test]
fn a_weld_that_starts_open_is_not_a_fault_while_it_closes() {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let body = free_body(&mut builder, Vector3::repeat(0.01));
    builder.equality("there", weld(body, 0.25));
    let mut simulation = common::start(builder, 1e-3);
    // At the largest speed of corrections, 1 m/s, it takes 250 steps.
    assert_ok(&mut simulation, 300, "an open weld");
    assert!(simulation.report().unwrap().equality_error <= 1e-6);
}

#[test]
fn a_start_in_overlap_that_is_resolved_within_bounds_is_ok() {
    let mut builder = common::on_ground(0.5);
    common::cube(&mut builder, 0.1, 0.0, 0.05, 0.5);
    let mut simulation = common::start(builder, 1e-3);
    // 50 mm deep: 50 steps at the largest speed.
    assert_ok(&mut simulation, 100, "a cube in the ground");
    assert!(simulation.report().unwrap().penetration <= 1e-4);
}

#[test]
fn a_tree_that_gains_energy_in_a_step_is_not_ok() {
    // Links turn by several radians in a step: forces at its start mean nothing.
    for entry in SCHEMES {
        let mut simulation = chain(5, 0.2, entry.scheme, 0.05);
        simulation.state_mut().q[0] = 2.5;
        simulation.state_mut().v.copy_from_slice(&[30.0, -60.0, 50.0, -70.0, 40.0]);
        let mut before = simulation.energy();
        for step in 0..40 {
            let Ok(report) = simulation.step() else { break };
            let after = simulation.energy();
            // Weight acts on 5 kg at most 1 m high: what is more comes from nowhere.
            let gain = after - before;
            let limit = 0.8 * before.abs().max(5.0 * 9.81);
            let told = told(&report);
            assert!(
                gain <= limit || report.status() != StepStatus::Ok,
                "{}, {step}: {told}",
                entry.name
            );
            before = after;
        }
    }
}

#[test]
fn the_audit_alone_finds_a_gain_of_energy() {
    // Explicit Euler with a spring at ω h = 1 doubles the energy in every step: 1 + (ω h)².
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let joint = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    builder.mechanism.joint(body, JointSpec { stiffness: 100.0, ..joint });
    let settings = Settings { scheme: Scheme::Explicit, time_step: 0.1, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.state_mut().v[0] = 1.0;
    for _ in 0..20 {
        let before = simulation.energy();
        let report = simulation.step().unwrap();
        let after = simulation.energy();
        assert!((after / before - 2.0).abs() <= 1e-9);
        let gain = report.energy.residual();
        assert!((gain - (after - before)).abs() <= 1e-9 * after, "{gain} of {}", after - before);
    }
    // The gain is a curvature of the potential energy wherever the body moves through its rest.
    let mut flagged = 0;
    simulation.state_mut().q[0] = 0.0;
    simulation.state_mut().v[0] = 1.0;
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        flagged += usize::from(report.status() == StepStatus::MotionNotResolved);
    }
    assert!(flagged >= 10, "{flagged} of 20 steps that double the energy");
}

#[test]
fn a_spinning_body_whose_energy_changes_in_a_step_is_not_ok() {
    let mut wrong = 0;
    for entry in SCHEMES {
        for turn in [1.0, 3.0] {
            let mut builder = WorldBuilder::new();
            builder.mechanism.gravity(Vector3::zeros());
            free_body(&mut builder, Vector3::new(0.01, 0.02, 0.03));
            let settings =
                Settings { scheme: entry.scheme, time_step: 0.01, ..Settings::default() };
            let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
            let w = turn / 0.01;
            simulation.state_mut().v[3..6].copy_from_slice(&[0.3 * w, w, 0.2 * w]);
            for step in 0..10 {
                let before = simulation.energy();
                let Ok(report) = simulation.step() else { break };
                let change = (simulation.energy() / before - 1.0).abs();
                if change > 0.5 {
                    wrong += 1;
                    let what = (entry.name, turn, step, change);
                    assert_ne!(report.status(), StepStatus::Ok, "{what:?}: {}", told(&report));
                }
            }
        }
    }
    assert!(wrong > 0, "MuJoCo's Euler at three radians per step fails");
}

#[test]
fn a_small_body_in_a_large_world_is_not_hidden() {
    // A gram at the end of a stiff spring gains energy beside a ton that falls.
    let mut builder = WorldBuilder::new();
    let ton = Shape::cuboid(Vector3::repeat(0.5)).unwrap();
    common::free(&mut builder, ton, 1e3, Isometry3::identity(), stiction_sim::Surface::default());
    let mass = MassProperties::new(1e-3, Vector3::zeros(), Matrix3::identity() * 1e-9).unwrap();
    let pose = Isometry3::translation(5.0, 0.0, 0.0);
    let body = builder.mechanism.body(BodySpec { pose, mass: Some(mass), ..BodySpec::default() });
    let joint = JointSpec::new(JointKind::Slide { axis: Vector3::x() });
    builder.mechanism.joint(body, JointSpec { stiffness: 1e3, ..joint });
    let settings = Settings { scheme: Scheme::Explicit, time_step: 1e-3, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    simulation.state_mut().v[2] = -10.0;
    let slide = simulation.state().v.len() - 1;
    simulation.state_mut().v[slide] = 1.0;
    let mut flags = StepFlags::default();
    let mut named = 0;
    for _ in 0..10 {
        let report = simulation.step().unwrap();
        flags = flags.union(report.flags());
        named = if report.unresolved { report.energy.body } else { named };
    }
    assert!(flags.contains(StepStatus::MotionNotResolved));
    assert_eq!(named, 2, "the second body");
}
