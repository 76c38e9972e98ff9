//! Who talks to whom: constraints, their copies, and the coordinates that the copies read.
//!
//! Constraint i has one *copy* `z_ij` of its velocity per part j that it touches
//! [Lee25, Eqs. (31)-(33)]. A part is everything, a subsystem, or a link of a tree, as the
//! [`Split`] says. A copy reads coordinates through *pieces*, dense matrices on runs of an extended
//! velocity x: the velocities of each subsystem and, if trees are split by links, the spatial
//! velocities of their links behind them. So a contact on a link costs the same however long the
//! tree is. Contains no penalty and no iterate.

use std::ops::Range;

use crate::problem::{Map, Problem, SubsystemId};

/// What counts as a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Everything: one copy per constraint.
    Whole,
    /// Each subsystem.
    Subsystem,
    /// Each link of a tree; other subsystems as a whole.
    Link,
}

/// A dense matrix on a run of extended velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub constraint: u32,
    /// Which of the constraint's copies.
    pub copy: u32,
    /// The block of coordinates, or the link if `on_link`.
    pub block: u32,
    pub on_link: bool,
    start: u32,
    width: u32,
    offset: u32,
}

impl Piece {
    /// The extended velocities that it reads.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.width) as usize
    }
}

/// Copies and pieces of a problem.
#[derive(Debug, Default)]
pub struct Layout {
    /// First extended velocity of each subsystem, and their number at the end.
    extended_start: Vec<usize>,
    /// First copy of each constraint, and their number at the end.
    copy_start: Vec<usize>,
    /// First piece of each copy, and their number at the end.
    piece_start: Vec<usize>,
    pieces: Vec<Piece>,
    values: Vec<f64>,
    /// Pieces of each subsystem, by constraint and copy.
    subsystem_start: Vec<usize>,
    subsystem_pieces: Vec<u32>,
    row_start: Vec<usize>,
    links_read: bool,
}

impl Layout {
    /// Fits to a problem.
    pub fn prepare(&mut self, problem: &Problem, split: Split) {
        self.links_read = split == Split::Link;
        self.place_subsystems(problem);
        for list in [&mut self.copy_start, &mut self.piece_start, &mut self.row_start] {
            list.clear();
            list.push(0);
        }
        self.pieces.clear();
        self.values.clear();
        for i in 0..problem.constraints().len() {
            self.add_constraint(problem, i, split);
            self.copy_start.push(self.piece_start.len() - 1);
            self.row_start.push(problem.row_range(i).end);
        }
        self.list_by_subsystem(problem);
    }

