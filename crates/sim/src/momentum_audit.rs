//! Balance of momentum of one step: that of a tree whose root is free changes by the impulses on it,
//!
//! ```text
//! |Δp − h m g − p_f − (Jᵀλ)_f| ≤ ε (Σ mᵢ|vᵢ| + h m|g| + |p_f| + |(Jᵀλ)_f|)
//! ```
//!
//! where f are the first three velocities of a free joint, along the axes of the world, and p the impulse of all
//! forces but weight. ε is [`MOMENTUM`] for a body whose origin is its centre of mass, for which the
//! equation is linear, and [`RELATIVE`] for others.

use nalgebra::Vector3;
use stiction_mech::{JointKind, Link, Model, TreeMotion};

use crate::energy_account::RELATIVE;

/// Momentum without cause above which the motion of a single body is not resolved, relative to all momenta [-].
const MOMENTUM: f64 = 1e-3;
/// Distance of the centre of mass from the origin of a body that counts as none, relative to its size [-].
const CENTRED: f64 = 1e-9;
/// Balances of momentum of the trees of a model.
pub(crate) struct MomentumAuditor {
    /// Per tree: ε above [-]; `None` if it has no balance.
    relative_error: Vec<Option<f64>>,
}

impl MomentumAuditor {
    pub fn new(model: &Model) -> Self {
        let trees = 0..model.trees().len();
        Self { relative_error: trees.map(|tree| relative_error(model, tree)).collect() }
    }

    /// Momentum without cause of a tree, relative to what its scheme explains [-]. `weight` is the impulse of its
    /// weight, `forces` and `constraints` are the impulses on its velocities [N·s].
    pub fn imbalance(
        &self,
        tree: usize,
        [before, after]: [&TreeMotion; 2],
        weight: &Vector3<f64>,
        forces: &[f64],
        constraints: Option<&[f64]>,
    ) -> f64 {
        let Some(error) = self.relative_error[tree] else { return 0.0 };
        let mut residual = after.momentum - before.momentum - weight;
        let mut gross = before.gross_momentum.max(after.gross_momentum) + weight.norm();
        for k in 0..3 {
            let (force, constraint) = (forces[k], constraints.map_or(0.0, |all| all[k]));
            residual[k] -= force + constraint;
            gross += force.abs() + constraint.abs();
        }
        let allowed = error * gross;
        if allowed > 0.0 { residual.norm() / allowed } else { 0.0 }
    }
}

/// ε of the momentum balance of a tree; `None` unless its root is free. The impulses between the segments of a rod are
/// not known apart.
fn relative_error(model: &Model, tree: usize) -> Option<f64> {
    let range = &model.trees()[tree];
    let root = &model.joints()[range.joints.start];
    if root.spec.kind != JointKind::Free
        || root.spec.stiffness > 0.0
        || model.rod_of_tree(tree).is_some()
    {
        return None;
    }
    let links = &model.links()[range.links.clone()];
    let is_centred = |link: &Link| {
        let size = (link.inertia.trace() / link.mass).sqrt();
        link.com.norm() <= CENTRED * size
    };
    let linear = links.len() == 1 && links.iter().all(is_centred);
    Some(if linear { MOMENTUM } else { RELATIVE })
}
