//! A, block diagonal over subsystems, with its factorization.
//!
//! A subsystem is dense (one block), a tree of links (one block whose factor has the sparsity of the
//! branches) or sparse (many small blocks of nodes). Each subsystem has its own factor, so that a solve
//! with one subsystem costs only that subsystem; a large one is factored on first use. Memory is reused
//! from problem to problem, and so is the block layout while sizes and couplings stay the same.

use std::ops::Range;

use stiction_math::{block, branch};

use super::builder::Builder;
use super::large::Large;
use super::small::dot_in_lanes;
use super::{SubsystemId, Tree};
use crate::error::ProblemError;

/// Matrix structure of a subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// One dense block.
    Dense,
    /// Nodes of equal size, sparsely coupled.
    Sparse {
        /// Velocities per node.
        node_size: usize,
    },
    /// A tree of links: one block with the sparsity of the tree's branches.
    Tree {
        /// Index of the tree, counted in the order of subsystems.
        index: usize,
    },
}

impl Structure {
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse { .. } => "sparse",
            Self::Tree { .. } => "a tree",
        }
    }
}

/// Up to this size a dense block is factored and solved by the plain loops below.
const SMALL: usize = 48;

#[derive(Clone, Copy, Debug)]
enum Factor {
    /// Reciprocals of a diagonal A at an offset.
    Diagonal(usize),
    /// Lower Cholesky factor at an offset, row-major.
    Small(usize),
    /// Factor along the branches of a tree at an offset, row-major.
    Branches(usize),
    /// Index into `large`.
    Large(usize),
}

/// A of the problem.
#[derive(Clone, Debug, Default)]
pub struct Mass {
    matrix: block::Symmetric,
    structures: Vec<Structure>,
    /// Trees of this problem, then unused ones kept for their memory.
    trees: Vec<Tree>,
    used_trees: usize,
    blocks: Vec<Range<usize>>,
    /// First velocity of each subsystem, and their number at the end.
    starts: Vec<usize>,
    block_subsystem: Vec<u32>,
    factors: Vec<Factor>,
    /// Per subsystem: the factor for scales at an offset, where it is another than that of A.
    scale_factors: Vec<Option<usize>>,
    small: Vec<f64>,
    /// Large subsystems of this problem, then unused ones kept for their memory.
    large: Vec<Large>,
    used_large: usize,
    /// Index into `large` of each subsystem; out of range if it is not large.
    large_of: Vec<u32>,
    one_block: block::Pattern,
    /// Node compliances given to the builder [1/kg], per block; empty if none were given, negative if unknown.
    node_compliance: Vec<f64>,
    sizes: Vec<usize>,
    /// Sizes of the blocks that the matrix has been laid out for.
    laid_out: Vec<usize>,
    /// Whether a pattern differs from the one that the matrix has been laid out for.
    changed: bool,
    pattern: block::Pattern,
}

impl Mass {
    /// Assembles and factors A from a builder; swaps values and trees with it to reuse memory.
    pub(super) fn assemble(&mut self, builder: &mut Builder) -> Result<(), ProblemError> {
        self.clear();
        for part in &builder.parts {
            let first = self.sizes.len();
            match part.structure {
                Structure::Dense => {
                    self.sizes.push(part.n);
                    if part.n > SMALL {
                        self.keep_large_block(first, part.n);
                    }
                }
                Structure::Sparse { node_size } => {
                    let nodes = part.n / node_size.max(1);
                    self.sizes.extend(std::iter::repeat_n(node_size, nodes));
                    self.keep_large(first, &builder.patterns[part.pattern]);
                    if let Some(from) = part.node_compliance {
                        self.node_compliance.resize(first, -1.0);
                        self.node_compliance
                            .extend_from_slice(&builder.node_compliance[from..from + nodes]);
                    }
                }
                Structure::Tree { .. } => self.sizes.push(part.n),
            }
            self.push_subsystem(part.structure, first);
        }
        std::mem::swap(&mut self.trees, &mut builder.trees);
        self.used_trees = builder.used_trees;
        self.lay_out();
        // Subsystems are contiguous; the blocks of each are in the order in which they were added.
        self.matrix.swap_values(&mut builder.matrices);
        for (s, part) in builder.parts.iter().enumerate() {
            if part.structure == Structure::Dense {
                let id = self.pattern.diagonal(self.blocks[s].start);
                symmetrise(self.matrix.block_mut(id), part.n);
            }
        }
        self.factor(builder)?;
        self.factor_for_scales(&builder.free_diagonal);
        Ok(())
    }

