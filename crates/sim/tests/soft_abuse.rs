//! Soft bodies and cables that no step can treat well: thrown absurdly fast, crushed, run through. A step
//! stays finite and is flagged, or it is refused and changes nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{block, on_ground, start};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, MATERIALS, Material};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Geom, Simulation, SoftObject, StepReport, Surface,
    WorldBuilder,
};

/// A soft cube of 10 cm, its centre at a height [m].
fn cube(material: &str, height: f64) -> SoftObject {
    let mut spec = block(Vector3::repeat(0.1), [2; 3], Vector3::new(0.0, 0.0, height));
    let constants = if material == "mooney-rivlin" { vec![1e4, 5e3, 1e5] } else { vec![1e5, 0.4] };
    spec.material = Material::from_name(material, &constants).unwrap();
    SoftObject::new(spec).surface(Surface::with_friction(0.5))
}

/// The same over the ground.
fn above_ground(material: &str, height: f64) -> WorldBuilder {
    let mut builder = on_ground(0.5);
    builder.soft(cube(material, height));
    builder
}

/// Whether a report says that the step means little.
fn is_flagged(report: &StepReport) -> bool {
    report.unresolved || report.inverted > 0
}

/// Steps up to so many times and returns whether a step was flagged or refused. Whatever happens, the
/// state stays finite; a step that is refused leaves it as it was and says whose fault it is.
fn suffers(simulation: &mut Simulation, steps: usize, name: &str) -> bool {
    let mut flagged = false;
    for _ in 0..steps {
        let before = simulation.state().clone();
        match simulation.step() {
            Ok(report) => flagged |= is_flagged(&report),
            Err(error) => {
                assert!(error.to_string().contains(name), "{error}");
                assert_eq!(*simulation.state(), before);
                return true;
            }
        }
        let state = simulation.state();
        let vertices = state.x.iter().chain(&state.x_dot).flat_map(|x| x.iter());
        assert!(vertices.chain(&state.q).chain(&state.v).all(|x| x.is_finite()));
    }
    flagged
}

#[test]
fn a_soft_body_thrown_at_the_ground_at_any_speed_stays_finite_and_is_flagged_or_refused() {
    for material in MATERIALS {
        for speed in [1e3, 1e6, 1e100, 1e154, 1e200, 1e308] {
            let mut simulation = start(above_ground(material.name, 0.2), 0.01);
            simulation.state_mut().x_dot.fill(Vector3::new(0.0, 0.0, -speed));
            // The very first step reaches the ground.
            assert!(suffers(&mut simulation, 1, "block"), "{}, {speed:e} m/s", material.name);
            suffers(&mut simulation, 5, "block");
        }
    }
}

#[test]
fn a_soft_body_that_flies_beyond_what_numbers_resolve_is_flagged() {
    // Nothing is in its way, but at 1e18 m the next number is 128 m away.
    let mut builder = WorldBuilder::new();
    builder.soft(cube("linear-corotated", 0.0));
    let mut simulation = start(builder, 0.01);
    simulation.state_mut().x_dot.fill(Vector3::x() * 1e20);
    assert!(suffers(&mut simulation, 1, "block"));
    // A bullet is an ordinary thing.
    let mut builder = WorldBuilder::new();
    builder.soft(cube("linear-corotated", 0.0));
    let mut simulation = start(builder, 0.01);
    simulation.state_mut().x_dot.fill(Vector3::x() * 1e3);
    assert!(!suffers(&mut simulation, 10, "block"));
}

/// A cube on the ground under a driven plate whose lower face is at a height [m].
fn under_plate(material: &str, height: f64) -> Simulation {
    let mut builder = above_ground(material, 0.05);
    let pose = Isometry3::translation(0.0, 0.0, height + 0.03);
    let plate = builder.mechanism.body(BodySpec { pose, driven: true, ..BodySpec::default() });
    let shape = Shape::cuboid(Vector3::new(0.08, 0.08, 0.03)).unwrap();
    builder.geom(Geom::new(plate, shape).surface(Surface::with_friction(0.5)));
    start(builder, 0.01)
}

/// Sends the lower face of the plate to a height [m].
fn send(simulation: &mut Simulation, height: f64) {
    simulation.input_mut().driven_pose[0] = Isometry3::translation(0.0, 0.0, height + 0.03);
}

