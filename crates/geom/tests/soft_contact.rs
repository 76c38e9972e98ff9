//! Contacts of soft surfaces: gaps and normals against closed forms, nothing falls between vertices, nothing
//! jumps.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

mod common;
mod soft_common;

use common::convex_shapes;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use soft_common::{Scene, check, soft};
use stiction_geom::shape::generate;
use stiction_geom::{
    Colliders, Shape, SoftContactSide, SoftDetector, SoftSurface, SoftSurfaceError, SoftSurfaces,
    TetMesh,
};
use stiction_math::random::SplitMix64;

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// A cube of edge 1 m with its top at z = 0, of two triangles per side.
fn coarse_cube() -> TetMesh {
    TetMesh::cuboid(Vector3::repeat(1.0), [1; 3]).unwrap().moved(&at(0.0, 0.0, -0.5))
}

#[test]
fn vertices_near_convex_shapes_have_their_distance_and_its_gradient() {
    let mut random = SplitMix64::new(7);
    let ball = TetMesh::sphere(0.05, 1).unwrap();
    let mut found = 0;
    for _ in 0..40 {
        for shape in convex_shapes(&mut random) {
            let pose = random.pose(1.0);
            let mut scene = Scene::new(vec![(shape.clone(), pose)], &[(&ball, false)]);
            let turned = random.direction();
            // Just outside, where the support point is.
            let local = pose.rotation.inverse_transform_vector(&turned);
            let on = pose * nalgebra::Point3::from(shape.support(&local).unwrap());
            scene.shift(0, on.coords + turned * random.uniform(0.02, 0.08));
            let contacts = scene.contacts(0.1);
            check(&contacts, &scene.nodes);
            for c in &contacts {
                let point = soft(&c.b);
                let p = point.position(&scene.nodes);
                if c.gap < 1e-6 || point.weights[0] < 1.0 {
                    continue;
                }
                // Separation along the normal is a lower bound of the distance for every normal: the
                // shape lies behind the plane, and the point on it shows that the bound is reached.
                let n_S = pose.rotation.inverse_transform_vector(&c.normal);
                let support = pose * nalgebra::Point3::from(shape.support(&n_S).unwrap());
                let separation = c.normal.dot(&(p - support.coords));
                assert!((separation - c.gap).abs() < 1e-9, "{} {c:?} {separation}", shape.name());
                assert!((c.point - (p - 0.5 * c.gap * c.normal)).norm() < 1e-12);
                found += 1;
            }
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn vertices_inside_convex_shapes_leave_by_the_nearest_face() {
    let cube = TetMesh::cuboid(Vector3::repeat(0.02), [1; 3]).unwrap();
    let half = Vector3::new(0.5, 0.4, 0.3);
    let hull = {
        let (vertices, _) = generate::cuboid(half);
        Shape::convex(&vertices).unwrap()
    };
    let (vertices, triangles) = generate::cuboid(half);
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    for shape in [Shape::cuboid(half).unwrap(), hull, mesh] {
        let mut scene = Scene::new(vec![(shape.clone(), at(0.0, 0.0, 0.0))], &[(&cube, false)]);
        scene.shift(0, Vector3::new(0.1, 0.1, 0.28));
        for c in scene.contacts(0.0) {
            let p = soft(&c.b).position(&scene.nodes);
            // The top is so much nearer than all else that it does not matter where they look.
            assert!((c.gap - (p.z - 0.3)).abs() < 1e-12, "{} {c:?}", shape.name());
            assert!((c.normal - Vector3::z()).norm() < 1e-12);
        }
        assert!(scene.contacts(0.0).len() >= 8, "{}", shape.name());
    }
}

#[test]
fn a_plane_a_height_field_and_a_compound_support_a_block_alike() {
    let block = TetMesh::cuboid(Vector3::new(0.2, 0.2, 0.1), [4, 4, 2]).unwrap();
    let slab = Shape::cuboid(Vector3::new(0.5, 0.5, 0.1)).unwrap();
    let parts = vec![(at(-0.5, 0.0, -0.1), slab.clone()), (at(0.5, 0.0, -0.1), slab)];
    let (vertices, triangles) = generate::grid((1.0, 1.0), (9, 9));
    let shapes = [
        Shape::Plane,
        Shape::height_field(11, 11, vec![0.0; 121], (1.0, 1.0)).unwrap(),
        Shape::compound(parts).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ];
    for shape in shapes {
        let name = shape.name();
        let is_compound = name == "compound";
        let mut scene = Scene::new(vec![(shape, at(0.0, 0.0, 0.0))], &[(&block, false)]);
        for (height, expected) in [(0.003, 25), (-0.003, 25), (0.02, 0)] {
            scene.nodes.copy_from_slice(block.vertices());
            scene.shift(0, Vector3::new(0.0071, 0.0, 0.05 + height));
            let contacts = scene.contacts(0.01);
            check(&contacts, &scene.nodes);
            let vertices =
                contacts.iter().filter(|c| soft(&c.b).weights[0] == 1.0 && c.gap < 0.0049);
            if is_compound {
                // Each part answers for itself: those within reach of both are named twice.
                assert!(vertices.clone().count() >= expected && contacts.len() <= 3 * expected);
            } else {
                assert_eq!(vertices.clone().count(), expected, "{name}");
                assert_eq!(contacts.len(), expected, "{name}");
            }
            for c in vertices.filter(|_| !is_compound) {
                assert!((c.gap - height).abs() < 1e-12, "{name} {c:?}");
                assert!((c.normal - Vector3::z()).norm() < 1e-9, "{name} {c:?}");
            }
        }
    }
}

#[test]
fn a_marble_anywhere_on_a_coarse_triangle_has_a_contact_with_the_right_gap() {
    let mut random = SplitMix64::new(11);
    let (radius, cube) = (0.02, coarse_cube());
    let mut scene =
        Scene::new(vec![(Shape::sphere(radius).unwrap(), at(0.0, 0.0, 0.0))], &[(&cube, false)]);
    for k in 0..500 {
        let (x, mut y) = (random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5));
        if k % 5 == 0 {
            y = x; // on the diagonal between the triangles
        }
        for gap in [-0.005, 0.0, 0.003] {
            scene.frames[0] = at(x, y, radius + gap);
            let contacts = scene.contacts(0.004);
            check(&contacts, &scene.nodes);
            let c = contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
            // A vertex stands for what reaches deeper by less than a hundredth of the radius; what
            // reaches deeper by twice of that counts in full.
            let aside = (0.5 - x.abs()).hypot(0.5 - y.abs());
            let to_vertex = aside.hypot(radius + gap) - radius;
            if to_vertex - gap < 0.02 * radius {
                assert!((c.gap - gap).abs() <= 0.01 * radius, "({x}, {y}): {c:?}");
                continue;
            }
            assert!((c.gap - gap).abs() < 1e-12, "({x}, {y}): {c:?}");
            assert!((c.normal + Vector3::z()).norm() < 1e-9, "{c:?}");
            let p = soft(&c.b).position(&scene.nodes);
            assert!((p - Vector3::new(x, y, 0.0)).norm() < 1e-9);
        }
    }
}

#[test]
fn small_bodies_of_every_convex_shape_are_held_on_a_coarse_triangle() {
    let mut random = SplitMix64::new(12);
    let cube = coarse_cube();
    for shape in convex_shapes(&mut random) {
        for _ in 0..40 {
            // Shapes of about a metre, made small.
            let small = match &shape {
                Shape::Box(h) => Shape::cuboid(h * 0.02).unwrap(),
                Shape::Capsule { radius, half_length } => {
                    Shape::capsule(0.02 * radius, 0.02 * half_length).unwrap()
                }
                Shape::Cylinder { radius, half_length } => {
                    Shape::cylinder(0.02 * radius, 0.02 * half_length).unwrap()
                }
                Shape::Ellipsoid { radii } => Shape::ellipsoid(radii * 0.02).unwrap(),
                Shape::Sphere { radius } => Shape::sphere(0.02 * radius).unwrap(),
                Shape::Convex(hull) => {
                    let points: Vec<_> = hull.vertices().iter().map(|p| p * 0.02).collect();
                    Shape::convex(&points).unwrap()
                }
                other => panic!("{other:?}"),
            };
            let turn = random.rotation();
            let lowest = turn * small.support(&(turn.inverse() * -Vector3::z())).unwrap();
            let gap = random.uniform(-0.002, 0.002);
            let (x, y) = (random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3));
            let place = Vector3::new(x, y, gap - lowest.z);
            let pose = Isometry3::from_parts(place.into(), turn);
            let mut scene = Scene::new(vec![(small.clone(), pose)], &[(&cube, false)]);
            let c = scene.nearest(0.003).unwrap();
            assert!((c.gap - gap).abs() < 1e-9, "{}: {c:?} against {gap}", small.name());
            assert!((c.normal + Vector3::z()).norm() < 1e-9);
        }
    }
}

#[test]
fn a_small_box_lies_on_its_four_corners_and_a_small_mesh_on_its_own() {
    let half = Vector3::new(0.03, 0.02, 0.01);
    let (vertices, triangles) = generate::cuboid(half);
    let shapes = [Shape::cuboid(half).unwrap(), Shape::mesh(&vertices, &triangles).unwrap()];
    for shape in shapes {
        let pose = at(0.2, -0.1, 0.01 - 0.001);
        let mut scene = Scene::new(vec![(shape.clone(), pose)], &[(&coarse_cube(), false)]);
        let contacts = scene.contacts(0.002);
        assert_eq!(contacts.len(), 4, "{} {contacts:?}", shape.name());
        for c in &contacts {
            assert!((c.gap + 0.001).abs() < 1e-12 && (c.normal + Vector3::z()).norm() < 1e-12);
        }
    }
}

#[test]
fn a_bar_across_the_edges_of_a_coarse_cube_is_held_at_them() {
    // The ends of the bar lie beside the cube, and no vertex is near it.
    for (shape, half) in [
        (Shape::cuboid(Vector3::new(0.8, 0.01, 0.01)).unwrap(), 0.01),
        (Shape::capsule(0.01, 0.8).unwrap(), 0.01),
        (Shape::cylinder(0.01, 0.8).unwrap(), 0.01),
    ] {
        let turn = if matches!(shape, Shape::Box(_)) {
            UnitQuaternion::identity()
        } else {
            UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2)
        };
        for gap in [-0.003, 0.001] {
            let pose = Isometry3::from_parts(Vector3::new(0.0, 0.13, half + gap).into(), turn);
            let mut scene = Scene::new(vec![(shape.clone(), pose)], &[(&coarse_cube(), false)]);
            let contacts = scene.contacts(0.002);
            for side in [-0.5, 0.5] {
                let on_rim = contacts.iter().find(|c| {
                    let p = soft(&c.b).position(&scene.nodes);
                    (p.x - side).abs() < 1e-9 && (p.y - 0.13).abs() < 0.011
                });
                let c = on_rim.unwrap_or_else(|| panic!("{} {gap}: {contacts:?}", shape.name()));
                assert!((c.gap - gap).abs() < 1e-9, "{} {c:?}", shape.name());
                assert!((c.normal + Vector3::z()).norm() < 1e-6, "{} {c:?}", shape.name());
            }
        }
    }
}

