//! CANAL: cascaded Newton on the augmented Lagrangian [Lee25, Secs. IV, V, Alg. 1].
//!
//! Exact friction as a sequence of convex problems: the slip terms `p = μ|z_t|` shift the normal
//! velocity [Lee25, Eq. (21)], the multipliers absorb the penalty [Lee25, Eq. (13)], and each
//! outer iteration is one convex minimisation. With p = 0 the same loop solves the relaxed
//! problem exactly. The outer loop is linear, not superlinear, wherever a contact slides: one
//! sliding contact contracts by `μ²/(1+μ²)`.
//!
//! Deviation: penalties per 1/w and capped, slip terms damped when they oscillate, and the loop
//! also waits for p. The setting `paper` restores one uncapped penalty in kilograms and full steps.
//! Iterations are Newton steps.

use super::multiplier::Multipliers;
use super::newton::{Convex, Phases};
use super::{Setting, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;

/// Cascaded Newton on the augmented Lagrangian.
pub struct Canal {
    first_penalty: f64,
    max_penalty: f64,
    /// The cap once progress stalls at `max_penalty`.
    stalled_penalty: f64,
    growth: f64,
    sufficient_decrease: f64,
    max_outer: usize,
    paper: bool,
    paper_penalty: f64,
    convex: Convex,
    multipliers: Multipliers,
    old: Vec<f64>,
}

impl Default for Canal {
    fn default() -> Self {
        Self {
            first_penalty: 1e2,
            max_penalty: 1e3,
            stalled_penalty: 1e5,
            growth: 10.0,
            sufficient_decrease: 0.25,
            max_outer: 200,
            paper: false,
            paper_penalty: 1e4, // [Lee25, Sec. VII], in kilograms
            convex: Convex::default(),
            multipliers: Multipliers::default(),
            old: Vec::new(),
        }
    }
}

/// Outer iterations at the cap without halving the change before the cap is raised.
const PATIENCE: usize = 10;

/// Error of momentum that a minimisation may leave, per that of the answer [-].
const INEXACT: f64 = 0.1;

impl Canal {
    /// Where the time of Newton iterations went since the last call.
    pub fn take_phases(&mut self) -> Phases {
        self.convex.take_phases()
    }
}

impl Solver for Canal {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn worth_reducing(&self, far: bool) -> f64 {
        if far { 0.7 } else { 0.15 } // close to the answer, an old factor serves again
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        vec![
            Setting::new("first-penalty", "penalty at the start, per 1/w", &mut self.first_penalty),
            Setting::new("max-penalty", "largest penalty, per 1/w", &mut self.max_penalty),
            Setting::new(
                "stalled-penalty",
                "largest penalty once progress stalls, per 1/w",
                &mut self.stalled_penalty,
            ),
            Setting::new("growth", "factor by which the penalty grows", &mut self.growth),
            Setting::new("max-outer", "outer iterations", &mut self.max_outer),
            Setting::new("paper", "one uncapped penalty, full slip steps", &mut self.paper),
            Setting::new(
                "paper-penalty",
                "that penalty at the start [kg]",
                &mut self.paper_penalty,
            ),
        ]
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let exact_friction = monitor.model() == FrictionModel::Coulomb;
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.convex.prepare(problem);
        // The multipliers follow; only the paper's letter is exact at every turn.
        let inexact = INEXACT * monitor.momentum_tolerance();
        let exact = Convex::default().tolerance;
        self.convex.tolerance = if self.paper { exact } else { exact.max(inexact) };
        (self.multipliers.uniform, self.multipliers.relaxed) = (self.paper, !self.paper);
        self.multipliers.start(problem, &solution.impulse);
        self.multipliers.slip_at(problem, &solution.velocity);
        let limit = monitor.iteration_limit(usize::MAX);
        let mut c = if self.paper { self.paper_penalty } else { self.first_penalty };
        let mut cap = if self.paper { f64::INFINITY } else { self.max_penalty };
        let (mut last, mut smallest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        for _ in 0..self.max_outer {
            self.old.clone_from(&self.multipliers.lambda);
            let question = self.multipliers.question(problem, c, exact_friction);
            let outcome = self.convex.minimise(
                problem,
                question,
                monitor.scaling(),
                &mut solution.velocity,
                &mut solution.impulse,
            );
            monitor.count(outcome.iterations.max(1));
            let slack = self.multipliers.slack(problem, c, &self.old, &solution.impulse);
            self.multipliers.update(problem, c, &solution.impulse);
            let slip = if exact_friction {
                self.multipliers.update_slip(problem, c, &solution.velocity, &self.old)
            } else {
                0.0
            };
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue => {}
            }
            if slack > self.sufficient_decrease * last {
                c = (self.growth * c).min(cap);
            }
            last = slack;
            idle = if slack.max(slip) < 0.5 * smallest { 0 } else { idle + 1 };
            smallest = smallest.min(slack.max(slip));
            if idle >= PATIENCE && !self.paper {
                (cap, idle) = (self.stalled_penalty, 0);
            }
        }
        Status::Stalled
    }
}
