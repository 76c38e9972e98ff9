//! `H = A + Jᵀ G J` on a block pattern that is found once and reused while it fits.
//!
//! The pattern joins the blocks of A with all pairs of blocks that a constraint touches. For every
//! pair the target block is looked up once; assembly is then a stream of small products. A block
//! of coordinates that is large and touched by many constraints is assembled by one matrix
//! product instead.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use stiction_math::block::{self, BlockId};
use stiction_math::simd;

use crate::problem::{Jacobian, JacobianEntry, Problem};

/// From this width on, a diagonal block is assembled by one matrix product.
const WIDE: usize = 40;

/// Target block in H of each product of a constraint's blocks.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pattern: Option<block::Pattern>,
    spare: Option<block::Pattern>,
    /// Pattern of A that it was found for.
    mass: block::Pattern,
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    mass_targets: Vec<(BlockId, BlockId, usize)>,
    targets: Vec<BlockId>,
    diagonals: Vec<BlockId>,
    slope_start: Vec<usize>,
    gathered: Vec<f64>,
    product: Vec<f64>,
}

impl Stencil {
    /// Fits the stencil to a problem. True if the pattern is not the one of the last call.
    pub fn prepare(&mut self, problem: &Problem) -> bool {
        let (jacobian, mass) = (problem.jacobian(), problem.mass().matrix());
        self.place_slopes(problem);
        if self.still_fits(problem) {
            return false;
        }
        self.sizes.clear();
        let n_blocks = mass.pattern().n_blocks();
        self.sizes.extend((0..n_blocks).map(|k| mass.pattern().size(k)));
        self.pairs.clear();
        self.pairs.extend(mass.pattern().entries().map(|e| (e.row, e.col)));
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            for (k, a) in entries.iter().enumerate() {
                let column = |b: &JacobianEntry| (a.block as usize, b.block as usize);
                self.pairs.extend(entries[..=k].iter().map(column));
            }
        }
        let pairs = self.pairs.iter().copied();
        let mut next = match self.spare.take() {
            Some(mut spare) => {
                spare.rebuild(&self.sizes, pairs);
                spare
            }
            None => block::Pattern::new(&self.sizes, pairs),
        };
        let changed = self.pattern.as_ref() != Some(&next);
        if changed {
            if let Some(old) = self.pattern.replace(next) {
                self.spare = Some(old);
            }
        } else if let Some(old) = &mut self.pattern {
            std::mem::swap(old, &mut next);
            self.spare = Some(next);
        }
        self.find_mass_targets(problem);
        self.find_targets(problem);
        changed
    }

    fn place_slopes(&mut self, problem: &Problem) {
        let jacobian = problem.jacobian();
        self.slope_start.clear();
        self.slope_start.push(0);
        let mut slopes = 0;
        for i in 0..jacobian.constraints() {
            slopes += jacobian.dim(i) * jacobian.dim(i);
            self.slope_start.push(slopes);
        }
    }

    /// Whether the last pattern still contains all required blocks, with an unchanged A: then it is kept.
    /// Contacts on a mesh change in nearly every step.
    fn still_fits(&mut self, problem: &Problem) -> bool {
        let mass = problem.mass().matrix().pattern();
        let Some(pattern) = &self.pattern else { return false };
        let same = pattern.n_entries() == mass.n_entries() && mass == &self.mass;
        same && self.find_targets(problem)
    }

    fn find_mass_targets(&mut self, problem: &Problem) {
        let Some(pattern) = &self.pattern else { return };
        let mass = problem.mass().matrix().pattern();
        self.mass.clone_from(mass);
        self.mass_targets.clear();
        self.mass_targets.extend(
            mass.entries()
                .filter_map(|e| Some((e.id, pattern.find(e.row, e.col)?, mass.size(e.row)))),
        );
        self.diagonals.clear();
        self.diagonals.extend((0..pattern.n_blocks()).map(|k| pattern.diagonal(k)));
    }

    /// Looks up the blocks of all pairs. False if the pattern lacks one.
    fn find_targets(&mut self, problem: &Problem) -> bool {
        let (Some(pattern), jacobian) = (&self.pattern, problem.jacobian()) else { return false };
        self.targets.clear();
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            for (k, a) in entries.iter().enumerate() {
                for b in &entries[..=k] {
                    let Some(id) = pattern.find(a.block as usize, b.block as usize) else {
                        return false;
                    };
                    self.targets.push(id);
                }
            }
        }
        true
    }

    /// The pattern of H.
    pub fn pattern(&self) -> &block::Pattern {
        static EMPTY: std::sync::LazyLock<block::Pattern> =
            std::sync::LazyLock::new(|| block::Pattern::new(&[], []));
        self.pattern.as_ref().unwrap_or(&EMPTY)
    }

    /// Number of values of the slopes of all constraints.
    pub fn slopes(&self) -> usize {
        self.slope_start.last().copied().unwrap_or(0)
    }

    /// Range of a constraint's slope.
    #[inline]
    pub fn slope_range(&self, constraint: usize) -> std::ops::Range<usize> {
        self.slope_start[constraint]..self.slope_start[constraint + 1]
    }

    /// Adds the products `J_aᵀ G J_b` of all constraints to a matrix on the pattern.
    fn add_constraints(&mut self, problem: &Problem, slopes: &[f64], target: &mut impl Target) {
        simd::dispatch(Products { stencil: self, problem, slopes, target });
    }

    /// For every wide block of coordinates: gathers its rows J and G J and passes both to a callback.
    fn for_wide_blocks(
        &mut self,
        problem: &Problem,
        slopes: &[f64],
        mut add: impl FnMut(BlockId, MatRef<'_, f64>, MatRef<'_, f64>),
    ) {
        let jacobian = problem.jacobian();
        for block in 0..self.sizes.len() {
            let width = self.sizes[block];
            if width < WIDE {
                continue;
            }
            self.gathered.clear();
            self.product.clear();
            let mut rows = 0;
            for index in jacobian.column_entries(block) {
                let entry = &jacobian.entries()[*index as usize];
                let i = entry.constraint as usize;
                let G = &slopes[self.slope_start[i]..self.slope_start[i + 1]];
                if G.iter().all(|g| *g == 0.0) || is_narrow(jacobian, entry) {
                    continue;
                }
                let (dim, values, offset) = (jacobian.dim(i), jacobian.block(entry), rows * width);
                self.gathered.extend_from_slice(values);
                self.product.resize(offset + dim * width, 0.0);
                add_small_product(G, values, dim, width, &mut self.product[offset..]);
                rows += dim;
            }
            if rows > 0 {
                let J = MatRef::from_row_major_slice(&self.gathered, rows, width);
                let GJ = MatRef::from_row_major_slice(&self.product, rows, width);
                add(self.diagonals[block], J, GJ);
            }
        }
    }
}