#[test]
fn two_sharp_edges_that_cross_touch_along_their_common_normal() {
    // A box on its edge along x, over the edge of a cube that is turned to point up, along y.
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_4);
    let up = Isometry3::from_parts(Vector3::new(0.0, 0.0, -0.5_f64.sqrt()).into(), turn);
    let cube = TetMesh::cuboid(Vector3::repeat(1.0), [1; 3]).unwrap().moved(&up);
    let rolled = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_4);
    let shape = Shape::cuboid(Vector3::new(0.4, 0.05, 0.05)).unwrap();
    for gap in [0.004, -0.004] {
        let height = 0.05 * 2.0_f64.sqrt() + gap;
        let pose = Isometry3::from_parts(Vector3::new(0.03, 0.07, height).into(), rolled);
        let mut scene = Scene::new(vec![(shape.clone(), pose)], &[(&cube, false)]);
        let c = scene.nearest(0.01).unwrap();
        // Bisection leaves a millionth of the edge.
        assert!((c.gap - gap).abs() < 1e-5, "{c:?}");
        assert!((c.normal + Vector3::z()).norm() < 1e-4, "{c:?}");
        let p = soft(&c.b).position(&scene.nodes);
        assert!((p - Vector3::new(0.0, 0.07, 0.0)).norm() < 1e-5, "{p}");
    }
}

