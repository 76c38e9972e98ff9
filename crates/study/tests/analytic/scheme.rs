//! Energy, momentum and order of accuracy of each scheme without contact: a double pendulum and a
//! tumbling body.

use crate::common::*;
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties, State, momentum};
use stiction_sim::{SCHEMES, Scheme, Settings, Simulation, World, WorldBuilder};
use stiction_study::scenarios::parts;

/// Two rods on hinges, the second on the end of the first.
fn double_pendulum() -> World {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for (name, mass) in [("upper", 1.0), ("lower", 0.5)] {
        let offset = if parent == BodyId::WORLD { 0.0 } else { -0.5 };
        let inertia = mass * 0.25 / 12.0;
        let body = builder.mechanism.body(BodySpec {
            name: name.to_owned(),
            parent,
            pose: Isometry3::translation(0.0, 0.0, offset),
            mass: Some(parts::isotropic(mass, Vector3::new(0.0, 0.0, -0.25), inertia).unwrap()),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
        parent = body;
    }
    builder.build().unwrap()
}

fn settings(scheme: Scheme, time_step: f64) -> Settings {
    Settings { scheme, time_step, ..Settings::default() }
}

/// Angles and gain of energy after 0.4 s.
fn swing(scheme: Scheme, time_step: f64) -> ([f64; 2], f64) {
    let world = double_pendulum();
    let mut state = State::new(world.model());
    state.q.copy_from_slice(&[1.0, 0.5]);
    state.v.copy_from_slice(&[0.5, -1.0]);
    let mut sim = simulate(world, settings(scheme, time_step), &state);
    let before = sim.energy();
    run(&mut sim, (0.4 / time_step).round() as usize);
    let q = &sim.state().q;
    ([q[0], q[1]], sim.energy() - before)
}

/// Order of the motion of a tree without contact.
fn tree_order(scheme: Scheme) -> f64 {
    match scheme {
        Scheme::Midpoint | Scheme::Refined | Scheme::Symplectic => 2.0,
        Scheme::Rk4 => 4.0,
        _ => 1.0,
    }
}

#[test]
fn angles_of_a_double_pendulum_converge_with_the_order_of_the_scheme() {
    // Fourth order at a step far smaller: its error is below round-off.
    let (exact, _) = swing(Scheme::Rk4, 2e-4);
    let error = |scheme, h| {
        let (q, _) = swing(scheme, h);
        (q[0] - exact[0]).hypot(q[1] - exact[1])
    };
    for stiction_sim::SchemeEntry { name, scheme, .. } in SCHEMES {
        let order = tree_order(*scheme);
        // Errors of fourth order reach round-off at the smaller steps.
        let coarse = if *scheme == Scheme::Rk4 { 2.5 } else { 1.0 };
        let errors = [0.004, 0.002, 0.001].map(|h| error(*scheme, coarse * h));
        for pair in errors.windows(2) {
            // Terms of the next order change the slope by a part of the step.
            near(&format!("order of {name}"), (pair[0] / pair[1]).log2(), order, 0.15);
        }
    }
}

#[test]
fn energy_of_a_double_pendulum_errs_with_the_order_of_the_scheme() {
    for stiction_sim::SchemeEntry { name, scheme, .. } in SCHEMES {
        let order = tree_order(*scheme);
        let coarse = if *scheme == Scheme::Rk4 { 5.0 } else { 1.0 };
        let errors = [0.004, 0.002, 0.001].map(|h| swing(*scheme, coarse * h).1.abs());
        for pair in errors.windows(2) {
            if *scheme == Scheme::Rk4 {
                // The term of fourth order of the energy may be small beside that of the fifth.
                let slope = (pair[0] / pair[1]).log2();
                assert!((3.8..5.2).contains(&slope), "order of {name}: {errors:?}");
                continue;
            }
            near(&format!("order of {name}: {errors:?}"), (pair[0] / pair[1]).log2(), order, 0.2);
        }
    }
}

/// A body that tumbles freely, and flies.
fn tumbling(scheme: Scheme, time_step: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let inertia = Matrix3::from_diagonal(&Vector3::new(1e-3, 2e-3, 3e-3));
    let body = builder.mechanism.body(BodySpec {
        mass: Some(MassProperties::new(1.0, Vector3::zeros(), inertia).unwrap()),
        ..BodySpec::default()
    });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let world = builder.build().unwrap();
    let spin = Vector3::new(1.0, 5.0, 0.1);
    let state = parts::moving(&world, body, Vector3::new(1.0, 2.0, 3.0), spin);
    simulate(world, settings(scheme, time_step), &state)
}

/// Relative changes of spin energy and angular momentum, and the change of momentum, after 1 s.
fn drift(scheme: Scheme, time_step: f64) -> (f64, f64, f64) {
    let mut sim = tumbling(scheme, time_step);
    let flight = 0.5 * 14.0;
    let measure = |sim: &mut Simulation| {
        let energy = sim.energy() - flight;
        let world = sim.world().clone();
        let place = position(sim);
        let (p, l) = momentum(world.model(), sim.data(), place);
        (energy, p, l)
    };
    let (e0, p0, l0) = measure(&mut sim);
    run(&mut sim, (1.0 / time_step).round() as usize);
    let (e, p, l) = measure(&mut sim);
    ((e - e0) / e0, (l - l0).norm() / l0.norm(), (p - p0).norm())
}

#[test]
fn a_tumbling_body_keeps_momentum_and_every_scheme_that_solves_for_its_rotation_its_energy() {
    for stiction_sim::SchemeEntry { name, scheme, .. } in SCHEMES {
        let found = [4e-3, 2e-3, 1e-3].map(|h| drift(*scheme, h));
        for pair in found.windows(2) {
            near(&format!("momentum, {name}"), pair[1].2, 0.0, 1e-11);
            let slope = (pair[0].1 / pair[1].1).log2();
            match scheme {
                // Round-off of a thousand steps.
                Scheme::Refined | Scheme::Symplectic => near(name, pair[1].1, 0.0, 1e-11),
                // Fourth order: (ω h)⁴ ω t/120 with ω = 5 rad/s is 4e-10 at the middle step.
                Scheme::Rk4 => near(name, pair[1].1, 0.0, 1e-8),
                // The orientation turns by the mean velocity, to second order.
                Scheme::Midpoint | Scheme::MidVelocity => near(name, slope, 2.0, 0.2),
                _ => near(&format!("order of angular momentum, {name}"), slope, 1.0, 0.2),
            }
            if *scheme == Scheme::Rk4 {
                // As the angular momentum, and round-off as below.
                near(name, pair[1].0, 0.0, 1e-8);
            } else if scheme.is_direct() || *scheme == Scheme::Implicit {
                let slope = (pair[0].0 / pair[1].0).abs().log2();
                assert!(slope >= 0.8, "order of energy, {name}: {slope}");
            } else {
                // Quadratic invariants stay: round-off of a thousand steps, of the energy of flight,
                // which is some hundred times that of the spin.
                near(name, pair[1].0, 0.0, 1e-9);
            }
        }
    }
}
