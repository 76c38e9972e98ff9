//! Contacts of meshes, height fields and compounds against closed forms.

use crate::Shape;
use crate::narrow::{self, Manifold, ManifoldPoint, PosedShape};
use crate::shape::{Compound, HeightField, Mesh, generate};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};
use std::sync::Arc;

fn mesh((vertices, triangles): generate::TriangleSoup) -> Shape {
    Shape::Mesh(Arc::new(Mesh::build(&vertices, &triangles).unwrap()))
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

fn turned(pose: Isometry3<f64>, axis: Vector3<f64>, angle: f64) -> Isometry3<f64> {
    pose * UnitQuaternion::new(axis * angle)
}

fn touches(
    (a, X_WA): (&Shape, Isometry3<f64>),
    (b, X_WB): (&Shape, Isometry3<f64>),
    reach: f64,
) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::default();
    let (one, two) = (PosedShape { shape: a, X_WS: &X_WA }, PosedShape { shape: b, X_WS: &X_WB });
    narrow::contacts(one, two, reach, &mut manifold);
    for touch in manifold.points() {
        assert!((touch.normal.norm() - 1.0).abs() < 1e-12);
        assert!(touch.gap <= reach && touch.point.iter().all(|x| x.is_finite()));
    }
    // The other order gives the same points with opposite normals.
    let mut swapped = Manifold::default();
    narrow::contacts(two, one, reach, &mut swapped);
    let one_surface = a.is_convex() != b.is_convex();
    if one_surface {
        assert_eq!(manifold.len(), swapped.len());
        for (p, q) in manifold.points().iter().zip(swapped.points()) {
            assert!((p.point - q.point).norm() < 1e-12 && (p.normal + q.normal).norm() < 1e-12);
        }
    }
    let mut found = manifold.points().to_vec();
    found.sort_by_key(|t| t.feature);
    assert!(found.windows(2).all(|w| w[0].feature != w[1].feature), "{found:#?}");
    found
}

/// A low-discrepancy walk through the unit cube.
fn walk(k: usize) -> Vector3<f64> {
    let t = k as f64 + 0.5;
    Vector3::new((0.819172513 * t).fract(), (0.671043606 * t).fract(), (0.549700477 * t).fract())
}

#[test]
fn a_box_on_a_flat_tessellated_floor_touches_as_on_a_plane_wherever_it_lies() {
    let floor = mesh(generate::grid((10.0, 10.0), (37, 23)));
    let solid_floor = {
        let (vertices, triangles) = generate::cuboid(Vector3::new(5.0, 5.0, 1.0));
        mesh((vertices.iter().map(|p| p - Vector3::z()).collect(), triangles))
    };
    let cuboid = Shape::Box(Vector3::new(0.5, 0.3, 0.2));
    for k in 0..60 {
        let w = walk(k);
        let height = 0.2 + 0.02 * (w.z - 0.7);
        let mut pose =
            turned(at(3.0 * w.x - 1.5, 3.0 * w.y - 1.5, height), Vector3::z(), TAU * w.z);
        if k % 3 == 0 {
            // Some lie with their corners exactly on vertices and seams of the floor.
            pose = at(0.5, 0.3, height);
        }
        for floor in [&floor, &solid_floor] {
            let found = touches((floor, at(0.0, 0.0, 0.0)), (&cuboid, pose), 0.05);
            assert_eq!(found.len(), 4, "{k} {found:#?}");
            let mut corners: Vec<Vector3<f64>> = Vec::new();
            for t in &found {
                assert_eq!(t.normal, Vector3::z());
                assert!((t.gap - (height - 0.2)).abs() < 1e-14);
                corners.push(pose.inverse_transform_point(&t.point.into()).coords);
            }
            for sign in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
                let corner = Vector3::new(0.5 * sign.0, 0.3 * sign.1, 0.0);
                assert!(corners.iter().any(|c| (c - corner).xy().norm() < 1e-12));
            }
        }
    }
}

#[test]
fn a_tilted_box_on_a_tessellated_floor_has_the_gaps_of_its_corners() {
    let floor = mesh(generate::grid((4.0, 4.0), (31, 17)));
    let half = Vector3::new(0.5, 0.3, 0.2);
    let cuboid = Shape::Box(half);
    for k in 0..40 {
        let w = walk(k);
        let pose = turned(at(w.x - 0.5, w.y - 0.5, 0.2), Vector3::new(0.01, 0.02 * w.x, w.y), 1.0);
        let found = touches((&floor, at(0.0, 0.0, 0.0)), (&cuboid, pose), 0.1);
        assert_eq!(found.len(), 4);
        for t in &found {
            assert_eq!(t.normal, Vector3::z());
            // The corner of the box stands over the point at the height of the gap.
            let corner = t.point + Vector3::z() * (0.5 * t.gap);
            let in_box = pose.inverse_transform_point(&corner.into()).coords;
            assert!((in_box.abs() - half).norm() < 1e-12 && (corner.z - t.gap).abs() < 1e-14);
        }
    }
}

