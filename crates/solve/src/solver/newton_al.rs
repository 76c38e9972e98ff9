//! Augmented Lagrangian with semismooth Newton on the exact equations and nothing to catch its
//! failures: the two baselines that CANAL is compared with [Lee25, Sec. VII-D, Table II].
//!
//! A failed inner solve ends the solve. Deviation: penalties per 1/w and capped; the setting
//! `paper` restores one penalty in kilograms. Iterations are Newton steps.

use super::multiplier::Multipliers;
use super::newton::{Globalisation, Strict};
use super::{Setting, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;

/// Augmented Lagrangian with unaided Newton steps.
pub struct NewtonAl {
    first_penalty: f64,
    max_penalty: f64,
    growth: f64,
    max_outer: usize,
    paper: bool,
    paper_penalty: f64,
    strict: Strict,
    multipliers: Multipliers,
    old: Vec<f64>,
}

impl NewtonAl {
    /// With steps kept in check in one of the two ways.
    pub fn new(globalisation: Globalisation) -> Self {
        let mut strict = Strict::default();
        strict.globalisation = globalisation;
        strict.max_iterations = 100;
        Self {
            first_penalty: 1e2,
            max_penalty: 1e3,
            growth: 10.0,
            max_outer: 60,
            paper: false,
            paper_penalty: 1e4, // [Lee25, Sec. VII], in kilograms
            strict,
            multipliers: Multipliers::default(),
            old: Vec::new(),
        }
    }
}

/// The slack must shrink by this or the penalty grows [Lee25, Eq. (28)].
const SUFFICIENT_DECREASE: f64 = 0.25;

impl Solver for NewtonAl {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        4.0 // LU factorizations are slow on a mesh
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        vec![
            Setting::new("first-penalty", "penalty at the start, per 1/w", &mut self.first_penalty),
            Setting::new("max-penalty", "largest penalty, per 1/w", &mut self.max_penalty),
            Setting::new("growth", "factor by which the penalty grows", &mut self.growth),
            Setting::new("max-outer", "outer iterations", &mut self.max_outer),
            Setting::new("paper", "one penalty in kilograms for all", &mut self.paper),
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
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.strict.prepare(problem);
        self.multipliers.uniform = self.paper;
        self.multipliers.start(problem, &solution.impulse);
        let limit = monitor.iteration_limit(usize::MAX);
        let mut c = if self.paper { self.paper_penalty } else { self.first_penalty };
        let cap = if self.paper { f64::INFINITY } else { self.max_penalty };
        let mut last = f64::INFINITY;
        for _ in 0..self.max_outer {
            self.old.clone_from(&self.multipliers.lambda);
            let question = self.multipliers.question(problem, c, false);
            let outcome = self.strict.find(
                problem,
                question,
                monitor.scaling(),
                &mut solution.velocity,
                &mut solution.impulse,
                |_| 0.0,
            );
            monitor.count(outcome.iterations.max(1));
            let slack = self.multipliers.slack(problem, c, &self.old, &solution.impulse);
            self.multipliers.update(problem, c, &solution.impulse);
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue if !outcome.converged => return Status::Failed,
                Verdict::Continue => {}
            }
            if slack > SUFFICIENT_DECREASE * last {
                c = (self.growth * c).min(cap);
            }
            last = slack;
        }
        Status::Stalled
    }
}
