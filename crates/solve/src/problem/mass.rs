//! A, block diagonal over subsystems, with its factorization.
//!
//! A subsystem is dense (one block), a tree of links (one block, known factors) or sparse (many
//! small blocks of nodes). Factors are kept per subsystem, so that a solve which concerns one
//! subsystem costs only that subsystem.

use std::ops::Range;
use std::sync::Arc;

use stiction_math::block;

use super::{SubsystemId, Tree};
use crate::error::ProblemError;
use stiction_math::branch;

/// What a subsystem is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Structure {
    /// One dense block.
    Dense,
    /// Nodes of equal size, sparsely coupled.
    Sparse {
        /// Velocities per node.
        node_size: usize,
    },
    /// A tree of links: one block with the sparsity of the tree's branches.
    Tree(Arc<Tree>),
}

impl Structure {
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse { .. } => "sparse",
            Self::Tree(_) => "a tree",
        }
    }
}

/// Up to this size a dense block is factored and solved by the plain loops below.
const SMALL: usize = 48;

#[derive(Clone, Debug)]
enum Factor {
    /// Lower Cholesky factor at an offset, row-major.
    Small(usize),
    /// Factor along the branches of a tree at an offset, row-major.
    Branches(usize),
    Large(Arc<block::Cholesky>),
}

/// A of the problem.
#[derive(Clone, Debug, Default)]
pub struct Mass {
    matrix: block::Symmetric,
    structures: Vec<Structure>,
    blocks: Vec<Range<usize>>,
    block_subsystem: Vec<u32>,
    factors: Vec<Factor>,
    small: Vec<f64>,
    pattern: block::Pattern,
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
}

impl Mass {
    pub(super) fn new(
        matrix: block::Symmetric,
        structures: Vec<Structure>,
        blocks: Vec<Range<usize>>,
    ) -> Result<Self, ProblemError> {
        let mut block_subsystem = vec![0; matrix.pattern().n_blocks()];
        for (s, range) in blocks.iter().enumerate() {
            block_subsystem[range.clone()].fill(s as u32);
        }
        let mut mass = Self {
            matrix,
            structures,
            blocks,
            block_subsystem,
            factors: Vec::new(),
            small: Vec::new(),
            pattern: block::Pattern::default(),
            sizes: Vec::new(),
            pairs: Vec::new(),
        };
        mass.factor()?;
        Ok(mass)
    }

    fn factor(&mut self) -> Result<(), ProblemError> {
        self.factors.clear();
        self.small.clear();
        let pattern = self.matrix.pattern();
        for (subsystem, range) in self.blocks.iter().enumerate() {
            let fail = ProblemError::NotPositiveDefinite { subsystem };
            let n = self.dofs_of(range);
            if let Structure::Tree(tree) = &self.structures[subsystem] {
                let (offset, A) =
                    (self.small.len(), self.matrix.block(pattern.diagonal(range.start)));
                self.small.extend_from_slice(A);
                let diagonal = |k: usize| A[k * (n.len() + 1)];
                if !branch::factor(&mut self.small[offset..], tree.branches(), diagonal) {
                    return Err(fail);
                }
                self.factors.push(Factor::Branches(offset));
            } else if range.len() == 1 && n.len() <= SMALL {
                let offset = self.small.len();
                let id = pattern.diagonal(range.start);
                self.small.extend_from_slice(self.matrix.block(id));
                if !cholesky(&mut self.small[offset..], n.len()) {
                    return Err(fail);
                }
                self.factors.push(Factor::Small(offset));
            } else {
                let part = self.part(range);
                let mut factor = block::Cholesky::analyse(part.pattern());
                factor.factor(&part).map_err(|_| fail)?;
                self.factors.push(Factor::Large(Arc::new(factor)));
            }
        }
        Ok(())
    }

    /// Becomes the part of `whole` that consists of some subsystems, in the same memory, and
    /// writes where each block of coordinates went.
    pub(super) fn restrict(
        &mut self,
        whole: &Self,
        member: impl Fn(usize) -> bool,
        new_block: &mut Vec<u32>,
    ) {
        let pattern = whole.matrix.pattern();
        self.structures.clear();
        self.blocks.clear();
        self.block_subsystem.clear();
        self.factors.clear();
        self.small.clear();
        self.sizes.clear();
        self.pairs.clear();
        new_block.clear();
        new_block.resize(pattern.n_blocks(), u32::MAX);
        for s in (0..whole.subsystems()).filter(|s| member(*s)) {
            let first = self.sizes.len();
            for k in whole.blocks[s].clone() {
                new_block[k] = self.sizes.len() as u32;
                self.sizes.push(pattern.size(k));
                self.block_subsystem.push(self.blocks.len() as u32);
                let columns = pattern.row_entries(k);
                let at = |e: block::Entry| (new_block[e.row] as usize, new_block[e.col] as usize);
                self.pairs.extend(columns.map(at));
            }
            self.blocks.push(first..self.sizes.len());
            self.structures.push(whole.structures[s].clone());
            let n = whole.dofs(SubsystemId(s)).len();
            let mut keep = |offset: usize| {
                self.small.extend_from_slice(&whole.small[offset..offset + n * n]);
                self.small.len() - n * n
            };
            let factor = match &whole.factors[s] {
                Factor::Small(offset) => Factor::Small(keep(*offset)),
                Factor::Branches(offset) => Factor::Branches(keep(*offset)),
                Factor::Large(factor) => Factor::Large(Arc::clone(factor)),
            };
            self.factors.push(factor);
        }
        self.pattern.rebuild(&self.sizes, self.pairs.iter().copied());
        self.matrix.reshape(&self.pattern);
        for e in pattern.entries().filter(|e| new_block[e.row] != u32::MAX) {
            let (row, col) = (new_block[e.row] as usize, new_block[e.col] as usize);
            if let Some(id) = self.pattern.find(row, col) {
                self.matrix.block_mut(id).copy_from_slice(whole.matrix.block(e.id));
            }
        }
    }

