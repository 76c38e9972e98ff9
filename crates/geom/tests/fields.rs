//! Contacts of signed distance fields against brute force and closed forms.

#![allow(non_snake_case, clippy::unwrap_used, clippy::panic)]

use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::PI;
use std::sync::Arc;
use stiction_geom::field::{Profile, Thread};
use stiction_geom::narrow::{self, Manifold, PosedShape};
use stiction_geom::sweep::{self, Motion, MovingShape, SweepScratch};
use stiction_geom::{FieldSolid, Shape};
use stiction_math::random::SplitMix64;

fn field(solid: FieldSolid) -> Shape {
    Shape::field(solid, None).unwrap()
}

fn plate() -> Shape {
    let profile = Profile::line(&[[0.0, 0.0], [0.06, 0.0], [0.1, 0.03]], 0.005).unwrap();
    field(FieldSolid::Revolve(Arc::new(profile)))
}

fn contacts(a: (&Shape, &Isometry3<f64>), b: (&Shape, &Isometry3<f64>), reach: f64) -> Manifold {
    let mut manifold = Manifold::default();
    let posed = |(shape, X_WS): (&'_ Shape, &'_ Isometry3<f64>)| (shape.clone(), *X_WS);
    let ((a, X_WA), (b, X_WB)) = (posed(a), posed(b));
    narrow::contacts(
        PosedShape { shape: &a, X_WS: &X_WA },
        PosedShape { shape: &b, X_WS: &X_WB },
        reach,
        &mut manifold,
    );
    manifold
}

/// Least value of a field over a fine sampling of the surface of another shape.
fn sampled_gap(field: &Shape, X_WF: &Isometry3<f64>, other: &Shape, X_WO: &Isometry3<f64>) -> f64 {
    let (Shape::Field(field), Shape::Field(other)) = (field, other) else { panic!() };
    let mesh = other.surface();
    let mut least = f64::INFINITY;
    let steps = 6;
    for t in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.corners(t);
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (f64::from(i) / f64::from(steps), f64::from(j) / f64::from(steps));
                let p = a + (b - a) * u + (c - a) * v;
                let p = other.project(&p).unwrap_or(p);
                let p_W = X_WO * Point3::from(p);
                least = least.min(field.value(&X_WF.inverse_transform_point(&p_W).coords));
            }
        }
    }
    least
}

#[test]
fn the_least_gap_of_two_fields_is_that_of_a_fine_sampling() {
    let torus = field(FieldSolid::Torus { major: 0.08, minor: 0.03 });
    let ball = field(FieldSolid::Sphere(0.05));
    let round = field(FieldSolid::Box { half: Vector3::new(0.08, 0.06, 0.04), rounding: 0.02 });
    let shapes = [&torus, &ball, &round];
    let mut random = SplitMix64::new(5);
    let (mut tested, reach) = (0, 0.03);
    for k in 0..90 {
        let (a, b) = (shapes[k % 3], shapes[k / 3 % 3]);
        let X_WA = random.pose(0.02);
        let mut X_WB = random.pose(1.0);
        X_WB.translation.vector = 0.15 * random.direction();
        let exact = sampled_gap(a, &X_WA, b, &X_WB);
        let manifold = contacts((a, &X_WA), (b, &X_WB), reach);
        let found = manifold.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        // Deep inside, the least value of all is not that of a point of contact.
        if exact > 0.9 * reach || exact < -0.005 {
            continue;
        }
        tested += 1;
        // Samples are a sixth of a triangle of about 8 mm apart: where curvatures of 1/3 cm meet, the gap between
        // them differs by at most (1 mm)²/(2 · 1.5 cm), and the point found may be as far off.
        assert!((found - exact).abs() < 2e-4, "{} {}: {found} against {exact}", a.name(), k);
        for point in manifold.points() {
            assert!((point.normal.norm() - 1.0).abs() < 1e-12);
        }
    }
    assert!(tested > 8, "{tested}");
}

#[test]
fn contacts_do_not_depend_on_the_order_of_the_shapes() {
    let (one, two) = (plate(), field(FieldSolid::Torus { major: 0.06, minor: 0.01 }));
    let (X_1, X_2) = (Isometry3::identity(), Isometry3::translation(0.004, 0.0, 0.0127));
    let (forth, back) =
        (contacts((&one, &X_1), (&two, &X_2), 1e-3), contacts((&two, &X_2), (&one, &X_1), 1e-3));
    assert_eq!(forth.len(), back.len());
    assert!(!forth.is_empty());
    for (p, q) in forth.points().iter().zip(back.points()) {
        assert_eq!(p.feature, q.feature);
        assert!((p.point - q.point).norm() < 1e-12 && (p.normal + q.normal).norm() < 1e-12);
    }
}

