//! Prints the processor time that one pair with a mesh or a height field costs the narrow phase (the mean
//! over poses of the least of several measurements), and its points. An argument selects the pairs with that text in
//! their names.

#![allow(non_snake_case)] // frames keep their letters

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use stiction_geom::narrow::{self, Manifold, PosedShape};
use stiction_geom::shape::{HeightField, Mesh, generate};
use stiction_geom::{Shape, ShapeError};

fn mesh((vertices, triangles): generate::TriangleSoup) -> Result<Shape, ShapeError> {
    Ok(Shape::Mesh(Arc::new(Mesh::build(&vertices, &triangles)?)))
}

fn time(name: &str, a: &Shape, b: &Shape, place: impl Fn(f64) -> Isometry3<f64>) {
    if std::env::args().nth(1).is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let (mut manifold, mut points, poses, rounds) = (Manifold::default(), 0, 40, 60);
    let X_WA = Isometry3::identity();
    // Each pose counts with its least time: other processes only ever add to it.
    let mut least = [f64::INFINITY; 40];
    for _ in 0..rounds {
        for (k, least) in least.iter_mut().enumerate() {
            let X_WB = place(k as f64 / f64::from(poses));
            manifold.clear();
            let (a, b) =
                (PosedShape { shape: a, X_WS: &X_WA }, PosedShape { shape: b, X_WS: &X_WB });
            let start = Instant::now();
            narrow::contacts(a, b, 1e-3, &mut manifold);
            *least = least.min(start.elapsed().as_secs_f64() * 1e6);
            points += black_box(manifold.len());
        }
    }
    let mean = least.iter().sum::<f64>() / f64::from(poses);
    let points = points as f64 / f64::from(poses * rounds);
    println!("{name:<56} {mean:>9.2} µs  {points:>5.1} points");
}

fn main() -> Result<(), ShapeError> {
    let floor = mesh(generate::grid((4.0, 4.0), (100, 100)))?;
    let hill = mesh(generate::icosphere(1.0, 5))?;
    let dish = mesh(generate::dish(0.1, 0.03, 0.004, 64))?;
    let field = Shape::HeightField(Arc::new(HeightField::build(
        200,
        200,
        (0..40_000).map(|k| 0.02 * f64::sin(0.37 * f64::from(k))).collect(),
        (4.0, 4.0),
    )?));
    let shapes = [
        ("sphere", Shape::Sphere { radius: 0.1 }, 0.1),
        ("box", Shape::Box(Vector3::repeat(0.1)), 0.1),
        ("capsule", Shape::Capsule { radius: 0.1, half_length: 0.1 }, 0.2),
        ("cylinder", Shape::Cylinder { radius: 0.1, half_length: 0.1 }, 0.1),
        ("ellipsoid", Shape::Ellipsoid { radii: Vector3::new(0.2, 0.15, 0.1) }, 0.1),
        ("mesh of 1,280 triangles", mesh(generate::icosphere(0.1, 3))?, 0.1),
    ];
    for (name, shape, low) in &shapes {
        let over = |z: f64| move |t: f64| Isometry3::translation(t - 0.5, 0.3 * t, z - 1e-5);
        time(&format!("{name} on a floor of 20,000 triangles"), &floor, shape, over(*low));
        time(&format!("{name} on a field of 40,000 heights"), &field, shape, over(*low + 0.018));
        let around = |t: f64| {
            let spin = UnitQuaternion::from_euler_angles(t, 0.0, 0.0);
            Isometry3::rotation(spin.scaled_axis())
                * Isometry3::translation(0.0, 0.0, 1.0 + low - 1e-4)
        };
        time(&format!("{name} on a sphere of 20,480 triangles"), &hill, shape, around);
    }
    let rho = 0.5 * (0.01 + 0.0009) / 0.03;
    let lift = 0.004 / 0.1_f64.atan2(rho - 0.03).cos();
    let count = if let Shape::Mesh(m) = &dish { m.triangles().len() } else { 0 };
    time(&format!("dish in dish of {count} triangles each"), &dish, &dish, |t| {
        Isometry3::translation(0.0, 0.0, lift - 1e-4)
            * UnitQuaternion::from_euler_angles(0.0, 0.0, t)
    });
    let ring = mesh(generate::torus(0.1, 0.02, 32, 16))?;
    let plate = Shape::Box(Vector3::new(0.15, 0.15, 0.01));
    let tumbling = |t: f64| {
        Isometry3::translation(0.0, 0.0, 0.05)
            * UnitQuaternion::from_euler_angles(20.0 * t, 13.0 * t, 0.0)
    };
    time("plate tumbling over a torus", &ring, &plate, tumbling);
    let peg = Shape::Cylinder { radius: 0.03, half_length: 0.2 };
    time("peg tumbling over a torus", &ring, &peg, tumbling);
    time("torus tumbling over a torus", &ring, &ring, tumbling);
    Ok(())
}
