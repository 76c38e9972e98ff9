//! Manifolds of two shapes: closed forms, and properties that hold for every pair.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{Random, convex_shapes, least_gap, separation, touches};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_geom::narrow::ManifoldPoint;

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// Pairs of all convex shapes at random poses in which they touch or nearly do.
fn battery(
    seed: u64,
    rounds: usize,
    mut check: impl FnMut(&Shape, &Isometry3<f64>, &Shape, &Isometry3<f64>),
) {
    let mut random = Random(seed);
    for _ in 0..rounds {
        let (one, two) = (convex_shapes(&mut random), convex_shapes(&mut random));
        for a in &one {
            for b in &two {
                let X_WA = random.pose(1.0);
                // Along a random direction at about the distance at which they touch.
                let mut X_WB = Isometry3::from_parts(X_WA.translation, random.rotation());
                let dir = random.unit();
                let overlap = -separation((a, &X_WA), (b, &X_WB), &dir);
                let shift = (overlap + random.between(-0.15, 0.1)) * dir;
                X_WB.append_translation_mut(&Translation3::from(shift));
                check(a, &X_WA, b, &X_WB);
            }
        }
    }
}

#[test]
fn two_balls_touch_on_the_line_between_their_centres() {
    let (a, b) = (Shape::sphere(0.3).unwrap(), Shape::sphere(0.2).unwrap());
    let found = touches((&a, &at(1.0, 0.0, 0.0)), (&b, &at(1.0, 0.6, 0.0)), 0.2);
    let [touch] = found[..] else { unreachable!("{found:?}") };
    assert!((touch.gap - 0.1).abs() < 1e-15);
    assert_eq!(touch.normal, Vector3::y());
    assert!((touch.point - Vector3::new(1.0, 0.35, 0.0)).norm() < 1e-15);
    assert!(touches((&a, &at(0.0, 0.0, 0.0)), (&b, &at(0.0, 0.6, 0.0)), 0.09).is_empty());
}

#[test]
fn shapes_about_the_same_centre_get_a_unit_normal() {
    let mut random = Random(10);
    let shapes = convex_shapes(&mut random);
    for a in &shapes {
        for b in &shapes {
            let found = touches((a, &at(0.0, 0.0, 0.0)), (b, &at(0.0, 0.0, 0.0)), 0.0);
            assert!(!found.is_empty(), "{} {}", a.name(), b.name());
            for touch in found {
                assert!((touch.normal.norm() - 1.0).abs() < 1e-12, "{} {}", a.name(), b.name());
                assert!(touch.gap < 0.0 && touch.point.iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn a_cube_on_a_plane_has_its_four_lower_corners() {
    let cube = Shape::cuboid(Vector3::repeat(0.05)).unwrap();
    let found = touches((&Shape::Plane, &at(0.0, 0.0, 0.0)), (&cube, &at(0.0, 0.0, 0.05)), 0.01);
    assert_eq!(found.len(), 4);
    for touch in &found {
        assert!(touch.gap.abs() < 1e-17 && touch.normal == Vector3::z());
        assert!(
            (touch.point.x.abs() - 0.05).abs() < 1e-17
                && (touch.point.y.abs() - 0.05).abs() < 1e-17
        );
    }
    assert!(found.iter().map(|touch| touch.point).sum::<Vector3<f64>>().norm() < 1e-16);
}

#[test]
fn a_cube_on_an_equal_cube_has_four_symmetric_points_in_either_order() {
    let cube = Shape::cuboid(Vector3::repeat(0.05)).unwrap();
    for turn in [0.0, 0.5 * std::f64::consts::FRAC_PI_2] {
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn);
        let upper = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.0999), rotation);
        let found = touches((&cube, &at(0.0, 0.0, 0.0)), (&cube, &upper), 0.01);
        assert_eq!(found.len(), if turn == 0.0 { 4 } else { 8 });
        for touch in &found {
            assert!((touch.gap + 1e-4).abs() < 1e-15, "{touch:?}");
            assert!((touch.normal - Vector3::z()).norm() < 1e-15);
        }
        let middle =
            found.iter().map(|touch| touch.point).sum::<Vector3<f64>>() / found.len() as f64;
        assert!(middle.xy().norm() < 1e-15);
    }
}

#[test]
fn a_cylinder_has_four_points_standing_and_two_lying() {
    let can = Shape::cylinder(0.1, 0.2).unwrap();
    let hull_cube: Vec<_> = (0..8)
        .map(|k| Vector3::new(k & 1, k >> 1 & 1, k >> 2 & 1).map(|b| b as f64 - 0.5))
        .collect();
    let supports: [(Shape, f64); 3] = [
        (Shape::Plane, 0.0),
        (Shape::cuboid(Vector3::repeat(0.5)).unwrap(), -0.5),
        (Shape::convex(&hull_cube).unwrap(), -0.5),
    ];
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    for (support, z) in supports {
        for gap in [-1e-3, 1e-3] {
            let ground = at(0.0, 0.0, z);
            let found = touches((&support, &ground), (&can, &at(0.0, 0.0, 0.2 + gap)), 0.01);
            assert!(found.len() >= 4, "{} {gap}: {found:?}", support.name());
            let middle = found.iter().map(|t| t.point).sum::<Vector3<f64>>() / found.len() as f64;
            assert!(middle.xy().norm() < 1e-12, "{}", support.name());
            assert!(found.iter().all(|t| (t.gap - gap).abs() < 1e-12), "{}", support.name());

            let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.1 + gap), lying);
            let found = touches((&support, &ground), (&can, &pose), 0.01);
            assert_eq!(found.len(), 2, "{}: {found:?}", support.name());
            for t in &found {
                assert!(
                    (t.gap - gap).abs() < 1e-9 && (t.point.y.abs() - 0.2).abs() < 1e-9,
                    "{t:?}"
                );
            }
        }
    }
}

