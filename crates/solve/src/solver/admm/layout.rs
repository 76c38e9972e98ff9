//! Structure of the split problem: constraints, their copies, and the coordinates that the copies read.
//!
//! Constraint i has one *copy* `z_ij` of its velocity per part j that it touches
//! [Lee25, Eqs. (31)-(33)]. A part is everything, a subsystem, or a link of a tree, as given
//! by [`Split`]. A copy reads coordinates through *pieces*, dense matrices on runs of a
//! subsystem's velocities or, if trees are split by links, on the spatial velocity of a link, so
//! that a contact on a link costs the same however long the tree is. The extended velocity x of a
//! subsystem is its velocities, those of its links, and the products of its pieces with them: the
//! values of a piece are then read by the subsystem only, one after another. The layout also
//! assigns offsets to λ and the copies in one array of states. It contains no penalty and no iterate.

use std::ops::Range;

use crate::problem::{Map, Problem, SubsystemId};

/// The parts into which the problem is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Everything: one copy per constraint.
    Whole,
    /// Each subsystem.
    Subsystem,
    /// Each link of a tree; other subsystems as a whole.
    Link,
}

/// A dense matrix on a run of a subsystem's extended velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmmBlock {
    pub constraint: u32,
    /// Index of the copy within its constraint.
    pub copy: u32,
    /// The block of coordinates, or the link if `on_link`.
    pub block: u32,
    pub on_link: bool,
    /// Number of rows.
    pub dim: u32,
    /// Offset of its copy in the states.
    state: u32,
    /// Offset of its product in the extended velocities of all subsystems.
    product: u32,
    subsystem: u32,
    start: u32,
    width: u32,
    offset: u32,
}

impl AdmmBlock {
    /// The extended velocities that it reads, counted within its subsystem.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.width) as usize
    }
}

/// Numbers that a constraint keeps per row: λ and its last change.
const PER_ROW: usize = 2;
/// Numbers that a copy keeps per row: `β z + λ`, z, and β times the last decrease of z.
const PER_COPY_ROW: usize = 3;

/// Copies and pieces of a problem.
#[derive(Debug, Default)]
pub struct Layout {
    /// First extended velocity of each subsystem, and their number at the end.
    extended_start: Vec<usize>,
    /// Extended velocities of each subsystem before its products.
    moving: Vec<usize>,
    /// First copy of each constraint, and their number at the end.
    copy_start: Vec<usize>,
    /// First piece of each copy, and their number at the end.
    piece_start: Vec<usize>,
    /// Pieces and their values by constraint and copy, while the layout is built.
    draft: Vec<AdmmBlock>,
    draft_values: Vec<f64>,
    /// Products of the pieces by constraint and copy.
    products: Vec<u32>,
    /// Pieces and their values by subsystem, then by constraint and copy.
    pieces: Vec<AdmmBlock>,
    values: Vec<f64>,
    subsystem_start: Vec<usize>,
    row_start: Vec<usize>,
    state_start: Vec<usize>,
    links_read: bool,
}

impl Layout {
    /// Prepares for a problem.
    pub fn prepare(&mut self, problem: &Problem, split: Split) {
        self.links_read = split == Split::Link;
        for list in [
            &mut self.copy_start,
            &mut self.piece_start,
            &mut self.row_start,
            &mut self.state_start,
        ] {
            list.clear();
            list.push(0);
        }
        self.draft.clear();
        self.draft_values.clear();
        let mut state = 0;
        for i in 0..problem.constraints().len() {
            self.add_constraint(problem, i, split);
            self.copy_start.push(self.piece_start.len() - 1);
            let rows = problem.row_range(i);
            self.row_start.push(rows.end);
            state += rows.len() * (PER_ROW + PER_COPY_ROW * self.copies(i));
            self.state_start.push(state);
        }
        self.sort_by_subsystem(problem);
    }

    fn add_constraint(&mut self, problem: &Problem, i: usize, split: Split) {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        let mut last = None;
        for e in jacobian.constraint_entries(i) {
            let s = mass.subsystem_of(e.block as usize);
            if split == Split::Link && mass.tree(s).is_some() {
                continue;
            }
            if split != Split::Whole && last != Some(s) {
                self.end_copy();
            }
            last = Some(s);
            let range = jacobian.block_range(e.block as usize);
            let start = range.start - mass.dofs(s).start;
            let piece = self.piece(problem, i, s, e.block, start, range.len());
            self.draft.push(piece);
            self.draft_values.extend_from_slice(jacobian.block(e));
        }
        self.end_copy();
        if split == Split::Link {
            self.add_tree_copies(problem, i);
        }
    }