    /// Factors A of trees with the diagonal for scales, where one is given.
    fn factor_for_scales(&mut self, free_diagonal: &[f64]) {
        self.scale_factors.clear();
        for s in (0..self.blocks.len()).map(SubsystemId) {
            let dofs = self.dofs(s);
            let free = free_diagonal.get(dofs.clone()).filter(|free| free.iter().all(|x| *x > 0.0));
            let (offset, n) = (self.small.len(), dofs.len());
            let mut has_factor = false;
            if let (Some(free), Structure::Tree { index }) = (free, self.structures[s.0]) {
                let A = self.matrix.block(self.pattern.diagonal(self.blocks[s.0].start));
                self.small.extend_from_slice(A);
                let L = &mut self.small[offset..];
                free.iter().enumerate().for_each(|(k, free)| L[k * (n + 1)] = *free);
                has_factor = branch::factor(L, self.trees[index].branches(), |k| free[k]);
            }
            self.scale_factors.push(has_factor.then_some(offset));
        }
    }

    /// Removes all subsystems; keeps the allocated memory and the block layout.
    fn clear(&mut self) {
        self.sizes.clear();
        self.structures.clear();
        self.used_trees = 0;
        self.used_large = 0;
        self.large_of.clear();
        self.node_compliance.clear();
        self.changed = false;
        self.blocks.clear();
        self.starts.clear();
        self.starts.push(0);
        self.block_subsystem.clear();
        self.small.clear();
        self.scale_factors.clear();
    }

    fn keep_tree(&mut self, tree: &Tree) {
        match self.trees.get_mut(self.used_trees) {
            Some(kept) => kept.clone_from(tree),
            None => self.trees.push(tree.clone()),
        }
        self.used_trees += 1;
    }

    /// Sets the pattern of a sparse subsystem whose first block is `first`.
    fn keep_large(&mut self, first: usize, pattern: &block::Pattern) {
        if self.used_large == self.large.len() {
            self.large.push(Large::default());
        }
        self.changed |= self.large[self.used_large].place(first, pattern);
        self.used_large += 1;
    }

    /// Sets the pattern of a subsystem that is one large block.
    fn keep_large_block(&mut self, first: usize, size: usize) {
        let mut one = std::mem::take(&mut self.one_block);
        one.rebuild(&[size], []);
        self.keep_large(first, &one);
        self.one_block = one;
    }

    /// Appends a subsystem whose blocks are those from `first` to the end.
    fn push_subsystem(&mut self, structure: Structure, first: usize) {
        let sizes = &self.sizes;
        let n: usize = sizes[first..].iter().sum();
        self.block_subsystem.resize(sizes.len(), self.blocks.len() as u32);
        self.starts.push(self.starts[self.starts.len() - 1] + n);
        let last = self.large[..self.used_large].last().filter(|large| large.first == first);
        self.large_of.push(if last.is_some() { self.used_large as u32 - 1 } else { u32::MAX });
        self.blocks.push(first..sizes.len());
        self.structures.push(structure);
    }

    /// Allocates the matrix; its values are written afterwards.
    fn lay_out(&mut self) {
        let known = self.large.len() == self.used_large;
        if known && !self.changed && self.sizes == self.laid_out {
            return;
        }
        self.large.truncate(self.used_large);
        self.laid_out.clone_from(&self.sizes);
        let pairs = self.large.iter().flat_map(|part| {
            part.pattern.entries().map(|e| (part.first + e.row, part.first + e.col))
        });
        self.pattern.rebuild(&self.sizes, pairs);
        self.matrix.reshape(&self.pattern);
        for part in &mut self.large {
            let begin = self.pattern.row_entries(part.first).next().map_or(0, |e| e.offset);
            part.values = begin..begin + part.pattern.n_values();
        }
    }