#[test]
fn a_sphere_rolling_over_the_seams_of_a_flat_mesh_feels_a_plane() {
    let pitch = turned(at(0.3, -0.2, 0.1), Vector3::new(0.3, -0.5, 0.2), 1.0);
    let floor = mesh(generate::grid((2.0, 2.0), (9, 7)));
    let ball = Shape::Sphere { radius: 0.1 };
    for (height, along) in [(0.1, 0.0), (0.095, 0.3), (0.12, 1.0)] {
        let mut features = std::collections::BTreeSet::new();
        for k in 0..=400 {
            let x = -0.8 + 1.6 * f64::from(k) / 400.0;
            let centre = pitch * nalgebra::Point3::new(x, along * x, height);
            let pose = Isometry3::translation(centre.x, centre.y, centre.z);
            let found = touches((&floor, pitch), (&ball, pose), 0.05);
            assert_eq!(found.len(), 1, "{x} {found:#?}");
            assert!((found[0].normal - pitch.rotation * Vector3::z()).norm() < 1e-12);
            assert!((found[0].gap - (height - 0.1)).abs() < 1e-13);
            features.insert(found[0].feature);
        }
        // Warm starts survive every seam.
        assert_eq!(features.len(), 1);
    }
}

#[test]
fn every_convex_shape_rests_on_a_tessellated_floor_as_deep_as_its_support() {
    let floor = mesh(generate::grid((4.0, 4.0), (19, 23)));
    let points: Vec<_> = (0..20).map(|k| walk(k) - Vector3::repeat(0.5)).collect();
    let shapes = [
        Shape::Sphere { radius: 0.3 },
        Shape::Capsule { radius: 0.2, half_length: 0.4 },
        Shape::Cylinder { radius: 0.3, half_length: 0.25 },
        Shape::Ellipsoid { radii: Vector3::new(0.4, 0.2, 0.3) },
        Shape::Box(Vector3::new(0.2, 0.3, 0.4)),
        Shape::convex(&points).unwrap(),
    ];
    for shape in &shapes {
        for k in 0..40 {
            let w = walk(k);
            let spin = UnitQuaternion::new((w - Vector3::repeat(0.5)) * 6.0);
            let down = spin.inverse_transform_vector(&-Vector3::z());
            let low = shape.support(&down).unwrap().dot(&down);
            let gap = 0.04 * (w.x - 0.5);
            let pose = at(w.y - 0.5, w.z - 0.5, low + gap) * spin;
            let found = touches((&floor, at(0.0, 0.0, 0.0)), (shape, pose), 0.05);
            assert!(found.iter().all(|t| t.normal == Vector3::z()));
            let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            assert!((least - gap).abs() < 1e-12, "{} {k}: {least} {gap}", shape.name());
        }
    }
}

#[test]
fn a_sphere_over_a_convex_edge_or_corner_has_the_distance_of_its_centre() {
    let half = Vector3::new(0.5, 0.4, 0.3);
    let block = mesh(generate::cuboid(half));
    let ball = Shape::Sphere { radius: 0.2 };
    for k in 0..300 {
        let centre = (walk(k) - Vector3::repeat(0.5)) * 2.0;
        let beyond = centre - centre.sup(&-half).inf(&half);
        let distance = beyond.norm();
        if distance == 0.0 {
            continue;
        }
        let pose = Isometry3::from_parts(centre.into(), UnitQuaternion::identity());
        let found = touches((&block, at(0.0, 0.0, 0.0)), (&ball, pose), 0.1);
        if distance > 0.3 {
            assert!(found.is_empty());
            continue;
        }
        assert_eq!(found.len(), 1, "{centre} {found:#?}");
        assert!((found[0].gap - (distance - 0.2)).abs() < 1e-12);
        assert!((found[0].normal - beyond / distance).norm() < 1e-12);
    }
}

#[test]
fn a_sphere_whose_centre_is_inside_is_pushed_out_the_nearest_way() {
    let block = mesh(generate::cuboid(Vector3::new(0.5, 0.4, 0.3)));
    let ball = Shape::Sphere { radius: 0.1 };
    let found = touches((&block, at(0.0, 0.0, 0.0)), (&ball, at(0.1, 0.05, 0.25)), 0.01);
    assert_eq!(found.len(), 1);
    assert!((found[0].normal - Vector3::z()).norm() < 1e-12);
    assert!((found[0].gap + 0.15).abs() < 1e-12);
}