#[test]
fn a_tilted_cylinder_touches_with_the_lowest_point_of_its_rim() {
    let (radius, half) = (0.1, 0.2);
    let can = Shape::cylinder(radius, half).unwrap();
    let tilt: f64 = 0.3;
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), tilt);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.5), rotation);
    let found = touches((&Shape::Plane, &at(0.0, 0.0, 0.0)), (&can, &pose), 1.0);
    let lowest = 0.5 - half * tilt.cos() - radius * tilt.sin();
    assert!((least_gap(&found) - lowest).abs() < 1e-15);
}

#[test]
fn parallel_capsules_touch_in_two_points_and_crossed_ones_in_one() {
    let capsule = Shape::capsule(0.1, 0.5).unwrap();
    let side = touches((&capsule, &at(0.0, 0.0, 0.0)), (&capsule, &at(0.19, 0.0, 0.4)), 0.0);
    assert_eq!(side.len(), 2);
    for touch in &side {
        assert!((touch.gap + 0.01).abs() < 1e-15 && touch.normal == Vector3::x());
    }
    let (low, high) = (side[0].point.z, side[1].point.z);
    assert!((low + 0.1).abs() < 1e-15 && (high - 0.5).abs() < 1e-15);
    let crossed = Isometry3::from_parts(
        Translation3::new(0.21, 0.0, 0.0),
        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 1.0),
    );
    let found = touches((&capsule, &at(0.0, 0.0, 0.0)), (&capsule, &crossed), 0.1);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.01).abs() < 1e-15);
}

#[test]
fn a_capsule_lying_on_a_box_has_both_ends() {
    let (capsule, cuboid) =
        (Shape::capsule(0.1, 0.3).unwrap(), Shape::cuboid(Vector3::repeat(1.0)).unwrap());
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    for gap in [-0.15, -1e-4, 1e-4] {
        let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 1.1 + gap), lying);
        let found = touches((&cuboid, &at(0.0, 0.0, 0.0)), (&capsule, &pose), 0.01);
        assert_eq!(found.len(), 2, "{gap}: {found:?}");
        for touch in &found {
            assert!((touch.gap - gap).abs() < 1e-12 && (touch.point.x.abs() - 0.3).abs() < 1e-12);
            assert!((touch.normal - Vector3::z()).norm() < 1e-12);
        }
    }
}

#[test]
fn the_least_gap_is_the_separation_along_the_normal() {
    battery(11, 6, |a, X_WA, b, X_WB| {
        let found = touches((a, X_WA), (b, X_WB), 5.0);
        assert!(!found.is_empty(), "{} {}", a.name(), b.name());
        let along = separation((a, X_WA), (b, X_WB), &found[0].normal);
        // Faces within the slack of a millionth of their size count as touching.
        let error = (least_gap(&found) - along).abs();
        assert!(error < 5e-6, "{} {}: {error:e} at {along}", a.name(), b.name());
        for touch in &found {
            assert!((touch.normal.norm() - 1.0).abs() < 1e-12);
            assert!(touch.gap <= 5.0 && touch.point.iter().all(|x| x.is_finite()));
        }
    });
}

