//! Cylinders and capsules that lie on a flat face touch it along their lowest line, wherever it crosses the face; an end
//! beside the face touches its edge.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::touches;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_math::random::SplitMix64;

#[test]
fn lying_cylinders_and_capsules_touch_a_face_along_their_lowest_line() {
    let mut random = SplitMix64::new(21);
    let half = Vector3::new(0.3, 0.2, 0.05);
    let (vertices, triangles) = generate::cuboid(half);
    let floors = [
        Shape::cuboid(half).unwrap(),
        Shape::convex(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ];
    let (radius, length) = (0.06, 0.1);
    let shapes =
        [Shape::cylinder(radius, length).unwrap(), Shape::capsule(radius, length).unwrap()];
    let mut worst = [0.0_f64; 2];
    for k in 0..6000 {
        let (floor, shape) = (&floors[k % 3], &shapes[k / 3 % 2]);
        let yaw = if k % 5 == 0 { 0.0 } else { 7.0 * random.unit() };
        let roll = UnitQuaternion::from_euler_angles(0.0, 0.0, 7.0 * random.unit());
        let lie = UnitQuaternion::from_euler_angles(0.0, std::f64::consts::FRAC_PI_2, yaw);
        // Wholly over the face, or across its border.
        let reach = if k % 2 == 0 { 0.1 } else { 0.3 };
        let place = reach * random.vector3();
        let gap = random.signed_unit() * 10.0_f64.powi(-(random.below(12) as i32) - 5);
        let top = half.z + radius + gap;
        let X_FS = Isometry3::from_parts(Vector3::new(place.x, place.y, top).into(), lie * roll);
        let X_WF = if k % 2 == 0 { Isometry3::identity() } else { random.pose(1.0) };
        let found = touches((floor, &X_WF), (shape, &(X_WF * X_FS)), 1e-3);
        if place.x.abs() > half.x - 0.01 || place.y.abs() > half.y - 0.01 {
            continue;
        }
        assert!(!found.is_empty(), "pose {k}");
        for touch in &found {
            let n = X_WF.rotation.inverse() * touch.normal;
            let p = X_WF.inverse_transform_point(&touch.point.into()).coords - place;
            let across = (lie * Vector3::z()).cross(&Vector3::z()).dot(&p).abs();
            let tilt = (n - Vector3::z()).norm();
            worst[0] = worst[0].max(tilt);
            worst[1] = worst[1].max(across);
            // Rounding errors of poses of size 1 are below 1e-15; a support point along a direction with that
            // error lies off by as much.
            if tilt > 1e-12 || across > 1e-12 || (touch.gap - gap).abs() > 1e-12 {
                println!(
                    "pose {k} {} on {}: tilt {tilt:.1e}, across {across:.1e}, gap {gap:.2e} {:.2e} \
                     feature {:x}, of {}",
                    shape.name(),
                    floor.name(),
                    touch.gap,
                    touch.feature,
                    found.len()
                );
            }
        }
    }
    assert!(worst[0] <= 1e-12 && worst[1] <= 1e-12, "{worst:?}");
}

/// ```text
///        ______________
///  _____(  near        )   capsule, level, its near end δ beside the edge
///  tile |                  and lower than its radius over the tile by d
/// ```
#[test]
fn the_end_of_a_capsule_beside_a_tile_touches_the_edge_of_the_tile() {
    let mut random = SplitMix64::new(22);
    let half = Vector3::new(0.3, 0.2, 0.05);
    let (vertices, triangles) = generate::cuboid(half);
    let floors = [
        Shape::cuboid(half).unwrap(),
        Shape::convex(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ];
    let (radius, half_length) = (0.05, 0.1);
    let capsule = Shape::capsule(radius, half_length).unwrap();
    for k in 0..3000 {
        let floor = &floors[k % 3];
        let beside = random.log_uniform(1e-6, 7e-4);
        let depth = 5e-6;
        let near =
            Vector3::new(half.x + beside, 0.15 * random.signed_unit(), half.z + radius - depth);
        let yaw = random.signed_unit();
        // The axis of the capsule, from its near end to the other or back.
        let flip = if random.below(2) == 0 { 0.5 } else { -0.5 } * std::f64::consts::PI;
        let lie = UnitQuaternion::from_euler_angles(0.0, flip, yaw);
        let away = Vector3::new(yaw.cos(), yaw.sin(), 0.0);
        let X_FS = Isometry3::from_parts((near + half_length * away).into(), lie);
        let X_WF = if k % 2 == 0 { Isometry3::identity() } else { random.pose(1.0) };
        let found = touches((floor, &X_WF), (&capsule, &(X_WF * X_FS)), 1e-9);
        let distance = beside.hypot(radius - depth);
        let normal = Vector3::new(beside, 0.0, radius - depth) / distance;
        // The distance varies by half the square of an error of the direction: gaps are exact, normals to the root of
        // the rounding error of lengths below 1 m.
        assert!(!found.is_empty(), "pose {k}");
        for touch in &found {
            let n = X_WF.rotation.inverse() * touch.normal;
            let p = X_WF.inverse_transform_point(&touch.point.into()).coords;
            assert!((touch.gap - (distance - radius)).abs() <= 1e-12, "pose {k} {}", touch.gap);
            assert!((n - normal).norm() <= 1e-6, "pose {k} {}: {n} for {normal}", floor.name());
            let on_edge = Vector3::new(half.x, near.y, half.z) + 0.5 * touch.gap * n;
            assert!((p - on_edge).norm() <= 1e-6, "pose {k} {}: {p} for {on_edge}", floor.name());
        }
    }
}