#[test]
fn a_sphere_in_a_spherical_bowl_touches_in_a_ring_where_the_walls_are_nearest() {
    // A ball of radius r < ρ at the bottom touches once; one wider than the opening touches the rim.
    let (radius, depth, thickness) = (0.1_f64, 0.03_f64, 0.004_f64);
    let bowl = mesh(generate::dish(radius, depth, thickness, 64));
    let small = Shape::Sphere { radius: 0.05 };
    let found = touches((&bowl, at(0.0, 0.0, 0.0)), (&small, at(0.0, 0.0, 0.0501)), 1e-3);
    let deepest = found.iter().fold(found[0], |a, b| if b.gap < a.gap { *b } else { a });
    // Chords of the wall lie inside it by at most a sagitta h²/8ρ.
    let wall = 0.5 * (radius * radius + depth * depth) / depth;
    let sagitta = (TAU * radius / 64.0).powi(2) / (8.0 * wall);
    assert!(deepest.gap <= 1e-4 + 1e-12 && deepest.gap >= 1e-4 - sagitta, "{deepest:?}");
    assert!((deepest.normal - Vector3::z()).norm() < 0.1);
    // A ball less curved than the bowl rests on the rounded rim, a torus of tube radius thickness/2.
    let large = Shape::Sphere { radius: 0.3 };
    let opening = radius.atan2(wall - depth);
    let rim = (wall + 0.5 * thickness) * opening.sin();
    let rim_z = wall - (wall + 0.5 * thickness) * opening.cos();
    let clear = 0.3 + 0.5 * thickness;
    let height = rim_z + (clear * clear - rim * rim).sqrt();
    let found = touches((&bowl, at(0.0, 0.0, 0.0)), (&large, at(0.0, 0.0, height + 1e-4)), 1e-3);
    assert!(found.len() >= 8 && found.len() <= 32, "{}", found.len());
    let (inwards, upwards) = (rim / clear, (1.0 - (rim / clear).powi(2)).sqrt());
    let mut angles: Vec<f64> = Vec::new();
    for t in &found {
        // The rim is a polygon inscribed in the torus, so no point is nearer than the torus; its normals
        // are those of facets that turn by a quarter of half a circle at most.
        assert!(t.gap >= 1e-4 * upwards * 0.99 && t.gap < 1e-3);
        let normal = Vector3::new(-inwards * t.point.x, -inwards * t.point.y, 0.0)
            / t.point.xy().norm()
            + Vector3::z() * upwards;
        assert!(t.normal.angle(&normal) < FRAC_PI_4, "{t:?}");
        angles.push(t.point.y.atan2(t.point.x));
    }
    angles.sort_by(f64::total_cmp);
    let widest = angles.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    assert!(widest < PI / 3.0, "{widest}");
}

#[test]
fn a_ball_stuck_in_a_torus_touches_all_around() {
    let (major, minor, around, across) = (0.5, 0.2, 48, 32);
    let ring = mesh(generate::torus(major, minor, around, across));
    // A ball of radius 0.35 sits on the ring: its centre is at distance 0.55 from the tube's circle.
    let height = (0.55_f64.powi(2) - major * major).sqrt();
    let ball = Shape::Sphere { radius: 0.35 };
    let found = touches((&ring, at(0.0, 0.0, 0.0)), (&ball, at(0.0, 0.0, height)), 0.02);
    assert!(found.len() >= 8);
    for t in &found {
        // Contact circle: from the tube's circle towards the centre by the minor radius. Facets err by a
        // sagitta in height and by half a facet along the surface.
        let sagitta = minor * (1.0 - (PI / f64::from(across)).cos())
            + (major + minor) * (1.0 - (PI / f64::from(around)).cos());
        assert!(t.gap.abs() < 0.02);
        let r = t.point.xy().norm();
        let expected = (major - minor * major / 0.55, minor * height / 0.55);
        let facet = PI * minor / f64::from(across) + 0.5 * t.gap.abs() + sagitta;
        assert!((r - expected.0).hypot(t.point.z - expected.1) < 2.0 * facet, "{t:?}");
    }
    let through = touches(
        (&ring, at(0.0, 0.0, 0.0)),
        (&Shape::Sphere { radius: 0.25 }, at(0.0, 0.0, 0.0)),
        0.02,
    );
    assert!(through.is_empty());
}

#[test]
fn a_box_over_the_edge_of_a_table_touches_at_the_edge() {
    let table = mesh(generate::cuboid(Vector3::new(1.0, 1.0, 0.1)));
    let cuboid = Shape::Box(Vector3::new(0.2, 0.2, 0.2));
    for (shift, gap) in [(0.95, -1e-3), (1.05, 1e-3), (1.1, -1e-4)] {
        let pose = at(shift, 0.0, 0.3 + gap);
        let found = touches((&table, at(0.0, 0.0, 0.0)), (&cuboid, pose), 0.01);
        assert_eq!(found.len(), 4, "{shift} {found:#?}");
        for t in &found {
            assert!((t.normal - Vector3::z()).norm() < 1e-12 && (t.gap - gap).abs() < 1e-12);
            let x = t.point.x;
            assert!((x - 1.0).abs() < 1e-9 || (x - shift + 0.2).abs() < 1e-9);
            assert!((t.point.y.abs() - 0.2).abs() < 1e-9);
        }
    }
}