    fn place_subsystems(&mut self, problem: &Problem) {
        self.extended_start.clear();
        self.extended_start.push(0);
        let mut end = 0;
        for s in (0..problem.mass().subsystems()).map(SubsystemId) {
            end += problem.mass().dofs(s).len();
            if let Some(tree) = problem.mass().tree(s).filter(|_| self.links_read) {
                end += 6 * tree.links();
            }
            self.extended_start.push(end);
        }
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
            let start = range.start - mass.dofs(s).start + self.extended_start[s.0];
            self.push_piece(i, e.block, false, start, range.len(), jacobian.block(e));
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
            // A part is served where it occurs first.
            if (0..t).any(|before| part(before) == part(t)) {
                continue;
            }
            let (subsystem, link) = part(t);
            let tree = mass.tree(subsystem);
            if link.zip(tree).is_some_and(|(link, tree)| tree.path(link).next().is_none()) {
                continue; // welded to the ground: a side that cannot move
            }
            let (base, n) = (self.extended_start[subsystem.0], mass.dofs(subsystem).len());
            let same = (t..terms.len()).filter(|other| part(*other) == part(t));
            let (start, width) = if link.is_some() { (base, 6) } else { (base, n) };
            let start = link.map_or(start, |link| base + n + 6 * link);
            let block = link.unwrap_or(mass.blocks(subsystem).start) as u32;
            let offset = self.values.len();
            self.push_piece(i, block, link.is_some(), start, width, &[]);
            self.values.resize(offset + dim * width, 0.0);
            let out = &mut self.values[offset..];
            for other in same {
                let C = problem.term_values(&terms[other]);
                add_term(&port(other).map, C, dim, n, out);
            }
            self.end_copy();
        }
    }

    fn push_piece(
        &mut self,
        constraint: usize,
        block: u32,
        on_link: bool,
        start: usize,
        width: usize,
        values: &[f64],
    ) {
        let copy = self.piece_start.len() - 1 - self.copy_start[constraint];
        self.pieces.push(Piece {
            constraint: constraint as u32,
            copy: copy as u32,
            block,
            on_link,
            start: start as u32,
            width: width as u32,
            offset: self.values.len() as u32,
        });
        self.values.extend_from_slice(values);
    }

    /// Closes the open copy, if it has a piece.
    fn end_copy(&mut self) {
        if self.piece_start.last() != Some(&self.pieces.len()) {
            self.piece_start.push(self.pieces.len());
        }
    }

    fn list_by_subsystem(&mut self, problem: &Problem) {
        let subsystems = problem.mass().subsystems();
        self.subsystem_start.clear();
        self.subsystem_start.resize(subsystems + 1, 0);
        let of =
            |start: u32, extended: &[usize]| extended.partition_point(|s| *s <= start as usize) - 1;
        for p in &self.pieces {
            self.subsystem_start[of(p.start, &self.extended_start) + 1] += 1;
        }
        for s in 0..subsystems {
            self.subsystem_start[s + 1] += self.subsystem_start[s];
        }
        self.subsystem_pieces.clear();
        self.subsystem_pieces.resize(self.pieces.len(), 0);
        // Counting sort; the starts are shifted while filling and restored below.
        for (index, p) in self.pieces.iter().enumerate() {
            let slot = &mut self.subsystem_start[of(p.start, &self.extended_start)];
            self.subsystem_pieces[*slot] = index as u32;
            *slot += 1;
        }
        for s in (1..=subsystems).rev() {
            self.subsystem_start[s] = self.subsystem_start[s - 1];
        }
        self.subsystem_start[0] = 0;
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

    /// Pieces of one copy of a constraint.
    #[inline]
    pub fn copy_pieces(&self, constraint: usize, copy: usize) -> &[Piece] {
        let copy = self.copy_start[constraint] + copy;
        &self.pieces[self.piece_start[copy]..self.piece_start[copy + 1]]
    }

    /// Pieces on a subsystem, those of one copy side by side.
    #[inline]
    pub fn subsystem_pieces(&self, subsystem: usize) -> impl Iterator<Item = &Piece> + Clone {
        let range = self.subsystem_start[subsystem]..self.subsystem_start[subsystem + 1];
        self.subsystem_pieces[range].iter().map(|p| &self.pieces[*p as usize])
    }

    /// Whether the velocities of links follow those of a tree.
    pub fn reads_links(&self) -> bool {
        self.links_read
    }

    /// Row-major values of a piece, one row per row of its constraint.
    #[inline]
    pub fn values(&self, piece: &Piece) -> &[f64] {
        let size = self.rows(piece.constraint as usize).len() * piece.width as usize;
        &self.values[piece.offset as usize..piece.offset as usize + size]
    }
}

/// Adds `C P` of a term on a tree to a matrix on its velocities, or C on those of its link.
fn add_term(map: &Map, C: &[f64], dim: usize, n: usize, out: &mut [f64]) {
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
            Map::Coordinates { first, .. } => add(*first, c, 1.0),
            Map::Matrix { values, .. } => {
                for (c, row) in c.iter().zip(values.chunks_exact(n)) {
                    add(0, row, *c);
                }
            }
            Map::Nodes(_) => {} // no port of a tree
        }
    }
}