    /// The matrix of some subsystem's blocks alone.
    pub(crate) fn part(&self, range: &Range<usize>) -> block::Symmetric {
        let pattern = self.matrix.pattern();
        let sizes: Vec<usize> = range.clone().map(|k| pattern.size(k)).collect();
        let inside = || range.clone().flat_map(|i| pattern.row_entries(i));
        let pairs = inside().map(|e| (e.row - range.start, e.col - range.start));
        let part_pattern = block::Pattern::new(&sizes, pairs);
        let mut part = block::Symmetric::zeros(&part_pattern);
        for e in inside() {
            if let Some(to) = part_pattern.find(e.row - range.start, e.col - range.start) {
                part.block_mut(to).copy_from_slice(self.matrix.block(e.id));
            }
        }
        part
    }

    fn dofs_of(&self, blocks: &Range<usize>) -> Range<usize> {
        let pattern = self.matrix.pattern();
        let end = blocks.end.checked_sub(1).map_or(0, |last| pattern.range(last).end);
        blocks.clone().next().map_or(end, |first| pattern.start(first))..end
    }

    /// A as a block matrix.
    pub fn matrix(&self) -> &block::Symmetric {
        &self.matrix
    }

    /// Number of subsystems.
    pub fn subsystems(&self) -> usize {
        self.blocks.len()
    }

    /// What a subsystem is made of.
    pub fn structure(&self, subsystem: SubsystemId) -> &Structure {
        &self.structures[subsystem.0]
    }

    /// The tree of a subsystem, if it is one.
    pub fn tree(&self, subsystem: SubsystemId) -> Option<&Tree> {
        match self.structure(subsystem) {
            Structure::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// Blocks of coordinates of a subsystem.
    pub fn blocks(&self, subsystem: SubsystemId) -> Range<usize> {
        self.blocks[subsystem.0].clone()
    }

    /// Coordinates of a subsystem.
    pub fn dofs(&self, subsystem: SubsystemId) -> Range<usize> {
        self.dofs_of(&self.blocks[subsystem.0])
    }

    /// The subsystem that a block of coordinates belongs to.
    #[inline]
    pub fn subsystem_of(&self, block: usize) -> SubsystemId {
        SubsystemId(self.block_subsystem[block] as usize)
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        for s in 0..self.subsystems() {
            let dofs = self.dofs(SubsystemId(s));
            self.solve_subsystem(SubsystemId(s), &mut x[dofs]);
        }
    }

    /// `x ← A_s⁻¹ x` for the velocities of one subsystem.
    #[inline]
    pub fn solve_subsystem(&self, subsystem: SubsystemId, x: &mut [f64]) {
        match &self.factors[subsystem.0] {
            Factor::Small(offset) => {
                let n = x.len();
                cholesky_solve(&self.small[*offset..*offset + n * n], x);
            }
            Factor::Branches(offset) => {
                if let Structure::Tree(tree) = &self.structures[subsystem.0] {
                    branch::solve(&self.small[*offset..], tree.branches(), x);
                }
            }
            Factor::Large(factor) => factor.solve_in_place(x),
        }
    }

    /// `out = A v`.
    pub fn mul(&self, v: &[f64], out: &mut [f64]) {
        self.matrix.mul(v, out);
    }
}

/// Replaces the lower triangle of a row-major matrix by its Cholesky factor. False if a pivot is
/// not positive, relative to the entry that it started from.
pub(crate) fn cholesky(a: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let (above, row) = a.split_at_mut(i * n);
            let (inner, other) = if i == j {
                (super::dot(&row[..j], &row[..j]), 0.0)
            } else {
                (super::dot(&row[..j], &above[j * n..j * n + j]), above[j * n + j])
            };
            let value = row[j] - inner;
            if i == j {
                // A pivot lost to cancellation is no pivot.
                if !(value > n as f64 * f64::EPSILON * row[j].abs()) || !value.is_finite() {
                    return false;
                }
                row[j] = value.sqrt();
            } else {
                row[j] = value / other;
            }
        }
    }
    true
}

/// `x ← (L Lᵀ)⁻¹ x` with the factor of [`cholesky`].
#[inline]
fn cholesky_solve(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &l[i * n..i * n + i];
        x[i] = (x[i] - super::dot(row, &x[..i])) / l[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let (done, x_i) = (&l[i * n..i * n + i], x[i]);
        for (x, l) in x[..i].iter_mut().zip(done) {
            *x -= l * x_i;
        }
    }
}
