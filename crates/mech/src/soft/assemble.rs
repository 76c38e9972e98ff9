//! Assembly of forces, stiffness and energy of all elements at the vertices.
//!
//! Two loops each: over groups of elements, which write to separate buffers (`kernels.rs`), then over
//! vertices or blocks, which sum their elements in a fixed order (`gather.rs`). Chunk boundaries
//! depend on the lengths only, so that every number of threads gives the same bits.

use super::SoftBody;
use super::gather::{GatherForces, GatherLinearStiffness, GatherStiffness};
use super::kernels::{
    IsotropicBlocks, IsotropicEnergy, IsotropicForces, LinearEnergy, LinearForces, UpdateRotations,
};
use super::workspace::SoftWorkspace;
use crate::material::with_material;
use nalgebra::Vector3;
use stiction_math::par::{for_each_chunk, reduce};
use stiction_math::simd::dispatch;

/// Chunk sizes: numbers of element groups, vertices or blocks that one thread processes at a time.
const GROUPS: usize = 32;
const VERTICES: usize = 256;
const BLOCKS: usize = 512;
/// Number of groups from which on several threads are faster than one.
const PARALLEL_FROM: usize = 256;

impl SoftBody {
    fn parallel_from(&self, items: usize) -> usize {
        if self.groups.len() >= PARALLEL_FROM { 0 } else { items + 1 }
    }

    /// Updates the element rotations from the positions x [m] of this body's vertices, for materials
    /// with lagged rotations ([`MaterialEntry::lagged`](crate::material::MaterialEntry::lagged)). For
    /// others it does nothing.
    ///
    /// # Panics
    /// If the length of `x` is not the number of vertices.
    pub fn update_rotations(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        if self.spec.material.entry().lagged {
            self.compute_rotations(Some(x), work);
        }
    }

    pub(super) fn reset_rotations(&self, work: &mut SoftWorkspace) {
        self.compute_rotations(None, work);
    }

    fn compute_rotations(&self, x: Option<&[Vector3<f64>]>, work: &mut SoftWorkspace) {
        let from = self.parallel_from(work.rotations.len());
        for_each_chunk(&mut work.rotations, GROUPS, from, |first, out| {
            dispatch(UpdateRotations { groups: &self.groups[first..first + out.len()], x, out });
        });
    }

    /// Elastic forces [N] on this body's vertices at positions x [m], into [`SoftWorkspace::force`].
    ///
    /// # Panics
    /// If the length of `x` is not the number of vertices.
    pub fn forces(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        let from = self.parallel_from(work.element_forces.len());
        let SoftWorkspace { force, rotations, element_forces, .. } = work;
        for_each_chunk(element_forces, GROUPS, from, |first, out| {
            let range = first..first + out.len();
            let groups = &self.groups[range.clone()];
            with_material!(
                self.resolved,
                lame => dispatch(LinearForces { groups, x, rotations: &rotations[range], lame, out }),
                law => dispatch(IsotropicForces { groups, x, law, out })
            );
        });
        let from = self.parallel_from(force.len());
        let topology = &self.topology;
        for_each_chunk(force, VERTICES, from, |first, out| {
            dispatch(GatherForces { topology, from: element_forces, first, out });
        });
    }

    /// Stiffness K = −∂f/∂x [N/m] at positions x [m], projected to be positive semi-definite, into
    /// [`SoftWorkspace::stiffness`]. For linear materials it depends on the element rotations only.
    ///
    /// # Panics
    /// If the length of `x` is not the number of vertices.
    pub fn stiffness(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        self.stiffness_by(x, true, work);
    }

    /// The exact stiffness, without projection, which need not be positive semi-definite. In a body
    /// under pressure most elements are indefinite although their sum is definite, because the
    /// contributions of the pressure cancel on the faces that neighbouring elements share.
    ///
    /// # Panics
    /// If the length of `x` is not the number of vertices.
    pub fn exact_stiffness(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        self.stiffness_by(x, false, work);
    }

    fn stiffness_by(&self, x: &[Vector3<f64>], projected: bool, work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        let SoftWorkspace { stiffness, rotations, element_blocks, .. } = work;
        let from = self.parallel_from(element_blocks.len());
        for_each_chunk(element_blocks, GROUPS, from, |first, out| {
            let groups = &self.groups[first..first + out.len()];
            with_material!(
                self.resolved,
                _lame => (),
                law => dispatch(IsotropicBlocks { groups, x, law, projected, out })
            );
        });
        let topology = &self.topology;
        let values = stiffness.values_mut();
        let from = self.parallel_from(values.len());
        for_each_chunk(values, 9 * BLOCKS, from, |first, out| {
            let (first, out) = (first / 9, out.as_chunks_mut::<9>().0);
            with_material!(
                self.resolved,
                lame => dispatch(GatherLinearStiffness { topology, rotations, lame, first, out }),
                _law => dispatch(GatherStiffness { topology, from: element_blocks, first, out })
            );
        });
    }

    /// Elastic energy [J] at positions x [m], with the rotation of each element at x.
    ///
    /// # Panics
    /// If the length of `x` is not the number of vertices.
    pub fn energy(&self, x: &[Vector3<f64>]) -> f64 {
        assert_eq!(x.len(), self.nodes.len());
        let lagged = self.spec.material.entry().lagged;
        let from = self.parallel_from(self.groups.len());
        let sum = |range: std::ops::Range<usize>| {
            let groups = &self.groups[range];
            with_material!(
                self.resolved,
                lame => dispatch(LinearEnergy { groups, x, lame, lagged }),
                law => dispatch(IsotropicEnergy { groups, x, law })
            )
        };
        reduce(self.groups.len(), GROUPS, from, sum, |a, b| a + b)
    }
}
