//! Meshes, height fields and compounds in a whole set: feature ids persist over seams, nothing is NaN, whatever the pose.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{collider, convex_shapes, touches};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use stiction_geom::shape::generate;
use stiction_geom::{Colliders, Detector, Shape};
use stiction_math::random::SplitMix64;

fn mesh((vertices, triangles): generate::TriangleSoup) -> Shape {
    Shape::mesh(&vertices, &triangles).unwrap()
}

#[test]
fn a_box_that_slides_over_a_tessellated_floor_keeps_the_feature_ids_of_its_contacts() {
    let mut builder = Colliders::builder();
    builder.fixed(0);
    builder.add(collider(mesh(generate::grid((6.0, 6.0), (41, 29))), 0));
    builder.add(collider(Shape::cuboid(Vector3::new(0.3, 0.2, 0.1)).unwrap(), 1));
    let set = builder.build().unwrap();
    let mut detector = Detector::new(&set);
    let mut names: Option<Vec<u32>> = None;
    for k in 0..200 {
        let x = 0.01 * f64::from(k);
        let frames = [Isometry3::identity(), Isometry3::translation(x - 1.0, 0.3 * x, 0.0999)];
        let found = detector.detect(&set, &frames, &[1e-3; 2], &[false; 2]);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|c| c.normal == Vector3::z() && (c.gap + 1e-4).abs() < 1e-13));
        let now: Vec<u32> = found.iter().map(|c| c.feature).collect();
        assert_eq!(*names.get_or_insert_with(|| now.clone()), now);
    }
}

#[test]
fn every_pair_of_shapes_in_any_pose_gives_finite_unit_normals_and_few_points() {
    let mut random = SplitMix64::new(7);
    let hills = |x: f64, y: f64| 0.2 * (5.0 * x).sin() * (4.0 * y).cos();
    let heights =
        (0..400).map(|k| hills(0.1 * f64::from(k % 20), 0.1 * f64::from(k / 20))).collect();
    let ring = mesh(generate::torus(0.5, 0.2, 14, 9));
    let surfaces = [
        ring.clone(),
        mesh(generate::dish(0.6, 0.3, 0.05, 16)),
        mesh(generate::sheet((2.0, 2.0), (9, 9), hills)),
        mesh(generate::icosphere(0.6, 2)),
        Shape::height_field(20, 20, heights, (2.0, 2.0)).unwrap(),
        Shape::compound(vec![
            (Isometry3::translation(0.3, 0.0, 0.0), ring),
            (Isometry3::identity(), Shape::sphere(0.3).unwrap()),
        ])
        .unwrap(),
    ];
    let mut others: Vec<Shape> = convex_shapes(&mut random);
    others.push(Shape::Plane);
    others.extend(surfaces.iter().cloned());
    for surface in &surfaces {
        for other in &others {
            for k in 0..30 {
                // From far apart to one inside the other, at last both at one place.
                let size = 1.0 - f64::from(k) / 29.0;
                let (X_WA, X_WB) = (random.pose(1.0), random.pose(size));
                let X_WB = if k == 29 { X_WA } else { X_WA * X_WB };
                let found = touches((surface, &X_WA), (other, &X_WB), 0.02);
                // Two parts, each against two parts, have at most four manifolds.
                assert!(
                    found.len() <= 4 * 32,
                    "{} {} {}",
                    surface.name(),
                    other.name(),
                    found.len()
                );
                for t in &found {
                    assert!((t.normal.norm() - 1.0).abs() < 1e-9, "{t:?}");
                    assert!(t.gap <= 0.02 && t.point.iter().all(|x| x.is_finite()), "{t:?}");
                }
            }
        }
    }
}

#[test]
fn a_plate_beside_a_torus_has_no_contact() {
    // The plate passes behind triangles of the ring whose fronts face its centre, 21 mm clear of the ring.
    let ring = mesh(generate::torus(0.1, 0.02, 32, 16));
    let plate = Shape::cuboid(Vector3::new(0.15, 0.15, 0.01)).unwrap();
    let rotation = UnitQuaternion::from_quaternion(Quaternion::new(
        0.1618587633435747,
        0.8930204088759712,
        -0.2890920714404697,
        0.3045358177458607,
    ));
    let place = Vector3::new(-0.0028811694924832376, 0.09710242015571896, 0.09077256426274083);
    let X_WA = Isometry3::from_parts(place.into(), rotation);
    let clear = touches((&ring, &Isometry3::identity()), (&plate, &X_WA), 0.02);
    assert!(clear.is_empty(), "{clear:?}");
    let near = touches((&ring, &Isometry3::identity()), (&plate, &X_WA), 0.03);
    assert!(!near.is_empty() && near.iter().all(|t| t.gap > 0.02), "{near:?}");
}

#[test]
fn a_stick_in_a_wider_tube_touches_only_where_its_ends_meet_the_wall() {
    // A tube of inner radius 25 mm, approximated by a prism of 48 sides, and sticks along chords of it.
    let (radius, sides) = (0.025, 48_u32);
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for k in 0..sides {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(sides)).sin_cos();
        for (r, z) in [(radius + 0.004, 0.0), (radius + 0.004, 0.3), (radius, 0.3), (radius, 0.0)] {
            vertices.push(Vector3::new(r * cos, r * sin, z));
        }
        for i in 0..4 {
            let at = |k: u32, i: u32| k % sides * 4 + i % 4;
            let (a, b, c, d) = (at(k, i), at(k + 1, i), at(k + 1, i + 1), at(k, i + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let tube = Shape::mesh(&vertices, &triangles).unwrap();
    let inner = radius * (std::f64::consts::PI / f64::from(sides)).cos();
    let mut random = SplitMix64::new(9);
    for thickness in [0.002, 0.005] {
        let half = Vector3::new(thickness, thickness, 0.08);
        let stick = Shape::cuboid(half).unwrap();
        for _ in 0..400 {
            // Along the tube, tilted and shifted as far as it has room.
            let tilt = 0.1 * random.vector3();
            let spin = UnitQuaternion::from_euler_angles(tilt.x, tilt.y, 3.0 * random.unit());
            let shift = 0.01 * random.vector3();
            let place = Vector3::new(shift.x, shift.y, 0.15);
            let corners = (0..8).map(|k| {
                let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                place + spin * half.component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
            });
            // The stick is convex: its corners are nearest to the wall.
            let farthest = corners.map(|p| p.xy().norm()).fold(0.0, f64::max);
            let X_WA = Isometry3::from_parts(place.into(), spin);
            let found = touches((&tube, &Isometry3::identity()), (&stick, &X_WA), 1e-3);
            let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            if farthest < inner {
                // The wall lies between the circles inside and around the prism.
                assert!(least > inner - farthest - 1e-12, "{farthest} {found:?}");
            } else if farthest > radius {
                assert!(least < 0.0 && least > radius - farthest - 2.0 * thickness, "{found:?}");
            }
        }
    }
}
