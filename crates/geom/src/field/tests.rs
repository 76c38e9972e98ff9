//! Fields against exact distances, differences and closed forms.

use super::*;
use crate::shape::generate;
use crate::{Ray, Shape};
use nalgebra::Isometry3;
use std::f64::consts::PI;
use std::sync::Arc;
use stiction_math::random::SplitMix64;

fn bowl() -> Profile {
    let arc = |k: usize| {
        let angle = 0.5 * PI * k as f64 / 12.0;
        [0.1 * angle.sin(), 0.1 - 0.1 * angle.cos()]
    };
    Profile::line(&(0..=12).map(arc).collect::<Vec<_>>(), 0.004).unwrap()
}

fn cup() -> Profile {
    let points = [[0.0, 0.0], [0.05, 0.0], [0.06, 0.1], [0.055, 0.1], [0.045, 0.01], [0.0, 0.01]];
    Profile::polygon(&points, 0.0).unwrap()
}

fn revolved(profile: Profile) -> FieldSolid {
    FieldSolid::Revolve(Arc::new(profile))
}

fn solids() -> Vec<(&'static str, FieldSolid)> {
    let half = Vector3::new(0.1, 0.07, 0.05);
    let ball = FieldSolid::Sphere(0.06);
    let at = |x: f64| Isometry3::translation(x, 0.01, 0.0);
    let placed = |x: f64, solid: FieldSolid| FieldSolid::Placed(at(x), Box::new(solid));
    let cuboid = FieldSolid::Box { half, rounding: 0.0 };
    vec![
        ("sphere", ball.clone()),
        ("box", cuboid.clone()),
        ("rounded box", FieldSolid::Box { half, rounding: 0.02 }),
        ("cylinder", FieldSolid::Cylinder { radius: 0.05, half_length: 0.08, rounding: 0.0 }),
        (
            "rounded cylinder",
            FieldSolid::Cylinder { radius: 0.05, half_length: 0.08, rounding: 0.01 },
        ),
        ("capsule", FieldSolid::Capsule { radius: 0.04, half_length: 0.05 }),
        ("torus", FieldSolid::Torus { major: 0.08, minor: 0.03 }),
        ("bowl", revolved(bowl())),
        ("cup", revolved(cup())),
        ("bolt", FieldSolid::Thread(Thread::m48_bolt(0.02))),
        ("nut", FieldSolid::Thread(Thread::m48_nut(0.01, 1e-4))),
        (
            "union",
            FieldSolid::Union {
                parts: vec![placed(0.08, ball.clone()), cuboid.clone()],
                smooth: 0.0,
            },
        ),
        (
            "smooth union",
            FieldSolid::Union {
                parts: vec![placed(0.08, ball.clone()), cuboid.clone()],
                smooth: 0.03,
            },
        ),
        (
            "difference",
            FieldSolid::Difference {
                from: Box::new(cuboid),
                without: Box::new(placed(0.09, ball)),
                smooth: 0.0,
            },
        ),
    ]
}

fn points(count: usize, size: f64, seed: u64) -> Vec<Vector3<f64>> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| size * random.vector3()).collect()
}

#[test]
fn primitives_without_rounding_have_the_exact_distances_of_the_shapes() {
    let half = Vector3::new(0.1, 0.07, 0.05);
    let pairs = [
        (FieldSolid::Sphere(0.06), Shape::sphere(0.06).unwrap()),
        (FieldSolid::Box { half, rounding: 0.0 }, Shape::cuboid(half).unwrap()),
        (
            FieldSolid::Cylinder { radius: 0.05, half_length: 0.08, rounding: 0.0 },
            Shape::cylinder(0.05, 0.08).unwrap(),
        ),
        (
            FieldSolid::Capsule { radius: 0.04, half_length: 0.05 },
            Shape::capsule(0.04, 0.05).unwrap(),
        ),
    ];
    for (solid, shape) in pairs {
        for p in points(2000, 0.2, 3) {
            let (found, exact) = (solid.sample(&p), shape.nearest(&p).unwrap());
            // Round-off of a few operations on lengths below one metre.
            assert!((found.value - exact.distance).abs() < 1e-12, "{solid:?} at {p}");
            assert!((found.gradient - exact.normal).norm() < 1e-9, "{solid:?} at {p}");
        }
    }
}

