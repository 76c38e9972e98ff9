//! Accelerated projected gradient descent on the impulses, matrix-free, with the paper's stopping
//! rule.
//!
//! Minimises `½ λᵀ (W + R) λ + λᵀ (J v* + e)` over the friction cones, W = J A⁻¹ Jᵀ, one solve with
//! A per trial step [Mazhar15, Alg. 1]; ends when `|A⁻¹ Jᵀ (λ⁺ − λ)|` is below a threshold
//! [Lee23, Sec. V-C1]. Convex friction. Stiction's own solver `apgd` stops by the measured residual.

use std::time::Instant;

use stiction_solve::solver::Solver;
use stiction_solve::{FrictionModel, Monitor, Problem, Solution, Status};

use super::{PreparationTime, norm};

/// Accelerated projected gradient descent.
#[derive(Debug)]
pub struct Apgd {
    /// Change of the velocities at which it stops, in their plain norm.
    pub theta: f64,
    /// Iterations.
    pub max_iterations: usize,
    /// Time of factoring A.
    pub preparation: PreparationTime,
}

/// An impulse with the velocities it adds and those of its rows.
#[derive(Clone, Debug, Default)]
struct ApgdIterate {
    impulse: Vec<f64>,
    /// A⁻¹ Jᵀ λ [m/s].
    velocity: Vec<f64>,
    /// (W + R) λ [m/s].
    rows: Vec<f64>,
}

impl ApgdIterate {
    fn update_velocities(&mut self, problem: &Problem) {
        self.velocity.clear();
        self.velocity.resize(problem.dofs(), 0.0);
        problem.jacobian().mul_transposed_add(&self.impulse, &mut self.velocity);
        problem.mass().solve(&mut self.velocity);
        self.rows.resize(problem.rows(), 0.0);
        problem.jacobian().mul(&self.velocity, &mut self.rows);
        for ((row, r), x) in self.rows.iter_mut().zip(problem.compliance()).zip(&self.impulse) {
            *row += r * x;
        }
    }

    /// `self + weight (self − other)`, into `out`; all its parts are linear.
    fn beyond(&self, weight: f64, other: &Self, out: &mut Self) {
        let blend = |a: &[f64], b: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(a.iter().zip(b).map(|(a, b)| a + weight * (a - b)));
        };
        blend(&self.impulse, &other.impulse, &mut out.impulse);
        blend(&self.velocity, &other.velocity, &mut out.velocity);
        blend(&self.rows, &other.rows, &mut out.rows);
    }

    fn cost(&self, free: &[f64]) -> f64 {
        let terms = self.impulse.iter().zip(&self.rows).zip(free);
        terms.map(|((x, w), q)| x * (0.5 * w + q)).sum()
    }
}

impl Apgd {
    /// With a threshold; the time of factoring is added to `preparation`.
    pub fn new(theta: f64, preparation: PreparationTime) -> Self {
        Self { theta, max_iterations: 2000, preparation }
    }
}

/// Projects a gradient step of length 1/`slope` from `from` onto the friction cones.
fn project(problem: &Problem, from: &ApgdIterate, free: &[f64], slope: f64, out: &mut Vec<f64>) {
    out.clear();
    out.resize(problem.rows(), 0.0);
    let mut c0: Vec<f64> = Vec::new();
    let mut r_rows: Vec<f64> = Vec::new();
    for i in 0..problem.constraints().len() {
        let rows = problem.row_range(i);
        c0.clear();
        c0.extend(rows.clone().map(|k| from.rows[k] + free[k] - slope * from.impulse[k]));
        r_rows.clear();
        r_rows.resize(rows.len(), slope);
        problem.law(i).respond(FrictionModel::Convex, &c0, &r_rows, &mut out[rows]);
    }
}

impl Solver for Apgd {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let begin = Instant::now();
        let free = problem.free_rows();
        self.preparation.add(begin.elapsed());
        let mut now = ApgdIterate { impulse: solution.impulse.clone(), ..ApgdIterate::default() };
        now.update_velocities(problem);
        let (mut ahead, mut next) = (now.clone(), ApgdIterate::default());
        let scales = (0..problem.constraints().len()).map(|i| problem.delassus().scale(i));
        let mut slope = scales.fold(f64::MIN_POSITIVE, f64::max);
        let (mut theta, mut status) = (1.0_f64, Status::IterationLimit);
        for _ in 0..monitor.iteration_limit(self.max_iterations) {
            let cost = ahead.cost(free);
            loop {
                project(problem, &ahead, free, slope, &mut next.impulse);
                next.update_velocities(problem);
                let (mut linear, mut square) = (0.0, 0.0);
                for (k, free) in free.iter().enumerate() {
                    let step = next.impulse[k] - ahead.impulse[k];
                    linear += (ahead.rows[k] + free) * step;
                    square += step * step;
                }
                let bound = cost + linear + 0.5 * slope * square;
                // Tolerates round-off of the costs.
                let grain = 1e-14 * (cost.abs() + linear.abs());
                if next.cost(free) <= bound + grain || !slope.is_finite() {
                    break;
                }
                slope *= 2.0;
            }
            monitor.count(1);
            let moved: Vec<f64> =
                next.velocity.iter().zip(&now.velocity).map(|(a, b)| a - b).collect();
            let turned: f64 = (0..problem.rows())
                .map(|k| (ahead.rows[k] + free[k]) * (next.impulse[k] - now.impulse[k]))
                .sum();
            let after = 0.5 * theta * ((theta * theta + 4.0).sqrt() - theta);
            let weight = theta * (1.0 - theta) / (theta * theta + after);
            if turned > 0.0 {
                // The momentum points uphill: adaptive restart [Mazhar15].
                ahead.clone_from(&next);
                theta = 1.0;
            } else {
                next.beyond(weight, &now, &mut ahead);
                theta = after;
            }
            std::mem::swap(&mut now, &mut next);
            slope *= 0.9;
            if norm(&moved) <= self.theta {
                status = Status::Stalled;
                break;
            }
        }
        solution.impulse.copy_from_slice(&now.impulse);
        for ((v, free), added) in
            solution.velocity.iter_mut().zip(problem.free_velocity()).zip(&now.velocity)
        {
            *v = free + added;
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::catalogue::{self, Variation};
    use stiction_solve::{Goal, Session};

    #[test]
    fn with_a_small_threshold_it_finds_the_convex_answer() {
        let entry = catalogue::find("box-slide").unwrap();
        let problem = (entry.build)(&Variation::default()).unwrap();
        let solver = Apgd::new(1e-14, PreparationTime::default());
        let mut session = Session::with("apgd-paper", Box::new(solver));
        let mut solution = Solution::cold(&problem);
        let report = session.solve(&problem, &Goal::default(), &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
    }
}