#[test]
fn a_box_beside_a_table_is_not_lifted_onto_it() {
    // It overlaps the side by a millimetre, its centre is above the top.
    let table = mesh(generate::cuboid(Vector3::new(1.0, 1.0, 0.1)));
    let cuboid = Shape::Box(Vector3::new(0.2, 0.2, 0.2));
    let found = touches((&table, at(0.0, 0.0, 0.0)), (&cuboid, at(1.199, 0.0, 0.15)), 0.01);
    assert!(found.len() >= 4);
    for t in &found {
        assert!((t.normal - Vector3::x()).norm() < 1e-9 && (t.gap + 1e-3).abs() < 1e-12, "{t:?}");
    }
}

#[test]
fn a_box_through_a_thin_plate_is_pushed_back_to_the_side_of_its_centre() {
    let plate = mesh(generate::cuboid(Vector3::new(1.0, 1.0, 5e-4)));
    let sheet = mesh(generate::grid((2.0, 2.0), (5, 5)));
    let cuboid = Shape::Box(Vector3::new(0.2, 0.2, 0.2));
    for side in [1.0, -1.0] {
        let pose = at(0.1, 0.05, side * (0.2005 - 2e-3));
        for (thing, depth) in [(&plate, 2e-3), (&sheet, 1.5e-3)] {
            let found = touches((thing, at(0.0, 0.0, 0.0)), (&cuboid, pose), 0.01);
            assert_eq!(found.len(), 4, "{found:#?}");
            for t in &found {
                assert!((t.normal - Vector3::z() * side).norm() < 1e-12);
                assert!((t.gap + depth).abs() < 1e-12, "{t:?}");
            }
        }
    }
}

#[test]
fn crossed_edges_touch_where_they_cross() {
    // A box stands on its edge across the ridge of a block that stands on its edge.
    let block = mesh(generate::cuboid(Vector3::new(1.0, 0.2, 0.2)));
    let X_WB = turned(at(0.0, 0.0, 0.0), Vector3::x(), FRAC_PI_4);
    let ridge = 0.2 * 2.0_f64.sqrt();
    let cuboid = Shape::Box(Vector3::new(0.2, 1.0, 0.2));
    let twin = mesh(generate::cuboid(Vector3::new(0.2, 1.0, 0.2)));
    for gap in [1e-3, -1e-3, -1e-6] {
        let X_WA = turned(at(0.05, 0.1, 2.0 * ridge + gap), Vector3::y(), FRAC_PI_4);
        for shape in [&cuboid, &twin] {
            let found = touches((&block, X_WB), (shape, X_WA), 5e-3);
            assert_eq!(found.len(), 1, "{gap} {found:#?}");
            assert!((found[0].normal - Vector3::z()).norm() < 1e-9, "{found:?}");
            assert!((found[0].gap - gap).abs() < 1e-12);
            let cross = Vector3::new(0.05, 0.0, ridge + 0.5 * gap);
            assert!((found[0].point - cross).norm() < 1e-9);
        }
    }
}

#[test]
fn a_cube_in_a_corner_is_pressed_out_by_both_walls() {
    // An L of floor and wall in one solid.
    let profile = [(-1.0, -0.5), (0.5, -0.5), (0.5, 1.0), (0.0, 1.0), (0.0, 0.0), (-1.0, 0.0)];
    let n = profile.len() as u32;
    let mut vertices = Vec::new();
    for y in [-1.0, 1.0] {
        vertices.extend(profile.iter().map(|&(x, z)| Vector3::new(x, y, z)));
    }
    let mut triangles = vec![];
    for cap in [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4]] {
        triangles.push(cap);
        triangles.push(cap.map(|v| v + n));
    }
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[i, j, j + n], [i, j + n, i + n]]);
    }
    let corner = mesh((vertices, triangles));
    let cube = Shape::Box(Vector3::repeat(0.2));
    let twin = mesh(generate::cuboid(Vector3::repeat(0.2)));
    for (down, side) in [(1e-4, 2e-4), (2e-4, 1e-4), (-1e-4, -1e-4), (1e-4, -2e-4)] {
        let pose = at(-0.2 + side, 0.0, 0.2 - down);
        for shape in [&cube, &twin] {
            let found = touches((&corner, at(0.0, 0.0, 0.0)), (shape, pose), 1e-3);
            for (normal, gap) in [(Vector3::z(), -down), (-Vector3::x(), -side)] {
                let of_wall = found.iter().filter(|t| (t.normal - normal).norm() < 1e-9);
                assert_eq!(of_wall.clone().count(), 4, "{down} {side} {found:#?}");
                assert!(of_wall.clone().all(|t| (t.gap - gap).abs() < 1e-12));
            }
            assert_eq!(found.len(), 8);
        }
    }
}

