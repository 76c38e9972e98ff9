//! Delayed controls and sensors: when they act, and that a resumed run has the same bits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction_mech::*;
use stiction_sim::{
    Scheme, SensorKind, SensorSpec, Settings, Simulation, Snapshot, World, WorldBuilder, state_hash,
};

const STEP: f64 = 0.125;

fn delay(samples: usize, steps: f64) -> DelaySpec {
    let interpolation = SampleInterpolation::Linear;
    DelaySpec { samples, delay: steps * STEP, interpolation, period: 0.0, phase: 0.0 }
}

/// A mass of 2 kg on a slide without weight, with a motor and sensors of its position and its force.
fn slide(control: DelaySpec, reading: DelaySpec) -> Arc<World> {
    let mut builder = WorldBuilder::new();
    let b = &mut builder.mechanism;
    let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let body = b.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    let joint = b.joint(body, JointSpec::new(JointKind::Slide { axis: Vector3::x() }));
    let motor = ActuatorSpec::motor("motor", Transmission::Joint(joint));
    let motor = b.actuator(ActuatorSpec { delay: Some(control), ..motor });
    for (name, kind) in [
        ("position", SensorKind::JointPosition(joint)),
        ("force", SensorKind::ActuatorForce(motor)),
    ] {
        builder.sensor(SensorSpec { delay: Some(reading), ..SensorSpec::new(name, kind) });
    }
    Arc::new(builder.build().unwrap())
}

fn start(world: &Arc<World>, scheme: Scheme) -> Simulation {
    let settings = Settings { scheme, time_step: STEP, ..Settings::default() };
    Simulation::new(world.clone(), settings).unwrap()
}

#[test]
fn a_control_acts_and_a_reading_returns_after_its_delay() {
    let world = slide(delay(8, 3.0), delay(8, 2.0));
    for scheme in [Scheme::Euler, Scheme::Refined] {
        let mut simulation = start(&world, scheme);
        simulation.input_mut().control[0] = 4.0;
        let mut positions = Vec::new();
        for step in 0..10_usize {
            positions.push(simulation.state().q[0]);
            let readings = simulation.sensor_data().to_vec();
            // Readings are copies.
            assert_eq!(readings[0], step.checked_sub(2).map_or(0.0, |k| positions[k]));
            let acted = if step >= 3 { 4.0 } else { 0.0 };
            assert_eq!(simulation.acting_input().control[0], acted, "step {step}");
            let _ = simulation.step().unwrap();
            // One solve with a mass per step: a few roundings of numbers of order one.
            let exact = 4.0 / 2.0 * STEP * (step + 1).saturating_sub(3) as f64;
            assert!((simulation.state().v[0] - exact).abs() <= 1e-14);
        }
        // The force that began in the fourth step was read two steps later.
        assert!((simulation.sensor_data()[1] - 4.0).abs() <= 1e-14);
    }
}

#[test]
fn a_run_that_is_resumed_from_bytes_has_the_same_bits() {
    let world = slide(delay(6, 2.5), delay(5, 1.5));
    let mut simulation = start(&world, Scheme::Refined);
    let advance = |simulation: &mut Simulation, steps: std::ops::Range<u32>| {
        for k in steps {
            simulation.input_mut().control[0] = f64::from(k).sin();
            let _ = simulation.step().unwrap();
        }
    };
    advance(&mut simulation, 0..7);
    let bytes = simulation.snapshot().to_bytes();
    let mut resumed = start(&world, Scheme::Refined);
    resumed.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    for simulation in [&mut simulation, &mut resumed] {
        advance(simulation, 7..20);
    }
    assert_eq!(state_hash(simulation.state()), state_hash(resumed.state()));
    assert_eq!(simulation.sensor_data(), resumed.sensor_data());
    assert_eq!(simulation.snapshot().to_bytes(), resumed.snapshot().to_bytes());
    // Samples of another length belong to another world.
    let mut other = start(&slide(delay(7, 2.5), delay(5, 1.5)), Scheme::Refined);
    assert!(other.restore(&Snapshot::from_bytes(&bytes).unwrap()).is_err());
}

#[test]
fn samples_that_cannot_be_are_refused() {
    for wrong in [
        DelaySpec { samples: 0, ..delay(1, 1.0) },
        delay(DelaySpec::MOST_SAMPLES + 1, 1.0),
        delay(2, -1.0),
        delay(2, f64::NAN),
        DelaySpec { period: 1.0, phase: -1.0, ..delay(2, 0.0) },
        DelaySpec { phase: 0.5, ..delay(2, 0.0) },
    ] {
        assert!(wrong.wrong().is_some(), "{wrong:?}");
    }
    assert_eq!(delay(2, 1.0).wrong(), None);
}
