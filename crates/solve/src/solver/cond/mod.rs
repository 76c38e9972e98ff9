//! COND: contact nodalization and diagonalization, velocity fixed-point iteration [Lee23].
//!
//! Each iteration takes one step of the dynamics with a diagonal W in place of A⁻¹, after which
//! every constraint is solved exactly and at once on its own node:
//! `x* = x − W (A~ x − b~)`, `λ = SOL(x*)`, `x** = x* + W Jᵀ λ` [Lee23, Eqs. (20)-(24)].
//! Cost per iteration: one product with A, J and Jᵀ, and vectors; nothing is factored.
//!
//! Deviation: the compliance 1/k_v of virtual nodes is compensated within the solve. Whenever the
//! inner iteration has converged, λ_prev ← λ (the multiplier update of an augmented Lagrangian with
//! penalty k_v); the limit is the given problem. Without compensation, the limit is the problem
//! with the compliance R + 1/k_v.
//! Deviation: it stops by the monitor, not by θ = |x⁺ − x|, which does not bound the error. The
//! setting `stop` = `paper` restores the rule of [Lee23, Alg. 1].
//! Deviation: the guess is moved by the common motion of a mesh that balances its momentum, given
//! the impulses of the guess, if that reduces the first change: of all motions, the common one
//! converges last.
//! It returns the last x**, which fulfils the laws with λ, not the extrapolated x⁺.

mod chebyshev;
mod choice;
mod constraint_solve;
mod inverse;
mod node;
mod stop;
mod surrogate;
mod system;

pub use chebyshev::ChebyshevSettings;
pub use choice::SurrogateChoice;
pub use inverse::inverse;
pub use stop::StopRule;

use super::Solver;
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::{Problem, SubsystemId, common_motion};
use crate::setting::{NamedSettings, SettingRange};
use crate::setting_table;
use crate::solution::Solution;
use chebyshev::Chebyshev;
use node::Nodes;
use surrogate::Surrogate;

/// Settings of COND.
#[derive(Clone, Debug, PartialEq)]
pub struct CondSettings {
    /// k_v of virtual nodes, per 1/w [-].
    pub coupling: f64,
    /// One k_v for all virtual nodes [kg]; zero uses `coupling`.
    pub absolute_coupling: f64,
    /// Whether the compliance of virtual nodes is compensated.
    pub compensate: bool,
    /// Momentum error at which λ_prev is renewed, per violation of the laws [-].
    pub settle: f64,
    /// The diagonal that approximates A~⁻¹.
    pub surrogate: SurrogateChoice,
    /// Whether unknowns are scaled by diag(A)^(-1/2).
    pub scale: bool,
    /// Value to which the largest eigenvalue of W A is scaled [-]; zero leaves W as it is.
    pub spectral_limit: f64,
    /// Whether Chebyshev weights are used.
    pub accelerate: bool,
    /// The weights.
    pub chebyshev: ChebyshevSettings,
    /// Change θ at which to stop, in the norm of the unknowns; zero for never.
    pub theta: f64,
    /// When the iteration ends.
    pub stop: StopRule,
    /// Iterations per measurement.
    pub observe_every: usize,
    /// Iterations.
    pub max_iterations: usize,
}

impl Default for CondSettings {
    fn default() -> Self {
        Self {
            coupling: 30.0, // per 1/w; no published value
            absolute_coupling: 0.0,
            compensate: true,
            settle: 10.0,
            surrogate: SurrogateChoice::Frobenius, // [Lee23, Sec. IV-C]
            scale: true,
            spectral_limit: 1.6, // below 2, beyond which the plain iteration diverges
            accelerate: true,
            chebyshev: ChebyshevSettings::default(),
            theta: 0.0,
            stop: StopRule::Residual,
            observe_every: 10,
            max_iterations: 20_000,
        }
    }
}

