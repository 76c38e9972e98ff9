//! Estimates of the compliance of vertices, which solvers use to scale contacts.

use stiction_math::block::{Cholesky, SelectedInverse};

use super::body::SoftBodyMotion;

/// Number of vertices up to which the compliance of each is computed; for more, that of a sample.
pub(super) const FEW_VERTICES: usize = 2500;
const SAMPLE: usize = 48;

impl SoftBodyMotion {
    /// `trace((A⁻¹)ᵢᵢ)/3` of all vertices, if there are few. For many, a sample gives the mean ratio
    /// between the compliance of a vertex and that of its own block of A alone, which scales the others.
    pub(super) fn estimate_node_compliance(&mut self, few: usize) {
        let (n, pattern) = (self.free.len(), self.A.pattern());
        let trace = |block: &[f64]| (block[0] + block[4] + block[8]) / 3.0;
        if n <= few {
            let mut inverse = SelectedInverse::analyse(pattern);
            if inverse.compute(&self.A).is_ok() {
                for (k, out) in self.node_compliance.iter_mut().enumerate() {
                    *out = trace(inverse.diagonal_block(k));
                }
                return;
            }
        }
        for (k, out) in self.node_compliance.iter_mut().enumerate() {
            *out = 1.0 / trace(self.A.block(pattern.diagonal(k)));
        }
        let mut factor = Cholesky::analyse(pattern);
        if n == 0 || factor.factor(&self.A).is_err() {
            return;
        }
        let (mut logarithms, mut column) = (0.0, vec![0.0; 3 * n]);
        for k in 0..SAMPLE {
            let vertex = k * n / SAMPLE;
            let mut own = 0.0;
            for axis in 0..3 {
                column.fill(0.0);
                column[3 * vertex + axis] = 1.0;
                factor.solve_in_place(&mut column);
                own += column[3 * vertex + axis] / 3.0;
            }
            logarithms += (own / self.node_compliance[vertex]).ln();
        }
        let softer = (logarithms / SAMPLE as f64).exp();
        self.node_compliance.iter_mut().for_each(|out| *out *= softer);
    }
}