    fn factor(&mut self, builder: &mut Builder) -> Result<(), ProblemError> {
        self.factors.clear();
        // Given factors come first, at their places in the builder.
        std::mem::swap(&mut self.small, &mut builder.factors);
        for (subsystem, range) in self.blocks.iter().enumerate() {
            let fail = ProblemError::NotPositiveDefinite { subsystem };
            let (n, offset) = (self.dofs(SubsystemId(subsystem)).len(), self.small.len());
            let A = self.matrix.block(self.pattern.diagonal(range.start));
            let given = builder.parts[subsystem].factor;
            let factor = if let Some(from) = given {
                Factor::Branches(from)
            } else if let Structure::Tree { index } = self.structures[subsystem] {
                self.small.extend_from_slice(A);
                let (diagonal, branches) =
                    (|k: usize| A[k * (n + 1)], self.trees[index].branches());
                if !branch::factor(&mut self.small[offset..], branches, diagonal) {
                    return Err(fail);
                }
                Factor::Branches(offset)
            } else if range.len() == 1 && is_diagonal(A, n) {
                self.small.extend(A.iter().step_by(n + 1).map(|a| 1.0 / a));
                if !self.small[offset..].iter().all(|r| *r > 0.0 && r.is_finite()) {
                    return Err(fail);
                }
                Factor::Diagonal(offset)
            } else if let Some(large) = self.large.get_mut(self.large_of[subsystem] as usize) {
                large.reset();
                // Necessary for a positive definite A, and cheap: a positive diagonal.
                let mut diagonals = range.clone().map(|k| self.pattern.diagonal(k));
                let positive = |id: block::BlockId| {
                    let D = self.matrix.block(id);
                    D.iter().step_by(D.len().isqrt() + 1).all(|d| *d > 0.0)
                };
                let at_once = large.is_cheap || range.len() == 1;
                let definite = || large.factor(self.matrix.values()).is_definite();
                if !diagonals.all(positive) || (at_once && !definite()) {
                    return Err(fail);
                }
                Factor::Large(self.large_of[subsystem] as usize)
            } else {
                self.small.extend_from_slice(A);
                if !cholesky(&mut self.small[offset..], n) {
                    return Err(fail);
                }
                Factor::Small(offset)
            };
            self.factors.push(factor);
        }
        Ok(())
    }

    /// Sets this matrix to the subsystems `members` of `whole`, reusing memory; `new_block` maps each
    /// block of `whole` to its new index, `u32::MAX` if it is left out.
    pub(super) fn restrict(&mut self, whole: &Self, members: &[u32], new_block: &mut Vec<u32>) {
        let pattern = whole.matrix.pattern();
        self.clear();
        self.factors.clear();
        new_block.clear();
        new_block.resize(pattern.n_blocks(), u32::MAX);
        for s in members.iter().map(|s| *s as usize) {
            let first = self.sizes.len();
            for k in whole.blocks[s].clone() {
                new_block[k] = self.sizes.len() as u32;
                self.sizes.push(pattern.size(k));
            }
            let large = whole.large.get(whole.large_of[s] as usize);
            if let Some(large) = large {
                self.keep_large(first, &large.pattern);
            }
            let mut structure = whole.structures[s];
            if let Structure::Tree { index } = &mut structure {
                self.keep_tree(&whole.trees[*index]);
                *index = self.used_trees - 1;
            }
            self.push_subsystem(structure, first);
            if !whole.node_compliance.is_empty() {
                let known =
                    whole.blocks[s].clone().map(|k| whole.node_compliance_of(k).unwrap_or(-1.0));
                self.node_compliance.extend(known);
            }
            let n = whole.dofs(SubsystemId(s)).len();
            let mut keep = |offset: usize, len: usize| {
                self.small.extend_from_slice(&whole.small[offset..offset + len]);
                self.small.len() - len
            };
            let factor = match &whole.factors[s] {
                Factor::Diagonal(offset) => Factor::Diagonal(keep(*offset, n)),
                Factor::Small(offset) => Factor::Small(keep(*offset, n * n)),
                Factor::Branches(offset) => Factor::Branches(keep(*offset, n * n)),
                Factor::Large(_) => Factor::Large(self.used_large - 1),
            };
            if let Some(large) = large {
                self.large[self.used_large - 1].share(large);
            }
            self.factors.push(factor);
        }
        self.lay_out();
        for (new, s) in members.iter().map(|s| *s as usize).enumerate() {
            if let Some(large) = whole.large.get(whole.large_of[s] as usize) {
                let to = self.large[self.large_of[new] as usize].values.clone();
                let from = &whole.matrix.values()[large.values.clone()];
                self.matrix.values_mut()[to].copy_from_slice(from);
                continue;
            }
            for k in whole.blocks[s].clone() {
                let id = self.pattern.diagonal(new_block[k] as usize);
                let from = whole.matrix.block(pattern.diagonal(k));
                self.matrix.block_mut(id).copy_from_slice(from);
            }
        }
    }

