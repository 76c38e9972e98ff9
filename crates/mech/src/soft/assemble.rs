//! Forces, stiffness and energy of all elements, gathered at the vertices.
//!
//! Two loops each: over groups of elements into memory of their own (`kernels.rs`), then over vertices
//! or blocks, which add up their elements in a fixed order (`gather.rs`). Both are cut by length alone,
//! so that every number of threads gives the same bits.

use super::SoftBody;
use super::gather::{GatherBlocks, GatherForces, GatherTurned};
use super::kernels::{
    Freeze, GivenEnergy, GivenForces, IsotropicBlocks, IsotropicEnergy, IsotropicForces,
};
use super::work::SoftWorkspace;
use crate::material::with_law;
use nalgebra::Vector3;
use stiction_math::par::{for_each_chunk, reduce};
use stiction_math::simd::dispatch;

/// Groups of elements, and vertices or blocks, that one thread takes at a time.
const GROUPS: usize = 32;
const VERTICES: usize = 256;
const BLOCKS: usize = 512;
/// Groups from which on a second thread pays.
const PARALLEL_FROM: usize = 256;

impl SoftBody {
    fn parallel_from(&self, items: usize) -> usize {
        if self.groups.len() >= PARALLEL_FROM { 0 } else { items + 1 }
    }

    /// Freezes the rotations of the elements at positions x [m] of this body's vertices. Only the
    /// linear corotated material asks for it; for others it does nothing.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn update_rotations(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        if self.spec.material.entry().lagged {
            self.freeze_by(Some(x), work);
        }
    }

    pub(super) fn freeze_at_rest(&self, work: &mut SoftWorkspace) {
        self.freeze_by(None, work);
    }

    fn freeze_by(&self, x: Option<&[Vector3<f64>]>, work: &mut SoftWorkspace) {
        let from = self.parallel_from(work.frozen.len());
        for_each_chunk(&mut work.frozen, GROUPS, from, |first, out| {
            dispatch(Freeze { groups: &self.groups[first..first + out.len()], x, out });
        });
    }

    /// Elastic forces [N] on this body's vertices at positions x [m], into [`SoftWorkspace::force`].
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn forces(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        let from = self.parallel_from(work.element_forces.len());
        let SoftWorkspace { force, frozen, element_forces, .. } = work;
        for_each_chunk(element_forces, GROUPS, from, |first, out| {
            let range = first..first + out.len();
            let groups = &self.groups[range.clone()];
            with_law!(
                self.resolved,
                lame => dispatch(GivenForces { groups, x, frozen: &frozen[range], lame, out }),
                law => dispatch(IsotropicForces { groups, x, law, out })
            );
        });
        let from = self.parallel_from(force.len());
        let topology = &self.topology;
        for_each_chunk(force, VERTICES, from, |first, out| {
            dispatch(GatherForces { topology, from: element_forces, first, out });
        });
    }

    /// Stiffness K = −∂f/∂x [N/m] at positions x [m], positive semi-definite, into
    /// [`SoftWorkspace::stiffness`]. For linear materials it depends on the frozen rotations alone.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn stiffness(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        self.stiffness_by(x, true, work);
    }

    /// The same as it is: the slope of the forces, which need not be positive semi-definite. In a body
    /// under pressure most elements alone are not, although all of them together are: what the pressure
    /// does to one face of an element it undoes on its neighbour's.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn exact_stiffness(&self, x: &[Vector3<f64>], work: &mut SoftWorkspace) {
        self.stiffness_by(x, false, work);
    }

    fn stiffness_by(&self, x: &[Vector3<f64>], projected: bool, work: &mut SoftWorkspace) {
        assert_eq!(x.len(), self.nodes.len());
        let SoftWorkspace { stiffness, frozen, element_blocks, .. } = work;
        let from = self.parallel_from(element_blocks.len());
        for_each_chunk(element_blocks, GROUPS, from, |first, out| {
            let groups = &self.groups[first..first + out.len()];
            with_law!(
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
            with_law!(
                self.resolved,
                lame => dispatch(GatherTurned { topology, frozen, lame, first, out }),
                _law => dispatch(GatherBlocks { topology, from: element_blocks, first, out })
            );
        });
    }

    /// Elastic energy [J] at positions x [m], each element seen from its present rotation.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn energy(&self, x: &[Vector3<f64>]) -> f64 {
        assert_eq!(x.len(), self.nodes.len());
        let lagged = self.spec.material.entry().lagged;
        let from = self.parallel_from(self.groups.len());
        let sum = |range: std::ops::Range<usize>| {
            let groups = &self.groups[range];
            with_law!(
                self.resolved,
                lame => dispatch(GivenEnergy { groups, x, lame, lagged }),
                law => dispatch(IsotropicEnergy { groups, x, law })
            )
        };
        reduce(self.groups.len(), GROUPS, from, sum, |a, b| a + b)
    }
}
