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
    cell: u64,
    /// Order within the cell: depth in steps, less the square of the distance from the middle [m²].
    order: (f64, f64),
}

impl RawPoint {
    pub fn new(feature: u32, p_M: Vector3<f64>, sample: FieldSample) -> Self {
        Self { feature, p_M, sample, cell: 0, order: (0.0, 0.0) }
    }
}

/// Keeps the deepest point of each cell with each main direction of its normal, of equally deep ones the outermost.
pub fn deepest_of_cells(raw: &mut Vec<RawPoint>) {
    let area = Aabb::of_points(raw.iter().map(|raw| raw.p_M));
    let (size, middle) = (area.size().max(), area.centre());
    for raw in raw.iter_mut() {
        let at = (raw.p_M - area.min) * (CELLS / size);
        let axis = raw.sample.gradient.iamax();
        let side = 2 * axis as u64 + u64::from(raw.sample.gradient[axis] < 0.0);
        raw.cell = ((at.x as u64 * 64 + at.y as u64) * 64 + at.z as u64) * 8 + side;
        let depth = (raw.sample.value / (EQUAL * size)).floor();
        raw.order = (depth, -(raw.p_M - middle).norm_squared());
    }
    raw.sort_unstable_by(|a, b| {
        let order = |x: (f64, f64), y: (f64, f64)| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1));
        a.cell.cmp(&b.cell).then(order(a.order, b.order)).then(a.feature.cmp(&b.feature))
    });
    raw.dedup_by(|b, a| a.cell == b.cell);
}
