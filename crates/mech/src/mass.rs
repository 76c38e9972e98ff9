//! Mass matrices of the trees, their factors and solutions.
//!
//! The composite-rigid-body algorithm (CRBA): M_ij = S_jᵀ I_i^c S_i for i and its ancestors j, with
//! I_i^c the composite inertia of i and its descendants [Featherstone08, Sec. 6.2]; armature is added
//! to the diagonal, that of tendons to the entries of their velocities. The factor M = Lᵀ L keeps the branch-induced sparsity. One link on a free joint
//! has a closed form; with its centre of mass at its origin the matrix is constant, and
//! [`Data::new`] writes it once.

use crate::data::Data;
use crate::error::NotPositiveDefinite;
use crate::fused::{apply, dot};
use crate::model::{Model, TreeRange};
use crate::tendon::inertia;
use nalgebra::Matrix3;
use stiction_math::branch;
use stiction_math::simd::{self, Job};
use stiction_math::spatial::skew;

/// Fills `mass` of `data`. Needs the position stage.
pub fn mass_matrix(model: &Model, data: &mut Data) {
    for tree in 0..model.trees.len() {
        tree_mass_matrix(model, tree, data);
    }
}

/// [`mass_matrix`] of one tree.
#[inline]
pub fn tree_mass_matrix(model: &Model, tree: usize, data: &mut Data) {
    let range = &model.trees[tree];
    if range.constant_mass {
        return;
    }
    if range.single {
        single_body_mass(model, range, data);
    } else {
        simd::dispatch(CompositeMass { model, tree: range, data });
        inertia::add_mass(model, tree, data);
    }
}

/// Fills `factor` of `data` from `mass`.
pub fn factor_mass(model: &Model, data: &mut Data) -> Result<(), NotPositiveDefinite> {
    for tree in 0..model.trees.len() {
        tree_factor_mass(model, tree, data)?;
    }
    Ok(())
}

/// [`factor_mass`] of one tree.
#[inline]
pub fn tree_factor_mass(
    model: &Model,
    tree: usize,
    data: &mut Data,
) -> Result<(), NotPositiveDefinite> {
    let range = &model.trees[tree];
    if range.constant_mass { Ok(()) } else { factor_tree(model, tree, range, data) }
}

/// `x ← M⁻¹ x` with the factors of [`factor_mass`].
pub fn solve_mass(model: &Model, data: &Data, x: &mut [f64]) {
    for tree in 0..model.trees.len() {
        tree_solve_mass(model, tree, data, x);
    }
}

/// [`solve_mass`] of one tree; `x` is that of the whole model, and its entries of other trees are
/// unchanged.
#[inline]
pub fn tree_solve_mass(model: &Model, tree: usize, data: &Data, x: &mut [f64]) {
    let tree = &model.trees[tree];
    let (L, x) = (&data.factor[tree.mass.clone()], &mut x[tree.dofs.clone()]);
    if tree.constant_mass {
        solve_decoupled(L, x);
    } else {
        branch::solve(L, &model.dof_parents[tree.dofs.clone()], x);
    }
}

/// `x ← (Lᵀ L)⁻¹ x` for a 6×6 L with a diagonal linear block that is decoupled from the angular
/// block; the diagonal holds reciprocals ([`branch::factor`]).
#[inline]
fn solve_decoupled(L: &[f64], x: &mut [f64]) {
    for k in 0..3 {
        x[k] *= L[7 * k] * L[7 * k];
    }
    let (r_1, l_21, r_2, l_31, l_32, r_3) = (L[21], L[27], L[28], L[33], L[34], L[35]);
    let y_3 = x[5] * r_3;
    let y_2 = (x[4] - l_32 * y_3) * r_2;
    let y_1 = (x[3] - l_21 * y_2 - l_31 * y_3) * r_1;
    x[3] = y_1 * r_1;
    x[4] = (y_2 - l_21 * x[3]) * r_2;
    x[5] = (y_3 - l_31 * x[3] - l_32 * x[4]) * r_3;
}

/// Writes the constant mass matrices and their factors.
pub(crate) fn write_constant(model: &Model, data: &mut Data) {
    for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| tree.constant_mass) {
        single_body_mass(model, tree, data);
        // The masses of a model are positive by construction.
        let _ = factor_tree(model, index, tree, data);
    }
}

fn factor_tree(
    model: &Model,
    index: usize,
    tree: &TreeRange,
    data: &mut Data,
) -> Result<(), NotPositiveDefinite> {
    let n = tree.dofs.len();
    let (mass, L) = (&data.mass[tree.mass.clone()], &mut data.factor[tree.mass.clone()]);
    L.copy_from_slice(mass);
    let is_positive = branch::factor(L, &model.dof_parents[tree.dofs.clone()], |k| mass[k * n + k]);
    if is_positive { Ok(()) } else { Err(NotPositiveDefinite { tree: index }) }
}

/// The pass over the links of a tree.
struct CompositeMass<'a> {
    model: &'a Model,
    tree: &'a TreeRange,
    data: &'a mut Data,
}

impl Job for CompositeMass<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, tree, data } = self;
        let links = &model.links[tree.links.clone()];
        for link in links {
            data.composite[link.body] = data.link_inertia[link.body];
        }
        let (start, n) = (tree.dofs.start, tree.dofs.len());
        // Slices of one length, so that an index is checked once for all of them.
        let parents = &model.dof_parents[start..][..n];
        let armature = &model.armature[start..][..n];
        let S = &data.subspace[start..][..n];
        let M = &mut data.mass[tree.mass.clone()];
        for link in links.iter().rev() {
            let inertia = data.composite[link.body];
            for i in link.dofs.start - start..link.dofs.end - start {
                let momentum = apply(&inertia, &S[i]);
                let (above, row) = M.split_at_mut(i * n);
                let row = &mut row[..n];
                row[i] = dot(&S[i], &momentum) + armature[i];
                let mut next = parents[i];
                while let Some(j) = next {
                    let j = j as usize;
                    let entry = dot(&S[j], &momentum);
                    row[j] = entry;
                    above[j * n + i] = entry;
                    next = parents[j];
                }
            }
            if let Some(parent) = link.parent {
                data.composite[parent] += inertia;
            }
        }
    }
}

/// Mass matrix of one link on a free joint: linear velocity of the origin in world axes, angular
/// velocity in body axes. M = [m 1, −m R c×; m c× Rᵀ, I_c − m c× c×].
fn single_body_mass(model: &Model, tree: &TreeRange, data: &mut Data) {
    let link = &model.links[tree.links.start];
    let (m, c) = (link.mass, skew(link.com));
    let R_WB = data.body_pose[link.body].rotation.to_rotation_matrix().into_inner();
    let coupling: Matrix3<f64> = -m * R_WB * c;
    let rotational = link.inertia - m * c * c;
    let M = &mut data.mass[tree.mass.clone()];
    for i in 0..3 {
        for j in 0..3 {
            M[6 * i + j] = if i == j { m } else { 0.0 };
            M[6 * i + 3 + j] = coupling[(i, j)];
            M[6 * (3 + j) + i] = coupling[(i, j)];
            M[6 * (3 + i) + 3 + j] = rotational[(i, j)];
        }
    }
    for (k, armature) in model.armature[tree.dofs.clone()].iter().enumerate() {
        M[7 * k] += armature;
    }
}
