//! The velocity update: `(A_j + Σ β Jᵀ J) v_j = b_j + Σ Jᵀ (β z + λ)` for every part
//! [Lee25, Eqs. (29), (35)].
//!
//! Factored once per change of the penalties, solved once per iteration. Parts are independent;
//! they are worked through in chunks whose cut depends on the problem alone, so that the number of
//! threads changes no bit. A subsystem that no constraint touches moves freely and is not factored.

use std::sync::atomic::{AtomicBool, Ordering};

use stiction_math::{par, simd};

use super::augmented::{Augmented, add_rows};
use super::layout::{AdmmBlock, Layout, Split};
use super::sparse::Large;
use crate::problem::{Problem, SubsystemId, cholesky, dot};
use crate::solver::newton::Hessian;

/// A dense subsystem up to this size is factored by plain loops.
const SMALL: usize = 48;
/// Multiplications in a chunk of subsystems, roughly.
const CHUNK_WORK: usize = 10_000;
/// Multiplications in an iteration above which several threads are faster, roughly.
const PARALLEL_WORK: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// No constraint reads it.
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
    /// Prepares for a problem and its layout.
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
            chunk +=
                n * n.min(SMALL) + 2 * pieces.iter().map(|p| layout.values(p).len()).sum::<usize>();
            let factor = self.choose(problem, layout, s, n, &mut small);
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
        small: &mut usize,
    ) -> Factor {
        let mass = problem.mass();
        if self.is_whole {
            return Factor::Whole;
        }
        if layout.subsystem_pieces(s).is_empty() {
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

    /// x ← the velocities, and products of pieces, caused by the impulses `β z + λ` in the
    /// states of the copies.
    pub fn solve(&self, problem: &Problem, layout: &Layout, state: &[f64], x: &mut [f64]) {
        self.for_each_subsystem(layout, x, |s, x| {
            self.solve_subsystem(problem, layout, state, s, x);
        });
        if self.is_whole {
            self.solve_whole(problem, layout, x);
        }
    }

    #[inline(always)] // inside a loop that is compiled for a wider instruction set
    fn solve_subsystem(
        &self,
        problem: &Problem,
        layout: &Layout,
        state: &[f64],
        s: usize,
        x: &mut [f64],
    ) {
        if self.factors[s] == Factor::Free {
            return;
        }
        gather(problem, layout, s, |p| &state[layout.force_states(p)], x);
        let dofs = problem.mass().dofs(SubsystemId(s));
        let v = &mut x[..dofs.len()];
        for (x, b) in v.iter_mut().zip(&problem.momentum()[dofs]) {
            *x += b;
        }
        self.solve_one(self.factors[s], v);
        if !self.is_whole {
            multiply(problem, layout, s, x);
        }
    }

    /// Velocities of links and products of pieces from the velocities of the subsystems.
    pub fn multiply(&self, problem: &Problem, layout: &Layout, x: &mut [f64]) {
        self.for_each_subsystem(layout, x, |s, x| multiply(problem, layout, s, x));
    }

    fn for_each_subsystem(
        &self,
        layout: &Layout,
        x: &mut [f64],
        f: impl Fn(usize, &mut [f64]) + Send + Sync,
    ) {
        par::for_each_piece(x, &self.chunk_ends, self.parallel_from(), |k, x| {
            simd::dispatch(Chunk { subsystems: self.chunk(k), layout, x, f: &f });
        });
    }

    /// The one solve across subsystems; velocities are packed for it and spread after it.
    fn solve_whole(&self, problem: &Problem, layout: &Layout, x: &mut [f64]) {
        let subsystems = || (0..layout.subsystems()).map(|s| (s, layout.extended_range(s).start));
        for (s, from) in subsystems() {
            let to = problem.mass().dofs(SubsystemId(s));
            x.copy_within(from..from + to.len(), to.start);
        }
        self.whole.solve(&mut x[..problem.dofs()]);
        for (s, to) in subsystems().rev() {
            x.copy_within(problem.mass().dofs(SubsystemId(s)), to);
        }
        self.multiply(problem, layout, x);
    }

    #[inline(always)]
    fn solve_one(&self, factor: Factor, v: &mut [f64]) {
        match factor {
            Factor::Free | Factor::Whole => {}
            Factor::Small(offset) => {
                solve_small(&self.small[offset..offset + v.len() * v.len()], v);
            }
            Factor::Tree(k) => self.trees[k].solve(v),
            Factor::Large(k) => self.large[k].solve(v),
        }
    }
}

/// A function of consecutive subsystems and their extended velocities x.
struct Chunk<'a, F> {
    subsystems: std::ops::Range<usize>,
    layout: &'a Layout,
    x: &'a mut [f64],
    f: &'a F,
}

