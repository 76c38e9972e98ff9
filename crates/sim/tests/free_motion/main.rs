//! Motion without contact: what it conserves, how fast it converges, and when a step says that it
//! does not resolve it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod convergence;
mod energy;
mod random_trees;
mod spin;

use stiction_mech::{Data, Model};
use stiction_sim::{Scheme, Settings, Simulation, WorldBuilder};

/// The schemes whose free motion conserves energy to the order of the step or better.
const CONSERVING: [Scheme; 2] = [Scheme::Refined, Scheme::Symplectic];

fn start(builder: WorldBuilder, scheme: Scheme, time_step: f64) -> Simulation {
    // The rules themselves, without shorter steps where they do not resolve a motion.
    let settings = Settings { time_step, scheme, divisions: 0, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// Advances coordinates and velocities by the classical Runge-Kutta method: `steps` steps of `h` [s]
/// under gravity and joint damping, for joints with scalar coordinates.
fn runge_kutta(model: &Model, q: &mut [f64], v: &mut [f64], h: f64, steps: usize) {
    let n = v.len();
    assert_eq!(q.len(), n);
    let damping: Vec<f64> = model
        .joints()
        .iter()
        .flat_map(|joint| joint.dofs.clone().map(|_| joint.spec.damping))
        .collect();
    let mut data = Data::new(model);
    let mut tau = vec![0.0; n];
    let mut a = [const { Vec::new() }; 4].map(|_: Vec<f64>| vec![0.0; n]);
    let mut speed = [const { Vec::new() }; 4].map(|_: Vec<f64>| vec![0.0; n]);
    for _ in 0..steps {
        for stage in 0..4 {
            let weight = [0.0, 0.5, 0.5, 1.0][stage] * h;
            let last = stage.saturating_sub(1);
            let at: Vec<f64> = (0..n).map(|k| q[k] + weight * speed[last][k]).collect();
            speed[stage] = (0..n).map(|k| v[k] + weight * a[last][k]).collect();
            for k in 0..n {
                tau[k] = -damping[k] * speed[stage][k];
            }
            let (rates, out) = (&speed[stage], &mut a[stage]);
            stiction_mech::forward_dynamics_aba(model, &mut data, &at, rates, &tau, out);
        }
        let mean =
            |x: &[Vec<f64>; 4], k: usize| (x[0][k] + 2.0 * x[1][k] + 2.0 * x[2][k] + x[3][k]) / 6.0;
        for k in 0..n {
            q[k] += h * mean(&speed, k);
            v[k] += h * mean(&a, k);
        }
    }
}
