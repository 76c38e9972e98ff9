//! Random numbers, poses and shapes for the tests, the same in every run.
#![allow(dead_code, clippy::unwrap_used)]

use nalgebra::{Isometry3, Vector3};
use stiction_geom::narrow::{self, Manifold, ManifoldPoint, PosedShape};
use stiction_geom::{Collider, Groups, Shape};
use stiction_math::random::SplitMix64;

/// `n` points of the cube around the origin with half an edge of 0.6 m.
pub fn points(random: &mut SplitMix64, n: usize) -> Vec<Vector3<f64>> {
    (0..n).map(|_| 0.6 * random.vector3()).collect()
}

/// One of each bounded convex shape, of about the same size.
pub fn convex_shapes(random: &mut SplitMix64) -> Vec<Shape> {
    let mut length = || random.uniform(0.3, 0.9);
    let mut shapes = vec![
        Shape::cuboid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::capsule(length(), length()).unwrap(),
        Shape::cylinder(length(), length()).unwrap(),
        Shape::ellipsoid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::sphere(length()).unwrap(),
    ];
    shapes.push(Shape::convex(&points(random, 12)).unwrap());
    shapes
}

pub fn collider(shape: Shape, frame: u32) -> Collider {
    Collider { shape, frame, pose: Isometry3::identity(), groups: Groups::default(), margin: 0.0 }
}

/// The manifold of two shapes.
pub fn touches(
    a: (&Shape, &Isometry3<f64>),
    b: (&Shape, &Isometry3<f64>),
    reach: f64,
) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::default();
    let placed = |(shape, X_WS)| PosedShape { shape, X_WS };
    narrow::contacts(placed(a), placed(b), reach, &mut manifold);
    manifold.points().to_vec()
}

/// Least gap of a manifold [m]; infinite if it is empty.
pub fn least_gap(touches: &[ManifoldPoint]) -> f64 {
    touches.iter().fold(f64::INFINITY, |least, touch| least.min(touch.gap))
}

/// Separation of two convex shapes along `n`, from support points alone [m].
pub fn separation(
    (a, X_WA): (&Shape, &Isometry3<f64>),
    (b, X_WB): (&Shape, &Isometry3<f64>),
    n: &Vector3<f64>,
) -> f64 {
    let world = |shape: &Shape, X: &Isometry3<f64>, dir: Vector3<f64>| {
        let p = shape.support(&X.rotation.inverse_transform_vector(&dir)).unwrap();
        X.rotation * p + X.translation.vector
    };
    n.dot(&(world(b, X_WB, -n) - world(a, X_WA, *n)))
}
