//! A contact of a soft surface: one point at which it touches, or may touch within the reach.

use super::SoftSurfaceId;
use crate::ColliderId;
use nalgebra::Vector3;

/// A point of a soft surface: three nodes and their weights, which are not negative and sum to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePoint {
    /// Nodes, by their index in the array of all nodes.
    pub nodes: [u32; 3],
    /// Their weights [-].
    pub weights: [f64; 3],
}

impl FacePoint {
    /// The point at a node itself; the other two weights are zero.
    pub fn vertex(node: u32) -> Self {
        Self { nodes: [node; 3], weights: [1.0, 0.0, 0.0] }
    }

    /// Position of the point [m].
    pub fn position(&self, nodes: &[Vector3<f64>]) -> Vector3<f64> {
        (0..3).map(|k| nodes[self.nodes[k] as usize] * self.weights[k]).sum()
    }
}

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SoftContactSide {
    /// A rigid collider.
    Rigid(ColliderId),
    /// A point of a soft surface.
    Soft(SoftSurfaceId, FacePoint),
}

/// One point of contact of a soft surface. Against a rigid shape, A is rigid and B soft; of two soft
/// surfaces, A is the one with the smaller id, and against itself, A is the face and B the vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftContact {
    /// The side from which the normal points.
    pub a: SoftContactSide,
    /// The side into which the normal points.
    pub b: SoftContactSide,
    /// Feature id of the point within the two sides; it stays the same while the same features touch.
    pub feature: u32,
    /// Position in the world, midway between the two surfaces [m].
    pub point: Vector3<f64>,
    /// Unit normal in the world, from A into B [-].
    pub normal: Vector3<f64>,
    /// Distance between the surfaces [m]; negative when they penetrate.
    pub gap: f64,
}

impl SoftContact {
    /// Sorting key: rigid partners before soft ones, then A, B and the feature.
    pub fn key(&self) -> (u64, u64, u32) {
        (self.a.rank(), self.b.rank(), self.feature)
    }
}

impl SoftContactSide {
    fn rank(&self) -> u64 {
        match self {
            Self::Rigid(id) => u64::from(id.0),
            Self::Soft(id, _) => 1 << 32 | u64::from(id.0),
        }
    }
}
