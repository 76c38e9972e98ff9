//! Cholesky factorization block by block.
//!
//! Left-looking on the transposed factor R = Lᵀ, stored by block rows: row j is that of A minus
//! Σ_k R_kjᵀ R_ki over the rows k < j with a block in column j, then divided by the Cholesky factor of its
//! diagonal block [George81, Ch. 2]. Row-major blocks of R put both factors of the product in the
//! order in which vector registers load them. The right-hand side keeps the pattern's order.

use crate::NotPositiveDefinite;
use crate::block::kernel::{self, Any, Fixed, Kernel};
use crate::block::{Elimination, Pattern, View};
use crate::simd::{Job, dispatch};

#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) elimination: Elimination,
    pub(super) common_size: Option<usize>,
    /// First value of the diagonal block of each row of R.
    pub(super) diagonal: Vec<usize>,
    /// First value of each other block of R, by entry of the elimination.
    pub(super) entry: Vec<usize>,
    /// Offset in the factor of each block of the pattern, and whether it is stored transposed.
    target: Vec<(usize, bool)>,
    pub(super) values: Vec<f64>,
    /// Scratch of `factor`: offset of the block of the current row in column i.
    position: Vec<usize>,
}

impl Blocks {
    pub(super) fn new(pattern: &Pattern, elimination: Elimination) -> Self {
        let n = elimination.n_blocks();
        let (mut diagonal, mut entry) =
            (Vec::with_capacity(n), Vec::with_capacity(elimination.n_below()));
        let mut end = 0;
        for k in 0..n {
            let size = elimination.size[k];
            diagonal.push(end);
            end += size * size;
            for &i in &elimination.below[elimination.column(k)] {
                entry.push(end);
                end += size * elimination.size[i];
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
                    Some(place) => (entry[place], i > j),
                    None => unreachable!("invariant: the factor holds the matrix's pattern"),
                }
            })
            .collect();
        Self {
            common_size: pattern.common_size(),
            diagonal,
            entry,
            target,
            values: vec![0.0; end],
            position: vec![0; n],
            elimination,
        }
    }

    pub(super) fn factor(&mut self, A: View<'_>) -> Result<(), NotPositiveDefinite> {
        dispatch(Factor { factors: self, A })
    }

    pub(super) fn solve_in_place(&self, x: &mut [f64]) {
        dispatch(Solve { factors: self, x });
    }
}

struct Factor<'a> {
    factors: &'a mut Blocks,
    A: View<'a>,
}

impl Job for Factor<'_> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        match self.factors.common_size {
            Some(3) => factor::<Fixed<3>>(self.factors, self.A),
            Some(6) => factor::<Fixed<6>>(self.factors, self.A),
            _ => factor::<Any>(self.factors, self.A),
        }
    }
}

#[inline(always)]
fn factor<K: Kernel>(factors: &mut Blocks, A: View<'_>) -> Result<(), NotPositiveDefinite> {
    load::<K>(factors, A);
    let Blocks { elimination, diagonal, entry, values, position, .. } = factors;
    for j in 0..elimination.n_blocks() {
        let s_j = K::size(elimination.size[j]);
        let base = diagonal[j];
        let (done, row) = values.split_at_mut(base);
        for e in elimination.column(j) {
            position[elimination.below[e]] = entry[e] - base;
        }
        // R_ji −= R_kjᵀ R_ki for every earlier row k that holds j.
        for &(k, first) in &elimination.left[elimination.row(j)] {
            let s_k = K::size(elimination.size[k]);
            let R_kj = &done[entry[first]..entry[first] + s_k * s_j];
            K::sub_tn(&mut row[..s_j * s_j], R_kj, R_kj, s_j, s_j, s_k);
            for e in first + 1..elimination.column(k).end {
                let i = elimination.below[e];
                let s_i = K::size(elimination.size[i]);
                let R_ki = &done[entry[e]..entry[e] + s_k * s_i];
                let R_ji = &mut row[position[i]..position[i] + s_j * s_i];
                K::sub_tn(R_ji, R_kj, R_ki, s_j, s_i, s_k);
            }
        }
        // R_jj from R_jjᵀ R_jj, then R_ji ← R_jj⁻ᵀ R_ji.
        let (R_jj, others) = row.split_at_mut(s_j * s_j);
        if !K::cholesky(R_jj, s_j) {
            return Err(NotPositiveDefinite { block: elimination.order[j] });
        }
        let mut begin = 0;
        for e in elimination.column(j) {
            let s_i = K::size(elimination.size[elimination.below[e]]);
            K::solve_transposed(R_jj, &mut others[begin..begin + s_j * s_i], s_j, s_i);
            begin += s_j * s_i;
        }
    }
    Ok(())
}

