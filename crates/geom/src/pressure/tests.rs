//! Fields, forces and moments of patches against closed forms; symmetry, continuity, bad input.

use super::*;
use crate::PressureError;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use std::f64::consts::PI;

const E: f64 = 1e6;

fn yielding(shape: &Shape, resolution: Option<f64>) -> PressureBody {
    let thickness = matches!(shape, Shape::Plane).then_some(0.1);
    let compliance = Compliance { modulus: E, thickness, resolution };
    PressureBody::new(shape, Some(&compliance)).unwrap()
}

fn rigid(shape: &Shape) -> PressureBody {
    PressureBody::new(shape, None).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

fn patch(
    (a, X_WA): (&PressureBody, &Isometry3<f64>),
    (b, X_WB): (&PressureBody, &Isometry3<f64>),
) -> PatchPolygons {
    let mut found = PatchPolygons::default();
    let [a, b] = [(a, X_WA), (b, X_WB)].map(|(body, pose)| PosedBody { body, pose });
    intersect(a, b, &mut found);
    found
}

fn total(found: &PatchPolygons) -> PatchTotal {
    found.total(0..found.polygons.len())
}

/// Points of a low-discrepancy sequence in [−1, 1]³.
fn points(n: usize) -> impl Iterator<Item = Vector3<f64>> {
    let rates = Vector3::new(0.819172513, 0.671043606, 0.549700477);
    (1..=n).map(move |k| rates.map(|rate| 2.0 * (rate * k as f64).fract() - 1.0))
}

/// A random pose with its origin within `reach` [m], from two points of the sequence.
fn pose(k: usize, reach: f64) -> Isometry3<f64> {
    let mut draws = points(2 * k + 2).skip(2 * k);
    let (place, turn) = (draws.next().unwrap(), draws.next().unwrap());
    Isometry3::from_parts(
        Translation3::from(reach * place),
        UnitQuaternion::from_scaled_axis(PI * turn),
    )
}

fn shapes() -> Vec<Shape> {
    let corners: Vec<_> = points(20).map(|x| 0.06 * x).collect();
    vec![
        Shape::sphere(0.05).unwrap(),
        Shape::cuboid(Vector3::new(0.04, 0.05, 0.06)).unwrap(),
        Shape::cylinder(0.04, 0.05).unwrap(),
        Shape::cylinder(0.05, 0.02).unwrap(),
        Shape::capsule(0.03, 0.04).unwrap(),
        Shape::ellipsoid(Vector3::new(0.03, 0.05, 0.06)).unwrap(),
        Shape::convex(&corners).unwrap(),
    ]
}

fn elements(body: &PressureBody) -> &[PressureElement] {
    match body {
        PressureBody::Solid { elements, .. } => elements,
        _ => &[],
    }
}

/// The tetrahedra of a shape, not joined.
fn tetrahedra(shape: &Shape, resolution: Option<f64>) -> Vec<PressureElement> {
    let resolution = resolution.unwrap_or_else(|| default_resolution(shape));
    let (mut elements, _) = solids::Skin::of(shape, resolution).unwrap().elements().unwrap();
    elements.iter_mut().for_each(|element| element.scale_pressure(E));
    join_cells(&mut elements, PressureElement::shares_cell, |element| &mut element.cell);
    elements
}

fn volume(shape: &Shape, resolution: Option<f64>) -> f64 {
    let corners = |e: &PressureElement| [0, 1, 2, 3].map(|k| e.corners()[k]);
    let of = |e: &PressureElement| crate::tetrahedra::volume(corners(e));
    tetrahedra(shape, resolution).iter().map(of).sum()
}

#[test]
fn joined_cells_have_the_patches_of_their_tetrahedra() {
    let shapes = shapes();
    let (mut touching, mut joined) = (0, 0);
    for k in 0..600 {
        let (one, two) = (&shapes[k % 7], &shapes[(k / 7) % 7]);
        let [a, b] = [one, two].map(|shape| yielding(shape, None));
        let [apart_a, apart_b] =
            [one, two].map(|shape| PressureBody::solid(tetrahedra(shape, None)));
        joined += usize::from(a.len() < apart_a.len());
        let (X_WA, X_WB) = (pose(k, 0.04), pose(k + 700, 0.04));
        for (other, other_apart) in [(&b, &apart_b), (&rigid(&Shape::Plane), &rigid(two))] {
            let other_apart =
                if matches!(other, PressureBody::Plane) { other } else { other_apart };
            let found = patch((&a, &X_WA), (other, &X_WB));
            let expected = patch((&apart_a, &X_WA), (other_apart, &X_WB));
            let [sum, exact] = [&found, &expected].map(total);
            touching += usize::from(exact.area > 1e-5);
            // Round-off of corners, 1e-16 m over lengths of 1e-2 m, over the least angle between planes, and polygons of 1e-14 m².
            let size = exact.force.norm().max(E * 1e-6);
            assert!((sum.force - exact.force).norm() <= 1e-8 * size, "{k}: {sum:?} {exact:?}");
            assert!((sum.moment - exact.moment).norm() <= 1e-8 * size, "{k}");
            let areas = (sum.area - exact.area).abs();
            assert!(areas <= 1e-8 * exact.area.max(1e-6), "{k}: {areas}");
        }
    }
    assert!(touching > 500 && joined > 300, "{touching} {joined}");
}

#[test]
fn elements_fill_their_solid_and_hold_the_distance_from_its_surface() {
    for half in [Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.1, 0.1, 0.3), Vector3::repeat(0.2)] {
        let body = yielding(&Shape::Box(half), None);
        let volume = volume(&Shape::Box(half), None);
        // Sums of some hundred terms.
        assert!((volume - 8.0 * half.product()).abs() <= 1e-13 * volume, "{volume}");
        for x in points(500).map(|x| x.component_mul(&half)) {
            let exact = E * (half - x.abs()).min() / half.min();
            let holds = |e: &&PressureElement| e.faces().iter().all(|f| f.distance(&x) <= 1e-12);
            let found = elements(&body).iter().filter(holds).map(|e| e.field.at(&x));
            let found: Vec<f64> = found.collect();
            assert!(!found.is_empty());
            // Round-off of a gradient over the shortest edge of a cell.
            assert!(found.iter().all(|p| (p - exact).abs() <= 1e-9 * E), "{found:?} {exact}");
        }
    }
    for shape in shapes() {
        let exact = shape.volume();
        // Facets of round sides lie within; the error of their volume is of second order in the edge length.
        let (coarse, fine) =
            ((exact - volume(&shape, None)) / exact, (exact - volume(&shape, Some(0.004))) / exact);
        assert!((-1e-12..0.12).contains(&coarse), "{}: {coarse}", shape.name());
        assert!((-1e-12..0.01).contains(&fine), "{}: {fine}", shape.name());
    }
}

