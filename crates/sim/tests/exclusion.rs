//! Exclusions are between two bodies, whatever else is welded to them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{free, on_ground, start};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec};
use stiction_sim::constraint::{Equality, Weld};
use stiction_sim::{Geom, Surface, WorldBuilder};

const RADIUS: f64 = 0.1;
/// Penetration that is left alone, and more [m].
const SLACK: f64 = 1e-3;

/// A body welded to another, with a thin plate at its origin.
fn plate(builder: &mut WorldBuilder, parent: BodyId, x: f64, z: f64) -> BodyId {
    let pose = Isometry3::translation(x, 0.0, z);
    let body = builder.mechanism.body(BodySpec { parent, pose, ..BodySpec::default() });
    builder.geom(Geom::new(body, Shape::cuboid(Vector3::new(0.2, 0.2, 0.05)).unwrap()));
    body
}

fn ball(builder: &mut WorldBuilder, x: f64, z: f64) -> BodyId {
    let at = Isometry3::translation(x, 0.0, z);
    free(builder, Shape::sphere(RADIUS).unwrap(), 1.0, at, Surface::default())
}

#[test]
fn a_ball_falls_through_the_shelf_it_does_not_touch_and_lands_on_the_ground() {
    let mut builder = on_ground(0.5);
    let shelf = plate(&mut builder, BodyId::WORLD, 0.0, 0.5);
    let balls = [ball(&mut builder, 0.0, 1.0), ball(&mut builder, 0.15, 1.0)];
    builder.exclude(balls[0], shelf);
    builder.exclude(balls[0], balls[1]);
    let mut simulation = start(builder, 2e-3);
    for _ in 0..1000 {
        assert!(simulation.step().unwrap().converged());
    }
    let heights = balls.map(|ball| simulation.body_pose(ball.0).translation.z);
    for (found, expected) in heights.into_iter().zip([RADIUS, 0.55 + RADIUS]) {
        assert!((found - expected).abs() <= SLACK, "{heights:?}");
    }
}

#[test]
fn of_two_plates_on_one_link_the_other_still_carries() {
    // Two plates are parts of a heavy table that lies on the ground; a ball above each.
    let mut builder = on_ground(0.5);
    let shape = Shape::cuboid(Vector3::new(0.5, 0.2, 0.05)).unwrap();
    let at = Isometry3::translation(0.0, 0.0, 0.05);
    let table = free(&mut builder, shape, 100.0, at, Surface::default());
    let plates = [-0.25, 0.25].map(|x| plate(&mut builder, table, x, 0.4));
    let balls = [-0.25, 0.25].map(|x| ball(&mut builder, x, 0.7));
    builder.exclude(plates[0], balls[0]);
    let mut simulation = start(builder, 2e-3);
    for _ in 0..500 {
        assert!(simulation.step().unwrap().converged());
    }
    let model = simulation.world().model().clone();
    let height = |ball: BodyId| {
        let tree =
            &model.trees()[model.bodies()[model.body_of_builder(ball).unwrap().0].tree.unwrap()];
        simulation.state().q[tree.q.start + 2]
    };
    // The table's top is at 0.1 m, that of the plates at 0.5 m.
    let heights = balls.map(height);
    for (found, expected) in heights.into_iter().zip([0.1 + RADIUS, 0.5 + RADIUS]) {
        assert!((found - expected).abs() <= SLACK, "{heights:?}");
    }
}

#[test]
fn flush_boxes_that_are_welded_turn_as_one_body() {
    // Two boxes side by side, 0.2 m each, turn about their common centre of mass without gravity. The weld follows the
    // arc, and contacts of the flush faces would not.
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    let half = Vector3::new(0.1, 0.1, 0.1);
    let boxes = [-0.1, 0.1].map(|x| {
        let at = Isometry3::translation(x, 0.0, 0.0);
        free(&mut builder, Shape::cuboid(half).unwrap(), 1.0, at, Surface::default())
    });
    let pose = Isometry3::translation(0.2, 0.0, 0.0);
    let glue = Weld { body_a: boxes[0], body_b: boxes[1], pose };
    builder.equality("glue", Equality::Weld(glue));
    let mut simulation = start(builder, 2e-3);
    let rate = 10.0;
    let mut state = simulation.state().clone();
    for (k, x) in [-0.1, 0.1].into_iter().enumerate() {
        (state.v[6 * k + 1], state.v[6 * k + 5]) = (rate * x, rate);
    }
    simulation.set_state(&state).unwrap();
    let before = simulation.energy();
    for _ in 0..500 {
        let report = simulation.step().unwrap();
        assert!(report.converged() && report.contacts == 0, "{report:?}");
    }
    // The scheme follows chords of h ω = 0.02 rad: its relative error of the energy is of the order of (h ω)².
    assert!((simulation.energy() - before).abs() <= 2e-3 * before, "{before}");
    simulation.set_equality_active(0, false);
    let _ = simulation.step().unwrap();
    assert!(simulation.step().unwrap().contacts > 0);
}
