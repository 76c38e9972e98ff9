//! Newton's method and sweeps on the impulses of small problems, with the Delassus operator as a dense matrix.
//!
//! A robot on the floor has a few dozen rows. With `Y = J F⁻ᵀ`, `A = F Fᵀ`, the operator is `W = Y Yᵀ + R`, and neither sweeps
//! nor Newton steps touch the velocities. The equations are those of the natural map
//! `F(λ) = λ − T(λ − ρ u)` of [`super::NaturalMap`], `u = W λ + q`, `ρ = 1/w`; [`contact_step`](super::contact_step) finds the Newton
//! steps. W itself is formed where there are fewer rows than velocities; else products with Y are cheaper.
//!
//! W is singular whenever contacts are redundant, as under a foot. The regularisation δ then decides the step: a small one
//! follows the null space
//! of W as far as it takes, where other contacts change. It is chosen as in the method of Levenberg and Marquardt: small at
//! first, large after only a part of a step or none decreased the merit `|√w F|`, and small again at the end. Where even a
//! large one does not help, sweeps of projected Gauss-Seidel look for other contacts that stick, slide or open.
//!
//! For problems with a tree; sweeps over free bodies are cheaper without W.

use stiction_math::simd;

use super::contact_step::StepMemory;
use super::dense::{Gram, Product, TransposedProduct, dot};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::monitor::Deadline;
use crate::problem::{Problem, Root, SubsystemId};
use crate::residual::compliance_scale;
use crate::solver::newton::Damping;

/// Largest number of entries of Y for one tree, of rows for several subsystems, whose sparsity is lost, and of velocities.
const MAX_ENTRIES: usize = 20_000;
const MAX_ROWS: usize = 72;
const MAX_VELOCITIES: usize = 160;
const ARMIJO: f64 = 1e-4;
const HALVINGS: usize = 4;
/// An iteration is slow if it leaves more than this part of the violation; after a slow one, a violation that suffices is not
/// improved any more.
const SLOW: f64 = 0.5;
/// Sweeps where a step fails, at first; doubled each time.
const SWEEPS: usize = 10;
const MAX_SWEEPS: usize = 40;

/// Y, W and q of a problem, and the work memory of its solution.
#[derive(Debug, Default)]
pub(super) struct ContactSpace {
    /// `Y = J F⁻ᵀ` for `A = F Fᵀ`, row-major.
    pub(super) Y: Vec<f64>,
    /// `W = Y Yᵀ + R`, row-major; empty where there are more rows than velocities.
    pub(super) W: Vec<f64>,
    /// Per constraint: 1/ρ, and a bound of the eigenvalues of its block of W.
    pub(super) scale: Vec<f64>,
    bound: Vec<f64>,
    pub(super) u: Vec<f64>,
    u_step: Vec<f64>,
    pub(super) map: Vec<f64>,
    pub(super) step: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    /// Yᵀ times impulses.
    pub(super) image: Vec<f64>,
    pub(super) memory: StepMemory,
    four: Vec<[f64; 4]>,
    pub(super) damping: Damping,
    /// When to stop with the best impulses so far.
    pub(super) deadline: Deadline,
}

impl ContactSpace {
    /// Prepares for a problem; false if it is too large or of another kind.
    pub fn prepare(&mut self, problem: &Problem) -> bool {
        let (m, n) = (problem.rows(), problem.dofs());
        let (jacobian, mass) = (problem.jacobian(), problem.mass());
        let has_tree = (0..mass.subsystems()).any(|s| mass.tree(SubsystemId(s)).is_some());
        let is_small = if mass.subsystems() == 1 { m * n <= MAX_ENTRIES } else { m <= MAX_ROWS };
        if !is_small || n > MAX_VELOCITIES || !has_tree || problem.is_large() {
            return false;
        }
        jacobian.write_dense(&mut self.Y, n);
        if mass.subsystems() == 1 {
            // All rows at once.
            let (Y, four) = (&mut self.Y, &mut self.four);
            if !mass.divide_rows(SubsystemId(0), Root::Mass, Y, n, four) {
                return false;
            }
        } else if !self.divide_by_constraint(problem) {
            return false;
        }
        self.find_scales(problem);
        self.image.clear();
        self.image.resize(n, 0.0);
        for x in [&mut self.u, &mut self.u_step, &mut self.map, &mut self.step] {
            x.clear();
            x.resize(m, 0.0);
        }
        for x in [&mut self.trial, &mut self.best] {
            x.clear();
            x.resize(m, 0.0);
        }
        true
    }