#[test]
fn a_flat_face_in_a_compliant_half_space_carries_its_area_times_the_pressure() {
    let ground = yielding(&Shape::Plane, None);
    let (depth, half) = (1e-3, Vector3::new(0.1, 0.2, 0.05));
    let block = rigid(&Shape::Box(half));
    let found = patch((&ground, &at(0.0, 0.0, 0.0)), (&block, &at(0.3, 0.1, 0.05 - depth)));
    let sum = total(&found);
    let area = 4.0 * half.x * half.y;
    let force = E / 0.1 * depth * area;
    // The sides carry a pressure as well, which cancels.
    assert!((sum.force - Vector3::new(0.0, 0.0, force)).norm() <= 1e-12 * force, "{:?}", sum.force);
    // The same block that yields: the stiffnesses of both sides are in series.
    let soft = yielding(&Shape::Box(half), None);
    let found = patch((&ground, &at(0.0, 0.0, 0.0)), (&soft, &at(0.0, 0.0, 0.05 - depth)));
    let g = 1.0 / (0.1 / E + half.min() / E);
    for polygon in &found.polygons {
        if polygon.normal.z > 1.0 - 1e-12 {
            assert!((polygon.gradient - g).abs() <= 1e-9 * g);
            assert!(polygon.pressure <= g * depth * (1.0 + 1e-9));
        }
    }
    // Under the bottom the pressure is uniform but within the depth of the edges.
    let sum = total(&found).force.z;
    let (inner, outer) = (area - 4.0 * (half.x + half.y) * depth, area);
    assert!(sum >= g * depth * inner && sum <= g * depth * outer, "{sum}");
}

#[test]
fn the_force_on_a_rigid_body_in_a_compliant_half_space_is_that_of_archimedes() {
    let ground = yielding(&Shape::Plane, None);
    let (half, depth) = (0.1_f64, 0.03);
    let block = rigid(&Shape::Box(Vector3::repeat(half)));
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), PI / 4.0);
    let height = half * 2.0_f64.sqrt() - depth;
    let X_WB = Isometry3::from_parts(Translation3::new(0.2, -0.1, height), turn);
    let found = patch((&ground, &Isometry3::identity()), (&block, &X_WB));
    let sum = total(&found);
    // An edge dips in by `depth`: a prism of a right triangle of height `depth` and base 2 `depth`.
    let volume = depth * depth * 2.0 * half;
    let force = E / 0.1 * volume;
    assert!((sum.force - Vector3::new(0.0, 0.0, force)).norm() <= 1e-12 * force);
    let centroid = Vector3::new(0.2, -0.1, -depth / 3.0);
    let moment = centroid.cross(&sum.force);
    assert!((sum.moment - moment).norm() <= 1e-12 * force, "{:?} {moment:?}", sum.moment);
}