    /// Releases factorizations shared with another problem.
    pub(super) fn release(&mut self) {
        self.large.iter_mut().for_each(Large::release);
    }

    /// A of one subsystem that is sparse, or one large block.
    pub fn part(&self, subsystem: SubsystemId) -> Option<block::View<'_>> {
        let large = self.large.get(self.large_of[subsystem.0] as usize)?;
        let values = &self.matrix.values()[large.values.clone()];
        Some(block::View::new(&large.pattern, values))
    }

    /// Whether a subsystem is so large that it is factored only on first use.
    pub(crate) fn is_lazy(&self, subsystem: SubsystemId) -> bool {
        let large = self.large.get(self.large_of[subsystem.0] as usize);
        let sparse = self.blocks[subsystem.0].len() > 1;
        sparse && large.is_some_and(|large| !large.is_cheap)
    }

    /// Whether A of a subsystem has been factored.
    pub fn is_factored(&self, subsystem: SubsystemId) -> bool {
        match self.factors[subsystem.0] {
            Factor::Large(k) => self.large[k].is_factored(),
            _ => true,
        }
    }

    /// The node compliance given to the builder [1/kg]: velocity change of the node per unit of impulse.
    pub(crate) fn node_compliance_of(&self, block: usize) -> Option<f64> {
        self.node_compliance.get(block).copied().filter(|y| *y >= 0.0)
    }

    /// A as a block matrix.
    pub fn matrix(&self) -> &block::Symmetric {
        &self.matrix
    }

    /// Number of subsystems.
    pub fn subsystems(&self) -> usize {
        self.blocks.len()
    }

    /// Matrix structure of a subsystem.
    pub fn structure(&self, subsystem: SubsystemId) -> &Structure {
        &self.structures[subsystem.0]
    }

    /// The tree of a subsystem, if it is one.
    pub fn tree(&self, subsystem: SubsystemId) -> Option<&Tree> {
        match self.structure(subsystem) {
            Structure::Tree { index } => Some(&self.trees[*index]),
            _ => None,
        }
    }

    /// Whether a subsystem is a tree.
    pub fn has_tree(&self) -> bool {
        self.used_trees > 0
    }

    /// Blocks of coordinates of a subsystem.
    pub fn blocks(&self, subsystem: SubsystemId) -> Range<usize> {
        self.blocks[subsystem.0].clone()
    }

    /// Coordinates of a subsystem.
    pub fn dofs(&self, subsystem: SubsystemId) -> Range<usize> {
        self.starts[subsystem.0]..self.starts[subsystem.0 + 1]
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
            Factor::Diagonal(offset) => {
                let reciprocals = &self.small[*offset..*offset + x.len()];
                x.iter_mut().zip(reciprocals).for_each(|(x, r)| *x *= r);
            }
            Factor::Small(offset) => {
                let n = x.len();
                cholesky_solve(&self.small[*offset..*offset + n * n], x);
            }
            Factor::Branches(offset) => {
                if let Some(tree) = self.tree(subsystem) {
                    branch::solve(&self.small[*offset..], tree.branches(), x);
                }
            }
            Factor::Large(k) => self.large[*k].factor(self.matrix.values()).solve(x),
        }
    }

    /// `x ← F⁻¹ x` for the velocities x of one subsystem with `A_s = F Fᵀ`, for every row x of `rows`: then `|x|²` is `xᵀ A_s⁻¹ x` of
    /// the x before. Rows are `stride` apart. False, with the rows as they were, if the factor of the subsystem does not offer
    /// this.
    pub(crate) fn divide_rows(
        &self,
        subsystem: SubsystemId,
        root: Root,
        rows: &mut [f64],
        stride: usize,
        four: &mut branch::FourRows,
    ) -> bool {
        let n = self.dofs(subsystem).len();
        match &self.factors[subsystem.0] {
            Factor::Diagonal(at) => {
                for x in rows.chunks_mut(stride) {
                    x[..n].iter_mut().zip(&self.small[*at..]).for_each(|(x, r)| *x *= r.sqrt());
                }
            }
            Factor::Small(at) => {
                for x in rows.chunks_mut(stride) {
                    cholesky_solve_lower(&self.small[*at..*at + n * n], &mut x[..n]);
                }
            }
            Factor::Branches(at) => {
                let Some(tree) = self.tree(subsystem) else { return false };
                let at =
                    if root == Root::Scales { self.scale_root_at(subsystem, *at) } else { *at };
                let (L, branches) = (&self.small[at..at + n * n], tree.branches());
                branch::solve_transposed_rows(L, branches, rows, stride, four);
            }
            Factor::Large(_) => return false,
        }
        true
    }

    /// Offset of the factor for scales of a tree, whose own factor is at `own`.
    fn scale_root_at(&self, subsystem: SubsystemId, own: usize) -> usize {
        self.scale_factors.get(subsystem.0).copied().flatten().unwrap_or(own)
    }

    /// The factor for the scales of constraints of a tree, along its branches, and these.
    pub(super) fn scale_root(&self, subsystem: SubsystemId) -> Option<(&[f64], &branch::Parents)> {
        let (tree, n) = (self.tree(subsystem)?, self.dofs(subsystem).len());
        let Factor::Branches(own) = self.factors[subsystem.0] else { return None };
        let at = self.scale_root_at(subsystem, own);
        Some((&self.small[at..at + n * n], tree.branches()))
    }

    /// Reciprocals of A where a subsystem's A is diagonal.
    #[inline]
    pub(super) fn reciprocals(&self, subsystem: SubsystemId) -> Option<&[f64]> {
        match self.factors[subsystem.0] {
            Factor::Diagonal(at) => Some(&self.small[at..at + self.dofs(subsystem).len()]),
            _ => None,
        }
    }

    /// The Cholesky factor L of a subsystem of six velocities that is dense.
    pub(crate) fn small_factor(&self, subsystem: SubsystemId) -> Option<SixFactor<'_>> {
        if self.dofs(subsystem).len() != 6 {
            return None;
        }
        match self.factors[subsystem.0] {
            Factor::Diagonal(at) => self.small[at..].first_chunk().map(SixFactor::Diagonal),
            Factor::Small(at) => self.small[at..].first_chunk().map(SixFactor::Full),
            Factor::Branches(_) | Factor::Large(_) => None,
        }
    }

    /// `out = A v`.
    ///
    /// In a matrix of mixed block sizes, a large subsystem still has blocks of one size; its product uses
    /// the loops specialised for that size.
    pub fn mul(&self, v: &[f64], out: &mut [f64]) {
        if self.used_large == 0 || self.matrix.pattern().common_size().is_some() {
            return self.matrix.mul(v, out);
        }
        for s in (0..self.subsystems()).map(SubsystemId) {
            let dofs = self.dofs(s);
            let (v, out) = (&v[dofs.clone()], &mut out[dofs]);
            match self.part(s) {
                Some(A) => A.mul(v, out),
                None => {
                    let A = self.matrix.block(self.pattern.diagonal(self.blocks[s.0].start));
                    let is_tree = self.tree(s).is_some();
                    for (row, out) in A.chunks_exact(v.len().max(1)).zip(out) {
                        *out = if is_tree { dot_in_lanes(row, v) } else { super::dot(row, v) };
                    }
                }
            }
        }
    }
}