setting_table!(
    CondSettings,
    "solver 'cond'",
    [
        ("coupling", coupling, "-", SettingRange::NOT_NEGATIVE, "k_v of virtual nodes, per 1/w"),
        (
            "absolute-coupling",
            absolute_coupling,
            "kg",
            SettingRange::NOT_NEGATIVE,
            "one k_v for all virtual nodes; zero: relative"
        ),
        (
            "compensate",
            compensate,
            "",
            SettingRange::ANY,
            "whether the compliance of virtual nodes is compensated"
        ),
        (
            "settle",
            settle,
            "-",
            SettingRange::NOT_NEGATIVE,
            "momentum error at which λ_prev is renewed, per violation of the laws"
        ),
        (
            "surrogate",
            surrogate,
            "",
            SettingRange::ANY,
            "the diagonal that stands for the inverse of A"
        ),
        ("scale", scale, "", SettingRange::ANY, "whether unknowns are scaled by diag(A)^(-1/2)"),
        (
            "spectral-limit",
            spectral_limit,
            "-",
            SettingRange::NOT_NEGATIVE,
            "value to which the largest eigenvalue of W A is scaled; zero: W as it is"
        ),
        ("accelerate", accelerate, "", SettingRange::ANY, "whether Chebyshev weights are used"),
        (
            "slow-start",
            chebyshev.slow_start,
            "",
            SettingRange::ANY,
            "iterations before the acceleration sets in"
        ),
        (
            "under-relaxation",
            chebyshev.under_relaxation,
            "-",
            SettingRange::NOT_NEGATIVE,
            "under-relaxation of accelerated steps"
        ),
        (
            "restart",
            chebyshev.restart,
            "",
            SettingRange::ANY,
            "whether the acceleration starts again when the iterates turn back"
        ),
        (
            "theta",
            theta,
            "",
            SettingRange::NOT_NEGATIVE,
            "stop at a change this small, in the norm of the unknowns; zero: never"
        ),
        (
            "stop",
            stop,
            "",
            SettingRange::ANY,
            "residual: by the residual of the problem; paper: by θ alone, in the plain norm"
        ),
        ("observe-every", observe_every, "", SettingRange::ANY, "iterations per measurement"),
        ("max-iterations", max_iterations, "", SettingRange::ANY, "iterations"),
    ]
);

/// Velocity fixed-point iteration on a diagonal surrogate.
#[derive(Default)]
pub struct Cond {
    settings: CondSettings,
    chebyshev: Chebyshev,
    nodes: Nodes,
    surrogate: Surrogate,
    x: Vec<f64>,
    previous: Vec<f64>,
    x_solved: Vec<f64>,
    product: Vec<f64>,
    before: Vec<f64>,
    last_product: Vec<f64>,
    compensation: Vec<f64>,
    trial: Vec<f64>,
    updates: usize,
}

/// Iterations between two measurements at least.
const LEAST_BETWEEN_MEASUREMENTS: usize = 2;
/// Times that a diverging iteration is started again with a smaller W.
const MAX_RETREATS: usize = 4;

impl Solver for Cond {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
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
        let by_paper = self.settings.stop == StopRule::Paper;
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
        let limit = monitor.iteration_limit(self.settings.max_iterations);
        let every = self.settings.observe_every.max(1);
        let (mut change, mut retreats) = (f64::INFINITY, 0);
        let (mut left, mut enough, mut last_measured) = (f64::INFINITY, 0.0, 0);
        for l in 1..=limit {
            system::product(problem, &self.nodes, &self.x, &mut self.product);
            if self.settings.surrogate == SurrogateChoice::BarzilaiBorwein && l > 1 {
                step = self.barzilai_borwein(l, step);
            }
            self.solve_constraints(problem, monitor.model(), step, &mut solution.impulse);
            monitor.count(1);
            let measures = !by_paper || monitor.is_tracing();
            let due = l % every == 0 || l == limit;
            let likely =
                !by_paper && left <= enough && l >= last_measured + LEAST_BETWEEN_MEASUREMENTS;
            let mut excess = 0.0;
            if measures && (due || likely) {
                let v = &self.x_solved[..problem.dofs()];
                let verdict = monitor.observe(problem, v, &solution.impulse);
                if let (Verdict::Stop(status), false) = (verdict, by_paper) {
                    solution.velocity.copy_from_slice(v);
                    return status;
                }
                if due {
                    self.renew_compensation(problem, monitor, &solution.impulse);
                }
                (last_measured, excess) = (l, error_per_tolerance(monitor));
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
            if theta <= self.settings.stop.threshold(self.settings.theta) {
                solution.velocity.copy_from_slice(&self.x_solved[..problem.dofs()]);
                return Status::Stalled;
            }
        }
        solution.velocity.copy_from_slice(&self.x_solved[..problem.dofs()]);
        Status::IterationLimit
    }
}