#[test]
fn no_direction_separates_shapes_more_than_the_normal() {
    let mut random = Random(12);
    battery(13, 6, |a, X_WA, b, X_WB| {
        let found = touches((a, X_WA), (b, X_WB), 5.0);
        let normal = found[0].normal;
        let along = separation((a, X_WA), (b, X_WB), &normal);
        for size in [1e-4, 1e-3, 1e-2, 0.1] {
            for _ in 0..30 {
                let other = (normal + random.vector(size)).normalize();
                let found = separation((a, X_WA), (b, X_WB), &other);
                // A face is preferred to edges that separate by a fiftieth more.
                let bound = 0.021 * along.abs().min((-along).max(0.0)) + 1e-9;
                assert!(found <= along + bound, "{} {}: {found} > {along}", a.name(), b.name());
            }
        }
    });
}

#[test]
fn exchanging_the_shapes_turns_the_normal_and_keeps_the_points() {
    battery(14, 4, |a, X_WA, b, X_WB| {
        let one = touches((a, X_WA), (b, X_WB), 5.0);
        let two = touches((b, X_WB), (a, X_WA), 5.0);
        let names = format!("{} {}", a.name(), b.name());
        assert_eq!(one.len(), two.len(), "{names}\n{one:?}\n{two:?}");
        // Smooth shapes: the direction is known to the square root of the tolerance on the gap.
        for p in &one {
            let near = |q: &&ManifoldPoint| (p.point - q.point).norm() < 1e-4;
            let q = two.iter().find(near).unwrap_or_else(|| unreachable!("{names}: {p:?} {two:?}"));
            assert!((p.normal + q.normal).norm() < 1e-4, "{names}");
            assert!((p.gap - q.gap).abs() < 1e-6, "{names}: {} {}", p.gap, q.gap);
        }
    });
}

#[test]
fn a_rigid_motion_of_both_moves_the_manifold_with_them() {
    let mut random = Random(15);
    battery(16, 4, |a, X_WA, b, X_WB| {
        let X_VW = random.pose(10.0);
        let here = touches((a, X_WA), (b, X_WB), 5.0);
        let there = touches((a, &(X_VW * X_WA)), (b, &(X_VW * X_WB)), 5.0);
        let names = format!("{} {}", a.name(), b.name());
        assert_eq!(here.len(), there.len(), "{names}");
        for p in &here {
            let moved = X_VW * nalgebra::Point3::from(p.point);
            let near = |q: &&ManifoldPoint| (moved.coords - q.point).norm() < 1e-4;
            let q = there.iter().find(near).unwrap_or_else(|| unreachable!("{names}: {p:?}"));
            assert!((X_VW.rotation * p.normal - q.normal).norm() < 1e-4, "{names}");
            assert!((p.gap - q.gap).abs() < 1e-6, "{names}");
        }
    });
}

#[test]
fn feature_ids_persist_through_a_small_motion() {
    let mut random = Random(17);
    battery(18, 4, |a, X_WA, b, X_WB| {
        let before = touches((a, X_WA), (b, X_WB), 5.0);
        let mut X_WB = *X_WB;
        X_WB.append_translation_mut(&Translation3::from(random.vector(1e-9)));
        let after = touches((a, X_WA), (b, &X_WB), 5.0);
        let names = |touches: &[ManifoldPoint]| {
            let mut names: Vec<u32> = touches.iter().map(|touch| touch.feature).collect();
            names.sort_unstable();
            names
        };
        let (one, two) = (names(&before), names(&after));
        assert_eq!(one, two, "{} {}", a.name(), b.name());
        assert!(one.windows(2).all(|pair| pair[0] != pair[1]), "{} {}", a.name(), b.name());
    });
}

/// Distance of two boxes by brute force over their features: vertices against the solid of the
/// other, edges against edges.
fn distance_of_boxes(
    h_A: &Vector3<f64>,
    X_WA: &Isometry3<f64>,
    h_B: &Vector3<f64>,
    X_WB: &Isometry3<f64>,
) -> f64 {
    let vertex = |h: &Vector3<f64>, k: usize| {
        Vector3::from_fn(|i, _| if k >> i & 1 == 1 { h[i] } else { -h[i] })
    };
    let world = |X: &Isometry3<f64>, p: Vector3<f64>| X.rotation * p + X.translation.vector;
    let mut least = f64::INFINITY;
    for (h, X, other, Y) in [(h_A, X_WA, h_B, X_WB), (h_B, X_WB, h_A, X_WA)] {
        for k in 0..8 {
            let p = Y
                .rotation
                .inverse_transform_vector(&(world(X, vertex(h, k)) - Y.translation.vector));
            let inside = p.zip_map(other, |x, h| x.clamp(-h, h));
            least = least.min((p - inside).norm());
        }
    }
    let edges = |h: &Vector3<f64>, X: &Isometry3<f64>| -> Vec<[Vector3<f64>; 2]> {
        let ends = |(k, i): (usize, usize)| {
            (k >> i & 1 == 0).then(|| [world(X, vertex(h, k)), world(X, vertex(h, k | 1 << i))])
        };
        (0..8).flat_map(|k| (0..3).map(move |i| (k, i))).filter_map(ends).collect()
    };
    for [p, q] in edges(h_A, X_WA) {
        for [r, s] in edges(h_B, X_WB) {
            // Interior nearest points only; the ends are vertices, which were looked at.
            let (u, v, w) = (q - p, s - r, p - r);
            let (a, b, c, d, e) = (u.dot(&u), u.dot(&v), v.dot(&v), u.dot(&w), v.dot(&w));
            let determinant = a * c - b * b;
            if determinant > 1e-12 {
                let (x, y) = ((b * e - c * d) / determinant, (a * e - b * d) / determinant);
                if (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y) {
                    least = least.min((w + x * u - y * v).norm());
                }
            }
        }
    }
    least
}

