//! Newton's method and sweeps on the impulses of small problems, with the Delassus operator as a dense matrix.
//!
//! A robot on the floor has a few dozen rows. With `Y = J F⁻ᵀ`, `A = F Fᵀ`, the operator is `W = Y Yᵀ + R`, and neither sweeps
//! nor Newton steps touch the velocities. The equations are those of the natural map
//! `F(λ) = λ − T(λ − ρ u)` of [`super::NaturalMap`], `u = W λ + q`, `ρ = 1/w`; [`contact_step`](super::contact_step) finds the Newton
//! steps. W itself is formed where there are fewer rows than velocities; else products with Y are cheaper. Rows of linear
//! laws are eliminated beforehand ([`linear_rows`](super::linear_rows)).
//!
//! W is singular whenever contacts are redundant, as under a foot. The regularisation δ then decides the step: a small one
//! follows the null space
//! of W as far as it takes, where other contacts change. It is chosen as in the method of Levenberg and Marquardt: small at
//! first, large after only a part of a step or none decreased the merit `|√w F|`, and small again at the end. Sweeps of
//! projected Gauss-Seidel after such a step look for other contacts that stick, slide or open.
//!
//! F is nearly linear as long as no contact changes between these, so that a full step may find the contacts of the solution and
//! still increase the merit: a few such steps are taken in every solve.
//!
//! For problems with a tree or a linear law; sweeps over free bodies in contact are cheaper without W.

use std::ops::Range;

use stiction_math::branch::FourRows;
use stiction_math::simd;
use stiction_math::vector::dot;

use super::contact_step::StepMemory;
use super::dense::{Product, TransposedProduct};
use super::linear_rows::{LinearRows, is_linear};
use crate::contact::DIM;
use crate::law::{FrictionModel, Law};
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
/// A part of a step this short is followed by sweeps [-].
const SHORT: f64 = 0.3;
/// An iteration is slow if it leaves more than this part of the violation; after a slow one, a violation that suffices is not
/// improved any more.
const SLOW: f64 = 0.5;
/// Full steps of one solve that may increase the merit, and up to which multiple of the first one.
const RELAXED_STEPS: usize = 6;
const RELAXED_MERIT: f64 = 10.0;
/// Sweeps after a short step; where the largest δ does not help, doubled each time.
const SWEEPS: usize = 10;
const MAX_SWEEPS: usize = 40;

/// Y, W and q of a problem, and the work memory of its solution.
#[derive(Debug, Default)]
pub(super) struct ContactSpace {
    /// `Y = J F⁻ᵀ` for `A = F Fᵀ`, row-major.
    pub(super) Y: Vec<f64>,
    /// Length of its rows: the number of velocities, and zeros up to a multiple of four.
    pub(super) width: usize,
    /// `W = Y Yᵀ + R` of the rows that are kept, row-major; empty where products with Y are cheaper, and all are kept.
    pub(super) W: Vec<f64>,
    /// The constraints that are not eliminated.
    pub(super) kept: Vec<KeptConstraint>,
    linear: LinearRows,
    /// q and λ of the rows that are kept.
    q: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) u: Vec<f64>,
    u_step: Vec<f64>,
    pub(super) map: Vec<f64>,
    pub(super) step: Vec<f64>,
    /// λ and u at the start of a line search.
    lambda_start: Vec<f64>,
    u_start: Vec<f64>,
    best: Vec<f64>,
    /// Merit and largest violation at λ, if F has been evaluated there already.
    evaluated: Option<(f64, f64)>,
    /// Whether the bounds of the constraints are known; only sweeps need them.
    has_bounds: bool,
    /// Yᵀ times impulses.
    pub(super) image: Vec<f64>,
    pub(super) memory: StepMemory,
    four: FourRows,
    pub(super) damping: Damping,
    /// When to stop with the best impulses so far.
    pub(super) deadline: Deadline,
}

/// A constraint of the problem that is solved for.
#[derive(Clone, Debug)]
pub(super) struct KeptConstraint {
    /// In the problem.
    pub index: usize,
    /// Among the rows that are kept.
    pub rows: Range<usize>,
    /// 1/ρ, and a bound of the eigenvalues of its block of W.
    pub scale: f64,
    bound: f64,
}

impl ContactSpace {
    /// Whether a problem is small, and of the kind for which this pays.
    pub fn is_suited(problem: &Problem) -> bool {
        let (m, n, mass) = (problem.rows(), problem.dofs(), problem.mass());
        let pays = mass.has_tree()
            || problem.constraints().iter().any(|constraint| is_linear(&constraint.law));
        let is_small = if mass.subsystems() == 1 { m * n <= MAX_ENTRIES } else { m <= MAX_ROWS };
        is_small && n <= MAX_VELOCITIES && pays && !problem.is_large()
    }

