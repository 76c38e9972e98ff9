//! A tree of links: its mass matrix and the velocities of its links.
//!
//! Everything is given at the world's origin in world axes, angular parts first, so that nothing
//! has to be moved between frames: the spatial velocity of a link is `V = Σ S q̇` over the
//! velocities on its path to the root, and composite inertias simply add up. The mass matrix is
//! that of the composite-rigid-body algorithm [Featherstone08, Table 6.2] plus a diagonal
//! (armature, implicit damping). Costs one spatial product per velocity and one dot product per
//! pair of velocities on a common path. Positions, joints and forces are not part of it.

use std::ops::Range;

use nalgebra::Vector6;
use stiction_math::spatial::Inertia10;

use crate::error::ProblemError;
use stiction_math::branch::{self, Parents};

/// Links with their parents, motion subspaces and inertias.
#[derive(Debug, Default, PartialEq)]
pub struct Tree {
    parents: Vec<Option<usize>>,
    inertias: Vec<Inertia10>,
    /// First velocity of each link, and their number at the end.
    velocity_start: Vec<u32>,
    subspaces: Vec<Vector6<f64>>,
    diagonal: Vec<f64>,
    velocity_parents: Vec<Option<u32>>,
    /// Last velocity on the path of each link.
    path_end: Vec<Option<u32>>,
}

impl Clone for Tree {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the allocated memory, which the derived implementation would not.
    fn clone_from(&mut self, source: &Self) {
        self.parents.clone_from(&source.parents);
        self.inertias.clone_from(&source.inertias);
        self.velocity_start.clone_from(&source.velocity_start);
        self.subspaces.clone_from(&source.subspaces);
        self.diagonal.clone_from(&source.diagonal);
        self.velocity_parents.clone_from(&source.velocity_parents);
        self.path_end.clone_from(&source.path_end);
    }
}

impl Tree {
    /// A tree without links.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all links; keeps the allocated memory.
    pub fn clear(&mut self) {
        self.parents.clear();
        self.inertias.clear();
        self.velocity_start.clear();
        self.subspaces.clear();
        self.diagonal.clear();
        self.velocity_parents.clear();
        self.path_end.clear();
    }

    /// Adds a link and returns its index. `subspace` has one spatial vector per velocity that the
    /// link adds to its parent's motion (none for a weld), `inertia` is the link's own, and
    /// `diagonal` is added to A, per velocity [kg or kg·m²]. A parent must be an earlier link;
    /// [`super::Builder::build`] checks that.
    pub fn link(
        &mut self,
        parent: Option<usize>,
        subspace: &[Vector6<f64>],
        inertia: Inertia10,
        diagonal: &[f64],
    ) -> usize {
        let mut last = parent.and_then(|p| self.path_end.get(p).copied().flatten());
        for _ in subspace {
            self.velocity_parents.push(last);
            last = Some(self.velocity_parents.len() as u32 - 1);
        }
        self.parents.push(parent);
        self.inertias.push(inertia);
        if self.velocity_start.is_empty() {
            self.velocity_start.push(0);
        }
        self.subspaces.extend_from_slice(subspace);
        self.velocity_start.push(self.subspaces.len() as u32);
        self.diagonal.extend_from_slice(diagonal);
        self.path_end.push(last);
        self.parents.len() - 1
    }

    /// Adds values to the diagonal of A, per velocity [kg or kg·m²].
    pub(super) fn add_diagonal(&mut self, values: &[f64]) {
        self.diagonal.iter_mut().zip(values).for_each(|(d, value)| *d += value);
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.parents.len()
    }

    /// Number of velocities.
    pub fn velocities(&self) -> usize {
        self.subspaces.len()
    }

    /// The parent of a link, `None` for a link on the ground.
    pub fn parent(&self, link: usize) -> Option<usize> {
        self.parents[link]
    }

    /// Inertia of a link at the world's origin.
    pub fn inertia(&self, link: usize) -> &Inertia10 {
        &self.inertias[link]
    }

    /// Velocities that a link adds to the motion of its parent.
    pub fn velocity_range(&self, link: usize) -> Range<usize> {
        self.velocity_start[link] as usize..self.velocity_start[link + 1] as usize
    }

    /// Motion subspace of each velocity.
    pub fn subspaces(&self) -> &[Vector6<f64>] {
        &self.subspaces
    }

    /// Values added to the diagonal of A, per velocity [kg or kg·m²].
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// For each velocity the one before it on the path to the root: the sparsity of A.
    pub fn velocity_parents(&self) -> &[Option<u32>] {
        &self.velocity_parents
    }

    /// Velocities on the path of a link, from the link to the root.
    pub fn path(&self, link: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        branch::ancestors(self.velocity_parents(), self.path_end[link])
    }

