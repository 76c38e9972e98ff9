//! A closed surface of triangles for a field: for drawing, for mass properties, and as the other side of contacts.
//!
//! Solids of revolution and threads are generated from their profiles, meshes are taken as they are; everything else by marching
//! tetrahedra [Doi91] on a grid, the vertices moved onto the surface. O(cells).

use super::{Field, FieldSolid, GridSign, Thread, ThreadSide};
use crate::shape::Mesh;
use crate::shape::generate::{self, TriangleSoup};
use crate::{Aabb, ShapeError};
use nalgebra::{Point3, Vector3};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Pieces of a full turn, unless a width is given.
const AROUND: u32 = 64;
/// Cells along the longest side of the bounds, unless a width is given; and the most cells.
const ALONG: f64 = 48.0;
const MOST_CELLS: f64 = 1.6e7;
/// Part of a cell's edge that a vertex keeps from its ends, so that no triangle vanishes [-].
const OFF_CORNER: f64 = 1e-3;

/// The surface of a solid, with triangles of about the edge `width` [m] if that is given.
pub fn of(solid: &FieldSolid, bounds: &Aabb, width: Option<f64>) -> Result<Mesh, ShapeError> {
    let (vertices, triangles) = soup(solid, bounds, width)?;
    let mesh = Mesh::build(&vertices, &triangles)?;
    if mesh.is_closed() {
        return Ok(mesh);
    }
    Err(ShapeError::Open { shape: "sdf", borders: mesh.border_edges() })
}

fn soup(solid: &FieldSolid, bounds: &Aabb, width: Option<f64>) -> Result<TriangleSoup, ShapeError> {
    let around = |radius: f64| {
        let fits = |width: f64| (TAU * radius / width).ceil().clamp(12.0, 4096.0) as u32;
        width.map_or(AROUND, fits)
    };
    let arc = |radius: f64, count: u32, from: f64, to: f64| {
        (0..=count).map(move |i| {
            let (sin, cos) = (from + (to - from) * f64::from(i) / f64::from(count)).sin_cos();
            (radius * cos, radius * sin)
        })
    };
    let quarter = 0.25 * TAU;
    Ok(match solid {
        FieldSolid::Sphere(radius) => {
            let level = width.map_or(4.0, |width| (1.05 * radius / width).log2().ceil());
            generate::icosphere(*radius, level.clamp(1.0, 7.0) as u32)
        }
        FieldSolid::Torus { major, minor } => {
            let across = (around(*minor) / 2).max(8);
            generate::torus(*major, *minor, around(major + minor), across)
        }
        FieldSolid::Capsule { radius, half_length } => {
            let n = around(*radius);
            let count = (n / 4).max(2);
            let mut points: Vec<_> =
                arc(*radius, count, -quarter, 0.0).map(|(r, z)| (r, z - half_length)).collect();
            points.extend(arc(*radius, count, 0.0, quarter).map(|(r, z)| (r, z + half_length)));
            generate::revolve(&points, false, n)
        }
        FieldSolid::Cylinder { radius, half_length, rounding } => {
            let (n, r) = (around(*radius), *rounding);
            let mut points = vec![(0.0, -half_length)];
            if r > 0.0 {
                let at =
                    |(x, z): (f64, f64), sign: f64| (radius - r + x, z + sign * (half_length - r));
                points.extend(arc(r, 4, -quarter, 0.0).map(|p| at(p, -1.0)));
                points.extend(arc(r, 4, 0.0, quarter).map(|p| at(p, 1.0)));
            } else {
                points.extend([(*radius, -half_length), (*radius, *half_length)]);
            }
            points.push((0.0, *half_length));
            generate::revolve(&points, false, n)
        }
        FieldSolid::Box { half, rounding: 0.0 } => generate::cuboid(*half),
        FieldSolid::Revolve(profile) => {
            let (radius, low, high) = profile.extent();
            let n = around(radius);
            let width = width.unwrap_or_else(|| (TAU * radius / f64::from(n)).min(high - low));
            let outline = profile.outline(width);
            if outline.points.len() < 3 {
                let (element, found) = ("points of an outline", outline.points.len());
                return Err(ShapeError::TooFew { shape: "sdf", element, found, expected: 3 });
            }
            generate::revolve(&outline.points, outline.closed, n)
        }
        FieldSolid::Thread(thread) => screw(thread, width),
        FieldSolid::Grid(grid) if grid.sign() == GridSign::Closed => {
            (grid.mesh().vertices().to_vec(), grid.mesh().triangles().to_vec())
        }
        FieldSolid::Placed(pose, inner) => {
            let (mut vertices, triangles) = soup(inner, &inner.bounds(), width)?;
            for vertex in &mut vertices {
                *vertex = (pose * Point3::from(*vertex)).coords;
            }
            (vertices, triangles)
        }
        FieldSolid::MachinePart(part) => {
            marching(solid, bounds, Some(width.unwrap_or_else(|| part.width())))?
        }
        _ => marching(solid, bounds, width)?,
    })
}

