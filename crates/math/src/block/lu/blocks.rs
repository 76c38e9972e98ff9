//! LU factorization block by block, with row exchanges inside diagonal blocks.
//!
//! A = L U with unit diagonal blocks in U: for each j, column j of L and row j of U are those of
//! A minus Σ_k L_ik U_kj and Σ_k L_jk U_ki over the k < j with a block in row j, then U_ji ← D_j⁻¹ U_ji with
//! the diagonal block D_j = L_jj factored by row exchanges. Structure and order are those of the
//! Cholesky factor. The right-hand side keeps the pattern's order.

use crate::Singular;
use crate::block::kernel::{self, Any, Fixed, Kernel};
use crate::block::{Elimination, General, Pattern};
use crate::simd::{Job, dispatch};

#[derive(Debug)]
pub(super) struct Blocks {
    elimination: Elimination,
    common_size: Option<usize>,
    /// First value of the diagonal block of each j.
    diagonal: Vec<usize>,
    /// First value of each block (i, j) of L, and of (j, i) of U, by entry of the elimination.
    entry: Vec<usize>,
    /// Offset in L and U (in D, if diagonal) of each block of the pattern, and whether L receives its mirror
    /// image.
    target: Vec<(usize, bool)>,
    D: Vec<f64>,
    /// Row exchanges of the diagonal blocks, by scalar index of the pattern.
    pivot: Vec<usize>,
    L: Vec<f64>,
    U: Vec<f64>,
    /// Scratch of `factor`: offset of the block (i, j) of the current column j, by row i.
    position: Vec<usize>,
}

impl Blocks {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        let n = elimination.n_blocks();
        let (mut diagonal, mut entry) =
            (Vec::with_capacity(n), Vec::with_capacity(elimination.n_below()));
        let (mut end_D, mut end_LU) = (0, 0);
        for k in 0..n {
            let size = elimination.size[k];
            diagonal.push(end_D);
            end_D += size * size;
            for &i in &elimination.below[elimination.column(k)] {
                entry.push(end_LU);
                end_LU += size * elimination.size[i];
            }
        }
        let target = pattern
            .entries()
            .map(|e| {
                let (i, j) = (elimination.place[e.row], elimination.place[e.col]);
                if i == j {
                    return (diagonal[i], false);
                }
                match elimination.find(i.max(j), i.min(j)) {
                    Some(place) => (entry[place], i < j),
                    None => unreachable!("invariant: the factor holds the matrix's pattern"),
                }
            })
            .collect();
        Self {
            common_size: pattern.common_size(),
            diagonal,
            entry,
            target,
            D: vec![0.0; end_D],
            pivot: vec![0; pattern.dim()],
            L: vec![0.0; end_LU],
            U: vec![0.0; end_LU],
            position: vec![0; n],
            elimination,
        }
    }

    pub(super) fn factor(&mut self, A: &General) -> Result<(), Singular> {
        dispatch(Factor { factors: self, A })
    }

    pub(super) fn solve_in_place(&self, x: &mut [f64]) {
        dispatch(Solve { factors: self, x });
    }

    /// Copies the blocks of the matrix into the storage of the factors.
    fn load(&mut self, A: &General) {
        self.L.fill(0.0);
        self.U.fill(0.0);
        for e in A.pattern().entries() {
            let (target, mirrored) = self.target[e.id.0];
            let (block, mirror) = (A.block(e.id), A.upper(e.id));
            if e.row == e.col {
                self.D[target..target + block.len()].copy_from_slice(block);
                continue;
            }
            let (lower, upper) = if mirrored { (mirror, block) } else { (block, mirror) };
            self.L[target..target + lower.len()].copy_from_slice(lower);
            self.U[target..target + upper.len()].copy_from_slice(upper);
        }
    }
}

struct Factor<'a> {
    factors: &'a mut Blocks,
    A: &'a General,
}

impl Job for Factor<'_> {
    type Output = Result<(), Singular>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.factors.load(self.A);
        match self.factors.common_size {
            Some(3) => factor::<Fixed<3>>(self.factors),
            Some(6) => factor::<Fixed<6>>(self.factors),
            _ => factor::<Any>(self.factors),
        }
    }
}

