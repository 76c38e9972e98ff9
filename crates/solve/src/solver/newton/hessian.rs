//! `H = A + Jᵀ G J` on a block pattern that is found once and reused while it fits.
//!
//! The pattern joins the blocks of A with all pairs of blocks that a constraint touches. For every
//! pair the target block is looked up once; assembly is then a stream of small products. A block
//! of coordinates that is large and touched by many constraints is assembled by one matrix
//! product instead.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use stiction_math::block::{self, BlockId};

use crate::problem::Problem;

/// From this width on, a diagonal block is assembled by one matrix product.
const WIDE: usize = 40;

/// Where each product of a constraint's blocks goes.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pattern: Option<block::Pattern>,
    spare: Option<block::Pattern>,
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    mass_targets: Vec<(BlockId, BlockId, usize)>,
    targets: Vec<BlockId>,
    slope_start: Vec<usize>,
    gathered: Vec<f64>,
    product: Vec<f64>,
}

impl Stencil {
    /// Fits the stencil to a problem. True if the pattern is not the one of the last call.
    pub fn prepare(&mut self, problem: &Problem) -> bool {
        let (jacobian, mass) = (problem.jacobian(), problem.mass().matrix());
        self.sizes.clear();
        let n_blocks = mass.pattern().n_blocks();
        self.sizes.extend((0..n_blocks).map(|k| mass.pattern().size(k)));
        self.pairs.clear();
        self.pairs.extend(mass.pattern().entries().map(|e| (e.row, e.col)));
        self.slope_start.clear();
        self.slope_start.push(0);
        let mut slopes = 0;
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            for (k, a) in entries.iter().enumerate() {
                let column = |b: &crate::problem::Entry| (a.block as usize, b.block as usize);
                self.pairs.extend(entries[..=k].iter().map(column));
            }
            slopes += jacobian.dim(i) * jacobian.dim(i);
            self.slope_start.push(slopes);
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
        self.find_targets(problem);
        changed
    }

