//! Sparse LU factorization with full row exchanges, by faer.
//!
//! The last resort for a large matrix: its structure follows the pivots, so that each factorization
//! allocates. It runs on one thread.

use crate::Singular;
use crate::block::General;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::PartialPivLuParams;
use faer::sparse::linalg::lu::{self, LuRef, NumericLu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Auto, Conj, MatMut, Par, Spec};

pub(super) struct Sparse {
    matrix: SymbolicSparseColMat<usize>,
    /// Place in the columns of each value, in the order in which the matrix visits them.
    place: Vec<usize>,
    values: Vec<f64>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    scratch: MemBuffer,
    solve_scratch: MemBuffer,
}

impl std::fmt::Debug for Sparse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sparse").field("n_values", &self.values.len()).finish_non_exhaustive()
    }
}

fn parameters() -> Spec<PartialPivLuParams, f64> {
    Spec::new(<PartialPivLuParams as Auto<f64>>::auto())
}

impl Sparse {
    pub(super) fn new(A: &General) -> Self {
        let dim = A.pattern().dim();
        let mut visits = Vec::new();
        A.for_each_value(|row, col, _| visits.push((col, row, visits.len())));
        visits.sort_unstable();
        let mut col_ptr = vec![0; dim + 1];
        let mut place = vec![0; visits.len()];
        for (k, &(col, _, visit)) in visits.iter().enumerate() {
            col_ptr[col + 1] = k + 1;
            place[visit] = k;
        }
        let row_idx: Vec<_> = visits.iter().map(|v| v.1).collect();
        let matrix = SymbolicSparseColMat::new_checked(dim, dim, col_ptr, None, row_idx);
        let symbolic = match lu::factorize_symbolic_lu(matrix.as_ref(), Default::default()) {
            Ok(symbolic) => symbolic,
            Err(error) => {
                unreachable!("invariant: the index type holds the factor's size: {error}")
            }
        };
        Self {
            scratch: MemBuffer::new(
                symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, parameters()),
            ),
            solve_scratch: MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)),
            values: vec![0.0; place.len()],
            numeric: NumericLu::new(),
            matrix,
            place,
            symbolic,
        }
    }

    pub(super) fn factor(&mut self, A: &General) -> Result<(), Singular> {
        let (mut places, values) = (self.place.iter(), &mut self.values);
        let mut bad = None;
        A.for_each_value(|row, _, value| {
            if let Some(&place) = places.next() {
                values[place] = value;
            }
            if !value.is_finite() {
                bad = Some(row);
            }
        });
        if let Some(row) = bad {
            return Err(Singular { block: A.pattern().block_of(row) });
        }
        let matrix = SparseColMatRef::new(self.matrix.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        let result = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            matrix,
            Par::Seq,
            stack,
            parameters(),
        );
        if let Err(error) = result {
            let index = match error {
                faer::sparse::linalg::LuError::SymbolicSingular { index } => index,
                faer::sparse::linalg::LuError::Generic(_) => 0,
            };
            return Err(Singular { block: A.pattern().block_of(index.min(A.pattern().dim() - 1)) });
        }
        // faer does not check its pivots; solving for a vector of ones detects one that is zero.
        let mut probe = vec![1.0; A.pattern().dim()];
        self.solve_in_place(&mut probe);
        match probe.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(Singular { block: A.pattern().block_of(index) }),
            None => Ok(()),
        }
    }

    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = x.len();
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut self.solve_scratch),
        );
    }
}