/// Which A of a subsystem a root is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A itself.
    Mass,
    /// That for the scales of constraints ([`Builder::hold`](super::Builder::hold)).
    Scales,
}

/// The Cholesky factor of a 6 × 6 matrix A = L Lᵀ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SixFactor<'a> {
    /// A is diagonal; its reciprocals.
    Diagonal(&'a [f64; 6]),
    /// L, row-major.
    Full(&'a [f64; 36]),
}

impl SixFactor<'_> {
    /// `x ← L⁻¹ x`.
    #[inline]
    pub fn divide(self, x: &mut [f64; 6]) {
        match self {
            Self::Diagonal(r) => (0..6).for_each(|k| x[k] *= r[k].sqrt()),
            Self::Full(l) => {
                for i in 0..6 {
                    let sum: f64 = (0..i).map(|j| l[6 * i + j] * x[j]).sum();
                    x[i] = (x[i] - sum) / l[7 * i];
                }
            }
        }
    }

    /// `x ← Lᵀ x`.
    #[inline]
    pub fn multiply_transposed(self, x: &mut [f64; 6]) {
        match self {
            Self::Diagonal(r) => (0..6).for_each(|k| x[k] /= r[k].sqrt()),
            Self::Full(l) => {
                for i in 0..6 {
                    x[i] = (i..6).map(|j| l[6 * j + i] * x[j]).sum();
                }
            }
        }
    }
}