/// Force of a sphere of the field E (1 − r/R) on a rigid plane at a depth [N].
fn sphere_force(radius: f64, depth: f64) -> f64 {
    let primitive = |r: f64| r * r / 2.0 - r.powi(3) / (3.0 * radius);
    2.0 * PI * E * (primitive(radius) - primitive(radius - depth))
}

#[test]
fn the_force_of_a_sphere_on_a_rigid_plane_converges_at_second_order() {
    let (radius, plane) = (0.1, rigid(&Shape::Plane));
    let shape = Shape::sphere(radius).unwrap();
    for depth in [0.01, 0.03] {
        let exact = sphere_force(radius, depth);
        let error = |cells: f64| {
            let body = yielding(&shape, Some(1.33 * radius / cells));
            // The mean over some orientations, so that the number does not depend on one.
            let forces = (0..20).map(|k| {
                let X_WA = Isometry3::from_parts(
                    at(0.0, 0.0, radius - depth).translation,
                    pose(k, 0.0).rotation,
                );
                total(&patch((&plane, &Isometry3::identity()), (&body, &X_WA))).force.z
            });
            (forces.sum::<f64>() / 20.0 - exact).abs() / exact
        };
        let [coarse, fine] = [error(8.0), error(16.0)];
        // Chords lie within the sphere by edge²/8R: a part edge²/(8 R depth) of the depth, twice that of the force.
        let bound = |cells: f64| (1.33 * radius / cells).powi(2) / (4.0 * radius * depth);
        assert!(coarse <= bound(8.0) && fine <= bound(16.0), "{coarse} {fine}");
        // Second order: a quarter, with a margin for the mean over orientations.
        assert!(fine <= coarse / 3.0, "{coarse} {fine}");
    }
}

#[test]
fn a_flat_disc_resists_spinning_by_two_thirds_of_its_radius() {
    let (radius, plane) = (0.1, rigid(&Shape::Plane));
    let disc = yielding(&Shape::cylinder(radius, 0.02).unwrap(), None);
    let depth = 1e-6;
    let found = patch((&plane, &Isometry3::identity()), (&disc, &at(0.0, 0.0, 0.02 - depth)));
    let (mut moment, mut load) = (0.0, 0.0);
    for polygon in &found.polygons {
        moment += polygon.force() * polygon.point.xy().norm();
        load += polygon.force();
    }
    let ratio = moment / load / (2.0 / 3.0 * radius);
    assert!((ratio - 1.0).abs() <= 0.02, "{ratio}");
}

#[test]
fn patches_are_the_same_for_both_orders_of_their_bodies() {
    let shapes = shapes();
    let mut touching = 0;
    for k in 0..200 {
        let (one, two) = (&shapes[k % 7], &shapes[(k / 7) % 7]);
        let [a, b] =
            [yielding(one, None), if k % 2 == 0 { yielding(two, None) } else { rigid(two) }];
        let (X_WA, X_WB) = (pose(k, 0.04), pose(k + 500, 0.04));
        let [forward, backward] =
            [patch((&a, &X_WA), (&b, &X_WB)), patch((&b, &X_WB), (&a, &X_WA))].map(|p| total(&p));
        let size: f64 = forward.force.norm().max(E * 1e-6);
        touching += usize::from(forward.area > 1e-5);
        // Polygons of about 1e-14 m² may be dropped in one order.
        assert!((forward.force + backward.force).norm() <= 1e-8 * size, "{k}");
        assert!((forward.moment + backward.moment).norm() <= 1e-8 * size, "{k}");
        assert!((forward.area - backward.area).abs() <= 1e-8 * forward.area.max(1e-6), "{k}");
    }
    assert!(touching > 100, "{touching}");
}

