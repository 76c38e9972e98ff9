use super::super::generate;
use super::*;
use std::f64::consts::PI;

fn mesh((vertices, triangles): generate::TriangleSoup) -> Mesh {
    Mesh::build(&vertices, &triangles).unwrap()
}

/// A low-discrepancy walk through the cube of half edge `size`.
fn walk(k: usize, size: f64) -> Vector3<f64> {
    let t = k as f64 + 0.5;
    let f = |a: f64| size * (2.0 * (a * t).fract() - 1.0);
    Vector3::new(f(0.819172513), f(0.671043606), f(0.549700477))
}

#[test]
fn a_box_has_the_moments_of_a_box_wherever_it_lies() {
    let half = Vector3::new(0.3, 0.2, 0.5);
    let shift = Vector3::new(10.0, -20.0, 5.0);
    let (mut vertices, triangles) = generate::cuboid(half);
    vertices.iter_mut().for_each(|p| *p += shift);
    let m = Mesh::build(&vertices, &triangles).unwrap().moments().unwrap();
    let volume = 8.0 * half.x * half.y * half.z;
    // Twelve terms of order one, each exact to a few roundings of coordinates near 20.
    let tolerance = 1e-13;
    assert!((m.volume - volume).abs() < tolerance);
    assert!((m.centroid - shift).norm() < tolerance);
    let square = half.component_mul(&half);
    let exact = Matrix3::from_diagonal(&square.map(|s| volume * (square.sum() - s) / 3.0));
    assert!((m.inertia() - exact).norm() < tolerance);
}

#[test]
fn a_tetrahedron_has_its_textbook_moments() {
    // Corner tetrahedron with legs a: V = a³/6, centroid a/4, ∫x² = a⁵/60, ∫xy = a⁵/120 about the corner.
    let a = 1.7_f64;
    let points = [Vector3::zeros(), Vector3::x() * a, Vector3::y() * a, Vector3::z() * a];
    // Two faces are given the wrong way round: building must turn them.
    let mesh = Mesh::build(&points, &[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]).unwrap();
    assert!(mesh.is_closed());
    let m = mesh.moments().unwrap();
    let volume = a.powi(3) / 6.0;
    assert!((m.volume - volume).abs() < 1e-14);
    assert!((m.centroid - Vector3::repeat(0.25 * a)).norm() < 1e-14);
    let about_corner = |i: usize, j: usize| a.powi(5) / if i == j { 60.0 } else { 120.0 };
    let exact = Matrix3::from_fn(|i, j| about_corner(i, j) - volume * a * a / 16.0);
    assert!((m.second - exact).norm() < 1e-14);
}

#[test]
fn icospheres_approach_the_sphere_with_the_square_of_the_edge_length() {
    let radius = 0.8;
    let error = |levels| {
        let m = mesh(generate::icosphere(radius, levels)).moments().unwrap();
        let volume = 4.0 / 3.0 * PI * radius.powi(3);
        let inertia = 0.4 * volume * radius * radius;
        ((m.volume - volume).abs() / volume, (m.inertia()[(0, 0)] - inertia).abs() / inertia)
    };
    let (coarse, fine) = (error(3), error(4));
    // Halving the edge quarters the error; the next term is a factor h² ≈ 0.02 smaller.
    for (c, f) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
        assert!((c / f - 4.0).abs() < 0.1, "{c} {f}");
    }
}

#[test]
fn meshes_turned_inside_out_are_turned_back_and_cavities_stay() {
    let (mut vertices, triangles) = generate::cuboid(Vector3::repeat(1.0));
    let inward: Vec<_> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!(Mesh::build(&vertices, &inward).unwrap().moments().unwrap().volume > 0.0);
    let n = vertices.len() as u32;
    let inner: Vec<_> = vertices.iter().map(|p| p * 0.5).collect();
    vertices.extend(inner);
    let mut hollow = triangles.clone();
    hollow.extend(inward.iter().map(|t| t.map(|v| v + n)));
    let hollow = Mesh::build(&vertices, &hollow).unwrap();
    assert!((hollow.moments().unwrap().volume - 7.0).abs() < 1e-14);
    assert!(!hollow.contains(&Vector3::zeros()) && hollow.contains(&Vector3::new(0.75, 0.0, 0.0)));
}

#[test]
fn invalid_meshes_are_rejected_with_the_index() {
    let (mut vertices, mut triangles) = generate::cuboid(Vector3::repeat(1.0));
    triangles[3][1] = 99;
    assert!(matches!(
        Mesh::build(&vertices, &triangles),
        Err(ShapeError::Index { face: 3, found: 99, vertices: 8, .. })
    ));
    triangles.truncate(3);
    vertices[5].y = f64::NAN;
    assert!(matches!(Mesh::build(&vertices, &triangles), Err(ShapeError::Vertex { index: 5, .. })));
    vertices[5].y = 0.0;
    assert!(matches!(Mesh::build(&vertices, &[[1, 1, 2]]), Err(ShapeError::TooFew { .. })));
    let open = mesh(generate::grid((1.0, 1.0), (2, 2)));
    assert!(!open.is_closed());
    assert!(matches!(open.moments(), Err(ShapeError::Open { borders: 8, .. })));
}

