//! Contacts of convex shapes and meshes with surfaces of triangles against exhaustive search: none false, none
//! missed, none of wrong sign.
//!
//! Random poses with one point of the shape between 20 mm inside and 20 mm outside of a random point of the
//! surface. `STICTION_POSES` sets the number of poses of each pair of shapes.
#![allow(non_snake_case, clippy::unwrap_used, clippy::panic)]

mod oracle;

use nalgebra::{Isometry3, Point3, Vector3};
use oracle::{Body, Cylinder, Soup};
use std::f64::consts::TAU;
use stiction_geom::Shape;
use stiction_geom::narrow::{self, Manifold, ManifoldPoint, PosedShape};
use stiction_geom::shape::generate::{self, TriangleSoup};
use stiction_math::random::SplitMix64;

/// Distance within which contacts are reported [m].
const REACH: f64 = 0.01;
/// Tolerance of gaps [m]: the contacts are complete up to 1e-9 of the size of the shape's bounding box with
/// the reach around it, which is below 0.5 m for all shapes here; the searches end at 1e-10 of a length of
/// 0.1 m; rounding errors of positions are below 1e-15 m.
const TOLERANCE: f64 = 1e-9;
/// Distances above this one need not be known [m]: contacts at larger ones are not judged.
const MOST: f64 = 1.1 * REACH;

