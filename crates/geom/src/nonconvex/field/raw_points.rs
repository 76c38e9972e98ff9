//! Points of a surface near a solid before they are moved onto the exact surface, and the choice among very many.

use crate::Aabb;
use crate::field::FieldSample;
use nalgebra::Vector3;

/// Cells along the longest side of the area.
const CELLS: f64 = 8.0;
/// Share of the size below which depths count as equal [-].
const EQUAL: f64 = 1e-6;

/// A point of a surface.
#[derive(Clone, Copy, Debug)]
pub struct RawPoint {
    pub feature: u32,
    /// In the frame of the surface [m].
    pub p_M: Vector3<f64>,
    /// Value and gradient of the solid there.
    pub sample: FieldSample,
}

/// A point in the order of the choice.
#[derive(Clone, Copy, Debug)]
struct CellOrder {
    /// Cell and main direction of the normal.
    cell: u64,
    /// Depth in steps of equal ones.
    depth: f64,
    /// Less the square of the distance from the middle [m²].
    inward: f64,
    feature: u32,
    index: u32,
}

/// Points of a surface, and the memory of the choice.
#[derive(Debug, Default)]
pub struct RawPoints {
    pub points: Vec<RawPoint>,
    order: Vec<CellOrder>,
    kept: Vec<RawPoint>,
}

impl RawPoints {
    /// Keeps the deepest point of each cell with each main direction of its normal, of equally deep ones the outermost.
    pub fn keep_deepest_of_cells(&mut self) {
        let Self { points, order, kept } = self;
        let area = Aabb::of_points(points.iter().map(|raw| raw.p_M));
        let (size, middle) = (area.size().max(), area.centre());
        order.clear();
        order.extend(points.iter().enumerate().map(|(index, raw)| {
            let at = (raw.p_M - area.min) * (CELLS / size);
            let axis = raw.sample.gradient.iamax();
            let side = 2 * axis as u64 + u64::from(raw.sample.gradient[axis] < 0.0);
            CellOrder {
                cell: ((at.x as u64 * 64 + at.y as u64) * 64 + at.z as u64) * 8 + side,
                depth: (raw.sample.value / (EQUAL * size)).floor(),
                inward: -(raw.p_M - middle).norm_squared(),
                feature: raw.feature,
                index: index as u32,
            }
        }));
        order.sort_unstable_by(|a, b| {
            let deeper = a.depth.total_cmp(&b.depth).then(a.inward.total_cmp(&b.inward));
            a.cell.cmp(&b.cell).then(deeper).then(a.feature.cmp(&b.feature))
        });
        order.dedup_by_key(|at| at.cell);
        kept.clear();
        kept.extend(order.iter().map(|at| points[at.index as usize]));
        std::mem::swap(points, kept);
    }
}