#[test]
fn a_cube_mesh_on_a_cube_mesh_touches_at_the_corners_of_the_common_face() {
    let low = mesh(generate::cuboid(Vector3::repeat(0.5)));
    let high = mesh(generate::cuboid(Vector3::new(0.3, 0.4, 0.2)));
    for gap in [1e-3, 0.0, -1e-3] {
        for (x, angle) in [(0.0, 0.0), (0.1, 0.3), (0.4, 0.0), (0.0, FRAC_PI_4)] {
            let pose = turned(at(x, 0.0, 0.7 + gap), Vector3::z(), angle);
            let found = touches((&low, at(0.0, 0.0, 0.0)), (&high, pose), 5e-3);
            assert!(found.len() >= 4, "{gap} {x} {found:#?}");
            for t in &found {
                assert!((t.normal - Vector3::z()).norm() < 1e-12, "{gap} {x} {angle} {t:?}");
                assert!((t.gap - gap).abs() < 1e-12);
            }
            // The corners span the common face: the rectangle cut off at the edge of the lower cube.
            let right = found.iter().map(|t| t.point.x).fold(f64::NEG_INFINITY, f64::max);
            if angle == 0.0 {
                assert!((right - (x + 0.3).min(0.5)).abs() < 1e-9);
            }
        }
    }
    // Equal squares turned against each other: no vertex of one lies over the other, only edges cross.
    let twin = mesh(generate::cuboid(Vector3::repeat(0.5)));
    let pose = turned(at(0.0, 0.0, 1.0 - 1e-4), Vector3::z(), FRAC_PI_4);
    let found = touches((&low, at(0.0, 0.0, 0.0)), (&twin, pose), 1e-3);
    assert_eq!(found.len(), 8);
    for t in &found {
        // Corners of the regular octagon of inradius 1/2.
        assert!(
            (t.point.xy().norm() - 0.5 / (PI / 8.0).cos()).abs() < 1e-9 && t.normal.z > 0.999999
        );
    }
}

#[test]
fn linked_tori_touch_only_when_their_tubes_do() {
    let (major, minor) = (1.0, 0.2);
    let one = mesh(generate::torus(major, minor, 48, 24));
    let standing = |x: f64| turned(at(x, 0.0, 0.0), Vector3::x(), FRAC_PI_2);
    // Linked, the second centred on the first's circle: the tubes' circles are 1 apart, far from contact.
    assert!(touches((&one, at(0.0, 0.0, 0.0)), (&one, standing(major)), 0.05).is_empty());
    // Shifted until both circles are 2·minor + gap apart at the inner crossing.
    for gap in [0.03, -0.01] {
        let x = 2.0 * major - 2.0 * minor - gap;
        let found = touches((&one, at(0.0, 0.0, 0.0)), (&one, standing(x)), 0.05);
        assert!(!found.is_empty());
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        // Vertices lie on the circles at the crossing: facets add at most two sagittas.
        let sagitta =
            (major + minor) * (1.0 - (PI / 48.0).cos()) + minor * (1.0 - (PI / 24.0).cos());
        assert!((least - gap).abs() < 2.0 * sagitta, "{least} {gap}");
        for t in found.iter().filter(|t| t.gap < least + 1e-3) {
            assert!(
                t.point.y.abs() < 0.1 && (t.point.x - major + minor).abs() < 0.05
                    || t.point.x > 0.7
            );
        }
    }
}

#[test]
fn a_dish_in_a_dish_touches_in_a_ring_of_bounded_size() {
    let dish = mesh(generate::dish(0.1, 0.03, 0.004, 48));
    // Equal dishes nest by the thickness where the inner wall has the smaller radius: the upper one's outer
    // sphere (ρ + thickness) is larger than the lower one's inner sphere (ρ), so they touch near the rim.
    let (rho, thickness) = (0.5 * (0.01 + 0.0009) / 0.03, 0.004);
    let opening = 0.1_f64.atan2(rho - 0.03);
    // Spheres about the axis, at rim polar angle α: lift so that the outer wall clears the inner rim.
    let lift = thickness / opening.cos();
    let found = touches((&dish, at(0.0, 0.0, 0.0)), (&dish, at(0.0, 0.0, lift)), 1e-3);
    assert!(found.len() >= 8 && found.len() <= 32, "{}", found.len());
    let mut angles: Vec<f64> = found.iter().map(|t| t.point.y.atan2(t.point.x)).collect();
    angles.sort_by(f64::total_cmp);
    let widest = angles.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    assert!(widest < FRAC_PI_2, "{widest} {found:#?}");
    for t in &found {
        assert!(t.point.xy().norm() > 0.05 && t.normal.z > 0.5, "{t:?}");
    }
}

