//! Bodies that pass by, slide over seams and hit thin walls: contacts that are still apart act only if the
//! bodies meet within the step.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{free, start};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::{Shape, shape::generate};
use stiction_math::random::SplitMix64;
use stiction_mech::BodyId;
use stiction_sim::{Geom, Settings, Simulation, Surface, WorldBuilder};

fn weightless() -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::zeros());
    builder
}

fn fixed(builder: &mut WorldBuilder, shape: Shape, pose: Isometry3<f64>, friction: f64) {
    let surface = Surface::with_friction(friction);
    builder.geom(Geom { pose, ..Geom::new(BodyId::WORLD, shape).surface(surface) });
}

fn set_velocity(simulation: &mut Simulation, v: &[f64]) {
    let mut state = simulation.state().clone();
    state.v.copy_from_slice(v);
    simulation.set_state(&state).unwrap();
}

fn exact(builder: WorldBuilder, time_step: f64) -> Simulation {
    let mut settings = Settings { time_step, ..Settings::default() };
    settings.tolerance = 1e-10;
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

#[test]
fn a_ball_that_flies_over_a_box_is_not_touched() {
    let mut builder = weightless();
    let cube = Shape::cuboid(Vector3::repeat(0.5)).unwrap();
    fixed(&mut builder, cube, Isometry3::translation(0.5, 0.0, 0.0), 1.0);
    let at = Isometry3::translation(-1.03, 0.0, 0.56);
    free(&mut builder, Shape::sphere(0.05).unwrap(), 1.0, at, Surface::with_friction(1.0));
    let mut simulation = start(builder, 0.01);
    let v = [5.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    set_velocity(&mut simulation, &v);
    for _ in 0..60 {
        assert!(simulation.step().unwrap().converged());
    }
    assert_eq!(simulation.state().v, v);
}

#[test]
fn bodies_that_pass_a_box_with_clearance_keep_their_motion() {
    let mut random = SplitMix64::new(11);
    for trial in 0..300 {
        let mut builder = weightless();
        let turned = UnitQuaternion::from_scaled_axis(3.0 * random.vector3());
        let half = Vector3::new(0.3, 0.2, 0.4);
        let obstacle = Shape::cuboid(half).unwrap();
        fixed(&mut builder, obstacle, Isometry3::from_parts(Vector3::zeros().into(), turned), 1.0);
        let shape = match trial % 4 {
            0 => Shape::sphere(0.05).unwrap(),
            1 => Shape::cuboid(Vector3::new(0.1, 0.03, 0.05)).unwrap(),
            2 => Shape::cylinder(0.04, 0.1).unwrap(),
            _ => Shape::capsule(0.03, 0.08).unwrap(),
        };
        // A straight line at a distance from the centre of the obstacle at which bounding spheres
        // are apart by the clearance.
        let clearance = 1e-3 * 10.0_f64.powf(random.uniform(0.0, 1.5));
        let distance = half.norm() + shape.bounding_radius() + clearance;
        let along = random.vector3().normalize();
        let across = along.cross(&random.vector3()).normalize() * distance;
        let speed = 10.0_f64.powf(random.uniform(0.0, 2.0));
        let h = if trial % 2 == 0 { 0.002 } else { 0.01 };
        let begin = across - along * (speed * h * random.uniform(1.0, 4.0));
        free(
            &mut builder,
            shape,
            1.0,
            Isometry3::from_parts(begin.into(), turned),
            Surface::with_friction(1.0),
        );
        let mut simulation = start(builder, h);
        let spin = (0.2 / h).min(20.0) * random.vector3();
        let v = [speed * along.x, speed * along.y, speed * along.z, spin.x, spin.y, spin.z];
        set_velocity(&mut simulation, &v);
        for _ in 0..10 {
            let report = simulation.step().unwrap();
            assert_eq!(report.rows, 0, "trial {trial}");
        }
    }
}

#[test]
fn a_bullet_does_not_pass_through_a_thin_wall() {
    let mut random = SplitMix64::new(12);
    for trial in 0..200 {
        let mut builder = weightless();
        let wall = Shape::cuboid(Vector3::new(5e-4, 5.0, 5.0)).unwrap();
        fixed(&mut builder, wall, Isometry3::identity(), 0.5);
        let speed = 10.0_f64.powf(random.uniform(0.0, 3.0));
        let h = if trial % 2 == 0 { 0.002 } else { 0.01 };
        let from = -3e-3 - speed * h * random.uniform(0.0, 3.0);
        let at = Isometry3::translation(from, 0.0, 0.0);
        free(&mut builder, Shape::sphere(2.5e-3).unwrap(), 1e-3, at, Surface::default());
        let mut simulation = start(builder, h);
        let slide = 0.2 * speed * random.vector3();
        set_velocity(&mut simulation, &[speed, slide.y, slide.z, 0.0, 0.0, 0.0]);
        for _ in 0..8 {
            let _ = simulation.step().unwrap();
            let x = simulation.state().q[0];
            assert!(x <= -2.9e-3, "trial {trial}: {x} at {speed} m/s");
        }
    }
}

/// A floor of tiles, of a mesh, of a height field or of one plane, all with their surface at z = 0.
fn floor(builder: &mut WorldBuilder, kind: &str, friction: f64) {
    match kind {
        "tiles" => {
            let tile = Shape::cuboid(Vector3::new(0.1, 1.0, 0.1)).unwrap();
            for k in -10..=10 {
                let pose = Isometry3::translation(0.2 * f64::from(k), 0.0, -0.1);
                fixed(builder, tile.clone(), pose, friction);
            }
        }
        "mesh" => {
            let (vertices, triangles) = generate::grid((4.0, 2.0), (23, 11));
            let mesh = Shape::mesh(&vertices, &triangles).unwrap();
            fixed(builder, mesh, Isometry3::identity(), friction);
        }
        "height field" => {
            let field = Shape::height_field(12, 25, vec![0.0; 12 * 25], (2.0, 1.0)).unwrap();
            fixed(builder, field, Isometry3::identity(), friction);
        }
        _ => fixed(builder, Shape::Plane, Isometry3::identity(), friction),
    }
}

/// Coordinates and velocities of a body after it moved over a floor for 0.4 s.
fn motion_over(kind: &str, shape: &Shape, height: f64, friction: f64, v: &[f64; 6]) -> Vec<f64> {
    let mut builder = WorldBuilder::new();
    floor(&mut builder, kind, friction);
    let at = Isometry3::translation(-0.53, 0.013, height);
    free(&mut builder, shape.clone(), 1.0, at, Surface::with_friction(friction));
    let mut simulation = exact(builder, 0.002);
    set_velocity(&mut simulation, v);
    for _ in 0..200 {
        let _ = simulation.step().unwrap();
    }
    let state = simulation.state();
    state.q.iter().chain(&state.v).copied().collect()
}

#[test]
fn motion_over_tiles_meshes_and_height_fields_is_that_over_a_plane() {
    let r = 0.1;
    let ball = (Shape::sphere(r).unwrap(), r, [2.0, 0.3, 0.0, -0.3 / r, 2.0 / r, 0.0]);
    let cube = Shape::cuboid(Vector3::new(0.1, 0.1, 0.05)).unwrap();
    let smooth = (cube.clone(), 0.05, [2.0, 0.3, 0.0, 0.0, 0.0, 0.0]);
    for kind in ["tiles", "mesh", "height field"] {
        for ((shape, height, v), friction) in [(&ball, 0.5), (&smooth, 0.0)] {
            let there = motion_over("plane", shape, *height, friction, v);
            let here = motion_over(kind, shape, *height, friction, v);
            let largest =
                here.iter().zip(&there).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
            // Contacts at other points of the same plane give the same motion up to the solver's
            // tolerance of 1e-10 relative, over 200 steps.
            assert!(
                largest <= 1e-6 * 2.0,
                "{kind}, {}: {largest:e}\n{here:?}\n{there:?}",
                shape.name()
            );
        }
    }
}

#[test]
fn a_box_slides_over_the_seam_of_two_coplanar_boxes() {
    let mut builder = WorldBuilder::new();
    let table = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).unwrap();
    for x in [-1.0, 1.0] {
        fixed(&mut builder, table.clone(), Isometry3::translation(x, 0.0, -0.1), 0.0);
    }
    let shape = Shape::cuboid(Vector3::new(0.1, 0.1, 0.05)).unwrap();
    let at = Isometry3::translation(-0.5, 0.0, 0.05);
    free(&mut builder, shape, 1.0, at, Surface::with_friction(0.0));
    let mut simulation = start(builder, 0.002);
    set_velocity(&mut simulation, &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    for _ in 0..250 {
        assert!(simulation.step().unwrap().converged());
    }
    assert!((simulation.state().q[0] - 0.5).abs() <= 1e-6, "{:?}", simulation.state().q);
}

#[test]
fn a_falling_row_of_cubes_does_not_penetrate_when_the_lowest_lands() {
    // The upper cubes follow the lowest at equal speed: they meet because the ground stops it.
    let mut builder = common::on_ground(0.5);
    for k in 0..4 {
        common::cube(&mut builder, 0.05, 0.0, 0.05 + 0.05 + 0.105 * f64::from(k), 0.5);
    }
    let mut simulation = start(builder, 0.01);
    let mut v = vec![0.0; 24];
    (0..4).for_each(|k| v[6 * k + 2] = -3.0);
    set_velocity(&mut simulation, &v);
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        // Ten times the tolerated penetration is what a missed contact may have at most.
        assert!(report.penetration <= 2e-4, "{}", report.penetration);
    }
}