#[test]
fn gaps_and_normals_do_not_jump_while_a_marble_slides_over_a_coarse_ball() {
    let ball = TetMesh::sphere(0.1, 2).unwrap();
    let radius = 0.01;
    let mut scene =
        Scene::new(vec![(Shape::sphere(radius).unwrap(), at(0.0, 0.0, 0.0))], &[(&ball, false)]);
    let (steps, distance) = (4000, 0.1 + radius + 0.002);
    let step = std::f64::consts::TAU * distance / steps as f64;
    let mut last: Option<(f64, Vector3<f64>)> = None;
    for k in 0..=steps {
        let angle = std::f64::consts::TAU * k as f64 / steps as f64;
        let tilt = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.2, 0.1));
        let centre = tilt * Vector3::new(angle.cos(), angle.sin(), 0.0) * distance;
        scene.frames[0] = at(centre.x, centre.y, centre.z);
        let c = scene.nearest(0.05).unwrap();
        if let Some((gap, normal)) = last {
            // The distance from a set changes by no more than the way, the nearest point of a convex one
            // neither: the direction to it by no more than twice the way over the distance.
            assert!((c.gap - gap).abs() <= step * (1.0 + 1e-9), "{k}: {gap} {}", c.gap);
            let turn = (c.normal - normal).norm();
            assert!(turn <= 2.0 * step / (radius + c.gap.min(gap)) + 1e-9, "{k}: {turn}");
        }
        last = Some((c.gap, c.normal));
    }
}

