//! The velocity update: `(A_j + Σ β Jᵀ J) v_j = b_j + Σ Jᵀ (β z + λ)` for every part
//! [Lee25, Eqs. (29), (35)].
//!
//! Factored once per change of the penalties, solved once per iteration. Parts are independent;
//! they are worked through in chunks whose cut depends on the problem alone, so that the number of
//! threads changes no bit. A subsystem that no constraint touches moves freely and is left alone.

use std::sync::atomic::{AtomicBool, Ordering};

use stiction_math::par;

use super::augmented::{Augmented, add_rows};
use super::layout::{Layout, Piece, Split};
use super::sparse::Large;
use crate::problem::{Problem, SubsystemId, cholesky, cholesky_solve};
use crate::solver::newton::Hessian;

/// A dense subsystem up to this size is factored by plain loops.
const SMALL: usize = 48;
/// Multiplications in a chunk of subsystems, roughly.
const CHUNK_WORK: usize = 10_000;
/// Multiplications in an iteration from which on threads pay, roughly.
const PARALLEL_WORK: usize = 300_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// Nothing touches it.
    Free,
    /// Part of the one factorization of everything.
    Whole,
    /// Lower Cholesky factor at an offset, row-major.
    Small(usize),
    Tree(usize),
    Large(usize),
}

/// Factors of all parts.
#[derive(Debug, Default)]
pub struct Systems {
    factors: Vec<Factor>,
    small: Vec<f64>,
    trees: Vec<Augmented>,
    large: Vec<Large>,
    n_trees: usize,
    n_large: usize,
    whole: Hessian,
    slopes: Vec<f64>,
    is_whole: bool,
    /// Subsystems and extended velocities at which each chunk ends, and where its small factors do.
    chunk_subsystems: Vec<usize>,
    chunk_ends: Vec<usize>,
    chunk_small: Vec<usize>,
    parallel: bool,
}

impl Systems {
    /// Fits to a problem and its layout.
    pub fn prepare(&mut self, problem: &Problem, layout: &Layout, split: Split) {
        self.is_whole = split == Split::Whole;
        if self.is_whole {
            self.whole.prepare(problem);
        }
        self.factors.clear();
        self.chunk_subsystems.clear();
        self.chunk_ends.clear();
        self.chunk_small.clear();
        (self.n_trees, self.n_large) = (0, 0);
        let (mut small, mut total, mut chunk) = (0, 0, 0);
        for s in 0..layout.subsystems() {
            let n = problem.mass().dofs(SubsystemId(s)).len();
            let pieces = layout.subsystem_pieces(s);
            let touched = pieces.clone().next().is_some();
            chunk += n * n.min(SMALL) + 2 * pieces.map(|p| layout.values(p).len()).sum::<usize>();
            let factor = self.choose(problem, layout, s, n, touched, &mut small);
            self.factors.push(factor);
            if chunk >= CHUNK_WORK || s + 1 == layout.subsystems() {
                self.chunk_subsystems.push(s + 1);
                self.chunk_ends.push(layout.extended_range(s).end);
                self.chunk_small.push(small);
                total += chunk;
                chunk = 0;
            }
        }
        self.small.clear();
        self.small.resize(small, 0.0);
        self.parallel = total >= PARALLEL_WORK;
    }

    fn choose(
        &mut self,
        problem: &Problem,
        layout: &Layout,
        s: usize,
        n: usize,
        touched: bool,
        small: &mut usize,
    ) -> Factor {
        let mass = problem.mass();
        if self.is_whole {
            return Factor::Whole;
        }
        if !touched {
            return Factor::Free;
        }
        if let Some(tree) = mass.tree(SubsystemId(s)).filter(|_| layout.reads_links()) {
            if self.trees.len() == self.n_trees {
                self.trees.push(Augmented::default());
            }
            self.trees[self.n_trees].prepare(tree, layout, s);
            self.n_trees += 1;
            return Factor::Tree(self.n_trees - 1);
        }
        if mass.blocks(SubsystemId(s)).len() == 1 && n <= SMALL {
            *small += n * n;
            return Factor::Small(*small - n * n);
        }
        if self.large.len() == self.n_large {
            self.large.push(Large::default());
        }
        self.large[self.n_large].prepare(problem, layout, s);
        self.n_large += 1;
        Factor::Large(self.n_large - 1)
    }

    /// Whether an iteration is worth more than one thread.
    pub fn parallel(&self) -> bool {
        self.parallel
    }

    fn parallel_from(&self) -> usize {
        if self.parallel { 0 } else { usize::MAX }
    }

    fn chunk(&self, k: usize) -> std::ops::Range<usize> {
        let first = k.checked_sub(1).map_or(0, |k| self.chunk_subsystems[k]);
        first..self.chunk_subsystems[k]
    }

