//! Convex hulls: volume against exact integer arithmetic and closed forms, closedness, convexity, and
//! that every point is inside, down to thin discs, needles and plates.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

use nalgebra::{Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use stiction_geom::shape::Convex;
use stiction_geom::{Shape, ShapeError};
use stiction_math::random::SplitMix64;

/// Number of random clouds of a test, or as many as the environment variable `STICTION_HULL_CLOUDS` says.
fn clouds(ordinary: usize) -> usize {
    let chosen = std::env::var("STICTION_HULL_CLOUDS").ok();
    chosen.map_or(ordinary, |text| text.parse().unwrap())
}

/// Diagonal of the box around the points [m].
fn size(points: &[Vector3<f64>]) -> f64 {
    let low = points.iter().fold(Vector3::repeat(f64::MAX), |low, p| low.inf(p));
    let high = points.iter().fold(Vector3::repeat(f64::MIN), |high, p| high.sup(p));
    (high - low).norm()
}

/// Asserts that a hull is a closed, oriented surface of one piece with convex faces, and that no point lies
/// outside.
fn check(hull: &Convex, points: &[Vector3<f64>], name: &str) {
    // Faces are flat to within 1e-9 of the size; a vertex may be left out within the same distance.
    let tolerance = 1.01e-9 * size(points);
    let at = |k: u32| hull.vertices()[k as usize];
    let mut edges = BTreeSet::new();
    let mut used = BTreeSet::new();
    for k in 0..hull.faces() {
        let (face, normal) = (hull.face_corners(k), hull.face_normal(k));
        let n = face.len();
        assert!(n >= 3, "{name}");
        let middle = face.iter().map(|k| at(*k)).sum::<Vector3<f64>>() / n as f64;
        let outwards = normal.dot(&(middle - hull.centre()));
        assert!(outwards > -tolerance, "{name}: face {k} {outwards}");
        for c in 0..n {
            let [p, q, r] = [c, (c + 1) % n, (c + 2) % n].map(|c| face[c]);
            used.insert(p);
            assert!(edges.insert((p, q)), "{name}: edge {p} {q} twice");
            let (p, q, r) = (at(p), at(q), at(r));
            let off = normal.dot(&(q - p).cross(&(r - p))) / (r - p).norm();
            assert!(off > -tolerance, "{name}: face {k} is not convex: {off}");
        }
    }
    assert!(edges.iter().all(|&(p, q)| edges.contains(&(q, p))), "{name}: not closed");
    let (v, e, f) = (hull.vertices().len(), edges.len() / 2, hull.faces());
    assert_eq!(used.len(), v, "{name}: unused vertices");
    assert_eq!(v + f, e + 2, "{name}: Euler");
    let highest = |n: &Vector3<f64>| n.dot(&hull.support(n));
    let stride = (hull.faces() * points.len() / 200_000).max(1);
    for normal in (0..hull.faces()).step_by(stride).map(|k| hull.face_normal(k)) {
        let most = points.iter().fold(f64::MIN, |most, p| most.max(normal.dot(p)));
        let beyond = most - highest(&normal);
        assert!(beyond <= tolerance, "{name}: a point lies {beyond} m outside");
    }
}

/// Six times the volume of the hull of integer points, exactly: over every supporting plane, the outline of
/// its points makes a cone with the origin.
fn six_volumes(points: &[[i64; 3]]) -> i128 {
    type V = [i128; 3];
    let points: BTreeSet<V> = points.iter().map(|p| p.map(i128::from)).collect();
    let points: Vec<V> = points.into_iter().collect();
    let minus = |a: V, b: V| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross = |a: V, b: V| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: V, b: V| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let n = points.len();
    let (mut planes, mut sum) = (BTreeMap::new(), 0);
    for (i, j, k) in (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| (i, j, k)))) {
        if !(i < j && i < k && j != k) {
            continue;
        }
        let normal = cross(minus(points[j], points[i]), minus(points[k], points[i]));
        if normal == [0; 3] || points.iter().any(|p| dot(normal, minus(*p, points[i])) > 0) {
            continue;
        }
        let on: Vec<usize> =
            (0..n).filter(|&m| dot(normal, minus(points[m], points[i])) == 0).collect();
        planes.insert(on, normal);
    }
    for (on, normal) in planes {
        // Around the plane: from each corner to the next that has no point to the right of it.
        let mut at = on[0];
        loop {
            let mut next = None;
            for &other in &on {
                if other == at {
                    continue;
                }
                let (to, along) = (minus(points[other], points[at]), next);
                let better = along.is_none_or(|best: usize| {
                    let best = minus(points[best], points[at]);
                    let turn = dot(normal, cross(best, to));
                    turn < 0 || (turn == 0 && dot(to, to) > dot(best, best))
                });
                if better {
                    next = Some(other);
                }
            }
            let to = next.unwrap();
            sum += dot(
                points[on[0]],
                cross(minus(points[at], points[on[0]]), minus(points[to], points[on[0]])),
            );
            at = to;
            if at == on[0] {
                break;
            }
        }
    }
    sum
}

