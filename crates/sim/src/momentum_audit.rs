//! Balance of momentum of one step: that of a tree whose root is free changes by the impulses on it,
//!
//! ```text
//! |Δp − h m g − p_f − (Jᵀλ)_f| ≤ ε (Σ mᵢ|vᵢ| + h m|g| + |p_f| + |(Jᵀλ)_f|)
//! ```
//!
//! where f are the first three velocities of a free joint, along the axes of the world, and p the impulse of all
//! forces but weight. ε is [`MOMENTUM`] for a body whose origin is its centre of mass, for which the
//! equation is linear, and grows with the turn Ω h of the fastest link for others. In a step in parts the sum of the left
//! sides over the parts so far must not exceed twice that.

use nalgebra::Vector3;
use stiction_mech::{Actuator, JointKind, Link, Model, Transmission, TreeMotion};

use crate::energy_account::RELATIVE;
use crate::free_motion::StepStart;

/// Momentum without cause above which the motion of a single body is not resolved, relative to all momenta [-].
const MOMENTUM: f64 = 1e-3;
/// The same for other trees that do not turn, and factor of the square of their turn [-].
const TREE_MOMENTUM: f64 = 5e-3;
const TURNING: f64 = 5.0;
/// Factor of the same for the parts of a step together [-].
const SUM_OF_PARTS: f64 = 2.0;
/// Distance of the centre of mass from the origin of a body that counts as none, relative to its size [-].
const CENTRED: f64 = 1e-9;
/// Change of momentum by the position corrections of a step above which the velocity does not describe the motion, relative
/// to all momenta [-].
const CORRECTED: f64 = 0.05;

/// Balances of momentum of the trees of a model.
pub(crate) struct MomentumAuditor {
    /// Per tree: whether its equation is linear; `None` if it has no balance.
    is_linear: Vec<Option<bool>>,
    /// Whether tendons or actuators exert forces other than between the links of a tree.
    is_driven_from_outside: bool,
    /// Per tree: momentum without cause of this part of the step, and of the parts before it [N·s].
    residual: Vec<Vector3<f64>>,
    earlier: Vec<Vector3<f64>>,
}

impl MomentumAuditor {
    pub fn new(model: &Model) -> Self {
        let trees = model.trees().len();
        Self {
            is_linear: (0..trees).map(|tree| is_linear(model, tree)).collect(),
            residual: vec![Vector3::zeros(); trees],
            earlier: vec![Vector3::zeros(); trees],
            is_driven_from_outside: !model.tendons().is_empty()
                || model.actuators().iter().any(|actuator| !acts_within_a_tree(model, actuator)),
        }
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &Model) {
        for (tree, known) in self.is_linear.iter_mut().enumerate() {
            *known = is_linear(model, tree);
        }
    }

    /// Begins a step, or with a smaller `fraction` a part of one that was given up.
    pub fn begin(&mut self, fraction: f64) {
        self.residual.fill(Vector3::zeros());
        if fraction == 1.0 {
            self.earlier.fill(Vector3::zeros());
        }
    }

    /// Keeps the momentum without cause of a part of a step for the parts that follow.
    pub fn accept(&mut self) {
        for (earlier, residual) in self.earlier.iter_mut().zip(&self.residual) {
            *earlier += residual;
        }
    }

    /// Whether a tree has a balance, and no forces besides weight and those of joints act on its bodies if it has no constraint
    /// rows.
    pub fn flies_freely(&self, start: &StepStart, tree: usize) -> bool {
        self.is_linear[tree].is_some() && !self.is_pushed(start, tree)
    }

    fn is_pushed(&self, start: &StepStart, tree: usize) -> bool {
        let StepStart { model, input, .. } = *start;
        let range = &model.trees()[tree];
        let links = &model.links()[range.links.clone()];
        self.is_driven_from_outside
            || links.iter().any(|link| link.compensated_mass != 0.0)
            || input.force[range.dofs.clone()].iter().any(|force| *force != 0.0)
            || input.wrench[range.bodies.clone()].iter().any(|wrench| wrench.amax() > 0.0)
    }

    /// Momentum without cause of a tree, relative to what its scheme explains [-]. `weight` is the impulse of its
    /// weight, `impulses` are those of forces and constraints on its velocities, none of a tree in flight, and `least` its
    /// momentum at the speed to which velocities are solved [N·s].
    pub fn imbalance(
        &mut self,
        (tree, squared_turn): (usize, f64),
        ([before, after], least): ([&TreeMotion; 2], f64),
        weight: &Vector3<f64>,
        impulses: Option<(&[f64], Option<&[f64]>)>,
    ) -> f64 {
        let error = match self.is_linear[tree] {
            None => return 0.0,
            Some(true) => MOMENTUM,
            Some(false) => (TREE_MOMENTUM + TURNING * squared_turn).min(RELATIVE),
        };
        let mut residual = after.momentum - before.momentum - weight;
        let mut gross = before.gross_momentum.max(after.gross_momentum) + weight.norm();
        if let Some((forces, constraints)) = impulses {
            for k in 0..3 {
                let (force, constraint) = (forces[k], constraints.map_or(0.0, |all| all[k]));
                residual[k] -= force + constraint;
                gross += force.abs() + constraint.abs();
            }
        }
        self.residual[tree] = residual;
        let allowed = error * gross + least;
        let all = (residual + self.earlier[tree]).norm() / SUM_OF_PARTS;
        if allowed > 0.0 { residual.norm().max(all) / allowed } else { 0.0 }
    }

