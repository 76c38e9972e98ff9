//! Energy that the position correction adds to a tree.

use stiction_mech::{Data, Model, State, TreeMotion, tree_motion};

use super::{EnergyAuditor, LEAST_SPEED, MAX_NV};
use crate::energy_account::STRAIGHT;
use crate::energy_balance::EnergyBalance;
use crate::free_motion::StepStart;

/// Gain of energy by a correction that is allowed, relative to the energies exchanged [-].
const CORRECTION: f64 = 0.25 * STRAIGHT;

impl EnergyAuditor {
    /// Factors of the velocities of a tree that take energy out of them that it gained by the position correction, after which
    /// its state is in the data [-].
    ///
    /// The first is for kinetic energy: a displacement changes the mass matrix, and does no work. It is one unless the gain
    /// would be noticed: small ones have either sign. The second is for what the motion and the correction gained together
    /// beyond what the scheme explains and what lifts the tree by `lift` [m]. Also returns the change of momentum by the
    /// correction, relative to what is tolerated [-].
    pub fn correction_reduction(
        &self,
        (start, lift): (&StepStart, f64),
        tree: usize,
        next: &State,
        data: &Data,
    ) -> ([f64; 2], f64) {
        let after = tree_motion(start.model, tree, &next.v, data);
        let kinetic = after.kinetic - self.kinetic[tree];
        let kinetic = if kinetic > STRAIGHT * after.kinetic { kinetic } else { 0.0 };
        let gain = self.corrected_energy(start.model, tree, &after, next) - self.moved[tree];
        let weight = after.mass * start.model.gravity().norm();
        // The energies of all trees together are without those of rods, which have any room.
        let own = self.room[tree];
        let room = if own.is_finite() { own.min(self.world.room()) } else { own };
        let excess = gain - kinetic - room - lift * weight;
        let left = after.kinetic - kinetic;
        let factor = |taken: f64, of: f64| {
            if taken > 0.0 { (1.0 - taken / of).max(0.0).sqrt() } else { 1.0 }
        };
        let least = after.mass * LEAST_SPEED;
        let (of, before) = ((tree, self.fraction), &self.linear_momentum[tree]);
        let change = self.momentum.change(of, before, &after, least);
        ([factor(kinetic, after.kinetic), factor(excess, left)], change)
    }

    /// Kinetic energy of a tree after the position correction, and its potential energy of weight and springs relative to
    /// that at the start of the step [J].
    fn corrected_energy(
        &self,
        model: &Model,
        tree: usize,
        after: &TreeMotion,
        next: &State,
    ) -> f64 {
        let mut energy =
            after.kinetic - model.gravity().dot(&(after.moment - self.start[tree].moment));
        let first = self.springs.partition_point(|(of, _)| *of < tree);
        for (_, joint) in self.springs[first..].iter().take_while(|(of, _)| *of == tree) {
            let (joint, mut stretch) = (&model.joints()[*joint], [0.0; MAX_NV]);
            let stretch = &mut stretch[..joint.dofs.len()];
            let (rest, q) = (&model.q_spring()[joint.q.clone()], &next.q[joint.q.clone()]);
            joint.difference(rest, q, stretch);
            for (x1, dof) in stretch.iter().zip(joint.dofs.clone()) {
                let x0 = self.stretch[dof];
                energy += 0.5 * joint.spec.stiffness * (x1 * x1 - x0 * x0);
            }
        }
        energy
    }

    /// Sum of the forces of the springs of a tree [N, N·m].
    fn spring_force(&self, model: &Model, tree: usize, next: &State) -> f64 {
        let first = self.springs.partition_point(|(of, _)| *of < tree);
        let own = self.springs[first..].iter().take_while(|(of, _)| *of == tree);
        let forces = own.map(|(_, joint)| {
            let (joint, mut stretch) = (&model.joints()[*joint], [0.0; MAX_NV]);
            let stretch = &mut stretch[..joint.dofs.len()];
            joint.difference(&model.q_spring()[joint.q.clone()], &next.q[joint.q.clone()], stretch);
            joint.spec.stiffness * stretch.iter().map(|x| x.abs()).sum::<f64>()
        });
        forces.sum()
    }

    /// Adds the change of energy of a tree by the position correction, after which its state is in the data. `max_speed` is
    /// that of corrections [m/s]: a gain beyond what lifts the tree at that speed, and a part of the energies
    /// exchanged, is not resolved. `error` is the largest error that it had to remove [m, rad]: what moves the tree by as much
    /// against its weight and springs has a reason.
    pub fn add_correction(
        &mut self,
        (start, max_speed, error): (&StepStart, f64, f64),
        tree: usize,
        next: &State,
        data: &Data,
        balance: &mut EnergyBalance,
    ) {
        let StepStart { model, time_step: h, .. } = *start;
        let after = tree_motion(model, tree, &next.v, data);
        self.end[tree] = after;
        let gain = self.corrected_energy(model, tree, &after, next) - self.moved[tree];
        balance.correction += gain;
        let weight = after.mass * model.gravity().norm();
        self.world.add_correction(gain, error * (weight + self.spring_force(model, tree, next)));
        // A tree is displaced by what it moves in a step as well.
        let speed = max_speed + (2.0 * self.kinetic[tree] / after.mass).sqrt();
        let allowed = h * speed * weight + CORRECTION * self.exchanged[tree];
        if gain > allowed && allowed > 0.0 {
            balance.raise([gain / allowed, 0.0, 0.0], model.trees()[tree].bodies.start);
        }
    }
}
