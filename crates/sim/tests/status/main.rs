//! The status of whole steps: what is wrong is flagged, and what is right is not.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounded;
#[path = "../common/mod.rs"]
mod common;
mod energy;
mod faults;
mod healthy;
mod random_worlds;
mod start;

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Scheme, Settings, Simulation, StepReport, StepStatus, WorldBuilder};

/// A slender bar of one kilogram that hangs from its joint along −z, `length` [m].
fn bar(builder: &mut WorldBuilder, parent: BodyId, length: f64, kind: JointKind) -> BodyId {
    let across = length * length / 12.0;
    let inertia = Matrix3::from_diagonal(&Vector3::new(across, across, 0.01 * across));
    let mass = MassProperties::new(1.0, Vector3::new(0.0, 0.0, -0.5 * length), inertia).unwrap();
    let at = if parent == BodyId::WORLD { 0.0 } else { -length };
    let body = builder.mechanism.body(BodySpec {
        parent,
        pose: Isometry3::translation(0.0, 0.0, at),
        mass: Some(mass),
        ..BodySpec::default()
    });
    builder.mechanism.joint(body, JointSpec::new(kind));
    body
}

/// A chain of bars on hinges.
fn chain(bars: usize, length: f64, scheme: Scheme, time_step: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    for _ in 0..bars {
        parent = bar(&mut builder, parent, length, JointKind::Hinge { axis: Vector3::y() });
    }
    let settings = Settings { scheme, time_step, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

/// Runs a simulation and requires every step to be ok.
fn assert_ok(simulation: &mut Simulation, steps: usize, what: &str) {
    for step in 0..steps {
        let report = simulation.step().unwrap();
        assert_eq!(report.status(), StepStatus::Ok, "{what}, step {step}: {}", told(&report));
    }
}

fn told(report: &StepReport) -> String {
    format!("{report}; {:?}", report.energy)
}
