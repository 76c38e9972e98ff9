//! Diagonal blocks of the Delassus operator W = J A⁻¹ Jᵀ and the scale of each constraint.
//!
//! `w_i = trace(W_ii)/dim` [1/kg] makes residuals and penalties free of units. Exact for dense
//! subsystems and trees, half a small solve per row, and for sparse ones that are small. A large
//! sparse subsystem would need a solve with all of it for every row. There each node k has a
//! compliance `Y_k ≈ (A⁻¹)_kk` (velocity change per unit of impulse), and Cauchy–Schwarz bounds the sum:
//! `J A⁻¹ Jᵀ ⪯ (Σ f_k) Σ M_k/f_k`, `M_k = J_k Y_k J_kᵀ`, `f_k = √trace M_k`, whose trace is
//! `(Σ f_k)²`; for a point with weights g_k on nodes of compliance d_k this is `(Σ |g_k| √d_k)²`. Y_k
//! is the one given to the builder, else the inverse of A's diagonal block [Castro22, Sec. V-B],
//! which underestimates it. The cost is that of J and of the diagonal blocks; nothing is factored.

use stiction_math::branch::{self, FourRows, Parents};

use super::small::dot;
use super::{Jacobian, Mass, Root, SubsystemId};

/// Work [flops, roughly] up to which the blocks of a sparse subsystem are computed exactly.
const EXACT_WORK: usize = 50_000_000;
/// Largest node whose diagonal block is inverted here.
const LARGEST_NODE: usize = 6;
/// Largest number of rows of a constraint.
const ROWS: usize = crate::contact::DIM;

/// Diagonal blocks of W and their scales.
#[derive(Debug, Default, PartialEq)]
pub struct Delassus {
    start: Vec<u32>,
    blocks: Vec<f64>,
    scale: Vec<f64>,
    work: Vec<f64>,
    four: FourRows,
}

impl Clone for Delassus {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the allocated memory, which the derived implementation would not.
    fn clone_from(&mut self, source: &Self) {
        self.start.clone_from(&source.start);
        self.blocks.clone_from(&source.blocks);
        self.scale.clone_from(&source.scale);
    }
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

    /// Appends a constraint with a given block.
    pub(super) fn push(&mut self, block: &[f64], scale: f64) {
        self.blocks.extend_from_slice(block);
        self.start.push(self.blocks.len() as u32);
        self.scale.push(scale);
    }

    pub(super) fn compute(&mut self, mass: &Mass, jacobian: &Jacobian) {
        self.clear();
        if mass.subsystems() == 1
            && let Some((L, branches)) = mass.scale_root(SubsystemId(0))
        {
            return self.compute_for_tree(L, branches, jacobian);
        }
        let largest =
            (0..mass.subsystems()).map(|s| mass.dofs(SubsystemId(s)).len()).max().unwrap_or(0);
        self.work.clear();
        self.work.resize(ROWS * largest, 0.0);
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
                let work = n.saturating_mul(n.min(400)).saturating_mul(jacobian.rows());
                let exact = mass.blocks(subsystem).len() == 1
                    || (!mass.is_lazy(subsystem) && work <= EXACT_WORK);
                if exact {
                    add_exact(mass, jacobian, group, (&mut self.work, &mut self.four), out);
                } else {
                    add_bound(mass, jacobian, group, out);
                }
            }
            let trace: f64 = (0..dim).map(|d| self.blocks[offset + d * dim + d]).sum();
            self.scale.push(trace / dim as f64);
        }
    }
}

impl Delassus {
    /// The blocks of a problem with one tree alone, given the factor of its A along its branches: half a solve for the rows of
    /// a contact at once, or for those of four constraints of one row.
    fn compute_for_tree(&mut self, L: &[f64], branches: &Parents, jacobian: &Jacobian) {
        let (mut i, end, mut four) = (0, jacobian.constraints(), std::mem::take(&mut self.four));
        while i < end {
            if jacobian.dim(i) == 1 {
                let most = (end - i).min(4);
                let count = (1..most).find(|k| jacobian.dim(i + k) != 1).unwrap_or(most);
                let rows = jacobian.adjacent_rows(i..i + count);
                let count = if rows.is_some() { count } else { 1 };
                let rows = rows.unwrap_or(jacobian.only_block(i));
                let squares = branch::inverse_squares(L, branches, rows, &mut four);
                squares[..count].iter().for_each(|square| self.push(&[*square], *square));
                i += count;
            } else {
                let [a, b, c, ab, bc, ca] =
                    branch::inverse_products(L, branches, jacobian.only_block(i), &mut four);
                self.push(&[a, ab, ca, ab, b, bc, ca, bc, c], (a + b + c) / ROWS as f64);
                i += 1;
            }
        }
        self.four = four;
    }
}

