//! Newton's method with exact line search on the convex potential
//! `ℓ(v) = ½ |v − v*|²_A + Σ ψ_i(J_i v + s_i; r_i)` [Castro22, Eqs. (23), (24)].
//!
//! The kernel that SAP calls once and CANAL in a loop: with local compliances `r = R + 1/β` and shifts
//! `s = e + p − λ/β` the potential is CANAL's surrogate [Lee25, Eqs. (22), (23)].
//! Per iteration: one assembly and Cholesky factorization of `H = A + Jᵀ G J`, and a line search
//! that costs a pass over the constraints for each evaluation. On a mesh, where contacts change H
//! little from one iteration to the next, a few steps of conjugate gradients with the factor of an
//! earlier H of the same minimisation replace a factorization as long as they converge.

use std::time::Instant;

use stiction_math::root;

use super::backtracking;
use super::gradients::Gradients;
use super::{Hessian, Phases, ShiftedLaws};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::monitor::Deadline;
use crate::problem::{Problem, dot};

/// How the length of a Newton step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// The minimum along the step.
    #[default]
    Exact,
    /// Armijo's criterion, see `backtracking`.
    Backtracking,
}

crate::setting_choices!(LineSearch {
    "backtracking" => LineSearch::Backtracking,
    "exact" => LineSearch::Exact,
});

/// Settings of Newton's method on the convex potential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexSettings {
    /// Relative tolerance on momentum [-] [Castro22, Eq. (26)].
    pub tolerance: f64,
    /// Absolute tolerance ε_a on the scaled momentum [√J] [Castro22, Eq. (26)].
    pub absolute_tolerance: f64,
    /// How the length of a step is found.
    pub line_search: LineSearch,
    /// Newton iterations.
    pub max_iterations: usize,
    /// Longest step tried by the line search [-].
    pub max_step: f64,
}

impl Default for ConvexSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            absolute_tolerance: 0.0,
            line_search: LineSearch::default(),
            max_iterations: 100,
            max_step: 1.5, // [Castro22, Sec. IV-B]
        }
    }
}

/// Newton's method on the convex potential.
#[derive(Debug, Default)]
pub struct Convex {
    /// Settings.
    pub settings: ConvexSettings,
    /// When to stop at the best point so far.
    pub deadline: Deadline,
    hessian: Hessian,
    slopes: Vec<f64>,
    c: Vec<f64>,
    dc: Vec<f64>,
    gradient: Vec<f64>,
    momentum: Vec<f64>,
    impulse: Vec<f64>,
    dv: Vec<f64>,
    dp: Vec<f64>,
    gradients: Gradients,
    phases: Phases,
}

/// How a minimisation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOutcome {
    /// Newton iterations done.
    pub iterations: usize,
    /// Whether the tolerance was met, or the round-off floor reached.
    pub converged: bool,
    /// Relative error of momentum that is left [-].
    pub error: f64,
}

/// Accuracy of the step length [-]: finer than one more Newton iteration gains.
const STEP_TOLERANCE: f64 = 1e-8;
/// Below this relative error, a step without descent counts as the round-off floor.
const FLOOR: f64 = 1e-9;
/// As many round-off floors count as the floor when the error stops to decrease.
const NEAR_FLOOR: f64 = 30.0;

impl Convex {
    /// With a limit on Newton iterations.
    pub fn with_limit(max_iterations: usize) -> Self {
        let settings = ConvexSettings { max_iterations, ..ConvexSettings::default() };
        Self { settings, ..Self::default() }
    }

    /// Prepares for a problem: sizes and the sparsity of H.
    pub fn prepare(&mut self, problem: &Problem) {
        self.hessian.prepare(problem);
        let (n, m) = (problem.dofs(), problem.rows());
        self.slopes.clear();
        self.slopes.resize(self.hessian.stencil().slopes(), 0.0);
        for (x, len) in [
            (&mut self.c, m),
            (&mut self.dc, m),
            (&mut self.gradient, n),
            (&mut self.momentum, n),
            (&mut self.impulse, n),
            (&mut self.dv, n),
            (&mut self.dp, n),
        ] {
            x.clear();
            x.resize(len, 0.0);
        }
    }

    /// Times of the phases since the last call.
    pub fn take_phases(&mut self) -> Phases {
        std::mem::take(&mut self.phases)
    }

