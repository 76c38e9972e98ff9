//! The convex problem seen from the impulses: minimise `½ λᵀ(W + R)λ + (J v* + e)ᵀλ` over the
//! admissible λ, with W = J A⁻¹ Jᵀ never formed [Castro22, Eq. (22)].
//!
//! A spring-damper has no set of its own: it is a bilateral row whose yield adds to the compliance.

use crate::law::{FrictionModel, Law};
use crate::problem::Problem;

/// The yield of a law itself [1/kg], which adds to the compliance of its row.
pub(super) fn own_yield(law: &Law) -> f64 {
    match law {
        Law::Soft(soft) => soft.yielding(),
        _ => 0.0,
    }
}

/// Replaces an impulse by the nearest that its law admits.
#[inline]
pub(super) fn project(law: &Law, lambda: &mut [f64]) {
    const UNIT: [f64; crate::contact::DIM] = [1.0; crate::contact::DIM];
    if matches!(law, Law::Bilateral(_) | Law::Soft(_)) {
        return;
    }
    // A law without yield of its own responds to −λ at unit yield with the nearest impulse.
    let mut c0 = [0.0; crate::contact::DIM];
    let dim = lambda.len();
    for (c, l) in c0.iter_mut().zip(&*lambda) {
        *c = -l;
    }
    law.respond(FrictionModel::Convex, &c0[..dim], &UNIT[..dim], lambda);
}

/// `R` and the laws' own yields [1/kg], per row.
pub(super) fn compliance(problem: &Problem, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(problem.compliance());
    for i in 0..problem.constraints().len() {
        let own = own_yield(problem.law(i));
        for r in &mut out[problem.row_range(i)] {
            *r += own;
        }
    }
}

/// Scale of a constraint [1/kg]: its Delassus scale, mean compliance and own yield.
pub(super) fn scale(problem: &Problem, i: usize) -> f64 {
    crate::residual::yield_scale(problem, i) + own_yield(problem.law(i))
}

/// `out = (W + R) λ`; `work` has one entry per velocity.
pub(super) fn multiply(
    problem: &Problem,
    compliance: &[f64],
    lambda: &[f64],
    work: &mut [f64],
    out: &mut [f64],
) {
    work.fill(0.0);
    problem.jacobian().mul_transposed_add(lambda, work);
    problem.mass().solve(work);
    problem.jacobian().mul(work, out);
    for (out, (r, l)) in out.iter_mut().zip(compliance.iter().zip(lambda)) {
        *out += r * l;
    }
}