    /// `A` of the tree, row-major.
    pub fn mass_matrix(&self, out: &mut [f64]) {
        self.mass_matrix_with(&mut Vec::new(), out);
    }

    /// `A` of the tree, row-major, with memory for the composite inertias.
    pub(crate) fn mass_matrix_with(&self, composites: &mut Vec<Inertia10>, out: &mut [f64]) {
        composites.clone_from(&self.inertias);
        self.accumulate(composites);
        self.composite_matrix(|link, S| composites[link].momentum(S), out);
    }

    /// Sums over subtrees: replaces the value of each link by the sum over it and its descendants.
    pub(crate) fn accumulate<T: Copy + std::ops::AddAssign>(&self, links: &mut [T]) {
        for link in (0..links.len()).rev() {
            if let Some(parent) = self.parents[link] {
                let carried = links[link];
                links[parent] += carried;
            }
        }
    }

    /// `Σ Sᵀ I S` over paths plus the diagonal, where `momentum(link, S)` is `I S` with the
    /// composite inertia of a link [Featherstone08, Eqs. (6.10), (6.11)].
    pub(crate) fn composite_matrix(
        &self,
        momentum: impl Fn(usize, &Vector6<f64>) -> Vector6<f64>,
        out: &mut [f64],
    ) {
        let n = self.velocities();
        out.fill(0.0);
        for link in 0..self.links() {
            for k in self.velocity_range(link) {
                let F = momentum(link, &self.subspaces[k]);
                for j in branch::ancestors(self.velocity_parents(), Some(k as u32)) {
                    let entry = self.subspaces[j].dot(&F);
                    out[k * n + j] = entry;
                    out[j * n + k] = entry;
                }
                out[k * n + k] += self.diagonal[k];
            }
        }
    }

    /// Spatial velocities of all links from the tree's velocities, six numbers per link.
    #[inline(always)] // inside loops that are compiled for a wider instruction set
    pub(crate) fn link_velocities(&self, v: &[f64], out: &mut [f64]) {
        for link in 0..self.links() {
            let mut V = match self.parents[link] {
                Some(parent) => Vector6::from_column_slice(&out[6 * parent..6 * parent + 6]),
                None => Vector6::zeros(),
            };
            for k in self.velocity_range(link) {
                V += self.subspaces[k] * v[k];
            }
            out[6 * link..6 * link + 6].copy_from_slice(V.as_slice());
        }
    }

    /// The transpose of [`Self::link_velocities`], added to `out`. `links` holds a spatial force
    /// per link and is replaced by the sums over subtrees.
    #[inline(always)] // inside loops that are compiled for a wider instruction set
    pub(crate) fn add_link_forces(&self, links: &mut [f64], out: &mut [f64]) {
        for link in (0..self.links()).rev() {
            let (before, from) = links.split_at_mut(6 * link);
            let F = Vector6::from_column_slice(&from[..6]);
            for k in self.velocity_range(link) {
                out[k] += self.subspaces[k].dot(&F);
            }
            if let Some(parent) = self.parents[link] {
                for (sum, f) in before[6 * parent..6 * parent + 6].iter_mut().zip(F.iter()) {
                    *sum += f;
                }
            }
        }
    }

    pub(super) fn branches(&self) -> &Parents {
        &self.velocity_parents
    }

    pub(super) fn check(&self, subsystem: usize) -> Result<(), ProblemError> {
        for (link, parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|p| *p >= link) {
                return Err(ProblemError::Parent { subsystem, link, parent });
            }
        }
        let (n, owner) = (self.velocities(), "subsystem");
        if self.diagonal.len() != n {
            return Err(ProblemError::Length {
                what: "added diagonal",
                owner,
                index: subsystem,
                found: self.diagonal.len(),
                expected: n,
            });
        }
        let numbers = self.subspaces.iter().flatten().copied();
        not_finite("motion subspace", subsystem, numbers)?;
        not_finite("added diagonal", subsystem, self.diagonal.iter().copied())?;
        not_finite("inertia", subsystem, self.inertias.iter().flat_map(parameters))
    }
}

/// The ten parameters of an inertia in one order: mass, moment, rotational part.
pub(super) fn parameters(inertia: &Inertia10) -> [f64; 10] {
    let Inertia10 { mass, moment: h, rotational: [xx, yy, zz, xy, xz, yz] } = *inertia;
    [mass, h.x, h.y, h.z, xx, yy, zz, xy, xz, yz]
}

fn not_finite(
    what: &'static str,
    index: usize,
    values: impl Iterator<Item = f64>,
) -> Result<(), ProblemError> {
    match values.enumerate().find(|(_, x)| !x.is_finite()) {
        None => Ok(()),
        Some((entry, value)) => {
            Err(ProblemError::NotFinite { what, owner: "subsystem", index, entry, value })
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
