//! Coarser versions of a mesh: corners in a cell of a grid become one, and triangles within a cell vanish [Rossignac93].
//!
//! Corners whose normals point into different octants stay apart, so that edges stay sharp. Made when they are first
//! needed, O(corners + triangles), and kept.

use std::collections::HashMap;
use std::sync::OnceLock;

use nalgebra::Vector3;

use crate::mesh::Mesh;

/// Cells along the longest side of a mesh, per level.
const CELLS: [usize; 6] = [6, 12, 24, 48, 96, 192];
/// Triangles up to which a mesh has no coarser versions.
const FEW: usize = 600;

/// A mesh and its coarser versions.
#[derive(Debug, Default)]
pub struct DetailLevels {
    levels: [OnceLock<Mesh>; CELLS.len()],
}

impl DetailLevels {
    /// The coarsest version with at least a number of cells along its longest side.
    pub fn with_cells<'a>(&'a self, mesh: &'a Mesh, cells: f64) -> &'a Mesh {
        if mesh.triangles.len() <= FEW {
            return mesh;
        }
        let level = CELLS.iter().position(|count| *count as f64 >= cells);
        level.map_or(mesh, |level| self.levels[level].get_or_init(|| coarse(mesh, CELLS[level])))
    }
}

/// Sum of the corners of a cell.
#[derive(Clone, Copy, Default)]
struct Cluster {
    position: Vector3<f32>,
    normal: Vector3<f32>,
    count: f32,
}

fn coarse(mesh: &Mesh, cells: usize) -> Mesh {
    let positions = || mesh.positions.iter().map(|p| Vector3::from(*p));
    let low = positions().fold(Vector3::repeat(f32::INFINITY), |a, b| a.inf(&b));
    let high = positions().fold(Vector3::repeat(f32::NEG_INFINITY), |a, b| a.sup(&b));
    let per_cell = cells as f32 / (high - low).max().max(f32::MIN_POSITIVE);
    let mut by_cell = HashMap::new();
    let mut clusters: Vec<Cluster> = Vec::new();
    let cluster_of: Vec<u32> = positions()
        .zip(&mesh.normals)
        .map(|(p, n)| {
            let normal = Vector3::from(*n);
            let cell = ((p - low) * per_cell).map(|x| x as u32);
            let octant = normal.map(|x| x > 0.0);
            let index = *by_cell
                .entry((<[u32; 3]>::from(cell), <[bool; 3]>::from(octant)))
                .or_insert_with(|| {
                    clusters.push(Cluster::default());
                    clusters.len() as u32 - 1
                });
            let cluster = &mut clusters[index as usize];
            cluster.position += p;
            cluster.normal += normal;
            cluster.count += 1.0;
            index
        })
        .collect();
    // How often triangles are walked, against those of the same corners in the other sense: these cancel, so that a closed mesh
    // stays closed.
    let mut walks: HashMap<[u32; 3], i32> = HashMap::new();
    let mut order = Vec::new();
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|v| cluster_of[v as usize]);
        if a == b || b == c || c == a {
            continue;
        }
        let mut key = [a, b, c];
        key.sort_unstable();
        let is_even = key == [a, b, c] || key == [b, c, a] || key == [c, a, b];
        *walks.entry(key).or_insert_with(|| {
            order.push(key);
            0
        }) += if is_even { 1 } else { -1 };
    }
    let kept = |key: &[u32; 3]| {
        let [a, b, c] = *key;
        let net = walks[key];
        let triangle = if net > 0 { [a, b, c] } else { [a, c, b] };
        std::iter::repeat_n(triangle, net.unsigned_abs() as usize)
    };
    Mesh {
        triangles: order.iter().flat_map(kept).collect(),
        positions: clusters.iter().map(|c| (c.position / c.count).into()).collect(),
        normals: clusters
            .iter()
            .map(|c| c.normal.try_normalize(0.0).unwrap_or_else(Vector3::z).into())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_geom::shape::generate;

    #[test]
    fn a_coarse_ball_is_within_a_cell_of_the_ball_and_has_fewer_triangles() {
        let (vertices, triangles) = generate::icosphere(1.0, 5);
        let positions: Vec<[f32; 3]> = vertices.iter().map(|v| v.cast::<f32>().into()).collect();
        let mesh = Mesh { normals: positions.clone(), positions, triangles };
        let levels = DetailLevels::default();
        let coarse = levels.with_cells(&mesh, 12.0);
        assert!(coarse.triangles.len() < mesh.triangles.len() / 4);
        // A mean of corners within a cell of 2/12 lies within its diagonal of the sphere.
        let cell = 2.0 / 12.0 * 3.0_f32.sqrt();
        for p in &coarse.positions {
            assert!((Vector3::from(*p).norm() - 1.0).abs() < cell);
        }
        // Closed: each edge is walked as often in one direction as in the other.
        let mut walks: HashMap<(u32, u32), i32> = HashMap::new();
        for t in &coarse.triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                *walks.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        assert!(walks.values().all(|sum| *sum == 0));
        assert!(std::ptr::eq(levels.with_cells(&mesh, 1000.0), &raw const mesh));
    }
}
