//! Semismooth Newton on the exact equations of an augmented Lagrangian step,
//! `r(v) = A v − b − Jᵀ T(J v + s; 1/β + R) = 0` [Lee25, Eq. (20)].
//!
//! T is the exact response, whose slope is not symmetric, so that there is no potential: the
//! merit is `½|D r|²` with D = diag(A)^(−1/2). Two globalisations: damping
//! (Newton direction, halved until the merit decreases; steepest descent of the merit if the
//! direction is none) and a dogleg in a trust region. Alone, neither is robust; ALM adds
//! fallbacks.

use super::{NewtonOutcome, ShiftedLaws, UnsymmetricHessian};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::monitor::Deadline;
use crate::problem::{Problem, dot};

/// How steps are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Globalisation {
    /// Halve the step until the merit decreases.
    Damped,
    /// Powell's dogleg in a trust region.
    Dogleg,
}

/// Settings of semismooth Newton.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrictSettings {
    /// Tolerance on the relative error of momentum [-].
    pub tolerance: f64,
    /// Newton iterations.
    pub max_iterations: usize,
    /// How steps are limited.
    pub globalisation: Globalisation,
}

impl Default for StrictSettings {
    fn default() -> Self {
        Self { tolerance: 1e-11, max_iterations: 20, globalisation: Globalisation::Damped }
    }
}

/// Semismooth Newton on the exact equations.
#[derive(Debug, Default)]
pub struct Strict {
    settings: StrictSettings,
    /// When to stop at the best point so far.
    pub deadline: Deadline,
    hessian: UnsymmetricHessian,
    slopes: Vec<f64>,
    c: Vec<f64>,
    residual: Vec<f64>,
    scaled: Vec<f64>,
    step: Vec<f64>,
    descent: Vec<f64>,
    trial: Vec<f64>,
    trial_lambda: Vec<f64>,
    /// Scratch of the dogleg: the step tried, its linear model, and the residual it starts from.
    direction: Vec<f64>,
    change: Vec<f64>,
    start: Vec<f64>,
    size: f64,
}

/// The equations whose root is sought: a problem, its shifted laws, and D = diag(A)^(−1/2).
#[derive(Clone, Copy)]
struct Equations<'a> {
    problem: &'a Problem,
    laws: ShiftedLaws<'a>,
    scaling: &'a [f64],
}

impl Equations<'_> {
    /// `|D⁻¹ x|`, the length of a velocity in the scaled variable.
    fn length(&self, x: &[f64]) -> f64 {
        x.iter().zip(self.scaling).map(|(x, d)| (x / d).powi(2)).sum::<f64>().sqrt()
    }
}

/// The best point so far: velocity, impulses, and half the scaled square of the residual.
struct Iterate<'a> {
    v: &'a mut [f64],
    lambda: &'a mut [f64],
    merit: f64,
}

/// Armijo's fraction of the predicted decrease.
const ARMIJO: f64 = 1e-4;
/// The shortest step of a line search.
const SHORTEST: f64 = 1e-3;
/// The smallest trust region, relative to the velocity.
const SMALLEST_REGION: f64 = 1e-12;
/// Relative residual of a linear solve beyond which its direction is not used.
const SOLVE_ERROR: f64 = 1e-3;
/// Below this relative residual, an iteration without progress counts as the round-off floor.
const FLOOR: f64 = 1e-8;
/// As many round-off floors count as the floor when no step helps.
const NEAR_FLOOR: f64 = 30.0;