#[test]
fn a_plate_in_a_larger_plate_touches_around_its_bottom_at_the_gap_between_them() {
    // The rim of the smaller plate lies 1 cm inside that of the larger one.
    let inner = Profile::line(&[[0.0, 0.0], [0.05, 0.0], [0.08, 0.03]], 0.005).unwrap();
    let (one, two) = (plate(), field(FieldSolid::Revolve(Arc::new(inner))));
    let gap = 1e-4;
    let X_2 = Isometry3::translation(0.0, 0.0, 0.005 + gap);
    let found = contacts((&one, &Isometry3::identity()), (&two, &X_2), 1e-3);
    let level: Vec<_> = found.points().iter().filter(|p| p.normal.z > 0.999).collect();
    assert!(level.len() >= 4, "{:?}", found.points());
    for p in &level {
        // Both surfaces are exact: the gap is that of the planes up to round-off.
        assert!((p.gap - gap).abs() < 1e-12, "{}", p.gap);
    }
    // They surround the centre: forces there resist tilting about any axis.
    for k in 0..8 {
        let (sin, cos) = (0.25 * PI * f64::from(k)).sin_cos();
        let reach = level.iter().map(|p| cos * p.point.x + sin * p.point.y).fold(0.0, f64::max);
        // Of each cell, an eighth of the rim's 16.5 cm wide, one point is kept: the support loses a diagonal at most.
        assert!(reach > 0.05 - 0.0207 * 2.0_f64.sqrt(), "{k}: {reach}");
    }
    assert!(found.len() <= 120);
}

#[test]
fn a_ball_in_the_corner_of_a_cup_touches_floor_and_wall() {
    let points = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.09, 0.1], [0.09, 0.01], [0.0, 0.01]];
    let cup = field(FieldSolid::Revolve(Arc::new(Profile::polygon(&points, 0.0).unwrap())));
    let ball = Shape::sphere(0.02).unwrap();
    let at = Isometry3::translation(0.0699, 0.0, 0.0301);
    let found = contacts((&cup, &Isometry3::identity()), (&ball, &at), 1e-3);
    let has = |n: Vector3<f64>, gap: f64| {
        found.points().iter().any(|p| (p.normal - n).norm() < 1e-9 && (p.gap - gap).abs() < 1e-12)
    };
    assert!(has(Vector3::z(), 1e-4), "{:?}", found.points());
    assert!(has(-Vector3::x(), 1e-4), "{:?}", found.points());
}

#[test]
fn a_box_on_a_field_touches_with_its_four_corners() {
    let table = field(FieldSolid::Box { half: Vector3::new(0.3, 0.3, 0.05), rounding: 0.01 });
    let cube = Shape::cuboid(Vector3::repeat(0.05)).unwrap();
    let at = Isometry3::translation(0.02, 0.03, 0.1 - 1e-5);
    let found = contacts((&table, &Isometry3::identity()), (&cube, &at), 1e-3);
    for (x, y) in [(-0.03, -0.02), (0.07, -0.02), (-0.03, 0.08), (0.07, 0.08)] {
        let near = |p: &narrow::ManifoldPoint| (p.point.x - x).hypot(p.point.y - y) < 1e-9;
        let corner = found.points().iter().find(|p| near(p)).unwrap();
        assert!((corner.gap + 1e-5).abs() < 1e-12 && corner.normal.z > 1.0 - 1e-12);
    }
}

#[test]
fn a_nut_that_turns_with_its_lead_keeps_its_gap() {
    let (clearance, pitch) = (2e-4, 5e-3);
    let bolt = field(FieldSolid::Thread(Thread::m48_bolt(0.03)));
    let nut = field(FieldSolid::Thread(Thread::m48_nut(0.01, clearance)));
    for k in 0..24 {
        let turn = 0.37 * f64::from(k);
        let pose = Isometry3::new(
            Vector3::new(0.0, 0.0, pitch * turn / (2.0 * PI)),
            Vector3::new(0.0, 0.0, turn),
        );
        let found = contacts((&bolt, &Isometry3::identity()), (&nut, &pose), 4e-4);
        assert!(found.len() > 20, "{}", found.len());
        let least = found.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        // Distances to first order are exact to a few millionths; moving vertices onto the surface adds as little.
        assert!((least / clearance - 1.0).abs() < 2e-3, "{turn}: {least}");
    }
}

