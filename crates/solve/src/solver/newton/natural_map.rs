//! Newton's method on the natural map `F(λ) = λ − T(λ − ρ u(λ))`, `u = J A⁻¹(b + Jᵀλ) + e + R∘λ`:
//! the last digits of a solution.
//!
//! The multiplier's steps decide contacts at their own scale `ρ = 1/w`, where a large penalty
//! would drown them in round-off. W = J A⁻¹ Jᵀ is singular whenever contacts are redundant; a
//! small multiple δ of the identity makes the step unique and lets W be eliminated:
//! with `M = (1+δ) I − D + D ρ R`, `G = M⁻¹ D ρ`, `c = M⁻¹ F`, the step is
//! `(A + Jᵀ G J) x = −Jᵀ c`, `s = −c − G J x`. One factorization in velocities per step, on the
//! pattern that [`super::Strict`] uses. Then `A x = Jᵀ s`, so that the velocity along the step is `v + α x`: a trial
//! of the line search costs the local problems alone.

use nalgebra::{Matrix3, Vector3};

use super::UnsymmetricHessian;
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::monitor::Deadline;
use crate::problem::Problem;
use crate::residual::{compliance_scale, velocity};

/// Settings of Newton's method on the natural map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NaturalMapSettings {
    /// δ [-].
    pub regularisation: f64,
    /// Newton iterations.
    pub max_iterations: usize,
}

impl Default for NaturalMapSettings {
    fn default() -> Self {
        Self { regularisation: 1e-8, max_iterations: 10 } // δ: the square root of round-off
    }
}

/// Newton's method on the natural map.
#[derive(Debug, Default)]
pub struct NaturalMap {
    /// Settings.
    pub settings: NaturalMapSettings,
    /// When to stop with the best iterate so far.
    pub deadline: Deadline,
    hessian: UnsymmetricHessian,
    slopes: Vec<f64>,
    map: Vec<f64>,
    reduced: Vec<f64>,
    step: Vec<f64>,
    /// u at the iterate, and its change along the step.
    u: Vec<f64>,
    u_step: Vec<f64>,
    rhs: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
    trial: Vec<f64>,
    /// The iterate with the smallest violation, and its velocity.
    best: Vec<f64>,
    best_v: Vec<f64>,
    history: [f64; LOOK_BACK],
}

/// An iteration must halve the merit within so many iterations.
const LOOK_BACK: usize = 4;
const HALVINGS: usize = 12;
const ARMIJO: f64 = 1e-4;

impl NaturalMap {
    /// Prepares for a problem: sizes and the sparsity of the linear systems.
    pub fn prepare(&mut self, problem: &Problem) {
        self.hessian.prepare(problem);
        let (n, m) = (problem.dofs(), problem.rows());
        self.slopes.clear();
        self.slopes.resize(self.hessian.stencil().slopes(), 0.0);
        for (x, len) in [
            (&mut self.map, m),
            (&mut self.reduced, m),
            (&mut self.step, m),
            (&mut self.u, m),
            (&mut self.u_step, m),
            (&mut self.trial, m),
            (&mut self.best, m),
            (&mut self.rhs, n),
            (&mut self.x, n),
            (&mut self.v, n),
            (&mut self.best_v, n),
        ] {
            x.clear();
            x.resize(len, 0.0);
        }
    }

    /// Improves λ; leaves the iterate with the smallest violation [m/s] and its velocity.
    /// Returns that violation and the number of Newton iterations.
    pub fn polish(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        tolerance: f64,
        v: &mut [f64],
        lambda: &mut [f64],
    ) -> (f64, usize) {
        let (mut merit, mut violation) = self.evaluate(problem, model, lambda);
        let mut smallest = violation;
        self.best.copy_from_slice(lambda);
        self.best_v.copy_from_slice(&self.v);
        let mut done = 0;
        let most = self.settings.max_iterations;
        while done < most && violation > tolerance && !self.deadline.has_passed() {
            self.history[done % LOOK_BACK] = merit;
            if !self.find_step(problem, model, lambda) {
                break;
            }
            done += 1;
            let mut alpha = 1.0;
            let mut accepted = false;
            for _ in 0..HALVINGS {
                for (t, (l, s)) in self.trial.iter_mut().zip(lambda.iter().zip(&self.step)) {
                    *t = l + alpha * s;
                }
                if self.merit_along_step(problem, model, alpha) < (1.0 - ARMIJO * alpha) * merit {
                    accepted = true;
                    break;
                }
                alpha *= 0.5;
            }
            if !accepted {
                break;
            }
            lambda.copy_from_slice(&self.trial);
            // Afresh, so that round-off does not accumulate in the velocity.
            (merit, violation) = self.evaluate(problem, model, lambda);
            if violation < smallest {
                smallest = violation;
                self.best.copy_from_slice(lambda);
                self.best_v.copy_from_slice(&self.v);
            }
            if done >= LOOK_BACK && merit > 0.5 * self.history[done % LOOK_BACK] {
                break;
            }
        }
        lambda.copy_from_slice(&self.best);
        v.copy_from_slice(&self.best_v);
        (smallest, done)
    }