    /// One copy per link that a constraint touches, one per subsystem for its other ports.
    fn add_tree_copies(&mut self, problem: &Problem, i: usize) {
        let (mass, dim) = (problem.mass(), problem.row_range(i).len());
        let terms = problem.terms(i);
        let port = |t: usize| &problem.ports()[terms[t].port.0];
        let part = |t: usize| match port(t).map {
            Map::Link(link) => (port(t).subsystem, Some(link)),
            _ => (port(t).subsystem, None),
        };
        for t in (0..terms.len()).filter(|t| mass.tree(port(*t).subsystem).is_some()) {
            // A part is handled where it occurs first.
            if (0..t).any(|before| part(before) == part(t)) {
                continue;
            }
            let (subsystem, link) = part(t);
            let tree = mass.tree(subsystem);
            if link.zip(tree).is_some_and(|(link, tree)| tree.path(link).next().is_none()) {
                continue; // welded to the ground: a side that cannot move
            }
            let n = mass.dofs(subsystem).len();
            let same = || (t..terms.len()).filter(|other| part(*other) == part(t));
            let (start, width) = match link {
                Some(link) => (n + 6 * link, 6),
                None => same()
                    .map(|other| columns(&port(other).map, n))
                    .reduce(joined)
                    .unwrap_or((0, n)),
            };
            let block = link.unwrap_or(mass.blocks(subsystem).start) as u32;
            let piece = self.piece(problem, i, subsystem, block, start, width);
            self.draft.push(AdmmBlock { on_link: link.is_some(), ..piece });
            let offset = self.draft_values.len();
            self.draft_values.resize(offset + dim * width, 0.0);
            let out = &mut self.draft_values[offset..];
            for other in same() {
                let C = problem.term_values(&terms[other]);
                add_term(&port(other).map, C, dim, (start, n), out);
            }
            self.end_copy();
        }
    }

    /// A piece of the open copy whose values follow those that are there.
    fn piece(
        &self,
        problem: &Problem,
        constraint: usize,
        subsystem: SubsystemId,
        block: u32,
        start: usize,
        width: usize,
    ) -> AdmmBlock {
        let copy = self.piece_start.len() - 1 - self.copy_start[constraint];
        let dim = problem.row_range(constraint).len();
        AdmmBlock {
            constraint: constraint as u32,
            copy: copy as u32,
            block,
            on_link: false,
            dim: dim as u32,
            state: (self.state_start[constraint] + dim * (PER_ROW + PER_COPY_ROW * copy)) as u32,
            product: 0,
            subsystem: subsystem.0 as u32,
            start: start as u32,
            width: width as u32,
            offset: self.draft_values.len() as u32,
        }
    }

    /// Closes the open copy, if it has a piece.
    fn end_copy(&mut self) {
        if self.piece_start.last() != Some(&self.draft.len()) {
            self.piece_start.push(self.draft.len());
        }
    }

    /// Sorts pieces and values by subsystem and assigns offsets to the extended velocities.
    fn sort_by_subsystem(&mut self, problem: &Problem) {
        let mass = problem.mass();
        self.subsystem_start.clear();
        self.subsystem_start.resize(mass.subsystems() + 1, 0);
        self.products.clear();
        self.products.resize(self.draft.len(), 0);
        self.pieces.clear();
        self.pieces.extend_from_slice(&self.draft);
        // `product` temporarily holds the piece's index in `draft`.
        for (from, p) in self.pieces.iter_mut().enumerate() {
            p.product = from as u32;
            self.subsystem_start[p.subsystem as usize + 1] += 1;
        }
        self.pieces.sort_unstable_by_key(|p| (p.subsystem, p.product));
        self.extended_start.clear();
        self.extended_start.push(0);
        self.moving.clear();
        self.values.clear();
        let mut end = 0;
        for s in 0..mass.subsystems() {
            self.subsystem_start[s + 1] += self.subsystem_start[s];
            let links = mass.tree(SubsystemId(s)).filter(|_| self.links_read);
            let moving = mass.dofs(SubsystemId(s)).len() + links.map_or(0, |t| 6 * t.links());
            self.moving.push(moving);
            end += moving;
            for p in &mut self.pieces[self.subsystem_start[s]..self.subsystem_start[s + 1]] {
                self.products[p.product as usize] = end as u32;
                p.product = end as u32;
                end += p.dim as usize;
                let (from, size) = (p.offset as usize, (p.dim * p.width) as usize);
                p.offset = self.values.len() as u32;
                self.values.extend_from_slice(&self.draft_values[from..from + size]);
            }
            self.extended_start.push(end);
        }
    }

