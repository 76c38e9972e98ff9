//! Every shape alone: support points are extreme, bounds contain, integrals agree with sums.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{Random, convex_shapes};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::{SHAPES, Shape, ShapeError};

#[test]
fn every_shape_is_named_once_and_described() {
    assert!(SHAPES.is_sorted_by(|a, b| a.name < b.name));
    assert!(SHAPES.iter().all(|entry| !entry.about.is_empty()));
    for shape in convex_shapes(&mut Random(1)) {
        assert!(SHAPES.iter().any(|entry| entry.name == shape.name()), "{}", shape.name());
    }
}

/// Whether `p` lies inside, by the definition of each shape.
fn holds(shape: &Shape, p: &Vector3<f64>) -> bool {
    match shape {
        Shape::Box(h) => (0..3).all(|k| p[k].abs() <= h[k]),
        Shape::Capsule { radius, half_length } => {
            (p - Vector3::new(0.0, 0.0, p.z.clamp(-half_length, *half_length))).norm() <= *radius
        }
        Shape::Cylinder { radius, half_length } => {
            p.x.hypot(p.y) <= *radius && p.z.abs() <= *half_length
        }
        Shape::Ellipsoid { radii } => p.component_div(radii).norm() <= 1.0,
        Shape::Sphere { radius } => p.norm() <= *radius,
        Shape::Convex(convex) => (0..convex.faces()).all(|k| {
            let corner = convex.vertices()[convex.face_corners(k)[0] as usize];
            convex.face_normal(k).dot(&(p - corner)) <= 0.0
        }),
        _ => false,
    }
}

#[test]
fn support_points_are_extreme_and_bounds_contain_the_shape() {
    let mut random = Random(2);
    for shape in convex_shapes(&mut random) {
        let X_WS = random.pose(3.0);
        let bounds = shape.bounds(&X_WS);
        let mut inside = 0;
        for _ in 0..2000 {
            let p = random.vector(shape.bounding_radius());
            if !holds(&shape, &p) {
                continue;
            }
            inside += 1;
            let dir = random.unit();
            let support = shape.support(&dir).unwrap();
            // Round-off of a few operations on numbers of order one.
            assert!(p.dot(&dir) <= support.dot(&dir) + 1e-14, "{}", shape.name());
            assert!(bounds.contains_point(&(X_WS * nalgebra::Point3::from(p)).coords));
            assert!(p.norm() <= shape.bounding_radius() + 1e-14);
            // A support point belongs to the shape: a little inwards it is inside.
            let centre = shape.mass_properties(1.0).1;
            assert!(
                holds(&shape, &(centre + (1.0 - 1e-9) * (support - centre))),
                "{}",
                shape.name()
            );
        }
        assert!(inside > 50, "{}: too few samples", shape.name());
    }
}

#[test]
fn the_nearest_surface_point_lies_on_the_surface_and_the_way_to_it_along_the_normal() {
    let mut random = Random(3);
    for shape in convex_shapes(&mut random) {
        for _ in 0..300 {
            let p = random.vector(1.5);
            let Some(nearest) = shape.nearest(&p) else { continue };
            let name = shape.name();
            assert_eq!(nearest.distance < 0.0, holds(&shape, &p), "{name}");
            assert!((nearest.normal.norm() - 1.0).abs() < 1e-14, "{name}");
            let foot = p - nearest.distance * nearest.normal;
            let (out, inn) = (foot + 1e-9 * nearest.normal, foot - 1e-9 * nearest.normal);
            assert!(!holds(&shape, &out) && holds(&shape, &inn), "{name} at {p}");
            // Outside, the normal is that of a plane that has the whole shape on one side.
            if nearest.distance > 0.0 {
                let top = shape.support(&nearest.normal).unwrap();
                assert!((top - foot).dot(&nearest.normal).abs() < 1e-12, "{name}");
            }
        }
    }
}