/// Copies the blocks of the matrix into the storage of the factor.
#[inline(always)]
fn load<K: Kernel>(factors: &mut Blocks, A: View<'_>) {
    factors.values.fill(0.0);
    let (start, rows, cols, offset) = A.pattern().raw();
    for i in 0..A.pattern().n_blocks() {
        for id in rows[i]..rows[i + 1] {
            let j = cols[id];
            let (s_i, s_j) = (K::size(start[i + 1] - start[i]), K::size(start[j + 1] - start[j]));
            let block = &A.values()[offset[id]..offset[id] + s_i * s_j];
            let (target, transposed) = factors.target[id];
            let copy = &mut factors.values[target..target + s_i * s_j];
            if transposed {
                kernel::transpose(copy, block, s_i, s_j);
            } else {
                copy.copy_from_slice(block);
            }
        }
    }
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
    let Blocks { elimination, diagonal, entry, values, .. } = factors;
    let size = |k: usize| K::size(elimination.size[k]);
    // Rᵀ y = b.
    for k in 0..elimination.n_blocks() {
        let (s_k, at_k) = (size(k), elimination.start[k]);
        kernel::solve_upper_transposed(
            &values[diagonal[k]..diagonal[k] + s_k * s_k],
            &mut x[at_k..at_k + s_k],
            s_k,
        );
        for e in elimination.column(k) {
            let i = elimination.below[e];
            let (s_i, at_i) = (size(i), elimination.start[i]);
            let Ok([y_k, y_i]) = x.get_disjoint_mut([at_k..at_k + s_k, at_i..at_i + s_i]) else {
                unreachable!("invariant: blocks do not overlap")
            };
            kernel::sub_transposed_times(
                y_i,
                &values[entry[e]..entry[e] + s_k * s_i],
                y_k,
                s_k,
                s_i,
            );
        }
    }
    // R x = y.
    for k in (0..elimination.n_blocks()).rev() {
        let (s_k, at_k) = (size(k), elimination.start[k]);
        for e in elimination.column(k) {
            let i = elimination.below[e];
            let (s_i, at_i) = (size(i), elimination.start[i]);
            let Ok([x_k, x_i]) = x.get_disjoint_mut([at_k..at_k + s_k, at_i..at_i + s_i]) else {
                unreachable!("invariant: blocks do not overlap")
            };
            kernel::sub_times(x_k, &values[entry[e]..entry[e] + s_k * s_i], x_i, s_k, s_i);
        }
        kernel::solve_upper(
            &values[diagonal[k]..diagonal[k] + s_k * s_k],
            &mut x[at_k..at_k + s_k],
            s_k,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing;

    #[test]
    fn the_vector_code_gives_the_bits_of_its_scalar_twin() {
        let mut rng = SplitMix64::new(21);
        for (n, sizes) in [(60, &[3][..]), (40, &[6]), (20, &[1, 6, 17, 24])] {
            let pattern = testing::pattern(&mut rng, n, sizes, 5);
            let A = testing::positive_definite(&mut rng, &pattern);
            let elimination = Elimination::analyse(&pattern, &vec![false; n]);
            let mut vector = Blocks::new(&pattern, elimination.clone());
            let mut scalar = Blocks::new(&pattern, elimination);
            vector.factor((&A).into()).unwrap();
            Factor { factors: &mut scalar, A: (&A).into() }.run().unwrap();
            assert_eq!(vector.values, scalar.values, "{sizes:?}");
            let (mut x, mut y) = (vec![1.0; pattern.dim()], vec![1.0; pattern.dim()]);
            vector.solve_in_place(&mut x);
            Solve { factors: &scalar, x: &mut y }.run();
            assert_eq!(x, y, "{sizes:?}");
        }
    }
}