/// Extents of a disc, needle, plate or block with ratios down to 1e-5.
fn extents(random: &mut SplitMix64) -> Vector3<f64> {
    let mut small = || random.log_uniform(1e-5, 1.0);
    let (a, b) = (small(), small());
    match random.below(4) {
        0 => Vector3::new(1.0, 1.0, a),
        1 => Vector3::new(1.0, a, a),
        2 => Vector3::new(1.0, a.max(b), a.min(b)),
        _ => Vector3::repeat(1.0),
    }
}

#[test]
fn volumes_of_small_thin_clouds_are_those_of_exact_integers() {
    let mut random = SplitMix64::new(17);
    let grid = f64::from(1_u32 << 30);
    let mut refused = 0;
    let n_clouds = clouds(400);
    for cloud in 0..n_clouds {
        let (extents, turn) = (extents(&mut random), random.rotation());
        let n = 4 + random.below(8);
        let mut points: Vec<[i64; 3]> = Vec::new();
        for _ in 0..n {
            let p = turn * random.vector3().component_mul(&extents) * (0.5 * grid);
            points.push([p.x as i64, p.y as i64, p.z as i64]);
        }
        // Duplicates, and points between two or three others, off their line or plane by rounding.
        for _ in 0..random.below(4) {
            let [a, b, c] = [0; 3].map(|_| points[random.below(points.len())]);
            let between = |parts: [[i64; 3]; 2]| [0, 1, 2].map(|k| (parts[0][k] + parts[1][k]) / 2);
            points.push([a, between([a, b]), between([between([a, b]), c])][random.below(3)]);
        }
        let cloud_points: Vec<_> =
            points.iter().map(|p| Vector3::from(p.map(|x| x as f64)) / grid).collect();
        let exact = six_volumes(&points) as f64 / 6.0 / grid.powi(3);
        match Convex::hull(&cloud_points) {
            Ok(hull) => {
                // The surface passes through the points. Rounding of 2⁻⁵³ of the size is a part of
                // 1e-11 of the thickness; the sum is as exact as the thickness.
                let volume = hull.mass_properties(1.0).0;
                assert!((volume / exact - 1.0).abs() < 1e-6, "cloud {cloud}: {volume} {exact}");
                check(&hull, &cloud_points, &format!("cloud {cloud}"));
            }
            // Random points can be flatter than their box.
            Err(ShapeError::Flat { thickness, expected, .. }) => {
                assert!(thickness <= expected);
                // All points lie within the thickness of a plane through three of them.
                let area = 2.0 * size(&cloud_points).powi(2) * 3.0;
                assert!(exact <= 2.0 * thickness * area, "cloud {cloud}: {exact} {thickness}");
                refused += 1;
            }
            Err(error) => panic!("cloud {cloud}: {error}"),
        }
    }
    assert!(refused * 20 <= n_clouds, "{refused} of {n_clouds} refused");
}

