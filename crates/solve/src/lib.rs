//! The frictional contact problem `A v = b + Jᵀ λ, (J v + e + R∘λ, λ) ∈ S`: its laws, the
//! residual measure that every solver is judged by, and its solvers.
//!
//! Usable alone: build or load a [`Problem`], pick a solver by name, read the [`Report`].

#![forbid(unsafe_code)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers
#![allow(clippy::neg_cmp_op_on_partial_ord)] // NaN must fail a test, not pass it
#![allow(clippy::needless_range_loop)] // loops over matrix indices read as the formulas do
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod catalogue;
pub mod compliance;
pub mod contact;
mod error;
pub mod file;
pub mod law;
pub mod monitor;
pub mod problem;
pub mod residual;
pub mod setting;
mod solution;
pub mod solver;
pub mod transform;

pub use error::ProblemError;
pub use law::{FrictionModel, Law};
pub use monitor::{Deadline, Goal, Monitor, Status};
pub use problem::Problem;
pub use residual::{ResidualMeasure, Residuals};
pub use solution::{Report, Solution};
pub use solver::{Session, Solver};