    /// Prepares for a problem; false if it is too large or of another kind.
    pub fn prepare(&mut self, problem: &Problem) -> bool {
        if !Self::is_suited(problem) {
            return false;
        }
        let (n, jacobian, mass) = (problem.dofs(), problem.jacobian(), problem.mass());
        self.width = n.next_multiple_of(4);
        jacobian.write_dense(&mut self.Y, self.width);
        if mass.subsystems() == 1 {
            // All rows at once.
            let (Y, four) = (&mut self.Y, &mut self.four);
            if !mass.divide_rows(SubsystemId(0), Root::Mass, Y, self.width, four) {
                return false;
            }
        } else if !self.divide_by_constraint(problem) {
            return false;
        }
        self.keep_rows(problem);
        (self.has_bounds, self.evaluated) = (false, None);
        let m = self.q.len();
        self.image.clear();
        self.image.resize(self.width, 0.0);
        for x in [&mut self.u, &mut self.u_step, &mut self.map, &mut self.step] {
            x.clear();
            x.resize(m, 0.0);
        }
        for x in [&mut self.lambda_start, &mut self.u_start, &mut self.best, &mut self.lambda] {
            x.clear();
            x.resize(m, 0.0);
        }
        true
    }

    /// `Y ← Y F⁻ᵀ` constraint by constraint; false if a subsystem has no such factor.
    fn divide_by_constraint(&mut self, problem: &Problem) -> bool {
        let (jacobian, mass, width) = (problem.jacobian(), problem.mass(), self.width);
        for i in 0..problem.constraints().len() {
            let mut last = None;
            for entry in jacobian.constraint_entries(i) {
                let subsystem = mass.subsystem_of(entry.block as usize);
                if last.replace(subsystem) == Some(subsystem) {
                    continue;
                }
                let (dofs, rows) = (mass.dofs(subsystem), jacobian.row_range(i));
                let rows = &mut self.Y[rows.start * width + dofs.start..rows.end * width];
                if !mass.divide_rows(subsystem, Root::Mass, rows, width, &mut self.four) {
                    return false;
                }
            }
        }
        true
    }

    /// Eliminates the rows of linear laws; the constraints that are left, their q, and W if it is formed.
    fn keep_rows(&mut self, problem: &Problem) {
        let Self { Y, width, W, kept, linear, q, .. } = self;
        let is_eliminated = linear.eliminate(problem, (Y, *width), W, q);
        if !is_eliminated {
            q.clear();
            q.extend_from_slice(problem.free_rows());
        }
        kept.clear();
        let mut first = 0;
        for (index, constraint) in problem.constraints().iter().enumerate() {
            if is_eliminated && is_linear(&constraint.law) {
                continue;
            }
            let rows = first..first + constraint.rows().len();
            first = rows.end;
            let scale = compliance_scale(problem, index);
            kept.push(KeptConstraint { index, rows, scale, bound: scale });
        }
    }

    /// Exchanges two guesses of λ if the second has the smaller merit, or if no law is violated at it by more than `near` [m/s].
    pub fn choose(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        near: f64,
        [first, second]: [&mut Vec<f64>; 2],
    ) {
        let other = self.evaluate_at(problem, model, second);
        if other.1 <= near {
            std::mem::swap(first, second);
            self.evaluated = Some(other);
            return;
        }
        let own = self.evaluate_at(problem, model, first);
        self.evaluated = Some(own);
        if other.0 < own.0 {
            std::mem::swap(first, second);
            self.evaluated = None;
        }
    }

