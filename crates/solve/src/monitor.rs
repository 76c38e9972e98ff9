//! The monitor: measures the iterates of a solver and decides when it may stop.
//!
//! Solvers pass their iterates to the monitor, which measures the residuals on the problem, writes
//! the trace, and returns whether the tolerance, the iteration limit or the time limit is reached.
//! The time spent on measuring is not counted as the solver's.

use std::time::{Duration, Instant};

use crate::law::FrictionModel;
use crate::problem::Problem;
use crate::residual::{ResidualMeasure, Residuals};
use crate::solution::Solution;

/// Tolerances and limits of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Largest violation of the laws, relative to the reference velocity [-]. The same number
    /// bounds the relative error of momentum.
    pub tolerance: f64,
    /// Violation that is allowed relative to the largest velocity of a constraint in the guess [-]:
    /// constraints that slide or collide fast need not be as exact as those at rest. The larger of
    /// this and of `tolerance` counts.
    pub motion_tolerance: f64,
    /// Iterations, in the unit of the solver; `None` leaves it to the solver.
    pub max_iterations: Option<usize>,
    /// Time that the solver may take.
    pub time_limit: Option<Duration>,
    /// Friction model; `None` leaves it to the solver.
    pub friction_model: Option<FrictionModel>,
    /// Whether to keep a trace.
    pub trace: bool,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            motion_tolerance: 0.0,
            max_iterations: None,
            time_limit: None,
            friction_model: None,
            trace: false,
        }
    }
}

/// How a solve ended. Running out of iterations is an outcome, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The measured residuals meet the tolerance.
    Converged,
    /// Iterations or time ran out first.
    IterationLimit,
    /// Further iterations did not reduce the residuals.
    Stalled,
    /// The solver broke down, or the problem has no solution.
    Failed,
}

impl Status {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration_limit",
            Self::Stalled => "stalled",
            Self::Failed => "failed",
        }
    }
}

/// One point of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// Iterations done, in the unit of the solver.
    pub iteration: usize,
    /// Time taken by the solver [s].
    pub seconds: f64,
    /// Violation of the laws relative to the reference velocity [-].
    pub residual: f64,
    /// Relative error of momentum [-].
    pub momentum: f64,
    /// `‖J v − z‖` over the number of contacts \[N·s\], see [`ResidualMeasure::contact_slack`].
    pub slack: f64,
    /// Convex cost ℓ_p [J], see [`ResidualMeasure::primal_cost`].
    pub cost: f64,
    /// Complementarity slackness e_μ [-], see [`ResidualMeasure::complementarity`].
    pub complementarity: f64,
}

/// Whether a solver may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Continue,
    /// Stop, with this status.
    Stop(Status),
}

/// Time at which a solve is to end, if it has one. Inner loops that are not measured one by one look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Whether the time is over. Without a limit the clock is not read.
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// Measures and limits one solve.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    residual_measure: ResidualMeasure,
    model: Option<FrictionModel>,
    reference_velocity: f64,
    /// Tolerances of the goal, on violations [m/s] and on momentum [-], before [`Monitor::tighten`].
    goal_tolerances: (f64, f64),
    motion_tolerance: f64,
    velocity_tolerance: f64,
    momentum_tolerance: f64,
    iteration_limit: usize,
    time_limit: Option<Duration>,
    clock: Option<Instant>,
    measuring: Duration,
    iterations: usize,
    tracing: bool,
    trace: Vec<TracePoint>,
    last: (f64, f64),
    /// Impulses that may be a better guess than those of the solution [N·s]; empty if there are none.
    other_guess: Vec<f64>,
    /// Residuals of a guess that solved the problem, and the guess.
    solved: Option<Residuals>,
    solved_guess: Solution,
}

impl Monitor {
    /// Other impulses from which the next solve may start, if those of its guess do not solve the problem.
    pub(crate) fn other_guess_mut(&mut self) -> &mut Vec<f64> {
        &mut self.other_guess
    }

    /// Takes the other guess of this solve, if it has the size of the problem; the memory is returned in its place.
    pub(crate) fn exchange_other_guess(
        &mut self,
        problem: &Problem,
        memory: &mut Vec<f64>,
    ) -> bool {
        let fits = self.other_guess.len() == problem.rows();
        std::mem::swap(&mut self.other_guess, memory);
        self.other_guess.clear();
        fits
    }

    /// Starts a solve in a friction model, from a guess of the velocities.
    pub fn start(&mut self, problem: &Problem, goal: &Goal, model: FrictionModel, guess: &[f64]) {
        self.residual_measure.prepare(problem);
        self.model = Some(model);
        self.reference_velocity = problem.reference_velocity();
        self.motion_tolerance = goal.motion_tolerance;
        let moving = goal.motion_tolerance * fastest(problem, goal.motion_tolerance, guess);
        self.velocity_tolerance = (goal.tolerance * self.reference_velocity).max(moving);
        self.momentum_tolerance = goal.tolerance;
        self.goal_tolerances = (self.velocity_tolerance, self.momentum_tolerance);
        self.iteration_limit = goal.max_iterations.unwrap_or(usize::MAX);
        self.time_limit = goal.time_limit;
        self.clock = Some(Instant::now());
        self.measuring = Duration::ZERO;
        self.iterations = 0;
        self.tracing = goal.trace;
        self.trace.clear();
        self.last = (f64::INFINITY, f64::INFINITY);
        self.solved = None;
        for (memory, len) in [
            (&mut self.solved_guess.velocity, problem.dofs()),
            (&mut self.solved_guess.impulse, problem.rows()),
        ] {
            memory.clear();
            memory.reserve(len);
        }
    }