#[test]
fn equal_vertices_are_welded_and_needles_dropped() {
    let (vertices, triangles) = generate::cuboid(Vector3::repeat(1.0));
    // A soup: every triangle with corners of its own, as in STL files.
    let points: Vec<_> = triangles.iter().flatten().map(|&v| vertices[v as usize]).collect();
    let mut soup: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    soup.push([0, 1, 1]);
    let mesh = Mesh::build(&points, &soup).unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len(), mesh.dropped()), (8, 12, 1));
    assert!(mesh.is_closed());
    // The diagonals of the faces are flat, so there are six patches.
    let patches: std::collections::BTreeSet<_> = (0..12).map(|t| mesh.patch(t)).collect();
    assert_eq!(patches.len(), 6);
    let convex = mesh.edges().iter().filter(|e| e.convexity == EdgeConvexity::Convex).count();
    assert_eq!(convex, 12);
}

#[test]
fn the_nearest_point_equals_that_of_all_triangles() {
    let mesh = mesh(generate::torus(1.0, 0.3, 24, 12));
    for k in 0..300 {
        let p = walk(k, 1.6);
        let found = mesh.nearest(&p, f64::INFINITY).unwrap();
        let all = (0..mesh.triangles().len() as u32).map(|t| {
            let [a, b, c] = mesh.corners(t);
            (p - triangle::nearest(&p, &a, &b, &c).0).norm()
        });
        // The same arithmetic on the same triangle: equal to the last bit but for the square root.
        assert!((found.distance - all.fold(f64::INFINITY, f64::min)).abs() < 1e-15);
        assert!(mesh.nearest(&p, 0.99 * found.distance).is_none());
    }
}

#[test]
fn the_hole_of_a_torus_is_outside_and_its_tube_inside() {
    let (major, minor, around, across) = (1.0_f64, 0.3_f64, 48, 24);
    let mesh = mesh(generate::torus(major, minor, around, across));
    // Facets deviate by at most the sagittas of both circles (inwards outside, outwards at the hole).
    let sagitta = |r: f64, n: u32| r * (1.0 - (PI / f64::from(n)).cos());
    let tolerance = sagitta(major + minor, around) + sagitta(minor, across);
    for k in 0..500 {
        let p = walk(k, 1.5);
        let exact = (p.xy().norm() - major).hypot(p.z) - minor;
        let found = mesh.signed_distance(&p, f64::INFINITY).unwrap();
        assert!((found.distance - exact).abs() <= tolerance, "{p}");
        assert!((found.gradient.norm() - 1.0).abs() < 1e-12);
    }
    assert!(!mesh.contains(&Vector3::zeros()) && mesh.contains(&Vector3::new(0.0, major, 0.0)));
}

#[test]
fn the_sign_is_right_where_the_nearest_point_is_a_corner_or_an_edge() {
    // A box's corners and edges are nearest from outside; a notch's from inside.
    let half = Vector3::new(0.4, 0.7, 0.2);
    let mesh = mesh(generate::cuboid(half));
    for k in 0..500 {
        let p = walk(k, 1.0);
        let beyond = p.abs() - half;
        let exact = beyond.sup(&Vector3::zeros()).norm() + beyond.max().min(0.0);
        let found = mesh.signed_distance(&p, f64::INFINITY).unwrap();
        assert!((found.distance - exact).abs() < 1e-14, "{p} {exact} {}", found.distance);
    }
}

#[test]
fn rays_meet_the_first_wall() {
    let mesh = mesh(generate::cuboid(Vector3::repeat(0.5)));
    let (down, start) = (-Vector3::z(), Vector3::new(0.1, 0.2, 2.0));
    let (distance, triangle) = mesh.cast(&start, &down, 10.0).unwrap();
    assert!((distance - 1.5).abs() < 1e-14);
    assert_eq!(mesh.normal(triangle), Vector3::z());
    assert!(mesh.cast(&start, &down, 1.0).is_none() && mesh.cast(&start, &-down, 9.0).is_none());
}

#[test]
fn a_dish_is_a_closed_shell_of_the_volume_of_its_wall() {
    let (radius, depth, thickness) = (0.1_f64, 0.03_f64, 0.004_f64);
    let mesh = mesh(generate::dish(radius, depth, thickness, 96));
    let m = mesh.moments().unwrap();
    // Wall between two spheres within the opening angle α, plus the half torus of the rim (Pappus).
    let rho = 0.5 * (radius * radius + depth * depth) / depth;
    let alpha = radius.atan2(rho - depth);
    let wall = 2.0 * PI / 3.0 * (1.0 - alpha.cos()) * ((rho + thickness).powi(3) - rho.powi(3));
    let rim_area = 0.5 * PI * (0.5 * thickness).powi(2);
    let arm =
        (rho + 0.5 * thickness) * alpha.sin() + alpha.cos() * 4.0 * (0.5 * thickness) / (3.0 * PI);
    let exact = wall + 2.0 * PI * arm * rim_area;
    // Facets cut off sagittas: relative (π/96)²/2 around, and as much along the coarse rim.
    assert!((m.volume / exact - 1.0).abs() < 0.02, "{} {exact}", m.volume);
    assert!(m.centroid.xy().norm() < 1e-12);
    assert!(!mesh.contains(&Vector3::new(0.0, 0.0, 0.5 * depth)));
    assert!(mesh.contains(&Vector3::new(0.0, 0.0, -0.5 * thickness)));
}
