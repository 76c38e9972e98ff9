//! Prints the time that one pair with a mesh or a height field costs the narrow phase, and its points.

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
    let (mut manifold, mut points, rounds) = (Manifold::default(), 0, 200);
    let X_WA = Isometry3::identity();
    let start = Instant::now();
    for k in 0..rounds {
        let X_WB = place(f64::from(k) / f64::from(rounds));
        manifold.clear();
        let (a, b) = (PosedShape { shape: a, X_WS: &X_WA }, PosedShape { shape: b, X_WS: &X_WB });
        narrow::contacts(a, b, 1e-3, &mut manifold);
        points += black_box(manifold.len());
    }
    let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    println!("{name:<40} {each:>9.1} µs  {:>5.1} points", points as f64 / f64::from(rounds));
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
    Ok(())
}
