//! A subsystem too large for plain loops: `A_j + Σ β Jᵀ J` on its own block pattern.
//!
//! The pattern joins the blocks of A with all pairs that a copy touches; it is analysed once and
//! refactored as penalties change. Used for deformable subsystems and large dense blocks.

use stiction_math::block::{self, BlockId};

use super::layout::{AdmmBlock, Layout};
use crate::problem::{Problem, SubsystemId};

/// The factor of one large subsystem.
#[derive(Debug, Default)]
pub struct Large {
    pub subsystem: usize,
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    pattern: block::Pattern,
    spare: block::Pattern,
    mass_targets: Vec<(BlockId, BlockId)>,
    targets: Vec<BlockId>,
    parts: Option<(block::Symmetric, block::Cholesky)>,
}

impl Large {
    /// Prepares for a subsystem; the symbolic analysis is redone only if the pattern changed.
    pub fn prepare(&mut self, problem: &Problem, layout: &Layout, subsystem: usize) {
        self.subsystem = subsystem;
        let blocks = problem.mass().blocks(SubsystemId(subsystem));
        let mass = problem.mass().matrix().pattern();
        self.sizes.clear();
        self.sizes.extend(blocks.clone().map(|k| mass.size(k)));
        let mass_entries = || blocks.clone().flat_map(|k| mass.row_entries(k));
        let local = |row: usize, col: usize| (row - blocks.start, col - blocks.start);
        self.pairs.clear();
        self.pairs.extend(mass_entries().map(|e| local(e.row, e.col)));
        for_each_pair(layout, subsystem, |a, b| {
            self.pairs.push(local(a.block as usize, b.block as usize));
        });
        self.spare.rebuild(&self.sizes, self.pairs.iter().copied());
        if self.spare != self.pattern || self.parts.is_none() {
            self.pattern.clone_from(&self.spare);
            self.parts = Some((
                block::Symmetric::zeros(&self.pattern),
                block::Cholesky::analyse(&self.pattern),
            ));
        }
        let pattern = &self.pattern;
        let find = |row: usize, col: usize| {
            let (row, col) = local(row, col);
            pattern.find(row, col)
        };
        self.mass_targets.clear();
        self.mass_targets.extend(mass_entries().filter_map(|e| Some((e.id, find(e.row, e.col)?))));
        self.targets.clear();
        for_each_pair(layout, subsystem, |a, b| {
            self.targets.extend(find(a.block as usize, b.block as usize));
        });
    }

    /// Assembles and factors at penalties `beta`. False if not positive definite.
    pub fn factor(&mut self, problem: &Problem, layout: &Layout, beta: &[f64]) -> bool {
        let Some((H, factor)) = &mut self.parts else { return false };
        H.clear();
        for (from, to) in &self.mass_targets {
            H.block_mut(*to).copy_from_slice(problem.mass().matrix().block(*from));
        }
        let mut targets = self.targets.iter();
        for_each_pair(layout, self.subsystem, |a, b| {
            let Some(id) = targets.next() else { return };
            let (n, m) = (a.range().len(), b.range().len());
            let beta = beta[a.constraint as usize];
            let rows = layout.values(a).chunks_exact(n).zip(layout.values(b).chunks_exact(m));
            let out = H.block_mut(*id);
            for (a, b) in rows {
                for (a, out) in a.iter().zip(out.chunks_exact_mut(m)) {
                    for (o, b) in out.iter_mut().zip(b) {
                        *o += beta * a * b;
                    }
                }
            }
        });
        factor.factor(H).is_ok()
    }

    /// `x ← (A_j + Σ β Jᵀ J)⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        if let Some((_, factor)) = &self.parts {
            factor.solve_in_place(x);
        }
    }
}

/// Calls `f` for all pairs of pieces of one copy, the later block first.
fn for_each_pair(layout: &Layout, subsystem: usize, mut f: impl FnMut(&AdmmBlock, &AdmmBlock)) {
    let pieces = layout.subsystem_pieces(subsystem);
    for (k, a) in pieces.iter().enumerate() {
        let same = |b: &&AdmmBlock| (b.constraint, b.copy) == (a.constraint, a.copy);
        for b in pieces[k..].iter().take_while(same) {
            f(b, a);
        }
    }
}
