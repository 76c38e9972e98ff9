use super::*;
use crate::shape::generate;
use stiction_math::random::SplitMix64;

fn at(shape: &Shape, p: [f64; 3], shift: [f64; 3], turn: [f64; 3]) -> MovingShape<'_> {
    let centre = Vector3::from(p);
    let X_WS = Isometry3::translation(p[0], p[1], p[2]);
    let motion = Motion { centre, shift: shift.into(), turn: turn.into() };
    MovingShape { shape, X_WS, motion }
}

fn first(a: &MovingShape, b: &MovingShape) -> Option<f64> {
    meeting(a, b, 0.0, 1e-6, &mut SweepScratch::default())
}

#[test]
fn two_spheres_meet_at_the_root_of_the_quadratic() {
    let (a, b) = (Shape::sphere(0.1).unwrap(), Shape::sphere(0.2).unwrap());
    let still = at(&a, [0.0; 3], [0.0; 3], [0.0, 0.0, 50.0]);
    let moving = at(&b, [-1.0, 0.2, 0.0], [3.0, 0.0, 0.0], [20.0, 0.0, 3.0]);
    // (−1 + 3 s)² + 0.2² = 0.3²
    let exact = (1.0 - (0.3_f64 * 0.3 - 0.04).sqrt()) / 3.0;
    let s = first(&still, &moving).unwrap();
    // The distance falls by 3 cos of the angle of incidence, at least 2, per unit of time.
    assert!(s <= exact && exact - s <= 1e-6 / 2.0, "{s} {exact}");
    let passing = at(&b, [-1.0, 0.3 + 1e-5, 0.0], [3.0, 0.0, 0.0], [0.0; 3]);
    assert_eq!(first(&still, &passing), None);
}