#[test]
fn a_mesh_on_a_plane_touches_with_its_lowest_vertices() {
    let cube = mesh(generate::cuboid(Vector3::repeat(0.5)));
    let found = touches((&Shape::Plane, at(0.0, 0.0, 0.2)), (&cube, at(3.0, 0.0, 0.69)), 0.05);
    assert_eq!(found.len(), 4);
    for t in &found {
        assert!((t.gap + 0.01).abs() < 1e-12 && t.normal == Vector3::z());
        assert!((t.point.z - 0.195).abs() < 1e-12);
    }
}

fn hills() -> HeightField {
    let (rows, columns) = (13, 17);
    let heights = (0..rows * columns)
        .map(|k| {
            let (y, x) = ((k / columns) as f64, (k % columns) as f64);
            0.2 * (0.9 * x).sin() * (0.7 * y + 0.3).cos()
        })
        .collect();
    HeightField::build(rows, columns, heights, (3.2, 2.4)).unwrap()
}

#[test]
fn a_height_field_touches_as_the_mesh_of_its_triangles() {
    let field = hills();
    // The mesh: the surface, a floor far below, and walls between their borders.
    let (rows, columns) = (field.shape().0 as u32, field.shape().1 as u32);
    let (mut vertices, mut triangles) = field.soup();
    let n = vertices.len() as u32;
    let below: Vec<_> = vertices.iter().map(|p| Vector3::new(p.x, p.y, -3.0)).collect();
    vertices.extend(below);
    let floor: Vec<_> = triangles.iter().map(|&[a, b, c]| [a + n, c + n, b + n]).collect();
    triangles.extend(floor);
    let mut border: Vec<u32> = (0..columns - 1).collect();
    border.extend((0..rows - 1).map(|r| r * columns + columns - 1));
    border.extend((1..columns).rev().map(|c| (rows - 1) * columns + c));
    border.extend((1..rows).rev().map(|r| r * columns));
    for (i, &a) in border.iter().enumerate() {
        let b = border[(i + 1) % border.len()];
        triangles.extend([[a, a + n, b + n], [a, b + n, b]]);
    }
    let twin = mesh((vertices, triangles));
    assert!(matches!(&twin, Shape::Mesh(m) if m.is_closed()));
    let field = Shape::HeightField(Arc::new(field));
    let shapes = [
        Shape::Sphere { radius: 0.2 },
        Shape::Box(Vector3::new(0.2, 0.3, 0.1)),
        Shape::Capsule { radius: 0.1, half_length: 0.3 },
    ];
    let mut compared = 0;
    for shape in &shapes {
        for k in 0..60 {
            let w = walk(k);
            let spin = UnitQuaternion::new((w - Vector3::repeat(0.5)) * 6.0);
            let pose = at(1.8 * (w.x - 0.5), 1.2 * (w.y - 0.5), 0.2 + 0.3 * w.z) * spin;
            let on_field = touches((&field, at(0.0, 0.0, 0.0)), (shape, pose), 0.02);
            let on_mesh = touches((&twin, at(0.0, 0.0, 0.0)), (shape, pose), 0.02);
            assert_eq!(on_field.len(), on_mesh.len(), "{k} {on_field:#?} {on_mesh:#?}");
            compared += on_field.len();
            for t in &on_field {
                let twin = on_mesh.iter().find(|m| (m.point - t.point).norm() < 1e-9);
                assert!(
                    twin.is_some_and(
                        |m| (m.gap - t.gap).abs() < 1e-12 && (m.normal - t.normal).norm() < 1e-9
                    ),
                    "{k} {t:?} {on_mesh:#?}"
                );
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn bodies_below_a_height_field_are_pushed_up() {
    let field = Shape::HeightField(Arc::new(hills()));
    let level = HeightField::build(3, 3, vec![0.1; 9], (2.0, 2.0)).unwrap();
    let level = Shape::HeightField(Arc::new(level));
    let ball = Shape::Sphere { radius: 0.05 };
    for z in [0.0, -0.1, -0.5] {
        let found = touches((&level, at(0.0, 0.0, 0.0)), (&ball, at(0.3, 0.2, z)), 0.01);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - (z - 0.15)).abs() < 1e-12 && found[0].normal == Vector3::z());
    }
    for k in 0..40 {
        let w = walk(k);
        let pose = at(2.0 * (w.x - 0.5), 1.6 * (w.y - 0.5), -0.3 - w.z);
        let found = touches((&field, at(0.0, 0.0, 0.0)), (&ball, pose), 0.01);
        assert!(!found.is_empty() && found.iter().all(|t| t.gap < 0.0 && t.normal.z > 0.0));
    }
    let cube = mesh(generate::cuboid(Vector3::repeat(0.1)));
    let found = touches((&level, at(0.0, 0.0, 0.0)), (&cube, at(0.33, 0.21, 0.199)), 0.01);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|t| (t.gap + 1e-3).abs() < 1e-12 && t.normal == Vector3::z()));
}

