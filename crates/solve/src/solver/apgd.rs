//! APGD: accelerated projected gradient descent on the impulses \[Mazhar15\].
//!
//! Convex friction only, no matrix: one product with J, A⁻¹ and Jᵀ per trial step. Gradients at the
//! extrapolated point follow from those at iterates by linearity and are refreshed before
//! round-off accumulates. Momentum restarts when it points uphill.
//!
//! Deviations: the step is accepted by `dᵀN d ≤ L dᵀd`, which equals the test of objectives for a
//! quadratic and does not cancel; the residual is the projected gradient step of length 1/L; and
//! unknowns are scaled by √w_i, uniform in a contact so that its cone stays a cone.

use super::sweep::due;
use super::{Solver, dual};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::{Problem, dot};
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;

/// Doublings of the Lipschitz estimate in one iteration.
const BACKTRACK_LIMIT: usize = 100;

/// Settings of APGD.
#[derive(Clone, Debug, PartialEq)]
pub struct ApgdSettings {
    /// Whether unknowns are scaled by √w.
    pub precondition: bool,
    /// Whether momentum that points uphill is dropped.
    pub restart: bool,
    /// Factor on the Lipschitz estimate after each iteration [-].
    pub relaxation: f64,
    /// Gradient steps.
    pub max_iterations: usize,
}

impl Default for ApgdSettings {
    fn default() -> Self {
        Self {
            precondition: true,
            restart: true,   // [Mazhar15]
            relaxation: 0.9, // [Mazhar15]
            max_iterations: 2000,
        }
    }
}

setting_table!(
    ApgdSettings,
    "solver 'apgd'",
    [
        ("precondition", precondition, "", SettingRange::ANY, "scale unknowns by √w"),
        ("restart", restart, "", SettingRange::ANY, "drop momentum that points uphill"),
        (
            "relaxation",
            relaxation,
            "-",
            SettingRange::POSITIVE,
            "factor on the Lipschitz estimate after each iteration"
        ),
        ("max-iterations", max_iterations, "", SettingRange::ANY, "gradient steps"),
    ]
);

/// Accelerated projected gradient descent.
#[derive(Default)]
pub struct Apgd {
    settings: ApgdSettings,
    compliance: Vec<f64>,
    /// s_i per row: unknowns are x = s∘λ.
    scale: Vec<f64>,
    /// Gradient at zero, scaled.
    q: Vec<f64>,
    x: Vec<f64>,
    x_next: Vec<f64>,
    y: Vec<f64>,
    d: Vec<f64>,
    /// N times x, x_next, y and d.
    Nx: Vec<f64>,
    Nx_next: Vec<f64>,
    Ny: Vec<f64>,
    Nd: Vec<f64>,
    gradient: Vec<f64>,
    best: Vec<f64>,
    trial: Vec<f64>,
    rows: Vec<f64>,
    velocities: Vec<f64>,
}

/// `x_i ← s_i P(x_i / s_i)` for every constraint.
fn project(problem: &Problem, scale: &[f64], x: &mut [f64]) {
    for i in 0..problem.constraints().len() {
        let rows = problem.row_range(i);
        let s = scale[rows.start];
        let x = &mut x[rows];
        x.iter_mut().for_each(|x| *x /= s);
        dual::project(problem.law(i), x);
        x.iter_mut().for_each(|x| *x *= s);
    }
}

/// `out = N x`, N = S⁻¹ (W + R) S⁻¹.
fn product(
    problem: &Problem,
    (compliance, scale): (&[f64], &[f64]),
    x: &[f64],
    (rows, velocities): (&mut [f64], &mut [f64]),
    out: &mut [f64],
) {
    for (r, (x, s)) in rows.iter_mut().zip(x.iter().zip(scale)) {
        *r = x / s;
    }
    dual::multiply(problem, compliance, rows, velocities, out);
    for (out, s) in out.iter_mut().zip(scale) {
        *out /= s;
    }
}

impl Apgd {
    fn prepare(&mut self, problem: &Problem, impulse: &[f64]) {
        let m = problem.rows();
        dual::compliance(problem, &mut self.compliance);
        for x in [
            &mut self.scale,
            &mut self.q,
            &mut self.x,
            &mut self.x_next,
            &mut self.y,
            &mut self.d,
            &mut self.Nx,
            &mut self.Nx_next,
            &mut self.Ny,
            &mut self.Nd,
            &mut self.gradient,
            &mut self.best,
            &mut self.trial,
            &mut self.rows,
        ] {
            x.clear();
            x.resize(m, 0.0);
        }
        self.velocities.clear();
        self.velocities.resize(problem.dofs(), 0.0);
        for i in 0..problem.constraints().len() {
            let s = if self.settings.precondition { dual::scale(problem, i).sqrt() } else { 1.0 };
            self.scale[problem.row_range(i)].fill(s);
        }
        problem.constraint_velocity(problem.free_velocity(), &mut self.q);
        for (q, s) in self.q.iter_mut().zip(&self.scale) {
            *q /= s;
        }
        for (x, (l, s)) in self.x.iter_mut().zip(impulse.iter().zip(&self.scale)) {
            *x = l * s;
        }
        project(problem, &self.scale, &mut self.x);
        self.best.copy_from_slice(&self.x);
    }

