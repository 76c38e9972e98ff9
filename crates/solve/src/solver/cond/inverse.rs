//! The inverse of an invertible contact model: impulses from velocities.
//!
//! Where every row has a compliance Ω > 0, the velocity determines the impulse, `λ = SOL(J v + e, Ω)`
//! [Lee23, Sec. III-E.1]: one response per constraint, without A and without an iteration.

use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::Problem;

/// The impulses λ [N·s] that belong to velocities v [m/s] when rows have the compliance Ω [1/kg].
///
/// `local_compliance` is Ω and replaces the problem's compliance; with the compliance itself, this inverts
/// the problem. `None` unless the lengths fit and all of Ω is positive and finite.
pub fn inverse(
    problem: &Problem,
    model: FrictionModel,
    velocity: &[f64],
    local_compliance: &[f64],
) -> Option<Vec<f64>> {
    let positive = local_compliance.iter().all(|r| *r > 0.0 && r.is_finite());
    if !positive || local_compliance.len() != problem.rows() || velocity.len() != problem.dofs() {
        return None;
    }
    let mut lambda = vec![0.0; problem.rows()];
    let mut c0 = [0.0; DIM];
    for i in 0..problem.constraints().len() {
        let rows = problem.row_range(i);
        let c0 = &mut c0[..rows.len()];
        problem.jacobian().mul_constraint(i, velocity, c0);
        for (c, e) in c0.iter_mut().zip(&problem.bias()[rows.clone()]) {
            *c += e;
        }
        problem.law(i).respond(model, c0, &local_compliance[rows.clone()], &mut lambda[rows]);
    }
    Some(lambda)
}
