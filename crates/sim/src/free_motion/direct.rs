//! MuJoCo's Euler, implicitfast and implicit: all forces at the start of the step; part of their dependence on
//! velocities is implicit.
//!
//! `A = M − h ∂f/∂v` and `b = A v + h f(q, v)`, so that without constraints `v' = v + h A⁻¹ f`
//! [Todorov12]. Of ∂f/∂v, Euler includes the damping of
//! joints; implicitfast also includes dampers of tendons, the velocity terms of actuators that are not
//! at an end of their force range, and the gyroscopic forces of single bodies on free joints. All other
//! Coriolis, centrifugal and gyroscopic forces are explicit in both, as are springs. Entries that would
//! couple two branches of a tree are left out of A, as in MuJoCo, so that its factors stay sparse.
//! Servos are forces here, not constraint rows.

use std::array::from_fn;

use nalgebra::{Matrix6, UnitQuaternion, Vector3, Vector6};
use stiction_math::branch;
use stiction_math::spatial::skew;
use stiction_mech::{
    Data, Link, Model, RowEntry, State, TreeRange, tree_bias_forces, tree_mass_matrix,
};

use super::{FreeMotion, dense};
use crate::rows::tree_of_dof;
use crate::scheme::Scheme;

impl FreeMotion {
    /// A and b of every tree that is awake, from forces that were evaluated at the start of the step.
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
        if matches!(scheme, Scheme::ImplicitFast | Scheme::ImplicitFull) {
            let Self { forces, matrix, diagonal, by_tree, .. } = self;
            forces.rate_slopes(model, |row, slope| {
                add_slope(model, row, -h * slope, matrix, diagonal, by_tree);
            });
        }
        for (index, tree) in model.trees().iter().enumerate().filter(|(index, _)| !asleep[*index]) {
            let dofs = tree.dofs.clone();
            for dof in dofs.clone() {
                self.momentum[dof] = h * (self.forces.generalized[dof] - data.bias[dof]);
            }
            if scheme == Scheme::ImplicitFull {
                self.follow_bias_slopes(model, index, h, state, data);
            }
            let (A, impulse) = (&self.matrix[tree.mass.clone()], &mut self.momentum[dofs.clone()]);
            if tree.single && scheme == Scheme::ImplicitFast {
                let link = &model.links()[tree.links.start];
                let rotation = &data.body_pose[link.body].rotation;
                follow_turning(A, h, &gyration(link, rotation, &state.v[dofs.clone()]), impulse);
            }
            dense::add_product(A, &state.v[dofs], impulse);
        }
    }
}

impl FreeMotion {
    /// Adds the slopes of drag and muscles to A: motion in a viscous medium is stiff.
    pub(super) fn add_coupled_slopes(&mut self, model: &Model, h: f64, asleep: &[bool]) {
        let Self { forces, matrix, diagonal, by_tree, linearised, .. } = self;
        // A tree with drag is marked from the beginning.
        forces.drag_slopes(model, |index, rows, slopes| {
            if !asleep[index] {
                let tree = &model.trees()[index];
                by_tree[index] |= add_drag(tree, rows, &slopes.map(|s| -h * s), matrix, diagonal);
            }
        });
        for (row, slope) in forces.muscle_slopes() {
            for entry in row.iter().filter(|entry| slope * entry.coefficient != 0.0) {
                linearised[tree_of_dof(model, entry.dof)] = true;
            }
            if row.first().is_some_and(|entry| !asleep[tree_of_dof(model, entry.dof)]) {
                add_slope(model, row, -h * slope, matrix, diagonal, by_tree);
            }
        }
    }
}

/// [`add_slope`] for the six rows of drag on a body, one after the other. Their velocities are a path to the root, beginning
/// with the last, so that A has all entries. Whether they couple velocities.
fn add_drag(
    tree: &TreeRange,
    rows: &[RowEntry],
    weights: &[f64; 6],
    matrix: &mut [f64],
    diagonal: &mut [f64],
) -> bool {
    let (start, n, len) = (tree.dofs.start, tree.dofs.len(), rows.len() / 6);
    let A = &mut matrix[tree.mass.clone()];
    let column = |at: usize| -> [f64; 6] { from_fn(|k| rows[k * len + at].coefficient) };
    let mut couples = false;
    for at in 0..len {
        let own = column(at);
        let weighted: [f64; 6] = from_fn(|k| weights[k] * own[k]);
        let product = |other: [f64; 6]| (0..6).map(|k| weighted[k] * other[k]).sum::<f64>();
        let (dof, i) = (rows[at].dof, rows[at].dof - start);
        let slope = product(own);
        A[i * n + i] += slope;
        diagonal[dof] += slope;
        for above in at + 1..len {
            let (j, slope) = (rows[above].dof - start, product(column(above)));
            A[i * n + j] += slope;
            A[j * n + i] += slope;
            couples |= slope != 0.0;
        }
    }
    couples
}

/// ∂c/∂v of the velocity-dependent forces c of one link on a free joint, in the velocities of its
/// origin in the world and of its rotation in the body: with centre of mass o and inertia I about it,
/// `c = (m R ω×(ω×o), ω×Iω + m o×(ω×(ω×o)))`.
fn gyration(link: &Link, rotation: &UnitQuaternion<f64>, v: &[f64]) -> Matrix6<f64> {
    let (w, I) = (Vector3::new(v[3], v[4], v[5]), link.inertia);
    let centripetal = -link.mass * (skew(w.cross(&link.com)) + skew(w) * skew(link.com));
    let R = rotation.to_rotation_matrix().into_inner();
    let turning = skew(w) * I - skew(I * w) + skew(link.com) * centripetal;
    let mut slope = Matrix6::zeros();
    slope.fixed_view_mut::<3, 3>(0, 3).copy_from(&(R * centripetal));
    slope.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
    slope
}

/// Replaces an impulse p by `A (A + h C)⁻¹ p`, so that A gives the velocity that `A + h C` gives with p:
/// A must be symmetric, and C is not. With constraints, C therefore acts in free motion only.
fn follow_turning(A: &[f64], h: f64, C: &Matrix6<f64>, impulse: &mut [f64]) {
    let A = Matrix6::from_row_slice(A);
    let p = Vector6::from_column_slice(impulse);
    if let Some(change) = (A + h * C).lu().solve(&p) {
        impulse.copy_from_slice((A * change).as_slice());
    }
}

/// Adds `weight` times the square of a row to A, where A has entries. A tree in which it couples
/// velocities gets its rows by tree from then on: rows link by link allow for diagonal terms only.
fn add_slope(
    model: &Model,
    row: &[RowEntry],
    weight: f64,
    matrix: &mut [f64],
    diagonal: &mut [f64],
    by_tree: &mut [bool],
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
                by_tree[index] |= slope != 0.0;
            }
        }
    }
}