/// Marching tetrahedra: each cell of a grid is divided into six, along the same diagonal.
fn marching(
    solid: &FieldSolid,
    bounds: &Aabb,
    width: Option<f64>,
) -> Result<TriangleSoup, ShapeError> {
    let longest = bounds.size().max();
    let cell = width.unwrap_or(longest / ALONG);
    // An odd part of a cell, so that flat faces do not lie on corners of the grid.
    let bounds = bounds.inflated(1.37 * cell);
    let along = bounds.size().map(|size| (size / cell).ceil().max(1.0));
    if !(along.product() <= MOST_CELLS) {
        return Err(ShapeError::Cells { width: cell, found: along.product(), most: MOST_CELLS });
    }
    let [nx, ny, nz] = [along.x as usize + 1, along.y as usize + 1, along.z as usize + 1];
    let place = |c: usize| {
        bounds.min
            + cell * Vector3::new((c % nx) as f64, (c / nx % ny) as f64, (c / (nx * ny)) as f64)
    };
    let values: Vec<f64> = (0..nx * ny * nz).map(|c| solid.sample(&place(c)).value).collect();
    let (mut vertices, mut triangles): TriangleSoup = Default::default();
    let mut known: HashMap<(usize, usize), u32> = HashMap::new();
    const TETRAHEDRA: [[usize; 4]; 6] =
        [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
    for n in 0..nx * ny * nz {
        let at = [n % nx, n / nx % ny, n / (nx * ny)];
        if at[0] + 1 == nx || at[1] + 1 == ny || at[2] + 1 == nz {
            continue;
        }
        let corner = |c: usize| n + (c & 1) + nx * (c >> 1 & 1) + nx * ny * (c >> 2);
        let inside = |c: usize| values[corner(c)] < 0.0;
        let count = (0..8).filter(|&c| inside(c)).count();
        if count == 0 || count == 8 {
            continue;
        }
        for tetrahedron in TETRAHEDRA {
            let mut cut = |a: usize, b: usize| {
                let (a, b) = (corner(a).min(corner(b)), corner(a).max(corner(b)));
                *known.entry((a, b)).or_insert_with(|| {
                    vertices.push(crossing(solid, (place(a), values[a]), (place(b), values[b])));
                    vertices.len() as u32 - 1
                })
            };
            let within: Vec<usize> = tetrahedron.into_iter().filter(|&c| inside(c)).collect();
            let outer: Vec<usize> = tetrahedron.into_iter().filter(|&c| !inside(c)).collect();
            // The tetrahedron's own orientation decides that of its triangles; the mesh is oriented as a whole.
            match (within.as_slice(), outer.as_slice()) {
                (&[a], &[b, c, d]) => triangles.push([cut(a, b), cut(a, c), cut(a, d)]),
                (&[b, c, d], &[a]) => triangles.push([cut(a, b), cut(a, c), cut(a, d)]),
                (&[a, b], &[c, d]) => {
                    let [p, q, r, s] = [cut(a, c), cut(a, d), cut(b, d), cut(b, c)];
                    triangles.extend([[p, q, r], [p, r, s]]);
                }
                _ => {}
            }
        }
    }
    Ok((vertices, triangles))
}

/// The point of an edge of the grid on the surface: the secant, improved by bisection.
fn crossing(
    solid: &FieldSolid,
    (a, f_a): (Vector3<f64>, f64),
    (b, f_b): (Vector3<f64>, f64),
) -> Vector3<f64> {
    let (mut low, mut high, mut f_low, mut f_high) = (0.0, 1.0, f_a, f_b);
    let mut t = 0.5;
    for _ in 0..30 {
        t = low + (high - low) * (f_low / (f_low - f_high)).clamp(0.1, 0.9);
        let f = solid.sample(&(a + t * (b - a))).value;
        if (f < 0.0) == (f_low < 0.0) {
            (low, f_low) = (t, f);
        } else {
            (high, f_high) = (t, f);
        }
        if f == 0.0 {
            break;
        }
    }
    a + t.clamp(OFF_CORNER, 1.0 - OFF_CORNER) * (b - a)
}

/// A threaded surface over the angle and the height, with lines along the edges of its ridges; closed by rings at its ends.
fn screw(thread: &Thread, width: Option<f64>) -> TriangleSoup {
    let (half, pitch) = (thread.half_length, thread.pitch);
    let width = width.unwrap_or(0.3 * pitch);
    let n = (TAU * thread.major_radius / width).ceil().clamp(24.0, 1024.0) as usize;
    let [[a, top], [b, bottom]] = thread.ridge();
    // Heights within one pitch at which there is a line.
    let flank = ((top - bottom).hypot(b - a) / width).ceil().clamp(1.0, 64.0) as usize;
    let mut lines = Vec::new();
    for i in 0..=flank {
        let x = a + (b - a) * i as f64 / flank as f64;
        lines.extend([x, -x]);
    }
    lines.sort_by(f64::total_cmp);
    lines.dedup();
    let m = lines.len();
    let turns = (2.0 * half / pitch).ceil() as i64 + 3;
    let first = -(turns / 2) - 1;
    let count = (turns + 2) as usize * m;
    let (mut vertices, mut triangles): TriangleSoup = Default::default();
    let radius = |z: f64, phi: f64| thread.surface_radius(z, phi);
    for i in 0..n {
        let phi = TAU * i as f64 / n as f64;
        let (sin, cos) = phi.sin_cos();
        for k in 0..count {
            let turn = first + (k / m) as i64;
            let z = pitch * (phi / TAU + turn as f64) + lines[k % m];
            let z = z.clamp(-half, half);
            let r = radius(z, phi);
            vertices.push(Vector3::new(r * cos, r * sin, z));
        }
    }
    // After a turn the lines are those of the next pitch.
    let at = |i: usize, k: usize| {
        if i < n { (i * count + k) as u32 } else { (k + m).min(count - 1) as u32 }
    };
    let mut quad = |[a, b, c, d]: [u32; 4]| triangles.extend([[a, b, c], [a, c, d]]);
    let turned = thread.side == ThreadSide::Nut;
    let facing = |q: [u32; 4]| if turned { [q[0], q[3], q[2], q[1]] } else { q };
    for i in 0..n {
        for k in 0..count - 1 {
            quad(facing([at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)]));
        }
    }
    match thread.side {
        ThreadSide::Bolt => {
            for (z, k) in [(-half, 0), (half, count - 1)] {
                let middle = vertices.len() as u32;
                vertices.push(Vector3::new(0.0, 0.0, z));
                for i in 0..n {
                    let (p, q) = ((i * count + k) as u32, ((i + 1) % n * count + k) as u32);
                    triangles.push(if z < 0.0 { [middle, q, p] } else { [middle, p, q] });
                }
            }
        }
        ThreadSide::Nut => {
            let start = vertices.len();
            let rings = (2.0 * half / width).ceil().clamp(1.0, 256.0) as usize;
            for j in 0..=rings {
                for i in 0..n {
                    let (sin, cos) = (TAU * i as f64 / n as f64).sin_cos();
                    let (r, z) =
                        (thread.outer_radius, -half + 2.0 * half * j as f64 / rings as f64);
                    vertices.push(Vector3::new(r * cos, r * sin, z));
                }
            }
            let outer = |i: usize, j: usize| (start + j * n + i % n) as u32;
            let inner = |i: usize, k: usize| (i % n * count + k) as u32;
            for i in 0..n {
                for j in 0..rings {
                    quad([outer(i, j), outer(i + 1, j), outer(i + 1, j + 1), outer(i, j + 1)]);
                }
                let (low, high) = (0, count - 1);
                quad([inner(i, low), inner(i + 1, low), outer(i + 1, 0), outer(i, 0)]);
                quad([inner(i, high), outer(i, rings), outer(i + 1, rings), inner(i + 1, high)]);
            }
        }
    }
    (vertices, triangles)
}

impl Field {
    /// Volume of the solid by its surface of triangles \[m³\].
    pub fn volume(&self) -> f64 {
        self.surface().mass_properties(1.0).0
    }
}