#[test]
fn a_compound_of_two_boxes_touches_as_two_boxes() {
    let floor = mesh(generate::grid((4.0, 4.0), (7, 5)));
    let (left, right) =
        (Shape::Box(Vector3::repeat(0.2)), Shape::Box(Vector3::new(0.1, 0.3, 0.25)));
    let (X_CL, X_CR) = (at(-0.5, 0.0, 0.0), turned(at(0.5, 0.0, 0.05), Vector3::z(), 0.4));
    let parts = vec![(X_CL, left.clone()), (X_CR, right.clone())];
    let both = Shape::Compound(Arc::new(Compound::build(parts).unwrap()));
    let pose = turned(at(0.2, 0.1, 0.199), Vector3::z(), 1.0);
    for ground in [&floor, &Shape::Plane] {
        let whole = touches((ground, at(0.0, 0.0, 0.0)), (&both, pose), 0.01);
        let mut parts = touches((ground, at(0.0, 0.0, 0.0)), (&left, pose * X_CL), 0.01);
        parts.extend(touches((ground, at(0.0, 0.0, 0.0)), (&right, pose * X_CR), 0.01));
        assert_eq!((whole.len(), parts.len()), (8, 8));
        for t in &parts {
            assert!(
                whole.iter().any(|w| w.point == t.point && w.normal == t.normal && w.gap == t.gap)
            );
        }
    }
}

#[test]
fn degenerate_poses_give_finite_answers() {
    let ring = mesh(generate::torus(0.5, 0.2, 12, 8));
    let shapes = [
        Shape::Sphere { radius: 0.1 },
        Shape::Box(Vector3::repeat(0.3)),
        Shape::Capsule { radius: 0.1, half_length: 0.6 },
        Shape::Cylinder { radius: 0.2, half_length: 0.1 },
        Shape::Ellipsoid { radii: Vector3::new(0.4, 0.2, 0.3) },
        ring.clone(),
    ];
    // Centres on vertices, on edges, on faces, in the middle; same orientation: all ties there are.
    for shape in &shapes {
        for p in
            [(0.7, 0.0, 0.0), (0.5, 0.0, 0.2), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.3, 0.0, 0.0)]
        {
            touches((&ring, at(0.0, 0.0, 0.0)), (shape, at(p.0, p.1, p.2)), 0.01);
        }
    }
}

#[test]
fn a_mesh_of_a_box_is_as_far_from_convex_shapes_as_the_best_separating_plane() {
    // Duality: distance, or minus the depth, of two convex sets is the largest separation s(m) over all
    // unit normals. The nearest contact must attain its own s, and no other normal may do better.
    let half = Vector3::new(0.5, 0.4, 0.3);
    let (solid, shell) = (Shape::Box(half), mesh(generate::cuboid(half)));
    let small = Vector3::new(0.1, 0.2, 0.15);
    let points: Vec<_> = (0..20).map(|k| (walk(k) - Vector3::repeat(0.5)) * 0.4).collect();
    let shapes = [
        (Shape::Sphere { radius: 0.2 }, None),
        (Shape::Capsule { radius: 0.1, half_length: 0.2 }, None),
        (Shape::Cylinder { radius: 0.15, half_length: 0.1 }, None),
        (Shape::Ellipsoid { radii: Vector3::new(0.2, 0.1, 0.15) }, None),
        (Shape::Box(small), None),
        (Shape::convex(&points).unwrap(), None),
        (Shape::Box(small), Some(mesh(generate::cuboid(small)))),
    ];
    let directions: Vec<Vector3<f64>> =
        (0..2000).filter_map(|k| (walk(k) - Vector3::repeat(0.5)).try_normalize(0.1)).collect();
    for (shape, twin) in &shapes {
        let mut compared = 0;
        for k in 0..200 {
            let spin = UnitQuaternion::new((walk(k + 1000) - Vector3::repeat(0.5)) * 6.0);
            let place = (walk(k) - Vector3::repeat(0.5)).component_mul(&half) * 3.4;
            let pose = Isometry3::from_parts(place.into(), spin);
            let separation = |m: &Vector3<f64>| {
                let low = pose
                    * nalgebra::Point3::from(
                        shape.support(&pose.inverse_transform_vector(&-m)).unwrap(),
                    );
                m.dot(&(low.coords - solid.support(m).unwrap()))
            };
            let best = directions.iter().map(separation).fold(f64::NEG_INFINITY, f64::max);
            let (reach, deepest) = (0.05, -0.03);
            let other = twin.as_ref().unwrap_or(shape);
            let found = touches((&shell, at(0.0, 0.0, 0.0)), (other, pose), reach);
            if best > reach {
                assert!(found.is_empty());
            }
            let Some(nearest) = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)) else {
                continue;
            };
            if best < deepest {
                continue;
            }
            assert!(best <= nearest.gap + 1e-9, "{} {k}: {best} {nearest:?}", shape.name());
            let own = separation(&nearest.normal);
            // Round-off of the root over the wedge: the separation is stationary there for smooth shapes.
            assert!((own - nearest.gap).abs() < 1e-9, "{} {k}: {own} {nearest:?}", shape.name());
            compared += 1;
        }
        assert!(compared > 20, "{} {compared}", shape.name());
    }
}

