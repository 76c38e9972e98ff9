//! Things at rest: impulses are weights, nothing spins, nothing creeps.

use crate::common::*;
use nalgebra::{Isometry3, Vector3};
use stiction_mech::State;
use stiction_sim::{Scheme, Settings, Surface, WorldBuilder};
use stiction_study::scenarios::parts;

#[test]
fn interfaces_of_a_stack_carry_what_stands_on_them() {
    let (h, masses) = (1.0 / 240.0, [0.1, 0.1, 0.1, 5.0]);
    let surface = Surface::with_friction(0.5);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    for (level, mass) in masses.iter().enumerate() {
        let pose = Isometry3::translation(0.0, 0.0, 0.025 + 0.05 * level as f64);
        let shape = cuboid(0.1, 0.1, 0.025);
        parts::free_body(&mut builder, format!("box {level}"), shape, *mass, pose, surface)
            .unwrap();
    }
    let world = builder.build().unwrap();
    let state = State::new(world.model());
    let mut sim = simulate(world, tight(h, Scheme::Symplectic), &state);
    run(&mut sim, 5);
    for (level, tabulated) in [0.2166375, 0.2125500, 0.2084625, 0.2043750].iter().enumerate() {
        let upper = level + 1;
        // The ground is body 0, the boxes follow; forces act on B.
        let sum: f64 = sim
            .contacts()
            .iter()
            .filter(|c| c.bodies.contains(&level) && c.bodies.contains(&upper))
            .map(|c| if c.bodies[1] == upper { c.force.z } else { -c.force.z })
            .sum();
        let weight: f64 = masses[level..].iter().sum::<f64>() * G;
        near("impulse", sum * h, weight * h, 1e-10);
        near("impulse, derived by hand", sum * h, *tabulated, 1e-10);
    }
}

#[test]
fn a_cube_dropped_flat_comes_to_rest_without_spinning() {
    let mut ground = OnGround::cube(0.5);
    ground.height = 0.3;
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut sim = ground.start(settings, Vector3::zeros());
    let mut spin = 0.0_f64;
    for _ in 0..200 {
        run(&mut sim, 1);
        spin = spin.max(velocity(&sim).1.norm());
    }
    assert!(spin < 1e-6, "spins at {spin} rad/s");
    assert!(velocity(&sim).0.norm() < 1e-6);
    // The default stabilisation leaves its slop.
    near("height", position(&sim).z, 0.1, 2e-5);
}

#[test]
fn resting_contacts_do_not_creep_on_a_slope() {
    for time_step in [0.002, 0.01] {
        let settings = Settings { time_step, ..Settings::default() };
        let mut sim = OnGround::cube(0.5).tilted(20.0).start(settings, Vector3::zeros());
        run(&mut sim, 200);
        for contact in sim.contacts() {
            let slip = contact.velocity - contact.normal * contact.normal.dot(&contact.velocity);
            assert!(slip.norm() < 1e-6, "creeps at {} m/s", slip.norm());
        }
    }
}
