//! Softness of an equality, and whether it is switched on.

use nalgebra::Vector3;
use stiction_mech::{BodyId, InverseWeights, Model, SoftLaw};

use super::Equality;

/// Properties of an equality besides its geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualityOptions {
    /// Softness as in MuJoCo; `None` if the equality is exact.
    pub softness: Option<SoftLaw>,
    /// Factor of the rotations of a soft weld against its displacements [m]: MuJoCo's `torquescale`.
    pub torque_scale: f64,
    /// Point of the second body at which a soft weld holds the first, in its frame [m]: MuJoCo's `anchor`.
    pub anchor: Vector3<f64>,
    /// Whether it holds at the start; [`Simulation::set_equality_active`](crate::Simulation::set_equality_active)
    /// switches it.
    pub active: bool,
}

impl Default for EqualityOptions {
    /// Exact and active.
    fn default() -> Self {
        Self { softness: None, torque_scale: 1.0, anchor: Vector3::zeros(), active: true }
    }
}

impl Equality {
    /// The two bodies of an equality that acts on bodies.
    pub(crate) fn bodies(&self) -> Option<[BodyId; 2]> {
        match self {
            Self::Connect(relation) => Some([relation.body_a, relation.body_b]),
            Self::Distance(relation) => Some([relation.body_a, relation.body_b]),
            Self::Weld(relation) => Some([relation.body_a, relation.body_b]),
            Self::Joint(_) | Self::Tendon(_) => None,
        }
    }

    /// Whether a driven body takes part.
    pub(crate) fn is_driven(&self, model: &Model) -> bool {
        self.bodies().is_some_and(|ends| ends.iter().any(|body| model.driver(*body).is_some()))
    }

    /// Whether a row is a rotation of a weld.
    pub(super) fn is_rotation(&self, row: usize) -> bool {
        matches!(self, Self::Weld(_)) && row >= 3
    }

    /// Inverse inertia Â of a row [1/kg, 1/(kg·m²)].
    pub(super) fn inverse_weight(
        &self,
        row: usize,
        model: &Model,
        weights: &InverseWeights,
    ) -> f64 {
        if let Some(ends) = self.bodies() {
            let kind = usize::from(self.is_rotation(row));
            return ends.iter().map(|body| weights.body[body.0][kind]).sum();
        }
        match self {
            Self::Joint(coupling) => {
                let joints = std::iter::once(coupling.joint).chain(coupling.leader);
                joints.map(|joint| weights.dof[model.joints()[joint.0].dofs.start]).sum()
            }
            Self::Tendon(coupling) => {
                let tendons = std::iter::once(coupling.tendon).chain(coupling.leader);
                tendons.map(|tendon| weights.tendon[tendon.0]).sum()
            }
            _ => 0.0,
        }
    }
}
