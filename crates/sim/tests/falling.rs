//! A mechanism that falls freely is at rest within itself: its brakes have nothing to do, and its
//! weight accelerates all of it alike.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Scheme, Settings, Simulation, WorldBuilder};

/// A trunk and four legs of two links each, on hinges with dry friction.
fn robot() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let mut body = |parent, x: f64, mass: f64| {
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.01, 0.02, 0.015)) * mass;
        let com = Vector3::new(0.013, 0.02 * x, -0.05);
        builder.mechanism.body(BodySpec {
            parent,
            pose: Isometry3::translation(x, 0.3 * x, -0.1),
            mass: Some(MassProperties::new(mass, com, inertia).unwrap()),
            ..BodySpec::default()
        })
    };
    let trunk = body(BodyId::WORLD, 0.0, 5.0);
    let mut links = Vec::new();
    for x in [-0.2, -0.1, 0.1, 0.2] {
        let thigh = body(trunk, x, 1.0);
        links.extend([thigh, body(thigh, 0.02, 0.3)]);
    }
    builder.mechanism.joint(trunk, JointSpec::new(JointKind::Free));
    for link in links {
        let hinge = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
        builder.mechanism.joint(link, JointSpec { friction_loss: 0.2, ..hinge });
    }
    builder
}

#[test]
fn a_braked_robot_falls_as_a_stone_does() {
    let (time_step, steps) = (0.002, 500);
    let settings = Settings { time_step, scheme: Scheme::Symplectic, ..Settings::default() };
    let mut simulation = Simulation::new(robot().build().unwrap(), settings).unwrap();
    let before = simulation.state().q.clone();
    for step in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.converged(), "step {step}: {:?}", report.residuals);
    }
    let n = f64::from(steps);
    let (speed, way) = (9.81 * n * time_step, 0.5 * 9.81 * n * (n + 1.0) * time_step * time_step);
    // Momentum is exact to the solver's tolerance of a millionth.
    assert!((simulation.state().v[2] + speed).abs() <= 1e-5 * speed);
    assert!((simulation.state().q[2] - before[2] + way).abs() <= 1e-5 * way);
    for (now, then) in simulation.state().q[3..].iter().zip(&before[3..]) {
        assert!((now - then).abs() <= 1e-6, "{now} and {then}");
    }
}
