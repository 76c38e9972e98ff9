//! The solution of a problem and the report on its solve.

use crate::law::FrictionModel;
use crate::monitor::{Status, TracePoint};
use crate::problem::Problem;
use crate::residual::Residuals;

/// Velocities and impulses. On entry to a solve, the guess to start from.
#[derive(Debug, Default, PartialEq)]
pub struct Solution {
    /// v [m/s].
    pub velocity: Vec<f64>,
    /// λ [N·s], per row.
    pub impulse: Vec<f64>,
}

impl Clone for Solution {
    fn clone(&self) -> Self {
        Self { velocity: self.velocity.clone(), impulse: self.impulse.clone() }
    }

    /// Keeps the allocations, which a derived implementation would not.
    fn clone_from(&mut self, source: &Self) {
        self.velocity.clone_from(&source.velocity);
        self.impulse.clone_from(&source.impulse);
    }
}

impl Solution {
    /// The cold start: free motion, no impulse. For subsystems that are large, an estimate of the
    /// free motion.
    pub fn cold(problem: &Problem) -> Self {
        let mut solution = Self::default();
        solution.reset(problem);
        solution
    }

    /// Sets the cold start of a problem; keeps the allocations.
    pub fn reset(&mut self, problem: &Problem) {
        self.velocity.clear();
        self.velocity.extend_from_slice(problem.start_velocity());
        self.impulse.clear();
        self.impulse.resize(problem.rows(), 0.0);
    }

    /// Sets the free motion of a problem, without an impulse.
    pub fn set_free(&mut self, problem: &Problem) {
        self.velocity.clear();
        self.velocity.extend_from_slice(problem.free_velocity());
        self.impulse.clear();
        self.impulse.resize(problem.rows(), 0.0);
    }

    /// Whether it has the size of a problem and finite numbers.
    pub fn fits(&self, problem: &Problem) -> bool {
        self.velocity.len() == problem.dofs()
            && self.impulse.len() == problem.rows()
            && self.velocity.iter().chain(&self.impulse).all(|x| x.is_finite())
    }
}

/// Report on a solve. Its residuals are measured on the problem, not by the solver.
#[must_use = "a solve that did not converge must not pass for one that did"]
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The solver that produced the solution.
    pub solver: &'static str,
    /// The friction model it solved for.
    pub friction_model: FrictionModel,
    /// How it ended.
    pub status: Status,
    /// Iterations, in the unit of the solver.
    pub iterations: usize,
    /// Residuals of the solution, measured on the problem.
    pub residuals: Residuals,
    /// Time taken by the solver [s].
    pub seconds: f64,
    /// Residuals over iterations, if the goal requested a trace.
    pub trace: Vec<TracePoint>,
}