#[test]
fn a_plate_that_jumps_onto_a_soft_block_presses_it_and_does_not_enter() {
    for material in MATERIALS {
        let mut simulation = under_plate(material.name, 0.3);
        let _ = simulation.step().unwrap();
        send(&mut simulation, 0.07);
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            let highest = simulation.state().x.iter().map(|x| x.z).fold(0.0, f64::max);
            // In one step the plate arrives and the block is as high as it; contacts that penetrate by
            // rounding are taken back.
            assert!(highest <= 0.07 + 1e-6, "{}: {highest}", material.name);
            assert!(report.penetration <= 1e-6, "{}: {}", material.name, report.penetration);
        }
    }
}

#[test]
fn a_plate_that_jumps_through_a_soft_block_is_flagged_unless_parts_of_the_step_press_it_flat() {
    for material in MATERIALS {
        for height in [0.02, -0.03, -0.33] {
            let mut simulation = under_plate(material.name, 0.3);
            assert!(!is_flagged(&simulation.step().unwrap()));
            send(&mut simulation, height);
            let is_flagged = suffers(&mut simulation, 1, "block");
            let report = *simulation.report().unwrap();
            let highest = simulation.state().x.iter().map(|x| x.z).fold(0.0, f64::max);
            // As for a plate that jumps onto it.
            let is_pressed =
                report.parts > 1 && highest <= height + 1e-6 && report.penetration <= 1e-6;
            assert!(is_flagged || is_pressed, "{} to {height} m: {report:?}", material.name);
            assert!(is_flagged || height > 0.0, "{} to {height} m", material.name);
            suffers(&mut simulation, 5, "block");
        }
    }
}

#[test]
fn a_block_crushed_flat_by_and_by_stays_finite_and_is_flagged() {
    for material in MATERIALS {
        let mut simulation = under_plate(material.name, 0.1);
        let mut flagged = false;
        for step in 0..60 {
            // A fifth of a metre per second, down into the ground.
            send(&mut simulation, 0.1 - 2e-3 * f64::from(step + 1));
            flagged |= suffers(&mut simulation, 1, "block");
        }
        assert!(flagged, "{}", material.name);
    }
}

#[test]
fn a_cable_thrown_at_the_ground_at_any_speed_stays_finite_and_is_flagged_or_refused() {
    for speed in [1e3, 1e6, 1e100, 1e200, 1e308] {
        let mut builder = on_ground(0.5);
        let path = vec![Vector3::new(0.0, 0.0, 0.1), Vector3::new(0.3, 0.0, 0.2)];
        builder.cable(CableSpec {
            name: "cable".to_owned(),
            course: CableCourse::Path(path),
            segments: 10,
            ..CableSpec::default()
        });
        let mut simulation = start(builder, 0.005);
        for segment in 0..10 {
            simulation.state_mut().v[6 * segment + 2] = -speed;
        }
        for step in 0..4 {
            let before = simulation.state().clone();
            match simulation.step() {
                // What hits the ground stops there, however fast it was, or the step is flagged.
                Ok(report) => {
                    let fastest = simulation.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                    let has_stopped = report.penetration <= 1e-3 && fastest <= speed;
                    let is_told = is_flagged(&report) || report.penetration > 1.0;
                    let depth = report.penetration;
                    let what = format!("{speed:e}, step {step}: {fastest:e} m/s, {depth} m");
                    assert!(has_stopped || (is_told && speed >= 1e10), "{what}");
                }
                Err(error) => {
                    assert!(error.to_string().contains("cable/"), "{error}");
                    assert_eq!(*simulation.state(), before);
                    break;
                }
            }
        }
    }
}

#[test]
fn a_cable_whose_end_is_torn_away_stays_finite_and_is_flagged() {
    for far in [1.0, 1e3, 1e12] {
        let mut builder = WorldBuilder::new();
        let hand = builder.mechanism.body(BodySpec { driven: true, ..BodySpec::default() });
        builder.cable(CableSpec {
            name: "cable".to_owned(),
            course: CableCourse::Path(vec![Vector3::zeros(), Vector3::x() * 0.3]),
            segments: 10,
            ends: [CableEnd::Held(hand), CableEnd::Held(BodyId::WORLD)],
            ..CableSpec::default()
        });
        let mut simulation = start(builder, 0.005);
        let _ = simulation.step().unwrap();
        simulation.input_mut().driven_pose[0] = Isometry3::translation(0.0, far, 0.0);
        assert!(suffers(&mut simulation, 6, "cable/"), "{far:e} m");
    }
}
