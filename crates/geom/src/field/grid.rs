//! The signed distance of a closed mesh, sampled on a grid that is fine near the surface.
//!
//! The box of the mesh is divided into blocks of 8³ cells. Blocks near the surface hold the exact distance at all corners of their
//! cells; elsewhere it is known at the corners of blocks. Between corners the value is trilinear and the gradient is that of the
//! interpolant. Where a fine block meets a coarse one, the fine values are those of the coarse interpolant, so that
//! the value is continuous everywhere. Outside the box, the distance from the box is added. Memory O(surface / cell²), queries
//! of constant cost.

use super::{FieldSample, mesh_check, winding};
use crate::shape::Mesh;
use crate::{Aabb, ShapeError};
use nalgebra::Vector3;

/// Cells of a block along an edge, and samples.
pub(super) const CELLS: usize = 8;
pub(super) const SAMPLES: usize = CELLS + 1;
/// Memory that a grid may take [bytes], unless a caller says otherwise.
pub const MOST_BYTES: u64 = 1 << 28;
/// Width of the fine band on both sides of the surface, in blocks [-].
const BAND: f64 = 1.0;
/// A block without fine samples.
pub(super) const COARSE: u32 = u32::MAX;

/// How the sign of a sample is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSign {
    /// By the side of the nearest face; the mesh must be closed and may not cross itself.
    #[default]
    Closed,
    /// By the winding number: the mesh may have holes and cross itself. Slower to build.
    Winding,
}

/// A sampled signed distance.
#[derive(Clone, Debug)]
pub struct SampledGrid {
    pub(super) mesh: Mesh,
    pub(super) sign: GridSign,
    pub(super) origin: Vector3<f64>,
    pub(super) cell: f64,
    /// Blocks along the axes.
    pub(super) blocks: [usize; 3],
    /// Values at the corners of blocks [m].
    pub(super) coarse: Vec<f64>,
    /// Start of the samples of each block, or [`COARSE`].
    pub(super) starts: Vec<u32>,
    pub(super) fine: Vec<f32>,
    pub(super) lipschitz: f64,
}

impl SampledGrid {
    /// Samples a mesh with cells of the edge `cell` [m], if the grid fits into `most_bytes`.
    pub fn build(
        mesh: Mesh,
        cell: f64,
        sign: GridSign,
        most_bytes: u64,
    ) -> Result<Self, ShapeError> {
        Self::build_watched(mesh, cell, sign, most_bytes, &mut |_| {})
    }

