//! Workspace of a soft body: forces, stiffness and per-element buffers. Everything in it is computed
//! from the state within the same step.

use super::SoftBody;
use super::lanes::{Mat, N};
use nalgebra::Vector3;
use stiction_math::block::Symmetric;

/// Forces and stiffness of a soft body, with the per-element buffers from which they are assembled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SoftWorkspace {
    /// Elastic force on each vertex [N, world frame]; by [`SoftBody::forces`].
    pub force: Vec<Vector3<f64>>,
    /// K = −∂f/∂x [N/m], positive semi-definite; by [`SoftBody::stiffness`].
    pub stiffness: Symmetric,
    /// Element rotations at the last update, by groups.
    pub(crate) rotations: Vec<ElementRotations>,
    /// Forces of each element on its vertices, by groups.
    pub(crate) element_forces: Vec<ElementForces>,
    /// Blocks of each element's stiffness, by groups; empty for linear materials.
    pub(crate) element_blocks: Vec<ElementBlocks>,
}

/// Rotations R of a group of elements and its rotated gradients.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct ElementRotations {
    /// √V R ∇N_a of each element and corner; the fourth number is zero.
    pub rotated_gradients: [[[f64; 4]; 4]; N],
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

/// Index of the block (a, b) among the ten lower blocks of an element, symmetric in a and b.
pub(crate) const BLOCK_INDEX: [[usize; 4]; 4] =
    [[0, 1, 3, 6], [1, 2, 4, 7], [3, 4, 5, 8], [6, 7, 8, 9]];

impl SoftWorkspace {
    /// Allocates the workspace for a soft body, with the rotations of the reference shape.
    pub fn new(body: &SoftBody) -> Self {
        let n = body.nodes.len();
        let groups = body.groups.len();
        let rotations =
            ElementRotations { rotation: Mat::IDENTITY, rotated_gradients: [[[0.0; 4]; 4]; N] };
        let needs_blocks = !body.spec.material.entry().linear;
        let blocks = ElementBlocks([[[0.0; 9]; 10]; N]);
        let mut work = Self {
            force: vec![Vector3::zeros(); n],
            stiffness: Symmetric::zeros(body.pattern()),
            rotations: vec![rotations; if needs_blocks { 0 } else { groups }],
            element_forces: vec![ElementForces([[[0.0; 4]; 4]; N]); groups],
            element_blocks: vec![blocks; if needs_blocks { groups } else { 0 }],
        };
        body.reset_rotations(&mut work);
        work
    }
}