    /// Change of the momentum of a tree by a position correction, which exerts no impulse, relative to what is tolerated in a
    /// part of a step of this length [-].
    pub fn change(
        &self,
        (tree, fraction): (usize, f64),
        before: &Vector3<f64>,
        after: &TreeMotion,
        least: f64,
    ) -> f64 {
        if self.is_linear[tree].is_none() {
            return 0.0;
        }
        let gross = after.gross_momentum.max(before.norm());
        let allowed = fraction * (CORRECTED * gross + least);
        if allowed > 0.0 { (after.momentum - before).norm() / allowed } else { 0.0 }
    }
}

/// Whether an actuator acts on a joint between two links, so that its forces on them cancel.
fn acts_within_a_tree(model: &Model, actuator: &Actuator) -> bool {
    match actuator.spec.transmission {
        Transmission::Joint(joint) | Transmission::JointDof(joint, _) => {
            model.joints()[joint.0].spec.kind != JointKind::Free
        }
        _ => false,
    }
}

/// Whether the equation of the momentum of a tree is linear; `None` unless its root is free and has neither spring nor
/// armature. The impulses between the segments of a rod are not known apart.
fn is_linear(model: &Model, tree: usize) -> Option<bool> {
    let range = &model.trees()[tree];
    let root = &model.joints()[range.joints.start];
    // An armature is inertia that has no momentum.
    if root.spec.kind != JointKind::Free
        || root.spec.stiffness > 0.0
        || root.spec.armature > 0.0
        || model.rod_of_tree(tree).is_some()
    {
        return None;
    }
    let links = &model.links()[range.links.clone()];
    let is_centred = |link: &Link| {
        let size = (link.inertia.trace() / link.mass).sqrt();
        link.com.norm() <= CENTRED * size
    };
    Some(links.len() == 1 && links.iter().all(is_centred))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;
    use stiction_mech::{BodySpec, JointSpec, MassProperties, ModelBuilder};

    fn auditor_of_a_free_body() -> MomentumAuditor {
        let mut builder = ModelBuilder::new();
        let mass = MassProperties::new(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
        let body = builder.body(BodySpec { mass: Some(mass), ..BodySpec::default() });
        builder.joint(body, JointSpec::new(JointKind::Free));
        MomentumAuditor::new(&builder.build().unwrap())
    }

    /// A motion with a momentum along x [N·s].
    fn motion(p: f64) -> TreeMotion {
        TreeMotion {
            momentum: Vector3::x() * p,
            gross_momentum: p.abs(),
            mass: 2.0,
            ..TreeMotion::default()
        }
    }

    #[test]
    fn momentum_that_no_impulse_explains_is_found() {
        let mut auditor = auditor_of_a_free_body();
        let mut imbalance = |from: f64, to: f64, weight: f64, force: f64, constraint: f64| {
            let impulses = |p: f64| [p, 0.0, 0.0, 0.0, 0.0, 0.0];
            let weight = Vector3::x() * weight;
            let constraints = impulses(constraint);
            let states = [&motion(from), &motion(to)];
            auditor.imbalance(
                (0, 0.0),
                (states, 0.0),
                &weight,
                Some((&impulses(force), Some(&constraints))),
            )
        };
        // 1 N·s and what weight, forces and constraints add.
        assert!(imbalance(1.0, 1.6, 0.1, 0.2, 0.3) < 1e-9);
        // One per cent more, ten times what is allowed of 1.6 + 0.6 N·s.
        let found = imbalance(1.0, 1.622, 0.1, 0.2, 0.3);
        assert!((found - 0.022 / (1e-3 * 2.222)).abs() < 1e-9, "{found}");
        assert_eq!(imbalance(0.0, 0.0, 0.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn momentum_without_cause_adds_up_over_the_parts_of_a_step() {
        let mut auditor = auditor_of_a_free_body();
        // Each part gains 0.6 of what is allowed of 1 N·s; all together may gain twice that.
        auditor.begin(1.0);
        let mut found = [0.0; 4];
        for (part, found) in found.iter_mut().enumerate() {
            auditor.begin(0.25);
            let states = [&motion(1.0), &motion(1.0 + 0.6e-3)];
            *found = auditor.imbalance((0, 0.0), (states, 0.0), &Vector3::zeros(), None);
            auditor.accept();
            let expected = 0.6 * (0.5 * (part + 1) as f64).max(1.0) / (1.0 + 0.6e-3);
            assert!((*found - expected).abs() < 1e-9, "{found}");
        }
    }
}
