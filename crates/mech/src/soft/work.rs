//! Memory of a soft body's forces and stiffness. It holds no truth: whatever is read was written by a
//! call of the same step, from the state.

use super::SoftBody;
use super::lanes::{Mat, N};
use nalgebra::Vector3;
use stiction_math::block::Symmetric;

/// Forces and stiffness of a soft body, and what they are gathered from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SoftWorkspace {
    /// Elastic force on each vertex [N, world frame]; by [`SoftBody::forces`].
    pub force: Vec<Vector3<f64>>,
    /// K = −∂f/∂x [N/m], positive semi-definite; by [`SoftBody::stiffness`].
    pub stiffness: Symmetric,
    /// Frozen rotations, by groups.
    pub(crate) frozen: Vec<Frozen>,
    /// Forces of each element on its vertices, by groups.
    pub(crate) element_forces: Vec<ElementForces>,
    /// Blocks of each element's stiffness, by groups; empty for linear materials.
    pub(crate) element_blocks: Vec<ElementBlocks>,
}

/// Rotations R of a group of elements and its turned gradients.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Frozen {
    /// √V R ∇N_a of each element and corner; the fourth number is zero.
    pub turned: [[[f64; 4]; 4]; N],
    pub rotation: Mat,
}

/// Forces [N] of each element on its corners; the fourth number is zero.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ElementForces(pub [[[f64; 4]; 4]; N]);

/// The ten lower blocks (a, b ≤ a) of each element's stiffness, row-major.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ElementBlocks(pub [[[f64; 9]; 10]; N]);

/// Place of the block (a, b) of an element among its ten, for b ≤ a.
pub(crate) const PLACE: [[usize; 4]; 4] = [[0, 1, 3, 6], [1, 2, 4, 7], [3, 4, 5, 8], [6, 7, 8, 9]];

impl SoftWorkspace {
    /// Memory for a soft body, its rotations frozen at the reference shape.
    pub fn new(body: &SoftBody) -> Self {
        let n = body.nodes.len();
        let groups = body.groups.len();
        let frozen = Frozen { rotation: Mat::IDENTITY, turned: [[[0.0; 4]; 4]; N] };
        let needs_blocks = !body.spec.material.entry().linear;
        let blocks = ElementBlocks([[[0.0; 9]; 10]; N]);
        let mut work = Self {
            force: vec![Vector3::zeros(); n],
            stiffness: Symmetric::zeros(body.pattern()),
            frozen: vec![frozen; if needs_blocks { 0 } else { groups }],
            element_forces: vec![ElementForces([[[0.0; 4]; 4]; N]); groups],
            element_blocks: vec![blocks; if needs_blocks { groups } else { 0 }],
        };
        body.freeze_at_rest(&mut work);
        work
    }
}
