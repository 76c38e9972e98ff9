//! Newton's method on the contact problem in velocities.
//!
//! [`Convex`] minimises the convex potential and serves SAP, CANAL and the fallback of ALM;
//! [`Strict`] looks for a root of the exact equations and serves ALM and its ablations. Both
//! assemble `A + Jᵀ G J` on one block pattern that is found once and kept while it fits.

mod convex;
mod hessian;
mod strict;

pub use convex::{Convex, Outcome};
pub use hessian::{Hessian, Stencil, UnsymmetricHessian};
pub use strict::{Globalisation, Strict};

use std::time::Duration;

/// Where the time of Newton iterations went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases {
    /// Newton iterations.
    pub iterations: usize,
    /// Gradient and Hessian.
    pub assembly: Duration,
    /// Factorization and solve.
    pub factorization: Duration,
    /// Line search.
    pub line_search: Duration,
}

/// A view of the laws: each constraint answers at `c0 = J v + shift` with yields `r`, per row.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is added to `J v` [m/s]: bias, multiplier and slip terms.
    pub shift: &'a [f64],
    /// Yields [1/kg], positive.
    pub yields: &'a [f64],
}
