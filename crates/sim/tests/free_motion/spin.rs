//! Free rotation of one body.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix3, Vector3};
use stiction_mech::{BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Simulation, WorldBuilder};

use super::{CONSERVING, start};

fn body(com: Vector3<f64>, moments: [f64; 3]) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    let mass = MassProperties::new(1.0, com, inertia).unwrap();
    let body = builder.mechanism.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    builder
}

/// Momentum, and angular momentum about the centre of mass, in the world.
fn momenta(simulation: &mut Simulation) -> [Vector3<f64>; 2] {
    let world = simulation.world().clone();
    let data = simulation.data();
    let centre = stiction_mech::centre_of_mass(world.model(), data).unwrap();
    let (linear, angular) = stiction_mech::momentum(world.model(), data, centre);
    [linear, angular]
}

#[test]
fn a_free_body_keeps_energy_and_angular_momentum_for_five_minutes() {
    let (h, steps, turn) = (0.002, 150_000, 0.3);
    let direction = Vector3::new(0.1, 1.0, -0.2).normalize();
    let bodies =
        [[0.01, 0.01, 0.01], [0.01, 0.01, 0.019], [0.001, 0.01, 0.01], [0.01, 0.015, 0.02]];
    for scheme in CONSERVING {
        for (moments, com) in bodies.into_iter().flat_map(|moments| {
            [Vector3::zeros(), Vector3::new(0.03, -0.1, 0.05)].map(|com| (moments, com))
        }) {
            let mut simulation = start(body(com, moments), scheme, h);
            let w = turn / h * direction;
            simulation.state_mut().v.copy_from_slice(&[0.3, -0.2, 0.1, w.x, w.y, w.z]);
            let (energy, before) = (simulation.energy(), momenta(&mut simulation));
            for step in 1..=steps {
                assert!(!simulation.step().unwrap().unresolved);
                if step % 5000 != 0 {
                    continue;
                }
                // The rule conserves both but for round-off, some units in the last place per
                // step, times the condition of the mass matrix.
                let change = simulation.energy() / energy - 1.0;
                assert!(change.abs() <= 1e-8, "{moments:?}, {com:?}: {change:e}");
                for (now, then) in momenta(&mut simulation).iter().zip(&before) {
                    let change = (now - then).norm() / then.norm();
                    assert!(change <= 1e-8, "{moments:?}, {com:?}: {change:e}");
                }
            }
        }
    }
}

/// Complete elliptic integral of the first kind by the arithmetic-geometric mean.
fn elliptic_integral(m: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - m).sqrt());
    for _ in 0..30 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    0.5 * PI / a
}

#[test]
fn tumbling_about_the_intermediate_axis_has_its_closed_period() {
    let moments = [1.0_f64, 2.0, 3.0];
    let [I1, I2, I3] = moments;
    let w = Vector3::new(0.2, 10.0, 0.3);
    let energy2 = I1 * w.x * w.x + I2 * w.y * w.y + I3 * w.z * w.z;
    let momentum2 = Vector3::new(I1 * w.x, I2 * w.y, I3 * w.z).norm_squared();
    // [Landau76, Sec. 37], for L² > 2 E I₂.
    assert!(momentum2 > energy2 * I2);
    let m = (I2 - I1) * (energy2 * I3 - momentum2) / ((I3 - I2) * (momentum2 - energy2 * I1));
    let rate = ((I3 - I2) * (momentum2 - energy2 * I1) / (I1 * I2 * I3)).sqrt();
    let period = 4.0 * elliptic_integral(m) / rate;
    for h in [0.004, 0.016] {
        let mut simulation = start(body(Vector3::zeros(), moments), CONSERVING[0], h);
        simulation.state_mut().v[3..].copy_from_slice(w.as_slice());
        let (mut crossings, mut before) = (Vec::new(), w.y);
        for step in 0..(6.0 * period / h) as usize {
            let _ = simulation.step().unwrap();
            let now = simulation.state().v[4];
            if before < 0.0 && now >= 0.0 {
                crossings.push(h * (step as f64 + before / (before - now)));
            }
            before = now;
        }
        let cycles = crossings.len() - 1;
        let found = (crossings[cycles] - crossings[0]) / cycles as f64;
        // Rates are exact to the square of the turn per substep, of 0.05 at most, over twelve; where the
        // body is near its intermediate axis the same holds for the logarithm of its distance from it.
        // Zero crossings of ω are interpolated linearly, with an error of (rate h)² of a step.
        let turn = (10.0 * h).min(0.05);
        let bound = turn * turn / 4.0 + (rate * h).powi(2) * h / period;
        assert!((found / period - 1.0).abs() <= bound, "{h}: {found} against {period}");
    }
}

#[test]
fn a_body_that_turns_by_any_angle_per_step_keeps_its_energy_and_is_flagged_beyond_a_quarter_turn() {
    let h = 0.01;
    let direction = Vector3::new(-78.0, -290.0, 245.0).normalize();
    for scheme in CONSERVING {
        for turn in [0.5, 1.5, 1.6, 3.0, 3.9, 10.0, 31.0, 100.0] {
            let mut simulation = start(body(Vector3::zeros(), [1e-4, 2e-3, 2.05e-3]), scheme, h);
            let w = turn / h * direction;
            simulation.state_mut().v[3..].copy_from_slice(w.as_slice());
            let energy = simulation.energy();
            for _ in 0..50 {
                let w = Vector3::from_column_slice(&simulation.state().v[3..]);
                let report = simulation.step().unwrap();
                assert_eq!(report.unresolved, h * w.norm() > FRAC_PI_2, "{turn}");
                // Round-off of some hundred substeps per step.
                let change = simulation.energy() / energy - 1.0;
                assert!(change.abs() <= 1e-9, "{turn}: {change:e}");
            }
        }
    }
}

#[test]
fn schemes_that_do_not_conserve_energy_say_so_when_a_body_spins_fast() {
    let h = 0.01;
    for entry in stiction_sim::SCHEMES {
        let mut simulation = start(body(Vector3::zeros(), [1e-4, 2e-3, 2.05e-3]), entry.scheme, h);
        simulation.state_mut().v[3..].copy_from_slice(&[-78.0, -290.0, 245.0]);
        match simulation.step() {
            Ok(report) => assert!(report.unresolved, "{}", entry.name),
            Err(error) => assert!(error.to_string().contains("time step"), "{error}"),
        }
    }
}