/// Poses of each pair.
fn poses() -> usize {
    std::env::var("STICTION_POSES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

/// A solid of revolution about z with this closed profile of (radius, height) [m]; points on the axis are
/// poles.
fn revolved(profile: &[(f64, f64)], segments: u32) -> TriangleSoup {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for k in 0..segments {
        let (sin, cos) = (TAU * f64::from(k) / f64::from(segments)).sin_cos();
        vertices.extend(profile.iter().map(|&(r, z)| Vector3::new(r * cos, r * sin, z)));
    }
    let n = profile.len() as u32;
    for k in 0..segments {
        for i in 0..n {
            let at = |k: u32, i: u32| k % segments * n + i % n;
            let (a, b, c, d) = (at(k, i), at(k + 1, i), at(k + 1, i + 1), at(k, i + 1));
            // Triangles without area are dropped by the mesh.
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

/// A surface with the soup that the oracle searches.
struct Surface {
    name: &'static str,
    shape: Shape,
    soup: Soup,
    /// Whether the ground below the triangles is solid.
    ground: bool,
}

fn solid(name: &'static str, (vertices, triangles): TriangleSoup) -> Surface {
    let shape = Shape::mesh(&vertices, &triangles).unwrap();
    let Shape::Mesh(mesh) = &shape else { panic!() };
    assert!(mesh.is_closed(), "{name}");
    // The mesh's own triangles: without those of no area.
    let soup = Soup::of(mesh.vertices(), mesh.triangles(), true);
    Surface { name, shape, soup, ground: false }
}

fn hills(x: f64, y: f64) -> f64 {
    0.03 * (25.0 * x).sin() * (20.0 * y + 1.0).cos()
}

fn surfaces() -> Vec<Surface> {
    let cup = [(0.0, 0.0), (0.04, 0.0), (0.04, 0.08), (0.036, 0.08), (0.036, 0.004), (0.0, 0.004)];
    let tube = [(0.03, 0.0), (0.03, 0.2), (0.025, 0.2), (0.025, 0.0)];
    let (vertices, triangles) = generate::sheet((0.4, 0.4), (16, 16), hills);
    let heights = vertices.iter().map(|p| p.z).collect();
    let soup = Soup::of(&vertices, &triangles, false);
    let field = Shape::height_field(17, 17, heights, (0.4, 0.4)).unwrap();
    let sheet = Shape::mesh(&vertices, &triangles).unwrap();
    vec![
        solid("torus", generate::torus(0.1, 0.02, 32, 16)),
        solid("cup", revolved(&cup, 24)),
        solid("tube", revolved(&tube, 20)),
        solid("bowl", generate::dish(0.1, 0.03, 0.004, 32)),
        Surface { name: "open terrain", shape: sheet, soup: soup.clone(), ground: false },
        Surface { name: "height field", shape: field, soup, ground: true },
    ]
}

impl Surface {
    /// Whether a point lies below the ground, by the triangle above it.
    fn buries(&self, p: &Vector3<f64>) -> bool {
        self.soup.triangles.iter().any(|[a, b, c]| {
            let left = |from: &Vector3<f64>, to: &Vector3<f64>| {
                (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x) >= 0.0
            };
            let over = left(a, b) && left(b, c) && left(c, a);
            over && (b - a).cross(&(c - a)).dot(&(p - a)) < 0.0
        })
    }

    /// A random point with its normal.
    fn point(&self, random: &mut SplitMix64) -> (Vector3<f64>, Vector3<f64>) {
        let t = self.soup.triangles[random.below(self.soup.triangles.len())];
        let n = (t[1] - t[0]).cross(&(t[2] - t[0])).normalize();
        // Half of the points lie on a side of the triangle, some of them at a corner.
        let (mut u, mut v) = (random.unit(), random.unit());
        match random.below(4) {
            0 => v = 0.0,
            1 => (u, v) = (0.0, 0.0),
            _ => {}
        }
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        (t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v, n)
    }
}

/// The farthest point of a body along a direction [m].
fn farthest(shape: &Shape, body: &Body, dir: &Vector3<f64>) -> Vector3<f64> {
    if let (None, Body::Polyhedron(soup)) = (shape.support(dir), body) {
        let corners = soup.triangles.iter().flatten();
        return *corners.max_by(|p, q| p.dot(dir).total_cmp(&q.dot(dir))).unwrap();
    }
    shape.support(dir).unwrap()
}

fn contacts(
    surface: &Shape,
    shape: &Shape,
    X_BA: &Isometry3<f64>,
    flip: bool,
) -> Vec<ManifoldPoint> {
    let home = Isometry3::identity();
    let (a, b) = (PosedShape { shape: surface, X_WS: &home }, PosedShape { shape, X_WS: X_BA });
    let mut manifold = Manifold::default();
    if flip {
        narrow::contacts(b, a, REACH, &mut manifold);
        manifold.flip(0);
    } else {
        narrow::contacts(a, b, REACH, &mut manifold);
    }
    manifold.points().to_vec()
}

/// Counts of one pair.
#[derive(Debug, Default)]
struct Tally {
    apart: usize,
    intersecting: usize,
    false_gap: usize,
    missed: usize,
    false_depth: usize,
    no_depth: usize,
    off_surface: usize,
}

impl Tally {
    fn violations(&self) -> usize {
        self.false_gap + self.missed + self.false_depth + self.no_depth + self.off_surface
    }
}

/// Compares the contacts of one pose with the truth.
fn check(
    surface: &Surface,
    (shape, body): (&Shape, &Body),
    X_BA: &Isometry3<f64>,
    pose: usize,
    tally: &mut Tally,
) {
    let truth = body.gap(X_BA, &surface.soup, MOST);
    let buried = || match body {
        Body::Polyhedron(own) if !shape.is_convex() => {
            let mut corners = own.triangles.iter().flatten();
            corners.any(|p| surface.buries(&(X_BA * Point3::from(*p)).coords))
        }
        _ => surface.buries(&X_BA.translation.vector),
    };
    let intersects = truth < 0.0 || surface.ground && buried();
    let found = contacts(&surface.shape, shape, X_BA, pose % 2 == 1);
    let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
    let before = tally.violations();
    if intersects {
        tally.intersecting += 1;
        // A depth below the tolerance may be reported as a gap below it.
        tally.no_depth += usize::from(least > TOLERANCE);
    } else {
        tally.apart += 1;
        tally.false_depth += usize::from(least < -TOLERANCE && truth > TOLERANCE);
        tally.false_gap += usize::from(least >= -TOLERANCE && least < truth - TOLERANCE);
        tally.missed += usize::from(truth < REACH - TOLERANCE && least > truth + TOLERANCE);
        if pose.is_multiple_of(8) {
            // Both ends of every gap lie in the shapes.
            let off = |t: &ManifoldPoint| {
                let half = t.normal * (0.5 * t.gap);
                let beyond_A = body.excess(X_BA, &(t.point + half), MOST);
                beyond_A.max(surface.soup.distance(&(t.point - half), MOST)) > TOLERANCE
            };
            tally.off_surface += found.iter().filter(|t| off(t)).count();
        }
    }
    if tally.violations() > before && before < 3 {
        let (q, p) = (X_BA.rotation.coords, X_BA.translation.vector);
        println!(
            "{} on {}, pose {pose}: truth {truth:.3e} intersects {intersects}, found {least:.3e}; \
             [{:?}, {:?}, {:?}], [{:?}, {:?}, {:?}, {:?}] {:?}",
            shape.name(),
            surface.name,
            p.x,
            p.y,
            p.z,
            q.x,
            q.y,
            q.z,
            q.w,
            found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)),
        );
    }
}

fn compare(name: &str, shape: &Shape, body: &Body) {
    let mut violations = 0;
    for (index, surface) in surfaces().iter().enumerate() {
        let mut random = SplitMix64::new(11 + index as u64);
        let mut tally = Tally::default();
        for pose in 0..poses() {
            let (place, outward) = surface.point(&mut random);
            let normal = (outward + 0.5 * random.vector3()).normalize();
            let rotation = random.rotation();
            let low = rotation * farthest(shape, body, &(rotation.inverse() * -normal));
            let gap = random.uniform(-0.02, 0.02);
            let p_BA = place + normal * gap - low;
            let X_BA = Isometry3::from_parts(p_BA.into(), rotation);
            check(surface, (shape, body), &X_BA, pose, &mut tally);
        }
        println!("{name} on {}: {tally:?}", surface.name);
        // The comparison is of use only if poses of both kinds occur.
        assert!(tally.apart * 20 > poses() && tally.intersecting * 20 > poses(), "{tally:?}");
        violations += tally.violations();
    }
    assert_eq!(violations, 0);
}

/// A convex polyhedron, with the soup of its faces cut into triangles.
fn polyhedron(points: &[Vector3<f64>]) -> (Shape, Body) {
    let shape = Shape::convex(points).unwrap();
    let Shape::Convex(hull) = &shape else { panic!() };
    let corner = |v: u32| hull.vertices()[v as usize];
    let faces = (0..hull.faces()).flat_map(|k| {
        let face = hull.face_corners(k);
        face[1..].windows(2).map(|pair| [corner(face[0]), corner(pair[0]), corner(pair[1])])
    });
    let body = Body::Polyhedron(Soup::new(faces.collect(), true));
    (shape, body)
}

fn cuboid(half: Vector3<f64>) -> (Shape, Body) {
    let (vertices, triangles) = generate::cuboid(half);
    (Shape::cuboid(half).unwrap(), Body::Polyhedron(Soup::of(&vertices, &triangles, true)))
}

#[test]
fn boxes_touch_surfaces_where_exhaustive_search_says() {
    let (shape, body) = cuboid(Vector3::new(0.03, 0.02, 0.04));
    compare("box", &shape, &body);
}

#[test]
fn plates_touch_surfaces_where_exhaustive_search_says() {
    let (shape, body) = cuboid(Vector3::new(0.15, 0.15, 0.01));
    compare("plate", &shape, &body);
}

#[test]
fn cylinders_touch_surfaces_where_exhaustive_search_says() {
    let (radius, half_length) = (0.02, 0.05);
    let shape = Shape::cylinder(radius, half_length).unwrap();
    compare("cylinder", &shape, &Body::Cylinder(Cylinder { radius, half_length }));
}

#[test]
fn capsules_touch_surfaces_where_exhaustive_search_says() {
    let (radius, half_length) = (0.015, 0.04);
    let shape = Shape::capsule(radius, half_length).unwrap();
    compare("capsule", &shape, &Body::Capsule { radius, half_length });
}

#[test]
fn spheres_touch_surfaces_where_exhaustive_search_says() {
    let shape = Shape::sphere(0.02).unwrap();
    compare("sphere", &shape, &Body::Sphere { radius: 0.02 });
}

#[test]
fn convex_hulls_touch_surfaces_where_exhaustive_search_says() {
    let mut random = SplitMix64::new(5);
    let size = Vector3::new(0.04, 0.03, 0.05);
    let points: Vec<_> = (0..24).map(|_| random.direction().component_mul(&size)).collect();
    let (shape, body) = polyhedron(&points);
    compare("convex hull", &shape, &body);
}

#[test]
fn meshes_touch_surfaces_where_exhaustive_search_says() {
    let (vertices, triangles) = generate::torus(0.05, 0.015, 12, 8);
    let shape = Shape::mesh(&vertices, &triangles).unwrap();
    compare("mesh", &shape, &Body::Polyhedron(Soup::of(&vertices, &triangles, true)));
}
