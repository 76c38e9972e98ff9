//! Loops that are closed more than once, by points that agree to eight digits only.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{Settings, Simulation, StepStatus, WorldBuilder};

const LENGTH: f64 = 0.3;

fn bar(
    builder: &mut WorldBuilder,
    parent: BodyId,
    at: Vector3<f64>,
    along: Vector3<f64>,
) -> BodyId {
    let inertia = Matrix3::identity() * (LENGTH * LENGTH / 12.0);
    let mass = MassProperties::new(1.0, 0.5 * along, inertia).unwrap();
    let pose = Isometry3::translation(at.x, at.y, at.z);
    let spec = BodySpec { parent, pose, mass: Some(mass), ..BodySpec::default() };
    let body = builder.mechanism.body(spec);
    builder.mechanism.joint(body, JointSpec::new(JointKind::Hinge { axis: Vector3::y() }));
    body
}

/// ```text
///  o───────o   two cranks hang from the ceiling; a coupler on the first
///  │       │   is closed at the second by `copies` pairs of points on the axis of its hinge,
///  o───────o   the further ones off by `offset`
/// ```
fn parallelogram(copies: usize, offset: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    let (down, across) = (Vector3::new(0.0, 0.0, -LENGTH), Vector3::new(LENGTH, 0.0, 0.0));
    let first = bar(&mut builder, BodyId::WORLD, Vector3::zeros(), down);
    let second = bar(&mut builder, BodyId::WORLD, across, down);
    let coupler = bar(&mut builder, first, down, across);
    for copy in 0..copies {
        // Three pairs of points along the axis leave the hinge its turn and are nine rows of rank two.
        for y in [-0.02, 0.0, 0.02] {
            let shift = Vector3::new(0.0, y, 0.0);
            let off = offset * copy as f64 * Vector3::new(1.0, 0.5, -1.0);
            let connect = Connect {
                body_a: coupler,
                point_a: across + shift,
                body_b: second,
                point_b: down + shift + off,
            };
            builder.equality(format!("pin {copy} {y}"), Equality::Connect(connect));
        }
    }
    let mut simulation = Simulation::new(builder.build().unwrap(), Settings::default()).unwrap();
    simulation.state_mut().v.copy_from_slice(&[2.0, 2.0, -2.0]);
    simulation
}

#[test]
fn a_loop_that_is_closed_many_times_moves_as_one_that_is_closed_once() {
    let mut once = parallelogram(1, 0.0);
    let mut often = parallelogram(3, 1e-8);
    for step in 0..1000 {
        let (a, b) = (once.step().unwrap(), often.step().unwrap());
        // Rank two of a planar loop, whatever was declared.
        assert_eq!((a.rows, b.rows), (2, 2), "step {step}");
        assert_eq!((a.status(), b.status()), (StepStatus::Ok, StepStatus::Ok), "step {step}: {b}");
        // Which of the points hold is not determined, to their distance.
        assert!(b.equality_error <= 1e-7, "step {step}: {}", b.equality_error);
        let apart = once.state().q.iter().zip(&often.state().q).map(|(a, b)| (a - b).abs());
        // The distance of the points over the length of a crank, growing with the time at 2 rad/s.
        assert!(apart.fold(0.0, f64::max) <= 1e-5, "step {step}");
    }
}
