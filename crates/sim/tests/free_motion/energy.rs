//! Energy of mechanisms that move without contact.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Scheme, WorldBuilder};

use super::{CONSERVING, start};

/// Links of a length [m] and a mass [kg] each, slender rods on hinges about y, level at the start.
pub fn chain(links: usize, length: f64, mass: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for k in 0..links {
        let across = mass * length * length / 12.0;
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.02 * across, across, across));
        let com = Vector3::new(0.5 * length, 0.0, 0.0);
        let x = if k == 0 { 0.0 } else { length };
        parent = builder.mechanism.body(BodySpec {
            parent,
            pose: Isometry3::translation(x, 0.0, 0.0),
            mass: Some(MassProperties::new_lenient(mass, com, inertia).unwrap()),
            ..BodySpec::default()
        });
        let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
        builder.mechanism.joint(parent, hinge);
    }
    builder
}

#[test]
fn a_pendulum_of_five_links_keeps_its_energy_over_twenty_seconds_of_large_steps() {
    let (links, length, mass, h) = (5, 0.2, 0.3, 0.005);
    // Energy that the chain has to exchange: its weight times the depth of its centre of mass.
    let scale = links as f64 * mass * 9.81 * 0.5 * links as f64 * length;
    // The motion is chaotic: starts that differ by round-off end with errors that differ by a factor of two. Their mean is
    // a property of the scheme.
    let starts = 8;
    for scheme in CONSERVING {
        let mut mean = 0.0;
        for k in 0..starts {
            let mut simulation = start(chain(links, length, mass), scheme, h);
            simulation.state_mut().q[0] += 1e-10 * k as f64;
            let before = simulation.energy();
            let mut worst = 0.0_f64;
            for _ in 0..4000 {
                let _ = simulation.step().unwrap();
                worst = worst.max((simulation.energy() - before).abs() / scale);
            }
            mean += worst / starts as f64;
        }
        assert!(mean <= 0.03, "{}: {mean}", scheme.name());
    }
}

#[test]
fn a_pendulum_on_a_spring_stiffer_than_the_step_resolves_gains_no_energy() {
    for scheme in [Scheme::Refined, Scheme::Symplectic] {
        // ω h = √(k/I) h from resolved to twenty radians per step.
        for wh in [0.1, 1.0, 3.0, 20.0] {
            let (length, mass, h) = (0.2, 0.3, 0.005);
            let inertia = mass * length * length / 3.0;
            let mut builder = WorldBuilder::new();
            builder.mechanism.gravity(Vector3::zeros());
            let across = mass * length * length / 12.0;
            let moments = Matrix3::from_diagonal(&Vector3::repeat(across));
            let com = Vector3::new(0.5 * length, 0.0, 0.0);
            let mass = Some(MassProperties::new(mass, com, moments).unwrap());
            let body = builder.mechanism.body(BodySpec { mass, ..BodySpec::default() });
            let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
            let stiffness = inertia * (wh / h) * (wh / h);
            builder.mechanism.joint(body, JointSpec { stiffness, ..hinge });
            let mut simulation = start(builder, scheme, h);
            simulation.state_mut().q[0] = 1e-3;
            let before = simulation.energy();
            for _ in 0..2000 {
                let _ = simulation.step().unwrap();
                // The implicit midpoint rule conserves the energy of a linear spring; the inertia
                // is constant. Round-off of 2000 steps.
                let ratio = simulation.energy() / before;
                assert!((ratio - 1.0).abs() <= 1e-9, "{wh}: {ratio}");
            }
        }
    }
}
