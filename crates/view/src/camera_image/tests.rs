use super::*;
use nalgebra::UnitQuaternion;
use std::f64::consts::{FRAC_PI_2, PI};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::record::Recorder;
use stiction_sim::{Geom, Settings, Simulation, WorldBuilder};

const SIZE: ImageSize = ImageSize { width: 160, height: 120, samples: 2 };
const DISTANCE: f64 = 2.0;
const RADIUS: f64 = 0.4;

/// A floor, and a ball that floats above it; the camera looks down at its middle.
fn ball_over_floor() -> (Recording, PlacedCamera) {
    let mut world = WorldBuilder::new();
    world.geom(Geom::new(BodyId::WORLD, Shape::Plane));
    let ball = Shape::sphere(RADIUS).unwrap();
    let (unit, com, inertia) = ball.mass_properties(1.0);
    let mass = MassProperties::new(1.0, com, inertia / unit).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 1.0);
    let body = world.mechanism.body(BodySpec { pose, mass: Some(mass), ..BodySpec::default() });
    world.mechanism.joint(body, JointSpec::new(JointKind::Free));
    world.geom(Geom::new(body, ball));
    let simulation = Simulation::new(world.build().unwrap(), Settings::default()).unwrap();
    let recording = Recorder::new(&simulation, f64::INFINITY).unwrap().finish();
    let pose = Isometry3::translation(0.0, 0.0, 1.0 + DISTANCE);
    (recording, PlacedCamera { pose, field_of_view: 0.8 })
}

fn picture() -> CameraImage {
    let (recording, camera) = ball_over_floor();
    CameraRenderer::new(&recording).render(
        &camera,
        SIZE,
        (&recording.rest, &[]),
        &mut CameraMemory::default(),
    )
}

#[test]
fn depths_are_distances_along_the_axis_of_the_camera() {
    let image = picture();
    let at = |x: usize, y: usize| image.depth[y * SIZE.width + x];
    // The ball of flat triangles lies within 2 % of its radius inside of the round one.
    assert!((f64::from(at(80, 60)) - (DISTANCE - RADIUS)).abs() < 0.02 * RADIUS);
    // The floor is a plane across the axis: the same depth at every pixel, but for its offset of 1e-5.
    for (x, y) in [(0, 0), (159, 0), (0, 119), (159, 119)] {
        assert!((f64::from(at(x, y)) / (1.0 + DISTANCE) - 1.0).abs() < 3e-5);
    }
}

#[test]
fn segmentation_covers_the_silhouette_of_a_ball() {
    let image = picture();
    let count = image.body.iter().filter(|body| **body == 1).count();
    // The cone that touches the ball has the half angle asin(r/d) and is cut by the picture at tan of it.
    let focal = 0.5 * SIZE.height as f64 / 0.4_f64.tan();
    let radius = focal * (RADIUS / DISTANCE).asin().tan();
    let expected = PI * radius * radius;
    // Triangles inside of the ball, and half of the pixels that its rim crosses.
    assert!((count as f64 / expected - 1.0).abs() < 0.04, "{count} of {expected}");
    assert!(image.body.iter().zip(&image.shape).all(|pair| matches!(pair, (0, 0) | (1, 1))));
}

#[test]
fn a_camera_sees_a_body_where_its_axes_say() {
    let (recording, _) = ball_over_floor();
    // At x = −5 m looking along +x: right of the picture is −y, up is z.
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -FRAC_PI_2)
        * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
    let camera = PlacedCamera {
        pose: Isometry3::from_parts(Vector3::new(-5.0, 0.5, 0.5).into(), turn),
        field_of_view: 0.9,
    };
    let image = CameraRenderer::new(&recording).render(
        &camera,
        SIZE,
        (&recording.rest, &[]),
        &mut CameraMemory::default(),
    );
    let focal = 0.5 * SIZE.height as f64 / 0.45_f64.tan();
    // The ball is 0.5 m to the right and 0.5 m above the axis, at a depth of 5 m.
    let expected = [79.5 + focal * 0.1, 59.5 - focal * 0.1];
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for (k, _) in image.body.iter().enumerate().filter(|(_, body)| **body == 1) {
        sum[0] += (k % SIZE.width) as f64;
        sum[1] += (k / SIZE.width) as f64;
        count += 1.0;
    }
    // The silhouette of a ball off the axis is an ellipse whose middle lies at 1 + tan² of its half angle times the image of the centre.
    for axis in 0..2 {
        assert!((sum[axis] / count - expected[axis]).abs() < 0.5, "{sum:?} {count} {expected:?}");
    }
    // Above the horizon nothing is seen.
    assert_eq!((image.body[0], image.shape[0], image.depth[0]), (NOTHING, NOTHING, f32::INFINITY));
}

#[test]
fn the_middle_of_the_shadow_is_darker_than_the_open_floor() {
    let image = picture();
    let mut floor: Vec<u8> =
        (0..image.body.len()).filter(|k| image.body[*k] == 0).map(|k| image.rgb[3 * k]).collect();
    floor.sort_unstable();
    let (dark, open) = (floor[floor.len() / 100], floor[floor.len() / 2]);
    assert!(dark + 20 < open, "{dark} {open}");
}

#[test]
fn transparent_shapes_are_seen_through_and_have_depth() {
    let (mut recording, camera) = ball_over_floor();
    recording.shapes[1].colour[3] = 0.3;
    let image = CameraRenderer::new(&recording).render(
        &camera,
        SIZE,
        (&recording.rest, &[]),
        &mut CameraMemory::default(),
    );
    let middle = 60 * SIZE.width + 80;
    assert_eq!(image.body[middle], 1);
    assert!((f64::from(image.depth[middle]) - (DISTANCE - RADIUS)).abs() < 0.02 * RADIUS);
    // Seven tenths of the floor's shadow shine through: brighter than the opaque ball.
    assert!(image.rgb[3 * middle] > picture().rgb[3 * middle]);
}

#[test]
fn sizes_that_are_too_large_or_empty_are_refused() {
    for (width, height, samples) in [(0, 10, 1), (10, 0, 1), (10, 10, 0), (10, 10, 9), (9000, 9, 1)]
    {
        assert!(!ImageSize { width, height, samples }.is_valid());
    }
    assert!(SIZE.is_valid());
}