/// Corners and volume of a box, prism, tetrahedron or bipyramid that fills the box [−1, 1]³ about halfway.
fn solid(random: &mut SplitMix64) -> (Vec<Vector3<f64>>, f64) {
    let n = 3 + random.below(40);
    let angle = std::f64::consts::TAU / n as f64;
    let ring = |z: f64| {
        (0..n).map(move |k| Vector3::new((k as f64 * angle).cos(), (k as f64 * angle).sin(), z))
    };
    let polygon = 0.5 * n as f64 * angle.sin();
    match random.below(4) {
        0 => {
            let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
            let corner = |k: usize| Vector3::new(sign(k & 1), sign(k & 2), sign(k & 4));
            ((0..8).map(corner).collect(), 8.0)
        }
        1 => (ring(-1.0).chain(ring(1.0)).collect(), 2.0 * polygon),
        2 => {
            let corners =
                [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]];
            (corners.map(Vector3::from).to_vec(), 8.0 / 3.0)
        }
        _ => (ring(0.0).chain([Vector3::z(), -Vector3::z()]).collect(), 2.0 / 3.0 * polygon),
    }
}

#[test]
fn thin_solids_with_points_on_their_faces_and_inside_have_their_closed_form_volume() {
    let mut random = SplitMix64::new(23);
    for cloud in 0..clouds(400) {
        let (corners, volume) = solid(&mut random);
        let (extents, turn) = (0.5 * extents(&mut random), random.rotation());
        let unit = random.log_uniform(1e-3, 1e3);
        let offset = unit * random.vector3();
        let place = |p: Vector3<f64>| offset + unit * (turn * p.component_mul(&extents));
        let mut points: Vec<_> = corners.iter().map(|p| place(*p)).collect();
        let n_extra = [0, 3, 50, 400][random.below(4)];
        for _ in 0..n_extra {
            // On an edge, in a triangle of corners (often a face), inside, or a duplicate.
            let count = 1 + random.below(4);
            let weights: Vec<f64> = (0..count).map(|_| random.unit() + 1e-3).collect();
            let sum: f64 = weights.iter().sum();
            let at = weights.iter().map(|w| w / sum * corners[random.below(corners.len())]);
            points.push(place(at.sum()));
        }
        for k in (1..points.len()).rev() {
            points.swap(k, random.below(k + 1));
        }
        let hull = Convex::hull(&points).unwrap_or_else(|error| panic!("cloud {cloud}: {error}"));
        let exact = volume * extents.product() * unit.powi(3);
        let found = hull.mass_properties(1.0).0;
        // Coordinates up to twice the size, rounded to 2⁻⁵³ of it after a few operations: a part of 1e-10
        // of the least half extent, 5e-6 of the size.
        assert!((found / exact - 1.0).abs() < 1e-6, "cloud {cloud}: {found} {exact}");
        check(&hull, &points, &format!("cloud {cloud}"));
    }
}

#[test]
fn six_points_of_a_thin_hull_have_the_mass_of_their_exact_volume() {
    // In units of 1e-5 m.
    let points = [
        [-43158, 8799, -32],
        [-24613, 39994, 9],
        [-25612, 19902, 50],
        [39759, 29882, -17],
        [8311, 8499, -41],
        [19269, 2111, 2],
    ];
    let exact = six_volumes(&points) as f64 / 6.0 * 1e-15;
    let metres: Vec<_> = points.iter().map(|p| Vector3::from(p.map(|x| x as f64 * 1e-5))).collect();
    let mass = Shape::convex(&metres).unwrap().mass_properties(1000.0).0;
    // Decimals are rounded to 1e-16 of the size, 1e-3 of which is the thickness.
    assert!((mass / (1000.0 * exact) - 1.0).abs() < 1e-12, "{mass} {exact}");
    assert!((mass - 0.06196).abs() < 5e-6, "{mass}");
}

#[test]
fn duplicated_points_and_a_thin_plate_are_solids() {
    let sign = |bit: usize| if bit == 0 { -0.5 } else { 0.5 };
    let corner = |k: usize| Vector3::new(2.0 * sign(k & 1), 2.0 * sign(k & 2), 1e-3 * sign(k & 4));
    let plate: Vec<_> = (0..8).map(corner).collect();
    let hull = Convex::hull(&[&plate[..], &plate[..], &plate[..]].concat()).unwrap();
    assert_eq!((hull.vertices().len(), hull.faces()), (8, 6));
    let (mass, com, inertia) = hull.mass_properties(1.0);
    let (box_mass, _, box_inertia) =
        Shape::cuboid(Vector3::new(1.0, 1.0, 5e-4)).unwrap().mass_properties(1.0);
    assert!((mass / box_mass - 1.0).abs() < 1e-12 && com.norm() < 1e-14);
    assert!((inertia - box_inertia).norm() < 1e-12 * box_inertia.norm());
}