    /// [`SampledGrid::build`] that tells from time to time which part of the work is done, between 0 and 1.
    pub fn build_watched(
        mesh: Mesh,
        cell: f64,
        sign: GridSign,
        most_bytes: u64,
        watch: &mut dyn FnMut(f64),
    ) -> Result<Self, ShapeError> {
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(ShapeError::Length { shape: "sdf", parameter: "cell", found: cell });
        }
        if sign == GridSign::Closed {
            mesh_check::check(&mesh)?;
        }
        let block = cell * CELLS as f64;
        let bounds = mesh.local_bounds().inflated(2.0 * cell);
        let along = bounds.size().map(|size| (size / block).ceil().max(1.0));
        // The coarse level first: two numbers per block.
        let estimate = along.product() * 12.0;
        let check = |bytes: f64| {
            // Starts of blocks are numbers of 32 bits.
            let most = most_bytes.min(1 << 33) as f64;
            if bytes <= most { Ok(()) } else { Err(ShapeError::Memory { cell, bytes, most }) }
        };
        // The surface alone needs this many fine blocks at least.
        let area = mesh_area(&mesh);
        check(estimate + 4.0 * (SAMPLES as f64).powi(3) * area / (block * block))?;
        let blocks = [along.x as usize, along.y as usize, along.z as usize];
        let size = Vector3::from_fn(|k, _| blocks[k] as f64 * block);
        let origin = bounds.centre() - 0.5 * size;
        let mut grid = Self {
            mesh,
            sign,
            origin,
            cell,
            blocks,
            coarse: Vec::new(),
            starts: Vec::new(),
            fine: Vec::new(),
            lipschitz: 1.0,
        };
        grid.sample_coarse(block);
        let count = grid.choose_fine(block);
        check(estimate + count as f64 * 4.0 * (SAMPLES as f64).powi(3))?;
        grid.sample_fine(count, watch);
        grid.tie_borders();
        grid.lipschitz = grid.slope_bound(block);
        Ok(grid)
    }

    /// The mesh that was sampled.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// How the sign was found.
    pub fn sign(&self) -> GridSign {
        self.sign
    }

    /// Edge of a cell [m].
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Memory of the samples [bytes].
    pub fn bytes(&self) -> u64 {
        (8 * self.coarse.len() + 4 * self.starts.len() + 4 * self.fine.len()) as u64
    }

    /// Bound of the slope of the interpolant [-], from the differences of the samples.
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// Bound of the difference between the value and the exact distance within the fine band [m]: a mean of distances at
    /// corners at most √3/2 cells away, each of which differs by no more than its way, and the rounding to 32 bits.
    pub fn error_bound(&self) -> f64 {
        let largest = self.cell * CELLS as f64 * (2.0 + BAND);
        0.5 * 3.0_f64.sqrt() * self.cell + largest * f64::from(f32::EPSILON)
    }

    /// Bounds of the solid [m]; where the sign closes holes, the solid may reach beyond the mesh.
    pub fn solid_bounds(&self) -> Aabb {
        let beyond = if self.sign == GridSign::Winding { 2.0 * self.cell } else { 0.0 };
        self.mesh.local_bounds().inflated(beyond)
    }

    /// Value and gradient of the interpolant.
    #[inline]
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        let block = self.cell * CELLS as f64;
        let [nx, ny, nz] = self.blocks;
        let size = Vector3::new(nx as f64, ny as f64, nz as f64) * block;
        let x = p - self.origin;
        let inner = x.sup(&Vector3::zeros()).inf(&size);
        // In cells; a point on the upper end belongs to the last one.
        let u = inner * (1.0 / self.cell);
        let at = |u: f64, n: usize| (u as u32).min((n * CELLS) as u32 - 1);
        let cells = [at(u.x, nx), at(u.y, ny), at(u.z, nz)];
        let [i, j, k] = cells.map(|c| c as usize / CELLS);
        let start = self.starts[(k * ny + j) * nx + i];
        let found = if start == COARSE {
            let step = nx + 1;
            let base = (k * (ny + 1) + j) * step + i;
            let plane = step * (ny + 1);
            let first = Vector3::new(i as f64, j as f64, k as f64) * CELLS as f64;
            trilinear(&((u - first) / CELLS as f64), block, |c| {
                self.coarse[base + (c & 1) + step * (c >> 1 & 1) + plane * (c >> 2)]
            })
        } else {
            let [a, b, c] = cells.map(|c| c as usize % CELLS);
            let base = start as usize + (c * SAMPLES + b) * SAMPLES + a;
            let local = u - Vector3::from(cells.map(f64::from));
            // One check of the bounds for all corners.
            let samples = &self.fine[base..base + SAMPLES * SAMPLES + SAMPLES + 2];
            trilinear(&local, self.cell, |c| {
                f64::from(samples[(c & 1) + SAMPLES * (c >> 1 & 1) + SAMPLES * SAMPLES * (c >> 2)])
            })
        };
        let beyond = x - inner;
        let square = beyond.norm_squared();
        if square == 0.0 {
            return found;
        }
        // Across the faces that were passed, the distance from the box replaces the slope of the grid.
        let (distance, mut gradient) = (square.sqrt(), found.gradient);
        for axis in 0..3 {
            if beyond[axis] != 0.0 {
                gradient[axis] = beyond[axis] / distance;
            }
        }
        FieldSample { value: found.value + distance, gradient }
    }

    /// Corner at which the cells start [m].
    pub fn sample_origin(&self) -> Vector3<f64> {
        self.origin
    }

    fn distance(&self, p: &Vector3<f64>) -> f64 {
        let found = self.mesh.signed_distance(p, f64::INFINITY);
        let distance = found.map_or(f64::INFINITY, |found| found.distance);
        match self.sign {
            GridSign::Closed => distance,
            GridSign::Winding if winding::number(&self.mesh, p) > 0.5 => -distance.abs(),
            GridSign::Winding => distance.abs(),
        }
    }

    fn sample_coarse(&mut self, block: f64) {
        let [nx, ny, nz] = self.blocks;
        let mut coarse = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
        for k in 0..=nz {
            for j in 0..=ny {
                for i in 0..=nx {
                    let p = self.origin + block * Vector3::new(i as f64, j as f64, k as f64);
                    coarse.push(self.distance(&p));
                }
            }
        }
        self.coarse = coarse;
    }

    /// Marks the blocks within the band; returns how many there are.
    fn choose_fine(&mut self, block: f64) -> usize {
        let [nx, ny, nz] = self.blocks;
        let (mut starts, mut count) = (Vec::with_capacity(nx * ny * nz), 0);
        let reach = block * (0.5 * 3.0_f64.sqrt() + BAND);
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let middle = Vector3::new(i as f64, j as f64, k as f64).add_scalar(0.5);
                    let near = self.mesh.nearest(&(self.origin + block * middle), reach).is_some();
                    starts.push(if near { (count * SAMPLES.pow(3)) as u32 } else { COARSE });
                    count += usize::from(near);
                }
            }
        }
        self.starts = starts;
        count
    }

    fn sample_fine(&mut self, count: usize, watch: &mut dyn FnMut(f64)) {
        let [nx, ny, _] = self.blocks;
        let mut fine = Vec::with_capacity(count * SAMPLES.pow(3));
        for (n, _) in self.starts.iter().enumerate().filter(|(_, start)| **start != COARSE) {
            let first = [n % nx, n / nx % ny, n / (nx * ny)].map(|x| x * CELLS);
            watch(fine.len() as f64 / (count * SAMPLES.pow(3)) as f64);
            for c in 0..SAMPLES {
                for b in 0..SAMPLES {
                    let mut last: Option<f64> = None;
                    for a in 0..SAMPLES {
                        let index = [first[0] + a, first[1] + b, first[2] + c].map(|x| x as f64);
                        let p = self.origin + self.cell * Vector3::from(index);
                        let value = self.signed_from(&p, last);
                        last = Some(value);
                        fine.push(value as f32);
                    }
                }
            }
        }
        self.fine = fine;
    }

    /// The distance at a sample; its sign is that of the last sample in the row if no surface lies between.
    fn signed_from(&self, p: &Vector3<f64>, last: Option<f64>) -> f64 {
        if let (GridSign::Winding, Some(last)) = (self.sign, last)
            && let Some(near) = self.mesh.nearest(p, f64::INFINITY)
            && near.distance + last.abs() > self.cell * (1.0 + 1e-9)
        {
            return near.distance.copysign(last);
        }
        self.distance(p)
    }

    /// Replaces the values on faces that fine blocks share with coarse ones by the coarse interpolant.
    fn tie_borders(&mut self) {
        let [nx, ny, nz] = self.blocks;
        let is_coarse = |i: i64, j: i64, k: i64| {
            let inside = |x: i64, n: usize| x >= 0 && (x as usize) < n;
            inside(i, nx)
                && inside(j, ny)
                && inside(k, nz)
                && self.starts[((k as usize) * ny + j as usize) * nx + i as usize] == COARSE
        };
        let mut ties = Vec::new();
        let block = self.cell * CELLS as f64;
        for n in 0..self.starts.len() {
            let start = self.starts[n];
            if start == COARSE {
                continue;
            }
            let (i, j, k) = (n % nx, n / nx % ny, n / (nx * ny));
            for s in 0..SAMPLES.pow(3) {
                let at = [s % SAMPLES, s / SAMPLES % SAMPLES, s / (SAMPLES * SAMPLES)];
                // All blocks that hold this sample.
                let range = |x: usize| match x {
                    0 => -1..=0,
                    CELLS => 0..=1,
                    _ => 0..=0,
                };
                let shared = range(at[2]).any(|c| {
                    range(at[1]).any(|b| {
                        range(at[0]).any(|a| is_coarse(i as i64 + a, j as i64 + b, k as i64 + c))
                    })
                });
                if shared {
                    let local = Vector3::from(at.map(|x| x as f64 / CELLS as f64));
                    let (step, plane) = (nx + 1, (nx + 1) * (ny + 1));
                    let base = k * plane + j * step + i;
                    let found = trilinear(&local, block, |c| {
                        self.coarse[base + (c & 1) + step * (c >> 1 & 1) + plane * (c >> 2)]
                    });
                    ties.push((start as usize + s, found.value as f32));
                }
            }
        }
        for (at, value) in ties {
            self.fine[at] = value;
        }
    }

    /// Largest slope of any cell: each component of the gradient is a mean of differences along an axis.
    fn slope_bound(&self, block: f64) -> f64 {
        let [nx, ny, _] = self.blocks;
        let mut most = 1.0_f64;
        let mut cell = |edge: f64, value: &dyn Fn(usize) -> f64| {
            let slope = |axis: usize| {
                (0..8)
                    .filter(|c| c >> axis & 1 == 0)
                    .map(|c| (value(c | 1 << axis) - value(c)).abs() / edge)
                    .fold(0.0, f64::max)
            };
            most = most.max(slope(0).hypot(slope(1)).hypot(slope(2)));
        };
        for (n, &start) in self.starts.iter().enumerate() {
            if start == COARSE {
                let (step, plane) = (nx + 1, (nx + 1) * (ny + 1));
                let base = n / (nx * ny) * plane + n / nx % ny * step + n % nx;
                cell(block, &|c| {
                    self.coarse[base + (c & 1) + step * (c >> 1 & 1) + plane * (c >> 2)]
                });
                continue;
            }
            for s in 0..CELLS.pow(3) {
                let at = (s / (CELLS * CELLS) * SAMPLES + s / CELLS % CELLS) * SAMPLES + s % CELLS;
                let base = start as usize + at;
                cell(self.cell, &|c| {
                    let offset = (c & 1) + SAMPLES * (c >> 1 & 1) + SAMPLES * SAMPLES * (c >> 2);
                    f64::from(self.fine[base + offset])
                });
            }
        }
        // Outside the box the way from it is added, across the faces only.
        most.hypot(1.0).max(1.0)
    }
}

