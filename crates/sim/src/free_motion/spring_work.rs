//! Work of the springs of joints on trees that advance by a rule of their own, as the forces did it. The potential energy
//! of a spring changes by as much, unless it has a kink within the step, as that of a ball joint turned by half a
//! revolution has.

use stiction_mech::Model;

use super::FreeMotion;

/// Largest number of velocities of a joint.
const MAX_NV: usize = 6;

impl FreeMotion {
    /// Adds the work of a substep of length `tau` [s] whose middle is in the trial state, after the velocity changed.
    pub(super) fn add_spring_work(&mut self, model: &Model, tree: usize, tau: f64) {
        let middle = &self.trial.q;
        for joint in &model.joints()[model.trees()[tree].joints.clone()] {
            let stiffness = joint.spec.stiffness;
            if stiffness <= 0.0 {
                continue;
            }
            let mut stretch = [0.0; MAX_NV];
            let stretch = &mut stretch[..joint.dofs.len()];
            let rest = &model.q_spring()[joint.q.clone()];
            joint.difference(rest, &middle[joint.q.clone()], stretch);
            for (x, dof) in stretch.iter().zip(joint.dofs.clone()) {
                let (v, change) = (self.flight.v[dof], self.flight.change[dof]);
                let force = -stiffness * (x + 0.25 * tau * change);
                self.flight.spring_work[tree] += tau * force * (v - 0.5 * change);
            }
        }
    }
}
