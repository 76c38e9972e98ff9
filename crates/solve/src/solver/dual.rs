//! The dual of the convex problem: minimise `½ λᵀ(W + R)λ + (J v* + e)ᵀλ` over the
//! admissible λ, with W = J A⁻¹ Jᵀ never formed [Castro22, Eq. (22)].
//!
//! A spring-damper does not restrict λ: it is a bilateral row whose law adds the compliance 1/κ [1/kg].

use crate::law::{FrictionModel, Law};
use crate::problem::Problem;

/// Velocity per unit of impulse that the law itself permits [1/kg]; it adds to the compliance of its row.
pub(super) fn law_compliance(law: &Law) -> f64 {
    match law {
        Law::Soft(soft) => soft.compliance(),
        _ => 0.0,
    }
}

/// Projects an impulse onto the set that its law admits.
#[inline]
pub(super) fn project(law: &Law, lambda: &mut [f64]) {
    const UNIT: [f64; crate::contact::DIM] = [1.0; crate::contact::DIM];
    if matches!(law, Law::Bilateral(_) | Law::Soft(_)) {
        return;
    }
    // The local problem of a rigid law at c0 = −λ, r = 1 is the Euclidean projection of λ.
    let mut c0 = [0.0; crate::contact::DIM];
    let dim = lambda.len();
    for (c, l) in c0.iter_mut().zip(&*lambda) {
        *c = -l;
    }
    law.respond(FrictionModel::Convex, &c0[..dim], &UNIT[..dim], lambda);
}

/// `R` plus the compliance of the laws, [`law_compliance`] [1/kg], per row.
pub(super) fn compliance(problem: &Problem, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(problem.compliance());
    for i in 0..problem.constraints().len() {
        let own = law_compliance(problem.law(i));
        for r in &mut out[problem.row_range(i)] {
            *r += own;
        }
    }
}

/// Scale of a constraint [1/kg]: the sum of its Delassus scale, mean compliance and [`law_compliance`].
pub(super) fn scale(problem: &Problem, i: usize) -> f64 {
    crate::residual::compliance_scale(problem, i) + law_compliance(problem.law(i))
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
