//! Contact constraint splitting: ADMM between the motion and the contacts [Lee23, Sec. V-E1;
//! Daviet20].
//!
//! `(A + β JᵀJ) v = b + Jᵀ(λ − β (e − z))`, then every constraint is solved on its own copy z of its
//! velocity, `λ⁺ = λ − β (J v + e − z)` with `(z, λ⁺) ∈ S`. One factorization per problem, one solve
//! of the size of A per iteration. β differs between constraints by their Delassus scale.
//!
//! The result is the iterate v and λ, so that the error of an early stop is an error of the motion, as
//! the paper measures it. Optionally the measured residual stops the iteration.

use std::time::Instant;

use stiction_math::block::{Cholesky, Pattern, Symmetric};
use stiction_solve::monitor::Verdict;
use stiction_solve::solver::Solver;
use stiction_solve::{FrictionModel, Monitor, Problem, Solution, Status};

use super::PreparationTime;

/// Contact constraint splitting.
#[derive(Debug)]
pub struct Ccs {
    /// Penalty per inverse Delassus scale [-].
    pub penalty: f64,
    /// Iterations.
    pub max_iterations: usize,
    /// Whether the measured residual may stop it; otherwise only the number of iterations does.
    pub stops_by_residual: bool,
    /// Time of factoring.
    pub preparation: PreparationTime,
    factor: Option<Cholesky>,
    betas: Vec<f64>,
    copies: Vec<f64>,
    moving: Vec<f64>,
    pull: Vec<f64>,
}

impl Ccs {
    /// Ends after `max_iterations`; the time of factoring is added to `preparation`.
    pub fn new(max_iterations: usize, preparation: PreparationTime) -> Self {
        Self {
            penalty: 1.0,
            max_iterations,
            stops_by_residual: false,
            preparation,
            factor: None,
            betas: Vec::new(),
            copies: Vec::new(),
            moving: Vec::new(),
            pull: Vec::new(),
        }
    }

    /// Penalties and the factor of `A + Jᵀ β J`. False if it has none.
    fn prepare(&mut self, problem: &Problem) -> bool {
        let begin = Instant::now();
        let scale = |i: usize| problem.delassus().scale(i);
        let largest = (0..problem.constraints().len()).map(scale).fold(0.0, f64::max);
        self.betas.clear();
        self.betas.extend((0..problem.constraints().len()).map(|i| {
            let w = if scale(i) > 0.0 { scale(i) } else { largest.max(f64::MIN_POSITIVE) };
            self.penalty / w
        }));
        let matrix = augmented(problem, &self.betas);
        let kept = self.factor.take().filter(|kept| kept.pattern() == matrix.pattern());
        let mut factor = kept.unwrap_or_else(|| Cholesky::analyse(matrix.pattern()));
        let good = factor.factor(&matrix).is_ok();
        self.factor = Some(factor);
        self.preparation.add(begin.elapsed());
        good
    }

    /// One iteration; `solution` holds v and λ.
    fn iterate(&mut self, problem: &Problem, model: FrictionModel, solution: &mut Solution) {
        let jacobian = problem.jacobian();
        for i in 0..problem.constraints().len() {
            for row in problem.row_range(i) {
                let gap = problem.bias()[row] - self.copies[row];
                self.pull[row] = solution.impulse[row] - self.betas[i] * gap;
            }
        }
        solution.velocity.copy_from_slice(problem.momentum());
        jacobian.mul_transposed_add(&self.pull, &mut solution.velocity);
        if let Some(factor) = &self.factor {
            factor.solve_in_place(&mut solution.velocity);
        }
        problem.constraint_velocity(&solution.velocity, &mut self.moving);
        let mut r_rows: Vec<f64> = Vec::new();
        for i in 0..problem.constraints().len() {
            let (rows, beta) = (problem.row_range(i), self.betas[i]);
            r_rows.clear();
            r_rows.extend(problem.compliance()[rows.clone()].iter().map(|r| r + 1.0 / beta));
            let c0 = &mut self.moving[rows.clone()];
            let impulse = &mut solution.impulse[rows.clone()];
            c0.iter_mut().zip(impulse.iter()).for_each(|(c, x)| *c -= x / beta);
            problem.law(i).respond(model, c0, &r_rows, impulse);
            for ((z, c), x) in self.copies[rows].iter_mut().zip(c0.iter()).zip(impulse.iter()) {
                *z = c + x / beta;
            }
        }
    }
}

/// `A + Jᵀ β J`.
fn augmented(problem: &Problem, betas: &[f64]) -> Symmetric {
    let (A, jacobian) = (problem.mass().matrix(), problem.jacobian());
    let old = A.pattern();
    let sizes: Vec<usize> = (0..old.n_blocks()).map(|k| old.size(k)).collect();
    let mut pairs: Vec<(usize, usize)> = old.entries().map(|e| (e.row, e.col)).collect();
    for i in 0..problem.constraints().len() {
        let blocks = || jacobian.constraint_entries(i).iter().map(|e| e.block as usize);
        pairs.extend(blocks().flat_map(|a| blocks().filter(move |b| *b < a).map(move |b| (a, b))));
    }
    let pattern = Pattern::new(&sizes, pairs);
    let mut matrix = Symmetric::zeros(&pattern);
    for entry in old.entries() {
        if let Some(id) = pattern.find(entry.row, entry.col) {
            matrix.block_mut(id).copy_from_slice(A.block(entry.id));
        }
    }
    for (i, beta) in betas.iter().enumerate() {
        let dim = jacobian.dim(i);
        for a in jacobian.constraint_entries(i) {
            for b in jacobian.constraint_entries(i) {
                let (row, column) = (a.block as usize, b.block as usize);
                let Some(id) = (column <= row).then(|| pattern.find(row, column)).flatten() else {
                    continue;
                };
                let (height, width) = (pattern.size(row), pattern.size(column));
                let (first, second) = (jacobian.block(a), jacobian.block(b));
                let out = matrix.block_mut(id);
                for p in 0..height {
                    for q in 0..width {
                        let rows = (0..dim).map(|d| first[d * height + p] * second[d * width + q]);
                        out[p * width + q] += beta * rows.sum::<f64>();
                    }
                }
            }
        }
    }
    matrix
}

impl Solver for Ccs {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if !self.prepare(problem) {
            return Status::Failed;
        }
        self.moving.resize(problem.rows(), 0.0);
        self.pull.resize(problem.rows(), 0.0);
        self.copies.clear();
        self.copies.resize(problem.rows(), 0.0);
        problem.constraint_velocity(&solution.velocity, &mut self.copies);
        for _ in 0..monitor.iteration_limit(self.max_iterations) {
            self.iterate(problem, monitor.model(), solution);
            monitor.count(1);
            if self.stops_by_residual {
                let verdict = monitor.observe(problem, &solution.velocity, &solution.impulse);
                if let Verdict::Stop(status) = verdict {
                    return status;
                }
            }
        }
        Status::IterationLimit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::catalogue::{self, Variation};
    use stiction_solve::{Goal, Session};

    #[test]
    fn splitting_finds_the_answer_of_a_stack_in_the_end() {
        let entry = catalogue::find("stack").unwrap();
        let problem = (entry.build)(&Variation::default()).unwrap();
        let solver = Ccs { stops_by_residual: true, ..Ccs::new(5000, PreparationTime::default()) };
        let mut session = Session::with("ccs", Box::new(solver));
        let mut solution = Solution::cold(&problem);
        let report = session.solve(&problem, &Goal::default(), &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
    }
}