    /// Sets λ and evaluates F there: the merit and the largest violation.
    fn evaluate_at(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        lambda: &[f64],
    ) -> (f64, f64) {
        self.linear.gather(lambda, &mut self.lambda);
        self.multiply_impulses(problem);
        self.evaluate(problem, model)
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
        let evaluated = self.evaluated.take();
        let (mut merit, mut violation) =
            evaluated.unwrap_or_else(|| self.evaluate_at(problem, model, lambda));
        let mut smallest = violation;
        self.best.copy_from_slice(&self.lambda);
        self.damping = Damping::default();
        let (mut iterations, mut sweeps) = (0, SWEEPS);
        let (mut relaxed, largest_merit) = (RELAXED_STEPS, RELAXED_MERIT * merit);
        while iterations < max_iterations && !(violation <= aim || self.deadline.has_passed()) {
            iterations += 1;
            let found = self.find_step(problem, model);
            let most = if relaxed > 0 { largest_merit } else { 0.0 };
            let before = (merit, violation);
            let accepted =
                if found { self.search_line(problem, model, [merit, most]) } else { None };
            let part = accepted.map_or(0.0, |(part, _)| part);
            let is_stuck = part == 0.0 && self.damping.is_largest();
            if is_stuck && sweeps > MAX_SWEEPS {
                break;
            }
            if is_stuck {
                self.sweep(problem, model, sweeps);
                sweeps *= 2;
                self.damping = Damping::default();
            } else {
                self.damping.update(part);
                if part < SHORT {
                    self.sweep(problem, model, SWEEPS);
                }
            }
            match accepted {
                Some((part, found)) if part >= SHORT => (merit, violation) = found,
                _ => {
                    self.multiply_impulses(problem);
                    (merit, violation) = self.evaluate(problem, model);
                }
            }
            if part == 1.0 && merit > before.0 {
                relaxed -= 1;
            }
            if violation < smallest {
                smallest = violation;
                self.best.copy_from_slice(&self.lambda);
            }
            if smallest <= tolerance && violation > SLOW * before.1 {
                break;
            }
        }
        self.linear.scatter(&self.best, lambda);
        (smallest, iterations)
    }

    /// `u = W λ + q`.
    fn multiply_impulses(&mut self, problem: &Problem) {
        let (mut u, lambda) = (std::mem::take(&mut self.u), std::mem::take(&mut self.lambda));
        self.multiply(problem, &lambda, &mut u);
        u.iter_mut().zip(&self.q).for_each(|(u, q)| *u += q);
        (self.u, self.lambda) = (u, lambda);
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
    fn evaluate(&mut self, problem: &Problem, model: FrictionModel) -> (f64, f64) {
        let (mut merit, mut largest) = (0.0, 0.0);
        let Self { kept, u, lambda, map, .. } = self;
        for KeptConstraint { index, rows, scale: w, .. } in kept {
            let law = (problem.law(*index), *w);
            let rows = rows.clone();
            let size =
                local_map(law, model, &u[rows.clone()], &lambda[rows.clone()], &mut map[rows]);
            merit += *w * size;
            largest = f64::max(largest, *w * size.sqrt());
        }
        (merit, if merit.is_finite() { largest } else { f64::INFINITY })
    }

    /// Moves λ and u along the step as far as the merit decreases, or by the whole step if its merit is below the second bound.
    /// Returns the part of the step with the merit and the largest violation there, where F is evaluated; `None` if it does
    /// not move.
    fn search_line(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        [merit, most]: [f64; 2],
    ) -> Option<(f64, (f64, f64))> {
        let (step, mut u_step) = (std::mem::take(&mut self.step), std::mem::take(&mut self.u_step));
        self.multiply(problem, &step, &mut u_step);
        (self.step, self.u_step) = (step, u_step);
        let mut alpha = 1.0;
        let Self { lambda, u, lambda_start, u_start, .. } = self;
        lambda_start.copy_from_slice(lambda);
        u_start.copy_from_slice(u);
        for halving in 0..HALVINGS {
            let Self { lambda, u, lambda_start, u_start, step, u_step, .. } = self;
            for (l, (start, s)) in lambda.iter_mut().zip(lambda_start.iter().zip(step)) {
                *l = start + alpha * *s;
            }
            for (u, (start, s)) in u.iter_mut().zip(u_start.iter().zip(u_step)) {
                *u = start + alpha * *s;
            }
            let found = self.evaluate(problem, model);
            if found.0 < (1.0 - ARMIJO * alpha) * merit || halving == 0 && found.0 < most {
                return Some((alpha, found));
            }
            alpha *= 0.5;
        }
        self.lambda.copy_from_slice(&self.lambda_start);
        None
    }

    /// Sweeps of projected Gauss-Seidel with step sizes at which every contact alone converges.
    fn sweep(&mut self, problem: &Problem, model: FrictionModel, sweeps: usize) {
        if !std::mem::replace(&mut self.has_bounds, true) {
            let (Y, width) = (&self.Y, self.width);
            simd::dispatch(Bounds { problem, Y, width, kept: &mut self.kept });
        }
        if self.W.is_empty() {
            simd::dispatch(SweepByImage { space: self, problem, model, sweeps });
        } else {
            self.multiply_impulses(problem);
            simd::dispatch(SweepByRows { space: self, problem, model, sweeps });
        }
    }
}

/// `F_i` of a constraint, given by its law and 1/ρ, into `map`; its square.
#[inline(always)]
fn local_map(
    (law, w): (&Law, f64),
    model: FrictionModel,
    u: &[f64],
    lambda: &[f64],
    map: &mut [f64],
) -> f64 {
    let dim = lambda.len();
    let (mut c0, mut response) = ([0.0; DIM], [0.0; DIM]);
    c0.iter_mut().zip(u.iter().zip(lambda)).for_each(|(c, (u, l))| *c = u - w * l);
    law.respond(model, &c0[..dim], &[w; DIM][..dim], &mut response[..dim]);
    let mut size = 0.0;
    for ((map, l), r) in map.iter_mut().zip(lambda).zip(response) {
        *map = l - r;
        size += *map * *map;
    }
    size
}

/// Bounds of the eigenvalues of the diagonal blocks of W. Those of rows before an elimination bound those after it.
struct Bounds<'a> {
    problem: &'a Problem,
    Y: &'a [f64],
    width: usize,
    kept: &'a mut [KeptConstraint],
}