    /// Number of extended velocities.
    pub fn extended(&self) -> usize {
        self.extended_start.last().copied().unwrap_or(0)
    }

    /// Extended velocities of a subsystem.
    #[inline]
    pub fn extended_range(&self, subsystem: usize) -> Range<usize> {
        self.extended_start[subsystem]..self.extended_start[subsystem + 1]
    }

    /// Extended velocities of a subsystem before its products: its own and those of its links.
    #[inline]
    pub fn moving(&self, subsystem: usize) -> usize {
        self.moving[subsystem]
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.copy_start.len() - 1
    }

    /// Number of subsystems.
    pub fn subsystems(&self) -> usize {
        self.extended_start.len() - 1
    }

    /// |Z_i|: number of copies of a constraint.
    #[inline]
    pub fn copies(&self, constraint: usize) -> usize {
        self.copy_start[constraint + 1] - self.copy_start[constraint]
    }

    /// Rows of a constraint.
    #[inline]
    pub fn rows(&self, constraint: usize) -> Range<usize> {
        self.row_start[constraint]..self.row_start[constraint + 1]
    }

    /// States of a constraint: λ, its last change, and per copy `β z + λ`, z, and β times the last
    /// decrease of z.
    #[inline]
    pub fn states(&self, constraint: usize) -> Range<usize> {
        self.state_start[constraint]..self.state_start[constraint + 1]
    }

    /// States of the copy of a piece: `β z + λ`.
    #[inline]
    pub fn force_states(&self, p: &AdmmBlock) -> Range<usize> {
        p.state as usize..(p.state + p.dim) as usize
    }

    /// States of the copy of a piece: β times the last decrease of z.
    #[inline]
    pub fn decrease_states(&self, p: &AdmmBlock) -> Range<usize> {
        (p.state + 2 * p.dim) as usize..(p.state + 3 * p.dim) as usize
    }

    /// Offsets of the products of one copy's pieces in the extended velocities of all subsystems.
    #[inline]
    pub fn copy_products(&self, constraint: usize, copy: usize) -> &[u32] {
        let copy = self.copy_start[constraint] + copy;
        &self.products[self.piece_start[copy]..self.piece_start[copy + 1]]
    }

    /// Pieces on a subsystem, those of one copy side by side, in the order of their products.
    #[inline]
    pub fn subsystem_pieces(&self, subsystem: usize) -> &[AdmmBlock] {
        &self.pieces[self.subsystem_start[subsystem]..self.subsystem_start[subsystem + 1]]
    }

    /// Whether the velocities of links follow those of a tree.
    pub fn reads_links(&self) -> bool {
        self.links_read
    }

    /// Row-major values of a piece, one row per row of its constraint.
    #[inline]
    pub fn values(&self, p: &AdmmBlock) -> &[f64] {
        &self.values[p.offset as usize..(p.offset + p.dim * p.width) as usize]
    }
}

/// First velocity that a port of a tree of n reads, and their number.
fn columns(map: &Map, n: usize) -> (usize, usize) {
    match map {
        Map::Coordinates { first, count } => (*first, *count),
        _ => (0, n),
    }
}

/// The shortest run that contains two, each given by its first and its number.
fn joined(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    let first = a.0.min(b.0);
    (first, (a.0 + a.1).max(b.0 + b.1) - first)
}

/// Adds `C P` of a term on a tree of n velocities to a matrix on those from `start` on, or C on those of its link.
fn add_term(map: &Map, C: &[f64], dim: usize, (start, n): (usize, usize), out: &mut [f64]) {
    let size = C.len() / dim;
    let width = out.len() / dim;
    for (c, out) in C.chunks_exact(size).zip(out.chunks_exact_mut(width)) {
        let mut add = |first: usize, values: &[f64], factor: f64| {
            for (out, x) in out[first..].iter_mut().zip(values) {
                *out += factor * x;
            }
        };
        match map {
            Map::Whole | Map::Link(_) => add(0, c, 1.0),
            Map::Coordinates { first, .. } => add(*first - start, c, 1.0),
            Map::Matrix { values, .. } => {
                for (c, row) in c.iter().zip(values.chunks_exact(n)) {
                    add(0, row, *c);
                }
            }
            Map::Nodes(_) | Map::Point { .. } => {} // no port of a tree
        }
    }
}