impl Strict {
    /// With settings.
    pub fn new(settings: StrictSettings) -> Self {
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
            (&mut self.residual, n),
            (&mut self.scaled, n),
            (&mut self.step, n),
            (&mut self.descent, n),
            (&mut self.trial, n),
            (&mut self.trial_lambda, m),
            (&mut self.direction, n),
            (&mut self.change, n),
            (&mut self.start, n),
        ] {
            x.clear();
            x.resize(len, 0.0);
        }
    }

    /// Searches a root from `v`; leaves the best point in `v` and its impulses in `lambda`.
    ///
    /// `enough(λ)` \[√J\] is a scaled residual that suffices to the caller at this λ: an outer
    /// loop that is still far away needs no exact inner solution.
    pub fn find(
        &mut self,
        problem: &Problem,
        laws: ShiftedLaws<'_>,
        scaling: &[f64],
        v: &mut [f64],
        lambda: &mut [f64],
        enough: impl Fn(&[f64]) -> f64,
    ) -> NewtonOutcome {
        let equations = Equations { problem, laws, scaling };
        let merit = self.evaluate(equations, v, lambda);
        let mut at = Iterate { v, lambda, merit };
        let mut radius = f64::INFINITY;
        let StrictSettings { tolerance, max_iterations, globalisation } = self.settings;
        for iterations in 0..=max_iterations {
            let error = self.relative_error(at.merit);
            let done = |converged| NewtonOutcome { iterations, converged, error };
            if !error.is_finite() {
                return done(false);
            }
            let (residual, floor) =
                ((2.0 * at.merit).sqrt(), laws.floor(problem, scaling, at.v, at.lambda));
            let good = residual <= floor.max(enough(at.lambda));
            if error <= tolerance || (iterations > 0 && good) {
                return done(true);
            }
            let close = error <= FLOOR || residual <= NEAR_FLOOR * floor;
            if iterations == max_iterations || self.deadline.has_passed() {
                return done(close);
            }
            self.assemble(problem, laws, at.v);
            let newton = self.newton_direction();
            self.steepest_descent(problem, scaling);
            let moved = match globalisation {
                Globalisation::Damped => self.damped(equations, &mut at, newton),
                Globalisation::Dogleg => self.dogleg(equations, &mut at, newton, &mut radius),
            };
            if !moved {
                return done(close);
            }
        }
        NewtonOutcome { iterations: max_iterations, converged: false, error: f64::INFINITY }
    }

    /// Impulses at v, the residual and half its scaled square.
    fn evaluate(&mut self, equations: Equations<'_>, v: &[f64], lambda: &mut [f64]) -> f64 {
        let Equations { problem, laws, scaling } = equations;
        problem.mass().mul(v, &mut self.residual);
        let inertia = scaled_norm(scaling, &self.residual);
        for (r, b) in self.residual.iter_mut().zip(problem.momentum()) {
            *r = b - *r;
        }
        let without = scaled_norm(scaling, &self.residual);
        let mut c = [0.0; DIM];
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let (dim, lambda) = (rows.len(), &mut lambda[rows.clone()]);
            problem.jacobian().mul_constraint(i, v, &mut c[..dim]);
            for (c, s) in c.iter_mut().zip(&laws.shift[rows.clone()]) {
                *c += s;
            }
            let law = problem.law(i);
            law.respond(FrictionModel::Coulomb, &c[..dim], &laws.local_compliance[rows], lambda);
            problem.jacobian().mul_constraint_transposed_add(i, lambda, &mut self.residual);
        }
        // r = A v − b − Jᵀλ.
        for (s, (r, d)) in self.scaled.iter_mut().zip(self.residual.iter_mut().zip(scaling)) {
            *r = -*r;
            *s = d * *r;
        }
        // |b − A v| replaces |Jᵀλ|, which it equals at a root.
        self.size = inertia.max(without);
        0.5 * dot(&self.scaled, &self.scaled)
    }

    fn relative_error(&self, merit: f64) -> f64 {
        if merit == 0.0 { 0.0 } else { (2.0 * merit).sqrt() / self.size.max(f64::MIN_POSITIVE) }
    }

    fn assemble(&mut self, problem: &Problem, laws: ShiftedLaws<'_>, v: &[f64]) {
        problem.jacobian().mul(v, &mut self.c);
        for (c, s) in self.c.iter_mut().zip(laws.shift) {
            *c += s;
        }
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            problem.law(i).slope(
                FrictionModel::Coulomb,
                &self.c[rows.clone()],
                &laws.local_compliance[rows],
                &mut self.slopes[self.hessian.stencil().slope_range(i)],
            );
        }
        self.hessian.assemble(problem, &self.slopes);
    }

    /// `step = −H⁻¹ r`; false if the factorization fails or the solve is inexact.
    fn newton_direction(&mut self) -> bool {
        if !self.hessian.factor() {
            return false;
        }
        let error = self.hessian.solve(&self.residual, &mut self.step);
        for s in &mut self.step {
            *s = -*s;
        }
        error <= SOLVE_ERROR && self.step.iter().all(|s| s.is_finite())
    }

    /// `descent = −∇(½|D r|²)` in the scaled variable x = D⁻¹ v, times D: `−D² Hᵀ D² r`.
    fn steepest_descent(&mut self, problem: &Problem, scaling: &[f64]) {
        for ((t, r), d) in self.trial.iter_mut().zip(&self.residual).zip(scaling) {
            *t = d * d * r;
        }
        problem.mass().mul(&self.trial, &mut self.descent);
        let (mut c, mut g) = ([0.0; DIM], [0.0; DIM]);
        for i in 0..problem.constraints().len() {
            let dim = problem.row_range(i).len();
            problem.jacobian().mul_constraint(i, &self.trial, &mut c[..dim]);
            g[..dim].fill(0.0);
            let slope = &self.slopes[self.hessian.stencil().slope_range(i)];
            for (row, c) in slope.chunks_exact(dim).zip(&c) {
                for (g, s) in g.iter_mut().zip(row) {
                    *g += s * c;
                }
            }
            problem.jacobian().mul_constraint_transposed_add(i, &g[..dim], &mut self.descent);
        }
        for (x, d) in self.descent.iter_mut().zip(scaling) {
            *x *= -d * d;
        }
    }

    /// Directional derivative of the merit along `direction`: `∇·direction`, from the descent
    /// direction `−D²∇` and D.
    fn rate(&self, scaling: &[f64], direction: &[f64]) -> f64 {
        let terms = self.descent.iter().zip(direction).zip(scaling);
        -terms.map(|((g, x), d)| g * x / (d * d)).sum::<f64>()
    }

    /// One damped step: the Newton direction, or steepest descent if there is none, halved until
    /// the merit decreases. False if no step was found.
    fn damped(&mut self, equations: Equations<'_>, at: &mut Iterate<'_>, newton: bool) -> bool {
        let mut direction = std::mem::take(&mut self.step);
        let mut rate = self.rate(equations.scaling, &direction);
        if !newton || !(rate < 0.0) {
            direction.copy_from_slice(&self.descent);
            rate = self.rate(equations.scaling, &direction);
        }
        let mut accepted = None;
        let mut alpha = 1.0;
        while rate < 0.0 && alpha >= SHORTEST {
            let found = self.try_step(equations, at.v, &direction, alpha);
            if found <= at.merit + ARMIJO * alpha * rate {
                accepted = Some(found);
                break;
            }
            alpha *= 0.5;
        }
        self.step = direction;
        accepted.is_some_and(|merit| self.accept(at, merit))
    }

    /// The merit at `v + α direction`, which is left in `trial`.
    fn try_step(
        &mut self,
        equations: Equations<'_>,
        v: &[f64],
        direction: &[f64],
        alpha: f64,
    ) -> f64 {
        for ((t, v), d) in self.trial.iter_mut().zip(v).zip(direction) {
            *t = v + alpha * d;
        }
        let trial = std::mem::take(&mut self.trial);
        let mut lambda = std::mem::take(&mut self.trial_lambda);
        let merit = self.evaluate(equations, &trial, &mut lambda);
        (self.trial, self.trial_lambda) = (trial, lambda);
        merit
    }

    /// Moves the iterate to the last trial, which has this merit.
    fn accept(&self, at: &mut Iterate<'_>, merit: f64) -> bool {
        at.v.copy_from_slice(&self.trial);
        at.lambda.copy_from_slice(&self.trial_lambda);
        at.merit = merit;
        true
    }

    /// One step of Powell's dogleg in the scaled variable. False if no step was found.
    fn dogleg(
        &mut self,
        equations: Equations<'_>,
        at: &mut Iterate<'_>,
        newton: bool,
        radius: &mut f64,
    ) -> bool {
        let Equations { problem, scaling, .. } = equations;
        // Cauchy point: minimiser of the linear model ½|D(r + H s)|² along the descent direction.
        let gradient = equations.length(&self.descent);
        if !(gradient > 0.0) {
            return false;
        }
        let descent = std::mem::take(&mut self.descent);
        self.model_change(problem, scaling, &descent);
        let curvature = dot(&self.change, &self.change);
        let cauchy = if curvature > 0.0 { gradient * gradient / curvature } else { 1.0 };
        if !radius.is_finite() {
            *radius = if newton { equations.length(&self.step) } else { cauchy * gradient };
        }
        self.start.copy_from_slice(&self.scaled);
        let mut direction = std::mem::take(&mut self.direction);
        let mut accepted = None;
        while *radius > SMALLEST_REGION * equations.length(at.v).max(f64::MIN_POSITIVE) {
            let newton_length = equations.length(&self.step);
            if newton && newton_length <= *radius {
                direction.copy_from_slice(&self.step);
            } else if !newton || cauchy * gradient >= *radius {
                let scale = (*radius / gradient).min(cauchy);
                direction.iter_mut().zip(&descent).for_each(|(d, g)| *d = scale * g);
            } else {
                let fraction = self.dogleg_fraction(scaling, &descent, cauchy, *radius);
                for (d, (g, s)) in direction.iter_mut().zip(descent.iter().zip(&self.step)) {
                    *d = cauchy * g + fraction * (s - cauchy * g);
                }
            }
            self.model_change(problem, scaling, &direction);
            let pairs = self.start.iter().zip(&self.change);
            let predicted = 0.5 * pairs.map(|(r, c)| r * r - (r + c).powi(2)).sum::<f64>();
            let found = self.try_step(equations, at.v, &direction, 1.0);
            let ratio = (at.merit - found) / predicted;
            let taken = equations.length(&direction);
            if ratio < 0.25 || !ratio.is_finite() {
                *radius = 0.25 * taken;
            } else if ratio > 0.75 {
                *radius = radius.max(2.0 * taken);
            }
            if ratio > ARMIJO {
                accepted = Some(found);
                break;
            }
        }
        (self.descent, self.direction) = (descent, direction);
        accepted.is_some_and(|merit| self.accept(at, merit))
    }

    /// `change = D H x`: the change of the scaled residual along x, to first order.
    fn model_change(&mut self, problem: &Problem, scaling: &[f64], x: &[f64]) {
        problem.mass().mul(x, &mut self.change);
        let (mut c, mut g) = ([0.0; DIM], [0.0; DIM]);
        for i in 0..problem.constraints().len() {
            let dim = problem.row_range(i).len();
            problem.jacobian().mul_constraint(i, x, &mut c[..dim]);
            let slope = &self.slopes[self.hessian.stencil().slope_range(i)];
            for (row, g) in slope.chunks_exact(dim).zip(&mut g) {
                *g = dot(row, &c);
            }
            problem.jacobian().mul_constraint_transposed_add(i, &g[..dim], &mut self.change);
        }
        self.change.iter_mut().zip(scaling).for_each(|(o, d)| *o *= d);
    }

    /// Fraction of the leg from the Cauchy point to the Newton point that lies in the trust region.
    fn dogleg_fraction(&self, scaling: &[f64], descent: &[f64], cauchy: f64, radius: f64) -> f64 {
        let (mut a, mut b, mut c) = (0.0, 0.0, -radius * radius);
        for ((g, s), d) in descent.iter().zip(&self.step).zip(scaling) {
            let (start, leg) = (cauchy * g / d, (s - cauchy * g) / d);
            a += leg * leg;
            b += 2.0 * start * leg;
            c += start * start;
        }
        let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
        if a > 0.0 { ((root - b) / (2.0 * a)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn scaled_norm(scaling: &[f64], x: &[f64]) -> f64 {
    scaling.iter().zip(x).map(|(d, x)| (d * x).powi(2)).sum::<f64>().sqrt()
}
