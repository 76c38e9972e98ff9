//! Exact coverage of samples by a triangle.
//!
//! Corners lie on a grid finer than the samples, and the side of an edge on which a sample lies is
//! decided in integers: triangles that share an edge leave no gap and cover no sample twice.
//! The edge functions are those of [Pineda88].

/// Steps of the fixed-point grid between two samples.
pub const FINENESS: f64 = 64.0;
const STEP: i64 = FINENESS as i64;
/// Corners further away than this many samples are not on the grid.
pub const FARTHEST: f64 = 1e6;

/// A rectangle of samples: first column and row, and those after the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// First column.
    pub left: i64,
    /// First row.
    pub top: i64,
    /// Column after the last.
    pub right: i64,
    /// Row after the last.
    pub bottom: i64,
}

/// A triangle as three edges; each function grows towards the opposite corner.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    /// Growth per column and per row of samples, and value at the first sample.
    edges: [[i64; 3]; 3],
    /// Bias that assigns a sample on an edge to one side.
    ties: [i64; 3],
    /// Twice the area, in grid steps squared.
    area: f64,
    /// Samples that may be covered.
    pub region: Region,
    /// Whether the corners go clockwise on the picture, whose rows go down.
    pub clockwise: bool,
}

/// Rounds a coordinate in samples to the fixed-point grid.
pub fn snapped(place: f64) -> i64 {
    // Truncation after a shift rounds down also below zero, and is cheaper than rounding.
    let shift = FARTHEST * FINENESS;
    (place.clamp(-FARTHEST, FARTHEST) * FINENESS + (shift + 0.5)) as i64 - shift as i64
}

impl Edges {
    /// The edges of a triangle with [`snapped`] corners; `None` if it can cover no sample.
    pub fn new(corners: [[i64; 2]; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0 {
            return None;
        }
        let range = |axis: usize| {
            let all = corners.map(|corner| corner[axis]);
            let (low, high) = (all[0].min(all[1]).min(all[2]), all[0].max(all[1]).max(all[2]));
            let first = (low - STEP / 2 + STEP - 1).div_euclid(STEP);
            (first, (high - STEP / 2).div_euclid(STEP) + 1)
        };
        let ((left, right), (top, bottom)) = (range(0), range(1));
        if left >= right || top >= bottom {
            return None;
        }
        let sign = area.signum();
        let (mut edges, mut ties) = ([[0; 3]; 3], [0; 3]);
        for k in 0..3 {
            // From the corner after k to the one before it, counted the way round with area > 0.
            let (from, to) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let (dx, dy) = (sign * (to[0] - from[0]), sign * (to[1] - from[1]));
            let at_first = dx * (STEP / 2 - from[1]) - dy * (STEP / 2 - from[0]);
            edges[k] = [-dy * STEP, dx * STEP, at_first];
            ties[k] = if dy > 0 || (dy == 0 && dx > 0) { 0 } else { -1 };
        }
        let region = Region { left, top, right, bottom };
        Some(Self { edges, ties, area: (sign * area) as f64, region, clockwise: sign > 0 })
    }

    /// Calls `visit` for each covered sample of a region, row by row.
    pub fn scan(&self, within: Region, mut visit: impl FnMut(i64, i64)) {
        let (left, right) =
            (self.region.left.max(within.left), self.region.right.min(within.right));
        let (top, bottom) =
            (self.region.top.max(within.top), self.region.bottom.min(within.bottom));
        if left >= right {
            return;
        }
        let at = |k: usize| {
            let [per_column, per_row, first] = self.edges[k];
            first + per_column * left + per_row * top + self.ties[k]
        };
        let mut rows = [at(0), at(1), at(2)];
        for y in top..bottom {
            let mut e = rows;
            for x in left..right {
                if e[0] | e[1] | e[2] >= 0 {
                    visit(x, y);
                }
                e = [e[0] + self.edges[0][0], e[1] + self.edges[1][0], e[2] + self.edges[2][0]];
            }
            rows = [
                rows[0] + self.edges[0][1],
                rows[1] + self.edges[1][1],
                rows[2] + self.edges[2][1],
            ];
        }
    }

    /// Barycentric coordinates at a point in samples, from the middle of the first sample; they sum to
    /// one.
    pub fn shares(&self, x: f64, y: f64) -> [f64; 3] {
        self.edges.map(|[per_column, per_row, first]| {
            (first as f64 + per_column as f64 * x + per_row as f64 * y) / self.area
        })
    }

    /// A linear function with given values at the corners: value at the first sample, growth per
    /// column and per row.
    pub fn linear(&self, values: [f64; 3]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (edge, value) in self.edges.iter().zip(values) {
            let share = value / self.area;
            sum[0] += edge[2] as f64 * share;
            sum[1] += edge[0] as f64 * share;
            sum[2] += edge[1] as f64 * share;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Region = Region { left: 0, top: 0, right: 40, bottom: 40 };

    #[test]
    fn triangles_around_a_corner_cover_every_sample_once() {
        // A fan about a corner that lies on a sample, with rim corners on samples and between.
        let middle = [20 * STEP + STEP / 2; 2];
        let rim: Vec<[i64; 2]> = (0..12)
            .map(|k| f64::from(k) * std::f64::consts::TAU / 12.0)
            .map(|a| [snapped(20.5 + 15.0 * a.cos()), snapped(20.5 + 15.0 * a.sin())])
            .collect();
        let mut count = [[0; 40]; 40];
        for k in 0..12 {
            let edges = Edges::new([middle, rim[k], rim[(k + 1) % 12]]).unwrap();
            assert!(edges.clockwise);
            edges.scan(ALL, |x, y| count[y as usize][x as usize] += 1);
        }
        assert!(count.iter().flatten().all(|&n| n <= 1));
        let inner = |x: i64, y: i64| (x - 20).pow(2) + (y - 20).pow(2) < 14 * 14;
        for y in 0..40 {
            for x in 0..40 {
                assert!(!inner(x, y) || count[y as usize][x as usize] == 1, "{x} {y}");
            }
        }
    }

    #[test]
    fn a_linear_function_takes_the_corners_values() {
        let corners = [[0, 0], [10 * STEP, 2 * STEP], [3 * STEP, 20 * STEP]];
        let edges = Edges::new(corners).unwrap();
        // v = 2 x + 3 y + 1 at the centres of samples.
        let value = |c: [i64; 2]| 2.0 * c[0] as f64 / FINENESS + 3.0 * c[1] as f64 / FINENESS + 1.0;
        let [first, per_column, per_row] = edges.linear(corners.map(value));
        assert!((first - (1.0 + 1.0 + 1.5)).abs() < 1e-12);
        assert!((per_column - 2.0).abs() < 1e-12 && (per_row - 3.0).abs() < 1e-12);
        assert!((edges.shares(3.0, 4.0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
