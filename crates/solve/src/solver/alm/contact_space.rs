//! Newton's method and sweeps on the impulses of small problems, with the Delassus operator as a dense matrix.
//!
//! A robot on the floor has a few dozen rows. With `W = J A⁻¹ Jᵀ + R` at hand, `u = W λ + q` costs one small product and
//! neither sweeps nor Newton steps touch the velocities. The equations are those of the natural map
//! `F(λ) = λ − T(λ − ρ u)` of [`super::NaturalMap`], `ρ = 1/w`: with the slope D of T a Newton step s solves
//! `((1 + δ) I − D + D ρ W) s = −F`. Constraints with D = 0, open contacts, are eliminated first.
//!
//! W is singular whenever contacts are redundant, as under a foot. δ then decides the step: a small one follows the null space
//! of W as far as it takes, where other contacts change. It is chosen as in the method of Levenberg and Marquardt: small at
//! first, large after only a part of a step or none decreased the merit `|√w F|`, and small again at the end. Where even a
//! large one does not help, sweeps of projected Gauss-Seidel look for other contacts that stick, slide or open.
//!
//! For problems with a tree; sweeps over free bodies are cheaper without W.

use stiction_math::simd;

use super::dense::{Gram, Product, Solve, dot};
use crate::contact::DIM;
use crate::law::FrictionModel;
use crate::problem::{Problem, SubsystemId};
use crate::residual::compliance_scale;
use crate::solver::newton::Damping;

/// Largest number of rows, and of velocities.
const MAX_ROWS: usize = 72;
const MAX_VELOCITIES: usize = 160;
const ARMIJO: f64 = 1e-4;
const HALVINGS: usize = 4;
/// An iteration is slow if it leaves more than this part of the violation; after so many slow ones, a violation that suffices
/// is not improved any more.
const SLOW: f64 = 0.5;
const PATIENCE: usize = 4;
/// Sweeps where a step fails, at first; doubled each time.
const SWEEPS: usize = 10;
const MAX_SWEEPS: usize = 40;

/// W and q of a problem, and the work memory of its solution.
#[derive(Debug, Default)]
pub(super) struct ContactSpace {
    /// `F⁻¹ Jᵀ` by rows of J, for `A = F Fᵀ`.
    half: Vec<f64>,
    /// W with compliances, row-major.
    W: Vec<f64>,
    /// Per constraint: 1/ρ, and a bound of the eigenvalues of its block of W.
    scale: Vec<f64>,
    bound: Vec<f64>,
    u: Vec<f64>,
    u_step: Vec<f64>,
    map: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    /// Per row: its place in the linear system, `u32::MAX` if it is eliminated.
    place: Vec<u32>,
    slopes: Vec<f64>,
    system: Vec<f64>,
    rhs: Vec<f64>,
    damping: Damping,
}

impl ContactSpace {
    /// Prepares for a problem; false if it is too large or of another kind.
    pub fn prepare(&mut self, problem: &Problem) -> bool {
        let (m, n) = (problem.rows(), problem.dofs());
        let (jacobian, mass) = (problem.jacobian(), problem.mass());
        let has_tree = (0..mass.subsystems()).any(|s| mass.tree(SubsystemId(s)).is_some());
        if m > MAX_ROWS || n > MAX_VELOCITIES || !has_tree || problem.is_large() {
            return false;
        }
        self.half.clear();
        self.half.resize(m * n, 0.0);
        for entry in jacobian.entries() {
            let (columns, rows) = (
                jacobian.block_range(entry.block as usize),
                jacobian.row_range(entry.constraint as usize),
            );
            for (row, values) in rows.zip(jacobian.block(entry).chunks_exact(columns.len())) {
                self.half[row * n..][columns.clone()].copy_from_slice(values);
            }
        }
        for i in 0..problem.constraints().len() {
            let mut last = None;
            for entry in jacobian.constraint_entries(i) {
                let subsystem: SubsystemId = mass.subsystem_of(entry.block as usize);
                if last.replace(subsystem) == Some(subsystem) {
                    continue;
                }
                let dofs = mass.dofs(subsystem);
                for row in jacobian.row_range(i) {
                    if !mass.divide_by_root(subsystem, &mut self.half[row * n..][dofs.clone()]) {
                        return false;
                    }
                }
            }
        }
        self.multiply(problem);
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

    /// W from the rows of `half`, and the scales.
    fn multiply(&mut self, problem: &Problem) {
        let (m, n) = (problem.rows(), problem.dofs());
        self.W.clear();
        self.W.resize(m * m, 0.0);
        simd::dispatch(Gram { half: &self.half, n, W: &mut self.W });
        for (k, R) in problem.compliance().iter().enumerate() {
            self.W[k * (m + 1)] += R;
        }
        self.scale.clear();
        self.bound.clear();
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            self.scale.push(compliance_scale(problem, i));
            // The largest sum of magnitudes of a row bounds the eigenvalues [Gershgorin].
            let sum = |row: usize| self.W[row * m..][rows.clone()].iter().map(|x| x.abs()).sum();
            let bound = rows.clone().map(sum).fold(0.0, f64::max);
            self.bound.push(if bound > 0.0 { bound } else { compliance_scale(problem, i) });
        }
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
        let (mut iterations, mut sweeps, mut slow) = (0, SWEEPS, 0);
        while iterations < max_iterations && !(violation <= aim) {
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
            slow = if violation > SLOW * before { slow + 1 } else { 0 };
            if smallest <= tolerance && slow >= PATIENCE {
                break;
            }
        }
        lambda.copy_from_slice(&self.best);
        (smallest, iterations)
    }