/// `A ← ½ (A + Aᵀ)`.
fn symmetrise(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
            (a[i * n + j], a[j * n + i]) = (mean, mean);
        }
    }
}

/// Whether a row-major symmetric matrix is diagonal.
fn is_diagonal(a: &[f64], n: usize) -> bool {
    (1..n).all(|i| a[i * n..i * n + i].iter().all(|x| *x == 0.0))
}

/// Replaces the lower triangle of a row-major matrix by its Cholesky factor. False if a pivot is
/// not positive, relative to the entry that it started from.
pub(crate) fn cholesky(a: &mut [f64], n: usize) -> bool {
    match n {
        6 => cholesky_loops(a, 6),
        n => cholesky_loops(a, n),
    }
}

/// `x ← (L Lᵀ)⁻¹ x` with the factor of [`cholesky`].
#[inline]
pub(super) fn cholesky_solve(l: &[f64], x: &mut [f64]) {
    match x.len() {
        6 => cholesky_solve_loops(l, x, 6),
        n => cholesky_solve_loops(l, x, n),
    }
}

#[inline(always)]
fn cholesky_loops(a: &mut [f64], n: usize) -> bool {
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
                // A pivot at the level of round-off counts as zero.
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

/// `x ← L⁻¹ x` with the factor of [`cholesky`].
#[inline]
fn cholesky_solve_lower(l: &[f64], x: &mut [f64]) {
    match x.len() {
        6 => cholesky_lower_loops(l, x, 6),
        n => cholesky_lower_loops(l, x, n),
    }
}

#[inline(always)]
fn cholesky_lower_loops(l: &[f64], x: &mut [f64], n: usize) {
    let (l, x) = (&l[..n * n], &mut x[..n]);
    for i in 0..n {
        let row = &l[i * n..i * n + i];
        x[i] = (x[i] - super::dot(row, &x[..i])) / l[i * n + i];
    }
}

#[inline(always)]
fn cholesky_solve_loops(l: &[f64], x: &mut [f64], n: usize) {
    cholesky_lower_loops(l, x, n);
    let (l, x) = (&l[..n * n], &mut x[..n]);
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let (done, x_i) = (&l[i * n..i * n + i], x[i]);
        for (x, l) in x[..i].iter_mut().zip(done) {
            *x -= l * x_i;
        }
    }
}