    /// N x and N y from scratch.
    fn refresh(&mut self, problem: &Problem) {
        let form = (self.compliance.as_slice(), self.scale.as_slice());
        for (x, out) in [(&self.x, &mut self.Nx), (&self.y, &mut self.Ny)] {
            product(problem, form, x, (&mut self.rows, &mut self.velocities), out);
        }
    }

    /// The first estimate of the Lipschitz constant, `|N (x₀ − 1)| / |x₀ − 1|`.
    fn first_lipschitz(&mut self, problem: &Problem) -> f64 {
        for (d, x) in self.d.iter_mut().zip(&self.x) {
            *d = x - 1.0;
        }
        let form = (self.compliance.as_slice(), self.scale.as_slice());
        product(problem, form, &self.d, (&mut self.rows, &mut self.velocities), &mut self.Nd);
        let L = (dot(&self.Nd, &self.Nd) / dot(&self.d, &self.d)).sqrt();
        if L.is_finite() && L > 0.0 { L } else { 1.0 }
    }

    /// Steps from y to x_next, raising L until the quadratic model holds.
    fn step(&mut self, problem: &Problem, L: &mut f64) {
        for (g, (n, q)) in self.gradient.iter_mut().zip(self.Ny.iter().zip(&self.q)) {
            *g = n + q;
        }
        for _ in 0..BACKTRACK_LIMIT {
            for (x, (y, g)) in self.x_next.iter_mut().zip(self.y.iter().zip(&self.gradient)) {
                *x = y - g / *L;
            }
            project(problem, &self.scale, &mut self.x_next);
            for (d, (x, y)) in self.d.iter_mut().zip(self.x_next.iter().zip(&self.y)) {
                *d = x - y;
            }
            let form = (self.compliance.as_slice(), self.scale.as_slice());
            product(problem, form, &self.d, (&mut self.rows, &mut self.velocities), &mut self.Nd);
            if dot(&self.d, &self.Nd) <= *L * dot(&self.d, &self.d) {
                break;
            }
            *L *= 2.0;
        }
        for (n, (y, d)) in self.Nx_next.iter_mut().zip(self.Ny.iter().zip(&self.Nd)) {
            *n = y + d;
        }
    }

    /// `L |x − P(x − ∇/L)|` at x_next.
    fn residual(&mut self, problem: &Problem, L: f64) -> f64 {
        for (t, (x, (n, q))) in
            self.trial.iter_mut().zip(self.x_next.iter().zip(self.Nx_next.iter().zip(&self.q)))
        {
            *t = x - (n + q) / L;
        }
        project(problem, &self.scale, &mut self.trial);
        let square = |(x, t): (&f64, &f64)| (x - t).powi(2);
        L * self.x_next.iter().zip(&self.trial).map(square).sum::<f64>().sqrt()
    }

    /// Moves on to x_next and extrapolates by `beta`.
    fn extrapolate(&mut self, beta: f64) {
        for k in 0..self.x.len() {
            self.y[k] = self.x_next[k] + beta * (self.x_next[k] - self.x[k]);
            self.Ny[k] = self.Nx_next[k] + beta * (self.Nx_next[k] - self.Nx[k]);
        }
        std::mem::swap(&mut self.x, &mut self.x_next);
        std::mem::swap(&mut self.Nx, &mut self.Nx_next);
    }

    fn measure_best(
        &self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Verdict {
        for (l, (x, s)) in solution.impulse.iter_mut().zip(self.best.iter().zip(&self.scale)) {
            *l = x / s;
        }
        problem.velocity_of(&solution.impulse, &mut solution.velocity);
        monitor.observe(problem, &solution.velocity, &solution.impulse)
    }
}

impl Solver for Apgd {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        1.0 // every product with W solves with A
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.prepare(problem, &solution.impulse);
        if let Verdict::Stop(status) = self.measure_best(problem, monitor, solution) {
            return status;
        }
        self.y.copy_from_slice(&self.x);
        let mut L = self.first_lipschitz(problem);
        self.refresh(problem);
        let (mut theta, mut least) = (1.0_f64, f64::INFINITY);
        let limit = monitor.iteration_limit(self.settings.max_iterations);
        for iteration in 1..=limit {
            self.step(problem, &mut L);
            monitor.count(1);
            let residual = self.residual(problem, L);
            if !residual.is_finite() {
                return Status::Failed;
            }
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&self.x_next);
            }
            let at_rest = residual == 0.0;
            let measured = due(iteration) || at_rest || iteration == limit;
            if measured && let Verdict::Stop(status) = self.measure_best(problem, monitor, solution)
            {
                return status;
            }
            if at_rest {
                return Status::Stalled;
            }
            let next = 0.5 * theta * ((theta * theta + 4.0).sqrt() - theta);
            let beta = theta * (1.0 - theta) / (theta * theta + next);
            let uphill: f64 =
                (0..self.x.len()).map(|k| self.gradient[k] * (self.x_next[k] - self.x[k])).sum();
            if self.settings.restart && uphill > 0.0 {
                self.extrapolate(0.0);
                theta = 1.0;
            } else {
                self.extrapolate(beta);
                theta = next;
            }
            if due(iteration) {
                self.refresh(problem);
            }
            L *= self.settings.relaxation;
        }
        Status::IterationLimit
    }
}