#[test]
fn the_inertia_of_a_thin_box_is_that_of_the_box_in_every_orientation() {
    let mut random = SplitMix64::new(29);
    for _ in 0..clouds(200) {
        let (half, turn) = (0.5 * extents(&mut random), random.rotation());
        let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
        let corner = |k: usize| Vector3::new(sign(k & 1), sign(k & 2), sign(k & 4));
        let points: Vec<_> = (0..8).map(|k| turn * corner(k).component_mul(&half)).collect();
        let (_, com, inertia) = Convex::hull(&points).unwrap().mass_properties(1.0);
        let (_, _, expected) = Shape::cuboid(half).unwrap().mass_properties(1.0);
        let R: Matrix3<f64> = turn.to_rotation_matrix().into_inner();
        let expected = R * expected * R.transpose();
        // Relative to the thickness, coordinates are rounded to 1e-10.
        assert!((inertia - expected).norm() < 1e-9 * expected.norm(), "{half:?}");
        assert!(com.norm() < 1e-9);
    }
}

#[test]
fn a_sheet_thinner_than_round_off_is_refused_with_its_thickness() {
    let mut random = SplitMix64::new(31);
    let turn = random.rotation();
    let flat: Vec<_> = (0..50)
        .map(|_| turn * random.vector3().component_mul(&Vector3::new(1.0, 1.0, 0.0)))
        .collect();
    let Err(ShapeError::Flat { vertices, thickness, expected, .. }) = Convex::hull(&flat) else {
        panic!("expected no hull");
    };
    // Rounding in double precision; the limit is that of single precision over a size between 1 and 3.
    assert!(vertices == 50 && thickness < 1e-15, "{thickness}");
    assert!((1e-7..4e-7).contains(&expected), "{expected}");
    let line: Vec<_> = (0..9).map(|k| turn * (f64::from(k) * Vector3::x())).collect();
    assert!(matches!(Convex::hull(&line), Err(ShapeError::Flat { .. })));
    assert!(matches!(Convex::hull(&[flat[0]; 7]), Err(ShapeError::Flat { thickness: 0.0, .. })));
    let thick: Vec<_> =
        flat.iter().flat_map(|p| [-1e-6, 1e-6].map(|z| p + z * (turn * Vector3::z()))).collect();
    check(&Convex::hull(&thick).unwrap(), &thick, "thicker than the limit");
}

#[test]
fn large_clouds_have_hulls_with_their_volume() {
    let mut random = SplitMix64::new(37);
    // A ball: the polyhedron of n random points on it lies inside and misses less than 100/n of it.
    for n in [1_000, 20_000] {
        let points: Vec<_> = (0..n).map(|_| random.direction()).collect();
        let hull = Convex::hull(&points).unwrap();
        assert_eq!(hull.vertices().len(), n);
        let missing = 1.0 - hull.mass_properties(1.0).0 / (4.0 / 3.0 * std::f64::consts::PI);
        assert!(missing > 0.0 && missing < 100.0 / n as f64, "{missing}");
        check(&hull, &points, "ball");
    }
    // A turned cube with many points inside and on its faces, where rounding puts them on either side.
    let turn = random.rotation();
    let points: Vec<_> = (0..100_000)
        .map(|k| {
            let mut p = random.vector3();
            if k < 8 {
                p = Vector3::from_fn(|axis, _| if k >> axis & 1 == 0 { -1.0 } else { 1.0 });
            } else if k % 2 == 0 {
                p[k % 3] = p[k % 3].signum();
            }
            turn * p
        })
        .collect();
    let hull = Convex::hull(&points).unwrap();
    assert_eq!((hull.vertices().len(), hull.faces()), (8, 6));
    assert!((hull.mass_properties(1.0).0 / 8.0 - 1.0).abs() < 1e-13);
}
