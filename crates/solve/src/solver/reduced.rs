//! Solves a problem on the velocities that constraints touch, where that is faster.
//!
//! The solver works on the Schur complement [`Reduction`]; its solution is extended to all
//! velocities and measured again. The scale of momentum differs between the two, so that a solution
//! which is not good enough for the whole problem is improved at a smaller tolerance.

use super::Solver;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;
use crate::transform::Reduction;

/// A reduction with its work memory.
#[derive(Default)]
pub(super) struct Reduced {
    reduction: Reduction,
    monitor: Monitor,
    solution: Solution,
}

/// How often, and by how much, the tolerance is tightened.
const TIGHTENINGS: usize = 3;
const TIGHTEN: f64 = 0.1;

/// Relative error of momentum from which on a guess is far from the solution [-].
const FAR: f64 = 0.2;

/// Whether a guess for a problem with a large mesh is far from the solution.
pub(super) fn is_far(problem: &Problem, monitor: &mut Monitor, guess: &Solution) -> bool {
    problem.is_large() && {
        let _ = monitor.observe(problem, &guess.velocity, &guess.impulse);
        monitor.last().1 > FAR
    }
}

impl Reduced {
    /// Whether a problem is solved faster through its reduction, by a solver with this
    /// [`Solver::worth_reducing`].
    pub fn pays(&mut self, problem: &Problem, worth: f64) -> bool {
        worth > 0.0 && self.reduction.pays(problem, worth)
    }

    /// Improves a solution by `improve` on the reduced problem.
    pub fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
        mut improve: impl FnMut(&Problem, &mut Monitor, &mut Solution) -> Status,
    ) -> Status {
        let verdict = monitor.observe(problem, &solution.velocity, &solution.impulse);
        if let Verdict::Stop(status) = verdict {
            return status;
        }
        if self.reduction.update(problem).is_err() {
            return Status::Failed; // checked already, so that only the elimination can fail
        }
        let Self { reduction, monitor: inner, solution: small } = self;
        reduction.restrict(problem, solution, small);
        let mut goal = monitor.goal_for_part();
        goal.trace = monitor.is_tracing();
        for _ in 0..=TIGHTENINGS {
            inner.start(reduction.problem(), &goal, monitor.model(), &small.velocity);
            let status = improve(reduction.problem(), inner, small);
            reduction.expand(problem, small, solution);
            monitor.absorb(inner);
            let verdict = monitor.observe(problem, &solution.velocity, &solution.impulse);
            match verdict {
                Verdict::Stop(found) => return found,
                Verdict::Continue if status != Status::Converged => return status,
                Verdict::Continue => goal.tolerance *= TIGHTEN,
            }
        }
        Status::Stalled
    }

    /// Improves a solution by `solver` on the reduced problem.
    pub fn improve_with(
        &mut self,
        solver: &mut dyn Solver,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.improve(problem, monitor, solution, |p, m, s| solver.improve(p, m, s))
    }
}