#[test]
fn a_ball_that_passes_over_an_edge_does_not_meet_the_box() {
    let (a, b) = (Shape::cuboid(Vector3::repeat(0.5)).unwrap(), Shape::sphere(0.05).unwrap());
    let still = at(&a, [0.5, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    let over = at(&b, [-0.08, 0.0, 0.56], [0.05, 0.0, 0.0], [0.0; 3]);
    assert_eq!(first(&still, &over), None);
    let into = at(&b, [-0.08, 0.0, 0.45], [0.05, 0.0, 0.0], [0.0; 3]);
    let s = first(&still, &into).unwrap();
    assert!((0.03 - 0.05 * s - 1e-6).abs() <= 1e-6, "{s}");
}

#[test]
fn a_bullet_meets_a_thin_wall_however_fast() {
    let (wall, bullet) =
        (Shape::cuboid(Vector3::new(5e-4, 1.0, 1.0)).unwrap(), Shape::sphere(2.5e-3).unwrap());
    let still = at(&wall, [0.0; 3], [0.0; 3], [0.0; 3]);
    for speed in [1e-2, 1.0, 10.0] {
        let fast = at(&bullet, [-0.5 * speed, 0.1, 0.2], [speed, 0.0, 0.0], [0.0; 3]);
        let s = first(&still, &fast).unwrap();
        let gap = 0.5 * speed - speed * s - 3e-3;
        assert!((0.0..=1e-6).contains(&gap), "{gap}");
    }
}

/// Number of samples of a motion.
const SAMPLES: u32 = 400;

/// Whether two shapes meet, which is compared with samples of their distance; `between` bounds its change from one to the
/// next [m].
fn meets_as_sampled(a: &MovingShape, b: &MovingShape, between: f64, trial: usize) -> bool {
    let found = first(a, b);
    let mut manifold = crate::narrow::Manifold::default();
    let mut least = f64::INFINITY;
    for k in 0..=SAMPLES {
        let s = f64::from(k) / f64::from(SAMPLES);
        if found.is_some_and(|found| s > found) {
            break;
        }
        let (X_WA, X_WB) = (a.pose(s), b.pose(s));
        manifold.clear();
        let posed = |shape, X_WS| crate::narrow::PosedShape { shape, X_WS };
        crate::narrow::contacts(posed(a.shape, &X_WA), posed(b.shape, &X_WB), 0.05, &mut manifold);
        let gap = manifold.points().iter().fold(0.05, |least: f64, p| least.min(p.gap));
        least = least.min(gap);
    }
    assert!(least >= -1e-9, "trial {trial}: overlap {least} before {found:?}");
    assert!(
        found.is_none() || least <= between + 2e-6,
        "trial {trial}: {least} apart at {found:?}"
    );
    found.is_some()
}

#[test]
fn links_that_move_and_turn_together_meet_as_if_they_were_at_rest() {
    let mut random = SplitMix64::new(7);
    let cube = Shape::cuboid(Vector3::new(0.1, 0.2, 0.05)).unwrap();
    let capsule = Shape::capsule(0.05, 0.1).unwrap();
    let (mut met, mut passed) = (0, 0);
    for trial in 0..400 {
        // Both follow a mechanism that turns about a point a metre away.
        let (pivot, turn) = (random.vector3(), 0.3 * random.vector3());
        let start = 0.4 * random.vector3().normalize();
        let own = 0.2 * random.vector3() - 0.4 * start;
        let shift = turn.cross(&(start - pivot)) + own;
        let mut a = at(&cube, [0.0; 3], [0.0; 3], turn.into());
        a.motion.centre = pivot;
        let own_turn = 0.1 * random.vector3();
        let b = at(&capsule, start.into(), shift.into(), (turn + own_turn).into());
        // The second order of the turns adds to what they move by themselves.
        let theta = turn.norm();
        let between = own.norm() + own_turn.norm() * 0.2 + 4.0 * theta * theta;
        if meets_as_sampled(&a, &b, between / f64::from(SAMPLES), trial) {
            met += 1;
        } else {
            passed += 1;
        }
    }
    assert!(met > 50 && passed > 50, "{met} {passed}");
}

#[test]
fn meetings_agree_with_a_fine_sampling_of_the_distance() {
    let mut random = SplitMix64::new(5);
    let cube = Shape::cuboid(Vector3::new(0.1, 0.2, 0.05)).unwrap();
    let cylinder = Shape::cylinder(0.1, 0.15).unwrap();
    let points: Vec<_> = (0..30).map(|_| 0.15 * random.vector3().normalize()).collect();
    let hull = Shape::convex(&points).unwrap();
    let capsule = Shape::capsule(0.05, 0.1).unwrap();
    let shapes = [cube, cylinder, hull, capsule];
    let (mut met, mut passed) = (0, 0);
    for trial in 0..400 {
        let (one, two) = (&shapes[trial % 4], &shapes[(trial / 4) % 4]);
        let start = 0.6 * random.vector3().normalize();
        let shift = -1.2 * start + 0.5 * random.vector3();
        let turn = 1.5 * random.vector3();
        let a = at(one, [0.0; 3], [0.0; 3], (0.5 * random.vector3()).into());
        let b = at(two, start.into(), shift.into(), turn.into());
        // Points of either move by at most this between two samples.
        let between = (shift.norm() + turn.norm() * 0.3 + 0.5 * 2.0 * 0.3) / f64::from(SAMPLES);
        if meets_as_sampled(&a, &b, between, trial) {
            met += 1;
        } else {
            passed += 1;
        }
    }
    assert!(met > 50 && passed > 50, "{met} {passed}");
}

#[test]
fn a_ball_meets_a_torus_of_triangles_when_its_centre_is_a_radius_away() {
    let mut random = SplitMix64::new(6);
    let (vertices, triangles) = generate::torus(0.2, 0.05, 16, 8);
    let torus = Shape::mesh(&vertices, &triangles).unwrap();
    let Shape::Mesh(mesh) = &torus else { panic!() };
    let radius = 0.04;
    let ball = Shape::sphere(radius).unwrap();
    let (mut met, mut passed) = (0, 0);
    for trial in 0..200 {
        let start = 0.6 * random.vector3().normalize();
        let shift = -2.0 * start + 0.3 * random.vector3();
        let a = at(&torus, [0.0; 3], [0.0; 3], (0.5 * random.vector3()).into());
        let b = at(&ball, start.into(), shift.into(), [0.0; 3]);
        let gap_at = |s: f64| {
            let p_S = a.pose(s).inverse_transform_point(&(start + s * shift).into()).coords;
            mesh.nearest(&p_S, f64::INFINITY).unwrap().distance - radius
        };
        let found = first(&a, &b);
        let until = found.unwrap_or(1.0);
        let least = (0..=500).map(|k| gap_at(until * f64::from(k) / 500.0)).fold(1.0, f64::min);
        // The centre starts outside, so that the unsigned distance decides; nothing is nearer before the meeting.
        assert!(least >= 0.0, "trial {trial}: {least}");
        if let Some(s) = found {
            met += 1;
            assert!(gap_at(s) <= 1e-6 + 1e-12, "trial {trial}: {}", gap_at(s));
        } else {
            passed += 1;
        }
    }
    assert!(met > 50 && passed > 20, "{met} {passed}");
}
