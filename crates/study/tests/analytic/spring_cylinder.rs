//! The cylinder on a spring [Castro22, Sec. VI-B]: energy of the schemes and order of accuracy with
//! friction.

use crate::common::*;
use stiction_mech::State;
use stiction_sim::{Scheme, Simulation};
use stiction_study::scenarios::spring_cylinder::{self, Ground, energy, frequency};

const START: f64 = 0.1;

fn start(friction: f64, scheme: Scheme, time_step: f64) -> Simulation {
    let ground = Ground { friction, stiffness: 1e4, dissipation: 0.02, one_point: true };
    let world = spring_cylinder::world(ground).unwrap();
    let mut state = State::new(world.model());
    state.q[0] = START;
    simulate(world, spring_cylinder::settings(scheme, time_step).unwrap(), &state)
}

/// E/E₀ after each of `steps` steps.
fn energies(friction: f64, scheme: Scheme, steps: usize) -> Vec<f64> {
    let mut sim = start(friction, scheme, 0.02);
    let initial = energy(&sim);
    let mut step = || {
        let _ = sim.step().unwrap();
        energy(&sim) / initial
    };
    (0..steps).map(|_| step()).collect()
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((1.0, 1.0), |(low, high), e| (f64::min(low, *e), f64::max(high, *e)))
}

#[test]
fn frequencies_are_those_of_a_sliding_and_of_a_rolling_mass() {
    near("sliding", frequency(false), 14.142136, 1e-6);
    near("rolling", frequency(true), 11.547005, 1e-6);
}

#[test]
fn without_friction_the_midpoint_rule_keeps_energy() {
    let (low, high) = range(&energies(0.0, Scheme::Midpoint, 250));
    // Round-off of 250 steps.
    assert!(high - low <= 250.0 * 4.0 * f64::EPSILON, "{low} to {high}");
}

#[test]
fn without_friction_symplectic_steps_keep_energy_in_their_band() {
    let found = energies(0.0, Scheme::Symplectic, 250);
    let wh = frequency(false) * 0.02;
    let (low, high) = range(&found);
    near("E₁/E₀", found[0], 0.9264, 5e-5);
    near("lowest", low, 0.876102, 1e-6);
    near("highest", high, 1.164692, 1e-6);
    assert!(low >= 1.0 / (1.0 + 0.5 * wh) && high <= 1.0 / (1.0 - 0.5 * wh));
    // The paper's 28 % is the width of the band.
    near("width", high - low, wh / (1.0 - wh * wh / 4.0), 1e-3);
}

#[test]
fn without_friction_implicit_steps_lose_a_fixed_part() {
    let wh = frequency(false) * 0.02;
    let mut last = 1.0;
    for e in energies(0.0, Scheme::Implicit, 100) {
        near("E_{n+1}/E_n", e / last, 1.0 / (1.0 + wh * wh), 1e-9);
        last = e;
    }
    near("E_{n+1}/E_n, derived by hand", 1.0 / (1.0 + wh * wh), 0.925926, 1e-6);
}

#[test]
fn a_rolling_cylinder_loses_what_regularised_friction_creeps() {
    let mut sim = start(1.0, Scheme::Midpoint, 0.02);
    let initial = energy(&sim);
    let (mut slip, mut lost) = (0.0_f64, 0.0);
    // R_t = σ w, w = ‖diag(2, 6)‖/3 = 2.108 1/kg; each step takes R_t F_t² h² from the energy.
    let yields = 1e-3 * 40.0_f64.sqrt() / 3.0;
    let period = std::f64::consts::TAU / frequency(true);
    let (mut after_four, mut creep_of_four) = (0.0, 0.0);
    for _ in 0..250 {
        let _ = sim.step().unwrap();
        let contact = sim.contacts()[0];
        slip = slip.max(contact.velocity.x.abs());
        lost += yields * (contact.force.x * 0.02).powi(2);
        if sim.state().time <= 4.0 * period {
            (after_four, creep_of_four) = (1.0 - energy(&sim) / initial, lost / initial);
        }
    }
    near("largest slip", slip, 1.4e-4, 5e-6);
    assert!(slip < 1e-3 * G * 0.02, "σ μ g h");
    near("lost after four periods", after_four, 1.0e-3, 1e-4);
    near("lost after 5 s", 1.0 - energy(&sim) / initial, 2.3e-3, 1e-4);
    // Creep at the mean velocity of a step accounts for it; the slip itself is of second order.
    near("creep of four periods", creep_of_four, after_four, 2e-4);
    // The paper's peak-to-peak variation in the first periods.
    assert!(after_four < 1.6e-3);
}

#[test]
fn a_rolling_cylinder_keeps_energy_in_the_bands_of_first_order_schemes() {
    let wh = frequency(true) * 0.02;
    let (low, high) = range(&energies(1.0, Scheme::Symplectic, 250));
    // The band of the rolling mass, and what creeps.
    assert!(low >= 1.0 / (1.0 + 0.5 * wh) - 5e-3, "{low}");
    assert!(high <= 1.0 / (1.0 - 0.5 * wh), "{high}");
    let found = energies(1.0, Scheme::Implicit, 100);
    assert!(found.is_sorted_by(|a, b| a > b), "implicit steps only lose");
}

/// L² error of x over 5 s [Castro22, Eq. before Fig. 7].
fn position_error(scheme: Scheme, time_step: f64) -> f64 {
    let mut sim = start(1.0, scheme, time_step);
    let steps = (5.0 / time_step).round() as usize;
    let omega = frequency(true);
    let mut sum = 0.0;
    for _ in 0..steps {
        let _ = sim.step().unwrap();
        sum += (sim.state().q[0] - START * (omega * sim.state().time).cos()).powi(2);
    }
    (sum / steps as f64).sqrt()
}

#[test]
fn the_midpoint_rule_is_of_second_order_with_friction() {
    let steps = [0.02, 0.01, 0.005, 0.0025];
    let tabulated = [1.028e-2, 2.590e-3, 6.481e-4, 1.620e-4];
    let found = steps.map(|h| position_error(Scheme::Midpoint, h));
    for k in 0..steps.len() {
        near(&format!("error at {}", steps[k]), found[k], tabulated[k], 1e-2 * tabulated[k]);
    }
    for pair in found.windows(2) {
        near("slope", (pair[0] / pair[1]).log2(), 2.0, 0.1);
    }
}

#[test]
fn first_order_schemes_are_of_first_order_with_friction() {
    let steps = [0.02, 0.01, 0.005, 0.0025];
    for (scheme, tabulated) in [
        (Scheme::Symplectic, [1.301e-2, 5.247e-3, 2.324e-3, 1.089e-3]),
        (Scheme::Implicit, [6.244e-2, 5.365e-2, 3.996e-2, 2.564e-2]),
    ] {
        for (h, expected) in steps.iter().zip(tabulated) {
            near(scheme.name(), position_error(scheme, *h), expected, 1e-2 * expected);
        }
    }
}