/// Adds `Y Yᵀ` for the rows of Y, of n columns each.
fn add_gram(Y: &[f64], n: usize, out: &mut [f64]) {
    let dim = Y.len() / n;
    for (i, a) in Y.chunks_exact(n).enumerate() {
        for (j, b) in Y.chunks_exact(n).take(i + 1).enumerate() {
            let sum = dot(a, b);
            out[i * dim + j] += sum;
            if i != j {
                out[j * dim + i] += sum;
            }
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

/// Adds `J_i A_s⁻¹ J_iᵀ` of one subsystem. With `A_s = F Fᵀ` it is `Y Yᵀ`, where `Y = (F⁻¹ J_iᵀ)ᵀ` costs half a
/// solve per row; a factor that does not offer half a solve takes a whole one.
fn add_exact(
    mass: &Mass,
    jacobian: &Jacobian,
    group: &[super::JacobianEntry],
    (work, four): (&mut [f64], &mut FourRows),
    out: &mut [f64],
) {
    let subsystem = mass.subsystem_of(group[0].block as usize);
    let dofs = mass.dofs(subsystem);
    let (base, n) = (dofs.start, dofs.len());
    let dim = jacobian.dim(group[0].constraint as usize);
    let rows = &mut work[..dim * n];
    rows.fill(0.0);
    for e in group {
        let range = jacobian.block_range(e.block as usize);
        let (from, width) = (range.start - base, range.len());
        for (row, values) in rows.chunks_exact_mut(n).zip(jacobian.block(e).chunks_exact(width)) {
            row[from..from + width].copy_from_slice(values);
        }
    }
    if mass.divide_rows(subsystem, Root::Scales, rows, n, four) {
        add_gram(rows, n, out);
        return;
    }
    for (d, x) in rows.chunks_exact_mut(n).enumerate() {
        mass.solve_subsystem(subsystem, x);
        for e in group {
            let range = jacobian.block_range(e.block as usize);
            let x = &x[range.start - base..range.end - base];
            for (row, values) in jacobian.block(e).chunks_exact(range.len()).enumerate() {
                out[row * dim + d] += super::dot(values, x);
            }
        }
    }
}

/// Adds the bound on `J_i A⁻¹ J_iᵀ` from the compliances of the nodes.
fn add_bound(mass: &Mass, jacobian: &Jacobian, group: &[super::JacobianEntry], out: &mut [f64]) {
    let dim = jacobian.dim(group[0].constraint as usize);
    let mut own = [0.0; ROWS * ROWS];
    let (mut total, mut sum) = (0.0, [0.0; ROWS * ROWS]);
    for e in group {
        let own = &mut own[..dim * dim];
        own.fill(0.0);
        add_node(mass, e.block as usize, jacobian.block(e), dim, own);
        let f = (0..dim).map(|d| own[d * (dim + 1)]).sum::<f64>().sqrt();
        if f > 0.0 {
            total += f;
            sum.iter_mut().zip(own).for_each(|(sum, m)| *sum += *m / f);
        }
    }
    out.iter_mut().zip(sum).for_each(|(out, sum)| *out += total * sum);
}

/// Adds `M = J Y Jᵀ` of one node. For a node of more than three velocities, which mix units, Y is the
/// inverse of its diagonal block scaled to the trace that the node's compliance prescribes.
fn add_node(mass: &Mass, block: usize, J: &[f64], dim: usize, M: &mut [f64]) {
    let (matrix, given) = (mass.matrix(), mass.node_compliance_of(block));
    let width = J.len() / dim;
    if let (Some(d), true) = (given, width <= 3) {
        for (i, a) in J.chunks_exact(width).enumerate() {
            for (j, b) in J.chunks_exact(width).enumerate() {
                M[i * dim + j] += d * super::dot(a, b);
            }
        }
        return;
    }
    if width > LARGEST_NODE {
        return;
    }
    let (mut L, area) = ([0.0; LARGEST_NODE * LARGEST_NODE], width * width);
    let L = &mut L[..area];
    L.copy_from_slice(matrix.block(matrix.pattern().diagonal(block)));
    if !super::mass::cholesky(L, width) {
        return;
    }
    let mut x = [0.0; LARGEST_NODE];
    let x = &mut x[..width];
    let softer = given.map_or(1.0, |d| {
        let mut trace = 0.0;
        for k in 0..width {
            x.fill(0.0);
            x[k] = 1.0;
            super::mass::cholesky_solve(L, x);
            trace += x[k];
        }
        f64::max(d * width as f64 / trace, 1.0)
    });
    for d in 0..dim {
        x.copy_from_slice(&J[d * width..(d + 1) * width]);
        super::mass::cholesky_solve(L, x);
        for (row, values) in J.chunks_exact(width).enumerate() {
            M[row * dim + d] += softer * super::dot(values, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Map, Problem, SubsystemId};
    use crate::law::{Coulomb, Law};
    use nalgebra::DMatrix;
    use stiction_math::block;

    /// A sheet of nodes, each coupled with its neighbours, that is too large to be factored
    /// when the problem is built.
    fn sheet(n: usize) -> block::Symmetric {
        let index = |x: usize, y: usize| x * n + y;
        let across = (1..n).flat_map(|x| (0..n).map(move |y| (index(x, y), index(x - 1, y))));
        let along = (0..n).flat_map(|x| (1..n).map(move |y| (index(x, y), index(x, y - 1))));
        let pairs: Vec<_> = across.chain(along).collect();
        let pattern = block::Pattern::new(&vec![3; n * n], pairs.iter().copied());
        let mut A = block::Symmetric::zeros(&pattern);
        let mut add = |i: usize, j: usize, value: f64| {
            if let Some(id) = pattern.find(i, j) {
                A.block_mut(id).iter_mut().step_by(4).for_each(|a| *a += value);
            }
        };
        for k in 0..n * n {
            add(k, k, 0.1);
        }
        for (i, j) in pairs {
            add(i, j, -1.0);
            add(i, i, 1.0);
            add(j, j, 1.0);
        }
        A
    }

    #[test]
    fn the_scale_of_a_point_on_a_large_mesh_is_bounded_from_its_nodes_without_a_factorization() {
        let A = sheet(24);
        let n = A.pattern().n_blocks();
        let inverse = A.to_dense().cholesky().unwrap().inverse();
        let node_compliance: Vec<f64> = (0..n)
            .map(|k| (0..3).map(|d| inverse[(3 * k + d, 3 * k + d)]).sum::<f64>() / 3.0)
            .collect();
        let mut builder = Problem::builder("sheet");
        let id = builder.sparse_matrix(&A, &vec![0.0; 3 * n], Some(&node_compliance));
        let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
        let frame = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let faces = [
            ([0, 1, 24, 0], [0.2, 0.3, 0.5, 0.0]),
            ([300, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
            ([7, 575, 0, 0], [1.0, -1.0, 0.0, 0.0]), // two points of one body against each other
        ];
        for (nodes, weights) in faces {
            let port = builder.port(id, Map::Point { nodes, weights });
            builder.constraint(law, &[0.0; 3], &[0.0; 3], &[(port, &frame)]);
        }
        let problem = builder.build().unwrap();
        assert!(!problem.mass().is_factored(SubsystemId(0)));
        for (i, (nodes, weights)) in faces.into_iter().enumerate() {
            let mut P = DMatrix::zeros(3, 3 * n);
            for (node, weight) in nodes.into_iter().zip(weights) {
                for d in 0..3 {
                    P[(d, 3 * node as usize + d)] += weight;
                }
            }
            let exact = (&P * &inverse * P.transpose()).trace() / 3.0;
            let bound: f64 = nodes
                .into_iter()
                .zip(weights)
                .map(|(k, g): (u32, f64)| g.abs() * node_compliance[k as usize].sqrt())
                .sum::<f64>()
                .powi(2);
            let found = problem.delassus().scale(i);
            assert!(found >= exact * (1.0 - 1e-12), "{i}: {found} understates {exact}");
            // The closed form of the bound, up to round-off of a few products.
            assert!((found - bound).abs() <= 1e-13 * bound, "{i}: {found} against {bound}");
        }
    }
}