impl simd::Job for Bounds<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, Y, width: n, kept } = self;
        let compliance = problem.compliance();
        for constraint in kept {
            let rows = problem.row_range(constraint.index);
            // The largest sum of magnitudes of a row bounds the eigenvalues [Gershgorin].
            let mut bound = 0.0;
            for a in rows.clone() {
                let mut sum = compliance[a];
                for b in rows.clone() {
                    sum += dot(&Y[a * n..(a + 1) * n], &Y[b * n..(b + 1) * n]).abs();
                }
                bound = f64::max(bound, sum);
            }
            if bound > 0.0 {
                constraint.bound = bound;
            }
        }
    }
}

/// Sweeps with W; u follows λ.
struct SweepByRows<'a> {
    space: &'a mut ContactSpace,
    problem: &'a Problem,
    model: FrictionModel,
    sweeps: usize,
}

impl simd::Job for SweepByRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { space, problem, model, sweeps } = self;
        let ContactSpace { W, kept, u, lambda, .. } = space;
        let m = lambda.len();
        for _ in 0..sweeps {
            for KeptConstraint { index, rows, bound: r, .. } in &*kept {
                let c0 = |row| u[row] - r * lambda[row];
                let response = respond(problem.law(*index), model, rows, *r, c0);
                for (row, next) in rows.clone().zip(response) {
                    let change = next - lambda[row];
                    lambda[row] = next;
                    let W = &W[row * m..(row + 1) * m];
                    u.iter_mut().zip(W).for_each(|(u, w)| *u = change.mul_add(*w, *u));
                }
            }
        }
    }
}

/// Sweeps with Y, of problems of which all rows are kept. The image Yᵀ λ follows λ, so that a row costs as many products as
/// there are velocities.
struct SweepByImage<'a> {
    space: &'a mut ContactSpace,
    problem: &'a Problem,
    model: FrictionModel,
    sweeps: usize,
}

impl simd::Job for SweepByImage<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { space, problem, model, sweeps } = self;
        let ContactSpace { Y, kept, q, lambda, image, .. } = space;
        let n = image.len();
        TransposedProduct { W: Y, x: lambda, out: image }.run();
        for _ in 0..sweeps {
            for KeptConstraint { index, rows, bound: r, .. } in &*kept {
                let c0 = |row: usize| {
                    let R = problem.compliance()[row];
                    dot(&Y[row * n..(row + 1) * n], image) + q[row] + (R - r) * lambda[row]
                };
                let response = respond(problem.law(*index), model, rows, *r, c0);
                for (row, next) in rows.clone().zip(response) {
                    let change = next - lambda[row];
                    lambda[row] = next;
                    let Y = &Y[row * n..(row + 1) * n];
                    image.iter_mut().zip(Y).for_each(|(z, y)| *z = change.mul_add(*y, *z));
                }
            }
        }
    }
}

/// The impulses of a constraint with the local compliance r and `c0` of each of its rows.
#[inline(always)]
fn respond(
    law: &Law,
    model: FrictionModel,
    rows: &Range<usize>,
    r: f64,
    c0: impl Fn(usize) -> f64,
) -> [f64; DIM] {
    let dim = rows.len();
    let (mut velocity, mut response) = ([0.0; DIM], [0.0; DIM]);
    velocity.iter_mut().zip(rows.clone()).for_each(|(c, row)| *c = c0(row));
    law.respond(model, &velocity[..dim], &[r; DIM][..dim], &mut response[..dim]);
    response
}
