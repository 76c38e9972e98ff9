//! Slabs of a disc that do not lock: quadrilaterals, each cut along both of its diagonals.
//!
//! ```text
//!     .-'|‾|‾|'-.      A core of 2n × 2n cells with rounded sides, and n rings of cells from it to
//!    /\_ |_|_| _/\     the rim, which has 8n. Every cell has a vertex in its middle:
//!   |   |_|_|_|   |
//!    \/‾ | | | ‾\/         ╲╱
//!     '-.|_|_|.-'          ╱╲
//! ```
//! Linear elements of a material that keeps its volume lock: each of them takes away one freedom, and on
//! a mesh of triangles there are about as many elements as freedoms. The four triangles of a crossed
//! cell keep their areas with three conditions, not four, and the motions that are left converge
//! [Nagtegaal, Parks, Rice 1974]. Prisms over such triangles, cut into tetrahedra, can do all that the
//! triangles can.

use nalgebra::{Vector2, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use stiction_geom::{TetMesh, TetMeshError};

/// Half of the core's edge, and how far its sides bulge, in parts of the radius and of half the edge.
const CORE: f64 = 0.55;
const BULGE: f64 = 0.12;

/// A slab about z by its radius and thickness [m], with `n` rings and `layers` layers.
pub fn slab(radius: f64, thickness: f64, n: usize, layers: usize) -> Result<TetMesh, TetMeshError> {
    let (points, triangles) = disc(n);
    let level = |k: usize| thickness * (k as f64 / layers as f64 - 0.5);
    let lift = |k: usize| {
        let z = level(k);
        points.iter().map(move |p| Vector3::new(radius * p.x, radius * p.y, z))
    };
    let vertices = (0..=layers).flat_map(lift).collect();
    let mut tetrahedra = Vec::with_capacity(3 * layers * triangles.len());
    for layer in 0..layers {
        let (low, high) = (layer * points.len(), (layer + 1) * points.len());
        for triangle in &triangles {
            // The diagonals of a prism's sides rise from smaller to larger numbers, so that neighbours agree.
            let mut sorted = *triangle;
            sorted.sort_unstable();
            let [a, b, c] = sorted.map(|v| (v + low) as u32);
            let [d, e, f] = sorted.map(|v| (v + high) as u32);
            tetrahedra.extend([[a, b, c, f], [a, b, e, f], [a, d, e, f]]);
        }
    }
    TetMesh::new(vertices, tetrahedra)
}

/// Vertices and triangles of the unit disc.
fn disc(n: usize) -> (Vec<Vector2<f64>>, Vec<[usize; 3]>) {
    let mut disc = Disc::default();
    disc.patch([2 * n, 2 * n], |u, v| core(2.0 * u - 1.0, 2.0 * v - 1.0));
    for quarter in 0..4 {
        let (sin, cos) = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarter];
        disc.patch([2 * n, n], |u, v| {
            let (y, x) = (FRAC_PI_2 * u - FRAC_PI_4).sin_cos();
            let p = core(1.0, 2.0 * u - 1.0) * (1.0 - v) + Vector2::new(x, y) * v;
            Vector2::new(p.x * cos - p.y * sin, p.x * sin + p.y * cos)
        });
    }
    (disc.points, disc.triangles)
}

/// A point of the core by its place in the square of edge two.
fn core(u: f64, v: f64) -> Vector2<f64> {
    CORE * Vector2::new(u * (1.0 + BULGE * (1.0 - v * v)), v * (1.0 + BULGE * (1.0 - u * u)))
}

#[derive(Default)]
struct Disc {
    points: Vec<Vector2<f64>>,
    triangles: Vec<[usize; 3]>,
    /// Vertices by their rounded places: patches share those of their edges.
    numbers: BTreeMap<[i64; 2], usize>,
}

impl Disc {
    fn vertex(&mut self, p: Vector2<f64>) -> usize {
        let place = [p.x, p.y].map(|x| (1e9 * x).round() as i64);
        *self.numbers.entry(place).or_insert_with(|| {
            self.points.push(p);
            self.points.len() - 1
        })
    }

    /// Crossed cells over the unit square, moved by a map.
    fn patch(&mut self, cells: [usize; 2], map: impl Fn(f64, f64) -> Vector2<f64>) {
        let at = |i: usize, j: usize| map(i as f64 / cells[0] as f64, j as f64 / cells[1] as f64);
        for (i, j) in (0..cells[0]).flat_map(|i| (0..cells[1]).map(move |j| (i, j))) {
            let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            let middle = self.vertex(corners.iter().sum::<Vector2<f64>>() / 4.0);
            let corners = corners.map(|p| self.vertex(p));
            for k in 0..4 {
                self.triangles.push([corners[k], corners[(k + 1) % 4], middle]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_fills_the_prism_over_the_polygon_of_its_rim() {
        for (n, layers) in [(1, 1), (2, 3), (5, 2)] {
            let mesh = slab(0.2, 0.05, n, layers).unwrap();
            let corners = 8.0 * n as f64;
            let area = 0.5 * corners * (8.0 * FRAC_PI_4 / corners).sin() * 0.2 * 0.2;
            // Sums of a few thousand elements.
            assert!((mesh.volume() / (0.05 * area) - 1.0).abs() < 1e-12);
            assert_eq!(mesh.tetrahedra().len(), 3 * layers * 48 * n * n);
            assert_eq!(mesh.vertices().len(), (layers + 1) * (24 * n * n + 4 * n + 1));
        }
    }
}