    fn find_targets(&mut self, problem: &Problem) {
        let Some(pattern) = &self.pattern else { return };
        let (jacobian, mass) = (problem.jacobian(), problem.mass().matrix().pattern());
        self.mass_targets.clear();
        self.mass_targets.extend(
            mass.entries()
                .filter_map(|e| Some((e.id, pattern.find(e.row, e.col)?, mass.size(e.row)))),
        );
        self.targets.clear();
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            for (k, a) in entries.iter().enumerate() {
                for b in &entries[..=k] {
                    if let Some(id) = pattern.find(a.block as usize, b.block as usize) {
                        self.targets.push(id);
                    }
                }
            }
        }
    }

    /// The pattern of H.
    pub fn pattern(&self) -> &block::Pattern {
        static EMPTY: std::sync::LazyLock<block::Pattern> =
            std::sync::LazyLock::new(|| block::Pattern::new(&[], []));
        self.pattern.as_ref().unwrap_or(&EMPTY)
    }

    /// Values that the slopes of all constraints take.
    pub fn slopes(&self) -> usize {
        self.slope_start.last().copied().unwrap_or(0)
    }

    /// Place of a constraint's slope.
    #[inline]
    pub fn slope_range(&self, constraint: usize) -> std::ops::Range<usize> {
        self.slope_start[constraint]..self.slope_start[constraint + 1]
    }

    /// Adds the products `J_aᵀ G J_b` of all constraints; `upper` receives the mirrored products
    /// of an unsymmetric G.
    fn add_constraints<const MIRRORED: bool>(
        &mut self,
        problem: &Problem,
        slopes: &[f64],
        mut add: impl FnMut(BlockId, bool, usize, &[f64], &[f64], usize, usize),
    ) {
        let jacobian = problem.jacobian();
        let mut target = 0;
        for i in 0..jacobian.constraints() {
            let entries = jacobian.constraint_entries(i);
            let pairs = entries.len() * (entries.len() + 1) / 2;
            let G = &slopes[self.slope_range(i)];
            if G.iter().all(|g| *g == 0.0) {
                target += pairs;
                continue;
            }
            let dim = jacobian.dim(i);
            for (k, a) in entries.iter().enumerate() {
                let width_a = jacobian.block_range(a.block as usize).len();
                for (l, b) in entries[..=k].iter().enumerate() {
                    let id = self.targets[target];
                    target += 1;
                    if l == k && width_a >= WIDE {
                        continue;
                    }
                    let width_b = jacobian.block_range(b.block as usize).len();
                    // T = G J_b.
                    self.product.clear();
                    self.product.resize(dim * width_b, 0.0);
                    small_product(G, jacobian.block(b), dim, width_b, &mut self.product);
                    add(id, false, dim, jacobian.block(a), &self.product, width_a, width_b);
                    if MIRRORED && l < k {
                        self.product.clear();
                        self.product.resize(dim * width_a, 0.0);
                        small_product(G, jacobian.block(a), dim, width_a, &mut self.product);
                        add(id, true, dim, jacobian.block(b), &self.product, width_b, width_a);
                    }
                }
            }
        }
    }

    /// For every wide block of coordinates: gathers its rows J and G J and hands both out.
    fn for_wide_blocks(
        &mut self,
        problem: &Problem,
        slopes: &[f64],
        mut add: impl FnMut(usize, MatRef<'_, f64>, MatRef<'_, f64>),
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
                if G.iter().all(|g| *g == 0.0) {
                    continue;
                }
                let (dim, values, offset) = (jacobian.dim(i), jacobian.block(entry), rows * width);
                self.gathered.extend_from_slice(values);
                self.product.resize(offset + dim * width, 0.0);
                small_product(G, values, dim, width, &mut self.product[offset..]);
                rows += dim;
            }
            if rows > 0 {
                let J = MatRef::from_row_major_slice(&self.gathered, rows, width);
                let GJ = MatRef::from_row_major_slice(&self.product, rows, width);
                add(block, J, GJ);
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

/// `out += G B` for a square `dim × dim` G and a `dim × width` B, row-major.
#[inline]
fn small_product(G: &[f64], B: &[f64], dim: usize, width: usize, out: &mut [f64]) {
    for (g_row, out) in G.chunks_exact(dim).zip(out.chunks_exact_mut(width)) {
        for (g, b) in g_row.iter().zip(B.chunks_exact(width)) {
            for (o, b) in out.iter_mut().zip(b) {
                *o += g * b;
            }
        }
    }
}

/// `out += Aᵀ B` for `dim`-row A and B of widths `n` and `m`, row-major.
#[inline]
fn add_transposed_product(out: &mut [f64], dim: usize, A: &[f64], B: &[f64], n: usize, m: usize) {
    for d in 0..dim {
        let (a, b) = (&A[d * n..(d + 1) * n], &B[d * m..(d + 1) * m]);
        for (a, out) in a.iter().zip(out.chunks_exact_mut(m)) {
            for (o, b) in out.iter_mut().zip(b) {
                *o += a * b;
            }
        }
    }
}

/// The symmetric H of the convex potential, with its Cholesky factorization.
#[derive(Debug, Default)]
pub struct Hessian {
    stencil: Stencil,
    parts: Option<(block::Symmetric, block::Cholesky)>,
}

impl Hessian {
    /// Fits to a problem; the symbolic analysis is redone only if the pattern changed.
    pub fn prepare(&mut self, problem: &Problem) {
        if self.stencil.prepare(problem) || self.parts.is_none() {
            let pattern = self.stencil.pattern();
            self.parts =
                Some((block::Symmetric::zeros(pattern), block::Cholesky::analyse(pattern)));
        }
    }

    /// Where slopes are placed.
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
        self.stencil.add_constraints::<false>(problem, slopes, |id, _, dim, A, B, n, m| {
            add_transposed_product(H.block_mut(id), dim, A, B, n, m);
        });
        let pattern = H.pattern().clone();
        self.stencil.for_wide_blocks(problem, slopes, |block, J, GJ| {
            let n = J.ncols();
            let block = H.block_mut(pattern.diagonal(block));
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
        self.parts.as_mut().is_some_and(|(H, factor)| factor.factor(H).is_ok())
    }

    /// `x ← H⁻¹ x`.
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

    /// Where slopes are placed.
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
        self.stencil.add_constraints::<true>(problem, slopes, |id, mirrored, dim, A, B, n, m| {
            let out = if mirrored { H.upper_mut(id) } else { H.block_mut(id) };
            add_transposed_product(out, dim, A, B, n, m);
        });
        let pattern = H.pattern().clone();
        self.stencil.for_wide_blocks(problem, slopes, |block, J, GJ| {
            let n = J.ncols();
            let out = MatMut::from_row_major_slice_mut(H.block_mut(pattern.diagonal(block)), n, n);
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
