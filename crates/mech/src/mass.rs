//! Mass matrices of the trees, their factors and solutions.
//!
//! The composite-rigid-body algorithm (CRBA): M_ij = S_jᵀ I_i^c S_i for j on the way from i to the
//! root, with I_i^c the inertia of all that i carries [Featherstone08, Table 6.2]; armature is added
//! to the diagonal. The factor M = Lᵀ L keeps the sparsity of the branches. One link on a free joint
//! has a closed form; with its centre of mass at its origin it is constant and written once, by
//! [`Data::new`].

use crate::data::Data;
use crate::error::NotPositiveDefinite;
use crate::model::{Model, TreeRange};
use crate::spatial::apply;
use nalgebra::Matrix3;
use stiction_math::branch;
use stiction_math::spatial::skew;

/// Fills `mass` of `data`. Needs the position stage.
pub fn mass_matrix(model: &Model, data: &mut Data) {
    for tree in model.trees.iter().filter(|tree| !tree.constant_mass) {
        if tree.single {
            single(model, tree, data);
        } else {
            composite(model, tree, data);
        }
    }
}

/// Fills `factor` of `data` from `mass`.
pub fn factor_mass(model: &Model, data: &mut Data) -> Result<(), NotPositiveDefinite> {
    for (index, tree) in model.trees.iter().enumerate() {
        if !tree.constant_mass {
            factor_tree(model, index, tree, data)?;
        }
    }
    Ok(())
}

/// `x ← M⁻¹ x` with the factors of [`factor_mass`].
pub fn solve_mass(model: &Model, data: &Data, x: &mut [f64]) {
    for tree in &model.trees {
        let parents = &model.dof_parents[tree.dofs.clone()];
        branch::solve(&data.factor[tree.mass.clone()], parents, &mut x[tree.dofs.clone()]);
    }
}

/// Writes the masses that never change and their factors.
pub(crate) fn write_constant(model: &Model, data: &mut Data) {
    for (index, tree) in model.trees.iter().enumerate().filter(|(_, tree)| tree.constant_mass) {
        single(model, tree, data);
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

fn composite(model: &Model, tree: &TreeRange, data: &mut Data) {
    let links = &model.links[tree.links.clone()];
    for link in links {
        data.composite[link.body] = data.link_inertia[link.body];
    }
    let (start, n) = (tree.dofs.start, tree.dofs.len());
    let parents = &model.dof_parents[tree.dofs.clone()];
    let S = &data.subspace[tree.dofs.clone()];
    let M = &mut data.mass[tree.mass.clone()];
    for link in links.iter().rev() {
        let inertia = data.composite[link.body];
        for i in link.dofs.start - start..link.dofs.end - start {
            let momentum = apply(&inertia, &S[i]);
            for j in branch::ancestors(parents, Some(i as u32)) {
                let entry = S[j].dot(&momentum);
                M[i * n + j] = entry;
                M[j * n + i] = entry;
            }
            M[i * n + i] += model.armature[start + i];
        }
        if let Some(parent) = link.parent {
            data.composite[parent] += inertia;
        }
    }
}

/// One link on a free joint: linear velocity of the origin in the world, angular velocity in the
/// body. M = [m 1, −m R c×; m c× Rᵀ, I_c − m c× c×].
fn single(model: &Model, tree: &TreeRange, data: &mut Data) {
    let link = &model.links[tree.links.start];
    let (m, c) = (link.mass, skew(link.com));
    let R = data.body_pose[link.body].rotation.to_rotation_matrix().into_inner();
    let coupling: Matrix3<f64> = -m * R * c;
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