impl<F: Fn(usize, &mut [f64])> simd::Job for Chunk<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let base = self.layout.extended_range(self.subsystems.start).start;
        for s in self.subsystems {
            let range = self.layout.extended_range(s);
            (self.f)(s, &mut self.x[range.start - base..range.end - base]);
        }
    }
}

/// `x = Σ Jᵀ force` over the pieces of a subsystem, in its own velocities; the entries of the links
/// behind them are overwritten.
#[inline(always)] // inside loops that are compiled for a wider instruction set
pub fn gather<'a>(
    problem: &Problem,
    layout: &Layout,
    s: usize,
    force: impl Fn(&AdmmBlock) -> &'a [f64],
    x: &mut [f64],
) {
    let x = &mut x[..layout.moving(s)];
    x.fill(0.0);
    for p in layout.subsystem_pieces(s) {
        let (values, force, x) = (layout.values(p), force(p), &mut x[p.range()]);
        match x.len() {
            3 => add_transposed_fixed::<3>(values, force, x),
            6 => add_transposed_fixed::<6>(values, force, x),
            n => {
                for (row, f) in values.chunks_exact(n).zip(force) {
                    for (x, j) in x.iter_mut().zip(row) {
                        *x += j * f;
                    }
                }
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

/// Velocities of the links of a subsystem and products of its pieces.
#[inline(always)] // inside loops that are compiled for a wider instruction set
fn multiply(problem: &Problem, layout: &Layout, s: usize, x: &mut [f64]) {
    let (moving, mut products) = x.split_at_mut(layout.moving(s));
    if let Some(tree) = problem.mass().tree(SubsystemId(s))
        && layout.reads_links()
    {
        let (v, links) = moving.split_at_mut(tree.velocities());
        tree.link_velocities(v, links);
    }
    for p in layout.subsystem_pieces(s) {
        let (out, rest) = products.split_at_mut(p.dim as usize);
        products = rest;
        let (values, x) = (layout.values(p), &moving[p.range()]);
        match x.len() {
            3 => multiply_fixed::<3>(values, x, out),
            6 => multiply_fixed::<6>(values, x, out),
            n => {
                for (row, out) in values.chunks_exact(n).zip(out) {
                    *out = dot(row, x);
                }
            }
        }
    }
}

#[inline(always)]
fn add_transposed_fixed<const N: usize>(values: &[f64], force: &[f64], x: &mut [f64]) {
    let Some((x, _)) = x.split_first_chunk_mut::<N>() else { return };
    for (row, f) in values.as_chunks::<N>().0.iter().zip(force) {
        for k in 0..N {
            x[k] += row[k] * f;
        }
    }
}

#[inline(always)]
fn multiply_fixed<const N: usize>(values: &[f64], x: &[f64], out: &mut [f64]) {
    let Some((x, _)) = x.split_first_chunk::<N>() else { return };
    for (row, out) in values.as_chunks::<N>().0.iter().zip(out) {
        *out = (0..N).map(|k| row[k] * x[k]).sum();
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
    let fine = cholesky(H, n);
    // Reciprocals, so that a solve does not divide.
    H.iter_mut().step_by(n + 1).for_each(|d| *d = 1.0 / *d);
    fine
}

/// `x ← H⁻¹ x` with a factor of [`factor_small`].
#[inline(always)] // inside loops that are compiled for a wider instruction set
fn solve_small(L: &[f64], x: &mut [f64]) {
    match x.len() {
        3 => solve_fixed::<3>(L, x),
        6 => solve_fixed::<6>(L, x),
        n => {
            for i in 0..n {
                x[i] = (x[i] - dot(&L[i * n..i * n + i], &x[..i])) * L[i * n + i];
            }
            for i in (0..n).rev() {
                let (x_i, row) = (x[i] * L[i * n + i], &L[i * n..i * n + i]);
                x[i] = x_i;
                for (x, l) in x.iter_mut().zip(row) {
                    *x -= l * x_i;
                }
            }
        }
    }
}

#[inline(always)]
fn solve_fixed<const N: usize>(L: &[f64], x: &mut [f64]) {
    let Some((x, _)) = x.split_first_chunk_mut::<N>() else { return };
    let rows = L.as_chunks::<N>().0;
    for i in 0..N {
        for j in 0..i {
            x[i] -= rows[i][j] * x[j];
        }
        x[i] *= rows[i][i];
    }
    for i in (0..N).rev() {
        x[i] *= rows[i][i];
        for j in 0..i {
            x[j] -= rows[i][j] * x[i];
        }
    }
}
