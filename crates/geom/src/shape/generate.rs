//! Triangle meshes of simple solids and sheets, by formula: boxes, spheres, tori, grids, dishes.
//!
//! Each function returns vertices [m] and triangles, counter-clockwise seen from outside, ready for
//! [`crate::shape::Mesh::build`]. Solids of revolution are about the z-axis.

use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

/// Vertices [m] and triangles without adjacency.
pub type TriangleSoup = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

/// A box with the half extents `half` [m] about the origin.
pub fn cuboid(half: Vector3<f64>) -> TriangleSoup {
    let sign = |bit: u32| if bit == 0 { -1.0 } else { 1.0 };
    let corner = |i: u32| Vector3::new(sign(i & 1), sign(i & 2), sign(i & 4)).component_mul(&half);
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    ((0..8).map(corner).collect(), triangles)
}

/// A sphere of `radius` [m] about the origin: an icosahedron whose faces are quartered `levels` times,
/// all vertices on the sphere.
pub fn icosphere(radius: f64, levels: u32) -> TriangleSoup {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut vertices = Vec::new();
    for (s, t) in [(-1.0, -golden), (-1.0, golden), (1.0, -golden), (1.0, golden)] {
        vertices.extend([
            Vector3::new(s, t, 0.0).normalize(),
            Vector3::new(0.0, s, t).normalize(),
            Vector3::new(t, 0.0, s).normalize(),
        ]);
    }
    // The faces of the icosahedron: triples of vertices at the edge length from one another.
    let edge = 2.0 / (golden * golden + 1.0).sqrt();
    let near = |a: usize, b: usize| ((vertices[a] - vertices[b]).norm() - edge).abs() < 0.1 * edge;
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let outward = vertices[a].dot(&vertices[b].cross(&vertices[c])) > 0.0;
                    let (b, c) = if outward { (b, c) } else { (c, b) };
                    triangles.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    for _ in 0..levels {
        let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for &[a, b, c] in &triangles {
            let mut middle = |p: u32, q: u32| {
                *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    vertices.push((vertices[p as usize] + vertices[q as usize]).normalize());
                    vertices.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    vertices.iter_mut().for_each(|p| *p *= radius);
    (vertices, triangles)
}

/// A torus about the z-axis: circles of `minor` radius [m] around a circle of `major` radius [m].
pub fn torus(major: f64, minor: f64, around: u32, across: u32) -> TriangleSoup {
    let profile: Vec<(f64, f64)> = (0..across)
        .map(|j| TAU * f64::from(j) / f64::from(across))
        .map(|angle| (major + minor * angle.cos(), minor * angle.sin()))
        .collect();
    revolve(&profile, true, around)
}

/// A flat sheet in the plane z = 0 about the origin, facing +z: `size` [m] along x and y, cut into
/// `cells` rectangles of two triangles each along x and y.
pub fn grid(size: (f64, f64), cells: (u32, u32)) -> TriangleSoup {
    sheet(size, cells, |_, _| 0.0)
}

/// The graph z = `height`(x, y) [m] over a rectangle about the origin, facing +z.
pub fn sheet(
    size: (f64, f64),
    cells: (u32, u32),
    height: impl Fn(f64, f64) -> f64,
) -> TriangleSoup {
    let place = |i: u32, n: u32, size: f64| size * (f64::from(i) / f64::from(n) - 0.5);
    let mut vertices = Vec::new();
    for j in 0..=cells.1 {
        for i in 0..=cells.0 {
            let (x, y) = (place(i, cells.0, size.0), place(j, cells.1, size.1));
            vertices.push(Vector3::new(x, y, height(x, y)));
        }
    }
    let mut triangles = Vec::new();
    for j in 0..cells.1 {
        for i in 0..cells.0 {
            let a = j * (cells.0 + 1) + i;
            let (b, c, d) = (a + 1, a + cells.0 + 2, a + cells.0 + 1);
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

/// A dish: a spherical cap of rim `radius` and `depth` [m], a wall of even `thickness` [m] below it,
/// and a rounded rim. The inner bottom touches the origin, the opening faces +z, the rim is at
/// z = `depth`. `segments` triangles span the full circle; the profile is cut as finely.
pub fn dish(radius: f64, depth: f64, thickness: f64, segments: u32) -> TriangleSoup {
    // Both walls are spheres about one centre on the axis: ρ = (radius² + depth²)/(2 depth) inside.
    let inner = 0.5 * (radius * radius + depth * depth) / depth;
    let centre = inner;
    let opening = radius.atan2(centre - depth);
    let length = TAU * radius / f64::from(segments);
    let cuts = ((inner * opening / length).ceil() as u32).max(2);
    let rim_cuts = ((0.5 * PI * thickness / length).ceil() as u32).clamp(2, 16);
    let on = |rho: f64, angle: f64| (rho * angle.sin(), centre - rho * angle.cos());
    let mut profile = Vec::new();
    // Counter-clockwise in the half plane (r, z): along the outside from the pole to the rim, around the
    // rim, back along the inside to the pole.
    for i in 0..=cuts {
        profile.push(on(inner + thickness, opening * f64::from(i) / f64::from(cuts)));
    }
    let (rim_r, rim_z) = on(inner + 0.5 * thickness, opening);
    for i in 1..rim_cuts {
        let turn = PI * f64::from(i) / f64::from(rim_cuts);
        // From the outward radial direction of the sphere, by half a turn over the top.
        let (radial, along) = (turn.cos(), turn.sin());
        let (sin, cos) = opening.sin_cos();
        profile.push((
            rim_r + 0.5 * thickness * (radial * sin + along * cos),
            rim_z + 0.5 * thickness * (-radial * cos + along * sin),
        ));
    }
    for i in (0..=cuts).rev() {
        profile.push(on(inner, opening * f64::from(i) / f64::from(cuts)));
    }
    revolve(&profile, false, segments)
}

/// The solid swept by a profile of points (r, z) [m] that turns about the z-axis. A closed profile runs
/// counter-clockwise and off the axis; an open one starts and ends on the axis.
pub fn revolve(profile: &[(f64, f64)], closed: bool, segments: u32) -> TriangleSoup {
    let n = profile.len();
    let mut vertices: Vec<Vector3<f64>> = Vec::new();
    let mut triangles = Vec::new();
    // One vertex for a point on the axis, a circle of them for any other point.
    let mut rings = Vec::new();
    for (i, &(r, z)) in profile.iter().enumerate() {
        let start = vertices.len() as u32;
        let pole = !closed && (i == 0 || i + 1 == n);
        rings.push((start, pole));
        if pole {
            vertices.push(Vector3::new(0.0, 0.0, z));
            continue;
        }
        for k in 0..segments {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(segments)).sin_cos();
            vertices.push(Vector3::new(r * cos, r * sin, z));
        }
    }
    let at = |(start, pole): (u32, bool), k: u32| if pole { start } else { start + k % segments };
    for i in 0..if closed { n } else { n - 1 } {
        let (low, high) = (rings[i], rings[(i + 1) % n]);
        for k in 0..segments {
            let (a, b, c, d) = (at(low, k), at(low, k + 1), at(high, k + 1), at(high, k));
            if a != b {
                triangles.push([a, b, c]);
            }
            if c != d {
                triangles.push([a, c, d]);
            }
        }
    }
    (vertices, triangles)
}