/// Distance of two segments [m], by the best of crossing and ends.
fn between_segments(p: [Vector3<f64>; 2], q: [Vector3<f64>; 2]) -> f64 {
    let to_segment = |x: &Vector3<f64>, [a, b]: [Vector3<f64>; 2]| {
        let t = ((x - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
        (x - a - (b - a) * t).norm()
    };
    let ends =
        [to_segment(&p[0], q), to_segment(&p[1], q), to_segment(&q[0], p), to_segment(&q[1], p)];
    let (d, e, r) = (p[1] - p[0], q[1] - q[0], q[0] - p[0]);
    let n = d.cross(&e);
    let (s, t) = (r.cross(&e).dot(&n) / n.norm_squared(), r.cross(&d).dot(&n) / n.norm_squared());
    let crossing = if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        r.dot(&n).abs() / n.norm()
    } else {
        f64::INFINITY
    };
    ends.into_iter().fold(crossing, f64::min)
}

#[test]
fn two_tori_are_as_far_apart_as_their_nearest_triangles() {
    let build = |(vertices, triangles): generate::TriangleSoup| {
        Arc::new(Mesh::build(&vertices, &triangles).unwrap())
    };
    let (one, two) =
        (build(generate::torus(0.5, 0.2, 10, 6)), build(generate::torus(0.4, 0.15, 9, 5)));
    let shapes = (Shape::Mesh(one.clone()), Shape::Mesh(two.clone()));
    let reach = 0.1;
    let mut compared = 0;
    for k in 0..150 {
        let spin = UnitQuaternion::new((walk(k + 500) - Vector3::repeat(0.5)) * 6.0);
        let place = (walk(k) - Vector3::repeat(0.5)) * 2.2;
        let pose = Isometry3::from_parts(place.into(), spin);
        let X_12 = pose;
        let moved: Vec<_> =
            two.vertices().iter().map(|p| X_12.rotation * p + X_12.translation.vector).collect();
        // Independent route: all vertices against all triangles, all edges against all edges.
        let to_one = moved.iter().map(|p| one.signed_distance(p, f64::INFINITY).unwrap().distance);
        let X_21 = pose.inverse();
        let to_two = one.vertices().iter().map(|p| {
            let p = X_21.rotation * p + X_21.translation.vector;
            two.signed_distance(&p, f64::INFINITY).unwrap().distance
        });
        let mut exact = to_one.chain(to_two).fold(f64::INFINITY, f64::min);
        let pierced = one.edges().iter().any(|e| {
            let [a, b] = e.ends.map(|v| X_21 * nalgebra::Point3::from(one.vertices()[v as usize]));
            let along = b.coords - a.coords;
            two.cast(&a.coords, &along.normalize(), along.norm()).is_some()
        }) || two.edges().iter().any(|e| {
            let [a, b] = e.ends.map(|v| moved[v as usize]);
            one.cast(&a, &(b - a).normalize(), (b - a).norm()).is_some()
        });
        for e in one.edges() {
            for f in two.edges() {
                let p = e.ends.map(|v| one.vertices()[v as usize]);
                exact = exact.min(between_segments(p, f.ends.map(|v| moved[v as usize])));
            }
        }
        let found = touches((&shapes.0, at(0.0, 0.0, 0.0)), (&shapes.1, pose), reach);
        for t in &found {
            // Both ends of every gap lie on the surfaces; pressed into a valley, beyond it by the depth.
            let (a, b) = (t.point - t.normal * (0.5 * t.gap), t.point + t.normal * (0.5 * t.gap));
            let b = X_21.rotation * b + X_21.translation.vector;
            let off =
                one.nearest(&a, 1.0).unwrap().distance.max(two.nearest(&b, 1.0).unwrap().distance);
            assert!(off < 1e-9 + (-t.gap).max(0.0), "{k} {off} {t:?}");
        }
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        if exact < 0.0 || pierced {
            assert!(least < 0.0, "{k} {exact} {least}");
        } else if exact < reach {
            assert!((least - exact).abs() < 1e-9, "{k} {exact} {least} {found:#?}");
            compared += 1;
        } else {
            assert!(found.is_empty());
        }
    }
    assert!(compared > 10, "{compared}");
}