/// `out = Aᵀ` for a row-major A of `rows` rows; nothing if `out` is empty.
fn transpose(A: &[f64], out: &mut [f64], rows: usize) {
    let columns = A.len() / rows.max(1);
    if out.is_empty() {
        return;
    }
    for (p, row) in A.chunks_exact(columns).enumerate() {
        for (q, x) in row.iter().enumerate() {
            out[q * rows + p] = *x;
        }
    }
}

/// A matrix on the pattern that products are added to.
trait Target {
    /// Whether the upper triangle has values of its own.
    const UNSYMMETRIC: bool;
    fn lower(&mut self, id: BlockId) -> &mut [f64];
    fn upper(&mut self, id: BlockId) -> &mut [f64];
}

impl Target for block::Symmetric {
    const UNSYMMETRIC: bool = false;
    #[inline(always)]
    fn lower(&mut self, id: BlockId) -> &mut [f64] {
        self.block_mut(id)
    }
    #[inline(always)]
    fn upper(&mut self, id: BlockId) -> &mut [f64] {
        self.block_mut(id)
    }
}

impl Target for block::General {
    const UNSYMMETRIC: bool = true;
    #[inline(always)]
    fn lower(&mut self, id: BlockId) -> &mut [f64] {
        self.block_mut(id)
    }
    #[inline(always)]
    fn upper(&mut self, id: BlockId) -> &mut [f64] {
        self.upper_mut(id)
    }
}

/// The stream of small products, compiled for the widest instruction set of the processor.
struct Products<'a, T> {
    stencil: &'a mut Stencil,
    problem: &'a Problem,
    slopes: &'a [f64],
    target: &'a mut T,
}

impl<T: Target> simd::Job for Products<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { stencil, problem, slopes, target } = self;
        let jacobian = problem.jacobian();
        let product = &mut stencil.product;
        let mut first = 0;
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            let targets = &stencil.targets[first..];
            first += entries.len() * (entries.len() + 1) / 2;
            let G = &slopes[stencil.slope_start[i]..stencil.slope_start[i + 1]];
            if G.iter().all(|g| *g == 0.0) {
                continue;
            }
            let dim = jacobian.dim(i);
            if let [entry] = entries
                && is_narrow(jacobian, entry)
            {
                add_narrow_product(jacobian, entry, G, target.lower(targets[0]));
                continue;
            }
            for (l, b) in entries.iter().enumerate() {
                let width_b = jacobian.block_range(b.block as usize).len();
                product.clear();
                product.resize(dim * width_b, 0.0);
                add_small_product(G, jacobian.block(b), dim, width_b, product);
                for (k, a) in entries.iter().enumerate() {
                    let width_a = jacobian.block_range(a.block as usize).len();
                    let (J_a, pair) = (jacobian.block(a), pair_index(k.max(l), k.min(l)));
                    if k > l || (k == l && width_a < WIDE) {
                        let out = target.lower(targets[pair]);
                        add_transposed_product(out, dim, J_a, product, width_a, width_b);
                    } else if k < l && T::UNSYMMETRIC {
                        let out = target.upper(targets[pair]);
                        add_transposed_product(out, dim, J_a, product, width_a, width_b);
                    }
                }
            }
        }
    }
}

