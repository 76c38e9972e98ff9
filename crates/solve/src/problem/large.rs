//! Subsystems that are large: their factorization is found once and made on demand.
//!
//! The analysis follows from the pattern and is kept while it repeats. The values are read from A
//! of the problem, where those of one subsystem lie side by side. Islands of a problem share the
//! factorization; whoever asks first makes it.

use std::ops::Range;
use std::sync::Arc;

use stiction_math::block;

use super::lazy::Lazy;

/// A large subsystem.
#[derive(Clone, Debug, Default)]
pub(super) struct Large {
    /// Its blocks, counted from its first.
    pub pattern: block::Pattern,
    /// First of its blocks in A.
    pub first: usize,
    /// Where its values lie in A.
    pub values: Range<usize>,
    /// Whether a factorization in the order of the nodes is so little work that it is made at
    /// once: small meshes, and chains of any length.
    pub is_cheap: bool,
    own: Arc<Lazy<Factored>>,
    /// The factorization of another problem that this one is a part of.
    shared: Option<Arc<Lazy<Factored>>>,
}

/// A factorization, or the finding that there is none.
#[derive(Debug)]
pub(super) struct Factored {
    cholesky: block::Cholesky,
    definite: bool,
}

/// Multiplications [-] in the order of the nodes up to which a factorization is made at once.
const AT_ONCE: f64 = 2e6;

impl Large {
    /// Forgets the factorization; keeps its analysis if nobody shares it.
    pub fn reset(&mut self) {
        self.shared = None;
        match Arc::get_mut(&mut self.own) {
            Some(factor) => factor.reset(),
            None => self.own = Arc::default(),
        }
    }

    /// Lets go of a factorization that belongs to another problem.
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

    /// Whether the factorization has been made.
    pub fn is_factored(&self) -> bool {
        self.current().ready().is_some()
    }

    /// The factorization of A with all its values; made if it is not there.
    pub fn factor(&self, A: &[f64]) -> &Factored {
        self.current().get(|old| {
            let view = block::View::new(&self.pattern, &A[self.values.clone()]);
            let kept = old.map(|old| old.cholesky).filter(|c| c.pattern() == &self.pattern);
            let mut cholesky = kept.unwrap_or_else(|| block::Cholesky::analyse(&self.pattern));
            let definite = cholesky.factor_view(view).is_ok();
            Factored { cholesky, definite }
        })
    }

    /// Takes over a place and a pattern; false if they are those it has.
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

    /// `x ← A⁻¹ x`; not a number if A is not positive definite.
    pub fn solve(&self, x: &mut [f64]) {
        if self.definite {
            self.cholesky.solve_in_place(x);
        } else {
            x.fill(f64::NAN);
        }
    }
}

/// Multiplications of a factorization within the envelope of a pattern, an upper bound that costs
/// one look at each row.
fn envelope_work(pattern: &block::Pattern) -> f64 {
    (0..pattern.n_blocks())
        .map(|i| {
            let leftmost = pattern.row_entries(i).next().map_or(i, |e| e.col);
            let (height, size) = ((i + 1 - leftmost) as f64, pattern.size(i) as f64);
            0.5 * height * height * size * size * size
        })
        .sum()
}