    /// Factors everything at penalties `beta`. False if something is not positive definite.
    pub fn factor(&mut self, problem: &Problem, layout: &Layout, beta: &[f64]) -> bool {
        if self.is_whole {
            return self.factor_whole(problem, beta);
        }
        let (parallel_from, fine) = (self.parallel_from(), AtomicBool::new(true));
        let check = |ok: bool| {
            if !ok {
                fine.store(false, Ordering::Relaxed);
            }
        };
        let mut small = std::mem::take(&mut self.small);
        par::for_each_piece(&mut small, &self.chunk_small, parallel_from, |k, part| {
            let mut begin = 0;
            for s in self.chunk(k) {
                if let Factor::Small(_) = self.factors[s] {
                    let n = problem.mass().dofs(SubsystemId(s)).len();
                    let H = &mut part[begin..begin + n * n];
                    begin += n * n;
                    check(factor_small(problem, layout, s, beta, H));
                }
            }
        });
        self.small = small;
        let trees = &mut self.trees[..self.n_trees];
        par::for_each_chunk(trees, 1, parallel_from, |_, part| {
            part.iter_mut().for_each(|tree| check(tree.factor(problem, layout, beta)));
        });
        let large = &mut self.large[..self.n_large];
        par::for_each_chunk(large, 1, parallel_from, |_, part| {
            part.iter_mut().for_each(|large| check(large.factor(problem, layout, beta)));
        });
        fine.into_inner()
    }

    fn factor_whole(&mut self, problem: &Problem, beta: &[f64]) -> bool {
        let stencil = self.whole.stencil();
        self.slopes.clear();
        self.slopes.resize(stencil.slopes(), 0.0);
        for (i, beta) in beta.iter().enumerate() {
            let dim = problem.row_range(i).len();
            let slope = &mut self.slopes[stencil.slope_range(i)];
            slope.iter_mut().step_by(dim + 1).for_each(|d| *d = *beta);
        }
        self.whole.assemble(problem, &self.slopes);
        self.whole.factor()
    }

    /// x ← the velocities that answer the impulses `force(piece)` = β z + λ of the copies.
    pub fn solve<'a>(
        &self,
        problem: &Problem,
        layout: &Layout,
        force: impl Fn(&Piece) -> &'a [f64] + Sync,
        x: &mut [f64],
    ) {
        par::for_each_piece(x, &self.chunk_ends, self.parallel_from(), |k, part| {
            let subsystems = self.chunk(k);
            let base = layout.extended_range(subsystems.start).start;
            for s in subsystems {
                if self.factors[s] == Factor::Free {
                    continue;
                }
                let range = layout.extended_range(s);
                let x = &mut part[range.start - base..range.end - base];
                gather(problem, layout, s, &force, x);
                let dofs = problem.mass().dofs(SubsystemId(s));
                let (v, links) = x.split_at_mut(dofs.len());
                for (x, b) in v.iter_mut().zip(&problem.momentum()[dofs]) {
                    *x += b;
                }
                self.solve_one(self.factors[s], v);
                if let Some(tree) = problem.mass().tree(SubsystemId(s))
                    && layout.reads_links()
                {
                    tree.link_velocities(v, links);
                }
            }
        });
        if self.is_whole {
            self.whole.solve(x);
        }
    }

    #[inline]
    fn solve_one(&self, factor: Factor, v: &mut [f64]) {
        match factor {
            Factor::Free | Factor::Whole => {}
            Factor::Small(offset) => {
                cholesky_solve(&self.small[offset..offset + v.len() * v.len()], v);
            }
            Factor::Tree(k) => self.trees[k].solve(v),
            Factor::Large(k) => self.large[k].solve(v),
        }
    }
}

/// `x = Σ Jᵀ force` over the pieces of a subsystem, in its own velocities; what stood behind them
/// for the links is used up.
pub fn gather<'a>(
    problem: &Problem,
    layout: &Layout,
    s: usize,
    force: impl Fn(&Piece) -> &'a [f64],
    x: &mut [f64],
) {
    let base = layout.extended_range(s).start;
    x.fill(0.0);
    for p in layout.subsystem_pieces(s) {
        let range = p.range();
        let x = &mut x[range.start - base..range.end - base];
        for (row, f) in layout.values(p).chunks_exact(x.len()).zip(force(p)) {
            for (x, j) in x.iter_mut().zip(row) {
                *x += j * f;
            }
        }
    }
    if let Some(tree) = problem.mass().tree(SubsystemId(s))
        && layout.reads_links()
    {
        let (v, links) = x.split_at_mut(tree.velocities());
        tree.add_link_forces(links, v);
    }
}

fn factor_small(problem: &Problem, layout: &Layout, s: usize, beta: &[f64], H: &mut [f64]) -> bool {
    let (mass, subsystem) = (problem.mass(), SubsystemId(s));
    let block = mass.matrix().pattern().diagonal(mass.blocks(subsystem).start);
    let n = mass.dofs(subsystem).len();
    H.copy_from_slice(mass.matrix().block(block));
    for p in layout.subsystem_pieces(s) {
        add_rows(layout.values(p), n, beta[p.constraint as usize], H);
    }
    cholesky(H, n)
}