/// Whether a block is the only one of its constraint and mostly zero: its product is then added column by
/// column.
#[inline(always)]
fn is_narrow(jacobian: &Jacobian, entry: &JacobianEntry) -> bool {
    let width = jacobian.block_range(entry.block as usize).len();
    2 * jacobian.columns(entry).len() <= width
        && jacobian.constraint_entries(entry.constraint as usize).len() == 1
}

/// `out += Jᵀ G J` for a block J that is zero outside of some columns.
#[inline(always)]
fn add_narrow_product(jacobian: &Jacobian, entry: &JacobianEntry, G: &[f64], out: &mut [f64]) {
    let (columns, dim) = (jacobian.columns(entry), jacobian.dim(entry.constraint as usize));
    let width = jacobian.block_range(entry.block as usize).len();
    let J = jacobian.block(entry);
    for p in columns.clone() {
        for e in 0..dim {
            // (Jᵀ G) of column p and row e.
            let weight = (0..dim).map(|d| J[d * width + p] * G[d * dim + e]).sum::<f64>();
            if weight == 0.0 {
                continue;
            }
            let row = &J[e * width..(e + 1) * width][columns.clone()];
            for (o, j) in out[p * width..(p + 1) * width][columns.clone()].iter_mut().zip(row) {
                *o = weight.mul_add(*j, *o);
            }
        }
    }
}

/// Index of the pair (k, l), l ≤ k, among the pairs of a constraint.
#[inline(always)]
fn pair_index(k: usize, l: usize) -> usize {
    k * (k + 1) / 2 + l
}