#[test]
fn a_corner_that_slides_over_a_round_soft_body_turns_its_normal_evenly() {
    let ball = TetMesh::sphere(0.1, 6).unwrap();
    let spike = Shape::convex(&[
        Vector3::zeros(),
        Vector3::new(0.004, 0.0, 0.02),
        Vector3::new(-0.002, 0.0035, 0.02),
        Vector3::new(-0.002, -0.0035, 0.02),
    ])
    .unwrap();
    let mut scene = Scene::new(vec![(spike, at(0.0, 0.0, 0.0))], &[(&ball, false)]);
    let steps = 2000;
    let mut last: Option<(f64, Vector3<f64>)> = None;
    let mut names = Vec::new();
    for k in 0..=steps {
        let angle = 1.2 * (k as f64 / steps as f64 - 0.5);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(angle, 0.13, 0.0));
        // The tip a little below the surface, whose chords lie up to 0.0004 m below the sphere.
        scene.frames[0] = Isometry3::from_parts((turn * Vector3::z() * 0.0985).into(), turn);
        let contacts = scene.contacts(0.001);
        let c = *contacts.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
        names.push(c.feature);
        if let Some((gap, normal)) = last {
            let way = 1.2 / steps as f64;
            // The true normal turns with the way; that of the facets would jump by their angle, 0.17.
            assert!((c.normal - normal).norm() < 0.02, "{k}: {normal} {}", c.normal);
            assert!((c.gap - gap).abs() < 0.3 * 0.1 * way + 1e-5, "{k}: {gap} {}", c.gap);
        }
        last = Some((c.gap, c.normal));
    }
    // The tip keeps its name from face to face.
    names.dedup();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn vertices_that_slide_over_a_box_and_a_ball_keep_steady_normals() {
    let pad = TetMesh::cuboid(Vector3::new(0.05, 0.05, 0.02), [5, 5, 2]).unwrap();
    let table = Shape::cuboid(Vector3::new(0.2, 0.2, 0.05)).unwrap();
    let mut scene = Scene::new(vec![(table, at(0.0, 0.0, -0.05))], &[(&pad, false)]);
    scene.shift(0, Vector3::new(-0.15, 0.013, 0.01 - 0.0005));
    for _ in 0..300 {
        scene.shift(0, Vector3::new(0.001, 0.0, 0.0));
        let contacts = scene.contacts(0.001);
        assert_eq!(contacts.len(), 36);
        for c in &contacts {
            assert!((c.normal - Vector3::z()).norm() < 1e-12 && (c.gap + 0.0005).abs() < 1e-12);
        }
    }
    // Over a ball each vertex sees the direction from its centre.
    let dome = Shape::sphere(1.0).unwrap();
    let mut scene = Scene::new(vec![(dome, at(0.0, 0.0, -1.0))], &[(&pad, false)]);
    scene.shift(0, Vector3::new(-0.05, 0.0, 0.0099));
    for _ in 0..100 {
        scene.shift(0, Vector3::new(0.001, 0.0, 0.0));
        for c in scene.contacts(0.002) {
            let from_centre = soft(&c.b).position(&scene.nodes) + Vector3::z();
            assert!((c.normal - from_centre.normalize()).norm() < 1e-6);
        }
    }
}

