//! ALM: augmented Lagrangian on exact friction, the accurate default.
//!
//! Each outer iteration solves the strict equations of [Lee25, Eq. (20)] by damped semismooth
//! Newton. That is fast but not robust alone; where it fails, one convex step of CANAL
//! [Lee25, Eq. (22)] makes safe progress instead. The penalty grows only after a success and
//! shrinks when failures repeat.

use super::multiplier::Multipliers;
use super::newton::{Convex, Strict};
use super::{Setting, Solver};
use crate::law::FrictionModel;
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::Problem;
use crate::solution::Solution;

/// Augmented Lagrangian with strict Newton steps and a convex fallback.
pub struct Alm {
    first_penalty: f64,
    max_penalty: f64,
    growth: f64,
    sufficient_decrease: f64,
    max_outer: usize,
    strict: Strict,
    convex: Convex,
    multipliers: Multipliers,
    old: Vec<f64>,
    v: Vec<f64>,
    fallbacks: usize,
}

impl Default for Alm {
    fn default() -> Self {
        Self {
            first_penalty: 10.0,
            max_penalty: 1e5,
            growth: 10.0,
            sufficient_decrease: 0.25,
            max_outer: 100,
            strict: Strict::default(),
            convex: Convex::default(),
            multipliers: Multipliers::default(),
            old: Vec::new(),
            v: Vec::new(),
            fallbacks: 0,
        }
    }
}

impl Solver for Alm {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        vec![
            Setting::new(
                "first-penalty",
                "penalty at the start, per 1/w [-]",
                &mut self.first_penalty,
            ),
            Setting::new("max-penalty", "largest penalty, per 1/w [-]", &mut self.max_penalty),
            Setting::new("growth", "factor by which the penalty grows [-]", &mut self.growth),
            Setting::new("max-outer", "outer iterations", &mut self.max_outer),
        ]
    }

    fn notes(&self) -> Vec<String> {
        match self.fallbacks {
            0 => Vec::new(),
            n => vec![format!("{n} convex fallback steps")],
        }
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let exact = monitor.model() == FrictionModel::Coulomb;
        self.strict.prepare(problem);
        self.convex.prepare(problem);
        self.multipliers.start(problem, &solution.impulse);
        self.multipliers.slip_at(problem, &solution.velocity);
        self.fallbacks = 0;
        let limit = monitor.iteration_limit(usize::MAX);
        let (mut c, mut last, mut failures) = (self.first_penalty, f64::INFINITY, 0);
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        for _ in 0..self.max_outer {
            self.old.clone_from(&self.multipliers.lambda);
            self.v.clone_from(&solution.velocity);
            let mut outcome = if exact {
                let question = self.multipliers.question(problem, c, false);
                let outcome = self.strict.find(
                    problem,
                    question,
                    monitor.scaling(),
                    &mut self.v,
                    &mut solution.impulse,
                );
                monitor.count(outcome.iterations);
                outcome
            } else {
                super::newton::Outcome { iterations: 0, converged: false, error: 0.0 }
            };
            if exact && outcome.converged {
                solution.velocity.copy_from_slice(&self.v);
                failures = 0;
            } else {
                let question = self.multipliers.question(problem, c, exact);
                let fallback = self.convex.minimise(
                    problem,
                    question,
                    monitor.scaling(),
                    &mut solution.velocity,
                    &mut solution.impulse,
                );
                monitor.count(fallback.iterations);
                if exact {
                    self.fallbacks += 1;
                    failures += 1;
                } else {
                    outcome = fallback;
                }
            }
            let change = self.multipliers.update(problem, c, &solution.impulse);
            if exact {
                self.multipliers.update_slip(problem, c, &solution.velocity, &self.old, true);
            }
            match monitor.observe(problem, &solution.velocity, &solution.impulse) {
                Verdict::Stop(status) => return status,
                Verdict::Continue if monitor.iterations() >= limit => {
                    return Status::IterationLimit;
                }
                Verdict::Continue => {}
            }
            if outcome.converged && change > self.sufficient_decrease * last {
                c = (self.growth * c).min(self.max_penalty);
            }
            if failures > 0 && failures % 3 == 0 {
                c = (c / self.growth).max(1.0);
            }
            last = change;
        }
        Status::Stalled
    }
}
