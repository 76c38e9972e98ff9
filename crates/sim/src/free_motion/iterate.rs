//! Free motion of schemes with θ > 0: Newton's method on `m(v*) = 0`.

use stiction_math::branch;
use stiction_mech::{
    ForceError, MechanismState, bias_forces, integrate, kinematics, mass_matrix, velocities,
};

use super::{FreeMotion, StepStart, Trial};

/// Newton steps of the first stage, and the relative change at which they end.
const NEWTON_STEPS: usize = 50;
const NEWTON_TOLERANCE: f64 = 1e-13;
/// Relative change below which the iteration of rods ends if it no longer decreases.
const STALLED: f64 = 1e-8;
impl FreeMotion {
    /// Newton's method on the implicit equations of free motion.
    pub(super) fn iterate(&mut self, start: &StepStart) -> Result<(), ForceError> {
        let StepStart { model, scheme, time_step: h, state, input, .. } = *start;
        let (theta, theta_vq) = (scheme.theta(), scheme.theta_vq());
        let mut last_change = f64::INFINITY;
        self.velocity.copy_from_slice(&state.v);
        for round in 0..NEWTON_STEPS {
            self.unresolved |= round + 1 == NEWTON_STEPS;
            let Trial { data, forces, q, v, speed, residual } = &mut self.trial;
            for dof in 0..model.nv() {
                let (next, old) = (self.velocity[dof], state.v[dof]);
                speed[dof] = theta_vq * next + (1.0 - theta_vq) * old;
                v[dof] = theta * next + (1.0 - theta) * old;
                residual[dof] = next - old;
            }
            integrate(model, &state.q, speed, theta * h, q);
            kinematics(model, q, data);
            velocities(model, v, data);
            bias_forces(model, v, data);
            mass_matrix(model, data);
            let activation = &self.activation.read[..];
            forces.evaluate(model, MechanismState { q, v, activation }, data, input, h)?;
            for dof in 0..model.nv() {
                let K = forces.stiffness[dof];
                self.diagonal[dof] = h * theta * (h * theta_vq * K + forces.damping[dof]);
            }
            let mut change = 0.0_f64;
            for (index, tree) in model.trees().iter().enumerate() {
                let n = tree.dofs.len();
                let A = &mut self.matrix[tree.mass.clone()];
                A.copy_from_slice(&data.mass[tree.mass.clone()]);
                let b = &mut self.momentum[tree.dofs.clone()];
                for (k, dof) in tree.dofs.clone().enumerate() {
                    let row = &A[k * n..(k + 1) * n];
                    let inertia: f64 =
                        row.iter().zip(&residual[tree.dofs.clone()]).map(|(a, v)| a * v).sum();
                    b[k] = h * (forces.generalized[dof] - data.bias[dof]) - inertia;
                }
                for (k, dof) in tree.dofs.clone().enumerate() {
                    A[k * n + k] += self.diagonal[dof];
                }
                if model.rod_of_tree(index).is_some() {
                    continue;
                }
                let L = &mut self.factor[tree.mass.clone()];
                L.copy_from_slice(A);
                let parents = &model.dof_parents()[tree.dofs.clone()];
                if branch::factor(L, parents, |_| 0.0) {
                    branch::solve(L, parents, b);
                }
                for (next, step) in self.velocity[tree.dofs.clone()].iter_mut().zip(&*b) {
                    *next += step;
                    change = change.max(step.abs() / next.abs().max(1.0));
                }
            }
            change = change.max(self.improve_rods(model, scheme, h));
            // Strains are small differences of large numbers: their round-off limits convergence.
            let stalls = !self.rods.is_empty() && change < STALLED && change > 0.5 * last_change;
            if !(change > NEWTON_TOLERANCE) || stalls {
                break;
            }
            last_change = change;
        }
        for tree in model.trees() {
            let v = &self.velocity[tree.dofs.clone()];
            let A = &self.matrix[tree.mass.clone()];
            for (row, b) in A.chunks_exact(v.len()).zip(&mut self.momentum[tree.dofs.clone()]) {
                *b = row.iter().zip(v).map(|(a, v)| a * v).sum();
            }
        }
        for (rod, system) in model.rods().iter().zip(&self.rods) {
            let v = &self.velocity[rod.dofs.clone()];
            system.matrix().mul(v, &mut self.momentum[rod.dofs.clone()]);
        }
        Ok(())
    }
}