fn mesh_area(mesh: &Mesh) -> f64 {
    let area = |t: u32| {
        let [a, b, c] = mesh.corners(t);
        0.5 * (b - a).cross(&(c - a)).norm()
    };
    (0..mesh.triangles().len() as u32).map(area).sum()
}

/// Trilinear interpolation at `u` within a cell of the edge `edge` [m]; corner c has the coordinates of its bits.
#[inline]
fn trilinear(u: &Vector3<f64>, edge: f64, value: impl Fn(usize) -> f64) -> FieldSample {
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let v: [f64; 8] = std::array::from_fn(value);
    let along_x = [0, 2, 4, 6].map(|c| mix(v[c], v[c + 1], u.x));
    let slopes_x = [0, 2, 4, 6].map(|c| v[c + 1] - v[c]);
    let (low, high) = (mix(along_x[0], along_x[1], u.y), mix(along_x[2], along_x[3], u.y));
    let gradient = Vector3::new(
        mix(mix(slopes_x[0], slopes_x[1], u.y), mix(slopes_x[2], slopes_x[3], u.y), u.z),
        mix(along_x[1] - along_x[0], along_x[3] - along_x[2], u.z),
        high - low,
    );
    FieldSample { value: mix(low, high, u.z), gradient: gradient / edge }
}