/// Error at the last measurement, per tolerance [-]. The error of momentum is
/// `(A~ − W⁻¹)(x** − x)`, so that it falls about as fast as `|x** − x|`, which costs nothing.
fn error_per_tolerance(monitor: &Monitor) -> f64 {
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

/// Part of the constraints that must act on nodes of their own for COND to be fast [-].
const MOSTLY_DIRECT: f64 = 0.75;

/// Whether most constraints of a problem act on mesh nodes directly, where COND is fast.
pub fn is_suited(problem: &Problem) -> bool {
    let count = problem.constraints().len();
    let direct = (0..count).filter(|i| node::direct(problem, *i).is_some()).count();
    direct as f64 >= MOSTLY_DIRECT * count as f64
}

impl Cond {
    /// With a limit on iterations.
    pub fn with_limit(max_iterations: usize) -> Self {
        let settings = CondSettings { max_iterations, ..CondSettings::default() };
        Self { settings, ..Self::default() }
    }

    fn prepare(&mut self, problem: &Problem) {
        self.nodes.find(problem, self.settings.coupling, self.settings.absolute_coupling);
        let sums = self.settings.surrogate == SurrogateChoice::BarzilaiBorwein;
        self.surrogate.prepare(problem, &self.nodes, self.settings.scale, sums);
        for x in [
            &mut self.x,
            &mut self.previous,
            &mut self.x_solved,
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
        if self.settings.surrogate == SurrogateChoice::BarzilaiBorwein {
            self.surrogate.inverse.clone_from(&self.surrogate.scale);
            return 1.0 / self.surrogate.row_sum;
        }
        if self.settings.spectral_limit == 0.0 {
            return 1.0;
        }
        let largest = self.surrogate.largest_eigenvalue(problem, &self.nodes);
        if largest > 0.0 { self.settings.spectral_limit / largest } else { 1.0 }
    }

    /// Starts from a guess.
    fn start(&mut self, problem: &Problem, guess: &Solution) {
        self.x[..problem.dofs()].copy_from_slice(&guess.velocity);
        system::place_virtual_nodes(problem, &self.nodes, &guess.impulse, &mut self.x);
        self.previous.copy_from_slice(&self.x);
        self.compensation.clear();
        if self.settings.compensate {
            self.compensation.extend_from_slice(&guess.impulse);
        } else {
            self.compensation.resize(problem.rows(), 0.0);
        }
        self.chebyshev.start(self.settings.chebyshev);
    }

    /// Moves the nodes of each large mesh together, so far that its momentum balances,
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
        self.solve_constraints(problem, model, step, &mut lambda);
        self.trial = lambda;
        let changes = self.x_solved.iter().zip(&self.x).zip(&self.surrogate.metric);
        changes.map(|((a, x), m)| m * (a - x) * (a - x)).sum::<f64>().sqrt()
    }

    /// `|x⁺ − x|` in the plain norm, of the paper's θ.
    fn plain_change(&self) -> f64 {
        self.x.iter().zip(&self.previous).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// x** and λ from x and A~ x [Lee23, Alg. 1].
    fn solve_constraints(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        step: f64,
        lambda: &mut [f64],
    ) {
        let (n, b) = (problem.dofs(), problem.momentum());
        let (x, g, w) = (&self.x, &self.product, &self.surrogate.inverse);
        for i in 0..n {
            self.x_solved[i] = x[i] - step * w[i] * (g[i] - b[i]);
        }
        for i in n..x.len() {
            self.x_solved[i] = x[i] - step * w[i] * g[i];
        }
        constraint_solve::solve_constraints(
            problem,
            model,
            &self.nodes,
            (step, &self.surrogate.inverse),
            &self.compensation,
            &mut self.x_solved,
            lambda,
        );
    }

    /// λ_prev ← λ once the momentum error of the inner iteration lies below the violation that is
    /// left to the compensation, both relative, times a factor.
    fn renew_compensation(&mut self, problem: &Problem, monitor: &Monitor, lambda: &[f64]) {
        let (violation, momentum) = monitor.last();
        let settled = momentum * problem.reference_velocity() <= self.settings.settle * violation;
        if self.settings.compensate && settled && !self.nodes.virtual_constraints.is_empty() {
            self.compensation.copy_from_slice(lambda);
            self.updates += 1;
        }
    }

    /// x ← x⁺; returns `|x⁺ − x|` and `|x** − x|`.
    fn advance(&mut self, change: f64) -> (f64, f64) {
        let estimate = self.chebyshev.estimate(change);
        let accelerate =
            self.settings.accelerate && self.settings.surrogate == SurrogateChoice::Frobenius;
        let changes = self.chebyshev.advance(
            accelerate.then_some(estimate),
            &self.x_solved,
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
