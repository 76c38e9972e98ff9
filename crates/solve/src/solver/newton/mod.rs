//! Newton's method on the contact problem in velocities.
//!
//! [`Convex`] minimises the convex potential, for SAP, CANAL and the fallback of ALM; [`Strict`]
//! searches a root of the exact equations, for ALM and its ablations. Both
//! assemble `A + Jᵀ G J` on one block pattern that is found once and kept while it fits.

mod backtracking;
mod convex;
mod damping;
mod gradients;
mod hessian;
mod natural_map;
mod strict;

pub use convex::{Convex, ConvexSettings, LineSearch, NewtonOutcome};
pub use damping::Damping;
pub use hessian::{Hessian, Stencil, UnsymmetricHessian};
pub use natural_map::{NaturalMap, NaturalMapSettings};
pub use strict::{Globalisation, Strict, StrictSettings};

use std::time::Duration;

use crate::contact::DIM;
use crate::problem::Problem;

/// Time spent in the phases of Newton iterations.
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

impl ShiftedLaws<'_> {
    /// The round-off floor of a scaled residual `|D (A v − b − Jᵀ λ)|` \[√J\] at a velocity.
    ///
    /// An impulse is a difference of velocities divided by the local compliance r; the smaller r, the larger
    /// the round-off in the momentum. Only rows with a nonzero impulse are included. `scaling`
    /// is D.
    pub(crate) fn floor(
        &self,
        problem: &Problem,
        scaling: &[f64],
        v: &[f64],
        lambda: &[f64],
    ) -> f64 {
        const OPERATIONS: f64 = 8.0;
        let jacobian = problem.jacobian();
        let mut sum = 0.0;
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            if lambda[rows.clone()].iter().all(|l| *l == 0.0) {
                continue;
            }
            // |J v| term by term, and how an impulse of each row shows in the scaled residual.
            let (mut size, mut square) = ([0.0; DIM], [0.0; DIM]);
            for e in jacobian.constraint_entries(i) {
                let range = jacobian.block_range(e.block as usize);
                let (x, D) = (&v[range.clone()], &scaling[range]);
                for (d, row) in jacobian.block(e).chunks_exact(x.len()).enumerate() {
                    size[d] += row.iter().zip(x).map(|(j, x)| (j * x).abs()).sum::<f64>();
                    square[d] += row.iter().zip(D).map(|(j, d)| (j * d).powi(2)).sum::<f64>();
                }
            }
            for (d, k) in rows.enumerate() {
                let bias = problem.bias()[k];
                let terms = size[d] + bias.abs() + (self.shift[k] - bias).abs();
                sum += square[d] * (terms / self.local_compliance[k]).powi(2);
            }
        }
        OPERATIONS * f64::EPSILON * f64::sqrt(sum)
    }
}

/// The laws at shifted velocities: each constraint responds at `c0 = J v + shift` with local compliances `r`,
/// per row.
#[derive(Clone, Copy, Debug)]
pub struct ShiftedLaws<'a> {
    /// Shift of `J v` [m/s]: bias, multiplier and slip terms.
    pub shift: &'a [f64],
    /// Local compliances r [1/kg], positive.
    pub local_compliance: &'a [f64],
}