#[test]
fn bodies_at_rest_do_not_touch_themselves() {
    let bodies = [
        TetMesh::cuboid(Vector3::new(0.1, 0.1, 0.11), [10, 10, 11]).unwrap(),
        TetMesh::cuboid(Vector3::repeat(0.1), [1; 3]).unwrap(),
        TetMesh::mat(Vector3::new(0.4, 0.4, 0.004), [26, 26], 1).unwrap(),
        TetMesh::mat(Vector3::new(0.4, 0.02, 0.001), [40, 2], 2).unwrap(),
        TetMesh::sphere(0.1, 1).unwrap(),
        TetMesh::sphere(0.1, 5).unwrap(),
        TetMesh::cylinder(0.05, 0.4, 13, 20).unwrap(),
        TetMesh::cone(0.1, 0.1, 4).unwrap(),
        TetMesh::cone(0.02, 0.3, 8).unwrap(),
        TetMesh::cone(0.3, 0.01, 6).unwrap(),
        TetMesh::dome(0.1, 0.005, 10).unwrap(),
        TetMesh::shell(0.1, 0.02, 4).unwrap(),
    ];
    let mut random = SplitMix64::new(3);
    for body in &bodies {
        let mut scene = Scene::new(vec![], &[(body, true)]);
        for reach in [0.0, 1e-3, 5e-3] {
            assert_eq!(scene.contacts(reach), [], "{reach}");
        }
        // Nor when they move, nor when they are pressed to two thirds.
        let pose = random.pose(1.0);
        for p in &mut scene.nodes {
            *p = pose.rotation * p.component_mul(&Vector3::new(1.1, 1.1, 0.67))
                + pose.translation.vector;
        }
        assert_eq!(scene.contacts(1e-3), []);
    }
}

/// A strip bent about the y-axis so that its ends lie over each other at the distance `gap` of their tops.
fn folded(strip: &TetMesh, thickness: f64, gap: f64) -> Vec<Vector3<f64>> {
    // The upper side goes round a half circle of diameter `gap`, the rest is straight.
    let radius = 0.5 * gap;
    let arc = std::f64::consts::PI * (radius + 0.5 * thickness);
    let bend = |p: &Vector3<f64>| {
        let depth = radius + (0.5 * thickness - p.z);
        let (s, side) = (p.x.abs() - 0.5 * arc, p.x.signum());
        if s <= 0.0 {
            let angle = p.x / (radius + 0.5 * thickness);
            Vector3::new(-depth * angle.cos(), -p.y, depth * angle.sin())
        } else {
            Vector3::new(s, -p.y, side * depth)
        }
    };
    strip.vertices().iter().map(bend).collect()
}

#[test]
fn a_folded_strip_touches_itself_with_the_gap_between_its_halves() {
    let thickness = 0.004;
    let strip = TetMesh::mat(Vector3::new(0.4, 0.05, thickness), [60, 7], 1).unwrap();
    let mut scene = Scene::new(vec![], &[(&strip, true)]);
    for gap in [0.003, 0.001, 1e-5] {
        scene.nodes = folded(&strip, thickness, gap);
        let contacts = scene.contacts(0.6 * gap);
        check(&contacts, &scene.nodes);
        // Both ends, far from the fold, have 8 vertices across each of their stations.
        let flat: Vec<_> = contacts.iter().filter(|c| c.point.x > 0.03).collect();
        assert!(flat.len() >= 8 * 20, "{gap}: {}", flat.len());
        for c in flat {
            assert!((c.gap - gap).abs() < 1e-9, "{gap}: {c:?}");
            assert!((c.normal.z.abs() - 1.0).abs() < 1e-6);
            let b = soft(&c.b).position(&scene.nodes);
            assert!(c.normal.z * b.z > 0.0, "from the face towards the vertex");
        }
    }
    // Pushed into each other, they know it.
    scene.nodes = folded(&strip, thickness, 0.001);
    scene.nodes.iter_mut().filter(|p| p.z > 0.0).for_each(|p| p.z -= 0.0015);
    let deep = scene.contacts(1e-4).iter().filter(|c| (c.gap + 0.0005).abs() < 1e-9).count();
    assert!(deep >= 8 * 20, "{deep}");
}

