//! Shapes that move over a flat surface of triangles feel a plane: edges and vertices inside it are invisible.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::touches;
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_math::random::SplitMix64;

/// Half the length of the surfaces [m], and their cells along x and y.
const HALF: f64 = 0.5;
const CELLS: (u32, u32) = (12, 7);

/// An open mesh, the top of a solid one, and a height field, all flat at z = 0.
fn flats() -> Vec<(&'static str, Shape)> {
    let size = (2.0 * HALF, 2.0 * HALF);
    let (vertices, triangles) = generate::grid(size, CELLS);
    let sheet = Shape::mesh(&vertices, &triangles).unwrap();
    let (rows, columns) = (CELLS.1 as usize + 1, CELLS.0 as usize + 1);
    let field = Shape::height_field(rows, columns, vec![0.0; rows * columns], size).unwrap();
    // A closed slab with the same triangles on top and below.
    let n = vertices.len() as u32;
    let below: Vec<_> = vertices.iter().map(|p| p - 0.1 * Vector3::z()).collect();
    let (w, h) = (CELLS.0 + 1, CELLS.1 + 1);
    let mut border: Vec<u32> = (0..w - 1).collect();
    border.extend((0..h - 1).map(|r| r * w + w - 1));
    border.extend((1..w).rev().map(|c| (h - 1) * w + c));
    border.extend((1..h).rev().map(|r| r * w));
    let mut faces = triangles.clone();
    faces.extend(triangles.iter().map(|&[a, b, c]| [a + n, c + n, b + n]));
    for (i, &a) in border.iter().enumerate() {
        let b = border[(i + 1) % border.len()];
        faces.extend([[a, a + n, b + n], [a, b + n, b]]);
    }
    let slab = Shape::mesh(&[vertices, below].concat(), &faces).unwrap();
    vec![("sheet", sheet), ("slab", slab), ("height field", field)]
}

/// A random place on the surface: anywhere, over an edge, or over a vertex, in turn.
fn place(random: &mut SplitMix64, k: usize, room: f64) -> Vector3<f64> {
    let cell = Vector3::new(2.0 * HALF / f64::from(CELLS.0), 2.0 * HALF / f64::from(CELLS.1), 1.0);
    let mut p = (HALF - room) * random.vector3();
    let snap = |x: f64, step: f64| {
        let line = ((x + HALF) / step).round() * step - HALF;
        if line.abs() <= HALF - room { line } else { x }
    };
    if !k.is_multiple_of(3) {
        p.x = snap(p.x, cell.x);
    }
    if k % 3 == 2 {
        p.y = snap(p.y, cell.y);
    }
    p.z = 0.0;
    p
}

#[test]
fn spheres_boxes_and_capsules_on_flat_triangles_get_the_normal_of_the_plane() {
    let shapes = [
        Shape::sphere(0.05).unwrap(),
        Shape::cuboid(Vector3::new(0.06, 0.04, 0.03)).unwrap(),
        Shape::capsule(0.03, 0.05).unwrap(),
        Shape::cylinder(0.04, 0.05).unwrap(),
    ];
    let mut random = SplitMix64::new(3);
    let X_WB = random.pose(1.0);
    let up = X_WB.rotation * Vector3::z();
    for (name, flat) in flats() {
        for shape in &shapes {
            let room = shape.bounding_radius() + 0.01;
            for k in 0..3000 {
                let turn = match k % 4 {
                    // Flat faces and edges of the shape parallel to the surface, and any rotation.
                    0 => nalgebra::UnitQuaternion::identity(),
                    1 => nalgebra::UnitQuaternion::from_euler_angles(0.0, 0.0, random.unit()),
                    _ => random.rotation(),
                };
                let down = turn.inverse() * -Vector3::z();
                let low = turn * shape.support(&down).unwrap();
                let gap = random.uniform(-1e-4, 1e-3);
                // The lowest point is over the place, or the centre is.
                let at = place(&mut random, k, room);
                let mut p = if k % 2 == 0 { at } else { at - low };
                p.z = gap - low.z;
                let X_WA = X_WB * Isometry3::from_parts(p.into(), turn);
                let found = touches((&flat, &X_WB), (shape, &X_WA), 2e-3);
                let what = || format!("{} on {name}, pose {k}: {gap} {found:?}", shape.name());
                assert!(!found.is_empty(), "{}", what());
                // Rounding errors of the normals and of the rotation of the surface are below 1e-15.
                assert!(found.iter().all(|t| (t.normal - up).norm() < 1e-9), "{}", what());
                let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
                assert!((least - gap).abs() < 1e-9, "{}", what());
            }
        }
    }
}