    /// The friction model of this solve.
    pub fn model(&self) -> FrictionModel {
        self.model.unwrap_or(FrictionModel::Coulomb)
    }

    /// The goal for a part of this problem: the same tolerances and limits, no trace. Parts are
    /// compared with the reference velocity of the whole.
    pub fn goal_for_part(&self) -> Goal {
        let limit = self.iteration_limit;
        Goal {
            tolerance: self.momentum_tolerance,
            motion_tolerance: self.motion_tolerance,
            max_iterations: (limit != usize::MAX).then_some(limit),
            time_limit: self.time_limit.map(|limit| limit.saturating_sub(self.elapsed())),
            friction_model: self.model,
            trace: false,
        }
    }

    /// Iterations that the solver may still do, or `own` if the goal has no limit.
    pub fn iteration_limit(&self, own: usize) -> usize {
        if self.iteration_limit == usize::MAX { own } else { self.iteration_limit }
    }

    /// Counts one iteration.
    #[inline]
    pub fn count(&mut self, iterations: usize) {
        self.iterations += iterations;
    }

    /// Takes over iterations, measuring time and trace from the monitor of an equivalent problem.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let before = self.iterations;
        self.iterations += other.iterations;
        self.measuring += other.measuring;
        let later = |t: &TracePoint| TracePoint { iteration: before + t.iteration, ..*t };
        self.trace.extend(other.trace.iter().map(later));
    }

    /// Iterations counted so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The tolerance on violations [m/s].
    pub fn velocity_tolerance(&self) -> f64 {
        self.velocity_tolerance
    }

    /// The tolerance on the relative error of momentum [-], tightened or not.
    pub fn momentum_tolerance(&self) -> f64 {
        self.momentum_tolerance
    }

    /// The tolerance relative to the reference velocity [-].
    pub fn relative_tolerance(&self) -> f64 {
        self.goal_tolerances.1
    }

    /// Tightens the tolerances by a factor below one until the solve ends.
    pub fn tighten(&mut self, factor: f64) {
        self.velocity_tolerance *= factor;
        self.momentum_tolerance *= factor;
    }

    /// The natural map of the contacts with unit step, relative to |q| [-].
    pub fn natural_map(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> f64 {
        let before = Instant::now();
        let found = self.residual_measure.natural_map_at(problem, self.model(), v, lambda);
        self.measuring += before.elapsed();
        found
    }

    /// Violation [m/s] and momentum error [-] at the last observation.
    pub fn last(&self) -> (f64, f64) {
        self.last
    }

    /// The larger of both at the last observation, momentum against the reference velocity
    /// [m/s]: the criterion by which iterates are compared. The violation alone does not suffice: a
    /// body at rest on the ground without an impulse violates no law.
    pub fn error(&self) -> f64 {
        self.last.0.max(self.last.1 * self.reference_velocity)
    }

    /// diag(A)^(−1/2).
    pub fn scaling(&self) -> &[f64] {
        self.residual_measure.scaling()
    }

    /// Time taken by the solver so far.
    pub fn elapsed(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, |c| c.elapsed().saturating_sub(self.measuring))
    }

    /// When the time of the solve is over.
    pub fn deadline(&self) -> Deadline {
        let allowed = self.time_limit.map(|limit| limit.saturating_add(self.measuring));
        Deadline(self.clock.zip(allowed).and_then(|(start, allowed)| start.checked_add(allowed)))
    }

    /// Measures the guess of a solve, like [`Monitor::observe`]. One that solves the problem is not measured again at the end.
    pub fn observe_guess(&mut self, problem: &Problem, guess: &Solution) -> Verdict {
        let momentum = self.momentum(problem, guess);
        self.observe_guess_of(problem, guess, momentum)
    }

    /// [`Monitor::observe_guess`], unless the momentum of the guess rules out that it solves the problem, which costs less to
    /// find.
    pub fn observe_likely_guess(&mut self, problem: &Problem, guess: &Solution) -> Option<Verdict> {
        let momentum = self.momentum(problem, guess);
        let is_likely = momentum <= self.momentum_tolerance;
        is_likely.then(|| self.observe_guess_of(problem, guess, momentum))
    }

    /// The relative error of momentum of a guess [-].
    fn momentum(&mut self, problem: &Problem, guess: &Solution) -> f64 {
        let before = Instant::now();
        self.solved = None;
        let found = self.residual_measure.momentum(problem, &guess.velocity, &guess.impulse);
        self.measuring += before.elapsed();
        found
    }

    fn observe_guess_of(&mut self, problem: &Problem, guess: &Solution, momentum: f64) -> Verdict {
        let (model, tolerances) =
            (self.model(), (self.velocity_tolerance, self.momentum_tolerance));
        let solves = |r: &Residuals| r.of(model) <= tolerances.0 && r.momentum <= tolerances.1;
        let (v, lambda) = (&guess.velocity, &guess.impulse);
        let mut found = Residuals::default();
        let verdict = self.observe_by(problem, |measure| {
            found = measure.measure_all_of(problem, v, lambda, (Some(momentum), solves));
            (found.of(model), found.momentum)
        });
        self.trace_slack(problem, v, lambda);
        if solves(&found) {
            self.solved = Some(found);
            self.solved_guess.clone_from(guess);
        }
        verdict
    }

    /// Measures an iterate and decides whether the solver may go on.
    pub fn observe(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> Verdict {
        let model = self.model();
        let verdict = self.observe_by(problem, |measure| measure.both(problem, model, v, lambda));
        self.trace_slack(problem, v, lambda);
        verdict
    }

    /// Adds the contact residual of [Lee25, Sec. VII] to the last point of a trace.
    fn trace_slack(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) {
        let before = Instant::now();
        if let Some(last) = self.trace.last_mut().filter(|_| self.tracing) {
            last.slack = self.residual_measure.contact_slack(problem, v, lambda);
            last.cost = self.residual_measure.primal_cost(problem, v, lambda);
            last.complementarity =
                self.residual_measure.complementarity(problem, v, lambda, last.cost);
            self.measuring += before.elapsed();
        }
    }

    /// Decides whether the solver may go on from the violation and the error of momentum that a function measures.
    fn observe_by(
        &mut self,
        problem: &Problem,
        measure: impl FnOnce(&mut ResidualMeasure) -> (f64, f64),
    ) -> Verdict {
        let before = Instant::now();
        let since_start = self.clock.map_or(Duration::ZERO, |start| before - start);
        let seconds = since_start.saturating_sub(self.measuring).as_secs_f64();
        let (violation, momentum) = measure(&mut self.residual_measure);
        self.last = (violation, momentum);
        self.solved = None;
        if self.tracing {
            let reference = problem.reference_velocity();
            let residual = if reference > 0.0 { violation / reference } else { violation };
            let iteration = self.iterations;
            let [slack, cost, complementarity] = [f64::NAN; 3];
            self.trace.push(TracePoint {
                iteration,
                seconds,
                residual,
                momentum,
                slack,
                cost,
                complementarity,
            });
        }
        self.measuring += before.elapsed();
        if violation <= self.velocity_tolerance && momentum <= self.momentum_tolerance {
            return Verdict::Stop(Status::Converged);
        }
        if self.time_limit.is_some_and(|limit| seconds > limit.as_secs_f64()) {
            return Verdict::Stop(Status::IterationLimit);
        }
        Verdict::Continue
    }

    /// Whether an iterate is a solution of every part of the problem: no subsystem has a larger relative error of
    /// momentum than the whole may have.
    pub fn solves_all_parts(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> bool {
        let before = Instant::now();
        let model = self.model();
        let violation = self.residual_measure.violation(problem, model, v, lambda);
        self.solved = None;
        let solves = violation <= self.velocity_tolerance
            && self.residual_measure.largest_momentum(problem, v) <= self.momentum_tolerance;
        self.measuring += before.elapsed();
        solves
    }

    /// Ends the solve with a full measurement, which determines the status.
    pub fn finish(
        &mut self,
        problem: &Problem,
        claimed: Status,
        v: &[f64],
        lambda: &[f64],
    ) -> (Status, Residuals) {
        let guess = &self.solved_guess;
        let is_guess = guess.velocity == v && guess.impulse == lambda;
        let residuals = match self.solved.take().filter(|_| is_guess) {
            Some(found) => found,
            None => self.residual_measure.measure(problem, v, lambda),
        };
        let met = residuals.of(self.model()) <= self.goal_tolerances.0
            && residuals.momentum <= self.goal_tolerances.1;
        let status = match claimed {
            _ if met => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        (status, residuals)
    }

    /// Jᵀλ [N·s] of the solution that was measured last.
    pub fn constraint_impulse(&self) -> &[f64] {
        self.residual_measure.constraint_impulse()
    }

    /// Whether a trace is kept.
    pub fn is_tracing(&self) -> bool {
        self.tracing
    }

    /// The trace so far.
    pub fn trace(&self) -> &[TracePoint] {
        &self.trace
    }
}

/// The largest velocity of a constraint [m/s], if the tolerance is not zero.
fn fastest(problem: &Problem, tolerance: f64, v: &[f64]) -> f64 {
    if tolerance == 0.0 {
        return 0.0;
    }
    let mut row = [0.0; crate::contact::DIM];
    (0..problem.constraints().len()).fold(0.0, |largest, i| {
        let row = &mut row[..problem.jacobian().dim(i)];
        problem.jacobian().mul_constraint(i, v, row);
        row.iter().fold(largest, |largest: f64, c| largest.max(c.abs()))
    })
}