    /// `Y ← Y F⁻ᵀ` constraint by constraint; false if a subsystem has no such factor.
    fn divide_by_constraint(&mut self, problem: &Problem) -> bool {
        let (jacobian, mass, n) = (problem.jacobian(), problem.mass(), problem.dofs());
        for i in 0..problem.constraints().len() {
            let mut last = None;
            for entry in jacobian.constraint_entries(i) {
                let subsystem = mass.subsystem_of(entry.block as usize);
                if last.replace(subsystem) == Some(subsystem) {
                    continue;
                }
                let (dofs, rows) = (mass.dofs(subsystem), jacobian.row_range(i));
                let rows = &mut self.Y[rows.start * n + dofs.start..rows.end * n];
                if !mass.divide_rows(subsystem, Root::Mass, rows, n, &mut self.four) {
                    return false;
                }
            }
        }
        true
    }

    /// W, if it is formed, and the scales of the constraints.
    fn find_scales(&mut self, problem: &Problem) {
        let (m, n) = (problem.rows(), problem.dofs());
        self.W.clear();
        if m <= n {
            self.W.resize(m * m, 0.0);
            simd::dispatch(Gram { half: &self.Y, n, W: &mut self.W });
            for (k, R) in problem.compliance().iter().enumerate() {
                self.W[k * (m + 1)] += R;
            }
        }
        self.scale.clear();
        self.scale.extend((0..problem.constraints().len()).map(|i| compliance_scale(problem, i)));
        simd::dispatch(Bounds { problem, Y: &self.Y, scale: &self.scale, out: &mut self.bound });
    }

    /// Improves λ until no law is violated by more than `aim` [m/s], or than `tolerance` and progress is slow. Returns the violation that is left and the
    /// number of Newton iterations; λ is the iterate with the smallest violation.
    pub fn improve(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        [aim, tolerance]: [f64; 2],
        max_iterations: usize,
        lambda: &mut [f64],
    ) -> (f64, usize) {
        self.multiply_impulses(problem, lambda);
        let (mut merit, mut violation) = self.evaluate(problem, model, lambda);
        let mut smallest = violation;
        self.best.copy_from_slice(lambda);
        self.damping = Damping::default();
        let (mut iterations, mut sweeps) = (0, SWEEPS);
        while iterations < max_iterations && !(violation <= aim || self.deadline.has_passed()) {
            iterations += 1;
            let found = self.find_step(problem, model, lambda);
            let part = if found { self.search_line(problem, model, merit, lambda) } else { 0.0 };
            if part == 0.0 && self.damping.is_largest() {
                if sweeps > MAX_SWEEPS {
                    break;
                }
                self.sweep(problem, model, sweeps, lambda);
                sweeps *= 2;
                self.damping = Damping::default();
            } else {
                self.damping.update(part);
            }
            let before = violation;
            self.multiply_impulses(problem, lambda);
            (merit, violation) = self.evaluate(problem, model, lambda);
            if violation < smallest {
                smallest = violation;
                self.best.copy_from_slice(lambda);
            }
            if smallest <= tolerance && violation > SLOW * before {
                break;
            }
        }
        lambda.copy_from_slice(&self.best);
        (smallest, iterations)
    }

    /// `u = W λ + q`.
    fn multiply_impulses(&mut self, problem: &Problem, lambda: &[f64]) {
        let mut u = std::mem::take(&mut self.u);
        self.multiply(problem, lambda, &mut u);
        u.iter_mut().zip(problem.free_rows()).for_each(|(u, q)| *u += q);
        self.u = u;
    }

    /// `out = W x`.
    fn multiply(&mut self, problem: &Problem, x: &[f64], out: &mut [f64]) {
        if !self.W.is_empty() {
            return simd::dispatch(Product { W: &self.W, x, out });
        }
        simd::dispatch(TransposedProduct { W: &self.Y, x, out: &mut self.image });
        simd::dispatch(Product { W: &self.Y, x: &self.image, out });
        for ((out, x), R) in out.iter_mut().zip(x).zip(problem.compliance()) {
            *out += R * x;
        }
    }

    /// F at λ and u into `map`; the merit `|√w F|²` and the largest violation.
    fn evaluate(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> (f64, f64) {
        let (mut merit, mut largest) = (0.0, 0.0);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let w = self.scale[i];
            let (u, map) = (&self.u[rows.clone()], &mut self.map[rows.clone()]);
            let size = local_map(problem, model, (i, w), u, &lambda[rows], map);
            merit += w * size;
            largest = f64::max(largest, w * size.sqrt());
        }
        (merit, if merit.is_finite() { largest } else { f64::INFINITY })
    }

