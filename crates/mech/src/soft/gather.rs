//! Sums over the elements around a vertex or an edge, in the fixed order of `topology.rs`.
//!
//! For linear materials with given rotations and h_a = √V R ∇N_a,
//! K_ab = Σ μ (h_a·h_b) 1 + μ h_b h_aᵀ + λ h_a h_bᵀ [Han23, Appendix], so that only T = Σ h_a h_bᵀ has
//! to be summed: K_ab = μ tr(T) 1 + μ Tᵀ + λ T. For other materials the stiffness blocks of the elements
//! are summed.

use super::lanes::N;
use super::topology::MeshTopology;
use super::workspace::{BLOCK_INDEX, ElementBlocks, ElementForces, ElementRotations};
use crate::material::Lame;
use nalgebra::Vector3;
use stiction_math::simd::Job;

/// Forces on vertices.
pub(super) struct GatherForces<'a> {
    pub topology: &'a MeshTopology,
    pub from: &'a [ElementForces],
    pub first: usize,
    pub out: &'a mut [Vector3<f64>],
}

impl Job for GatherForces<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (vertex, out) in self.out.iter_mut().enumerate() {
            let mut sum = [0.0; 4];
            for incidence in self.topology.around(self.first + vertex) {
                let element = incidence.element();
                let force = &self.from[element / N].0[element % N][incidence.row()];
                for i in 0..4 {
                    sum[i] += force[i];
                }
            }
            *out = Vector3::new(sum[0], sum[1], sum[2]);
        }
    }
}

/// Stiffness of linear materials.
pub(super) struct GatherLinearStiffness<'a> {
    pub topology: &'a MeshTopology,
    pub rotations: &'a [ElementRotations],
    pub lame: Lame,
    pub first: usize,
    pub out: &'a mut [[f64; 9]],
}

impl Job for GatherLinearStiffness<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lame { mu, lambda } = self.lame;
        for (block, out) in self.out.iter_mut().enumerate() {
            let mut T = [[0.0; 4]; 3];
            for incidence in self.topology.block(self.first + block) {
                let element = incidence.element();
                let h = &self.rotations[element / N].rotated_gradients[element % N];
                let (h_a, h_b) = (&h[incidence.row()], &h[incidence.column()]);
                for i in 0..3 {
                    for j in 0..4 {
                        T[i][j] = h_a[i].mul_add(h_b[j], T[i][j]);
                    }
                }
            }
            let trace = mu * ((T[0][0] + T[1][1]) + T[2][2]);
            for i in 0..3 {
                for j in 0..3 {
                    let start = if i == j { trace } else { 0.0 };
                    out[3 * i + j] = lambda.mul_add(T[i][j], mu.mul_add(T[j][i], start));
                }
            }
        }
    }
}

/// Stiffness from the blocks of the elements.
pub(super) struct GatherStiffness<'a> {
    pub topology: &'a MeshTopology,
    pub from: &'a [ElementBlocks],
    pub first: usize,
    pub out: &'a mut [[f64; 9]],
}

impl Job for GatherStiffness<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (block, out) in self.out.iter_mut().enumerate() {
            // Blocks with row corner ≥ column corner are stored directly, others transposed.
            let (mut sum, mut mirrored) = ([0.0; 9], [0.0; 9]);
            for incidence in self.topology.block(self.first + block) {
                let (element, a, b) = (incidence.element(), incidence.row(), incidence.column());
                let stored = &self.from[element / N].0[element % N][BLOCK_INDEX[a][b]];
                let into = if a >= b { &mut sum } else { &mut mirrored };
                for k in 0..9 {
                    into[k] += stored[k];
                }
            }
            let [row, column] = self.topology.places[self.first + block];
            if row == column {
                // The mean removes the asymmetry of round-off.
                (sum, mirrored) = (sum.map(|x| 0.5 * x), sum.map(|x| 0.5 * x));
            }
            for i in 0..3 {
                for j in 0..3 {
                    out[3 * i + j] = sum[3 * i + j] + mirrored[3 * j + i];
                }
            }
        }
    }
}
