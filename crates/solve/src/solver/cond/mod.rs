//! COND: contact nodalization and diagonalization, velocity fixed-point iteration [Lee23].
//!
//! Each iteration takes one step of the dynamics with a diagonal W in place of A⁻¹, after which
//! every constraint is answered exactly and at once on its own node:
//! `x* = x − W (A~ x − b~)`, `λ = SOL(x*)`, `x** = x* + W Jᵀ λ` [Lee23, Eqs. (20)-(24)].
//! Cost per iteration: one product with A, J and Jᵀ, and vectors; nothing is factored.
//!
//! Deviation: the compliance 1/k_v of virtual nodes is compensated within the solve. Whenever the
//! inner iteration has settled, λ_prev ← λ (the multiplier update of an augmented Lagrangian with
//! penalty k_v); the limit is the given problem. Without compensation, the limit is the problem
//! with the compliance R + 1/k_v.
//! Deviation: it stops by the monitor, not by θ = |x⁺ − x|, which says little about the error. The
//! setting `stop` = `paper` restores the rule of [Lee23, Alg. 1].
//! Deviation: the guess is moved by the common motion of a mesh that its momentum error asks for,
//! given the impulses of the guess, if the first iteration then has less to do: that of all motions
//! which converges last.
//! It returns the last x**, which fulfils the laws with λ, not the extrapolated x⁺.

mod answer;
mod chebyshev;
mod choice;
mod inverse;
mod node;
mod stop;
mod surrogate;
mod system;

pub use choice::Choice;
pub use inverse::inverse;
pub use stop::Stop;

