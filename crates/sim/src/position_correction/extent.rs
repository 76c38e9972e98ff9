//! How far a displacement moves the bodies of a tree.

use stiction_mech::{BodyId, Data, JointKind, angular_velocity, point_velocity, tree_velocities};

use crate::world::World;

/// Largest turn of a body by corrections in one step, besides what it turns in the step anyway [rad].
pub(crate) const MAX_TURN: f64 = 0.02;
/// The same of a hinge, relative to that of a body [-]: the step moves it, too, and both together must be no jump.
const HINGE_TURN: f64 = 0.75;

/// Largest displacement of a point of a body, and largest turn of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extent {
    /// Displacement [m].
    pub distance: f64,
    /// Turn [rad].
    pub turn: f64,
}

impl Extent {
    /// The extent of motion of a tree with velocities `v` of the model in unit time. Writes the velocities of
    /// its bodies into the data.
    pub fn of(world: &World, tree: usize, v: &[f64], data: &mut Data) -> Self {
        let model = &world.model;
        tree_velocities(model, tree, v, data);
        let mut extent = Self::default();
        for link in &model.links()[model.trees()[tree].links.clone()] {
            let body = BodyId(link.body);
            let p_WB = data.body_pose[link.body].translation.vector;
            let turn = angular_velocity(data, body).norm();
            let shift = point_velocity(model, data, body, p_WB).norm();
            extent.distance = extent.distance.max(shift + turn * world.radius[link.body]);
            extent.turn = extent.turn.max(turn);
        }
        extent
    }

    /// The extent of a displacement of a tree beside its motion with velocities `v` in time h [s]: the turn of a body or a hinge
    /// counts only as far as it exceeds that of its motion, and that of a hinge counts [more](HINGE_TURN). `turns` is memory for the
    /// turns of the bodies. Writes velocities of its bodies into the data.
    pub fn beside(
        world: &World,
        tree: usize,
        (displacement, v): (&[f64], &[f64]),
        h: f64,
        (turns, data): (&mut Vec<f64>, &mut Data),
    ) -> Self {
        let model = &world.model;
        let links = &model.links()[model.trees()[tree].links.clone()];
        let turn = |data: &Data, body: usize| angular_velocity(data, BodyId(body)).norm();
        tree_velocities(model, tree, v, data);
        turns.clear();
        turns.extend(links.iter().map(|link| h * turn(data, link.body)));
        let extent = Self::of(world, tree, displacement, data);
        let excess = links.iter().zip(turns).map(|(link, own)| turn(data, link.body) - *own);
        let joints = &model.joints()[model.trees()[tree].joints.clone()];
        let hinges =
            joints.iter().filter(|joint| matches!(joint.spec.kind, JointKind::Hinge { .. }));
        let own = hinges.map(|joint| {
            let dof = joint.dofs.start;
            (displacement[dof].abs() - h * v[dof].abs()) / HINGE_TURN
        });
        Self { turn: excess.chain(own).fold(0.0, f64::max), ..extent }
    }

    /// The largest extent of all corrections of a step or a part of it: the distance of the motion and a speed times the
    /// length of the step, and a turn beside that of the motion.
    pub fn allowed(moves: &Self, (speed, turn): (f64, f64), h: f64) -> Self {
        Self { distance: h * (speed + moves.distance), turn }
    }

    /// The largest factor, at most one, by which this extent may be multiplied so that it stays within another.
    pub fn factor_within(&self, bound: &Self) -> f64 {
        let factor = |value: f64, bound: f64| if value > bound { bound / value } else { 1.0 };
        factor(self.distance, bound.distance).min(factor(self.turn, bound.turn))
    }

    /// What remains of this extent after a motion.
    pub fn reduce(&mut self, used: &Self, factor: f64) {
        self.distance = (self.distance - factor * used.distance).max(0.0);
        self.turn = (self.turn - factor * used.turn).max(0.0);
    }
}
