//! Random numbers, poses and shapes for the tests, the same in every run.
#![allow(dead_code, clippy::unwrap_used)]

use nalgebra::{Isometry3, UnitQuaternion, Vector3, Vector4};
use stiction_geom::narrow::{self, Manifold, ManifoldPoint, PosedShape};
use stiction_geom::{Collider, Groups, Shape};

/// A linear congruential generator of 64 bits [Knuth's constants].
pub struct Random(pub u64);

impl Random {
    /// A number in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-size, size))
    }

    pub fn unit(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector(1.0);
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        let q = Vector4::from_fn(|_, _| self.between(-1.0, 1.0));
        UnitQuaternion::from_quaternion(nalgebra::Quaternion::from(q))
    }

    pub fn pose(&mut self, size: f64) -> Isometry3<f64> {
        Isometry3::from_parts(self.vector(size).into(), self.rotation())
    }

    pub fn points(&mut self, n: usize) -> Vec<Vector3<f64>> {
        (0..n).map(|_| self.vector(0.6)).collect()
    }
}

/// One of each bounded convex shape, of about the same size.
pub fn convex_shapes(random: &mut Random) -> Vec<Shape> {
    let mut length = || random.between(0.3, 0.9);
    let mut shapes = vec![
        Shape::cuboid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::capsule(length(), length()).unwrap(),
        Shape::cylinder(length(), length()).unwrap(),
        Shape::ellipsoid(Vector3::new(length(), length(), length())).unwrap(),
        Shape::sphere(length()).unwrap(),
    ];
    shapes.push(Shape::convex(&random.points(12)).unwrap());
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