#[test]
fn two_cubes_touch_with_the_gap_between_them_from_both_sides() {
    let fine = TetMesh::cuboid(Vector3::repeat(0.1), [4; 3]).unwrap();
    let coarse = TetMesh::cuboid(Vector3::repeat(0.1), [1; 3]).unwrap();
    for (lower, upper) in [(&fine, &fine), (&fine, &coarse), (&coarse, &fine)] {
        for gap in [0.002, 0.0, -0.003] {
            let mut scene = Scene::new(vec![], &[(lower, false), (upper, false)]);
            let first = lower.vertices().len();
            scene.shift(first, Vector3::new(0.013, 0.017, 0.1 + gap));
            let contacts = scene.contacts(0.002);
            check(&contacts, &scene.nodes);
            let from = |id: u32| {
                contacts.iter().filter(move |c| {
                    let [SoftContactSide::Soft(a, p), SoftContactSide::Soft(b, q)] = [c.a, c.b]
                    else {
                        panic!("{c:?}")
                    };
                    assert_eq!((a.0, b.0), (0, 1));
                    if id == 0 { p.weights[0] == 1.0 } else { q.weights[0] == 1.0 }
                })
            };
            assert!(from(0).count() > 0 && from(1).count() > 0, "{gap}");
            for c in &contacts {
                assert!((c.gap - gap).abs() < 1e-12, "{gap}: {c:?}");
                assert!((c.normal - Vector3::z()).norm() < 1e-9, "{c:?}");
                // The two points are what the gap says.
                let way = soft(&c.b).position(&scene.nodes) - soft(&c.a).position(&scene.nodes);
                assert!((way - gap * Vector3::z()).norm() < 1e-9);
            }
        }
    }
    // Vertices exactly over vertices make one contact, not two.
    let mut scene = Scene::new(vec![], &[(&fine, false), (&fine, false)]);
    scene.shift(fine.vertices().len(), Vector3::new(0.0, 0.0, 0.101));
    assert_eq!(scene.contacts(0.002).len(), 25);
}

#[test]
fn long_blocks_end_to_end_touch_along_their_length_however_little_they_slide_or_sink() {
    // Corner on corner: three faces of each lie at the same distance, and only the ends face each other.
    let block = TetMesh::cuboid(Vector3::new(0.2, 0.15, 0.45), [1; 3]).unwrap();
    let small = [-1e-7, -1e-12, 0.0, 1e-12, 1e-7];
    for (x, y, gap) in small.iter().flat_map(|&x| {
        small.iter().flat_map(move |&y| [1e-8, 0.0, -1e-8, -1e-6].map(|gap| (x, y, gap)))
    }) {
        let mut scene = Scene::new(vec![], &[(&block, false), (&block, false)]);
        scene.shift(block.vertices().len(), Vector3::new(x, y, 0.45 + gap));
        let contacts = scene.contacts(1e-3);
        let corners: Vec<_> =
            contacts.iter().filter(|c| (c.point.z - 0.225).abs() < 1e-3).collect();
        assert!(corners.len() >= 4, "{x} {y} {gap}: {}", corners.len());
        for c in corners {
            // A slide turns the normal by what it is of the way on which it turns, 1e-3 of an edge.
            assert!((c.normal - Vector3::z()).norm() < 2e-3, "{x} {y} {gap}: {c:?}");
            assert!((c.gap - gap).abs() < 1e-9, "{x} {y} {gap}: {c:?}");
        }
    }
}

#[test]
fn rules_filter_soft_contacts() {
    let cube = TetMesh::cuboid(Vector3::repeat(0.1), [2; 3]).unwrap();
    let mut scene = Scene::new(vec![(Shape::Plane, at(0.0, 0.0, -0.05))], &[(&cube, false)]);
    assert_eq!(scene.contacts(0.001).len(), 9);
    let surface = scene.surfaces.as_slice()[0].clone();
    let build = |change: &dyn Fn(&mut SoftSurface), colliders: &Colliders| {
        let (mut builder, mut surface) = (SoftSurfaces::builder(), surface.clone());
        change(&mut surface);
        builder.add(surface);
        builder.build(colliders)
    };
    for excluded in [true, false] {
        let other = |s: &mut SoftSurface| {
            if excluded {
                s.excluded_frames = vec![0];
            } else {
                (s.groups.category, s.groups.mask) = (2, 2);
            }
        };
        scene.surfaces = build(&other, &scene.colliders).unwrap();
        scene.detector = SoftDetector::new(&scene.colliders, &scene.surfaces);
        assert_eq!(scene.contacts(0.001).len(), 0);
    }
    let wrong = |change: &dyn Fn(&mut SoftSurface)| build(change, &scene.colliders).unwrap_err();
    assert!(matches!(wrong(&|s| s.triangles.clear()), SoftSurfaceError::Empty { .. }));
    assert!(matches!(wrong(&|s| s.margin = -1.0), SoftSurfaceError::Margin { .. }));
    assert!(matches!(
        wrong(&|s| s.rest[3].x = f64::NAN),
        SoftSurfaceError::Position { node: 3, .. }
    ));
    assert!(matches!(wrong(&|s| s.rest.truncate(3)), SoftSurfaceError::Rest { .. }));
    assert!(matches!(
        wrong(&|s| s.triangles[2][1] = 99),
        SoftSurfaceError::Node { triangle: 2, .. }
    ));
    assert!(matches!(wrong(&|s| s.triangles.truncate(9)), SoftSurfaceError::Edge { .. }));
    assert!(matches!(wrong(&|s| s.triangles[0].swap(0, 1)), SoftSurfaceError::Edge { .. }));
}

