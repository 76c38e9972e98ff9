//! Meshes, height fields and compounds in a whole set: feature ids persist over seams, nothing is NaN, whatever the pose.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{Random, collider, convex_shapes, touches};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::shape::generate;
use stiction_geom::{Colliders, Detector, Shape};

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
    let mut random = Random(7);
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
