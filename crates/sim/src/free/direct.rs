//! MuJoCo's Euler and implicitfast: all forces where the step begins, and what of their dependence on
//! velocities is implicit.
//!
//! `A = M − h ∂f/∂v` and `b = A v + h f(q, v)`, so that without constraints `v' = v + h A⁻¹ f`
//! [Todorov12]. Of ∂f/∂v, Euler knows the damping of
//! joints; implicitfast also dampers of tendons and the velocity terms of actuators that are not at
//! an end of their force range. Coriolis, centrifugal and gyroscopic forces are explicit in both, as
//! are springs. What couples two branches of a tree is left out of A, as there, so that its factors
//! stay sparse. Servos are no constraints here.

use stiction_math::branch;
use stiction_mech::{Data, Model, RowEntry, State, tree_bias_forces, tree_mass_matrix};

use super::FreeMotion;
use crate::rows::tree_of_dof;
use crate::scheme::Scheme;

impl FreeMotion {
    /// A and b of every tree that is awake, from forces that were evaluated where the step begins.
    pub(super) fn direct(
        &mut self,
        model: &Model,
        scheme: Scheme,
        h: f64,
        state: &State,
        asleep: &[bool],
        data: &mut Data,
    ) {
        self.forces.take_drives_explicitly();
        for (index, tree) in model.trees().iter().enumerate().filter(|(index, _)| !asleep[*index]) {
            tree_mass_matrix(model, index, data);
            tree_bias_forces(model, index, &state.v, data);
            let (n, A) = (tree.dofs.len(), &mut self.matrix[tree.mass.clone()]);
            A.copy_from_slice(&data.mass[tree.mass.clone()]);
            for (k, dof) in tree.dofs.clone().enumerate() {
                let implicit = h * self.forces.joint_damping()[dof];
                A[k * n + k] += implicit;
                self.diagonal[dof] = model.armature()[dof] + implicit;
            }
        }
        if scheme == Scheme::ImplicitFast {
            let Self { forces, matrix, diagonal, whole, .. } = self;
            forces.rate_slopes(model, |row, slope| {
                add_slope(model, row, -h * slope, matrix, diagonal, whole);
            });
        }
        for (_, tree) in model.trees().iter().enumerate().filter(|(index, _)| !asleep[*index]) {
            let (v, A) = (&state.v[tree.dofs.clone()], &self.matrix[tree.mass.clone()]);
            for (row, dof) in A.chunks_exact(v.len()).zip(tree.dofs.clone()) {
                let momentum: f64 = row.iter().zip(v).map(|(a, v)| a * v).sum();
                self.momentum[dof] = momentum + h * (self.forces.generalized[dof] - data.bias[dof]);
            }
        }
    }
}

/// Adds `weight` times the square of a row to A, where A has entries. A tree in which it couples
/// velocities is seen as a whole from now on: link by link only diagonals can be told.
fn add_slope(
    model: &Model,
    row: &[RowEntry],
    weight: f64,
    matrix: &mut [f64],
    diagonal: &mut [f64],
    whole: &mut [bool],
) {
    for one in row {
        let index = tree_of_dof(model, one.dof);
        let tree = &model.trees()[index];
        let (start, n) = (tree.dofs.start, tree.dofs.len());
        let A = &mut matrix[tree.mass.clone()];
        let parents = &model.dof_parents()[tree.dofs.clone()];
        let i = one.dof - start;
        for other in row.iter().filter(|other| tree.dofs.contains(&other.dof)) {
            let j = other.dof - start;
            if !branch::ancestors(parents, Some(i as u32)).any(|above| above == j) {
                continue;
            }
            let slope = weight * one.coefficient * other.coefficient;
            A[i * n + j] += slope;
            if i == j {
                diagonal[one.dof] += slope;
            } else {
                A[j * n + i] += slope;
                whole[index] |= slope != 0.0;
            }
        }
    }
}