#[test]
fn a_revolved_polygon_has_the_exact_distance_of_a_fine_mesh_within_the_error_of_its_chords() {
    let profile = cup();
    let outline = profile.outline(0.002);
    let n = 720;
    let (vertices, triangles) = generate::revolve(&outline.points, outline.closed, n);
    let mesh = Mesh::build(&vertices, &triangles).unwrap();
    assert!(mesh.is_closed());
    // Chords of a circle of 6 cm lie inside it by r (1 − cos(π/n)).
    let chord = 0.06 * (1.0 - (PI / f64::from(n)).cos());
    for p in points(400, 0.12, 5) {
        let exact = mesh.signed_distance(&p, f64::INFINITY).unwrap().distance;
        let found = profile.sample(&p).value;
        assert!((found - exact).abs() <= chord + 1e-12, "{p}: {found} against {exact}");
    }
}

#[test]
fn a_line_of_revolution_is_the_distance_from_its_segments_less_half_its_thickness() {
    // One segment on the axis and across it: a disc with a round rim.
    let disc = revolved(Profile::line(&[[0.0, 0.0], [0.1, 0.0]], 0.02).unwrap());
    for p in points(1000, 0.2, 7) {
        let across = p.x.hypot(p.y);
        let exact = (across - across.min(0.1)).hypot(p.z) - 0.01;
        assert!((disc.sample(&p).value - exact).abs() < 1e-12);
    }
}

#[test]
fn gradients_are_the_differences_of_values_and_values_change_no_faster_than_the_bound() {
    for (name, solid) in solids() {
        let bound = solid.lipschitz();
        let (size, step) = (1.5 * solid.radius(), 1e-7);
        let mut smooth = 0;
        for p in points(2000, size, 11) {
            let sample = solid.sample(&p);
            let mut central = Vector3::zeros();
            let mut one_sided = true;
            for axis in 0..3 {
                let d = step * Vector3::ith(axis, 1.0);
                let (low, high) = (solid.sample(&(p - d)).value, solid.sample(&(p + d)).value);
                central[axis] = (high - low) / (2.0 * step);
                // At kinks both differences disagree; no derivative is defined there.
                one_sided &= (high + low - 2.0 * sample.value).abs() < 1e-4 * step;
            }
            assert!(sample.gradient.norm() <= bound + 1e-9, "{name} at {p}");
            if one_sided {
                smooth += 1;
                // Round-off of values of 0.1 m, 1e-17, over the step, and the curvature over a millimetre times the step.
                assert!(
                    (central - sample.gradient).norm() < 2e-4,
                    "{name} at {p}: {central} {}",
                    sample.gradient
                );
            }
        }
        assert!(smooth > 1500, "{name}: {smooth}");
        let (one, two) = (points(2000, size, 13), points(2000, size, 17));
        for (p, q) in one.iter().zip(&two) {
            let change = (solid.sample(p).value - solid.sample(q).value).abs();
            assert!(change <= bound * (p - q).norm() * (1.0 + 1e-12), "{name}");
        }
    }
}

#[test]
fn surfaces_are_closed_and_their_vertices_lie_on_the_field() {
    for (name, solid) in solids() {
        let field = Field::build(solid, None).unwrap();
        assert!(field.surface().is_closed(), "{name}");
        let size = field.bounding_radius();
        for p in field.surface().vertices() {
            // Vertices of a marching grid keep a thousandth of a cell from its corners.
            assert!(field.value(p).abs() < 1e-4 * size, "{name}: {}", field.value(p));
            assert!(field.local_bounds().contains_point(p), "{name}");
        }
        assert!(field.volume() > 0.0, "{name}");
    }
}

