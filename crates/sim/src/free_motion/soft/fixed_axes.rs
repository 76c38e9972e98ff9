//! Axes along which vertices are fixed while they are free along others.

use stiction_math::block::Pattern;

/// Fixed coordinates of vertices that are free along other axes. They stay among the unknowns, coupled
/// to nothing; no constraint acts on them.
pub(super) struct FixedAxes {
    /// Indices of the coordinates among the unknowns.
    coordinates: Vec<u32>,
    /// Entries of A that couple them to others.
    coupling: Vec<u32>,
}

impl FixedAxes {
    /// From the axes of all vertices; `pattern` is over the `free` ones.
    pub(super) fn new(axes: &[[bool; 3]], free: &[u32], pattern: &Pattern) -> Self {
        let is_fixed = |place: usize, axis: usize| axes[free[place] as usize][axis];
        let all = (0..3 * free.len()).filter(|c| is_fixed(c / 3, c % 3));
        let coordinates: Vec<u32> = all.map(|c| c as u32).collect();
        let mut coupling = Vec::new();
        for (block, entry) in pattern.entries().enumerate().filter(|_| !coordinates.is_empty()) {
            for k in 0..9 {
                let (i, j) = (k / 3, k % 3);
                if is_fixed(entry.row, i) || is_fixed(entry.col, j) {
                    let is_own = entry.row == entry.col && i == j;
                    if !is_own {
                        coupling.push((9 * block + k) as u32);
                    }
                }
            }
        }
        Self { coordinates, coupling }
    }

    /// Uncouples them in A.
    pub(super) fn uncouple(&self, A: &mut [f64]) {
        self.coupling.iter().for_each(|at| A[*at as usize] = 0.0);
    }

    /// Sets them to zero.
    pub(super) fn clear(&self, x: &mut [f64]) {
        self.coordinates.iter().for_each(|at| x[*at as usize] = 0.0);
    }
}
