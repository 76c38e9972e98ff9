//! Restitution that would add energy is reduced.
//!
//! Newton's law prescribes the rebound of each contact by itself. Where several contacts or friction act at once, their
//! impulses may do more work than the impact had energy [Stewart00]. The work of the contacts of an island is
//! `½ Σ λᵀ(c* + c)` with c* and c their velocities without and with the impulses λ. Without restitution it is not
//! positive. Where it is, the island is solved again with half of its rebounds, and then with none.
//! Cost: nothing unless a contact bounces; then one product with its rows.

use stiction_solve::contact;

use super::{Scratch, StepContext};
use crate::error::StepError;
use crate::solve_policy;

/// Work with a positive sign that the residual of the solver explains, relative to that of all
/// contacts without sign [-].
const SOLVER_ERROR: f64 = 1e-3;

/// Solves the problem again with smaller rebounds in islands whose contacts add energy.
pub(super) fn limit(step: &mut StepContext) -> Result<(), StepError> {
    let bounces = step.scratch.rows.contacts().iter().any(|row| row.rebound != 0.0);
    if !bounces || step.settings.scheme.alpha() < 1.0 {
        return Ok(());
    }
    // Half of the rebound is left, then none.
    for _ in 0..2 {
        if !find_gains(step.scratch) {
            break;
        }
        let Scratch { rows, problem, solution, contact_work, .. } = &mut *step.scratch;
        for row in rows.contacts().iter().filter(|row| row.rebound != 0.0) {
            let index = row.constraint as usize;
            if gains(&contact_work[problem.islands().of_constraint()[index] as usize]) {
                let less = contact::rows(-0.5 * row.rebound, 0.0);
                for (row, less) in problem.row_range(index).zip(less) {
                    problem.set_bias(row, problem.bias()[row] + less);
                }
            }
        }
        let effort = (step.goal, step.history.unsolved);
        let (report, _) = solve_policy::solve(step.session, problem, effort, solution)?;
        step.report.add_solve(&report);
    }
    Ok(())
}

/// Whether contacts with this net work and work without sign [J] add energy.
fn gains([net, gross]: &[f64; 2]) -> bool {
    *net > SOLVER_ERROR * gross
}

/// Computes the work of the contacts of every island. Returns whether some add energy.
fn find_gains(scratch: &mut Scratch) -> bool {
    let Scratch { rows, problem, solution, contact_work: work, .. } = scratch;
    let islands = problem.islands();
    work.clear();
    work.resize(islands.count(), [0.0; 2]);
    // Patches store energy and give it back.
    for row in rows.contacts().iter().filter(|row| row.point.area == 0.0) {
        let index = row.constraint as usize;
        let range = problem.row_range(index);
        let mut c = [[0.0; contact::DIM]; 2];
        let velocities = [problem.free_velocity(), &solution.velocity[..]];
        for (c, v) in c.iter_mut().zip(velocities) {
            problem.jacobian().mul_constraint(index, v, c);
        }
        let prescribed = row.R_CW * row.point.velocity;
        let [net, gross] = &mut work[islands.of_constraint()[index] as usize];
        for (k, impulse) in solution.impulse[range].iter().enumerate() {
            let [free, solved] = c.map(|c| c[k] + prescribed[k]);
            *net += 0.5 * impulse * (free + solved);
            *gross += 0.5 * impulse.abs() * (free.abs() + solved.abs());
        }
    }
    work.iter().any(gains)
}