    /// Minimises from `v`; leaves the minimiser in `v` and the impulses of the laws in `lambda`.
    /// `scaling` is diag(A)^(−1/2). The problem must be the one prepared for.
    pub fn minimise(
        &mut self,
        problem: &Problem,
        laws: ShiftedLaws<'_>,
        scaling: &[f64],
        v: &mut [f64],
        lambda: &mut [f64],
    ) -> NewtonOutcome {
        let mut best = f64::INFINITY;
        let mut idle = 0;
        for iterations in 0..=self.settings.max_iterations {
            let start = Instant::now();
            let (residual, size) = self.evaluate(problem, laws, scaling, v, lambda);
            // At rest without impulses the reference momentum is zero: the relative error is set to one.
            let error = match (residual, size) {
                (0.0, _) => 0.0,
                (_, 0.0) => 1.0,
                _ => residual / size,
            };
            let done = |converged| NewtonOutcome { iterations, converged, error };
            let absolute = self.settings.absolute_tolerance;
            let is_small = absolute > 0.0 && residual < absolute + self.settings.tolerance * size;
            if error <= self.settings.tolerance || is_small {
                return done(true);
            }
            // A size of zero (a start at rest without impulses) is no failure; NaN and infinity are.
            let broken = !(residual.is_finite() && size.is_finite());
            let over = iterations == self.settings.max_iterations || self.deadline.has_passed();
            if broken || over {
                return done(false);
            }
            // Close to the round-off floor the error stops to decrease.
            idle = if error < 0.5 * best { 0 } else { idle + 1 };
            best = best.min(error);
            let floor = laws.floor(problem, scaling, v, lambda);
            let near = residual <= NEAR_FLOOR * floor;
            if residual <= floor || (idle >= 3 && near) {
                return done(true);
            }
            self.hessian_slopes(problem, laws);
            let mut assembled = Instant::now();
            self.phases.assembly += assembled - start;
            let (hessian, slopes) = (&self.hessian, &self.slopes);
            let kept = hessian.is_worth_keeping()
                && self.gradients.solve(problem, hessian, slopes, &self.gradient, &mut self.dv);
            if !kept {
                let begin = Instant::now();
                self.phases.factorization += begin - assembled;
                self.hessian.assemble(problem, &self.slopes);
                assembled = Instant::now();
                self.phases.assembly += assembled - begin;
                if !self.hessian.factor() {
                    return done(false);
                }
                for (d, g) in self.dv.iter_mut().zip(&self.gradient) {
                    *d = -g;
                }
                self.hessian.solve(&mut self.dv);
            }
            let factored = Instant::now();
            self.phases.factorization += factored - assembled;
            let step = self.line_search(problem, laws);
            self.phases.line_search += factored.elapsed();
            self.phases.iterations += 1;
            let Some(step) = step else {
                // No descent along a Newton direction of a convex function: round-off.
                return done(near || error < FLOOR);
            };
            for (v, d) in v.iter_mut().zip(&self.dv) {
                *v += step * d;
            }
        }
        NewtonOutcome { iterations: self.settings.max_iterations, converged: false, error: best }
    }

