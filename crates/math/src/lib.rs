//! Linear algebra and numerics shared by all crates of Stiction.
//!
//! Block-sparse matrices and their factorizations ([`block`], [`branch`]), Schur complements ([`schur`]),
//! scalar roots ([`root`]), union-find ([`sets`]), deterministic parallelism ([`par`]), seeded random
//! numbers ([`random`]), loops over short vectors ([`vector`]) and spatial inertias ([`spatial`]). Contact, time and files are no part of it.

// Matrices are capitals, as in the papers; see the naming rules of the project.
#![allow(non_snake_case)]
// Loops over matrix indices read as the formulas do.
#![allow(clippy::needless_range_loop)]
// Units and citations are in brackets, which rustdoc takes for links.
#![allow(rustdoc::broken_intra_doc_links)]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod block;
pub mod branch;
mod error;
pub mod par;
pub mod random;
pub mod root;
pub mod schur;
pub mod sets;
pub mod simd;
pub mod spatial;
pub mod vector;

pub use error::{NotPositiveDefinite, Singular};

#[cfg(test)]
mod testing;