#[test]
fn mass_properties_agree_with_a_sum_over_cells() {
    let mut random = Random(4);
    for shape in convex_shapes(&mut random) {
        let (n, half) = (80, shape.bounding_radius());
        let h = 2.0 * half / n as f64;
        let (mut volume, mut moment, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for cell in 0..n * n * n {
            let index = Vector3::new(cell % n, cell / n % n, cell / (n * n));
            let p = index.map(|k| -half + h * (k as f64 + 0.5));
            if holds(&shape, &p) {
                volume += h * h * h;
                moment += h * h * h * p;
                second += h * h * h * p * p.transpose();
            }
        }
        let com = moment / volume;
        let central = second - volume * com * com.transpose();
        let inertia = Matrix3::from_diagonal_element(central.trace()) - central;
        let (mass, exact_com, exact) = shape.mass_properties(1.0);
        // Cells cut by the surface err by half a cell at most, mostly averaging out; their share of
        // the volume is about surface times h over volume, of which 6 h / size remains as a bound.
        let bound = 6.0 * h / half * 0.5;
        assert!((volume / mass - 1.0).abs() < bound, "{}: {volume} {mass}", shape.name());
        assert!((com - exact_com).norm() < bound * half, "{}", shape.name());
        assert!((inertia - exact).norm() < bound * exact.norm(), "{}", shape.name());
    }
}

#[test]
fn the_hull_of_a_cube_with_points_on_its_faces_is_the_cube() {
    let mut points = Vec::new();
    for x in -2..=2 {
        for y in -2..=2 {
            for z in -2..=2 {
                points.push(Vector3::new(x as f64, y as f64, z as f64) * 0.05);
            }
        }
    }
    let Shape::Convex(cube) = Shape::convex(&points).unwrap() else { unreachable!() };
    assert_eq!((cube.vertices().len(), cube.faces()), (8, 6));
    let (mass, com, inertia) = cube.mass_properties(3.0);
    let (box_mass, _, box_inertia) =
        Shape::cuboid(Vector3::repeat(0.1)).unwrap().mass_properties(3.0);
    assert!((mass - box_mass).abs() < 1e-14 && com.norm() < 1e-14);
    assert!((inertia - box_inertia).norm() < 1e-14);
}

#[test]
fn hulls_of_random_points_hold_them_and_are_closed() {
    let mut random = Random(5);
    for n in [4, 5, 8, 30, 300] {
        let points = random.points(n);
        let shape = Shape::convex(&points).unwrap();
        let Shape::Convex(convex) = &shape else { unreachable!() };
        for p in &points {
            for k in 0..convex.faces() {
                let corner = convex.vertices()[convex.face_corners(k)[0] as usize];
                assert!(convex.face_normal(k).dot(&(p - corner)) < 1e-9);
            }
        }
        // Euler: V − E + F = 2, each edge belonging to two faces.
        let edges: usize = (0..convex.faces()).map(|k| convex.face_corners(k).len()).sum();
        assert_eq!(convex.vertices().len() + convex.faces(), edges / 2 + 2);
    }
}

#[test]
fn invalid_shapes_are_rejected_with_the_value_found() {
    assert_eq!(
        Shape::sphere(-1.0).unwrap_err(),
        ShapeError::Length { shape: "sphere", parameter: "radius", found: -1.0 }
    );
    assert!(Shape::sphere(f64::NAN).is_err());
    assert!(Shape::cuboid(Vector3::new(1.0, 0.0, 1.0)).is_err());
    assert!(Shape::capsule(1.0, f64::INFINITY).is_err());
    assert!(Shape::ellipsoid(Vector3::new(1.0, 1.0, -2.0)).is_err());
    assert!(matches!(Shape::convex(&[]).unwrap_err(), ShapeError::TooFew { found: 0, .. }));
    let flat: Vec<_> = (0..9).map(|k| Vector3::new((k % 3) as f64, (k / 3) as f64, 0.0)).collect();
    assert!(matches!(Shape::convex(&flat).unwrap_err(), ShapeError::Flat { vertices: 9, .. }));
    let message = Shape::cylinder(0.0, 1.0).unwrap_err().to_string();
    assert_eq!(message, "cylinder: radius = 0 m; expected a finite number > 0");
}

#[test]
fn a_plane_is_bounded_by_nothing() {
    assert!(!Shape::Plane.bounds(&Isometry3::identity()).is_finite());
    assert!(Shape::Plane.support(&Vector3::z()).is_none());
}