    /// `u = W λ + q`.
    fn multiply_impulses(&mut self, problem: &Problem, lambda: &[f64]) {
        let q = problem.free_rows();
        simd::dispatch(Product { W: &self.W, x: lambda, out: &mut self.u });
        self.u.iter_mut().zip(q).for_each(|(u, q)| *u += q);
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
        simd::dispatch(Product { W: &self.W, x: &self.step, out: &mut self.u_step });
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

    /// The Newton step at λ, at which u and F were evaluated last. False if the system is singular.
    fn find_step(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> bool {
        let m = problem.rows();
        self.place.clear();
        self.place.resize(m, u32::MAX);
        self.slopes.clear();
        let mut size = 0;
        let (mut c0, mut D) = ([0.0; DIM], [0.0; DIM * DIM]);
        for i in 0..problem.constraints().len() {
            let (rows, w) = (problem.row_range(i), self.scale[i]);
            let dim = rows.len();
            let at = self.u[rows.clone()].iter().zip(&lambda[rows.clone()]);
            c0.iter_mut().zip(at).for_each(|(c, (u, l))| *c = u - w * l);
            let D = &mut D[..dim * dim];
            problem.law(i).slope(model, &c0[..dim], &[w; DIM][..dim], D);
            D.iter_mut().for_each(|d| *d *= w);
            let acts = D.iter().any(|d| *d != 0.0);
            for row in rows {
                if acts {
                    self.place[row] = size as u32;
                    size += 1;
                } else {
                    self.step[row] = -self.map[row] / (1.0 + self.damping.value);
                }
            }
            self.slopes.extend_from_slice(D);
        }
        self.assemble_system(problem, size);
        if !simd::dispatch(Solve { A: &mut self.system, x: &mut self.rhs }) {
            return false;
        }
        for (place, step) in self.place.iter().zip(&mut self.step) {
            if *place != u32::MAX {
                *step = self.rhs[*place as usize];
            }
        }
        self.step.iter().all(|s| s.is_finite())
    }

    /// `((1 + δ) I − D + D ρ W) s = −F` of the constraints that act, given s of the others.
    fn assemble_system(&mut self, problem: &Problem, size: usize) {
        let m = problem.rows();
        self.system.clear();
        self.system.resize(size * size, 0.0);
        self.rhs.clear();
        let mut slope = 0;
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let dim = rows.len();
            let D = &self.slopes[slope..slope + dim * dim];
            slope += dim * dim;
            if self.place[rows.start] == u32::MAX {
                continue;
            }
            for (a, row) in rows.clone().enumerate() {
                let place = self.place[row] as usize;
                let (out, mut rhs) = (&mut self.system[place * size..][..size], -self.map[row]);
                out[place] = 1.0 + self.damping.value;
                for (b, other) in rows.clone().enumerate() {
                    let d = D[a * dim + b];
                    if d == 0.0 {
                        continue;
                    }
                    out[self.place[other] as usize] -= d;
                    let d = d / self.scale[i];
                    let columns = self.place.iter().zip(&self.W[other * m..][..m]).zip(&self.step);
                    for ((column, w), step) in columns {
                        if *column == u32::MAX {
                            rhs -= d * w * step;
                        } else {
                            out[*column as usize] += d * w;
                        }
                    }
                }
                self.rhs.push(rhs);
            }
        }
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
        let m = lambda.len();
        for _ in 0..sweeps {
            for i in 0..problem.constraints().len() {
                let (rows, r) = (problem.row_range(i), space.bound[i]);
                let dim = rows.len();
                let (mut c0, mut response) = ([0.0; DIM], [0.0; DIM]);
                for (c, row) in c0.iter_mut().zip(rows.clone()) {
                    *c = dot(&space.W[row * m..(row + 1) * m], lambda) + q[row] - r * lambda[row];
                }
                let law = problem.law(i);
                law.respond(model, &c0[..dim], &[r; DIM][..dim], &mut response[..dim]);
                lambda[rows].copy_from_slice(&response[..dim]);
            }
        }
    }
}
