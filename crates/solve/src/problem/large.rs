//! Large subsystems: analysed once per sparsity pattern and factored on first use.
//!
//! The analysis follows from the pattern and is kept while it repeats. The values are read from A
//! of the problem, where those of one subsystem are contiguous. Islands of a problem share the
//! factorization; the first solve computes it.

use std::ops::Range;
use std::sync::Arc;

use stiction_math::block;

use super::lazy::Lazy;

/// A large subsystem.
#[derive(Clone, Debug, Default)]
pub(super) struct Large {
    /// Its blocks, numbered from zero within the subsystem.
    pub pattern: block::Pattern,
    /// Index of its first block in A.
    pub first: usize,
    /// Range of its values in A.
    pub values: Range<usize>,
    /// Whether a factorization in the order of the nodes is so cheap that it is computed
    /// when the problem is built: small meshes, and chains of any length.
    pub is_cheap: bool,
    own: Arc<Lazy<Factored>>,
    /// The factorization of the whole problem, if this one is an island of it.
    shared: Option<Arc<Lazy<Factored>>>,
}

/// A factorization, or a record that A is not positive definite.
#[derive(Debug)]
pub(super) struct Factored {
    cholesky: block::Cholesky,
    definite: bool,
}

/// Multiplications [-] in the order of the nodes up to which A is factored when the problem is built.
const AT_ONCE: f64 = 2e6;

impl Large {
    /// Discards the factorization; keeps its symbolic analysis unless an island shares it.
    pub fn reset(&mut self) {
        self.shared = None;
        match Arc::get_mut(&mut self.own) {
            Some(factor) => factor.reset(),
            None => self.own = Arc::default(),
        }
    }

    /// Releases a factorization shared with another problem.
    pub fn release(&mut self) {
        self.shared = None;
    }

    /// Shares the factorization of the same subsystem in another problem.
    pub fn share(&mut self, other: &Self) {
        self.shared = Some(Arc::clone(other.current()));
    }

    fn current(&self) -> &Arc<Lazy<Factored>> {
        self.shared.as_ref().unwrap_or(&self.own)
    }

    /// Whether A has been factored.
    pub fn is_factored(&self) -> bool {
        self.current().ready().is_some()
    }

    /// The factorization of this subsystem, computed on first use; `A` holds the values of all subsystems.
    pub fn factor(&self, A: &[f64]) -> &Factored {
        self.current().get(|old| {
            let view = block::View::new(&self.pattern, &A[self.values.clone()]);
            let kept = old.map(|old| old.cholesky).filter(|c| c.pattern() == &self.pattern);
            let mut cholesky = kept.unwrap_or_else(|| block::Cholesky::analyse(&self.pattern));
            let definite = cholesky.factor_view(view).is_ok();
            Factored { cholesky, definite }
        })
    }

    /// Sets the first block and the pattern; returns whether either changed.
    pub fn place(&mut self, first: usize, pattern: &block::Pattern) -> bool {
        if self.first == first && &self.pattern == pattern {
            return false;
        }
        self.first = first;
        self.pattern.clone_from(pattern);
        self.is_cheap = envelope_work(pattern) <= AT_ONCE;
        true
    }
}

impl Factored {
    /// Whether A is positive definite.
    pub fn is_definite(&self) -> bool {
        self.definite
    }

    /// `x ← A⁻¹ x`; NaN if A is not positive definite.
    pub fn solve(&self, x: &mut [f64]) {
        if self.definite {
            self.cholesky.solve_in_place(x);
        } else {
            x.fill(f64::NAN);
        }
    }
}

/// Multiplications of a factorization within the envelope of a pattern, an upper bound; O(rows).
fn envelope_work(pattern: &block::Pattern) -> f64 {
    (0..pattern.n_blocks())
        .map(|i| {
            let leftmost = pattern.row_entries(i).next().map_or(i, |e| e.col);
            let (height, size) = ((i + 1 - leftmost) as f64, pattern.size(i) as f64);
            0.5 * height * height * size * size * size
        })
        .sum()
}
