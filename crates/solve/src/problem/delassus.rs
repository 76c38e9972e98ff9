//! Diagonal blocks of the Delassus operator W = J A⁻¹ Jᵀ and the scale of each constraint.
//!
//! `w_i = trace(W_ii)/dim` [1/kg] makes residuals and penalties free of units. Exact for dense
//! subsystems and trees, one small solve per row. A large sparse subsystem would need a solve with
//! all of it for every row: there the diagonal blocks of A stand in for A, as in
//! [Castro22, Sec. V-B].

use super::{Jacobian, Mass};

/// Work [flops, roughly] up to which the blocks of a sparse subsystem are computed exactly.
const EXACT_WORK: usize = 50_000_000;

/// Diagonal blocks of W and their scales.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delassus {
    start: Vec<u32>,
    blocks: Vec<f64>,
    scale: Vec<f64>,
    work: Vec<f64>,
}

impl Delassus {
    /// W_ii of a constraint, row-major.
    #[inline]
    pub fn block(&self, constraint: usize) -> &[f64] {
        &self.blocks[self.start[constraint] as usize..self.start[constraint + 1] as usize]
    }

    /// All blocks, one after another.
    pub(super) fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// `trace(W_ii)/dim` [1/kg] of a constraint.
    #[inline]
    pub fn scale(&self, constraint: usize) -> f64 {
        self.scale[constraint]
    }

    /// `|W_ii|_F/dim` [1/kg], the scale of [Castro22, Sec. V-B].
    pub fn frobenius_scale(&self, constraint: usize) -> f64 {
        let block = self.block(constraint);
        let dim = (block.len() as f64).sqrt();
        block.iter().map(|x| x * x).sum::<f64>().sqrt() / dim
    }

    pub(super) fn clear(&mut self) {
        self.start.clear();
        self.start.push(0);
        self.blocks.clear();
        self.scale.clear();
    }

    /// Appends a constraint whose block is known.
    pub(super) fn push(&mut self, block: &[f64], scale: f64) {
        self.blocks.extend_from_slice(block);
        self.start.push(self.blocks.len() as u32);
        self.scale.push(scale);
    }

    pub(super) fn compute(&mut self, mass: &Mass, jacobian: &Jacobian) {
        self.clear();
        let largest = (0..mass.subsystems())
            .map(|s| mass.dofs(super::SubsystemId(s)).len())
            .max()
            .unwrap_or(0);
        self.work.clear();
        self.work.resize(largest, 0.0);
        for i in 0..jacobian.constraints() {
            let dim = jacobian.dim(i);
            let offset = self.blocks.len();
            self.blocks.resize(offset + dim * dim, 0.0);
            self.start.push(self.blocks.len() as u32);
            let entries = jacobian.constraint_entries(i);
            let mut first = 0;
            while first < entries.len() {
                let subsystem = mass.subsystem_of(entries[first].block as usize);
                let group = entries[first..]
                    .iter()
                    .take_while(|e| mass.subsystem_of(e.block as usize) == subsystem)
                    .count();
                let group = &entries[first..first + group];
                first += group.len();
                let out = &mut self.blocks[offset..];
                if let ([entry], Some(reciprocals)) = (group, mass.reciprocals(subsystem)) {
                    add_diagonal(jacobian.block(entry), reciprocals, dim, out);
                    continue;
                }
                let n = mass.dofs(subsystem).len();
                let exact = mass.blocks(subsystem).len() == 1
                    || n.saturating_mul(n.min(400)).saturating_mul(jacobian.rows()) <= EXACT_WORK;
                if exact {
                    add_exact(mass, jacobian, group, subsystem, &mut self.work[..n], out);
                } else {
                    add_by_diagonal(mass, jacobian, group, &mut self.work, out);
                }
            }
            let trace: f64 = (0..dim).map(|d| self.blocks[offset + d * dim + d]).sum();
            self.scale.push(trace / dim as f64);
        }
    }
}

/// Adds `J D⁻¹ Jᵀ` for a diagonal D, given its reciprocals.
#[inline]
fn add_diagonal(J: &[f64], reciprocals: &[f64], dim: usize, out: &mut [f64]) {
    #[inline(always)]
    fn fixed<const D: usize, const N: usize>(J: &[f64], r: &[f64], out: &mut [f64]) {
        let (Some(rows), Some(r)) = (J.as_chunks::<N>().0.first_chunk::<D>(), r.first_chunk::<N>())
        else {
            return;
        };
        for i in 0..D {
            let mut scaled = [0.0; N];
            for k in 0..N {
                scaled[k] = rows[i][k] * r[k];
            }
            for j in 0..=i {
                let mut sum = 0.0;
                for k in 0..N {
                    sum += scaled[k] * rows[j][k];
                }
                out[i * D + j] += sum;
                if i != j {
                    out[j * D + i] += sum;
                }
            }
        }
    }
    match (dim, reciprocals.len()) {
        (3, 6) => fixed::<3, 6>(J, reciprocals, out),
        (3, 3) => fixed::<3, 3>(J, reciprocals, out),
        (_, n) => {
            for (i, a) in J.chunks_exact(n).enumerate() {
                for (j, b) in J.chunks_exact(n).enumerate() {
                    let terms = a.iter().zip(b).zip(reciprocals);
                    out[i * dim + j] += terms.map(|((a, b), r)| a * r * b).sum::<f64>();
                }
            }
        }
    }
}

/// Adds `J_i A_s⁻¹ J_iᵀ` of one subsystem.
fn add_exact(
    mass: &Mass,
    jacobian: &Jacobian,
    group: &[super::Entry],
    subsystem: super::SubsystemId,
    work: &mut [f64],
    out: &mut [f64],
) {
    let base = mass.dofs(subsystem).start;
    let dim = jacobian.dim(group[0].constraint as usize);
    for d in 0..dim {
        work.fill(0.0);
        for e in group {
            let range = jacobian.block_range(e.block as usize);
            let (from, width) = (range.start - base, range.len());
            work[from..from + width]
                .copy_from_slice(&jacobian.block(e)[d * width..(d + 1) * width]);
        }
        mass.solve_subsystem(subsystem, work);
        for e in group {
            let range = jacobian.block_range(e.block as usize);
            let x = &work[range.start - base..range.end - base];
            for (row, values) in jacobian.block(e).chunks_exact(range.len()).enumerate() {
                out[row * dim + d] += super::dot(values, x);
            }
        }
    }
}

/// Adds `J_i D⁻¹ J_iᵀ` with D the diagonal blocks of A.
fn add_by_diagonal(
    mass: &Mass,
    jacobian: &Jacobian,
    group: &[super::Entry],
    work: &mut [f64],
    out: &mut [f64],
) {
    let matrix = mass.matrix();
    let dim = jacobian.dim(group[0].constraint as usize);
    for e in group {
        let width = jacobian.block_range(e.block as usize).len();
        let diagonal = matrix.block(matrix.pattern().diagonal(e.block as usize));
        let D = nalgebra::DMatrix::from_row_slice(width, width, diagonal);
        let Some(factor) = D.cholesky() else { continue };
        for d in 0..dim {
            let x = &mut work[..width];
            x.copy_from_slice(&jacobian.block(e)[d * width..(d + 1) * width]);
            let mut column = nalgebra::DVectorViewMut::from_slice(x, width);
            factor.solve_mut(&mut column);
            for (row, values) in jacobian.block(e).chunks_exact(width).enumerate() {
                out[row * dim + d] += super::dot(values, x);
            }
        }
    }
}