use super::{Setting, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::{Problem, SubsystemId, common_motion};
use crate::solution::Solution;
use chebyshev::Chebyshev;
use node::Nodes;
use surrogate::Surrogate;

/// Velocity fixed-point iteration on a diagonal surrogate.
pub struct Cond {
    coupling: f64,
    absolute_coupling: f64,
    compensate: bool,
    settle: f64,
    choice: Choice,
    scaled: bool,
    spectral_limit: f64,
    accelerate: bool,
    stop: Stop,
    theta: f64,
    max_iterations: usize,
    observe_every: usize,
    chebyshev: Chebyshev,
    nodes: Nodes,
    surrogate: Surrogate,
    x: Vec<f64>,
    previous: Vec<f64>,
    answered: Vec<f64>,
    product: Vec<f64>,
    before: Vec<f64>,
    last_product: Vec<f64>,
    compensation: Vec<f64>,
    trial: Vec<f64>,
    updates: usize,
}

impl Default for Cond {
    fn default() -> Self {
        Self {
            coupling: 30.0,
            absolute_coupling: 0.0,
            compensate: true,
            settle: 10.0,
            choice: Choice::Frobenius,
            scaled: true,
            spectral_limit: 1.6,
            accelerate: true,
            stop: Stop::Honest,
            theta: 0.0,
            max_iterations: 20_000,
            observe_every: 10,
            chebyshev: Chebyshev::default(),
            nodes: Nodes::default(),
            surrogate: Surrogate::default(),
            x: Vec::new(),
            previous: Vec::new(),
            answered: Vec::new(),
            product: Vec::new(),
            before: Vec::new(),
            last_product: Vec::new(),
            compensation: Vec::new(),
            trial: Vec::new(),
            updates: 0,
        }
    }
}

/// Iterations between two measurements at least.
const LEAST_BETWEEN_LOOKS: usize = 2;
/// Times that a diverging iteration is started again with a smaller W.
const MAX_RETREATS: usize = 4;

impl Solver for Cond {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        vec![
            Setting::new("coupling", "k_v of virtual nodes, per 1/w [-]", &mut self.coupling),
            Setting::new(
                "absolute-coupling",
                "one k_v [kg] for all virtual nodes; zero: relative",
                &mut self.absolute_coupling,
            ),
            Setting::new(
                "compensate",
                "whether the compliance of virtual nodes is compensated",
                &mut self.compensate,
            ),
            Setting::new(
                "settle",
                "momentum error at which λ_prev is renewed, per violation of the laws [-]",
                &mut self.settle,
            ),
            Setting::new("surrogate", "frobenius or barzilai-borwein", &mut self.choice),
            Setting::new(
                "scale",
                "whether unknowns are scaled by diag(A)^(-1/2)",
                &mut self.scaled,
            ),
            Setting::new(
                "spectral-limit",
                "where the largest eigenvalue of W A is placed [-]; zero: W as it comes",
                &mut self.spectral_limit,
            ),
            Setting::new("accelerate", "whether Chebyshev weights are used", &mut self.accelerate),
            Setting::new(
                "slow-start",
                "iterations before the acceleration sets in",
                &mut self.chebyshev.slow_start,
            ),
            Setting::new(
                "under-relaxation",
                "under-relaxation of accelerated steps [-]",
                &mut self.chebyshev.under_relaxation,
            ),
            Setting::new(
                "restart",
                "whether the acceleration starts again when the iterates turn back",
                &mut self.chebyshev.restart,
            ),
            Setting::new(
                "theta",
                "stop at a change this small, in the norm of the unknowns; zero: never",
                &mut self.theta,
            ),
            Setting::new(
                "stop",
                "honest: by the residual measure; paper: by θ alone, in the plain norm",
                &mut self.stop,
            ),
            Setting::new("observe-every", "iterations per measurement", &mut self.observe_every),
            Setting::new("max-iterations", "iterations", &mut self.max_iterations),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let virtual_nodes = self.nodes.virtual_constraints.len();
        let direct = self.nodes.of_constraint.len() - virtual_nodes;
        vec![format!(
            "{direct} direct and {virtual_nodes} virtual nodes, {} renewals of λ_prev",
            self.updates
        )]
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let by_paper = self.stop == Stop::Paper;
        if !by_paper
            && let Verdict::Stop(status) =
                monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.prepare(problem);
        let mut step = self.first_step(problem);
        self.start(problem, solution);
        if !by_paper && problem.is_large() {
            self.move_together(problem, monitor.model(), step, &solution.impulse);
        }
        let limit = monitor.iteration_limit(self.max_iterations);
        let every = self.observe_every.max(1);
        let (mut change, mut retreats) = (f64::INFINITY, 0);
        let (mut left, mut enough, mut last_look) = (f64::INFINITY, 0.0, 0);
        for l in 1..=limit {
            system::product(problem, &self.nodes, &self.x, &mut self.product);
            if self.choice == Choice::BarzilaiBorwein && l > 1 {
                step = self.barzilai_borwein(l, step);
            }
            self.answer(problem, monitor.model(), step, &mut solution.impulse);
            monitor.count(1);
            let looks = !by_paper || monitor.is_tracing();
            let due = l % every == 0 || l == limit;
            let likely = !by_paper && left <= enough && l >= last_look + LEAST_BETWEEN_LOOKS;
            let mut excess = 0.0;
            if looks && (due || likely) {
                let v = &self.answered[..problem.dofs()];
                let verdict = monitor.observe(problem, v, &solution.impulse);
                if let (Verdict::Stop(status), false) = (verdict, by_paper) {
                    solution.velocity.copy_from_slice(v);
                    return status;
                }
                if due {
                    self.renew_compensation(problem, monitor, &solution.impulse);
                }
                (last_look, excess) = (l, times_the_goal(monitor));
            }
            (change, left) = self.advance(change);
            if excess > 0.0 {
                enough = left / excess;
            }
            if !change.is_finite() {
                if retreats == MAX_RETREATS {
                    solution.reset(problem);
                    return Status::Failed;
                }
                retreats += 1;
                step *= 0.5;
                solution.impulse.fill(0.0);
                self.start(problem, solution);
            }
            let theta = if by_paper { self.plain_change() } else { change };
            if theta <= self.stop.threshold(self.theta) {
                solution.velocity.copy_from_slice(&self.answered[..problem.dofs()]);
                return Status::Stalled;
            }
        }
        solution.velocity.copy_from_slice(&self.answered[..problem.dofs()]);
        Status::IterationLimit
    }
}

/// How many times what is asked for is left, at the last observation. The error of momentum is
/// `(A~ − W⁻¹)(x** − x)`, so that it falls about as fast as `|x** − x|`, which costs nothing.
fn times_the_goal(monitor: &Monitor) -> f64 {
    let (violation, momentum) = monitor.last();
    (violation / monitor.velocity_tolerance()).max(momentum / monitor.momentum_tolerance())
}

/// The sum of products in lanes that a vector unit holds; one order of roundings.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let mut sum = [0.0; LANES];
    let ((a4, a_rest), (b4, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a4.iter().zip(b4) {
        for k in 0..LANES {
            sum[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest
}

/// Part of the constraints that must act on nodes of their own for COND to be quick [-].
const MOSTLY_DIRECT: f64 = 0.75;

/// Whether most constraints of a problem act on mesh nodes directly, where COND is at its best.
pub fn serves(problem: &Problem) -> bool {
    let count = problem.constraints().len();
    let direct = (0..count).filter(|i| node::direct(problem, *i).is_some()).count();
    direct as f64 >= MOSTLY_DIRECT * count as f64
}

impl Cond {
    /// With a limit on iterations.
    pub fn with_limit(max_iterations: usize) -> Self {
        Self { max_iterations, ..Self::default() }
    }

    fn prepare(&mut self, problem: &Problem) {
        self.nodes.find(problem, self.coupling, self.absolute_coupling);
        let sums = self.choice == Choice::BarzilaiBorwein;
        self.surrogate.prepare(problem, &self.nodes, self.scaled, sums);
        for x in [
            &mut self.x,
            &mut self.previous,
            &mut self.answered,
            &mut self.product,
            &mut self.before,
            &mut self.last_product,
        ] {
            x.clear();
            x.resize(self.nodes.unknowns, 0.0);
        }
        self.updates = 0;
    }

    /// The factor of W at the start.
    fn first_step(&mut self, problem: &Problem) -> f64 {
        if self.choice == Choice::BarzilaiBorwein {
            self.surrogate.inverse.clone_from(&self.surrogate.scale);
            return 1.0 / self.surrogate.row_sum;
        }
        if self.spectral_limit == 0.0 {
            return 1.0;
        }
        let largest = self.surrogate.largest_eigenvalue(problem, &self.nodes);
        if largest > 0.0 { self.spectral_limit / largest } else { 1.0 }
    }

    /// Takes up a guess.
    fn start(&mut self, problem: &Problem, guess: &Solution) {
        self.x[..problem.dofs()].copy_from_slice(&guess.velocity);
        system::place_virtual_nodes(problem, &self.nodes, &guess.impulse, &mut self.x);
        self.previous.copy_from_slice(&self.x);
        self.compensation.clear();
        if self.compensate {
            self.compensation.extend_from_slice(&guess.impulse);
        } else {
            self.compensation.resize(problem.rows(), 0.0);
        }
        self.chebyshev.start();
    }

    /// Moves the nodes of each large mesh together, as far as the momentum error of the guess says,
    /// unless contacts hold it.
    fn move_together(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        step: f64,
        lambda: &[f64],
    ) {
        let (n, mass) = (problem.dofs(), problem.mass());
        let still = self.first_change(problem, model, step);
        self.before.copy_from_slice(&self.x);
        let error = &mut self.last_product[..n];
        mass.mul(&self.x[..n], error);
        error.iter_mut().zip(problem.momentum()).for_each(|(e, b)| *e = b - *e);
        problem.jacobian().mul_transposed_add(lambda, error);
        for s in (0..mass.subsystems()).map(SubsystemId).filter(|s| mass.is_lazy(*s)) {
            let (Some(A), dofs) = (mass.part(s), mass.dofs(s)) else { continue };
            let common = common_motion(A, &self.last_product[dofs.clone()]);
            let size = dofs.len() / mass.blocks(s).len();
            for (k, x) in self.x[dofs].iter_mut().enumerate() {
                *x += common[k % size];
            }
        }
        system::place_virtual_nodes(problem, &self.nodes, lambda, &mut self.x);
        let moved = self.first_change(problem, model, step);
        if !(moved < still) {
            self.x.copy_from_slice(&self.before);
        }
        self.previous.copy_from_slice(&self.x);
    }

    /// `|x** − x|` of the first iteration, in the norm of the scaled unknowns.
    fn first_change(&mut self, problem: &Problem, model: FrictionModel, step: f64) -> f64 {
        system::product(problem, &self.nodes, &self.x, &mut self.product);
        let mut lambda = std::mem::take(&mut self.trial);
        lambda.clear();
        lambda.resize(problem.rows(), 0.0);
        self.answer(problem, model, step, &mut lambda);
        self.trial = lambda;
        let changes = self.answered.iter().zip(&self.x).zip(&self.surrogate.metric);
        changes.map(|((a, x), m)| m * (a - x) * (a - x)).sum::<f64>().sqrt()
    }

    /// `|x⁺ − x|` in the plain norm, of the paper's θ.
    fn plain_change(&self) -> f64 {
        self.x.iter().zip(&self.previous).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// x** and λ from x and A~ x [Lee23, Alg. 1].
    fn answer(&mut self, problem: &Problem, model: FrictionModel, step: f64, lambda: &mut [f64]) {
        let (n, b) = (problem.dofs(), problem.momentum());
        let (x, g, w) = (&self.x, &self.product, &self.surrogate.inverse);
        for i in 0..n {
            self.answered[i] = x[i] - step * w[i] * (g[i] - b[i]);
        }
        for i in n..x.len() {
            self.answered[i] = x[i] - step * w[i] * g[i];
        }
        answer::answer(
            problem,
            model,
            &self.nodes,
            (step, &self.surrogate.inverse),
            &self.compensation,
            &mut self.answered,
            lambda,
        );
    }

    /// λ_prev ← λ once the momentum error of the inner iteration lies below the violation that is
    /// left to the compensation, both measured by the residual measure and relative, times a factor.
    fn renew_compensation(&mut self, problem: &Problem, monitor: &Monitor, lambda: &[f64]) {
        let (violation, momentum) = monitor.last();
        let settled = momentum * problem.reference_velocity() <= self.settle * violation;
        if self.compensate && settled && !self.nodes.virtual_constraints.is_empty() {
            self.compensation.copy_from_slice(lambda);
            self.updates += 1;
        }
    }

    /// x ← x⁺; returns `|x⁺ − x|` and `|x** − x|`.
    fn advance(&mut self, change: f64) -> (f64, f64) {
        let estimate = self.chebyshev.estimate(change);
        let accelerate = self.accelerate && self.choice == Choice::Frobenius;
        let changes = self.chebyshev.advance(
            accelerate.then_some(estimate),
            &self.answered,
            &self.x,
            &mut self.previous,
            &self.surrogate.metric,
        );
        std::mem::swap(&mut self.x, &mut self.previous);
        changes
    }

    /// The next step of Barzilai and Borwein for scaled unknowns, from the last change s of x:
    /// `s·s / s·A s` and `s·A s / A s·A s` in turn, where `A s` is the change of the product.
    fn barzilai_borwein(&mut self, iteration: usize, step: f64) -> f64 {
        let (mut ss, mut sg, mut gg) = (0.0, 0.0, 0.0);
        for i in 0..self.x.len() {
            let s = self.x[i] - self.before[i];
            let g = self.product[i] - self.last_product[i];
            ss += self.surrogate.metric[i] * s * s;
            sg += s * g;
            gg += self.surrogate.scale[i] * g * g;
        }
        self.before.copy_from_slice(&self.x);
        self.last_product.copy_from_slice(&self.product);
        let next = if iteration.is_multiple_of(2) { ss / sg } else { sg / gg };
        if sg > 0.0 && next.is_finite() { next } else { step }
    }
}