    /// Moves λ along the step as far as the merit decreases, and returns the part of the step; zero if it does not.
    fn search_line(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        merit: f64,
        lambda: &mut [f64],
    ) -> f64 {
        let (step, mut u_step) = (std::mem::take(&mut self.step), std::mem::take(&mut self.u_step));
        self.multiply(problem, &step, &mut u_step);
        (self.step, self.u_step) = (step, u_step);
        let mut alpha = 1.0;
        for _ in 0..HALVINGS {
            for (t, (l, s)) in self.trial.iter_mut().zip(lambda.iter().zip(&self.step)) {
                *t = l + alpha * s;
            }
            if self.merit_along_step(problem, model, alpha) < (1.0 - ARMIJO * alpha) * merit {
                lambda.copy_from_slice(&self.trial);
                return alpha;
            }
            alpha *= 0.5;
        }
        0.0
    }

    fn merit_along_step(&self, problem: &Problem, model: FrictionModel, alpha: f64) -> f64 {
        let mut merit = 0.0;
        let (mut u, mut map) = ([0.0; DIM], [0.0; DIM]);
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let dim = rows.len();
            let along = self.u[rows.clone()].iter().zip(&self.u_step[rows.clone()]);
            u.iter_mut().zip(along).for_each(|(u, (start, change))| *u = start + alpha * change);
            let w = self.scale[i];
            let lambda = &self.trial[rows];
            merit += w * local_map(problem, model, (i, w), &u[..dim], lambda, &mut map[..dim]);
        }
        merit
    }

    /// Sweeps of projected Gauss-Seidel with step sizes at which every contact alone converges.
    fn sweep(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        sweeps: usize,
        lambda: &mut [f64],
    ) {
        let q = problem.free_rows();
        simd::dispatch(Sweep { space: self, problem, model, sweeps, q, lambda });
    }
}

/// `F_i` of one constraint into `map`; its square.
#[inline(always)]
fn local_map(
    problem: &Problem,
    model: FrictionModel,
    (constraint, w): (usize, f64),
    u: &[f64],
    lambda: &[f64],
    map: &mut [f64],
) -> f64 {
    let dim = lambda.len();
    let (mut c0, mut response) = ([0.0; DIM], [0.0; DIM]);
    c0.iter_mut().zip(u.iter().zip(lambda)).for_each(|(c, (u, l))| *c = u - w * l);
    let law = problem.law(constraint);
    law.respond(model, &c0[..dim], &[w; DIM][..dim], &mut response[..dim]);
    let mut size = 0.0;
    for ((map, l), r) in map.iter_mut().zip(lambda).zip(response) {
        *map = l - r;
        size += *map * *map;
    }
    size
}

/// Bounds of the eigenvalues of the diagonal blocks of W.
struct Bounds<'a> {
    problem: &'a Problem,
    Y: &'a [f64],
    scale: &'a [f64],
    out: &'a mut Vec<f64>,
}

impl simd::Job for Bounds<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, Y, scale, out } = self;
        let (n, compliance) = (problem.dofs(), problem.compliance());
        out.clear();
        for (i, scale) in scale.iter().enumerate() {
            let rows = problem.row_range(i);
            // The largest sum of magnitudes of a row bounds the eigenvalues [Gershgorin].
            let mut bound = 0.0;
            for a in rows.clone() {
                let mut sum = compliance[a];
                for b in rows.clone() {
                    sum += dot(&Y[a * n..(a + 1) * n], &Y[b * n..(b + 1) * n]).abs();
                }
                bound = f64::max(bound, sum);
            }
            out.push(if bound > 0.0 { bound } else { *scale });
        }
    }
}

struct Sweep<'a> {
    space: &'a mut ContactSpace,
    problem: &'a Problem,
    model: FrictionModel,
    sweeps: usize,
    q: &'a [f64],
    lambda: &'a mut [f64],
}

impl simd::Job for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { space, problem, model, sweeps, q, lambda } = self;
        // The image Yᵀ λ follows λ, so that a row costs as many products as there are velocities.
        let n = space.image.len();
        TransposedProduct { W: &space.Y, x: lambda, out: &mut space.image }.run();
        for _ in 0..sweeps {
            for i in 0..problem.constraints().len() {
                let (rows, r) = (problem.row_range(i), space.bound[i]);
                let dim = rows.len();
                let (mut c0, mut response) = ([0.0; DIM], [0.0; DIM]);
                for (c, row) in c0.iter_mut().zip(rows.clone()) {
                    let Y = &space.Y[row * n..(row + 1) * n];
                    let R = problem.compliance()[row];
                    *c = dot(Y, &space.image) + q[row] + (R - r) * lambda[row];
                }
                let law = problem.law(i);
                law.respond(model, &c0[..dim], &[r; DIM][..dim], &mut response[..dim]);
                for (row, next) in rows.zip(&response[..dim]) {
                    let change = next - lambda[row];
                    lambda[row] = *next;
                    let Y = &space.Y[row * n..(row + 1) * n];
                    space.image.iter_mut().zip(Y).for_each(|(z, y)| *z = change.mul_add(*y, *z));
                }
            }
        }
    }
}