#[inline(always)]
fn factor<K: Kernel>(factors: &mut Blocks) -> Result<(), Singular> {
    let Blocks { elimination, diagonal, entry, D, pivot, L, U, position, .. } = factors;
    let size = |k: usize| K::size(elimination.size[k]);
    for j in 0..elimination.n_blocks() {
        let s_j = size(j);
        let column = elimination.column(j);
        let base = entry.get(column.start).copied().unwrap_or(L.len());
        for e in column.clone() {
            position[elimination.below[e]] = entry[e] - base;
        }
        let D_j = &mut D[diagonal[j]..diagonal[j] + s_j * s_j];
        let ((L_done, L_j), (U_done, U_j)) = (L.split_at_mut(base), U.split_at_mut(base));
        for &(k, first) in &elimination.left[elimination.row(j)] {
            let s_k = size(k);
            let L_jk = &L_done[entry[first]..entry[first] + s_j * s_k];
            let U_kj = &U_done[entry[first]..entry[first] + s_k * s_j];
            K::sub_nn(D_j, L_jk, U_kj, s_j, s_j, s_k);
            for e in first + 1..elimination.column(k).end {
                let i = elimination.below[e];
                let s_i = size(i);
                let L_ik = &L_done[entry[e]..entry[e] + s_i * s_k];
                let U_ki = &U_done[entry[e]..entry[e] + s_k * s_i];
                let place = position[i]..position[i] + s_i * s_j;
                K::sub_nn(&mut L_j[place.clone()], L_ik, U_kj, s_i, s_j, s_k);
                K::sub_nn(&mut U_j[place], L_jk, U_ki, s_j, s_i, s_k);
            }
        }
        let at_j = elimination.start[j];
        let pivot_j = &mut pivot[at_j..at_j + s_j];
        if !kernel::lu(D_j, pivot_j, s_j) {
            return Err(Singular { block: elimination.order[j] });
        }
        let mut begin = 0;
        for e in elimination.column(j) {
            let s_i = size(elimination.below[e]);
            kernel::divide_by_lu(D_j, pivot_j, &mut U_j[begin..begin + s_j * s_i], s_j, s_i);
            begin += s_j * s_i;
        }
    }
    Ok(())
}

struct Solve<'a> {
    factors: &'a Blocks,
    x: &'a mut [f64],
}

impl Job for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.factors.common_size {
            Some(3) => solve::<Fixed<3>>(self.factors, self.x),
            Some(6) => solve::<Fixed<6>>(self.factors, self.x),
            _ => solve::<Any>(self.factors, self.x),
        }
    }
}

#[inline(always)]
fn solve<K: Kernel>(factors: &Blocks, x: &mut [f64]) {
    let Blocks { elimination, diagonal, entry, D, pivot, L, U, .. } = factors;
    let size = |k: usize| K::size(elimination.size[k]);
    // L y = b.
    for j in 0..elimination.n_blocks() {
        let (s_j, at_j) = (size(j), elimination.start[j]);
        let D_j = &D[diagonal[j]..diagonal[j] + s_j * s_j];
        kernel::solve_lu(D_j, &pivot[at_j..at_j + s_j], &mut x[at_j..at_j + s_j], s_j);
        for e in elimination.column(j) {
            let i = elimination.below[e];
            let (s_i, at_i) = (size(i), elimination.start[i]);
            let Ok([y_j, y_i]) = x.get_disjoint_mut([at_j..at_j + s_j, at_i..at_i + s_i]) else {
                unreachable!("invariant: blocks do not overlap")
            };
            kernel::sub_times(y_i, &L[entry[e]..entry[e] + s_i * s_j], y_j, s_i, s_j);
        }
    }
    // U x = y.
    for j in (0..elimination.n_blocks()).rev() {
        let (s_j, at_j) = (size(j), elimination.start[j]);
        for e in elimination.column(j) {
            let i = elimination.below[e];
            let (s_i, at_i) = (size(i), elimination.start[i]);
            let Ok([x_j, x_i]) = x.get_disjoint_mut([at_j..at_j + s_j, at_i..at_i + s_i]) else {
                unreachable!("invariant: blocks do not overlap")
            };
            kernel::sub_times(x_j, &U[entry[e]..entry[e] + s_j * s_i], x_i, s_j, s_i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn the_vector_code_gives_the_bits_of_its_scalar_twin() {
        let mut rng = SplitMix64::new(41);
        for (n, sizes) in [(60, &[3][..]), (40, &[6]), (20, &[1, 6, 17, 24])] {
            let pattern = testing::pattern(&mut rng, n, sizes, 5);
            let A = testing::general(&mut rng, &pattern, 3.0);
            let elimination = Elimination::analyse(&pattern, &vec![false; n]);
            let mut vector = Blocks::new(&pattern, elimination.clone());
            let mut scalar = Blocks::new(&pattern, elimination);
            vector.factor(&A).unwrap();
            Factor { factors: &mut scalar, A: &A }.run().unwrap();
            assert_eq!(
                (&vector.D, &vector.L, &vector.U),
                (&scalar.D, &scalar.L, &scalar.U),
                "{sizes:?}"
            );
            let (mut x, mut y) = (vec![1.0; pattern.dim()], vec![1.0; pattern.dim()]);
            vector.solve_in_place(&mut x);
            Solve { factors: &scalar, x: &mut y }.run();
            assert_eq!(x, y, "{sizes:?}");
        }
    }
}
