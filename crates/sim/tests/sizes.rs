//! Worlds and states of sizes that cannot be: each is refused with what was found and what is
//! expected, before memory or time is taken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{CableCourse, CableSpec, Geom, Settings, Simulation, StepError, WorldBuilder};

fn body(
    builder: &mut WorldBuilder,
    parent: BodyId,
    kind: JointKind,
    pose: Isometry3<f64>,
    name: &str,
) -> BodyId {
    let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let spec =
        BodySpec { name: name.to_owned(), parent, pose, mass: Some(mass), ..BodySpec::default() };
    let id = builder.mechanism.body(spec);
    builder.mechanism.joint(id, JointSpec::new(kind));
    id
}

#[test]
fn cables_of_too_many_segments_are_refused() {
    for (segments, radius, expected) in [
        (usize::MAX, 5e-3, "1 to 100000"),
        (200_000, 5e-3, "1 to 100000"),
        // Segments a micrometre long and a metre thick: all are near one another.
        (50_000, 1.0, "longer segments"),
    ] {
        let mut builder = WorldBuilder::new();
        let course = CableCourse::Straight { pose: Isometry3::identity(), length: 0.05 };
        builder.cable(CableSpec { segments, radius, course, ..CableSpec::default() });
        let message = builder.build().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_chain_whose_mass_matrix_fills_the_memory_is_refused() {
    let mut builder = WorldBuilder::new();
    let mut parent = BodyId::WORLD;
    let hinge = JointKind::Hinge { axis: Vector3::z() };
    for k in 0..20_000 {
        parent = body(&mut builder, parent, hinge, Isometry3::identity(), &format!("{k}"));
    }
    let message = builder.build().unwrap_err().to_string();
    assert!(message.contains("20000 degrees of freedom"), "{message}");
}

/// Two balls, one of them at a distance along x [m].
fn balls(distance: f64) -> Simulation {
    let mut builder = WorldBuilder::new();
    for (x, name) in [(0.0, "near"), (distance, "far")] {
        let at = Isometry3::translation(x, 0.0, 0.0);
        let id = body(&mut builder, BodyId::WORLD, JointKind::Free, at, name);
        builder.geom(Geom::new(id, Shape::sphere(0.1).unwrap()));
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

#[test]
fn a_ball_so_far_away_that_numbers_do_not_resolve_it_fails_the_step() {
    // Coordinates of 1e11 m are multiples of 1.5e-5 m, those of 1e20 m of 16 km.
    assert!(balls(1e11).step().is_ok());
    let mut simulation = balls(1e20);
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err();
    assert!(matches!(&error, StepError::TooFar { body, .. } if body == "far"), "{error}");
    assert_eq!(*simulation.state(), before);
}

#[test]
fn a_ball_that_would_fly_out_of_reach_within_one_step_fails_it() {
    let mut simulation = balls(1.0);
    let mut state = simulation.state().clone();
    let fast = state.v.len() - 6;
    state.v[fast..].fill(1e22);
    simulation.set_state(&state).unwrap();
    let error = simulation.step().unwrap_err();
    assert!(matches!(&error, StepError::TooFar { .. } | StepError::NotFinite { .. }), "{error}");
    assert_eq!(simulation.state().q, state.q);
}

#[test]
fn after_a_ball_flew_out_of_reach_contacts_are_found_from_another_state() {
    let mut simulation = balls(0.199);
    let start = simulation.state().clone();
    // Balls in contact: their contacts are known when the step fails.
    for _ in 0..3 {
        let _ = simulation.step().unwrap();
    }
    let resting = simulation.state().clone();
    for speed in [1e16, 1e18, 1e22] {
        let mut state = resting.clone();
        let fast = state.v.len() - 6;
        state.v[fast] = speed;
        simulation.set_state(&state).unwrap();
        assert!(simulation.step().is_err());
        simulation.set_state(&start).unwrap();
        let mut other = balls(0.199);
        for _ in 0..3 {
            let _ = simulation.step().unwrap();
            let _ = other.step().unwrap();
            assert_eq!(simulation.state().q, other.state().q);
        }
    }
}

#[test]
fn a_thousand_excluded_pairs_of_bodies_on_one_frame_and_many_driven_ones_are_built() {
    let mut builder = WorldBuilder::new();
    let shape = Shape::sphere(0.1).unwrap();
    let bodies: Vec<BodyId> = (0..20_000)
        .map(|k| {
            let spec = BodySpec {
                name: format!("{k}"),
                pose: Isometry3::translation(k as f64, 0.0, 0.0),
                driven: k % 2 == 0,
                ..BodySpec::default()
            };
            let id = builder.mechanism.body(spec);
            builder.geom(Geom::new(id, shape.clone()));
            id
        })
        .collect();
    for pair in bodies.windows(2) {
        builder.exclude(pair[0], pair[1]);
    }
    assert!(builder.build().is_ok());
}
