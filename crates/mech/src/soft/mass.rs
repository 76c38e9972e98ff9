//! The mass matrix of a soft body, constant: M_ab = m_ab 1 with one number per stored block.
//!
//! Consistent: ρ V (1 + δ_ab)/20 per element, the integral of ρ N_a N_b; lumped: ρ V/4 on the diagonal.
//! Rows of both add up to the same mass of a vertex.

use super::elements::ElementGroup;
use super::lanes::N;
use super::spec::{Lumping, SoftSpec};
use super::topology::MeshTopology;
use stiction_math::block::{BlockId, Symmetric};

/// The mass of a soft body as matrix, per block, per vertex and in total.
#[derive(Clone, Debug)]
pub(crate) struct SoftMass {
    /// Mass matrix M [kg].
    pub matrix: Symmetric,
    /// m_ab [kg] of each stored block.
    pub scalar: Vec<f64>,
    /// Row sums [kg]: the mass of each vertex.
    pub of_vertex: Vec<f64>,
    /// Total mass [kg].
    pub total: f64,
}

impl SoftMass {
    pub fn new(spec: &SoftSpec, groups: &[ElementGroup], topology: &MeshTopology) -> Self {
        let mass_of = |element: usize| spec.density * groups[element / N].volume.0[element % N];
        let n_blocks = topology.pattern.n_entries();
        let mut scalar = vec![0.0; n_blocks];
        for (block, scalar) in scalar.iter_mut().enumerate() {
            let sum: f64 = topology.block(block).iter().map(|i| mass_of(i.element())).sum();
            let [row, column] = topology.places[block];
            *scalar = sum
                * match (spec.lumping, row == column) {
                    (Lumping::Consistent, true) => 0.1,
                    (Lumping::Consistent, false) => 0.05,
                    (Lumping::Lumped, true) => 0.25,
                    (Lumping::Lumped, false) => 0.0,
                };
        }
        let mut matrix = Symmetric::zeros(&topology.pattern);
        for (block, &scalar) in scalar.iter().enumerate() {
            matrix.block_mut(BlockId(block)).iter_mut().step_by(4).for_each(|m| *m = scalar);
        }
        let around = |vertex| topology.around(vertex).iter().map(|i| mass_of(i.element()));
        let of_vertex: Vec<f64> =
            (0..spec.vertices.len()).map(|vertex| 0.25 * around(vertex).sum::<f64>()).collect();
        let total = of_vertex.iter().sum();
        Self { matrix, scalar, of_vertex, total }
    }
}
