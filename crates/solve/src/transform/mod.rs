//! Reversible changes of a problem that make it cheaper to solve.

mod schur;

pub use schur::Reduction;