    /// Impulses and gradient at v; returns the norms of the scaled gradient and of the scaled momentum.
    fn evaluate(
        &mut self,
        problem: &Problem,
        laws: ShiftedLaws<'_>,
        scaling: &[f64],
        v: &[f64],
        lambda: &mut [f64],
    ) -> (f64, f64) {
        problem.jacobian().mul(v, &mut self.c);
        for (c, s) in self.c.iter_mut().zip(laws.shift) {
            *c += s;
        }
        self.impulse.fill(0.0);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let lambda = &mut lambda[rows.clone()];
            problem.law(i).respond(
                FrictionModel::Convex,
                &self.c[rows.clone()],
                &laws.local_compliance[rows],
                lambda,
            );
            problem.jacobian().mul_constraint_transposed_add(i, lambda, &mut self.impulse);
        }
        problem.mass().mul(v, &mut self.momentum);
        let (mut error, mut inertia, mut impulse) = (0.0, 0.0, 0.0);
        let b = problem.momentum();
        for i in 0..v.len() {
            let (p, j) = (self.momentum[i], self.impulse[i]);
            let g = p - b[i] - j;
            self.gradient[i] = g;
            error += (scaling[i] * g).powi(2);
            inertia += (scaling[i] * p).powi(2);
            impulse += (scaling[i] * j).powi(2);
        }
        (f64::sqrt(error), f64::sqrt(f64::max(inertia, impulse)))
    }

    fn hessian_slopes(&mut self, problem: &Problem, laws: ShiftedLaws<'_>) {
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            problem.law(i).slope(
                FrictionModel::Convex,
                &self.c[rows.clone()],
                &laws.local_compliance[rows],
                &mut self.slopes[self.hessian.stencil().slope_range(i)],
            );
        }
    }

    /// The minimiser of ℓ(v + α dv) over α in [0, max_step]; `None` if there is no descent.
    /// [Castro22, Sec. IV-B] with an exact search, methods as in its Appendix E.
    fn line_search(&mut self, problem: &Problem, laws: ShiftedLaws<'_>) -> Option<f64> {
        problem.mass().mul(&self.dv, &mut self.dp);
        problem.jacobian().mul(&self.dv, &mut self.dc);
        let curvature = dot(&self.dv, &self.dp);
        // ℓ'(α) = dv·(A v − b) + α dv·A dv − dc·λ(c + α dc).
        let inertia = dot(&self.dv, &self.momentum) - dot(&self.dv, problem.momentum());
        let (c, dc) = (&self.c, &self.dc);
        let along = |alpha: f64| {
            let (mut first, mut second) = (inertia + alpha * curvature, curvature);
            for i in 0..problem.constraints().len() {
                let rows = problem.row_range(i);
                let dim = rows.len();
                let (mut at, mut lambda, mut slope) = ([0.0; DIM], [0.0; DIM], [0.0; DIM * DIM]);
                let (c, dc) = (&c[rows.clone()], &dc[rows.clone()]);
                for k in 0..dim {
                    at[k] = c[k] + alpha * dc[k];
                }
                let (at, r) = (&at[..dim], &laws.local_compliance[rows]);
                let law = problem.law(i);
                law.respond(FrictionModel::Convex, at, r, &mut lambda[..dim]);
                law.slope(FrictionModel::Convex, at, r, &mut slope[..dim * dim]);
                first -= dot(dc, &lambda);
                for (row, d) in slope.chunks_exact(dim).zip(dc) {
                    second += d * dot(row, dc);
                }
            }
            (first, second)
        };
        // ℓ'(0) is the gradient along dv, known already.
        let descent = dot(&self.gradient, &self.dv);
        if !(descent < 0.0) {
            return None;
        }
        if self.settings.line_search == LineSearch::Backtracking {
            return self.backtrack(problem, laws, (inertia, curvature), descent);
        }
        let (at_one, slope_at_one) = along(1.0);
        if at_one.abs() <= STEP_TOLERANCE * slope_at_one {
            return Some(1.0);
        }
        let (low, high, start) = if at_one > 0.0 {
            (0.0, 1.0, 1.0 - at_one / slope_at_one)
        } else {
            let (at_end, slope_at_end) = along(self.settings.max_step);
            if at_end <= 0.0 {
                return Some(self.settings.max_step);
            }
            (1.0, self.settings.max_step, self.settings.max_step - at_end / slope_at_end)
        };
        let start = if start > low && start < high { start } else { 0.5 * (low + high) };
        let (step, _) = root::increasing(along, low, high, start, STEP_TOLERANCE);
        (step > 0.0).then_some(step)
    }

    /// The same by backtracking. `inertia` and `curvature` are the derivatives of ½ |v − v*|²_A along the step.
    fn backtrack(
        &self,
        problem: &Problem,
        laws: ShiftedLaws<'_>,
        (inertia, curvature): (f64, f64),
        descent: f64,
    ) -> Option<f64> {
        let constraints = |alpha: f64| -> f64 {
            let potential = |i: usize| {
                let rows = problem.row_range(i);
                let mut at = [0.0; DIM];
                for (at, row) in at.iter_mut().zip(rows.clone()) {
                    *at = self.c[row] + alpha * self.dc[row];
                }
                problem.law(i).relation().potential(&at[..rows.len()], &laws.local_compliance[rows])
            };
            (0..problem.constraints().len()).map(potential).sum()
        };
        let cost = |alpha: f64| alpha * (inertia + 0.5 * alpha * curvature) + constraints(alpha);
        let size = inertia.abs() + curvature + constraints(0.0).abs();
        backtracking::search(cost, descent, size)
    }
}