    /// `|√w F(λ)|` \[√J\].
    pub fn merit(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> f64 {
        self.evaluate(problem, model, lambda).0
    }

    /// F(λ) into `map`, its velocity into `v` and u into `u`; the merit `|√w F|` and the largest violation.
    fn evaluate(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> (f64, f64) {
        problem.velocity_of(lambda, &mut self.v);
        let (mut merit, mut largest) = (0.0, 0.0);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            velocity(problem, i, &self.v, lambda, &mut self.u[rows.clone()]);
            let (u, map) = (&self.u[rows.clone()], &mut self.map[rows.clone()]);
            let (w, size) = local_map(problem, model, i, u, &lambda[rows], map);
            merit += w * size;
            largest = f64::max(largest, w * size.sqrt());
        }
        (merit.sqrt(), if merit.is_finite() { largest } else { f64::INFINITY })
    }

    /// The merit at the trial `λ + α s`.
    fn merit_along_step(&self, problem: &Problem, model: FrictionModel, alpha: f64) -> f64 {
        let mut merit = 0.0;
        let (mut u, mut map) = ([0.0; DIM], [0.0; DIM]);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let dim = rows.len();
            let along = self.u[rows.clone()].iter().zip(&self.u_step[rows.clone()]);
            for (u, (start, change)) in u.iter_mut().zip(along) {
                *u = start + alpha * change;
            }
            let lambda = &self.trial[rows];
            let (w, size) = local_map(problem, model, i, &u[..dim], lambda, &mut map[..dim]);
            merit += w * size;
        }
        merit.sqrt()
    }

    /// The Newton step at λ, at which F and the velocity were evaluated last.
    fn find_step(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> bool {
        let delta = self.settings.regularisation;
        self.rhs.fill(0.0);
        let (mut c0, mut S) = ([0.0; DIM], [0.0; DIM * DIM]);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let (dim, w) = (rows.len(), compliance_scale(problem, i));
            let at = self.u[rows.clone()].iter().zip(&lambda[rows.clone()]);
            for (c, (u, l)) in c0.iter_mut().zip(at) {
                *c = u - w * l;
            }
            let law = problem.law(i);
            law.slope(model, &c0[..dim], &[w; DIM][..dim], &mut S[..dim * dim]);
            let (R, F) = (&problem.compliance()[rows.clone()], &self.map[rows.clone()]);
            let slope = &mut self.slopes[self.hessian.stencil().slope_range(i)];
            let reduced = &mut self.reduced[rows];
            if dim == 1 {
                // D = S w, ρ = 1/w.
                let D = S[0] * w;
                let M = 1.0 + delta - D + D * R[0] / w;
                slope[0] = D / (w * M);
                reduced[0] = F[0] / M;
            } else {
                let D = Matrix3::from_row_slice(&S) * w;
                let R = Matrix3::from_diagonal(&Vector3::from_column_slice(R));
                let M = Matrix3::identity() * (1.0 + delta) - D + D * R / w;
                let Some(M_inv) = M.try_inverse() else { return false };
                let G = M_inv * D / w;
                slope.copy_from_slice(G.transpose().as_slice());
                let c = M_inv * Vector3::from_column_slice(F);
                reduced.copy_from_slice(c.as_slice());
            }
            problem.jacobian().mul_constraint_transposed_add(i, reduced, &mut self.rhs);
        }
        self.hessian.assemble(problem, &self.slopes);
        if !self.hessian.factor() {
            return false;
        }
        self.rhs.iter_mut().for_each(|r| *r = -*r);
        if !self.hessian.solve(&self.rhs, &mut self.x).is_finite() {
            return false;
        }
        let mut c = [0.0; DIM];
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let dim = rows.len();
            problem.jacobian().mul_constraint(i, &self.x, &mut c[..dim]);
            let slope = &self.slopes[self.hessian.stencil().slope_range(i)];
            for (k, row) in rows.enumerate() {
                let step =
                    -self.reduced[row] - crate::problem::dot(&slope[k * dim..(k + 1) * dim], &c);
                self.step[row] = step;
                self.u_step[row] = c[k] + problem.compliance()[row] * step;
            }
        }
        self.step.iter().all(|s| s.is_finite())
    }
}

/// `F_i = λ_i − T(λ_i − ρ u_i)` of one constraint into `map`; its scale w, and `|F_i|²`.
#[inline(always)]
fn local_map(
    problem: &Problem,
    model: FrictionModel,
    constraint: usize,
    u: &[f64],
    lambda: &[f64],
    map: &mut [f64],
) -> (f64, f64) {
    let (dim, w) = (lambda.len(), compliance_scale(problem, constraint));
    let (mut c0, mut response) = ([0.0; DIM], [0.0; DIM]);
    for (c, (u, l)) in c0.iter_mut().zip(u.iter().zip(lambda)) {
        *c = u - w * l;
    }
    let law = problem.law(constraint);
    law.respond(model, &c0[..dim], &[w; DIM][..dim], &mut response[..dim]);
    let mut size = 0.0;
    for ((map, l), r) in map.iter_mut().zip(lambda).zip(response) {
        *map = l - r;
        size += *map * *map;
    }
    (w, size)
}