#[test]
fn boxes_apart_have_the_distance_found_by_brute_force_over_their_features() {
    let mut random = Random(19);
    let mut apart = 0;
    for _ in 0..3000 {
        let (h_A, h_B) = (random.vector(0.4).add_scalar(0.5), random.vector(0.4).add_scalar(0.5));
        let (a, b) = (Shape::cuboid(h_A).unwrap(), Shape::cuboid(h_B).unwrap());
        let (X_WA, X_WB) = (random.pose(1.0), random.pose(1.5));
        let exact = distance_of_boxes(&h_A, &X_WA, &h_B, &X_WB);
        let found = touches((&a, &X_WA), (&b, &X_WB), 5.0);
        if least_gap(&found) <= 0.0 {
            continue;
        }
        apart += 1;
        let error = (least_gap(&found) - exact).abs();
        assert!(error < 1e-9, "{error:e} at {exact}");
    }
    assert!(apart > 300, "{apart}");
}

#[test]
fn hulls_of_boxes_meet_as_the_boxes_do() {
    let mut random = Random(20);
    let corners = |h: &Vector3<f64>| -> Vec<Vector3<f64>> {
        (0..8)
            .map(|k| Vector3::from_fn(|i, _| if k >> i & 1 == 1 { h[i] } else { -h[i] }))
            .collect()
    };
    for _ in 0..300 {
        let (h_A, h_B) = (random.vector(0.4).add_scalar(0.5), random.vector(0.4).add_scalar(0.5));
        let boxes = (Shape::cuboid(h_A).unwrap(), Shape::cuboid(h_B).unwrap());
        let hulls =
            (Shape::convex(&corners(&h_A)).unwrap(), Shape::convex(&corners(&h_B)).unwrap());
        let (X_WA, X_WB) = (random.pose(1.0), random.pose(1.5));
        let by_axes = touches((&boxes.0, &X_WA), (&boxes.1, &X_WB), 5.0);
        let by_support = touches((&hulls.0, &X_WA), (&hulls.1, &X_WB), 5.0);
        let along = |normal| separation((&boxes.0, &X_WA), (&boxes.1, &X_WB), normal);
        let (one, two) = (along(&by_axes[0].normal), along(&by_support[0].normal));
        // Overlapping, a face is preferred to edges that are shallower by a fiftieth.
        let bound = if two < 0.0 { 0.021 * two.abs() + 1e-6 } else { 1e-9 };
        assert!((one - two).abs() < bound, "{one} {two}");
    }
}

#[test]
fn ellipsoids_with_equal_radii_meet_as_balls_do() {
    let mut random = Random(21);
    for _ in 0..100 {
        let (r_A, r_B) = (random.between(0.3, 0.9), random.between(0.3, 0.9));
        let round = |r: f64| Shape::ellipsoid(Vector3::repeat(r)).unwrap();
        let (X_WA, X_WB) = (random.pose(0.5), random.pose(0.5));
        let exact = (X_WA.translation.vector - X_WB.translation.vector).norm() - r_A - r_B;
        let found = touches((&round(r_A), &X_WA), (&round(r_B), &X_WB), 5.0);
        assert_eq!(found.len(), 1);
        let error = (found[0].gap - exact).abs();
        assert!(error < 1e-9, "{error:e} at {exact}");
        let ball = Shape::sphere(r_B).unwrap();
        let found = touches((&round(r_A), &X_WA), (&ball, &X_WB), 5.0);
        assert!((found[0].gap - exact).abs() < 1e-12);
    }
}