#[test]
fn the_volume_of_a_disc_with_a_round_rim_is_that_of_pappus() {
    let (radius, thickness) = (0.1, 0.02);
    let disc = revolved(Profile::line(&[[0.0, 0.0], [radius, 0.0]], thickness).unwrap());
    let field = Field::build(disc, Some(0.001)).unwrap();
    let r = 0.5 * thickness;
    // A cylinder and half a disc whose centroid is 4 r/3π beyond it.
    let rim = 0.5 * PI * r * r * 2.0 * PI * (radius + 4.0 * r / (3.0 * PI));
    let exact = PI * radius * radius * thickness + rim;
    // Chords of 1 mm on a circle of 10 cm, and arcs of the rim in pieces of 1 mm at a radius of 1 cm: 1/8 (w/r)² of the rim.
    assert!((field.volume() / exact - 1.0).abs() < 1e-3, "{} {exact}", field.volume());
}

#[test]
fn rays_meet_the_surface_where_the_value_vanishes() {
    for (name, solid) in solids() {
        let field = Field::build(solid, None).unwrap();
        let mut random = SplitMix64::new(23);
        for _ in 0..200 {
            let n = random.direction();
            let aim = 0.5 * field.bounding_radius() * random.vector3();
            let origin = 3.0 * field.bounding_radius() * n;
            let ray = Ray { origin, direction: (aim - origin).normalize() };
            let Some(hit) = field.cast(&ray, 10.0) else { continue };
            let on = ray.at(hit.distance);
            assert!(field.value(&on).abs() < 2e-6 * field.bounding_radius(), "{name}");
            // No triangle is met much earlier.
            if let Some((first, _)) = field.surface().cast(&ray.origin, &ray.direction, 10.0) {
                let before = field.value(&ray.at(first)).abs();
                assert!(
                    first > hit.distance - 0.2 * field.bounding_radius() || before < 1e-3,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn the_thread_of_a_nut_keeps_its_clearance_from_that_of_its_bolt() {
    let clearance = 2e-4;
    let bolt = Thread::m48_bolt(0.03);
    let nut = Thread::m48_nut(0.01, clearance);
    let surface = Field::build(FieldSolid::Thread(nut), None).unwrap();
    let mut least = f64::INFINITY;
    for p in
        surface.surface().vertices().iter().filter(|p| p.x.hypot(p.y) < 0.025 && p.z.abs() < 0.008)
    {
        let (distance, _) = bolt.sample(p).to_surface().unwrap();
        least = least.min(distance);
        assert!(distance > 0.999 * clearance, "{distance}");
    }
    // The flanks are the nearest parts; the distance to first order is exact to a few millionths there.
    assert!((least / clearance - 1.0).abs() < 1e-3, "{least}");
}

#[test]
fn a_sampled_mesh_stays_within_its_error_bound_and_its_gradient_is_that_of_the_interpolant() {
    let (vertices, triangles) = generate::torus(0.08, 0.03, 48, 24);
    let mesh = Mesh::build(&vertices, &triangles).unwrap();
    for sign in [GridSign::Closed, GridSign::Winding] {
        let cell = if sign == GridSign::Closed { 0.002 } else { 0.008 };
        let grid = SampledGrid::build(mesh.clone(), cell, sign, MOST_BYTES).unwrap();
        let (bound, lipschitz) = (grid.error_bound(), grid.lipschitz());
        assert!(lipschitz < 12.0, "{lipschitz}");
        for p in points(3000, 0.14, 29) {
            let exact = mesh.signed_distance(&p, f64::INFINITY).unwrap().distance;
            let found = grid.sample(&p);
            if exact.abs() < 4.0 * cell {
                assert!((found.value - exact).abs() <= bound, "{p}: {} {exact}", found.value);
            }
            assert!((found.value < 0.0) == (exact < 0.0) || exact.abs() <= bound);
            let step = 1e-6 * cell;
            let central = Vector3::from_fn(|axis, _| {
                let d = step * Vector3::ith(axis, 1.0);
                (grid.sample(&(p + d)).value - grid.sample(&(p - d)).value) / (2.0 * step)
            });
            // Inside a cell the interpolant is of second order; across a face of cells it has a kink.
            let kink = (central - found.gradient).norm() > 1e-4;
            let u = (p - grid.sample_origin()) / cell;
            let near_face = u.iter().any(|x| (x - x.round()).abs() < 1e-5);
            assert!(!kink || near_face, "{p}: {central} {}", found.gradient);
            assert!(found.gradient.norm() <= lipschitz + 1e-9);
        }
    }
}

#[test]
fn meshes_that_bound_no_solid_and_grids_that_do_not_fit_are_refused() {
    let (vertices, triangles) = generate::cuboid(Vector3::repeat(0.1));
    let open = Mesh::build(&vertices, &triangles[1..]).unwrap();
    let grid = |mesh, cell, bytes| SampledGrid::build(mesh, cell, GridSign::Closed, bytes);
    assert!(matches!(
        grid(open.clone(), 0.01, MOST_BYTES),
        Err(ShapeError::OpenAt { borders: 3, .. })
    ));
    assert!(SampledGrid::build(open, 0.05, GridSign::Winding, MOST_BYTES).is_ok());
    let whole = Mesh::build(&vertices, &triangles).unwrap();
    let refused = grid(whole.clone(), 1e-6, MOST_BYTES);
    assert!(matches!(refused, Err(ShapeError::Memory { bytes, .. }) if bytes > 1e9), "{refused:?}");
    // Two boxes that overlap.
    let moved = vertices.iter().map(|p| p + Vector3::new(0.1, 0.03, 0.02));
    let both: Vec<_> = vertices.iter().copied().chain(moved).collect();
    let more = triangles.iter().map(|t| t.map(|v| v + 8));
    let twice: Vec<_> = triangles.iter().copied().chain(more).collect();
    let crossing = Mesh::build(&both, &twice).unwrap();
    assert!(matches!(grid(crossing, 0.01, MOST_BYTES), Err(ShapeError::Crossing { .. })));
    assert!(matches!(grid(whole, f64::NAN, MOST_BYTES), Err(ShapeError::Length { .. })));
}

#[test]
fn profiles_and_threads_that_do_not_exist_are_refused() {
    let line = |points: &[[f64; 2]]| Profile::line(points, 0.01);
    assert!(matches!(line(&[[0.0, 0.0]]), Err(ShapeError::TooFew { .. })));
    assert!(matches!(
        line(&[[0.0, 0.0], [-0.1, 0.0]]),
        Err(ShapeError::ProfilePoint { index: 1, .. })
    ));
    assert!(matches!(
        line(&[[0.1, 0.0], [0.1, 0.0]]),
        Err(ShapeError::ProfileEdge { index: 0, .. })
    ));
    let bow = [[0.1, 0.0], [0.2, 0.1], [0.2, 0.0], [0.1, 0.1]];
    assert!(matches!(Profile::polygon(&bow, 0.0), Err(ShapeError::ProfileCrossing { .. })));
    let nut = |clearance| Field::build(FieldSolid::Thread(Thread::m48_nut(0.01, clearance)), None);
    assert!(matches!(nut(0.0), Err(ShapeError::Thread { .. })));
    assert!(matches!(nut(0.004), Err(ShapeError::Thread { .. })));
    let empty = FieldSolid::Intersection {
        parts: vec![
            FieldSolid::Sphere(0.1),
            FieldSolid::Placed(
                Isometry3::translation(1.0, 0.0, 0.0),
                Box::new(FieldSolid::Sphere(0.1)),
            ),
        ],
        smooth: 0.0,
    };
    assert!(Field::build(empty, None).is_err());
}
