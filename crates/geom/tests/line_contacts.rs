//! Cylinders and capsules that lie on a flat face touch it along their lowest line, wherever it crosses the face.
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