#[test]
fn a_falling_ball_meets_a_bowl_when_the_distance_is_used_up() {
    let bowl = plate();
    let ball = Shape::sphere(0.01).unwrap();
    let drop = 0.05;
    let start = Isometry3::translation(0.01, 0.0, 0.0025 + 0.01 + drop);
    let shift = Vector3::new(0.0, 0.0, -0.08);
    let motion = Motion { shift, turn: Vector3::zeros(), centre: start.translation.vector };
    let moving = MovingShape { shape: &ball, X_WS: start, motion };
    let fixed = MovingShape { shape: &bowl, X_WS: Isometry3::identity(), motion: Motion::REST };
    let mut scratch = SweepScratch::default();
    let met = sweep::meeting(&moving, &fixed, 0.0, 1e-7, &mut scratch).unwrap();
    assert!((met * 0.08 - drop).abs() < 2e-7, "{met}");
}

#[test]
fn triangles_kept_from_earlier_poses_change_no_bit_of_a_contact() {
    let bolt = field(FieldSolid::Thread(Thread::m48_bolt(0.008)));
    let nut = field(FieldSolid::Thread(Thread::m48_nut(0.006, 2e-4)));
    let torus = field(FieldSolid::Torus { major: 0.08, minor: 0.03 });
    let plate = plate();
    let place = |z: f64| Vector3::new(0.0, 0.0, z);
    let pairs = [
        (&plate, &plate, place(0.0052)),
        (&torus, &plate, place(0.034)),
        (&bolt, &nut, place(0.0)),
    ];
    let mut random = SplitMix64::new(11);
    for (a, b, at) in pairs {
        let mut found = 0;
        let mut X_WB = Isometry3::from(nalgebra::Translation3::from(at));
        for k in 0..24 {
            // From far below the margin of a list to far above it, and back to where it was.
            let size = 10.0_f64.powi(-8 + k % 7);
            X_WB.translation.vector = at + size * random.vector3();
            X_WB.rotation =
                nalgebra::UnitQuaternion::from_scaled_axis(10.0 * size * random.vector3());
            let reach = [1e-5, 4e-4, 5e-4, 3e-3][(k / 2 % 4) as usize];
            let query = || contacts((a, &Isometry3::identity()), (b, &X_WB), reach);
            let kept = query();
            // Another thread has memory of its own, and no list of an earlier pose.
            let fresh = std::thread::scope(|scope| scope.spawn(query).join().unwrap());
            let bits = |manifold: &Manifold| {
                let points = manifold.points().iter();
                let numbers = points.map(|p| {
                    (p.feature, [p.point, p.normal].map(|v| v.map(f64::to_bits)), p.gap.to_bits())
                });
                numbers.collect::<Vec<_>>()
            };
            assert_eq!(bits(&kept), bits(&fresh), "{} on {}, query {k}", b.name(), a.name());
            found += kept.len();
        }
        assert!(found > 0, "{} on {}", b.name(), a.name());
    }
}

#[test]
fn small_convex_shapes_touch_a_large_ball_between_the_corners_of_its_triangles() {
    // Triangles of edges of 0.5 m lie up to 0.5²/(8 · 1) = 3 cm inside of the ball, more than the size of the box.
    let ball = Shape::field(FieldSolid::Sphere(1.0), Some(0.5)).unwrap();
    let half = Vector3::new(6e-3, 5e-3, 4e-3);
    let small = Shape::Box(half);
    let mut random = SplitMix64::new(11);
    for k in 0..200 {
        let mut X_WB = random.pose(1.0);
        X_WB.translation.vector = (1.0 + random.uniform(-0.004, 0.007)) * random.direction();
        let centre = X_WB.inverse_transform_point(&Point3::origin()).coords;
        let exact =
            (X_WB * Point3::from(centre.zip_map(&half, |x, h| x.clamp(-h, h)))).coords.norm() - 1.0;
        if exact > 1.8e-3 {
            continue;
        }
        let manifold = contacts((&ball, &Isometry3::identity()), (&small, &X_WB), 2e-3);
        let found = manifold.points().iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        // Contacts are added where they are lower by more than a fiftieth of the size, and a descent ends at a slope of 1e-3.
        let tolerance = (0.02 + 1e-3) * half.norm();
        assert!((found - exact).abs() < tolerance, "{k}: {found} against {exact}");
    }
}