#[test]
fn contacts_depend_on_the_positions_alone() {
    let mut random = SplitMix64::new(5);
    let mat = TetMesh::mat(Vector3::new(0.4, 0.05, 0.004), [40, 5], 1).unwrap();
    let ball = TetMesh::sphere(0.03, 3).unwrap();
    let rigid: Vec<_> = convex_shapes(&mut random)
        .into_iter()
        .enumerate()
        .map(|(k, shape)| (shape, at(0.3 * k as f64, 0.0, -0.6)))
        .collect();
    let mut scene = Scene::new(rigid, &[(&mat, true), (&ball, true)]);
    scene.nodes[..mat.vertices().len()].copy_from_slice(&folded(&mat, 0.004, 0.001));
    scene.shift(mat.vertices().len(), Vector3::new(0.1, 0.0, 0.035));
    let there = scene.contacts(0.002);
    assert!(there.len() > 100);
    scene.shift(0, Vector3::new(0.01, 0.02, -0.3));
    let elsewhere = scene.contacts(0.002);
    assert_ne!(there, elsewhere);
    scene.nodes[..mat.vertices().len()].copy_from_slice(&folded(&mat, 0.004, 0.001));
    scene.nodes[mat.vertices().len()..].copy_from_slice(ball.vertices());
    scene.shift(mat.vertices().len(), Vector3::new(0.1, 0.0, 0.035));
    assert_eq!(scene.contacts(0.002), there);
}

#[test]
fn collapsed_elements_and_positions_that_are_not_finite_are_skipped() {
    let mut random = SplitMix64::new(9);
    let cube = TetMesh::cuboid(Vector3::repeat(0.3), [3; 3]).unwrap();
    let (vertices, triangles) = generate::cuboid(Vector3::repeat(0.2));
    let mut shapes = convex_shapes(&mut random);
    shapes.push(Shape::mesh(&vertices, &triangles).unwrap());
    shapes.push(Shape::height_field(4, 4, vec![0.0; 16], (1.0, 1.0)).unwrap());
    shapes.push(Shape::Plane);
    let rigid: Vec<_> = shapes.into_iter().map(|shape| (shape, random.pose(0.3))).collect();
    let mut scene = Scene::new(rigid, &[(&cube, true), (&cube, true)]);
    let n = scene.nodes.len();
    type Spoil<'a> = &'a dyn Fn(&mut [Vector3<f64>]);
    let spoil: [Spoil; 6] = [
        &|nodes| nodes[5].x = f64::NAN,
        &|nodes| nodes.iter_mut().for_each(|p| p.z = f64::NAN),
        &|nodes| nodes[7].y = f64::INFINITY,
        &|nodes| nodes.iter_mut().for_each(|p| *p = Vector3::zeros()),
        &|nodes| nodes.iter_mut().for_each(|p| p.z = 0.0),
        &|nodes| nodes.iter_mut().for_each(|p| *p *= 1e200),
    ];
    for spoil in spoil {
        scene.nodes = cube.vertices().iter().chain(cube.vertices()).copied().collect();
        spoil(&mut scene.nodes);
        let contacts = scene.contacts(0.01);
        assert!(contacts.iter().all(|c| c.gap.is_finite() && c.normal.norm().is_finite()));
    }
    // Slices that are too short are no reason to stop.
    scene.nodes.truncate(n / 2);
    scene.frames.truncate(2);
    scene.contacts(0.01);
    scene.frames[0].translation.vector.x = f64::NAN;
    scene.contacts(0.01);
}
