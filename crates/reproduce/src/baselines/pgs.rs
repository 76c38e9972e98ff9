//! Projected Gauss-Seidel on the assembled Delassus operator, with the paper's stopping rule.
//!
//! One sweep solves the constraints in turn; the iteration ends when the change of the impulses,
//! expressed in velocities, `|A⁻¹ Jᵀ (λ⁺ − λ)|`, is below a threshold [Lee23, Sec. V-C1]. Stiction's own
//! solver `pgs` stops by the measured residual instead.

use std::time::Instant;

use stiction_solve::solver::Solver;
use stiction_solve::{FrictionModel, Monitor, Problem, Solution, Status};

use super::delassus::Delassus;
use super::{PreparationTime, norm};

/// Projected Gauss-Seidel.
#[derive(Debug)]
pub struct Pgs {
    /// Change of the velocities at which it stops, in their plain norm.
    pub theta: f64,
    /// Sweeps.
    pub max_sweeps: usize,
    /// Time of assembling the operator.
    pub preparation: PreparationTime,
    operator: Delassus,
    local_compliance: Vec<f64>,
    change: Vec<f64>,
    moved: Vec<f64>,
}

impl Pgs {
    /// With a threshold; the time of assembly is added to `preparation`.
    pub fn new(theta: f64, preparation: PreparationTime) -> Self {
        Self {
            theta,
            max_sweeps: 1000,
            preparation,
            operator: Delassus::default(),
            local_compliance: Vec::new(),
            change: Vec::new(),
            moved: Vec::new(),
        }
    }

    fn prepare(&mut self, problem: &Problem) {
        let begin = Instant::now();
        self.operator.assemble(problem);
        self.local_compliance.clear();
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let own = problem.compliance()[rows.clone()].iter().fold(0.0, |a: f64, r| a.max(*r));
            self.local_compliance.push(self.operator.bound(rows) + own);
        }
        self.preparation.add(begin.elapsed());
    }

    /// Solves every constraint once; writes the changes of the impulses to `change`.
    fn sweep(&mut self, problem: &Problem, model: FrictionModel, impulse: &mut [f64]) {
        let mut c0: Vec<f64> = Vec::new();
        let mut lambda: Vec<f64> = Vec::new();
        let mut r_rows: Vec<f64> = Vec::new();
        for i in 0..problem.constraints().len() {
            let (rows, r) = (problem.row_range(i), self.local_compliance[i]);
            if r == 0.0 {
                continue;
            }
            c0.clear();
            c0.extend(rows.clone().map(|row| {
                let own = problem.compliance()[row] * impulse[row];
                self.operator.velocity(row, impulse) + own - r * impulse[row]
            }));
            r_rows.clear();
            r_rows.resize(rows.len(), r);
            lambda.clear();
            lambda.resize(rows.len(), 0.0);
            problem.law(i).respond(model, &c0, &r_rows, &mut lambda);
            for (row, x) in rows.zip(&lambda) {
                self.change[row] = x - impulse[row];
                impulse[row] = *x;
            }
        }
    }
}

impl Solver for Pgs {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        self.prepare(problem);
        let mut status = Status::IterationLimit;
        for _ in 0..monitor.iteration_limit(self.max_sweeps) {
            self.change.clear();
            self.change.resize(problem.rows(), 0.0);
            self.sweep(problem, monitor.model(), &mut solution.impulse);
            monitor.count(1);
            self.moved.clear();
            self.moved.resize(problem.dofs(), 0.0);
            problem.jacobian().mul_transposed_add(&self.change, &mut self.moved);
            problem.mass().solve(&mut self.moved);
            if norm(&self.moved) <= self.theta {
                status = Status::Stalled;
                break;
            }
        }
        problem.velocity_of(&solution.impulse, &mut solution.velocity);
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::catalogue::{self, Variation};
    use stiction_solve::{Goal, Session};

    #[test]
    fn with_a_small_threshold_it_converges_by_the_measured_residual() {
        let entry = catalogue::find("box-slide").unwrap();
        let problem = (entry.build)(&Variation::default()).unwrap();
        let solver = Pgs::new(1e-14, PreparationTime::default());
        let mut session = Session::with("pgs-paper", Box::new(solver));
        let mut solution = Solution::cold(&problem);
        let report = session.solve(&problem, &Goal::default(), &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
    }
}
