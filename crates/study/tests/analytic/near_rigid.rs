//! The near-rigid limit of the semi-analytic primal solver [Castro22, Sec. V-B]: how deep a particle
//! rests, and how fast it creeps.

use crate::common::*;
use nalgebra::Vector6;
use stiction_geom::Shape;
use stiction_mech::State;
use stiction_sim::{Scheme, Settings, Simulation, Surface};

const MASS: f64 = 0.5;
const STEP: f64 = 0.01;
const RADIUS: f64 = 0.01;

fn resting(dissipation: f64, push: f64) -> Simulation {
    let surface = Surface { friction: 1.0, stiffness: 2e12, ..Surface::default() };
    let surface = Surface { dissipation: 0.5 * dissipation, ..surface };
    let world = particle(Shape::sphere(RADIUS).unwrap(), MASS, RADIUS, surface);
    // Touching, and a little more: it settles from there.
    let mut state = State::new(world.model());
    state.q[2] = -1e-6;
    let mut settings = Settings { solver: "sap".to_owned(), ..tight(STEP, Scheme::Symplectic) };
    settings.set("solver.refine", "false").unwrap();
    let mut sim = simulate(world, settings, &state);
    sim.input_mut().wrench[1] = Vector6::new(0.0, 0.0, 0.0, push, 0.0, 0.0);
    for _ in 0..200 {
        let _ = sim.step().unwrap();
    }
    sim
}

#[test]
fn a_particle_rests_as_deep_as_the_regularisation_says() {
    // φ = −(h + τ) β²/(4π²) w m g h with w = ‖W‖/3 = √3/(3 m).
    let w = 3.0_f64.sqrt() / (3.0 * MASS);
    let pi = std::f64::consts::PI;
    for (tau, tabulated) in [(0.0, -1.4347e-5), (STEP / pi, -1.8913e-5), (STEP, -2.8693e-5)] {
        let sim = resting(tau, 0.0);
        let exact = -(STEP + tau) / (4.0 * pi * pi) * w * MASS * G * STEP;
        near("depth", sim.state().q[2], exact, 1e-12);
        near("depth, derived by hand", sim.state().q[2], tabulated, 1e-9);
        near("speed", sim.state().v[2], 0.0, 1e-10);
    }
}

#[test]
fn a_particle_creeps_as_fast_as_the_regularisation_says() {
    let push = 0.999 * MASS * G;
    let sim = resting(STEP, push);
    let w = 3.0_f64.sqrt() / (3.0 * MASS);
    near("creep", sim.state().v[0], 1e-3 * w * push * STEP, 1e-12);
    near("creep, derived by hand", sim.state().v[0], 5.658e-5, 1e-8);
}