#[test]
fn forces_are_continuous_in_the_pose() {
    let shapes = shapes();
    let bodies: Vec<_> = shapes.iter().map(|s| (yielding(s, None), rigid(s))).collect();
    let mut touching = 0;
    for k in 0..10_000 {
        let a = &bodies[k % 7].0;
        let other = &bodies[(k / 7) % 7];
        let b = if k % 2 == 0 { &other.0 } else { &other.1 };
        let (X_WA, X_WB) = (pose(k, 0.05), pose(k + 10_000, 0.05));
        let motion = pose(k + 20_000, 1.0);
        let shift = motion.translation.vector.normalize() * 1e-5;
        let turn =
            UnitQuaternion::from_scaled_axis(motion.rotation.scaled_axis().normalize() * 1e-4);
        let moved = Isometry3::from_parts(
            Translation3::from(X_WB.translation.vector + shift),
            turn * X_WB.rotation,
        );
        let [before, after] = [&X_WB, &moved].map(|X_WB| total(&patch((a, &X_WA), (b, X_WB))));
        // The change of a continuous force: the stiffness of the patch times the motion, 1e-5 m and 1e-4 rad at 0.1 m.
        // Pressures are at most E, gradients at most E over the least half extent.
        let stiffness = before.area.max(after.area) * E / 0.015;
        let least = 3.0 * stiffness * 2e-5;
        let size = before.force.norm().max(after.force.norm());
        touching += usize::from(size > 10.0);
        let jump = (before.force - after.force).norm();
        assert!(jump <= (0.01 * size).max(least), "{k}: {jump} N of {size} N");
    }
    assert!(touching > 5000, "{touching}");
}

#[test]
fn two_compliant_spheres_touch_like_one_of_twice_the_stiffness_on_a_rigid_plane() {
    // By symmetry the patch of two equal spheres is the plane between them.
    let (radius, depth) = (0.1, 0.01);
    let body = yielding(&Shape::sphere(radius).unwrap(), Some(0.006));
    let lower = at(0.0, 0.0, -(radius - depth));
    let upper = at(0.0, 0.0, radius - depth);
    let sum = total(&patch((&body, &lower), (&body, &upper)));
    let exact = sphere_force(radius, depth);
    let bound = 0.006_f64.powi(2) / (4.0 * radius * depth);
    assert!((sum.force.z - exact).abs() <= bound * exact, "{} {exact}", sum.force.z);
    assert!(sum.centre.norm() <= 1e-3 * radius, "{:?}", sum.centre);
}

#[test]
fn a_mesh_of_a_box_has_the_field_of_the_box() {
    let half = Vector3::repeat(0.05);
    let (vertices, triangles) = crate::shape::generate::cuboid(half);
    let mesh = yielding(&Shape::mesh(&vertices, &triangles).unwrap(), Some(0.01));
    let exact = yielding(&Shape::Box(half), None);
    let plane = rigid(&Shape::Plane);
    for depth in [0.003, 0.012] {
        let force = |body: &PressureBody| {
            let X_WB = at(0.0, 0.0, 0.05 - depth);
            total(&patch((&plane, &Isometry3::identity()), (body, &X_WB))).force.z
        };
        let (found, expected) = (force(&mesh), force(&exact));
        // Edges are rounded: along them a strip as wide as a cell has at most the pressure of the face.
        let bound = E * depth / 0.05 * 8.0 * 0.05 * 0.01;
        assert!((found - expected).abs() <= bound, "{found} {expected}");
    }
}

#[test]
fn bad_compliances_and_shapes_are_refused() {
    let sphere = Shape::sphere(0.1).unwrap();
    let good = Compliance { modulus: E, thickness: None, resolution: None };
    for modulus in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = PressureBody::new(&sphere, Some(&Compliance { modulus, ..good })).unwrap_err();
        assert!(matches!(error, PressureError::Modulus { .. }), "{error}");
    }
    for length in [0.0, -1.0, f64::NAN] {
        for bad in [
            Compliance { thickness: Some(length), ..good },
            Compliance { resolution: Some(length), ..good },
        ] {
            let error = PressureBody::new(&sphere, Some(&bad)).unwrap_err();
            assert!(matches!(error, PressureError::Length { .. }), "{error}");
        }
    }
    let error = PressureBody::new(&Shape::Plane, Some(&good)).unwrap_err();
    assert!(matches!(error, PressureError::NoThickness), "{error}");
    let (vertices, triangles) = crate::shape::generate::grid((1.0, 1.0), (2, 2));
    let open = Shape::mesh(&vertices, &triangles).unwrap();
    for compliance in [None, Some(&good)] {
        let error = PressureBody::new(&open, compliance).unwrap_err();
        assert!(matches!(error, PressureError::Open { .. }), "{error}");
    }
    let fine = Compliance { resolution: Some(1e-7), ..good };
    let error = PressureBody::new(&sphere, Some(&fine)).unwrap_err();
    assert!(matches!(error, PressureError::Resolution { .. }), "{error}");
}