/// `out += G B` for a square `dim × dim` G and a `dim × width` B, row-major.
#[inline(always)]
fn add_small_product(G: &[f64], B: &[f64], dim: usize, width: usize, out: &mut [f64]) {
    match (dim, width) {
        (3, 6) => fixed_small_product::<3, 6>(G, B, out),
        (3, 3) => fixed_small_product::<3, 3>(G, B, out),
        _ => {
            for (g_row, out) in G.chunks_exact(dim).zip(out.chunks_exact_mut(width)) {
                for (g, b) in g_row.iter().zip(B.chunks_exact(width)) {
                    for (o, b) in out.iter_mut().zip(b) {
                        *o = g.mul_add(*b, *o);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn fixed_small_product<const D: usize, const N: usize>(G: &[f64], B: &[f64], out: &mut [f64]) {
    for d in 0..D {
        let mut row = [0.0; N];
        row.copy_from_slice(&out[d * N..(d + 1) * N]);
        for e in 0..D {
            let (g, b) = (G[d * D + e], &B[e * N..(e + 1) * N]);
            for n in 0..N {
                row[n] = g.mul_add(b[n], row[n]);
            }
        }
        out[d * N..(d + 1) * N].copy_from_slice(&row);
    }
}

/// `out += Aᵀ B` for `dim`-row A and B of widths `n` and `m`, row-major.
#[inline(always)]
fn add_transposed_product(out: &mut [f64], dim: usize, A: &[f64], B: &[f64], n: usize, m: usize) {
    match (dim, n, m) {
        (3, 6, 6) => fixed_transposed_product::<3, 6, 6>(out, A, B),
        (3, 3, 3) => fixed_transposed_product::<3, 3, 3>(out, A, B),
        _ => {
            for d in 0..dim {
                let (a, b) = (&A[d * n..(d + 1) * n], &B[d * m..(d + 1) * m]);
                for (a, out) in a.iter().zip(out.chunks_exact_mut(m)) {
                    for (o, b) in out.iter_mut().zip(b) {
                        *o = a.mul_add(*b, *o);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn fixed_transposed_product<const D: usize, const N: usize, const M: usize>(
    out: &mut [f64],
    A: &[f64],
    B: &[f64],
) {
    for p in 0..N {
        let mut row = [0.0; M];
        row.copy_from_slice(&out[p * M..(p + 1) * M]);
        for d in 0..D {
            let (a, b) = (A[d * N + p], &B[d * M..(d + 1) * M]);
            for q in 0..M {
                row[q] = a.mul_add(b[q], row[q]);
            }
        }
        out[p * M..(p + 1) * M].copy_from_slice(&row);
    }
}

/// Multiplications of a factorization from which on it is worth saving one.
const COSTLY: f64 = 1e7;

/// The symmetric H of the convex potential, with its Cholesky factorization.
#[derive(Debug, Default)]
pub struct Hessian {
    stencil: Stencil,
    parts: Option<(block::Symmetric, block::Cholesky)>,
    is_factored: bool,
    meshed: bool,
}

impl Hessian {
    /// Fits to a problem; the symbolic analysis is redone only if the pattern changed.
    pub fn prepare(&mut self, problem: &Problem) {
        if self.stencil.prepare(problem) || self.parts.is_none() {
            let pattern = self.stencil.pattern();
            self.parts =
                Some((block::Symmetric::zeros(pattern), block::Cholesky::analyse(pattern)));
        }
        let mass = problem.mass().matrix().pattern();
        self.meshed = mass.n_entries() > 2 * mass.n_blocks();
        self.is_factored = false;
    }

    /// Whether there is a factor of an earlier H of the same problem that is worth using again.
    pub fn is_worth_keeping(&self) -> bool {
        let costly = self.parts.as_ref().is_some_and(|(_, factor)| factor.work() >= COSTLY);
        self.is_factored && self.meshed && costly
    }

    /// The block structure, which assigns each slope its range.
    pub fn stencil(&self) -> &Stencil {
        &self.stencil
    }

    /// H from the slopes of all constraints.
    pub fn assemble(&mut self, problem: &Problem, slopes: &[f64]) {
        let Some((H, _)) = &mut self.parts else { return };
        H.clear();
        let mass = problem.mass().matrix();
        for (from, to, _) in &self.stencil.mass_targets {
            H.block_mut(*to).copy_from_slice(mass.block(*from));
        }
        self.stencil.add_constraints(problem, slopes, H);
        self.stencil.for_wide_blocks(problem, slopes, |id, J, GJ| {
            let n = J.ncols();
            let block = H.block_mut(id);
            triangular::matmul(
                MatMut::from_row_major_slice_mut(block, n, n),
                BlockStructure::TriangularLower,
                Accum::Add,
                J.transpose(),
                BlockStructure::Rectangular,
                GJ,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
            for p in 1..n {
                for q in 0..p {
                    block[q * n + p] = block[p * n + q];
                }
            }
        });
    }

    /// Factors H. False if it is not positive definite in floating point.
    pub fn factor(&mut self) -> bool {
        self.is_factored = self.parts.as_mut().is_some_and(|(H, factor)| factor.factor(H).is_ok());
        self.is_factored
    }

    /// `x ← H⁻¹ x` with the H last factored.
    pub fn solve(&self, x: &mut [f64]) {
        if let Some((_, factor)) = &self.parts {
            factor.solve_in_place(x);
        }
    }
}

/// The unsymmetric H of the exact equations, with its LU factorization.
#[derive(Debug, Default)]
pub struct UnsymmetricHessian {
    stencil: Stencil,
    parts: Option<(block::General, block::Lu)>,
}

impl UnsymmetricHessian {
    /// Fits to a problem; the symbolic analysis is redone only if the pattern changed.
    pub fn prepare(&mut self, problem: &Problem) {
        if self.stencil.prepare(problem) || self.parts.is_none() {
            let pattern = self.stencil.pattern();
            self.parts = Some((block::General::zeros(pattern), block::Lu::analyse(pattern)));
        }
    }

    /// The block structure, which assigns each slope its range.
    pub fn stencil(&self) -> &Stencil {
        &self.stencil
    }

    /// H from the slopes of all constraints.
    pub fn assemble(&mut self, problem: &Problem, slopes: &[f64]) {
        let Some((H, _)) = &mut self.parts else { return };
        H.clear();
        let mass = problem.mass().matrix();
        for (from, to, rows) in &self.stencil.mass_targets {
            H.block_mut(*to).copy_from_slice(mass.block(*from));
            transpose(mass.block(*from), H.upper_mut(*to), *rows);
        }
        self.stencil.add_constraints(problem, slopes, H);
        self.stencil.for_wide_blocks(problem, slopes, |id, J, GJ| {
            let n = J.ncols();
            let out = MatMut::from_row_major_slice_mut(H.block_mut(id), n, n);
            faer::linalg::matmul::matmul(out, Accum::Add, J.transpose(), GJ, 1.0, Par::Seq);
        });
    }

    /// Factors H. False if it is singular in floating point.
    pub fn factor(&mut self) -> bool {
        self.parts.as_mut().is_some_and(|(H, factor)| factor.factor(H).is_ok())
    }

    /// `x = H⁻¹ rhs`, refined; the relative residual that is left.
    pub fn solve(&mut self, rhs: &[f64], x: &mut [f64]) -> f64 {
        match &mut self.parts {
            Some((H, factor)) => factor.solve_refined(H, rhs, x),
            None => f64::INFINITY,
        }
    }
}
