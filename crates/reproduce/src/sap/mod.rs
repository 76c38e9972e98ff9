//! The experiments of the paper on the semi-analytic primal solver [Castro22, Sec. VI]: spring-cylinder and clutter.
//!
//! The paper prints curves; published numbers are those of its text. Clutter is run with the contact model of the paper as part of the
//! problem (`contact = sap`), which is recorded step by step and solved again by the methods that are compared.

mod clutter;
mod condition;
pub mod convergence;
pub mod energy;
pub mod iterations;
mod methods;
pub mod order;
mod recorder;
pub mod scaling;
pub mod slip;
