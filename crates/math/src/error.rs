//! Errors of factorizations.

use thiserror::Error;

/// A matrix is not positive definite to working precision.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "diagonal block {block}: found a pivot that is not positive and finite; expected a positive definite matrix"
)]
pub struct NotPositiveDefinite {
    /// The block, in the numbering of the pattern, that holds the pivot.
    pub block: usize,
}

/// A matrix is singular to working precision, or holds a number that is not finite.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("diagonal block {block}: found no finite pivot other than zero; expected a regular matrix")]
pub struct Singular {
    /// The block, in the numbering of the pattern, in which no pivot was found.
    pub block: usize,
}
